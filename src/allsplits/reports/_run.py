"""What a report computes when it is given samples: the best k, its evaluation, the curves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeVar

from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

from allsplits.model_selection import (
    Curve,
    Evaluation,
    evaluate,
    learning_curve,
    validation_curve,
)
from allsplits.model_selection._setup import Setup, check_options

__all__ = ["Run", "run"]

_LARGEST_K = 50
_T = TypeVar("_T")


@dataclass(frozen=True)
class Run:
    """What was computed, how long it took, and what readers should know."""

    evaluation: Evaluation
    curves: list[Curve]
    timings: dict[str, float]
    notes: list[str]


def run(
    X: Any, y: Any, *, estimator: Any, n_neighbors: Any, cv: Any, scoring: Any, groups: Any,
    curves: list[Curve] | None, n_jobs: int | None, progress: bool,
) -> Run:  # fmt: skip
    """Choose k, evaluate it, and draw the curves that make sense."""
    model = KNeighborsClassifier() if estimator is None else estimator
    options: dict[str, Any] = {"scoring": scoring, "n_jobs": n_jobs, "progress": progress}
    setup = Setup.read(model, X, y, scoring, check_options(n_jobs=n_jobs), groups)
    law = setup.resolve(cv)
    ranked = setup.scoring.rank is not None
    choose = n_neighbors is not None or estimator is None
    if n_neighbors is None:
        n_neighbors = range(1, min(_LARGEST_K, law.smallest_training_set) + 1)
    timings: dict[str, float] = {}
    shown: list[Curve] = []
    notes: list[str] = []
    if not ranked:
        over_k = _timed(timings, "score against k", lambda: validation_curve(
            model, X, y, n_neighbors=n_neighbors, cv=cv, groups=groups, **options))  # fmt: skip
        shown.append(over_k)
        if choose:
            model = clone(model).set_params(n_neighbors=over_k.best)
        if choose and len(over_k.x) > 1:
            notes.append(
                f"k = {over_k.best} is the best of {len(over_k.x)} by these same scores: its own "
                "score is a little optimistic."
            )
    evaluation = _timed(timings, "evaluation", lambda: evaluate(
        model, X, y, cv=cv, groups=groups, **options))  # fmt: skip
    if curves is None and getattr(law, "groups", None) is None:
        shown.append(_timed(timings, "learning curve", lambda: learning_curve(
            model, X, y, **options)))  # fmt: skip
    return Run(evaluation, shown if curves is None else curves, timings, notes)


def _timed(timings: dict[str, float], name: str, work: Callable[[], _T]) -> _T:
    start = perf_counter()
    done = work()
    timings[name] = perf_counter() - start
    return done
