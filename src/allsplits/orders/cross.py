"""Neighbour orders of queries that are not in the reference set: a pool against the labelled.

Every query is compared with every reference by differences, the `depth` nearest are kept with the
tie group they end in. Cost O(queries · references · features), memory bounded by the caller, who
passes blocks of `rows_per_block` queries. Reference sets of active learning are small, where
comparing with everybody is faster than any index.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allsplits.orders.keys import ReferenceKeys
from allsplits.orders.metric import Metric
from allsplits.orders.order import NeighborOrder, pack_rows
from allsplits.orders.verify import sort_rows

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
    rows_per_block : int
        How many queries at a time keep memory bounded.
    """

    def __init__(self, reference: Array, metric: Metric, depth: int, n_threads: int) -> None:
        self.depth = depth
        self.n_threads = n_threads
        self.n_reference = len(reference)
        self.rows_per_block = max(8, _ENTRIES_PER_BLOCK // self.n_reference)
        self._keys = ReferenceKeys(reference, metric, n_threads)

    def keys(self, queries: Array) -> Array:
        """Rows of keys: what references are sorted by, growing with the distance."""
        return self._keys.of(queries).rows

    def order(self, queries: Array, first_row: int = 0) -> NeighborOrder:
        """The references of each query, nearest first, complete tie groups."""
        keys = self._keys.of(queries)
        found = sort_rows(keys.rows, self.depth, self.n_reference, self.n_threads, keys.ties)
        return pack_rows(*found, keys.transform, self.depth, self.n_reference, first_row)
