"""Exact orders of dask arrays, on a cluster if there is a Client, in threads otherwise.

Every block of queries meets every block of references; each meeting keeps the `depth` nearest and
who is tied with the last, and the blocks' lists are merged. References stay with the workers as
results of tasks, not as scattered data: what a lost worker held is computed again, so a killed
worker costs time and nothing else. Cost O(n²·d / workers); what travels is n·depth per pair of
blocks, and a worker holds two blocks and one block of distances.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._optional import import_optional
from allsplits.exceptions import InvalidInputError, UnsupportedError
from allsplits.orders._kernels import collect_near, finish_sorted_rows
from allsplits.orders._metric import Metric
from allsplits.orders._order import TIE_TOLERANCE, NeighborOrder, pack_rows
from allsplits.orders.backends._protocol import Search
from allsplits.orders.backends._rows import metric_rows, squared_rows

__all__ = ["DaskPoints", "check_dask_points", "dask_search", "is_dask"]

#: Distances held by a task (64 MiB).
_ENTRIES_PER_TASK = 1 << 23
#: Beyond this the square of a difference overflows.
_LARGEST = 1e150

Array = NDArray[np.float64]


def is_dask(X: Any) -> bool:
    """Whether X is a dask array or data frame (without importing dask)."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(X, "dask")


@dataclass(frozen=True)
class DaskPoints:
    """A checked dask array: blocks of complete rows, finite numbers."""

    array: Any
    has_zero_rows: bool

    def __len__(self) -> int:
        return int(self.array.shape[0])


def check_dask_points(X: Any, metric: Metric) -> DaskPoints:
    """Check a dask array or data frame block by block, where its blocks are."""
    if hasattr(X, "to_dask_array"):
        X = X.to_dask_array(lengths=True)
    if getattr(X, "ndim", 0) != 2:
        raise InvalidInputError(f"X must have shape (n_samples, n_features); got {X!r}")
    if any(math.isnan(size) for size in X.shape):
        raise InvalidInputError(
            f"X must know how long its chunks are; got {X!r}: call X.compute_chunk_sizes() first"
        )
    if metric.precomputed or metric.allows_nan or metric.needs_sample:
        raise UnsupportedError(
            f"metric={metric.name!r} is not available for dask collections: its parameters must "
            "be given, and X must hold points without NaN"
        )
    if len(X) < 2:
        raise InvalidInputError(f"X must have at least 2 samples; got {len(X)}")
    X = X.rechunk({1: -1})
    dask = import_optional("dask", extra="dask", purpose="backend 'dask'")
    blocks = X.to_delayed().ravel()
    found = _compute(dask, [dask.delayed(_describe)(block) for block in blocks])
    for number, (kind, finite, largest, _) in enumerate(found):
        where = f"in chunk {number} of {len(found)}"
        if kind not in "fiub":
            raise InvalidInputError(f"X must be numeric; got dtype kind {kind!r} {where}")
        if not finite:
            raise InvalidInputError(f"X must not hold NaN or infinity; got one {where}")
        if largest > _LARGEST:
            raise InvalidInputError(
                f"X must hold values below {_LARGEST:g} in size; got {largest:g} {where}"
            )
    return DaskPoints(X, any(zero for *_, zero in found))


def _describe(block: Any) -> tuple[str, bool, float, bool]:
    """(kind of dtype, all finite, largest size, has a row of zeros) of one block."""
    values = np.asarray(block)
    if values.dtype.kind not in "fiub" or values.size == 0:
        return values.dtype.kind, True, 0.0, False
    finite = bool(np.isfinite(values).all())
    return values.dtype.kind, finite, float(np.abs(values).max()), not values.any(axis=1).all()


def _compute(dask: Any, tasks: list[Any]) -> Any:
    try:
        return dask.compute(*tasks)
    except Exception as error:
        if type(error).__name__ in ("FutureCancelledError", "CancelledError", "CommClosedError"):
            raise InvalidInputError(
                "X is held by a dask Client that has gone: connect again and load X anew"
            ) from error
        raise


def dask_search(X: Any, metric: Metric, depth: int) -> Search:
    """Prepare a search on the current Client, or in threads if there is none."""
    dask = import_optional("dask", extra="dask", purpose="backend 'dask'")
    if not isinstance(X, DaskPoints):
        array = import_optional("dask.array", extra="dask", purpose="backend 'dask'")
        X = check_dask_points(array.from_array(np.asarray(X), chunks=("auto", -1)), metric)
    return DaskSearch(dask, X, metric, depth)


