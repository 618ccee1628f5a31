"""Metrics by scikit-learn's names, and which of them are Euclidean distance in disguise."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS, PAIRWISE_DISTANCE_FUNCTIONS
from sklearn.neighbors import VALID_METRICS

from allsplits.exceptions import InvalidInputError
from allsplits.orders.directions import DIRECTION_ERROR, correlation_directions, directions
from allsplits.orders.kernel_types import TIE_TOLERANCE, Ties
from allsplits.orders.metric_params import (
    check_feature_count,
    inverse_covariance,
    read_exponent,
    read_params,
    sample_variances,
)
from allsplits.orders.squares import squares_underflow

#: Names for one and the same metric.
_SAME = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan"}
#: Minkowski exponents that have a name of their own.
_EXPONENTS = {1: "manhattan", 2: "euclidean", np.inf: "chebyshev"}

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Metric:
    """A metric in scikit-learn's vocabulary, with parameters resolved."""

    name: str | Callable[..., float]
    params: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def resolve(
        cls, metric: Any, p: Any = 2, metric_params: Mapping[str, Any] | None = None
    ) -> Metric:
        """Read `metric`, `p` and `metric_params` as KNeighborsClassifier does."""
        exponent = None if p is None else read_exponent(p)
        if callable(metric):
            return cls(metric, read_params(None, metric_params))
        known = set(VALID_METRICS["brute"]) | set(PAIRWISE_DISTANCE_FUNCTIONS)
        if not isinstance(metric, str) or metric not in known:
            raise InvalidInputError(
                f"metric must be a callable, 'precomputed' or one of {sorted(known)}; "
                f"got {metric!r}"
            )
        name = _SAME.get(metric, metric)
        params = read_params(name, metric_params)
        if name != "minkowski":
            return cls(name, params)
        exponent = read_exponent(params.pop("p", exponent))
        if "w" not in params and exponent in _EXPONENTS:
            return cls(_EXPONENTS[exponent], params)
        return cls(name, params | {"p": exponent})

    @property
    def precomputed(self) -> bool:
        """Whether X already holds the distances."""
        return self.name == "precomputed"

    @property
    def allows_nan(self) -> bool:
        """Whether missing values have a meaning."""
        return self.name == "nan_euclidean"

    @property
    def boolean(self) -> bool:
        """Whether it asks only which values are not 0."""
        return self.name in PAIRWISE_BOOLEAN_FUNCTIONS

    @property
    def is_euclidean(self) -> bool:
        """Whether its order is a Euclidean one (of directions, for cosine and correlation)."""
        if self.name == "correlation":
            return True
        return self.name in ("euclidean", "sqeuclidean", "cosine") and not self.params

    @property
    def of_directions(self) -> bool:
        """Whether the lengths of rows play no part."""
        return self.name in ("cosine", "correlation")

    def squares_fit(self, X: NDArray[Any]) -> bool:
        """Whether squared Euclidean distances tell all rows of X apart that differ."""
        return self.is_euclidean and (self.of_directions or not squares_underflow(X))

    @property
    def needs_sample(self) -> bool:
        """Whether a scaling is missing that the whole sample would give."""
        return self.name in ("seuclidean", "mahalanobis") and not self.params

    def fixed_by_sample(self, X: Array) -> Metric:
        """Fill in scalings from the whole sample, so that blocks agree with each other."""
        if self.precomputed:
            return self
        self.check_features(X.shape[1])
        if self.boolean and not np.all((X == 0) | (X == 1)):
            warnings.warn(
                f"metric {self.name!r} takes every value of X other than 0 as true",
                DataConversionWarning,
                stacklevel=2,
            )
        if not self.needs_sample:
            return self
        if self.name == "seuclidean":
            return replace(self, params={"V": sample_variances(X)})
        return replace(self, params={"VI": inverse_covariance(np.atleast_2d(np.cov(X.T)))})

    def check_features(self, n_features: int) -> None:
        """Raise unless points with so many features have distances by this metric."""
        check_feature_count(self.name, self.params, n_features)

    def same_as(self, other: Metric) -> bool:
        """Whether both give the same distances, as far as names and parameters tell."""
        if self.name != other.name or self.params.keys() != other.params.keys():
            return False
        return all(np.array_equal(value, other.params[key]) for key, value in self.params.items())

    def __str__(self) -> str:
        name = getattr(self.name, "__name__", self.name)
        more = "".join(f", {key}={value!r}" for key, value in self.params.items())
        return f"metric={name!r}{more}"

    def euclidean_points(self, X: Array) -> Array:
        """Points whose Euclidean order is this metric's order, if it `is_euclidean`."""
        if self.name == "cosine":
            return directions(X)
        if self.name == "correlation":
            return correlation_directions(X, self.params.get("w"))
        return X

    @property
    def squared_ties(self) -> Ties:
        """Which squared distances of `euclidean_points` count as equal."""
        # A relative difference doubles when squared.
        return Ties(2 * TIE_TOLERANCE, DIRECTION_ERROR if self.of_directions else 0.0)

    def from_squared(self, squared: Array) -> Array:
        """Turn squared Euclidean distances of `euclidean_points` into this metric."""
        if self.name == "euclidean":
            return np.sqrt(squared)
        if self.of_directions:
            return np.where(squared <= DIRECTION_ERROR**2, 0.0, squared / 2)
        return squared
