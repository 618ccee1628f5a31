"""Points prepared for questions: who is nearest among themselves, and who to new points.

One tie rule for all of them (see `kernel_types`): neighbours at equal distance are one tie group,
orders end with a complete one, and its members stand in row order.

New points: in Euclidean geometry with many references candidates are proposed, by products in
float32 or by scikit-learn, and verified; where many are wanted, those within a limit are listed
(see `limits`); otherwise, and where that proves nothing, every query is compared with every
reference by differences, O(queries · references · features). All ways have the same bits. Large
references are read a block at a time (see `points`), sparse ones are asked sparse questions (see
`sparse`).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import thread_count
from allsplits._validation import check_count
from allsplits.orders.backends import check_backend
from allsplits.orders.default import full_rows_are_cheaper
from allsplits.orders.kernel_types import SortedRows, Ties
from allsplits.orders.limits import FEWEST_QUERIES, LONG_ROW, LimitedSearch
from allsplits.orders.metric import Metric
from allsplits.orders.metric_rows import metric_rows
from allsplits.orders.order import NeighborOrder, check_room, concatenate, pack_rows, replace_rows
from allsplits.orders.points import Points
from allsplits.orders.proposers.products import ProductProposer
from allsplits.orders.proposers.tree import TREE_FEATURES, NearestProposer
from allsplits.orders.protocol import Block, Part, whole_order
from allsplits.orders.search import iter_parts, read_points
from allsplits.orders.sparse import SparseNearest
from allsplits.orders.sparse_points import SparsePlaces, SparsePoints
from allsplits.orders.squares import has_tiny_values
from allsplits.orders.verify import is_shallow, lone_firsts, sort_rows

#: Distances are held for this many pairs at a time (16 MiB).
_ENTRIES_PER_BLOCK = 1 << 21
#: Entries of orders that are held at once.
_ENTRIES_PER_PART = 1 << 22
#: Entries of points in float64 that are held (128 MiB), and of those that are copied for products;
#: what is larger is read a block at a time.
_HELD_ENTRIES = 1 << 24
_COPIED_ENTRIES = 1 << 25
#: Comparing with everybody is faster than proposing (measured) up to this many references, or with
#: a tree to so many for each feature.
_SMALL_REFERENCE = 2000
_TREE_POINTS_PER_FEATURE = 1000
#: Where many are wanted (measured): nanoseconds of a candidate, which is proposed from a heap and
#: verified, and what a complete row costs more than a product for each point and value; features
#: up to which a tree is faster in any case.
_PER_CANDIDATE, _PER_POINT, _PER_VALUE = 900.0, 4.0, 0.35
_FLAT = 2
#: Questions at a time from which products pay, which take longer to prepare; and the share of them
#: that they may leave open before scikit-learn takes over, in float64.
_MANY_QUESTIONS, _LEFT_OPEN = 64, 0.1
#: The same without a tree, in values of the references, and where the nearest alone is wanted.
_SMALL_TABLE = 200_000
_SMALL_TABLE_FOR_ONE = 1_000_000
#: Values of the references, and their product with the queries, up to which one thread is faster
#: (measured); other distances than Euclidean ones take 5 to 75 times as long.
_VALUES_FOR_ONE_THREAD = 1 << 16
_PRODUCTS_FOR_ONE_THREAD = 1 << 20
_COST_OF_OTHERS = 16

Array = NDArray[np.float64]


class Keys(NamedTuple):
    """Rows of keys, which of them are tied, and how they become distances."""

    rows: Array
    ties: Ties
    transform: Callable[[Array], Array]


class Reference:
    """Points to search in; what a question needs is prepared when it is first asked.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_features), or SparsePoints
        Validated points. With ``metric="precomputed"`` new points are rows of distances to them.
    metric : Metric
        How far two points are apart, scalings included, for questions about new points.
    n_threads : int
        Threads. They do not change the result.

    Attributes
    ----------
    rows_per_block : int
        How many new points at a time keep memory bounded.
    """

    def __init__(self, points: Any, metric: Metric, n_threads: int) -> None:
        self.points = points
        self.metric = metric
        self.n_threads = n_threads
        self.rows_per_block = max(8, _ENTRIES_PER_BLOCK // len(points))
        self._single_is_precise = True

    def within(
        self, depth: int, *, backend: str = "auto", block_size: int | None = None
    ) -> NeighborOrder:
        """The `depth` nearest of each point among the others."""
        blocks = iter_parts(
            self.points, self.metric, depth, whole_order, backend=backend, block_size=block_size,
            n_jobs=self.n_threads,
        )  # fmt: skip
        orders = [order for block in blocks for order in block.parts]
        known = None if self.metric.precomputed else self.metric
        return replace(concatenate(orders), metric=known)

    def of(self, queries: Any, depth: int, first_row: int = 0) -> NeighborOrder:
        """The `depth` nearest points of each query; rows are numbered from `first_row` on.

        Queries are an array or sparse points, whatever the points are.
        """
        search = self._compared
        if self._proposing_is_faster(depth, len(queries)):
            search = self._proposed
        elif self._limits_serve(depth, len(queries)):
            search = self._limited
        if self._sparse is not None or isinstance(queries, SparsePoints):
            parts = [search(queries[part], depth) for part in self._ranges(queries)]
            found = [order for part in parts for order in part]
        else:
            found = search(queries, depth)
        return replace(concatenate(found), first_row=first_row)

    def parts_of(self, queries: Any, depth: int, part: Part) -> Iterator[Block]:
        """What consecutive blocks of queries contribute; they are numbered after the points."""
        step = max(8, _ENTRIES_PER_PART // max(depth, 1))
        for start in range(0, len(queries), step):
            at = queries[start : start + step]
            if not isinstance(at, SparsePoints):
                at = np.asarray(at, dtype=np.float64)
            order = self.of(at, depth, len(self.points) + start)
            yield Block(order.n_samples, order.search, (part(order, self.n_threads),))

    def nearest(self, queries: Any, k: int) -> NDArray[np.int32]:
        """Row numbers of the k nearest points, the lower rows of a tie group that runs past k."""
        return self.nearest_and_cuts(queries, k)[0]

    def nearest_and_cuts(
        self, queries: Any, k: int
    ) -> tuple[NDArray[np.int32], NDArray[np.bool_] | None]:
        """The same, and whether the first 1, 2, …, k of them end inside of a tie group.

        None says that none does.
        """
        if self._proposing_is_faster(k, len(queries)):
            order = self.of(queries, k)
            of_order = order.cuts()
            return order.flat_indices[order.rectangle()], of_order if of_order.any() else None
        out = np.empty((len(queries), k), dtype=np.int32)
        cut: NDArray[np.bool_] | None = None
        for part, keys in self._blocks(queries):
            rows = self._sorted(keys, k)
            out[part] = rows.items[:, :k]
            cuts = rows.cuts(k)
            if cuts is not None:
                cut = np.zeros(out.shape, dtype=bool) if cut is None else cut
                cut[part] = cuts
        return out, cut

    def threads_for(self, n_queries: int) -> int:
        """Threads for so many queries: they cost small batches more than they save."""
        n_values = self.points.size
        squared = self._sparse is not None or self._places is not None
        products = n_queries * n_values * (1 if squared else _COST_OF_OTHERS)
        small = n_values <= _VALUES_FOR_ONE_THREAD and products <= _PRODUCTS_FOR_ONE_THREAD
        return 1 if small else self.n_threads

    def keys(self, queries: Any) -> Keys:
        """What the points are sorted by for each query: numbers that grow with the distance."""
        if self._sparse is not None:
            rows = self._sparse.complete_rows(self._sparse_places(queries))
            return Keys(rows, self.metric.squared_ties, self.metric.from_squared)
        queries = _as_array(queries)
        at = self._query_points(queries)
        n_threads = self.threads_for(len(queries))
        if at is not None and self._places is not None:
            rows = self._places.squared_to(at, n_threads)
            return Keys(rows, self.metric.squared_ties, self.metric.from_squared)
        if self.metric.precomputed:
            rows = np.array(queries, dtype=np.float64)
        else:
            rows = metric_rows(queries, self.points, self.metric, n_threads)
        return Keys(rows, Ties(), np.asarray)

    def _proposed(self, queries: Any, depth: int) -> list[NeighborOrder]:
        """Orders of so many queries as are proposed for at a time, verified."""
        if self._sparse is not None:
            rows = self._sparse.nearest(self._sparse_places(queries), depth)
        else:
            queries = _as_array(queries)
            at = self._query_points(queries)
            if at is None or self._places is None:
                return self._compared(queries, depth)
            rows = self._verified(self._places, at, depth)
        return [self._packed(rows, queries, depth)]

    def _limited(self, queries: Any, depth: int) -> list[NeighborOrder]:
        """Orders of blocks of queries from true distances within limits."""
        queries = _as_array(queries)
        at = self._query_points(queries)
        if at is None:
            return self._compared(queries, depth)
        found = []
        for rows in self._limits.nearest(at, depth, self.metric.squared_ties):
            found.append(self._packed(rows, queries[: len(rows.lengths)], depth))
            queries = queries[len(rows.lengths) :]
        return found

    def _packed(self, rows: SortedRows, queries: Any, depth: int) -> NeighborOrder:
        """The order of these rows; those that are not certain are compared with all points."""
        order = pack_rows(rows, self.metric.from_squared, depth, len(self.points), 0)
        failed = np.flatnonzero(rows.lengths < 0)
        return replace_rows(order, failed, self._compared(queries[failed], depth))

    def _verified(self, places: Points, at: Array, depth: int) -> SortedRows:
        """The nearest points by candidates; the length is -1 where they prove nothing."""
        wanted = min(depth + 4 + depth // 8, len(self.points))

        def of_candidates(proposer: ProductProposer | NearestProposer) -> SortedRows:
            candidates, ties = proposer.propose_to(at, wanted), self.metric.squared_ties
            return places.rerank_new(at, *candidates, depth, ties, self.n_threads)

        if self._products_serve(len(at)):
            rows = of_candidates(self._products)
            few_open = bool(np.count_nonzero(rows.lengths < 0) <= _LEFT_OPEN * len(at))
            self._single_is_precise = few_open
            if few_open or not self._may_copy:
                return rows
        return of_candidates(self._proposer)

    def _compared(self, queries: Any, depth: int) -> list[NeighborOrder]:
        """Orders of blocks of queries from their distances to all points."""
        n_points = len(self.points)
        return [
            pack_rows(self._sorted(keys, depth), keys.transform, depth, n_points, 0)
            for _, keys in self._blocks(queries)
        ]

    def _blocks(self, queries: Any) -> Iterator[tuple[slice, Keys]]:
        """Ranges of queries and their keys."""
        for part in self._ranges(queries):
            yield part, self.keys(queries[part])

    def _ranges(self, queries: Any) -> Iterator[slice]:
        """Ranges of queries that keep memory bounded, also where their rows are made dense."""
        step = self.rows_per_block
        if isinstance(queries, SparsePoints) and self._sparse is None:
            step = max(1, min(step, _ENTRIES_PER_BLOCK // queries.shape[1]))
        for start in range(0, len(queries), step):
            yield slice(start, start + step)

    def _sorted(self, keys: Keys, depth: int) -> SortedRows:
        """The `depth` nearest; a single one needs no sort where nobody is tied with it."""
        rows, ties, _ = keys
        n_points, n_threads = len(self.points), self.threads_for(len(rows))
        if depth > 1:
            return sort_rows(rows, depth, n_points, n_threads, ties)
        found = lone_firsts(rows, n_threads, ties)
        shared = np.flatnonzero(found.lengths < 0)
        if len(shared) == 0:
            return found
        return found.replaced(shared, sort_rows(rows[shared], 1, n_points, n_threads, ties))

    @cached_property
    def _sparse(self) -> SparseNearest | None:
        """Sparse points, prepared; None for arrays."""
        if not isinstance(self.points, SparsePoints):
            return None
        return SparseNearest(self.points, self.metric, self.n_threads)

    def _sparse_places(self, queries: Any) -> SparsePlaces:
        """Queries in the geometry of `_sparse`."""
        if not isinstance(queries, SparsePoints):
            queries = SparsePoints.of(queries, self.metric)
        places: SparsePlaces = queries.places(self.metric)
        return places

    def _query_points(self, queries: Array) -> Array | None:
        """Queries in the geometry of `_places`, or None where squared distances do not serve."""
        if self._places is None or not self._squares_fit(queries):
            return None
        queries = np.ascontiguousarray(queries, dtype=np.float64)
        return np.ascontiguousarray(self.metric.euclidean_points(queries))

    def _squares_fit(self, points: Array) -> bool:
        # A query and a reference may be close where neither set holds two that are.
        return self.metric.is_euclidean and (
            self.metric.of_directions or not has_tiny_values(points)
        )

    @cached_property
    def _places(self) -> Points | None:
        """Points whose squared Euclidean distances are the keys, where the metric allows it."""
        if not self._squares_fit(self.points):
            return None
        return Points(self.points, self.metric, _HELD_ENTRIES)

    @cached_property
    def _limits(self) -> LimitedSearch:
        return LimitedSearch(cast("Points", self._places), self.n_threads)

    def _limits_serve(self, depth: int, n_queries: int) -> bool:
        """Whether limits save much of the writing and sorting of complete rows."""
        if self._sparse is not None or self._places is None:
            return False
        return depth > 1 and n_queries >= FEWEST_QUERIES and len(self.points) > LONG_ROW

    @property
    def _may_copy(self) -> bool:
        """Whether another copy in float64 takes little room, as a tree does."""
        places = cast("Points", self._places)
        small = places.held is not None and places.shape[0] * places.shape[1] <= _COPIED_ENTRIES
        return small or places.shape[1] <= TREE_FEATURES

    @cached_property
    def _products(self) -> ProductProposer:
        return ProductProposer(cast("Points", self._places), self.n_threads)

    @cached_property
    def _proposer(self) -> NearestProposer:
        return NearestProposer(cast("Points", self._places)[:], self.n_threads)

    def _products_serve(self, n_queries: int) -> bool:
        """Whether products propose: for many queries, and wherever nothing is copied."""
        many = n_queries >= _MANY_QUESTIONS or not self._may_copy
        few_features = cast("Points", self._places).shape[1] <= TREE_FEATURES
        return many and self._single_is_precise and not few_features

    def _proposing_is_faster(self, depth: int, n_queries: int) -> bool:
        if self._sparse is not None:
            return self._sparse.proposes(depth, len(self.points))
        if self._places is None:
            return False
        n_points, n_features = self._places.shape
        if n_points <= max(_SMALL_REFERENCE, 4 * depth):
            return False
        if self._products_serve(n_queries):
            return not full_rows_are_cheaper(n_points, n_features, depth, new=True)
        if not self._may_copy:
            return False
        if not is_shallow(depth):
            compared = n_points * (_PER_POINT + _PER_VALUE * n_features)
            return n_features <= _FLAT or _PER_CANDIDATE * depth < compared
        if n_features <= TREE_FEATURES:
            return n_points > _TREE_POINTS_PER_FEATURE * n_features
        most = _SMALL_TABLE_FOR_ONE if depth == 1 else _SMALL_TABLE
        return n_points * n_features > most


def _as_array(queries: Any) -> Any:
    return queries.dense() if isinstance(queries, SparsePoints) else queries


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
    X : array-like, data frame, tensor, sparse matrix or dask array, (n_samples, n_features)
        The samples; with ``metric="precomputed"`` the square matrix of distances, row i holding
        the distances from sample i (it need not be symmetric here).
    depth : int, default=None
        How many neighbours to keep; None keeps all n - 1. A tie group that runs past `depth` is
        kept complete.
    metric, p, metric_params :
        As in scikit-learn's KNeighborsClassifier. For "cosine" a row of zeros is a direction of its
        own: its distance is 1 to all others and 0 to other rows of zeros. A constant row is the
        same for "correlation".
    backend : {"auto", "exact", "faiss", "torch", "torch:cpu", "dask"}, default="auto"
        Which search to use; all find the same neighbours. "exact" proposes on the CPU and verifies
        in float64; "faiss" proposes with FAISS; "torch" searches on a GPU; "dask" on a cluster.
        "auto" takes the GPU where there is one and the data are large, dask for dask arrays, and
        "exact" otherwise; ``order.search.backend`` says what it took.
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
    check_backend(backend)
    resolved = Metric.resolve(metric, p, metric_params)
    points = read_points(X, resolved, symmetric=False, backend=backend)
    n = len(points)
    depth = n - 1 if depth is None else check_count("depth", depth, at_least=1, at_most=n - 1)
    check_room(n, depth)
    return Reference(points, resolved, thread_count(n_jobs)).within(
        depth, backend=backend, block_size=block_size
    )
