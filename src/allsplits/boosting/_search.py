"""The nearest prototypes of new samples, and how much of a vote each of them has."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from allsplits.orders import Metric, Reference


@dataclass(frozen=True)
class PrototypeVotes:
    """Votes of the nearest prototypes of new samples.

    Prototypes that are tied at the k-th place share the votes that are left, as in every
    prediction of the library: no class gains from the order of the rows.
    """

    #: Whole votes, (n_samples, n_prototypes): row i counts `unit[i]` for one.
    counts: csr_array
    unit: NDArray[np.int64]

    def sums(self, votes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum of what the prototypes say, (n_prototypes, n_problems), for each sample."""
        total: NDArray[np.float64] = (self.counts @ votes) / self.unit[:, None]
        return total


class PrototypeSearch:
    """A search among some of the training samples.

    `prototypes` are row numbers. Scalings that a metric takes from the sample (``seuclidean``,
    ``mahalanobis``) are those of all training samples, as in training.
    """

    def __init__(
        self,
        X: Any,
        prototypes: NDArray[np.intp],
        metric: Metric,
        n_neighbors: int,
        n_threads: int,
    ) -> None:
        self.prototypes = prototypes
        self.precomputed = metric.precomputed
        self.n_neighbors = min(n_neighbors, len(prototypes))
        self.search = Reference(X[prototypes], metric.fixed_by_sample(X), n_threads)

    def votes(self, X: Any) -> PrototypeVotes:
        """Who votes on these samples."""
        queries = X[:, self.prototypes] if self.precomputed else X
        order = self.search.of(queries, self.n_neighbors)
        counts, unit = order.votes(self.n_neighbors)
        shape = (order.n_samples, len(self.prototypes))
        matrix = csr_array(
            (counts.astype(np.float64), order.flat_indices, order.indptr), shape=shape
        )
        # In row order, so that the same neighbours always add up to the same vote.
        matrix.sort_indices()
        return PrototypeVotes(matrix, unit)
