"""Reading a scikit-learn nearest-neighbour estimator: what it would do, without fitting it."""

from dataclasses import dataclass
from typing import Any

from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline

from allsplits._validation import check_count, shown
from allsplits.exact import VoteWeights
from allsplits.exceptions import InvalidInputError, InvalidTypeError
from allsplits.model_selection._pipelines import refuse_pipeline
from allsplits.orders import Metric

#: What decides a prediction, and is computed here in another way than by calling it.
_METHODS = ("fit", "kneighbors", "predict", "predict_proba")


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
        refuse_pipeline(estimator)
    if not isinstance(estimator, (KNeighborsClassifier, KNeighborsRegressor)):
        raise InvalidTypeError(
            "estimator must be a scikit-learn KNeighborsClassifier or KNeighborsRegressor; "
            f"got {type(estimator).__name__}"
        )
    _refuse_own_methods(estimator)
    regression = isinstance(estimator, KNeighborsRegressor)
    weights = read_weights(estimator.weights, positive=regression)
    k = check_count("n_neighbors", estimator.n_neighbors, at_least=1)
    metric = Metric.resolve(estimator.metric, estimator.p, estimator.metric_params)
    return VoteSettings(k, metric, regression, weights)


def _refuse_own_methods(estimator: Any) -> None:
    """A subclass may add what it likes, but not find neighbours or count votes in its own way."""
    regression = isinstance(estimator, KNeighborsRegressor)
    base = KNeighborsRegressor if regression else KNeighborsClassifier
    for method in _METHODS:
        own = getattr(type(estimator), method, None) is not getattr(base, method, None)
        if own or method in vars(estimator):
            raise InvalidTypeError(
                f"estimator must be a {base.__name__} that predicts as scikit-learn does; got "
                f"{type(estimator).__name__}, which has its own {method}: only scikit-learn's "
                "votes have a closed form here"
            )


def read_weights(weights: Any, *, positive: bool) -> VoteWeights | None:
    """What `weights` stands for; None for equal votes. Means need weights that are positive."""
    if isinstance(weights, VoteWeights):
        return weights
    if weights is None or (isinstance(weights, str) and weights == "uniform"):
        return None
    if callable(weights) or (isinstance(weights, str) and weights == "distance"):
        return VoteWeights(weights, positive)
    raise InvalidInputError(
        "weights must be 'uniform', 'distance', None or a callable on distances; got "
        f"{shown(weights)}"
    )
