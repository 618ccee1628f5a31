"""Neighbours found elsewhere, in a graph that may have missed some."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from allsplits.exceptions import InvalidInputError, InvalidTypeError, UnsupportedError
from allsplits.orders.kernel_types import Ties
from allsplits.orders.order import NeighborOrder, SearchReport, pack_rows
from allsplits.orders.verify import mark_sorted

Padded = tuple[NDArray[np.int64], NDArray[np.float64]]


def order_from_graph(graph: Any, *, allow_approximate: bool = False) -> NeighborOrder:
    """Take neighbours from another search, exact or not, and mark the order as approximate.

    Nothing here can tell whether an index (HNSW, IVF, NN-descent) found every neighbour, so the
    order and every result made from it say ``search.approximate``. Tie groups that the other
    search cut are not completed. `order_from_index` asks the index itself.

    Parameters
    ----------
    graph : sparse matrix of shape (n_samples, n_samples) or pair of arrays
        Distances as KNeighborsTransformer and `kneighbors_graph(mode="distance")` give them, or
        (distances, indices) of shape (n_samples, n_found) in either order, as FAISS, pynndescent
        and `kneighbors` give them. A sample's own row and FAISS's -1 are left out.
    allow_approximate : bool, default=False
        Must be True: to use such neighbours is a decision.

    Returns
    -------
    NeighborOrder
        Its depth is the smallest number of neighbours found for a sample.

    Examples
    --------
    >>> from allsplits import order_from_graph
    >>> from sklearn.neighbors import kneighbors_graph
    >>> graph = kneighbors_graph([[0.0], [1.0], [3.0]], 2, mode="distance")
    >>> order_from_graph(graph, allow_approximate=True)
    NeighborOrder(n_samples=3, depth=2, APPROXIMATE neighbours)
    """
    check_permission(allow_approximate)
    items, keys = _from_sparse(graph) if issparse(graph) else _from_pair(graph)
    n_samples = len(items)
    nobody = (items < 0) | (items == np.arange(n_samples)[:, None])
    keys = np.where(nobody, np.inf, keys)
    found = np.isfinite(keys)
    if not np.all(found | nobody) or np.any(keys < 0):
        raise InvalidInputError("graph must hold finite distances ≥ 0; got another value")
    if items.max(initial=-1) >= n_samples:
        raise InvalidInputError(
            f"graph must hold row numbers below {n_samples}, one row for each sample; "
            f"got {items.max()}"
        )
    depth = int(found.sum(axis=1).min(initial=n_samples))
    if n_samples < 2 or depth < 1:
        raise InvalidInputError(
            "graph must hold at least one neighbour for each of at least 2 samples; got none for "
            f"row {int(found.sum(axis=1).argmin()) if n_samples else 0}"
        )
    return sort_found("graph", items, keys, depth, n_samples)


def check_permission(allow_approximate: Any) -> None:
    """Raise unless the user has decided to use neighbours that may not be the nearest."""
    if allow_approximate is not True:
        raise UnsupportedError(
            "allow_approximate must be True to use neighbours of a graph or an index, which may "
            f"have missed some; got {allow_approximate!r}. order_neighbors finds all of them"
        )


def sort_found(
    source: str,
    items: NDArray[np.int64],
    keys: NDArray[np.float64],
    depth: int,
    n_samples: int,
    first_row: int = 0,
) -> NeighborOrder:
    """Sort rows of found neighbours by distance; infinite keys are no neighbours."""
    rank = np.lexsort((items, keys), axis=1)
    sorted_items = np.take_along_axis(items, rank, axis=1).astype(np.int32)
    keys = np.take_along_axis(keys, rank, axis=1)
    rows, _ = mark_sorted(sorted_items, keys, depth, Ties())
    order = pack_rows(rows, np.asarray, depth, n_samples - 1, first_row)
    return mark_approximate(source, order)


def mark_approximate(source: str, order: NeighborOrder) -> NeighborOrder:
    """The order with a report that neighbours may be missing; nobody may be there twice."""
    # Two entries of one neighbour have one distance, so they stand side by side.
    again = order.flat_indices[1:] == order.flat_indices[:-1]
    again[order.indptr[1:-1] - 1] = False
    if again.any():
        entry = int(again.argmax()) + 1
        row = order.first_row + int(np.searchsorted(order.indptr, entry, side="right")) - 1
        raise InvalidInputError(
            f"{source} must name each neighbour once; got one twice in row {row}"
        )
    return replace(order, search=SearchReport(source, approximate=True))


def _from_sparse(graph: Any) -> Padded:
    """Rows of a sparse matrix, padded with -1."""
    if graph.shape[0] != graph.shape[1]:
        raise InvalidInputError(f"graph must be square (n_samples × n_samples); got {graph.shape}")
    rows = graph.tocsr()
    lengths = np.diff(rows.indptr)
    used = np.arange(lengths.max(initial=1)) < lengths[:, None]
    items = np.full(used.shape, -1, dtype=np.int64)
    keys = np.zeros(used.shape)
    items[used], keys[used] = rows.indices, rows.data
    return items, keys


def _from_pair(graph: Any) -> Padded:
    """(distances, indices) in either order: the integers are the indices."""
    if not isinstance(graph, (tuple, list)) or len(graph) != 2:
        raise InvalidTypeError(
            "graph must be a sparse matrix of distances or a pair (distances, indices); "
            f"got {type(graph).__name__}"
        )
    first, second = (np.asarray(part) for part in graph)
    if first.dtype.kind in "iu":
        first, second = second, first
    if second.dtype.kind not in "iu" or first.dtype.kind != "f":
        raise InvalidInputError(
            "graph must be a pair of distances (floats) and indices (integers); "
            f"got {first.dtype} and {second.dtype}"
        )
    if first.ndim != 2 or first.shape != second.shape:
        raise InvalidInputError(
            "graph must hold two arrays of shape (n_samples, n_found); "
            f"got {first.shape} and {second.shape}"
        )
    return second.astype(np.int64), first.astype(np.float64)
