"""The nearest prototypes of new samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from allsplits.orders import Metric

__all__ = ["PrototypeSearch"]


class PrototypeSearch:
    """scikit-learn's search among some of the training samples.

    Scalings that a metric takes from the sample (``seuclidean``, ``mahalanobis``) are those of all
    training samples, as in training.
    """

    def __init__(
        self,
        X: NDArray[np.float64],
        prototypes: NDArray[np.intp],
        metric: Metric,
        n_neighbors: int,
        n_threads: int,
    ) -> None:
        metric = metric if metric.precomputed else metric.fixed_by_sample(X)
        params = dict(metric.params)
        self.prototypes = prototypes
        self.precomputed = metric.precomputed
        self.n_neighbors = min(n_neighbors, len(prototypes))
        self.search = NearestNeighbors(
            n_neighbors=self.n_neighbors,
            # A user's function need not obey the triangle inequality that trees rely on.
            algorithm="brute" if callable(metric.name) else "auto",
            metric=metric.name,
            p=params.pop("p", 2),
            metric_params=params or None,
            n_jobs=n_threads,
        )
        self.search.fit(X[np.ix_(prototypes, prototypes)] if self.precomputed else X[prototypes])

    def nearest(self, X: NDArray[np.float64]) -> NDArray[np.intp]:
        """Positions of the nearest among the prototypes, shape (n_samples, n_neighbors).

        They come in row order, so that the same neighbours always add up to the same vote.
        """
        queries = X[:, self.prototypes] if self.precomputed else X
        return np.sort(self.search.kneighbors(queries, return_distance=False), axis=1)
