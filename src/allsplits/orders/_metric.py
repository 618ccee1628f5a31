"""Metrics by scikit-learn's names, and which of them are Euclidean distance in disguise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import PAIRWISE_DISTANCE_FUNCTIONS
from sklearn.neighbors import VALID_METRICS

from allsplits.exceptions import InvalidInputError
from allsplits.orders._order import TIE_TOLERANCE

__all__ = ["Metric"]

#: Scalings that scikit-learn takes from the whole sample when they are not given.
_SCALED_BY_SAMPLE = ("seuclidean", "mahalanobis")


@dataclass(frozen=True)
class Metric:
    """A metric in scikit-learn's vocabulary, with parameters resolved."""

    name: str | Callable[..., float]
    params: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def resolve(
        cls, metric: Any, p: float = 2, metric_params: Mapping[str, Any] | None = None
    ) -> Metric:
        """Read `metric`, `p` and `metric_params` as KNeighborsClassifier does."""
        params = dict(metric_params or {})
        if callable(metric):
            return cls(metric, params)
        known = set(VALID_METRICS["brute"]) | set(PAIRWISE_DISTANCE_FUNCTIONS)
        if not isinstance(metric, str) or metric not in known:
            raise InvalidInputError(
                f"metric must be a callable, 'precomputed' or one of {sorted(known)}; "
                f"got {metric!r}"
            )
        if metric in ("minkowski", "p"):
            p = params.pop("p", p)
            if not p > 0:
                raise InvalidInputError(f"p must be greater than 0; got {p!r}")
            if params.get("w") is None:
                params.pop("w", None)
                named = {1: "manhattan", 2: "euclidean", np.inf: "chebyshev"}
                if p in named:
                    return cls(named[p], params)
            params["p"] = p
            return cls("minkowski", params)
        return cls(
            {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan"}.get(metric, metric),
            params,
        )

    @property
    def precomputed(self) -> bool:
        """Whether X already holds the distances."""
        return self.name == "precomputed"

    @property
    def allows_nan(self) -> bool:
        """Whether missing values have a meaning."""
        return self.name == "nan_euclidean"

    @property
    def is_euclidean(self) -> bool:
        """Whether its order is a Euclidean one (of directions, for cosine)."""
        return self.name in ("euclidean", "sqeuclidean", "cosine") and not self.params

    @property
    def needs_sample(self) -> bool:
        """Whether a scaling is missing that the whole sample would give."""
        return self.name in _SCALED_BY_SAMPLE and not {"V", "VI"} & set(self.params)

    def fixed_by_sample(self, X: NDArray[np.float64]) -> Metric:
        """Fill in scalings from the whole sample, so that blocks agree with each other."""
        if not self.needs_sample:
            return self
        if self.name == "seuclidean":
            return Metric(self.name, {"V": np.var(X, axis=0, ddof=1)})
        return Metric(self.name, {"VI": np.linalg.inv(np.cov(X.T)).T})

    def euclidean_points(self, X: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Points whose Euclidean order is this metric's order, or None if there are none."""
        if not self.is_euclidean:
            return None
        if self.name != "cosine":
            return X
        norms = np.sqrt(np.einsum("ij,ij->i", X, X))
        return X / norms[:, None] if np.all(norms > 0) else None

    def squared_ties(self, n_features: int) -> tuple[float, float]:
        """(relative, absolute) difference below which squared distances count as equal."""
        # A relative difference doubles when squared. Normalised points are rounded: two multiples
        # of one vector may differ in the last bits.
        floor = n_features * (8 * 2.0**-53) ** 2 if self.name == "cosine" else 0.0
        return 2 * TIE_TOLERANCE, floor

    def from_squared(self, squared: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn squared Euclidean distances of `euclidean_points` into this metric."""
        if self.name == "euclidean":
            return np.sqrt(squared)
        return squared / 2 if self.name == "cosine" else squared
