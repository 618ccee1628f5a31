"""Tuning, judged: choose on the training samples of a split, test on the others, for many splits.

To the exact score of the choice on all samples is added what choosing on the training samples alone
changes (`_differences`). Within each training set the choice is by exact averages. Outer splits are
drawn; where the choice is the same as on all samples the difference is 0, so a few splits go far.
The difference is what the best score flatters by: the best of many is a little too good.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from allsplits._frames import DataFrame, make_frame
from allsplits._progress import progress_bar
from allsplits._threads import thread_count
from allsplits.exact import GivenSplit
from allsplits.exceptions import AllSplitsError, InvalidInputError, UnsupportedError
from allsplits.model_selection._differences import ALIKE, Differences, Model, differences_on
from allsplits.model_selection._evaluation import Evaluation
from allsplits.model_selection._task import Task
from allsplits.replays.draw import RunDrawer
from allsplits.replays.result import Sampled, with_error


@dataclass(frozen=True, eq=False, repr=False)
class NestedScore:
    """The score of choosing and then testing: an exact part and a sampled difference.

    Attributes
    ----------
    evaluation : Evaluation
        The exact average of what is chosen on all samples.
    differences : Differences
        What is chosen on the training samples of each split, beside what is chosen on all.
    chosen : tuple of dict
        What was chosen on each split.
    """

    evaluation: Evaluation
    differences: Differences
    chosen: tuple[dict[str, Any], ...]

    @property
    def scores(self) -> NDArray[np.float64]:
        """Of what is chosen on the training samples of each split, on its test samples."""
        return self.differences.scores

    @property
    def fixed_scores(self) -> NDArray[np.float64]:
        """Of what is chosen on all samples, on the same splits."""
        return self.differences.fixed_scores

    @property
    def mean(self) -> float:
        """The mean score of choosing on the training samples and testing: sampled."""
        return self.evaluation.score - self.optimism.value

    @property
    def standard_error(self) -> float:
        """Of `mean`, from drawing the splits and from smoothing them. It is no bound."""
        return self.optimism.standard_error

    @property
    def optimism(self) -> Sampled:
        """How much too good the score of the choice on all samples is, with its standard error."""
        value, error = self.differences.mean
        return Sampled(-value, error)

    def frame(self, backend: str | None = None) -> DataFrame:
        """How often each candidate was chosen, most often first, with the standard error."""
        counts = Counter(tuple(params.values()) for params in self.chosen).most_common()
        n = len(self.chosen)
        columns: dict[str, Any] = {
            name: [values[place] for values, _ in counts]
            for place, name in enumerate(self.chosen[0])
        }
        shares = [number / n for _, number in counts]
        columns["share"] = shares
        columns["standard_error"] = [sqrt(share * (1 - share) / n) for share in shares]
        return make_frame(columns, backend)

    def __repr__(self) -> str:
        score = with_error(Sampled(self.mean, self.standard_error))
        ks = Counter(params["n_neighbors"] for params in self.chosen).most_common(3)
        often = ", ".join(f"{k} ({number / len(self.chosen):.0%})" for k, number in ks)
        return (
            f"NestedScore({self.evaluation.scoring}={score} SAMPLED from {len(self.scores)} outer "
            f"splits{self.differences.note}; the best score "
            f"{with_error(Sampled(self.evaluation.score, 0.0))} is too good "
            f"by {with_error(self.optimism)}; n_neighbors chosen most often: {often}; "
            f"{self.evaluation.law})"
        )


@dataclass(frozen=True)
class Outer:
    """What is split: the samples, and how.

    `task_of` reads the task of what was chosen, under the outer law.
    """

    X: Any
    y: Any
    groups: Any
    strata: Any
    task_of: Callable[[dict[str, Any]], Task]


def nested_score(
    model: Any, outer: Outer, *, n_splits: int, seed: int, progress: bool
) -> NestedScore:
    """Fit a clone of the model on the training samples of each drawn split, and test the choice."""
    best = _fitted(clone(model), outer.X, outer.y, outer.groups, outer.strata)
    fixed = outer.task_of(best)
    if fixed.law.kind not in ALIKE:
        raise UnsupportedError(f"cv must count all splits alike for nested_score; got {fixed.law}")
    evaluation = fixed.evaluate()
    splits = RunDrawer(fixed.question()).splits(seed, n_splits)
    models = {tuple(best.values()): Model(fixed, evaluation.sample_scores)}
    chosen: list[dict[str, Any]] = []

    def found() -> Iterator[Model]:
        with progress_bar(progress, "nested choice", n_splits, "splits") as step:
            for params in _choices(model, outer, splits):
                key = tuple(params.values())
                if key not in models:
                    task = outer.task_of(params)
                    models[key] = Model(task, task.evaluate().sample_scores)
                chosen.append(params)
                yield models[key]
                step(1)

    differences = differences_on(splits, found(), models[tuple(best.values())])
    return NestedScore(evaluation, differences, tuple(chosen[: len(differences.scores)]))


def _choices(model: Any, outer: Outer, splits: list[GivenSplit]) -> Iterator[dict[str, Any]]:
    """What is chosen on the training samples of each split."""
    n_jobs = min(thread_count(model.n_jobs), len(splits))
    alone = clone(model).set_params(n_jobs=1 if n_jobs > 1 else model.n_jobs)
    jobs = (
        joblib.delayed(_choose)(clone(alone), outer, split, number)
        for number, split in enumerate(splits)
    )
    yield from joblib.Parallel(n_jobs, prefer="threads", return_as="generator")(jobs)


def _choose(model: Any, outer: Outer, split: GivenSplit, number: int) -> dict[str, Any]:
    given = (
        None if table is None else _safe_indexing(table, split.train)
        for table in (outer.X, outer.y, outer.groups, outer.strata)
    )
    try:
        return _fitted(model, *given)
    except AllSplitsError as error:
        raise InvalidInputError(
            f"the choice failed on outer split {number} ({len(split.train)} training samples): "
            f"{error}"
        ) from error


def _fitted(model: Any, X: Any, y: Any, groups: Any, strata: Any) -> dict[str, Any]:
    """What the model chooses."""
    params: dict[str, Any] = model.fit(X, y, groups=groups, strata=strata).best_params_
    return params
