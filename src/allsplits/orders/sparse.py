"""Neighbours among sparse rows, such as texts: Euclidean and cosine, without making them dense.

Products of sparse blocks in float64 give all distances of a row up to a bounded error, by
|x|² + |y|² - 2xy. Whoever may be among the nearest gets the true distance, by differences in the
order in which dense rows are summed, and a row is accepted if all others are certainly farther.
Cost: what the products of the sparse rows with all others take, and a merge of two rows for every
candidate; deep orders merge all pairs.
"""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from allsplits.exceptions import InvalidInputError
from allsplits.orders.full_rows import ENTRIES_PER_BLOCK, FullRowSearch
from allsplits.orders.kernel_types import SortedRows
from allsplits.orders.kernels import collect_near
from allsplits.orders.metric import Metric
from allsplits.orders.order import NeighborOrder, pack_rows, replace_rows
from allsplits.orders.proposers.proposer import expanded_rounding
from allsplits.orders.protocol import Search
from allsplits.orders.sparse_points import SparsePlaces, SparsePoints
from allsplits.orders.verify import mark_sorted

#: More features than this are renumbered, if few of them are used.
_MANY_FEATURES = 1 << 20
#: Links of a chain of near ties that candidates reach beyond the last.
_LINKS = 8

Array = NDArray[np.float64]


class SparseNearest:
    """Sparse points prepared for questions about themselves and about new points."""

    def __init__(self, points: SparsePoints, metric: Metric, n_threads: int) -> None:
        self.places = points.places(metric)
        self.ties, self.n_threads = metric.squared_ties, n_threads

    @cached_property
    def _used(self) -> NDArray[np.int32] | None:
        """The features that some point has, in ascending order; None for all.

        Where features are many more than values, as of hashed words, a place for each costs more
        than the points.
        """
        rows = self.places.rows
        if rows.shape[1] <= max(_MANY_FEATURES, 4 * rows.nnz):
            return None
        return np.unique(rows.indices)

    @cached_property
    def _columns(self) -> Any:
        """The points, by feature."""
        return self._by_used(self.places.rows).T.tocsr()

    def _by_used(self, rows: Any) -> Any:
        """Rows without the features that no point has: they add nothing to products."""
        used = self._used
        if used is None:
            return rows
        places = np.searchsorted(used, rows.indices)
        known = np.append(used, -1)[places] == rows.indices
        indptr = np.concatenate([[0], np.cumsum(known)])[rows.indptr]
        shape = rows.shape[0], len(used)
        return csr_array((rows.data[known], places[known], indptr), shape=shape)

    @cached_property
    def _farthest(self) -> float:
        return float(np.sqrt(self.places.squares.max()))

    @staticmethod
    def proposes(depth: int, n_points: int) -> bool:
        """Whether candidates are fewer than everybody."""
        return 4 * depth <= n_points

    def nearest(self, asked: SparsePlaces, depth: int, first_row: int = -1) -> SortedRows:
        """The `depth` nearest of each and the tie group they end in; length -1 if not certain.

        Those who ask are the points from `first_row` on, or new ones: then that is -1.
        """
        items, beyond = self._candidates(asked, depth, first_row)
        keys = asked.distances(self.places, items, self.n_threads)
        rank = np.argsort(keys, axis=1, kind="stable")
        items = np.take_along_axis(items, rank, axis=1)
        keys = np.take_along_axis(keys, rank, axis=1)
        rows, last = mark_sorted(items, keys, depth, self.ties, self.n_threads)
        certain = (rows.lengths >= depth) & (self.ties.reach(last) < beyond)
        rows.lengths[~certain] = -1
        return rows

    def complete_rows(self, asked: SparsePlaces) -> Array:
        """Squared distances to all points."""
        everybody = np.arange(len(self.places), dtype=np.int32)
        items = np.broadcast_to(everybody, (len(asked), len(self.places))).copy()
        return asked.distances(self.places, items, self.n_threads)

    def _candidates(
        self, asked: SparsePlaces, depth: int, first_row: int
    ) -> tuple[NDArray[np.int32], Array]:
        """Items in ascending order, filled up with -1, and what all others exceed, squared."""
        scores: Array = (self._by_used(asked.rows) @ self._columns).toarray()
        scores *= -2
        scores += self.places.squares
        scores += asked.squares[:, None]
        if first_row >= 0:
            own = np.arange(len(asked))
            scores[own, own + first_row] = np.inf
        longest = max(asked.longest, self.places.longest)
        rounding = expanded_rounding(np.sqrt(asked.squares), longest, self._farthest, 0.0)
        kth = np.partition(scores, depth - 1, axis=1)[:, depth - 1]
        limits = self.ties.reach(np.maximum(kth + rounding, 0.0), links=_LINKS) + 2 * rounding
        width = int(np.count_nonzero(scores <= limits[:, None], axis=1).max())
        items = np.empty((len(asked), width), dtype=np.int32)
        collect_near(scores, limits, 0, len(items), items, np.empty(items.shape))
        return items, limits - rounding


class SparseSearch(Search):
    """A prepared search among sparse rows."""

    def __init__(self, points: SparsePoints, metric: Metric, depth: int, n_threads: int) -> None:
        self.depth, self.n_samples = depth, len(points)
        self.rows_per_block = max(4, ENTRIES_PER_BLOCK // self.n_samples)
        self.search = SparseNearest(points, metric, n_threads)
        self.full = FullRowSearch(
            self._full_rows, self.n_samples, depth, n_threads, metric.from_squared,
            metric.squared_ties,
        )  # fmt: skip

    def order(self, start: int, stop: int) -> NeighborOrder:
        """Neighbours of the samples start to stop."""
        if not self.search.proposes(self.depth, self.n_samples):
            return self.full.order(start, stop)
        rows = self.search.nearest(self.search.places[start:stop], self.depth, start)
        failed = np.flatnonzero(rows.lengths < 0)
        order = pack_rows(rows, self.full.transform, self.depth, self.n_samples - 1, start)
        order = replace_rows(order, failed, self.full.orders_of(failed + start))
        return order.found_by("exact", redone_rows=len(failed))

    def _full_rows(self, numbers: NDArray[np.intp]) -> Array:
        return self.search.complete_rows(self.search.places[numbers])


def sparse_search(
    points: SparsePoints, metric: Metric, depth: int, backend: str, n_threads: int
) -> Search:
    """Prepare a search among sparse rows."""
    if backend not in ("auto", "exact"):
        raise InvalidInputError(
            f"backend must be 'auto' or 'exact' for a sparse X of this size; got {backend!r}"
        )
    return SparseSearch(points, metric, depth, n_threads)
