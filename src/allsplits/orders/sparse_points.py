"""Sparse samples, such as texts, and where they are in Euclidean geometry: rows are never dense.

Whoever needs some of them in an array asks for a block of rows at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from allsplits._threads import map_row_ranges
from allsplits._validation import check_sparse
from allsplits.exceptions import UnsupportedError
from allsplits.orders.kernels_sparse import Stored, sparse_distances
from allsplits.orders.metric import Metric
from allsplits.orders.squares import has_tiny_values

#: A sparse table with at most this many entries is made dense, which is faster (64 MiB).
_MADE_DENSE = 1 << 23

Array = NDArray[np.float64]
#: Rows by range, or by their numbers.
Numbers = slice | NDArray[np.intp]


def is_large_sparse(X: Any) -> bool:
    """Whether X is a sparse table that is too large to be made dense for speed."""
    return bool(issparse(X) and X.ndim == 2 and float(X.shape[0]) * X.shape[1] > _MADE_DENSE)


def stays_sparse(X: Any, metric: Metric) -> bool:
    """Whether samples are searched as sparse rows."""
    return is_large_sparse(X) and metric.is_euclidean and metric.name != "correlation"


@dataclass(frozen=True, eq=False)
class SparsePoints:
    """Checked sparse samples.

    `rows` are float64 with sorted columns and no zeros that are stored.
    """

    rows: Any

    @classmethod
    def read(cls, X: Any, metric: Metric, *, name: str = "X", at_least: int = 2) -> SparsePoints:
        """Check samples."""
        rows = check_sparse(X, name=name, at_least=at_least, allow_nan=metric.allows_nan)
        return cls(rows)._with_squares(metric, name)

    @classmethod
    def of(cls, X: Array, metric: Metric) -> SparsePoints:
        """Rows of an array that was checked."""
        return cls(csr_array(np.asarray(X, dtype=np.float64)))._with_squares(metric, "X")

    def _with_squares(self, metric: Metric, name: str) -> SparsePoints:
        squares = metric.is_euclidean and not metric.of_directions
        if squares and has_tiny_values(self.rows.data[:, None]):
            raise UnsupportedError(
                f"{name} is sparse, or compared with sparse samples, and holds values so small "
                "that squares of their differences underflow: rescale it"
            )
        return self

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples and of features."""
        n_samples, n_features = self.rows.shape
        return int(n_samples), int(n_features)

    @property
    def size(self) -> int:
        """How many values are stored."""
        return int(self.rows.nnz)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, numbers: Numbers) -> SparsePoints:
        return SparsePoints(self.rows[numbers])

    def dense(self) -> Array:
        """All of them in an array: for a few rows."""
        found: Array = self.rows.toarray()
        return found

    def places(self, metric: Metric) -> SparsePlaces:
        """Where they are by this metric."""
        return SparsePlaces(_directions(self.rows) if metric.of_directions else self.rows)


@dataclass(frozen=True, eq=False)
class SparsePlaces:
    """Points whose Euclidean order is the metric's order of sparse samples."""

    rows: Any

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def __getitem__(self, numbers: Numbers) -> SparsePlaces:
        return SparsePlaces(self.rows[numbers])

    @cached_property
    def stored(self) -> Stored:
        """The rows as kernels take them."""
        rows = self.rows
        return Stored(rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data)

    @cached_property
    def squares(self) -> Array:
        """Squared distances from 0."""
        owners = np.repeat(np.arange(len(self)), np.diff(self.rows.indptr))
        sums = np.bincount(owners, np.square(self.rows.data), len(self))
        return sums.astype(np.float64, copy=False)

    @property
    def longest(self) -> int:
        """Most values that a row has."""
        return int(np.diff(self.rows.indptr).max(initial=0))

    def distances(self, others: SparsePlaces, items: NDArray[np.int32], n_threads: int) -> Array:
        """Squared distances to some of the others, by differences; infinite where items are -1.

        `items` has their numbers, a row for each of these points.
        """
        keys = np.empty(items.shape)
        here, there, n_columns = self.stored, others.stored, int(self.rows.shape[1])

        def fill(start: int, stop: int) -> None:
            sparse_distances(here, there, n_columns, items, start, stop, keys)

        map_row_ranges(fill, len(items), n_threads, smallest=8)
        return keys


def as_given(points: Any) -> Any:
    """Checked samples as scikit-learn takes them: sparse ones as a sparse array."""
    return points.rows if isinstance(points, SparsePoints) else points


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
