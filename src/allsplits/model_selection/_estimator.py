"""Reading a scikit-learn nearest-neighbour estimator: what it would do, without fitting it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline

from allsplits._validation import check_count
from allsplits.exceptions import InvalidTypeError, UnsupportedError
from allsplits.orders import Metric

__all__ = ["VoteSettings", "read_classifier"]


@dataclass(frozen=True)
class VoteSettings:
    """n_neighbors and metric of an estimator with equal votes."""

    n_neighbors: int
    metric: Metric


def read_classifier(estimator: Any) -> VoteSettings:
    """Read a KNeighborsClassifier with uniform weights."""
    if isinstance(estimator, Pipeline):
        raise InvalidTypeError(
            "estimator must be a KNeighborsClassifier; got a Pipeline. Its steps are fitted on "
            "each training set, so distances differ from split to split and no closed form exists: "
            "transform X first and pass the classifier alone (preprocessing then sees all of X)"
        )
    if isinstance(estimator, KNeighborsRegressor) or not isinstance(
        estimator, KNeighborsClassifier
    ):
        raise InvalidTypeError(
            f"estimator must be a scikit-learn KNeighborsClassifier; got {type(estimator).__name__}"
        )
    if estimator.weights not in ("uniform", None):
        raise UnsupportedError(
            f"estimator has weights={estimator.weights!r}; supported: weights='uniform'"
        )
    k = check_count("n_neighbors", estimator.n_neighbors, at_least=1)
    metric = Metric.resolve(estimator.metric, estimator.p, estimator.metric_params)
    return VoteSettings(k, metric)
