"""Samples as points of Euclidean geometry, held in their own type and read in float64.

A large table of small numbers, such as a mapped file of float32, is never copied as a whole:
whoever needs rows in float64 gets them block by block, and candidates are verified a bounded number
at a time. What is float64 in contiguous rows is used where it is; small tables are converted
once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from allsplits.orders.kernel_types import Places, SortedRows, Ties
from allsplits.orders.metric import Metric
from allsplits.orders.verify import in_tiles, rerank, squared_rows

#: Entries of a converted copy that may be held (64 MiB), and of rows that are read at a time.
_HELD_ENTRIES = 1 << 23
_READ_ENTRIES = 1 << 21

Array = NDArray[np.float64]


class Points:
    """Points whose Euclidean order is the metric's order of the samples X.

    A copy in float64 of up to `most_held` entries is held.

    Attributes
    ----------
    shape : tuple of int
        Number of points and of coordinates, which may differ from the features of X.
    held : ndarray or None
        All of them in float64, where that is no large copy.
    """

    def __init__(self, X: NDArray[Any], metric: Metric, most_held: int | None = None) -> None:
        self.X, self.metric = X, metric
        self.most_held = _HELD_ENTRIES if most_held is None else most_held
        self.held: Array | None = None
        as_it_is = X.dtype == np.float64 and X.flags.c_contiguous and not metric.of_directions
        if as_it_is or X.size <= self.most_held:
            self.held = self._converted(X)
        self.shape: tuple[int, int] = (len(X), self[:1].shape[1])

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, numbers: slice | NDArray[np.intp]) -> Array:
        """Rows in float64."""
        return self._converted(self.X[numbers]) if self.held is None else self.held[numbers]

    def _converted(self, rows: NDArray[Any]) -> Array:
        # Values side by side are added up in one order, however many rows there are.
        found = self.metric.euclidean_points(np.ascontiguousarray(rows, dtype=np.float64))
        return np.ascontiguousarray(found)

    def blocks(self) -> list[slice]:
        """Ranges of rows that can be read at a time."""
        step = max(1, _READ_ENTRIES // self.shape[1])
        return [slice(start, start + step) for start in range(0, len(self), step)]

    def squared_rows(self, numbers: NDArray[np.intp], n_threads: int) -> Array:
        """Squared distances of the points with these numbers to all, by differences."""
        everybody = len(numbers) == len(self)
        if everybody and self._holds_tiles:
            queries = cast("Array", self.held)
            return squared_rows(queries, self._tiles, len(self), n_threads, symmetric=True)
        return self.squared_to(self[numbers], n_threads)

    def squared_to(self, queries: Array, n_threads: int) -> Array:
        """The same of new points."""
        if self._holds_tiles:
            return squared_rows(queries, self._tiles, len(self), n_threads)
        out = np.empty((len(queries), len(self)))
        for block, tiles in self.tiled():
            out[:, block] = squared_rows(queries, tiles, block.stop - block.start, n_threads)
        return out

    def tiled(self) -> Iterator[tuple[slice, Array]]:
        """Ranges of all points, and each in tiles."""
        if self._holds_tiles:
            yield slice(0, len(self)), self._tiles
            return
        for block in self.blocks():
            yield slice(block.start, min(block.stop, len(self))), in_tiles(self[block])

    @property
    def _holds_tiles(self) -> bool:
        return self.held is not None and self.held.size <= self.most_held

    @cached_property
    def _tiles(self) -> Array:
        """Made when somebody asks: most candidate searches never need a complete row."""
        return in_tiles(self[:])

    def rerank(
        self, start: int, items: NDArray[np.int32], beyond: Array, depth: int, ties: Ties,
        n_threads: int,
    ) -> SortedRows:  # fmt: skip
        """Candidates of consecutive points, sorted by their true squared distances.

        As `verify.rerank`, for the points from `start` on.
        """
        if self.held is not None:
            places = Places(self.held, self.held[start : start + len(items)], start)
            return rerank(places, items, beyond, depth, ties, n_threads)
        rows = SortedRows.of(items)
        for part in self._few(items):
            own = np.arange(start + part.start, start + min(part.stop, len(items)))
            here, used = items[part].copy(), np.append(own, items[part])
            _leave_out(here, own)
            queries = self[own]
            few = self._rerank_few(queries, here, used, beyond[part], depth, ties, n_threads)
            rows.put(part, few)
        return rows

    def rerank_new(
        self, queries: Array, items: NDArray[np.int32], beyond: Array, depth: int, ties: Ties,
        n_threads: int,
    ) -> SortedRows:  # fmt: skip
        """The same for candidates of new points."""
        if self.held is not None:
            return rerank(Places(self.held, queries), items, beyond, depth, ties, n_threads)
        rows = SortedRows.of(items)
        for part in self._few(items):
            here, at = items[part], queries[part]
            rows.put(part, self._rerank_few(at, here, here, beyond[part], depth, ties, n_threads))
        return rows

    def _few(self, items: NDArray[np.int32]) -> Iterator[slice]:
        """Ranges of rows whose candidates can be read together."""
        step = max(1, _READ_ENTRIES // (self.shape[1] * items.shape[1]))
        for low in range(0, len(items), step):
            yield slice(low, low + step)

    def _rerank_few(
        self, queries: Array, items: NDArray[np.int32], read: NDArray[Any], beyond: Array,
        depth: int, ties: Ties, n_threads: int,
    ) -> SortedRows:  # fmt: skip
        """The same for so few that their candidates, among the points to read, fit."""
        used = np.unique(read)
        used = used[used >= 0]
        # One point that nobody names: a row that names all others of these few has not named all.
        points = self[np.append(used, used[0])]
        here = np.where(items < 0, -1, np.searchsorted(used, items)).astype(np.int32)
        rows = rerank(Places(points, queries), here, beyond, depth, ties, n_threads)
        # Numbers among the few grow with the numbers of the points: ties are in row order.
        rows.items[:] = used[rows.items]
        return rows


def _leave_out(items: NDArray[np.int32], numbers: NDArray[np.intp]) -> None:
    """Put the last item of a row in the place of the row's own number, if that is there."""
    rows, places = np.nonzero(items == numbers[:, None])
    last = np.count_nonzero(items >= 0, axis=1)[rows] - 1
    items[rows, places] = items[rows, last]
    items[rows, last] = -1
