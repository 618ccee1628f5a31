"""Neighbours from an index that may miss some: FAISS, hnswlib, pynndescent, `kneighbors`.

The index is asked for everybody's neighbours, block by block. For Euclidean, cosine and correlation
distances those it finds get their true distances in float64, so that among the found the order and
the ties are right whatever precision the index works in; only who was found is approximate. That
costs n · depth · features operations, little beside the search. Other metrics keep the index's
distances.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import thread_count
from allsplits._validation import check_count, check_points
from allsplits.exceptions import InvalidInputError, InvalidTypeError, UnsupportedError
from allsplits.orders.graph import check_permission, mark_approximate, sort_found
from allsplits.orders.kernel_types import Places
from allsplits.orders.metric import Metric
from allsplits.orders.order import NeighborOrder, check_room, concatenate, pack_rows
from allsplits.orders.verify import rerank

#: Entries (row, neighbour) that are asked for at a time.
_ENTRIES_PER_BLOCK = 1 << 22
#: Numbers of FAISS's metrics that are distances.
_FAISS_METRICS = {1: "euclidean", 2: "manhattan", 3: "chebyshev"}
#: pynndescent's names of the metrics whose true distances are computed here.
_RECOMPUTED = ("euclidean", "l2", "sqeuclidean", "cosine", "correlation")

Array = NDArray[np.float64]
#: Asks for the `n_wanted` nearest of the rows start to stop: (distances, row numbers).
Ask = Callable[[int, int, int], tuple[Any, Any]]
#: Makes an order of (row numbers found, the index's distances, number of the first row).
Finish = Callable[[NDArray[np.int64], Array, int], NeighborOrder]


def order_from_index(
    index: Any, X: Any, *, depth: int, allow_approximate: bool = False, n_jobs: int | None = None
) -> NeighborOrder:
    """Ask an index for everybody's neighbours, and mark the order as approximate.

    Nothing here can tell whether the index found every neighbour, so the order and every result
    made from it say ``search.approximate``. For Euclidean, cosine and correlation distances the
    neighbours that were found are sorted by their true distances; ties with somebody who was not
    found are lost.

    Parameters
    ----------
    index : object
        A search that holds the rows of X in their order and no others: a FAISS index (HNSW, IVF,
        flat; L2, L1, Linf, or inner product of rows of length 1), an `hnswlib.Index`, a
        `pynndescent.NNDescent`, or anything fitted with scikit-learn's ``kneighbors(X,
        n_neighbors)``, such as KNeighborsTransformer. How hard it searches (`efSearch`, `nprobe`,
        `ef`) is set on the index.
    X : array-like or data frame of shape (n_samples, n_features)
        The samples as the index was given them.
    depth : int
        How many neighbours to take. What a law needs is said by the error of a shallow order.
    allow_approximate : bool, default=False
        Must be True: to use such neighbours is a decision.
    n_jobs : int, default=None
        Threads for the true distances; None uses all cores. How many the index itself uses is set
        on the index. It does not change the result.

    Returns
    -------
    NeighborOrder
        To be passed to `evaluate` and the curves in place of X.

    Examples
    --------
    >>> from allsplits import order_from_index
    >>> from sklearn.neighbors import NearestNeighbors
    >>> X = [[0.0], [1.0], [3.0]]
    >>> index = NearestNeighbors().fit(X)
    >>> order_from_index(index, X, depth=2, allow_approximate=True)
    NeighborOrder(n_samples=3, depth=2, APPROXIMATE neighbours)
    """
    check_permission(allow_approximate)
    n_threads = thread_count(n_jobs)
    reader = _reader_of(index)
    points = check_points(X, keep_type=True)
    n_samples = len(points)
    depth = check_count("depth", depth, at_least=1, at_most=n_samples - 1)
    check_room(n_samples, depth)
    source = reader(index, points)
    for what, has, needs in (
        ("rows", source.n_samples, n_samples),
        ("features", source.n_features, points.shape[1]),
    ):
        if has is not None and has != needs:
            raise InvalidInputError(
                f"index must hold the {needs} {what} of X; got {type(index).__name__} with {has}"
            )
    if source.metric is not None and source.metric.squares_fit(points):
        finish = _true_distances(source.metric, points, depth, n_threads)
    else:
        finish = _own_distances(n_samples, depth)
    step = max(256, _ENTRIES_PER_BLOCK // (depth + 1))
    blocks = []
    for start in range(0, n_samples, step):
        stop = min(start + step, n_samples)
        found = _ask(index, source.ask, start, stop, depth, n_samples)
        blocks.append(finish(*found, start))
    return replace(concatenate(blocks), metric=source.metric)


@dataclass(frozen=True)
class _Source:
    """How one index is asked; what it does not tell is None."""

    ask: Ask
    metric: Metric | None
    n_samples: int | None
    n_features: int | None


def _reader_of(index: Any) -> Callable[[Any, Array], _Source]:
    """Recognise an index by what it offers, so that none of the packages is imported."""
    for marks, reader in _KINDS:
        if all(hasattr(type(index), mark) for mark in marks):
            return reader
    raise InvalidTypeError(
        "index must be a FAISS index, an hnswlib.Index, a pynndescent.NNDescent or have "
        f"scikit-learn's kneighbors; got {type(index).__name__}"
    )


def _read_faiss(index: Any, X: Array) -> _Source:
    def ask(start: int, stop: int, n_wanted: int) -> tuple[Any, Any]:
        distances, items = index.search(_single(X[start:stop]), n_wanted)
        return distances, items

    number = int(index.metric_type)
    if number == 0:
        metric = _unit_rows("FAISS's METRIC_INNER_PRODUCT", X)
    elif number in _FAISS_METRICS:
        metric = Metric.resolve(_FAISS_METRICS[number])
    else:
        raise UnsupportedError(
            "index must use FAISS's METRIC_L2, METRIC_L1, METRIC_Linf or METRIC_INNER_PRODUCT; "
            f"got metric_type {number}"
        )
    return _Source(ask, metric, int(index.ntotal), int(index.d))


def _read_hnswlib(index: Any, X: Array) -> _Source:
    def ask(start: int, stop: int, n_wanted: int) -> tuple[Any, Any]:
        items, distances = index.knn_query(_single(X[start:stop]), k=n_wanted)
        return distances, items

    by_space = {"l2": "euclidean", "cosine": "cosine"}
    if index.space in by_space:
        metric = Metric.resolve(by_space[index.space])
    else:
        metric = _unit_rows(f"hnswlib's space {index.space!r}", X)
    return _Source(ask, metric, int(index.get_current_count()), int(index.dim))


def _read_pynndescent(index: Any, X: Array) -> _Source:
    # The graph it was built with is better than what it finds again, and costs nothing.
    graph = None if getattr(index, "compressed", False) else index.neighbor_graph

    def ask(start: int, stop: int, n_wanted: int) -> tuple[Any, Any]:
        if graph is not None and graph[0].shape[1] >= n_wanted:
            items, distances = (part[start:stop, :n_wanted] for part in graph)
        else:
            items, distances = index.query(X[start:stop], k=n_wanted)
        return distances, items

    metric = Metric.resolve(index.metric) if index.metric in _RECOMPUTED else None
    return _Source(ask, metric, None if graph is None else len(graph[0]), None)


def _read_kneighbors(index: Any, X: Array) -> _Source:
    name = getattr(index, "effective_metric_", getattr(index, "metric", None))
    if name == "precomputed":
        raise UnsupportedError(
            "index must search points, not distances that are already there; "
            "use order_neighbors(X, metric='precomputed')"
        )

    def ask(start: int, stop: int, n_wanted: int) -> tuple[Any, Any]:
        with warnings.catch_warnings():
            # An index that was fitted with a data frame is asked with an array.
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            distances, items = index.kneighbors(X[start:stop], n_neighbors=n_wanted)
        return distances, items

    params = getattr(index, "effective_metric_params_", None)
    try:
        metric = Metric.resolve(name, metric_params=params)
    except InvalidInputError:
        metric = None
    return _Source(
        ask, metric, getattr(index, "n_samples_fit_", None), getattr(index, "n_features_in_", None)
    )


#: What a kind of index offers, and how it is read.
_KINDS: tuple[tuple[tuple[str, ...], Callable[[Any, Array], _Source]], ...] = (
    (("search", "ntotal", "metric_type"), _read_faiss),
    (("knn_query", "get_current_count"), _read_hnswlib),
    (("neighbor_graph", "query"), _read_pynndescent),
    (("kneighbors",), _read_kneighbors),
)


def _unit_rows(what: str, X: Array) -> Metric:
    """Inner products order by distance only among vectors of one length: then it is the cosine."""
    lengths = np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64))
    if np.abs(lengths - 1).max() > 1e-5:
        raise UnsupportedError(
            f"index uses {what}, which is no distance unless every row of X has length 1; "
            f"got lengths from {lengths.min():g} to {lengths.max():g}: divide the rows by them "
            "and build the index again"
        )
    return Metric("cosine")


def _single(X: Array) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        single = np.ascontiguousarray(X, dtype=np.float32)
    if not np.isfinite(single).all():
        raise InvalidInputError(
            f"X must fit into float32 for this index; got {np.abs(X).max():g}: rescale it"
        )
    return single


def _ask(
    index: Any, ask: Ask, start: int, stop: int, depth: int, n_samples: int
) -> tuple[NDArray[np.int64], Array]:
    """Row numbers, own row and nobody as -1, and the index's distances, checked."""
    kind = type(index).__name__
    try:
        answer = ask(start, stop, depth + 1)
        distances = np.asarray(answer[0], dtype=np.float64)
        items = np.asarray(answer[1]).astype(np.int64)
    except (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError,
            TypeError, ValueError) as error:  # fmt: skip
        if isinstance(error, InvalidInputError):
            raise
        raise InvalidInputError(
            f"index must find {depth + 1} neighbours (a sample itself among them) of rows of X; "
            f"{kind} says: {error}"
        ) from error
    if items.ndim != 2 or items.shape != distances.shape or len(items) != stop - start:
        raise InvalidInputError(
            f"index must return distances and indices of shape ({stop - start}, {depth + 1}); "
            f"got {distances.shape} and {items.shape}"
        )
    if items.max() >= n_samples:
        raise InvalidInputError(
            f"index must number its rows as X does, 0 to {n_samples - 1}; got {items.max()}"
        )
    own = items == np.arange(start, stop)[:, None]
    if start == 0 and own.any(axis=1).mean() < 0.5:
        raise InvalidInputError(
            "index must hold the rows of X in their order; fewer than half of them find "
            f"themselves among their {depth + 1} nearest: was it built on other data?"
        )
    items[own] = -1
    short = np.flatnonzero(np.count_nonzero(items >= 0, axis=1) < depth)
    if len(short):
        raise InvalidInputError(
            f"index must find {depth} neighbours of every sample; {kind} found fewer for "
            f"{len(short)} of the rows {start} to {stop - 1}, first for row {start + short[0]}: "
            "let it search harder (nprobe, efSearch, ef) or take a smaller depth"
        )
    return items, distances


