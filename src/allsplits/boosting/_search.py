"""The nearest prototypes of new samples."""

import numpy as np
from numpy.typing import NDArray

from allsplits.orders import Metric, Reference


class PrototypeSearch:
    """A search among some of the training samples, with the tie rule of training.

    `prototypes` are row numbers in the order in which equally near ones are taken. Scalings that a
    metric takes from the sample (``seuclidean``, ``mahalanobis``) are those of all training
    samples, as in training.
    """

    def __init__(
        self,
        X: NDArray[np.float64],
        prototypes: NDArray[np.intp],
        metric: Metric,
        n_neighbors: int,
        n_threads: int,
    ) -> None:
        self.prototypes = prototypes
        self.precomputed = metric.precomputed
        self.n_neighbors = min(n_neighbors, len(prototypes))
        self.search = Reference(X[prototypes], metric.fixed_by_sample(X), n_threads)
        #: Where each of them stands when they are in row order.
        self.places = np.argsort(np.argsort(prototypes))

    def nearest(self, X: NDArray[np.float64]) -> NDArray[np.intp]:
        """Positions of the nearest among the prototypes in row order.

        They are sorted, so that the same neighbours always add up to the same vote; shape
        (n_samples, n_neighbors).
        """
        queries = X[:, self.prototypes] if self.precomputed else X
        found = self.places[self.search.nearest(queries, self.n_neighbors)]
        found.sort(axis=1)
        return found