class DaskSearch(Search):
    """One task for every pair of blocks, one merge for every block of queries."""

    def __init__(self, dask: Any, X: DaskPoints, metric: Metric, depth: int) -> None:
        self.dask, self.metric, self.depth = dask, metric, depth
        self.n_samples = len(X)
        self.squared = metric.is_euclidean and not (metric.name == "cosine" and X.has_zero_rows)
        self.ties = TIE_TOLERANCE, 0.0
        if self.squared:
            self.ties = metric.squared_ties(X.array.shape[1])
        self.client = _current_client()
        largest = max(X.array.chunks[0])
        self.rows_per_block = max(16, min(largest, _ENTRIES_PER_TASK // largest))
        self.array = X.array
        if self.client is not None:
            threads = sum(self.client.nthreads().values())
            self.ahead = 2 + 2 * threads // max(1, len(X.array.chunks[0]))
            # Kept by the workers; whoever loses one computes it again from its task.
            self.array = X.array.persist()
        self.blocks = self.array.to_delayed().ravel()
        self.firsts = np.concatenate([[0], np.cumsum(self.array.chunks[0])[:-1]]).tolist()
        self._running: set[Any] = set()
        self._lock = threading.Lock()

    def order(self, start: int, stop: int) -> NeighborOrder:
        """Neighbours of the samples start to stop."""
        depth = self.depth
        while True:
            found = self._result(self._tasks(start, stop, depth))
            if found is not None:
                order: NeighborOrder = found
                return order.found_by("dask")
            # A chain of almost equal distances runs past what the blocks kept.
            depth = min(4 * depth, self.n_samples)

    def _tasks(self, start: int, stop: int, depth: int) -> Any:
        delayed = self.dask.delayed
        queries = delayed(np.concatenate)(list(self.array[start:stop].to_delayed().ravel()))
        nearest = [
            delayed(nearest_in_block)(
                queries, block, start, first, self.metric, depth, self.squared, self.ties[1]
            )
            for block, first in zip(self.blocks, self.firsts, strict=True)
        ]
        transform = self.metric.from_squared if self.squared else np.asarray
        return delayed(merge_blocks)(
            nearest, transform, self.ties, self.depth, self.n_samples, start
        )

    def _result(self, task: Any) -> NeighborOrder | None:
        if self.client is None:
            result: NeighborOrder | None = task.compute(scheduler="threads")
            return result
        if self.client.status != "running":
            raise InvalidInputError(
                f"the dask Client must be connected until the end; it is {self.client.status!r}"
            )
        future = self.client.compute(task)
        with self._lock:
            self._running.add(future)
        try:
            result = future.result()
        finally:
            with self._lock:
                self._running.discard(future)
        return result

    def close(self) -> None:
        """Cancel what the cluster still works on."""
        with self._lock:
            running, self._running = list(self._running), set()
        if self.client is not None and running:
            self.client.cancel(running)


def _current_client() -> Any:
    """The current distributed Client, or None."""
    try:
        from distributed import default_client
    except ImportError:
        return None
    try:
        return default_client()
    except ValueError:
        return None


def nearest_in_block(
    queries: Any,
    block: Any,
    first_query: int,
    first_row: int,
    metric: Metric,
    depth: int,
    squared: bool,
    floor: float,
) -> tuple[NDArray[np.int32], Array, Array]:
    """(items, keys, limits): all references of a block within each query's limit, unsorted."""
    queries = np.asarray(queries, dtype=np.float64)
    block = np.asarray(block, dtype=np.float64)
    rows = _keys(queries, block, metric, squared)
    own = np.arange(len(queries)) + first_query - first_row
    here = (own >= 0) & (own < len(block))
    rows[np.flatnonzero(here), own[here]] = np.inf
    limits = np.full(len(queries), np.inf)
    if depth < len(block):
        kth = np.partition(rows, depth - 1, axis=1)[:, depth - 1]
        # A little past the last, so that a tie group is seen to end.
        limits = kth * (1 + 1e-6) + len(block) * floor + 1e-300
    width = int(np.count_nonzero(rows <= limits[:, None], axis=1).max())
    items = np.empty((len(rows), width), dtype=np.int32)
    keys = np.empty(items.shape)
    collect_near(rows, limits, 0, len(rows), items, keys)
    items += np.int32(first_row)
    return items, keys, limits


def _keys(queries: Array, block: Array, metric: Metric, squared: bool) -> Array:
    if not squared:
        return metric_rows(queries, block, metric, 1)
    at, to = metric.euclidean_points(queries), metric.euclidean_points(block)
    if at is None or to is None:
        raise AssertionError("rows of zeros were looked for")
    return squared_rows(np.ascontiguousarray(at), np.ascontiguousarray(to.T), 1)


def merge_blocks(
    parts: list[tuple[NDArray[np.int32], Array, Array]],
    transform: Callable[[Array], Array],
    ties: tuple[float, float],
    depth: int,
    n_samples: int,
    first_row: int,
) -> NeighborOrder | None:
    """The order of a block of queries from its lists, or None if they are too short."""
    items = np.concatenate([part[0] for part in parts], axis=1)
    keys = np.concatenate([part[1] for part in parts], axis=1)
    limits = np.min([part[2] for part in parts], axis=0)
    rank = np.argsort(keys, axis=1, kind="stable")
    items = np.take_along_axis(items, rank, axis=1)
    keys = np.take_along_axis(keys, rank, axis=1)
    raw = keys.copy()
    tied = np.empty(items.shape, dtype=bool)
    lengths = np.empty(len(items), dtype=np.int64)
    tolerance, floor = ties
    finish_sorted_rows(items, keys, tied, lengths, 0, len(items), depth, tolerance, floor)
    last = raw[np.arange(len(raw)), lengths - 1]
    if not np.all(last * (1 + 4 * tolerance) + floor < limits):
        return None
    return pack_rows(items, keys, tied, lengths, transform, depth, n_samples - 1, first_row)
