"""A Pipeline: the exact average with its steps fitted once, and what refitting them changes.

The steps are fitted to the training samples of a few random splits, and what that changes is added
to the exact part (`_differences`). Whole runs of folds are drawn as far as they go: they test every
sample equally often, which an independent choice of folds does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import joblib
import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from allsplits._frames import row_names
from allsplits._progress import progress_bar
from allsplits._tensors import to_array
from allsplits._threads import thread_count
from allsplits._validation import check_same_rows
from allsplits.exact import GivenSplit, Neighbors, Options
from allsplits.exceptions import (
    REPLAY_INSTEAD,
    AllSplitsError,
    InvalidInputError,
    UnsupportedError,
)
from allsplits.model_selection._differences import ALIKE, Model, differences_on
from allsplits.model_selection._evaluation import Evaluation
from allsplits.model_selection._pipeline_evaluation import PipelineEvaluation
from allsplits.model_selection._pipelines import looks_at_rows_alone, read_pipeline
from allsplits.model_selection._task import Given, Task
from allsplits.orders import read_points
from allsplits.replays.draw import RunDrawer

#: For splitters and scores that have no closed form.
_INSTEAD = "cross_val_score(pipeline, X, y, cv=..., scoring=...) takes a Pipeline with any of them"


def evaluate_pipeline(
    pipeline: Pipeline, given: Given, options: Options, *, n_refits: int, seed: int
) -> Evaluation | PipelineEvaluation:
    """Average a Pipeline's score; exactly if its steps look at one row at a time."""
    given = given._replace(X=to_array(given.X), y=to_array(given.y, "y"))
    X, y = given.X, given.y
    steps, last = read_pipeline(pipeline)
    check_same_rows(X=X, y=y, groups=given.groups)
    if steps is None:
        return Task.read(last, given, options).evaluate()
    where = "on all samples"
    fixed = _as_points(_tried(where, clone(steps).fit_transform, X, y))
    _check_rows(fixed, len(y), where)
    _check_finite(fixed, where)
    task = replace(_task(last, given._replace(X=fixed), options), row_names=row_names(X, y))
    if looks_at_rows_alone(steps) and _same_for_some(steps, X, y, fixed):
        return task.evaluate()
    if task.law.kind not in ALIKE:
        raise UnsupportedError(
            "cv must count all splits alike for a Pipeline, as folds, ShuffleSplit, FixedSize, "
            f"ClassCounts, groups and Episodes do; got {task.law}"
        )
    task.neighbors.expect()
    fit_once = task.evaluate()
    splits = RunDrawer(task.question()).splits(seed, n_refits)
    again, metric = task.inexact, task.neighbors.metric

    def refitted() -> Iterator[Model]:
        with progress_bar(options.progress, "refitted splits", n_refits, "refits") as step:
            for points in _refitted(steps, X, y, splits, options):
                if sparse.issparse(points):
                    points = read_points(points, metric, backend=options.backend)
                one = replace(again, neighbors=Neighbors(points, metric, options))
                yield Model(one, one.evaluate().sample_scores)
                step(1)

    fixed = Model(task, fit_once.sample_scores)
    return PipelineEvaluation(fit_once, differences_on(splits, refitted(), fixed), seed)


def _same_for_some(steps: Pipeline, X: Any, y: Any, fixed: Any) -> bool:
    """Whether every other row comes out the same without the rows between."""
    some = np.arange(0, fixed.shape[0], 2)
    rows, labels = _safe_indexing(X, some), _safe_indexing(y, some)
    try:
        alone = _as_points(clone(steps).fit_transform(rows, labels))
    except Exception:
        return False
    there = fixed[some]
    if alone.shape != there.shape:
        return False
    if not (sparse.issparse(alone) or sparse.issparse(there)):
        return bool(np.allclose(alone, there, rtol=1e-12, atol=0, equal_nan=True))
    alone, there = sparse.csr_array(alone), sparse.csr_array(there)
    return bool((abs(alone - there) - 1e-12 * abs(there)).max() <= 0)


def _refitted(
    steps: Pipeline, X: Any, y: Any, splits: list[GivenSplit], options: Options
) -> Iterator[Any]:
    """What the steps make of X, fitted on the training samples of each split."""
    jobs = (
        joblib.delayed(_refit)(clone(steps), X, y, split, number)
        for number, split in enumerate(splits)
    )
    n_jobs = min(thread_count(options.n_jobs), len(splits))
    yield from joblib.Parallel(n_jobs, prefer="threads", return_as="generator")(jobs)


def _refit(steps: Pipeline, X: Any, y: Any, split: GivenSplit, number: int) -> Any:
    where = f"on refit {number} ({len(split.train)} training samples)"
    rows, labels = _safe_indexing(X, split.train), _safe_indexing(y, split.train)
    train = _as_points(_tried(where, steps.fit_transform, rows, labels))
    others = np.setdiff1d(np.arange(len(y)), split.train)
    rest = _as_points(_tried(where, steps.transform, _safe_indexing(X, others)))
    places = np.empty(len(y), dtype=np.intp)
    places[split.train] = np.arange(len(split.train))
    places[others] = len(split.train) + np.arange(len(others))
    parts = [train, rest]
    if sparse.issparse(train) or sparse.issparse(rest):
        points = sparse.vstack([sparse.csr_array(part) for part in parts], format="csr")[places]
    else:
        points = np.concatenate(parts).astype(np.float64, copy=False)[places]
    _check_finite(points, where)
    return points


def _check_rows(points: Any, n_samples: int, where: str) -> None:
    if points.shape[0] != n_samples:
        raise InvalidInputError(
            f"the steps of the Pipeline must keep all rows; they made {points.shape[0]} of "
            f"{n_samples} {where}"
        )


def _check_finite(points: Any, where: str) -> None:
    points = points.data if sparse.issparse(points) else points
    if points.dtype.kind == "f" and not np.isfinite(points).all():
        raise InvalidInputError(
            f"the steps of the Pipeline gave NaN or infinity {where}: SimpleImputer fills gaps"
        )


def _task(last: Any, given: Given, options: Options) -> Task:
    """Read what is asked; where that is no law or no score of `evaluate`, say what takes it."""
    try:
        return Task.read(last, given, options)
    except AllSplitsError as error:
        raise type(error)(str(error).replace(REPLAY_INSTEAD, _INSTEAD)) from error


def _tried(where: str, function: Any, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except AllSplitsError:
        raise
    except Exception as error:
        raise InvalidInputError(
            f"the steps of the Pipeline failed {where}: {type(error).__name__}: {error}"
        ) from error


def _as_points(values: Any) -> Any:
    """An array, or sparse rows."""
    return values.tocsr() if sparse.issparse(values) else np.asarray(values)
