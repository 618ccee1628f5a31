"""Where the neighbours of a task come from: searched block by block, kept where they fit.

A single question takes each block of rows as it is found, so that memory is bounded. Where more
questions follow (`expect`), the blocks are kept, up to `MOST_KEPT` bytes for all of them, and every
question gets the rows cut to the depth it needs, complete tie groups: the same bits as from a
search of its own. What is larger is searched again.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from allsplits._threads import thread_count
from allsplits.exact.question import Options
from allsplits.orders import (
    DevicePoints,
    Metric,
    NeighborOrder,
    Reference,
    SearchReport,
    SparsePoints,
    iter_parts,
    search_seconds,
)
from allsplits.orders.backends import choose_backend
from allsplits.orders.protocol import Block, DevicePart, Part, whole_order
from allsplits.orders.unchanged import Unchanged

#: Bytes of orders that are kept for further questions (1 GiB: all neighbours of 9,000 samples).
MOST_KEPT = 1 << 30
#: Bytes of orders that are kept with a result, for its interval (64 MiB).
MOST_KEPT_FOR_LATER = 1 << 26
#: How deep is searched at first where a radius says who counts.
_FIRST_DEPTH = 64
#: Values that are looked at to guess it.
_LOOKED_AT = 1 << 20
#: Bytes of a neighbour: its number, its distance, whether it is tied.
_EACH = 13


class Neighbors:
    """The neighbours of checked points (or a NeighborOrder), found when they are asked for.

    With `queries`, points from outside, the neighbours of these among the points; they are numbered
    after the points (see `Question`).
    """

    def __init__(self, X: Any, metric: Metric, options: Options, queries: Any = None) -> None:
        self.X, self.metric, self.queries = X, metric, queries
        self._backend, self._n_jobs = options.backend, options.n_jobs
        self._expected: int | None = None
        self._most = MOST_KEPT
        self._kept: list[NeighborOrder] = []
        self._depth = 0
        self._unchanged = Unchanged("X"), Unchanged("X_test")

    def __getstate__(self) -> dict[str, Any]:
        """Orders that are kept stay behind: who loads a result can search again."""
        return {**self.__dict__, "_kept": [], "_depth": 0}

    def expect(self, depth: int = 0) -> None:
        """More questions follow: keep what is found, and search at least this deep if it fits."""
        self._most = MOST_KEPT
        self._expected = max(depth, self._expected or 0)

    def keep_if_small(self) -> None:
        """Another question may follow: keep what is found if it takes next to no memory.

        What a device counts stays there.
        """
        if self._expected is None and not self._backend.startswith("torch"):
            self._expected, self._most = 0, MOST_KEPT_FOR_LATER

    def depth_within(self, radius: float) -> int:
        """How deep rows must be to hold everybody within the radius; what is found is kept.

        They are searched deeper until every row ends beyond it.
        """
        self.expect()
        given = isinstance(self.X, NeighborOrder)
        n = self.X.n_candidates if given else len(self.X) - (1 if self.queries is None else 0)
        depth = self.X.depth if given else min(self._likely_depth(radius), n)
        while True:
            part = partial(_most_within, radius=radius)
            most = max(each for block in self.blocks(depth, part) for each in block.parts)
            if most < depth or depth == n:
                return max(int(most), 1)
            if given:
                self.X.check_depth(depth + 1)
            depth = min(2 * depth, n)

    def _likely_depth(self, radius: float) -> int:
        """A guess at the most candidates within the radius, from a few rows and references."""
        if (
            not isinstance(self.X, np.ndarray)
            or isinstance(self.queries, SparsePoints)
            or self.metric.precomputed
            or self.metric.needs_sample
        ):
            return _FIRST_DEPTH
        step = -(-self.X.size // _LOOKED_AT)
        asked = self.X if self.queries is None else self.queries
        rows = asked[:: -(-len(asked) // _FIRST_DEPTH)].astype(np.float64)
        reference = Reference(self.X[::step].astype(np.float64), self.metric, 1)
        keys = reference.keys(rows)
        most = int((keys.transform(keys.rows) <= radius).sum(axis=1).max()) * step
        return max(_FIRST_DEPTH, most + most // 4)

    def seconds(self, depth: int) -> float:
        """Roughly how long a search of this depth takes on one core."""
        if self._is_kept(depth):
            return 0.0
        depth = self._depth_to_search(depth)
        return search_seconds(self.X, self.metric, depth, self._backend, self.queries)

    def counts_on_gpu(self, part: Part) -> bool:
        """Whether what rows contribute is counted on a GPU, where it takes next to no time."""
        if not isinstance(self.X, (np.ndarray, DevicePoints)) or self.queries is not None:
            return False
        backend = self._backend
        if backend == "auto":
            backend = choose_backend(self.X, self.metric)
        return backend == "torch" and isinstance(part, DevicePart) and part.by_groups

    def blocks(self, depth: int, part: Part) -> Iterator[Block]:
        """What consecutive blocks of rows contribute, in turn."""
        if self._is_kept(depth):
            for order in self._kept:
                yield self._contribute(order, depth, part)
        elif self._expected is None or not self._fits(depth):
            yield from self._search(depth, part)
        else:
            yield from self._search_and_keep(depth, part)

    def report(self, reports: list[SearchReport]) -> SearchReport:
        """How all blocks were found, from how each of them was."""
        given = isinstance(self.X, NeighborOrder)
        return self.X.search if given else SearchReport.total(reports)

    def _is_kept(self, depth: int) -> bool:
        return bool(self._kept) and depth <= self._depth

    def _fits(self, depth: int) -> bool:
        """Whether orders may be kept: those of a cluster and given ones are where they belong."""
        here = isinstance(self.X, (np.ndarray, SparsePoints)) and self._backend != "dask"
        rows = self.X if self.queries is None else self.queries
        return here and len(rows) * depth * _EACH <= self._most

    def _depth_to_search(self, depth: int) -> int:
        deeper = max(depth, self._expected or 0)
        return deeper if self._fits(deeper) else depth

    def _search(self, depth: int, part: Part) -> Iterator[Block]:
        for points, unchanged in zip((self.X, self.queries), self._unchanged, strict=True):
            unchanged.check(points)
        if self.queries is not None:
            reference = Reference(self.X, self.metric, thread_count(self._n_jobs))
            return reference.parts_of(self.queries, depth, part)
        return iter_parts(
            self.X, self.metric, depth, part, backend=self._backend, n_jobs=self._n_jobs
        )

    def _search_and_keep(self, depth: int, part: Part) -> Iterator[Block]:
        searched = self._depth_to_search(depth)
        found: list[NeighborOrder] = []
        room = self._most
        for block in self._search(searched, whole_order):
            for order in block.parts:
                # Rows that end in large tie groups are longer than they were asked to be.
                room -= len(order.tied) * _EACH
                if room >= 0:
                    found.append(order)
                else:
                    found.clear()
                yield self._contribute(order, depth, part)
        if found:
            self._kept, self._depth = found, searched

    def _contribute(self, order: NeighborOrder, depth: int, part: Part) -> Block:
        rows = cut_rows(order, depth)
        return Block(rows.n_samples, rows.search, (part(rows, thread_count(self._n_jobs)),))


def _most_within(order: NeighborOrder, n_threads: int, *, radius: float) -> int:
    """The most candidates that a row has within the radius."""
    if len(order.tied) == 0:
        return 0
    return int(np.add.reduceat(order.within(radius).astype(np.int64), order.indptr[:-1]).max())


def cut_rows(order: NeighborOrder, depth: int) -> NeighborOrder:
    """The first `depth` neighbours of each row, with the tie group at the end complete."""
    if order.depth <= depth:
        return order
    # Every row starts with an entry that is not tied, so a group ends before the next such entry.
    heads = np.append(np.flatnonzero(~order.tied), len(order.tied))
    starts = order.indptr[:-1]
    lengths = heads[np.searchsorted(heads, starts + depth)] - starts
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    kept = np.arange(indptr[-1]) + np.repeat(starts - indptr[:-1], lengths)
    return replace(
        order,
        indptr=indptr,
        flat_indices=order.flat_indices[kept],
        flat_distances=order.flat_distances[kept],
        tied=order.tied[kept],
        depth=depth,
    )