def _true_distances(metric: Metric, X: Array, depth: int, n_threads: int) -> Finish:
    """Sort what was found by distances computed in float64: Euclidean ones."""
    points = np.ascontiguousarray(metric.euclidean_points(X.astype(np.float64, copy=False)))

    def finish(found: NDArray[np.int64], _: Array, first_row: int) -> NeighborOrder:
        n_rows = len(found)
        own = np.arange(first_row, first_row + n_rows)[:, None]
        # The kernel passes over a row's own number.
        items = np.where(found < 0, own, found).astype(np.int32)
        # Nobody is known to be farther than the last one found: every row ends where it ends.
        beyond = np.full(n_rows, np.inf)
        places = Places(points, points[first_row : first_row + n_rows], first_row)
        rows = rerank(places, items, beyond, depth, metric.squared_ties, n_threads)
        order = pack_rows(rows, metric.from_squared, depth, len(points) - 1, first_row)
        return mark_approximate("index", order)

    return finish


def _own_distances(n_samples: int, depth: int) -> Finish:
    """Sort what was found by the index's own distances."""

    def finish(items: NDArray[np.int64], distances: Array, first_row: int) -> NeighborOrder:
        keys = np.where(items < 0, np.inf, distances)
        if np.any(keys < 0) or not np.all(np.isfinite(keys) | (items < 0)):
            raise InvalidInputError(
                "index must give finite distances ≥ 0; got another value: does it return "
                "similarities?"
            )
        return sort_found("index", items, keys, depth, n_samples, first_row)

    return finish
