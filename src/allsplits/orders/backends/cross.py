"""Neighbour orders of queries that are not in the reference set: a pool against the labelled.

Every query is compared with every reference by differences, the `depth` nearest are kept with the
tie group they end in. Cost O(queries · references · features), memory bounded by the caller, who
passes blocks of `rows_per_block` queries. Reference sets of active learning are small, where
comparing with everybody is faster than any index.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from allsplits.orders._metric import Metric
from allsplits.orders._order import TIE_TOLERANCE, NeighborOrder, pack_rows
from allsplits.orders.backends._rows import metric_rows, sort_rows, squared_rows

__all__ = ["CrossSearch"]

#: Distances are held for this many pairs at a time (16 MiB).
_ENTRIES_PER_BLOCK = 1 << 21

Array = NDArray[np.float64]


class CrossSearch:
    """A prepared search of new points in a fixed reference set.

    With ``metric="precomputed"`` the queries are rows of distances to the reference set, whose
    points are not needed.

    Attributes
    ----------
    keys : callable
        Rows of keys of some queries: what references are sorted by, growing with the distance.
    rows_per_block : int
        How many queries at a time keep memory bounded.
    """

    def __init__(self, reference: Array, metric: Metric, depth: int, n_threads: int) -> None:
        self.metric = metric
        self.depth = depth
        self.n_threads = n_threads
        self.n_reference = len(reference)
        self.rows_per_block = max(8, _ENTRIES_PER_BLOCK // self.n_reference)
        self.keys, self._squared = self._prepare(reference)

    def _prepare(self, reference: Array) -> tuple[Callable[[Array], Array], bool]:
        """How to get keys to sort by, and whether they are squared Euclidean distances."""
        if self.metric.precomputed:
            return (lambda queries: np.array(queries, dtype=np.float64)), False

        def by_metric(queries: Array) -> Array:
            return metric_rows(queries, reference, self.metric, self.n_threads)

        points = self.metric.euclidean_points(reference)
        if points is None:
            return by_metric, False
        transposed = np.ascontiguousarray(points.T, dtype=np.float64)

        def by_differences(queries: Array) -> Array:
            at = self.metric.euclidean_points(queries)
            if at is None:
                # A zero vector has no direction: its cosine distance to everybody is 1.
                some = queries.any(axis=1)
                rows = np.full((len(queries), len(reference)), 2.0)
                if some.any():
                    rows[some] = by_differences(queries[some])
                return rows
            return squared_rows(np.ascontiguousarray(at), transposed, self.n_threads)

        return by_differences, True

    def order(self, queries: Array, first_row: int = 0) -> NeighborOrder:
        """The references of each query, nearest first, complete tie groups."""
        rows = self.keys(queries)
        tolerance, floor = TIE_TOLERANCE, 0.0
        if self._squared:
            tolerance, floor = self.metric.squared_ties(queries.shape[1])
        sorted_rows = sort_rows(
            rows, self.depth, self.n_reference, self.n_threads, tolerance, floor
        )
        transform = self.metric.from_squared if self._squared else lambda keys: keys
        return pack_rows(*sorted_rows, transform, self.depth, self.n_reference, first_row)
