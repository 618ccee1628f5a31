"""Neighbours of new points in a fixed reference set, nearest first, ties in row order.

Euclidean geometry and a large reference set: scikit-learn proposes candidates, they get their true
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
from allsplits.orders.candidates import expanded_rounding
from allsplits.orders.default import TREE_FEATURES
from allsplits.orders.kernels import rerank_candidates
from allsplits.orders.keys import ReferenceKeys
from allsplits.orders.metric import Metric
from allsplits.orders.verify import first_of_rows, sort_rows

__all__ = ["QuerySearch"]

Array = NDArray[np.float64]
Items = NDArray[np.int32]

#: Distances are held for this many pairs at a time (32 MiB).
_ENTRIES_PER_BLOCK = 1 << 22
#: Up to this many references comparing with everybody is faster than proposing (measured).
_SMALL_REFERENCE = 2000
#: The same for their values, where the nearest one alone is wanted and there is no tree.
_SMALL_TABLE = 1_000_000


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
        reference = np.ascontiguousarray(reference, dtype=np.float64)
        self.metric = metric if metric.precomputed else metric.fixed_by_sample(reference)
        self.n_reference = len(reference)
        self.depth = depth
        self.n_threads = n_threads
        self.keys = ReferenceKeys(reference, self.metric, n_threads)
        self.proposer = None
        points = self.keys.points
        if points is not None and _proposing_is_faster(len(points), points.shape[1], depth):
            self.proposer = _Proposer(points, n_threads)

    def nearest(self, queries: Array) -> Items:
        """Row numbers of the `depth` nearest references of each query."""
        out = np.empty((len(queries), self.depth), dtype=np.int32)
        missing = np.arange(len(queries))
        points = None if self.proposer is None else self.keys.query_points(queries)
        if self.proposer is not None and points is not None:
            lengths = self._verify_candidates(self.proposer, points, out)
            missing = np.flatnonzero(lengths < 0)
        step = max(1, _ENTRIES_PER_BLOCK // self.n_reference)
        for low in range(0, len(missing), step):
            rows = missing[low : low + step]
            out[rows] = self._compare_with_all(queries[rows])
        return out

    def _verify_candidates(
        self, proposer: _Proposer, queries: Array, out: Items
    ) -> NDArray[np.int64]:
        """Fill in the rows that are certain; the others have length -1."""
        found, last, rounding = proposer.propose(queries, self.depth + 4 + self.depth // 8)
        # The kernel takes queries from the table that it takes candidates from.
        table = np.concatenate([proposer.points, queries])
        keys, tied = np.empty(found.shape), np.empty(found.shape, dtype=bool)
        lengths = np.empty(len(found), dtype=np.int64)
        map_row_ranges(
            lambda start, stop: rerank_candidates(
                table, start, stop, self.n_reference, found, keys, tied, last, rounding,
                self.depth, *self.metric.squared_ties, lengths,
            ),
            len(found),
            self.n_threads,
        )  # fmt: skip
        out[:] = found[:, : self.depth]
        return lengths

    def _compare_with_all(self, queries: Array) -> Items:
        keys = self.keys.of(queries)
        if self.depth == 1:
            return first_of_rows(keys.rows, self.n_threads, keys.ties)
        found = sort_rows(keys.rows, self.depth, self.n_reference, self.n_threads, keys.ties)
        return found[0][:, : self.depth]


def _proposing_is_faster(n_reference: int, n_features: int, depth: int) -> bool:
    if depth == 1 and n_features > TREE_FEATURES:
        return n_reference * n_features > _SMALL_TABLE
    return n_reference > max(_SMALL_REFERENCE, 4 * depth)


class _Proposer:
    """Candidates among fixed points by scikit-learn."""

    def __init__(self, points: Array, n_threads: int) -> None:
        self.points = points
        self.n_threads = n_threads
        self.centre = points.mean(axis=0)
        self.centred = points - self.centre
        algorithm = "kd_tree" if points.shape[1] <= TREE_FEATURES else "brute"
        self.search = NearestNeighbors(algorithm=algorithm, n_jobs=n_threads).fit(self.centred)

    def propose(self, queries: Array, n_candidates: int) -> tuple[Items, Array, Array]:
        """(candidates, squared distance of the last, bound on the error of all of them)."""
        centred = queries - self.centre
        # Looking up the thread pools takes milliseconds: only where it changes anything.
        limited = self.n_threads < thread_count(None)
        with threadpool_limits(self.n_threads) if limited else nullcontext():
            distances, found = self.search.kneighbors(centred, n_candidates)
        largest = max(np.abs(self.points).max(), np.abs(queries).max())
        rounding = expanded_rounding(centred, self.centred, largest)
        return found.astype(np.int32), distances[:, -1] ** 2, rounding
