"""Neighbours of sparse rows, such as texts: Euclidean and cosine, without making them dense.

Products of sparse blocks in float64 give all distances of a row up to a bounded error, by
|x|² + |y|² - 2xy. Whoever may be among the nearest gets the true distance, by differences in the
order in which dense rows are summed, and a row is accepted if all others are certainly farther.
Cost: what the products of n sparse rows with all others take, and a merge of two rows for every
candidate; deep orders merge all pairs.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from allsplits._threads import map_row_ranges
from allsplits._validation import check_sparse
from allsplits.exceptions import InvalidInputError, UnsupportedError
from allsplits.orders.full_rows import ENTRIES_PER_BLOCK, FullRowSearch
from allsplits.orders.kernels import collect_near
from allsplits.orders.kernels_sparse import Stored, sparse_distances
from allsplits.orders.metric import Metric
from allsplits.orders.order import NeighborOrder, pack_rows, replace_rows
from allsplits.orders.proposers.proposer import expanded_rounding
from allsplits.orders.protocol import Search
from allsplits.orders.squares import has_tiny_values
from allsplits.orders.verify import mark_sorted

#: A sparse X with at most this many entries is made dense, which is faster (64 MiB).
_MADE_DENSE = 1 << 23
#: Links of a chain of near ties that candidates reach beyond the last.
_LINKS = 8

Array = NDArray[np.float64]


def stays_sparse(X: Any, metric: Metric) -> bool:
    """Whether so large a sparse X is searched as it is."""
    small = X.ndim != 2 or float(X.shape[0]) * X.shape[1] <= _MADE_DENSE
    return metric.is_euclidean and metric.name != "correlation" and not small


@dataclass(frozen=True, eq=False)
class SparsePoints:
    """Points whose Euclidean order is the metric's order of sparse samples.

    `rows` have sorted columns and no zeros that are stored.
    """

    rows: Any
    shape: tuple[int, int]

    @classmethod
    def read(cls, X: Any, metric: Metric) -> "SparsePoints":
        """Check samples."""
        rows = check_sparse(X)
        if metric.of_directions:
            return cls(_directions(rows), X.shape)
        if has_tiny_values(rows.data[:, None]):
            raise UnsupportedError(
                "X is sparse and holds values so small that squares of their differences "
                "underflow: rescale it"
            )
        return cls(rows, X.shape)

    def __len__(self) -> int:
        return self.shape[0]

    @cached_property
    def stored(self) -> Stored:
        """The rows as kernels take them."""
        return Stored(
            self.rows.indptr.astype(np.int64), self.rows.indices.astype(np.int32), self.rows.data
        )

    def distances(
        self, numbers: NDArray[np.intp], items: NDArray[np.int32], n_threads: int
    ) -> Array:
        """Squared distances of some rows to their items."""
        keys = np.empty(items.shape)
        stored, n_columns = self.stored, int(self.rows.shape[1])

        def fill(start: int, stop: int) -> None:
            sparse_distances(stored, n_columns, numbers, items, start, stop, keys)

        map_row_ranges(fill, len(items), n_threads, smallest=8)
        return keys


def _directions(rows: Any) -> Any:
    """Rows scaled to length 1, with one more column that is 1 for rows of zeros."""
    n, n_features = rows.shape
    lengths = np.diff(rows.indptr)
    some = np.flatnonzero(lengths)
    data = rows.data
    if len(some):
        starts, of_some = rows.indptr[some], lengths[some]
        # As for dense rows: by powers of two, so that squares neither under- nor overflow.
        exponents = np.frexp(np.maximum.reduceat(np.abs(data), starts))[1]
        data = np.ldexp(data, -np.repeat(exponents, of_some))
        data /= np.repeat(np.sqrt(np.add.reduceat(np.square(data), starts)), of_some)
    nothing = np.flatnonzero(lengths == 0)
    ends = np.zeros(n, dtype=np.int64)
    ends[nothing] = 1
    indptr = rows.indptr + np.concatenate([[0], np.cumsum(ends)])
    at = rows.indptr[nothing]
    indices = np.insert(rows.indices, at, n_features)
    return csr_array((np.insert(data, at, 1.0), indices, indptr), shape=(n, n_features + 1))


class SparseSearch(Search):
    """A prepared search among sparse rows."""

    def __init__(self, points: SparsePoints, metric: Metric, depth: int, n_threads: int) -> None:
        self.points, self.depth, self.n_threads = points, depth, n_threads
        self.n_samples = len(points)
        self.rows_per_block = max(4, ENTRIES_PER_BLOCK // self.n_samples)
        self.full = FullRowSearch(
            self._full_rows, self.n_samples, depth, n_threads, metric.from_squared,
            metric.squared_ties,
        )  # fmt: skip
        rows = points.rows
        self.columns = rows.T.tocsr()
        self.squares = np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()
        norms = np.sqrt(self.squares)
        longest = int(np.diff(rows.indptr).max())
        self.rounding = expanded_rounding(norms, longest, float(norms.max()), 0.0)

    def order(self, start: int, stop: int) -> NeighborOrder:
        """Neighbours of the samples start to stop."""
        if 4 * self.depth > self.n_samples:
            return self.full.order(start, stop)
        numbers, ties = np.arange(start, stop), self.full.ties
        items, beyond = self._candidates(start, stop)
        keys = self.points.distances(numbers, items, self.n_threads)
        rank = np.argsort(keys, axis=1, kind="stable")
        items = np.take_along_axis(items, rank, axis=1)
        keys = np.take_along_axis(keys, rank, axis=1)
        rows, last = mark_sorted(items, keys, self.depth, ties, self.n_threads)
        certain = (rows.lengths >= self.depth) & (ties.reach(last) < beyond)
        rows.lengths[~certain] = -1
        failed = np.flatnonzero(~certain)
        order = pack_rows(rows, self.full.transform, self.depth, self.n_samples - 1, start)
        order = replace_rows(order, failed, self.full.orders_of(failed + start))
        return order.found_by("exact", redone_rows=len(failed))

    def _candidates(self, start: int, stop: int) -> tuple[NDArray[np.int32], Array]:
        """Items in ascending order, filled up with -1, and what all others exceed, squared."""
        scores: Array = (self.points.rows[start:stop] @ self.columns).toarray()
        scores *= -2
        scores += self.squares
        scores += self.squares[start:stop, None]
        scores[np.arange(stop - start), np.arange(start, stop)] = np.inf
        rounding = self.rounding[start:stop]
        kth = np.partition(scores, self.depth - 1, axis=1)[:, self.depth - 1]
        limits = self.full.ties.reach(np.maximum(kth + rounding, 0.0), links=_LINKS) + 2 * rounding
        width = int(np.count_nonzero(scores <= limits[:, None], axis=1).max())
        items = np.empty((stop - start, width), dtype=np.int32)
        collect_near(scores, limits, 0, len(items), items, np.empty(items.shape))
        return items, limits - rounding

    def _full_rows(self, numbers: NDArray[np.intp]) -> Array:
        everybody = np.arange(self.n_samples, dtype=np.int32)
        items = np.broadcast_to(everybody, (len(numbers), self.n_samples)).copy()
        return self.points.distances(numbers, items, self.n_threads)


def sparse_search(
    points: SparsePoints, metric: Metric, depth: int, backend: str, n_threads: int
) -> Search:
    """Prepare a search among sparse rows."""
    if backend not in ("auto", "exact"):
        raise InvalidInputError(
            f"backend must be 'auto' or 'exact' for a sparse X of this size; got {backend!r}"
        )
    return SparseSearch(points, metric, depth, n_threads)
