"""Exact neighbour orders on the CPU with scikit-learn's search.

Euclidean geometry (Euclidean, squared, cosine), shallow orders: scikit-learn proposes candidates
by the expanded formula |x|² + |y|² - 2xy, which is fast and loses digits. The candidates get their
true distances by differences, and a row is accepted only if everybody who was not proposed is
certainly farther away (the error of the expanded formula is bounded); the few rows where a tie
group runs past the candidates are computed in full. Deep orders and all other metrics: full rows
of distances, block by block.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from allsplits._threads import map_row_ranges, thread_count
from allsplits.orders._kernels import rerank_candidates
from allsplits.orders._metric import Metric
from allsplits.orders._order import TIE_TOLERANCE, NeighborOrder, pack_rows
from allsplits.orders.backends._protocol import Search
from allsplits.orders.backends._rows import metric_rows, sort_rows, squared_rows

__all__ = ["TREE_FEATURES", "exact_search", "expanded_rounding"]

_UNIT_ROUNDOFF = 2.0**-53
#: Full rows of distances are held for this many entries at a time (32 MiB).
_ENTRIES_PER_BLOCK = 1 << 22
#: Query-reference pairs per block of a candidate search: a second or two of work.
_PAIRS_PER_BLOCK = 1 << 30
#: Up to this many features a k-d tree beats comparing with everybody (measured).
TREE_FEATURES = 5

Array = NDArray[np.float64]
Transform = Callable[[Array], Array]


def exact_search(X: Array, metric: Metric, depth: int, n_threads: int) -> Search:
    """Prepare the search that fits the metric and the depth."""
    points = metric.euclidean_points(X)
    if points is None:
        return _FullRowSearch(_metric_rows(X, metric, n_threads), len(X), depth, n_threads)
    points = np.ascontiguousarray(points, dtype=np.float64)
    rows = _direct_rows(points, n_threads)
    # Squared distances are sorted and compared; a relative difference doubles when squared.
    # Normalised points are rounded: two multiples of one vector may differ in the last bits.
    floor = points.shape[1] * (8 * _UNIT_ROUNDOFF) ** 2 if metric.name == "cosine" else 0.0
    full = _FullRowSearch(
        rows, len(X), depth, n_threads, metric.from_squared, 2 * TIE_TOLERANCE, floor
    )
    if _full_rows_are_cheaper(len(points), points.shape[1], depth):
        return full
    return _CandidateSearch(points, depth, n_threads, full)


def _full_rows_are_cheaper(n_samples: int, n_features: int, depth: int) -> bool:
    """Compare the work per row, in rough operations (the weights are measured).

    Full rows: all differences, and a sort. Candidates: the product, which is about eight times
    cheaper, a heap of `depth`, the differences of the candidates only, and a start that takes
    about ten milliseconds however small the data are.
    """
    full = n_samples * (n_features + 2 * np.log2(n_samples))
    proposing = n_samples * (n_features / 8 + 12)
    verifying = depth * (n_features + 8 * np.log2(depth + 1))
    starting = 7e7 / n_samples
    return bool(full < proposing + verifying + starting)


def _direct_rows(points: Array, n_threads: int) -> Callable[[NDArray[np.intp]], Array]:
    transposed = np.ascontiguousarray(points.T)

    def rows(numbers: NDArray[np.intp]) -> Array:
        everybody = len(numbers) == len(points)
        queries = points if everybody else points[numbers]
        return squared_rows(queries, transposed, n_threads, symmetric=everybody)

    return rows


def _metric_rows(X: Array, metric: Metric, n_threads: int) -> Callable[[NDArray[np.intp]], Array]:
    fixed = metric.fixed_by_sample(X) if not metric.precomputed else metric

    def rows(numbers: NDArray[np.intp]) -> Array:
        if fixed.precomputed:
            return np.array(X[numbers], dtype=np.float64)
        return metric_rows(X[numbers], X, fixed, n_threads)

    return rows


class _FullRowSearch:
    """Orders from complete rows of distances."""

    def __init__(
        self,
        rows: Callable[[NDArray[np.intp]], Array],
        n_samples: int,
        depth: int,
        n_threads: int,
        transform: Transform = lambda keys: keys,
        tolerance: float = TIE_TOLERANCE,
        floor: float = 0.0,
    ) -> None:
        self.rows = rows
        self.n_samples = n_samples
        self.depth = depth
        self.n_threads = n_threads
        self.transform = transform
        self.tolerance = tolerance
        self.floor = floor
        self.rows_per_block = max(16, _ENTRIES_PER_BLOCK // n_samples)

    def order(self, start: int, stop: int) -> NeighborOrder:
        packed = self.sorted_rows(np.arange(start, stop))
        return pack_rows(*packed, self.transform, self.depth, self.n_samples - 1, start)

    def sorted_rows(
        self, numbers: NDArray[np.intp]
    ) -> tuple[NDArray[np.int32], Array, NDArray[np.bool_], NDArray[np.int64]]:
        """Padded (items, keys, tied, lengths) of the given samples."""
        rows = self.rows(numbers)
        rows[np.arange(len(numbers)), numbers] = np.inf
        return sort_rows(
            rows, self.depth, self.n_samples - 1, self.n_threads, self.tolerance, self.floor
        )


def expanded_rounding(queries: Array, reference: Array, largest: float) -> Array:
    """Bound, for each query, the error of squared distances by |x|² + |y|² - 2xy.

    Both are centred points; `largest` is the largest coordinate before centring.
    """
    n_features = reference.shape[1]
    norms = np.sqrt(np.einsum("ij,ij->i", queries, queries))
    farthest = np.sqrt(np.einsum("ij,ij->i", reference, reference).max())
    # Each of d products and sums rounds once, all below (|x| + |y|)².
    expanded = 4 * (n_features + 4) * _UNIT_ROUNDOFF * (norms + farthest) ** 2
    # Centring moves each coordinate by a rounding of its size.
    moved = 4 * _UNIT_ROUNDOFF * np.sqrt(n_features) * largest
    bound: Array = expanded + 4 * moved * (norms + farthest) + 4 * moved**2
    return bound


class _CandidateSearch:
    """Shallow Euclidean orders: propose quickly, verify exactly, redo the rows that fail."""

    def __init__(self, points: Array, depth: int, n_threads: int, full: _FullRowSearch) -> None:
        self.points = points
        self.depth = depth
        self.n_threads = n_threads
        self.full = full
        self.n_samples, n_features = points.shape
        self.spare = 4 + depth // 8
        self.rows_per_block = max(
            256, min(_ENTRIES_PER_BLOCK // (depth + self.spare), _PAIRS_PER_BLOCK // len(points))
        )
        tree = n_features <= TREE_FEATURES and len(points) > 2000
        # Centring keeps the norms, and with them the error of the expanded formula, small.
        self.centred = points - points.mean(axis=0)
        self.search = NearestNeighbors(
            algorithm="kd_tree" if tree else "brute", n_jobs=n_threads
        ).fit(self.centred)
        self.rounding = expanded_rounding(self.centred, self.centred, np.abs(points).max())

    def order(self, start: int, stop: int) -> NeighborOrder:
        n_candidates = min(self.depth + 1 + self.spare, self.n_samples)
        # Looking up the thread pools takes milliseconds: only where it changes anything.
        limited = self.n_threads < thread_count(None)
        with threadpool_limits(self.n_threads) if limited else nullcontext():
            distances, neighbors = self.search.kneighbors(self.centred[start:stop], n_candidates)
        items = neighbors.astype(np.int32)
        last = distances[:, -1] ** 2
        keys = np.empty(items.shape)
        tied = np.empty(items.shape, dtype=bool)
        lengths = np.empty(len(items), dtype=np.int64)
        map_row_ranges(
            lambda a, b: rerank_candidates(
                self.points, a, b, start, items, keys, tied, last,
                self.rounding[start:stop], self.depth, self.full.tolerance, self.full.floor,
                lengths,
            ),
            len(items),
            self.n_threads,
        )  # fmt: skip
        failed = np.flatnonzero(lengths < 0)
        if len(failed) > 0.02 * len(items):
            # Heavy ties: ask for more from now on. What is found does not depend on it.
            self.spare = min(2 * self.spare, max(self.depth, 32))
        if len(failed) == 0:
            return self._pack(items, keys, tied, lengths, start)
        return self._repair(items, keys, tied, lengths, failed, start)

    def _repair(
        self,
        items: NDArray[np.int32],
        keys: Array,
        tied: NDArray[np.bool_],
        lengths: NDArray[np.int64],
        failed: NDArray[np.intp],
        start: int,
    ) -> NeighborOrder:
        """Search the failed rows in full and put them in their places."""
        lengths = np.maximum(lengths, 0)
        order = self._pack(items, keys, tied, lengths, start)
        step = self.full.rows_per_block
        found = []
        for low in range(0, len(failed), step):
            part = self.full.sorted_rows(failed[low : low + step] + start)
            found.append(self._pack(*part, 0))
        lengths[failed] = np.concatenate([np.diff(part.indptr) for part in found])
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        is_failed = np.zeros(len(lengths), dtype=bool)
        is_failed[failed] = True
        from_failed = np.repeat(is_failed, lengths)

        def merge(name: str) -> NDArray[np.generic]:
            good = getattr(order, name)
            out = np.empty(indptr[-1], dtype=good.dtype)
            out[~from_failed] = good
            out[from_failed] = np.concatenate([getattr(part, name) for part in found])
            return out

        return NeighborOrder(
            indptr,
            merge("flat_indices"),  # type: ignore[arg-type]
            merge("flat_distances"),  # type: ignore[arg-type]
            merge("tied"),  # type: ignore[arg-type]
            self.depth,
            self.n_samples - 1,
            start,
        )

    def _pack(
        self,
        items: NDArray[np.int32],
        keys: Array,
        tied: NDArray[np.bool_],
        lengths: NDArray[np.int64],
        start: int,
    ) -> NeighborOrder:
        return pack_rows(
            items, keys, tied, lengths, self.full.transform, self.depth, self.n_samples - 1, start
        )
