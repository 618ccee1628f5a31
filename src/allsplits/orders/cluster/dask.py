"""Exact orders of dask arrays, on a cluster if there is a Client, in threads otherwise.

Every block of queries meets every block of references; each meeting keeps the `depth` nearest and
who is tied with the last. Where the lists of a block of queries are merged, what its rows
contribute to the answer is computed as well: only tallies or values of the rows travel to the
caller. References, and the tables that the contribution needs, stay with the workers as results of
tasks, not as scattered data: what a lost worker held is computed again, so a killed worker costs
time and nothing else. Cost O(n²·d / workers); between workers travel n·depth per pair of blocks,
and a worker holds two blocks and one block of distances.
"""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._optional import import_optional
from allsplits.exceptions import InvalidInputError
from allsplits.orders.cluster.points import DaskPoints, dask_points, is_gone
from allsplits.orders.kernel_types import Ties
from allsplits.orders.kernels import collect_near
from allsplits.orders.metric import Metric
from allsplits.orders.metric_rows import metric_rows
from allsplits.orders.order import NeighborOrder, pack_rows
from allsplits.orders.protocol import Block, Part, Search, whole_order
from allsplits.orders.verify import in_tiles, mark_sorted, squared_rows

#: Distances held by a task (64 MiB).
_ENTRIES_PER_TASK = 1 << 23
#: The setting from which size of a graph on dask warns.
_WARN_FROM = "distributed.admin.large-graph-warning-threshold"

Array = NDArray[np.float64]


def dask_search(X: Any, metric: Metric, depth: int) -> Search:
    """Prepare a search on the current Client, or in threads if there is none."""
    dask = import_optional("dask", extra="dask", purpose="backend 'dask'")
    if not isinstance(X, DaskPoints):
        X = dask_points(X, metric)
    return DaskSearch(dask, X, metric, depth)


class DaskSearch(Search):
    """One task for every pair of blocks, one merge for every block of queries."""

    def __init__(self, dask: Any, X: DaskPoints, metric: Metric, depth: int) -> None:
        self.dask, self.metric, self.depth = dask, metric, depth
        self.n_samples = len(X)
        # Rows of different blocks may be close where no block holds two that are.
        self.squared = metric.is_euclidean and (metric.of_directions or not X.has_tiny_values)
        self.ties = metric.squared_ties if self.squared else Ties()
        self.client = _current_client()
        largest = max(X.array.chunks[0])
        self.rows_per_block = max(16, min(largest, _ENTRIES_PER_TASK // largest))
        self.array = X.array
        if self.client is not None:
            threads = sum(self.client.nthreads().values())
            self.ahead = 2 + 2 * threads // max(1, len(X.array.chunks[0]))
            if not X.mapped:
                # Kept by the workers; whoever loses one computes it again from its task.
                self.array = X.array.persist()
        self.blocks = self.array.to_delayed().ravel()
        self.firsts = np.concatenate([[0], np.cumsum(self.array.chunks[0])[:-1]]).tolist()
        self._running: set[Any] = set()
        self._closed = False
        self._sent: tuple[Part, Any] | None = None
        self._lock = threading.Lock()

    def order(self, start: int, stop: int) -> NeighborOrder:
        """Neighbours of the samples start to stop."""
        order: NeighborOrder = self.map(start, stop, whole_order, 1).parts[0]
        return order

    def map(self, start: int, stop: int, part: Part, n_threads: int) -> Block:
        """What the samples start to stop contribute, computed on the cluster."""
        depth, held = self.depth, self._send(part)
        while True:
            block = self._result(self._task(start, stop, depth, held))
            if block is not None:
                return block
            # A chain of almost equal distances runs past what the blocks kept.
            depth = min(4 * depth, self.n_samples)

    def _send(self, part: Part) -> Any:
        """The part as an input of tasks, which travels once to each worker that needs it."""
        if self.client is None:
            return HeldPart(part)
        with self._lock:
            if self._sent is None or self._sent[0] is not part:
                import cloudpickle

                held = self.dask.delayed(unpack_part)(cloudpickle.dumps(part))
                # Sent once and meant to be: dask warns of graphs from 10 MB on.
                with self.dask.config.set({_WARN_FROM: "4 GiB"}):
                    self._sent = part, self.client.persist(held)
            return self._sent[1]

    def _task(self, start: int, stop: int, depth: int, held: Any) -> Any:
        delayed = self.dask.delayed
        queries = delayed(np.concatenate)(list(self.array[start:stop].to_delayed().ravel()))
        nearest = [
            delayed(nearest_in_block)(
                queries, block, start, first, self.metric, depth, self.squared, self.ties
            )
            for block, first in zip(self.blocks, self.firsts, strict=True)
        ]
        transform = self.metric.from_squared if self.squared else np.asarray
        return delayed(part_of_blocks)(
            held, nearest, transform, self.ties, self.depth, self.n_samples, start
        )

    def _result(self, task: Any) -> Block | None:
        result: Block | None
        if self.client is None:
            result = task.compute(scheduler="threads")
            return result
        try:
            future = self._start(task)
            try:
                result = future.result()
            finally:
                with self._lock:
                    self._running.discard(future)
        except Exception as error:
            if self.client.status == "running" and not is_gone(error):
                raise
            raise InvalidInputError(
                f"the dask Client must be connected until the end; it is {self.client.status!r}"
            ) from error
        return result

    def _start(self, task: Any) -> Any:
        with self._lock:
            # After Ctrl-C nobody starts anything that would not be cancelled.
            if self._closed:
                raise RuntimeError("the search is over")
            future = self.client.compute(task)
            self._running.add(future)
        return future

    def close(self) -> None:
        """Cancel what the cluster still works on."""
        with self._lock:
            running, self._running, self._closed = list(self._running), set(), True
        if self.client is not None and running and self.client.status == "running":
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


class HeldPart:
    """A part in a box: dask looks into dataclasses and lists, and must not into this."""

    def __init__(self, part: Part) -> None:
        self.part = part


def unpack_part(packed: bytes) -> HeldPart:
    """The part, on a worker."""
    import cloudpickle

    return HeldPart(cloudpickle.loads(packed))


def part_of_blocks(held: HeldPart, *lists_and_more: Any) -> Block | None:
    """What a block of queries contributes, from its lists, or None if they are too short."""
    order = merge_blocks(*lists_and_more)
    if order is None:
        return None
    # A worker runs several tasks side by side: one thread each.
    return Block(order.n_samples, order.search, (held.part(order, 1),))


def nearest_in_block(
    queries: Any,
    block: Any,
    first_query: int,
    first_row: int,
    metric: Metric,
    depth: int,
    squared: bool,
    ties: Ties,
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
        limits = ties.reach(kth, links=len(block)) * (1 + 1e-6) + 1e-300
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
    return squared_rows(np.ascontiguousarray(at), in_tiles(to), len(to), 1)


def merge_blocks(
    parts: list[tuple[NDArray[np.int32], Array, Array]],
    transform: Callable[[Array], Array],
    ties: Ties,
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
    rows, last = mark_sorted(items, keys, depth, ties)
    if not np.all(ties.reach(last, links=2) < limits):
        return None
    order = pack_rows(rows, transform, depth, n_samples - 1, first_row)
    return order.found_by("dask")
