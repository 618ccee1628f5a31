"""From data to neighbour orders, block by block."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from allsplits._threads import thread_count
from allsplits._validation import check_count, check_points
from allsplits.exceptions import InvalidInputError
from allsplits.orders.backends import prepare_search
from allsplits.orders.cluster.points import check_dask_points, is_dask
from allsplits.orders.device import DevicePoints, stays_on_device
from allsplits.orders.metric import Metric
from allsplits.orders.order import NeighborOrder
from allsplits.orders.protocol import Block, Part, Search
from allsplits.orders.sparse_points import SparsePoints, is_large_sparse, stays_sparse


def iter_parts(
    X: Any,
    metric: Metric,
    depth: int,
    part: Part,
    *,
    backend: str = "auto",
    block_size: int | None = None,
    n_jobs: int | None = None,
) -> Iterator[Block]:
    """Yield what consecutive blocks of rows contribute, computed where their orders are found.

    X is validated data or a NeighborOrder.
    """
    n_threads = thread_count(n_jobs)
    if isinstance(X, NeighborOrder):
        X.check_depth(depth)
        step = block_size or max(1, (1 << 22) // max(1, X.depth))
        for start in range(0, X.n_samples, step):
            order = X.slice_rows(start, min(start + step, X.n_samples))
            yield Block(order.n_samples, order.search, (part(order, n_threads),))
        return
    search = prepare_search(X, metric, depth, backend, n_threads)
    step = search.rows_per_block
    if block_size is not None:
        step = check_count("block_size", block_size, at_least=1)
    ranges = [
        (start, min(start + step, search.n_samples)) for start in range(0, search.n_samples, step)
    ]
    yield from _mapped_ahead(search, ranges, part, n_threads)


def read_points(X: Any, metric: Metric, *, symmetric: bool = True, backend: str = "exact") -> Any:
    """Check samples: a finite array (small types stay as they are), dask's or sparse points.

    Those on a GPU stay there if `backend` searches there.
    """
    if is_dask(X):
        return check_dask_points(X, metric)
    if stays_sparse(X, metric):
        return SparsePoints.read(X, metric)
    if stays_on_device(X, metric, backend):
        return DevicePoints.read(X)
    points = check_points(
        X,
        precomputed=metric.precomputed,
        allow_nan=metric.allows_nan,
        symmetric=symmetric,
        keep_type=not metric.precomputed,
    )
    metric.check_features(points.shape[1])
    return points


def read_samples(X: Any, metric: Metric, *, symmetric: bool = True) -> Any:
    """Check samples that stay on this machine: an array of float64, or sparse points."""
    if stays_sparse(X, metric):
        return SparsePoints.read(X, metric)
    points = check_points(
        X, precomputed=metric.precomputed, allow_nan=metric.allows_nan, symmetric=symmetric
    )
    metric.check_features(points.shape[1])
    return points


def read_new(X: Any, metric: Metric, *, name: str = "X", keep_type: bool = False) -> Any:
    """Check new samples, or their distances: an array, or sparse points."""
    if is_large_sparse(X) and not metric.precomputed:
        return SparsePoints.read(X, metric, name=name, at_least=1)
    return check_points(X, name=name, at_least=1, allow_nan=metric.allows_nan, keep_type=keep_type)


def read_queries(X: Any, points: Any, metric: Metric, *, name: str, keep_type: bool = False) -> Any:
    """The same for new samples that are compared with points that were read."""
    queries = read_new(X, metric, name=name, keep_type=keep_type)
    if queries.shape[1] != points.shape[1]:
        what = f"a column for each of the {len(points)} samples" if metric.precomputed else (
            f"{points.shape[1]} features as X has"
        )  # fmt: skip
        raise InvalidInputError(f"{name} must have {what}; got {queries.shape[1]}")
    return queries


def _mapped_ahead(
    search: Search, ranges: list[tuple[int, int]], part: Part, n_threads: int
) -> Iterator[Block]:
    """Blocks of the ranges in turn; some are worked on while an earlier one is waited for.

    Parts that need this machine's cores run beside the search of the next blocks.
    """
    if search.ahead == 0:
        for start, stop in ranges:
            yield search.map(start, stop, part, n_threads)
        return
    waiting: deque[Future[Block]] = deque()
    pool = ThreadPoolExecutor(search.ahead, thread_name_prefix="allsplits-search")
    try:
        for start, stop in ranges:
            waiting.append(pool.submit(search.map, start, stop, part, n_threads))
            if len(waiting) > search.ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        # After an error or Ctrl-C nobody goes on in the background.
        for future in waiting:
            future.cancel()
        search.close()
        pool.shutdown(wait=True)
