"""Reading a scikit-learn nearest-neighbour estimator: what it would do, without fitting it."""

from dataclasses import dataclass
from inspect import getattr_static
from typing import Any

from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestCentroid
from sklearn.pipeline import Pipeline

from allsplits._validation import check_choice, check_count, shown
from allsplits.exact import VoteWeights
from allsplits.exceptions import InvalidInputError, InvalidTypeError
from allsplits.model_selection._pipelines import refuse_pipeline
from allsplits.orders import Metric

#: What decides a prediction, and is computed here in another way than by calling it.
_METHODS = ("fit", "kneighbors", "predict", "predict_proba")


@dataclass(frozen=True)
class VoteSettings:
    """What decides a vote: how many neighbours, by which metric, for classes or for numbers.

    `weights` is None for equal votes. `class_means` says that neighbours are means of classes: the
    samples themselves where a training set has one of each.
    """

    n_neighbors: int
    metric: Metric
    regression: bool
    weights: VoteWeights | None
    class_means: bool = False


def read_estimator(estimator: Any) -> VoteSettings:
    """Read a KNeighborsClassifier, KNeighborsRegressor or NearestCentroid."""
    if isinstance(estimator, Pipeline):
        refuse_pipeline(estimator)
    if isinstance(estimator, NearestCentroid):
        return _read_class_means(estimator)
    if not isinstance(estimator, (KNeighborsClassifier, KNeighborsRegressor)):
        raise InvalidTypeError(
            "estimator must be a scikit-learn KNeighborsClassifier or KNeighborsRegressor (or a "
            f"NearestCentroid, for one sample of each class); got {type(estimator).__name__}"
        )
    regression = isinstance(estimator, KNeighborsRegressor)
    _refuse_own_methods(estimator, KNeighborsRegressor if regression else KNeighborsClassifier)
    weights = read_weights(estimator.weights, positive=regression)
    k = check_count("n_neighbors", estimator.n_neighbors, at_least=1)
    metric = Metric.resolve(estimator.metric, estimator.p, estimator.metric_params)
    return VoteSettings(k, metric, regression, weights)


def _read_class_means(estimator: Any) -> VoteSettings:
    """The nearest class mean: 1-NN on means, which are samples where a class has one."""
    _refuse_own_methods(estimator, NearestCentroid)
    if estimator.shrink_threshold is not None:
        raise InvalidInputError(
            "shrink_threshold (of NearestCentroid) must be None: means that are shrunken are no "
            f"samples; got {shown(estimator.shrink_threshold)}"
        )
    if not isinstance(estimator.priors, str) or estimator.priors not in ("uniform", "empirical"):
        raise InvalidInputError(
            f"priors (of NearestCentroid) must be 'uniform' or 'empirical'; got "
            f"{shown(estimator.priors)}"
        )
    allowed = ("euclidean", "manhattan")
    check_choice("metric (of NearestCentroid)", estimator.metric, allowed)
    metric = Metric.resolve(estimator.metric, 2, None)
    return VoteSettings(1, metric, False, None, class_means=True)


def _refuse_own_methods(estimator: Any, base: type) -> None:
    """A subclass may add what it likes, but not find neighbours or count votes in its own way."""
    for method in _METHODS:
        own = getattr_static(type(estimator), method, None) is not getattr_static(
            base, method, None
        )
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
