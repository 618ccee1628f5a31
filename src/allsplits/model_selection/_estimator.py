"""Reading a scikit-learn nearest-neighbour estimator: what it would do, without fitting it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline

from allsplits._validation import check_count
from allsplits.exceptions import InvalidTypeError, UnsupportedError
from allsplits.orders import Metric

__all__ = ["VoteSettings", "read_estimator"]


@dataclass(frozen=True)
class VoteSettings:
    """What decides a vote: how many neighbours, by which metric, for classes or for numbers."""

    n_neighbors: int
    metric: Metric
    regression: bool


def read_estimator(estimator: Any) -> VoteSettings:
    """Read a KNeighborsClassifier or KNeighborsRegressor with uniform weights."""
    if isinstance(estimator, Pipeline):
        raise InvalidTypeError(
            "estimator must be a KNeighborsClassifier or KNeighborsRegressor; got a Pipeline. Its "
            "steps are fitted on each training set, so distances differ from split to split and "
            "no closed form exists: transform X first and pass the last step alone (preprocessing "
            "then sees all of X)"
        )
    if not isinstance(estimator, (KNeighborsClassifier, KNeighborsRegressor)):
        raise InvalidTypeError(
            "estimator must be a scikit-learn KNeighborsClassifier or KNeighborsRegressor; "
            f"got {type(estimator).__name__}"
        )
    if estimator.weights not in ("uniform", None):
        raise UnsupportedError(
            f"estimator has weights={estimator.weights!r}; supported: weights='uniform'"
        )
    k = check_count("n_neighbors", estimator.n_neighbors, at_least=1)
    metric = Metric.resolve(estimator.metric, estimator.p, estimator.metric_params)
    return VoteSettings(k, metric, isinstance(estimator, KNeighborsRegressor))
