"""What choosing the number of neighbours flatters by, as a by-product of the choice."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_regressor

from allsplits._threads import thread_count
from allsplits.exact import Column, solver_for
from allsplits.exceptions import AllSplitsError
from allsplits.model_selection._differences import ALIKE
from allsplits.replays.result import with_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from allsplits.model_selection._nested import NestedScore
    from allsplits.model_selection._task import Given, Task

#: Outer splits, each of which costs a choice, and seconds that they may take together.
_SPLITS, _SECONDS = 20, 10.0


def choice_in_passing(
    task: Task, estimator: Any, given: Given, ks: Sequence[int]
) -> NestedScore | None:
    """The score of choosing among these k and then testing; None where that takes long or fails.

    `task` was read from the estimator and what was given. Some seconds are known from counts of
    operations, so that the answer does not depend on how busy the machine is.
    """
    points = isinstance(task.neighbors.X, np.ndarray) and not task.settings.metric.precomputed
    plain = task.scoring.is_plain and not task.others and task.settings.radius is None
    alike = task.law.kind in ALIKE and task.test_set is None
    if not (points and plain and alike) or _SPLITS * _seconds(task, ks) > _SECONDS:
        return None
    from allsplits.model_selection._neighbors_cv import (
        KNeighborsClassifierCV,
        KNeighborsRegressorCV,
    )

    kind = KNeighborsRegressorCV if is_regressor(estimator) else KNeighborsClassifierCV
    model = kind(
        ks, weights=(estimator.weights,), metric=(estimator.metric,), p=estimator.p,
        metric_params=estimator.metric_params, cv=given.cv, scoring=given.scoring,
        n_jobs=task.options.n_jobs,
    )  # fmt: skip
    # Small training sets leave candidates out, or are refused: whoever asks by name is told.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            return model.nested_score(
                given.X, given.y, groups=given.groups, strata=given.strata, n_splits=_SPLITS
            )
        except AllSplitsError:
            return None


def _seconds(task: Task, ks: Sequence[int]) -> float:
    """Roughly how long one choice takes."""
    solver = solver_for(task.ask([Column(k, task.law) for k in ks]))
    work = task.neighbors.seconds(solver.depth) + solver.seconds
    return work / thread_count(task.options.n_jobs)


def choice_in_words(best: Any, n_candidates: int, nested: NestedScore | None, what: str) -> str:
    """That a score is the best of some, and by how much that flatters."""
    start = f"{what} = {best} is the best of {n_candidates} by these same scores"
    if nested is None:
        return f"{start}: its own score is a little too good (nested_score says by how much)"
    return (
        f"{start}, which flatters by {with_error(nested.optimism)} (SAMPLED: chosen anew within "
        f"{len(nested.scores)} training sets, and tested on the others)"
    )
