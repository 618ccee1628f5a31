"""Runs of the nearest class mean: means of each training set, and which is nearest to whom.

Of means of several samples no closed form is known, and no stored order helps: every split has
means of its own. Of the tested samples it is known which class they are given, not by how much.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from allsplits._threads import thread_count
from allsplits.exact.effort import warn_if_long
from allsplits.orders import TIE_TOLERANCE
from allsplits.replays._kernels_means import answer_by_means
from allsplits.replays.batch import Desk, Place, Plan
from allsplits.replays.engine import Replayed, runs_at
from allsplits.replays.kernel_types import Floats, MeansRoom, MeansRule, ReplayRows
from allsplits.replays.sample import vote_of

#: Nanoseconds for a coordinate of a tested sample and a mean.
_COORDINATE = 0.5


class KnownLabels(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose predictions are known, and nothing else of it."""

    def __init__(self, classes: Any = None, given: Any = None) -> None:
        self.classes, self.given = classes, given
        self.classes_ = classes

    def predict(self, X: Any) -> Any:
        """The classes that were given."""
        return self.classes[self.given]

    def __sklearn_is_fitted__(self) -> bool:
        return True


@dataclass(frozen=True)
class MeansDesk(Desk):
    """What all threads share: points instead of rows."""

    rule: MeansRule

    compiled = False

    def new_place(self) -> Place:
        """The work space of one more thread."""
        return _MeansPlace(self)


class _MeansPlace(Place):
    """The work space of one thread."""

    def __init__(self, desk: MeansDesk) -> None:
        super().__init__(desk)
        self._rule = desk.rule
        n, n_features = desk.rule.points.shape
        self._means = MeansRoom.room_for(n, n_features, desk.plan.question.n_classes)

    def answer(self) -> int:
        """Answer the mask that was dealt; returns for how many one was drawn among the tied."""
        return int(answer_by_means(self._rule, self.room, self._means))

    def called_with(self, fold: int) -> tuple[Any, Any, Any]:
        """What a scorer is called with: an estimator that knows the classes, X and y of a fold."""
        known, X, y = super().called_with(fold)
        return KnownLabels(known.classes, known.given), X, y


def replay_means(
    plan: Plan, n_runs: int, enough: Callable[[list[Floats]], bool] | None = None
) -> Replayed:
    """Score so many runs of the nearest class mean, or until they are enough."""
    question = plan.question
    points = np.ascontiguousarray(plan.X, dtype=np.float64)
    n_threads = thread_count(question.options.n_jobs)
    work = points.size * (question.n_classes + plan.source.n_folds)
    seconds = 1e-9 * _COORDINATE * n_runs * work
    warn_if_long(0.0, seconds, n_threads, 0, "a smaller n_splits, or until=...")
    rule = MeansRule(
        points,
        question.codes,
        manhattan=plan.neighbors.metric.name == "manhattan",
        average=question.options.average,
        tolerance=TIE_TOLERANCE,
    )
    nobody = ReplayRows(
        np.zeros(question.n_samples + 1, dtype=np.int64), np.empty(0, dtype=np.int32),
        np.empty(0, dtype=bool), np.empty(0),
    )  # fmt: skip
    return runs_at(MeansDesk(plan, nobody, vote_of(question), n_threads, rule), n_runs, enough)
