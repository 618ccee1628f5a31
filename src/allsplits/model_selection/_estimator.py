"""Reading a scikit-learn nearest-neighbour estimator: what it would do, without fitting it."""

import numbers
from dataclasses import dataclass
from inspect import getattr_static
from typing import Any

import numpy as np
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestCentroid,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
)
from sklearn.pipeline import Pipeline

from allsplits._validation import check_choice, check_count, check_radius, shown
from allsplits.exact import VoteWeights, laws_of
from allsplits.exceptions import InvalidInputError, InvalidTypeError, UnsupportedError
from allsplits.model_selection._pipelines import refuse_pipeline
from allsplits.orders import Metric

#: What decides a prediction, and is computed here in another way than by calling it.
_METHODS = ("fit", "kneighbors", "radius_neighbors", "predict", "predict_proba")


@dataclass(frozen=True)
class VoteSettings:
    """What decides a vote: how many neighbours, by which metric, for classes or for numbers.

    `weights` is None for equal votes. `class_means` says that neighbours are means of classes: the
    samples themselves where a training set has one of each. With a `radius` everybody within it
    votes, at least one training sample is asked for, and `outlier` is what is predicted where
    nobody is (a label, or the target of a regressor).
    """

    n_neighbors: int
    metric: Metric
    regression: bool
    weights: VoteWeights | None
    class_means: bool = False
    radius: float | None = None
    outlier: Any = None


def read_estimator(
    estimator: Any, *, within: bool = False, outlier_target: Any = None
) -> VoteSettings:
    """Read a KNeighborsClassifier, KNeighborsRegressor or NearestCentroid.

    Where radii are known (`within`) also a RadiusNeighborsClassifier or RadiusNeighborsRegressor.
    """
    if isinstance(estimator, Pipeline):
        refuse_pipeline(estimator)
    if isinstance(estimator, NearestCentroid):
        return _read_class_means(estimator)
    if isinstance(estimator, (RadiusNeighborsClassifier, RadiusNeighborsRegressor)):
        if within:
            return _read_radius(estimator, outlier_target)
        raise UnsupportedError(
            "estimator must be a KNeighborsClassifier or KNeighborsRegressor here: radii are known "
            "by their exact averages, to evaluate, validation_curve and "
            f"learning_curve, where cv is {laws_of('within')}; got {type(estimator).__name__}"
        )
    if outlier_target is not None:
        raise InvalidInputError(
            "outlier_target must be None unless the estimator is a RadiusNeighborsRegressor; got "
            f"{shown(outlier_target)}"
        )
    if not isinstance(estimator, (KNeighborsClassifier, KNeighborsRegressor)):
        raise InvalidTypeError(
            "estimator must be a scikit-learn KNeighborsClassifier or KNeighborsRegressor"
            f"{_also(within)}; got {_kind(estimator)}"
        )
    regression = isinstance(estimator, KNeighborsRegressor)
    _refuse_own_methods(estimator, KNeighborsRegressor if regression else KNeighborsClassifier)
    weights = read_weights(estimator.weights, positive=regression)
    k = check_count("n_neighbors", estimator.n_neighbors, at_least=1)
    metric = Metric.resolve(estimator.metric, estimator.p, estimator.metric_params)
    return VoteSettings(k, metric, regression, weights)


def _also(within: bool) -> str:
    radius = "a RadiusNeighborsClassifier or RadiusNeighborsRegressor, " if within else ""
    return f" (or {radius}a NearestCentroid for one sample of each class)"


def _kind(estimator: Any) -> str:
    """What somebody passed as an estimator."""
    return shown(estimator) if isinstance(estimator, type) else type(estimator).__name__


def _read_radius(estimator: Any, outlier_target: Any) -> VoteSettings:
    """Everybody within a radius votes."""
    regression = isinstance(estimator, RadiusNeighborsRegressor)
    _refuse_own_methods(
        estimator, RadiusNeighborsRegressor if regression else RadiusNeighborsClassifier
    )
    if read_weights(estimator.weights, positive=regression) is not None:
        raise UnsupportedError(
            "weights must be 'uniform' for neighbours within a radius: given how many of them are "
            "in training it matters which, and sets of any size would have to be counted; got "
            f"{shown(estimator.weights)}. KNeighborsClassifier and KNeighborsRegressor have "
            "weighted votes"
        )
    radius = check_radius("radius", estimator.radius)
    metric = Metric.resolve(estimator.metric, estimator.p, estimator.metric_params)
    outlier = outlier_target if regression else estimator.outlier_label
    if not regression and outlier_target is not None:
        raise InvalidInputError(
            "outlier_target must be None for a classifier, which has outlier_label; got "
            f"{shown(outlier_target)}"
        )
    if regression and outlier is not None:
        real = isinstance(outlier, numbers.Real) and not isinstance(outlier, bool)
        if not real or not np.isfinite(float(outlier)):
            raise InvalidInputError(
                f"outlier_target must be None or a finite number; got {shown(outlier)}"
            )
        outlier = float(outlier)
    return VoteSettings(1, metric, regression, None, radius=radius, outlier=outlier)


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
