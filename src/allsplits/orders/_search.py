"""From data to neighbour orders, whole or block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from allsplits._threads import thread_count
from allsplits._validation import check_choice, check_count, check_points
from allsplits.exceptions import InvalidInputError
from allsplits.orders._metric import Metric
from allsplits.orders._order import NeighborOrder, concatenate
from allsplits.orders.backends import Search, exact_search

__all__ = ["iter_orders", "order_neighbors"]


def order_neighbors(
    X: Any,
    *,
    depth: int | None = None,
    metric: str | Callable[..., float] = "minkowski",
    p: float = 2,
    metric_params: Mapping[str, Any] | None = None,
    backend: str = "auto",
    block_size: int | None = None,
    n_jobs: int | None = None,
) -> NeighborOrder:
    """Sort, for every sample, the other samples by distance.

    The result can be passed to `evaluate` and the curves in place of X, so that several questions
    share one search.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
        The samples; with ``metric="precomputed"`` the square matrix of distances, row i holding
        the distances from sample i (it need not be symmetric here).
    depth : int, default=None
        How many neighbours to keep; None keeps all n - 1. A tie group that runs past `depth` is
        kept complete.
    metric, p, metric_params :
        As in scikit-learn's KNeighborsClassifier.
    backend : {"auto", "exact"}, default="auto"
        Which search to use.
    block_size : int, default=None
        Rows searched at a time; None bounds memory. It does not change the result.
    n_jobs : int, default=None
        Threads; None uses all cores. It does not change the result.

    Returns
    -------
    NeighborOrder

    Examples
    --------
    >>> from allsplits import order_neighbors
    >>> order_neighbors([[0.0], [1.0], [3.0]]).indices
    array([[1, 2],
           [0, 2],
           [1, 0]])
    """
    resolved = Metric.resolve(metric, p, metric_params)
    points = check_points(
        X, precomputed=resolved.precomputed, allow_nan=resolved.allows_nan, symmetric=False
    )
    n = len(points)
    depth = n - 1 if depth is None else check_count("depth", depth, at_least=1, at_most=n - 1)
    blocks = iter_orders(
        points, resolved, depth, backend=backend, block_size=block_size, n_jobs=n_jobs
    )
    return concatenate(list(blocks))


def iter_orders(
    X: Any,
    metric: Metric,
    depth: int,
    *,
    backend: str = "auto",
    block_size: int | None = None,
    n_jobs: int | None = None,
) -> Iterator[NeighborOrder]:
    """Yield the orders of consecutive blocks of rows; X is validated data or a NeighborOrder."""
    if isinstance(X, NeighborOrder):
        X.check_depth(depth)
        step = block_size or max(1, (1 << 22) // max(1, X.depth))
        for start in range(0, X.n_samples, step):
            yield X.slice_rows(start, min(start + step, X.n_samples))
        return
    search = _prepare(X, metric, depth, backend, n_jobs)
    step = search.rows_per_block
    if block_size is not None:
        step = check_count("block_size", block_size, at_least=1)
    for start in range(0, search.n_samples, step):
        yield search.order(start, min(start + step, search.n_samples))


def _prepare(X: Any, metric: Metric, depth: int, backend: str, n_jobs: int | None) -> Search:
    check_choice("backend", backend, ("auto", "exact"))
    if len(X) < 2:
        raise InvalidInputError(f"X must have at least 2 samples; got {len(X)}")
    return exact_search(X, metric, depth, thread_count(n_jobs))
