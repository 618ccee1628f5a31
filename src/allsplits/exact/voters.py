"""Predictions of new samples from their k nearest; equal distances mean what they mean in scores.

Where a tie group runs past the k-th place, its members share the votes that are left: this is the
average over all orders of the tied. So no class gains from the order of the rows.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.weighted.weights import VoteWeights
from allsplits.orders import NeighborOrder, Reference

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Voters:
    """The k nearest of `reference`, and what the vote of each weighs (None: all the same)."""

    reference: Reference
    k: int
    weights: VoteWeights | None = None

    def class_shares(self, queries: Floats, codes: NDArray[np.int32], n_classes: int) -> Floats:
        """Share of each class in the votes, shape (n_queries, n_classes)."""
        order = self.reference.of(queries, self.k)
        rows = np.repeat(np.arange(order.n_samples), np.diff(order.indptr))
        places = rows * n_classes + codes[order.flat_indices]
        votes, total = self._votes(order)
        counts = np.bincount(places, votes, order.n_samples * n_classes).reshape(-1, n_classes)
        if self.weights is not None:
            # All voters may weigh 0.
            total = counts.sum(axis=1)
        shares: Floats = counts / np.where(total > 0, total, 1)[:, None]
        return shares

    def means(self, queries: Floats, targets: Floats) -> Floats:
        """Mean of the voters' targets."""
        order = self.reference.of(queries, self.k)
        rows = np.repeat(np.arange(order.n_samples), np.diff(order.indptr))
        votes, total = self._votes(order)
        sums = np.bincount(rows, votes * targets[order.flat_indices], order.n_samples)
        if self.weights is not None:
            total = np.bincount(rows, votes, order.n_samples).astype(np.float64)
        means: Floats = sums / total
        if self.weights is None:
            # Whole rows are summed as numpy's mean does.
            whole = np.diff(order.indptr) == self.k
            means[whole] = targets[order.indices[whole]].mean(axis=1)
        return means

    def nearest(self, queries: Floats, k: int) -> tuple[Floats, NDArray[np.intp]]:
        """(distances, row numbers) of the k nearest, those of a tie group in row order."""
        order = self.reference.of(queries, k)
        return order.distances, order.indices

    def _votes(self, order: NeighborOrder) -> tuple[Floats, Floats]:
        """Votes of each entry, and how many there are in a row if all weigh the same."""
        votes, unit = order.votes(self.k)
        if self.weights is None:
            return votes.astype(np.float64), (self.k * unit).astype(np.float64)
        lengths = np.diff(order.indptr)
        weights = self.weights.of(order)
        # As soon as one voter is at distance 0, only such voters count.
        endless = np.isinf(weights)
        none = ~np.repeat(endless[order.indptr[:-1]], lengths)
        weights = np.where(none, np.where(endless, 0.0, weights), endless)
        return weights * (votes / np.repeat(unit, lengths)), unit.astype(np.float64)
