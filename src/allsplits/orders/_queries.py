"""Neighbours of new points in a fixed reference set, nearest first, ties in row order.

Euclidean distance and a large reference set: scikit-learn proposes candidates, they get their true
distances by differences, and a row is accepted only if everybody who was not proposed is certainly
farther away. All other rows: distances to every reference. Unlike a `NeighborOrder`, rows are cut
at `depth` exactly; of a tie group that runs past it the first rows of the reference set are kept.
"""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from allsplits._threads import map_row_ranges, thread_count
from allsplits.orders._kernels import rerank_candidates
from allsplits.orders._metric import Metric
from allsplits.orders._order import TIE_TOLERANCE
from allsplits.orders.backends._candidates import expanded_rounding
from allsplits.orders.backends._rows import metric_rows, sort_rows, squared_rows
from allsplits.orders.backends.exact import TREE_FEATURES

__all__ = ["QuerySearch"]

Array = NDArray[np.float64]
Items = NDArray[np.int32]

#: Distances are held for this many pairs at a time (32 MiB).
_ENTRIES_PER_BLOCK = 1 << 22
#: Up to this many references comparing with everybody is faster than proposing (measured).
_SMALL_REFERENCE = 2000


class QuerySearch:
    """A prepared search; with ``metric="precomputed"`` queries are rows of distances.

    Parameters
    ----------
    reference : ndarray of shape (n_reference, n_features)
        Validated points to search in.
    metric : Metric
        How far two points are apart.
    depth : int
        How many neighbours to find, at most n_reference.
    n_threads : int
        Threads. They do not change the result.
    """

    def __init__(self, reference: Array, metric: Metric, depth: int, n_threads: int) -> None:
        self.reference = np.ascontiguousarray(reference, dtype=np.float64)
        self.metric = metric if metric.precomputed else metric.fixed_by_sample(reference)
        self.depth = depth
        self.n_threads = n_threads
        self.euclidean = self.metric.name in ("euclidean", "sqeuclidean") and not self.metric.params
        # Squared distances are compared; a relative difference doubles when squared.
        self.tolerance = 2 * TIE_TOLERANCE if self.euclidean else TIE_TOLERANCE
        self.transposed = np.ascontiguousarray(self.reference.T) if self.euclidean else None
        self.proposer = None
        if self.euclidean and len(reference) > max(_SMALL_REFERENCE, 4 * depth):
            self.centre = self.reference.mean(axis=0)
            self.centred = self.reference - self.centre
            algorithm = "kd_tree" if reference.shape[1] <= TREE_FEATURES else "brute"
            self.proposer = NearestNeighbors(algorithm=algorithm, n_jobs=n_threads)
            self.proposer.fit(self.centred)

    def nearest(self, queries: Array) -> Items:
        """Row numbers of the `depth` nearest references of each query."""
        out = np.empty((len(queries), self.depth), dtype=np.int32)
        missing = np.arange(len(queries))
        if self.proposer is not None:
            missing = self._verify_candidates(self.proposer, queries, out)
        step = max(1, _ENTRIES_PER_BLOCK // len(self.reference))
        for low in range(0, len(missing), step):
            rows = missing[low : low + step]
            out[rows] = self._compare_with_all(queries[rows])
        return out

    def _verify_candidates(
        self, proposer: NearestNeighbors, queries: Array, out: Items
    ) -> NDArray[np.intp]:
        """Fill in the rows that are certain; return the numbers of the others."""
        centred = queries - self.centre
        n_candidates = self.depth + 4 + self.depth // 8
        # Looking up the thread pools takes milliseconds: only where it changes anything.
        limited = self.n_threads < thread_count(None)
        with threadpool_limits(self.n_threads) if limited else nullcontext():
            distances, found = proposer.kneighbors(centred, n_candidates)
        largest = max(np.abs(self.reference).max(), np.abs(queries).max())
        rounding = expanded_rounding(centred, self.centred, largest)
        # The kernel takes queries from the table that it takes candidates from.
        table = np.concatenate([self.reference, queries])
        items, keys = found.astype(np.int32), np.empty(found.shape)
        tied, lengths = np.empty(found.shape, dtype=bool), np.empty(len(found), dtype=np.int64)
        last = distances[:, -1] ** 2
        map_row_ranges(
            lambda start, stop: rerank_candidates(
                table, start, stop, len(self.reference), items, keys, tied, last, rounding,
                self.depth, self.tolerance, 0.0, lengths,
            ),
            len(items),
            self.n_threads,
        )  # fmt: skip
        out[:] = items[:, : self.depth]
        return np.flatnonzero(lengths < 0)

    def _compare_with_all(self, queries: Array) -> Items:
        items, _, _, _ = sort_rows(
            self._distances(queries), self.depth, len(self.reference), self.n_threads,
            self.tolerance, 0.0,
        )  # fmt: skip
        return items[:, : self.depth]

    def _distances(self, queries: Array) -> Array:
        """What rows are sorted by: squared distances for Euclidean geometry."""
        if self.metric.precomputed:
            return queries
        if self.transposed is not None:
            return squared_rows(queries, self.transposed, self.n_threads)
        return metric_rows(queries, self.reference, self.metric, self.n_threads)
