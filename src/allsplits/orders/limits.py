"""Where many nearest are wanted: true distances to all, and lists of those within a limit.

The limit of a query comes from a sample of the points: one that holds its share of the wanted ones
with some to spare is hardly too small. True distances are computed in float64 tile by tile, and
only who is within the limit is written and sorted: whoever is not on a list is certainly farther
than the limit, so nothing needs a proof. A list that is too short, or finds no room, is left to
complete rows. Memory: the lists, a bounded number of queries at a time.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.orders.kernel_types import SortedRows, Ties
from allsplits.orders.kernels_tiles import TILE
from allsplits.orders.kernels_within import find_limits, list_within, sort_lists
from allsplits.orders.points import Points
from allsplits.orders.verify import in_tiles, squared_rows

#: Complete rows of up to so many points stay in the cache, and limits save nothing (measured).
LONG_ROW = 8192
#: Queries at a time for which this pays.
FEWEST_QUERIES = 8
#: Points for each one of the sample; and the most of these.
_POINTS_PER_SAMPLED, _MOST_SAMPLED = 16, 8192
#: Deviations that a sample may differ from what is expected of it.
_DEVIATIONS = 3.5
#: Values of the sample and distances to it (16 MiB), and entries of lists (80 MiB), that are held.
_SAMPLED_ENTRIES = 1 << 21
_LISTED_ENTRIES = 6 << 20
#: Larger than every limit: keys that are infinite are no neighbours.
_EVERYBODY = float(np.finfo(np.float64).max)

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]


class Limits(NamedTuple):
    """Of each query a limit, and how many of the sample are within it."""

    keys: Array
    counts: NDArray[np.int64]


class LimitedSearch:
    """The nearest by true squared distances, where many points are wanted of many."""

    def __init__(self, places: Points, n_threads: int) -> None:
        self.places, self.n_threads = places, n_threads
        n = len(places)
        most = min(n // _POINTS_PER_SAMPLED, _MOST_SAMPLED, _SAMPLED_ENTRIES // places.shape[1])
        self.n_sampled = min(max(most // TILE, 1) * TILE, n)

    def nearest(
        self, queries: Array, depth: int, ties: Ties, own: Numbers | None = None
    ) -> Iterator[SortedRows]:
        """Sorted rows of consecutive blocks of queries; the length is -1 where limits failed.

        Queries that are points have numbers of their `own`, and are no neighbours of themselves.
        """
        own = np.full(len(queries), -1) if own is None else own
        limits = self._limits(queries, depth)
        share = self.n_sampled / len(self.places)
        most = int(limits.counts.max(initial=0)) + 1
        room = min(len(self.places), int((most + _DEVIATIONS * most**0.5) / share) + TILE)
        step = max(8, _LISTED_ENTRIES // room)
        for first in range(0, len(queries), step):
            part = slice(first, first + step)
            rows = self._listed(queries[part], limits.keys[part], room)
            yield self._sorted(rows, limits.keys[part], own[part], depth, ties)

    @cached_property
    def _sample(self) -> Array:
        """One point of each of so many ranges."""
        edges = np.linspace(0, len(self.places), self.n_sampled + 1).astype(np.intp)
        return in_tiles(self.places[np.random.default_rng(0).integers(edges[:-1], edges[1:])])

    def _limits(self, queries: Array, depth: int) -> Limits:
        expected = (depth + 1) * self.n_sampled / len(self.places)
        least = int(expected + _DEVIATIONS * expected**0.5) + 2
        found = np.empty(len(queries), np.int64), np.empty(len(queries), np.int64)
        limits = Limits(found[0].view(np.float64), found[1])
        if least >= self.n_sampled:
            limits.keys[:], limits.counts[:] = _EVERYBODY, self.n_sampled
            return limits
        step = max(64, _SAMPLED_ENTRIES // self.n_sampled)
        for low in range(0, len(queries), step):
            at = queries[low : low + step]
            rows = squared_rows(at, self._sample, self.n_sampled, self.n_threads)
            words, part = rows.view(np.int64), [each[low : low + step] for each in found]

            def find(start: int, stop: int, words: Any = words, part: Any = part) -> None:
                find_limits(words, start, stop, least, least + least // 16, *part)

            map_row_ranges(find, len(at), self.n_threads)
        limits.keys[limits.counts < least] = _EVERYBODY
        return limits

    def _listed(self, queries: Array, limits: Array, room: int) -> SortedRows:
        """Lists of all who are within the limits."""
        rows = SortedRows.of(np.empty((len(queries), room), dtype=np.int32))
        rows.lengths[:] = 0
        for block, tiles in self.places.tiled():
            first, n_points = block.start, block.stop - block.start

            def gather(start: int, stop: int, of: Any = (tiles, first, n_points)) -> None:
                list_within(*of, queries, limits, rows, start, stop)

            map_row_ranges(gather, len(queries), self.n_threads, smallest=32)
        return rows

    def _sorted(
        self, rows: SortedRows, limits: Array, own: Numbers, depth: int, ties: Ties
    ) -> SortedRows:
        words = rows.keys.view(np.int64)

        def sort(start: int, stop: int) -> None:
            sort_lists(words, rows, limits, own, _EVERYBODY, start, stop, depth, ties)

        map_row_ranges(sort, len(rows.lengths), self.n_threads, smallest=8)
        return rows
