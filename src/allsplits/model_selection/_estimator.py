"""Reading a scikit-learn nearest-neighbour estimator: what it would do, without fitting it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline

from allsplits._validation import check_count
from allsplits.exact import VoteWeights
from allsplits.exceptions import InvalidInputError, InvalidTypeError
from allsplits.orders import Metric

__all__ = ["VoteSettings", "read_estimator"]


@dataclass(frozen=True)
class VoteSettings:
    """What decides a vote: how many neighbours, by which metric, for classes or for numbers.

    `weights` is None for equal votes.
    """

    n_neighbors: int
    metric: Metric
    regression: bool
    weights: VoteWeights | None


def read_estimator(estimator: Any) -> VoteSettings:
    """Read a KNeighborsClassifier or KNeighborsRegressor."""
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
    regression = isinstance(estimator, KNeighborsRegressor)
    weights = _read_weights(estimator.weights, positive=regression)
    k = check_count("n_neighbors", estimator.n_neighbors, at_least=1)
    metric = Metric.resolve(estimator.metric, estimator.p, estimator.metric_params)
    return VoteSettings(k, metric, regression, weights)


def _read_weights(weights: Any, *, positive: bool) -> VoteWeights | None:
    if weights is None or (isinstance(weights, str) and weights == "uniform"):
        return None
    if callable(weights) or (isinstance(weights, str) and weights == "distance"):
        return VoteWeights(weights, positive)
    raise InvalidInputError(
        f"weights must be 'uniform', 'distance', None or a callable on distances; got {weights!r}"
    )
