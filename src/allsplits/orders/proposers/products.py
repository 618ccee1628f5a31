"""Candidates from products in single precision: tiles of the table of all pairs, each used twice.

Half the squared distance, |x|²/2 + |y|²/2 - xy, is one product of vectors with two more entries,
and float32 takes half the time of float64. The product of two blocks of rows serves the lists of
both (see `kernels_select`), so that half of the pairs is enough: O(n²d/2).

Rows are taken in random order. Then those that a row has seen are a sample of all, and who is not
among the nearest of a sample, with some to spare, is hardly among the nearest of all: limits fall
early, and few pairs pass. Where that goes wrong the row cannot be proved, and is searched again.

Memory: the lists, bounded; where they do not find room for all rows at once, tiles serve the rows
only, and there are n²d products. A table of single precision is kept if it is small.
"""

from collections.abc import Callable
from contextlib import ExitStack
from functools import lru_cache, partial
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from allsplits._threads import map_row_ranges
from allsplits.orders.kernels_select import Lists, filter_tile, finish_lists
from allsplits.orders.proposers.single import Rows, SinglePoints

#: Bytes of the lists, and of a table in single precision.
_LIST_BYTES = 160 << 20
_TABLE_BYTES = 160 << 20
#: Rows of a block, and of the tiles that it is cut into: scores stay in the cache (measured).
_MOST_ROWS, _TILE_ROWS = 2048, 512
#: Blocks that there should be: limits are reviewed after each.
_FEWEST_BLOCKS = 12
#: Deviations that a sample may differ from what is expected of it.
_DEVIATIONS = 3.0

Array = NDArray[np.float64]
Single = NDArray[np.float32]
Numbers = NDArray[np.intp]


class ProductProposer:
    """Proposes whoever is not certainly farther than the wanted candidates."""

    def __init__(self, points: Rows, n_threads: int) -> None:
        n = len(points)
        self.n_threads = n_threads
        self.single = SinglePoints(points)
        self.tile = min(_TILE_ROWS, 32 * -(-n // (32 * _FEWEST_BLOCKS)))
        size = self.tile * max(1, min(_MOST_ROWS, n // _FEWEST_BLOCKS) // self.tile)
        self.blocks = [slice(first, min(first + size, n)) for first in range(0, n, size)]
        # Lists name the points by their places in random order.
        self.numbers = np.random.default_rng(0).permutation(n)
        self.places = np.argsort(self.numbers)
        self.table: Single | None = None
        if 4 * n * (points.shape[1] + 2) <= _TABLE_BYTES:
            self.table = self._read(self.numbers)
        self.band = range(0)
        self.wanted = 0

    def propose(self, start: int, stop: int, n_candidates: int) -> tuple[NDArray[np.int32], Array]:
        """Candidates of the rows start to stop, ended by -1, and what all others exceed."""
        searched = self.band.start <= start and stop <= self.band.stop
        if n_candidates != self.wanted or not searched:
            self._search(start, stop, n_candidates)
        whole = len(self.band) == len(self.numbers)
        here = self.places[start:stop] if whole else np.arange(start, stop) - self.band.start
        return self._found(self.lists, here, self.single.rounding[start:stop])

    def propose_to(self, queries: Array, n_candidates: int) -> tuple[NDArray[np.int32], Array]:
        """Candidates of new points, ended by -1, and what all others exceed."""
        rows, halves, rounding = self.single.of_questions(queries)
        lists = self._new_lists(n_candidates, rounding)
        asked = _reversed(_extended(rows, halves))
        with _blas().limit(limits=1):
            self._meet_all(lists, lambda first, last: asked[first:last], n_candidates)
        self._finish(lists, n_candidates)
        return self._found(lists, np.arange(len(queries)), rounding)

    def _found(
        self, lists: Lists, here: Numbers, rounding: Array
    ) -> tuple[NDArray[np.int32], Array]:
        """What is on some of the lists."""
        words = lists.words[here]
        words.sort(axis=1)
        longest = int(lists.counts[here].max())
        found = words[:, : longest + 1].astype(np.int32)
        items = np.where(found < 0, -1, self.numbers[found]).astype(np.int32)
        reach = 2.0 * lists.limits[here].astype(np.float64) / self.single.scale**2
        reach[np.isinf(rounding)] = -np.inf
        return items, reach - rounding

    def _new_lists(self, wanted: int, rounding: Array) -> Lists:
        slack = (rounding * self.single.scale**2).astype(np.float32)
        full = 2 * _enough(wanted, 1 / len(self.blocks)) + 8
        return Lists.empty(_room(wanted), full, slack)

    def _finish(self, lists: Lists, wanted: int) -> None:
        def finish(first: int, last: int) -> None:
            finish_lists(lists, first, last, wanted)

        map_row_ranges(finish, len(lists.counts), self.n_threads)

    def _search(self, start: int, stop: int, wanted: int) -> None:
        """Make the lists of a band of rows from `start` on, of all rows if there is room."""
        n = len(self.numbers)
        rows = max(stop - start, _LIST_BYTES // (8 * _room(wanted)))
        whole = rows >= n
        self.band = range(n) if whole else range(start, min(start + rows, n))
        self.wanted = wanted
        own = self.numbers if whole else np.asarray(self.band)
        self.lists = self._new_lists(wanted, self.single.rounding[own])
        # One product in each thread; many threads for one small product would wait for each other.
        with _blas().limit(limits=1):
            if whole:
                self._meet_each_other(wanted)
            else:
                self._meet_all(self.lists, partial(self._rows_of_band, start), wanted)
        self._finish(self.lists, wanted)

    def _meet_each_other(self, wanted: int) -> None:
        """Every block with itself, then with those at a growing distance: each pair once."""
        m = len(self.blocks)
        locks = [Lock() for _ in self.blocks]

        def meet(step: int, enough: int, first: int, last: int) -> None:
            for i in range(first, last):
                j = (i + step) % m
                self._meet(self.blocks[i], self.blocks[j], enough, (locks[i], locks[j]))

        for step in range(m // 2 + 1):
            enough = _enough(wanted, min(1.0, (2 * step + 1) / m))
            n_pairs = m if 2 * step < m else m // 2
            map_row_ranges(partial(meet, step, enough), n_pairs, self.n_threads, smallest=1)

    def _meet(self, rows: slice, columns: slice, wanted: int, locks: tuple[Lock, Lock]) -> None:
        """Two blocks, or one with itself."""
        same = rows == columns
        queries, others = self._block(rows), _reversed(self._block(columns))
        for top in range(0, len(queries), self.tile):
            for left in range(top if same else 0, len(others), self.tile):
                scores = queries[top : top + self.tile] @ others[left : left + self.tile].T
                with ExitStack() as held:
                    # In one order for all threads, so that none waits for another in a circle.
                    for lock in sorted(set(locks), key=id):
                        held.enter_context(lock)
                    both = not (same and top == left)
                    at = rows.start + top, columns.start + left
                    filter_tile(scores, self.lists, *at, both, wanted)

    def _rows_of_band(self, start: int, first: int, last: int) -> Single:
        return _reversed(self._read(np.arange(start + first, start + last)))

    def _meet_all(self, lists: Lists, asked: Callable[[int, int], Single], wanted: int) -> None:
        """Rows, from which to which is asked for, with all blocks."""
        step = self.tile
        shares = [block.stop / len(self.numbers) for block in self.blocks]

        def meet(first: int, last: int) -> None:
            for block, share in zip(self.blocks, shares, strict=True):
                others, enough = self._block(block), _enough(wanted, share)
                for top in range(first, last, step):
                    queries = asked(top, min(top + step, last))
                    for left in range(0, len(others), step):
                        scores = queries @ others[left : left + step].T
                        filter_tile(scores, lists, top, block.start + left, False, enough)

        map_row_ranges(meet, len(lists.counts), self.n_threads)

    def _block(self, block: slice) -> Single:
        return self._read(self.numbers[block]) if self.table is None else self.table[block]

    def _read(self, numbers: Numbers) -> Single:
        """Some of the points, with their two more entries."""
        if self.table is not None:
            return self.table[self.places[numbers]]
        out = np.empty((len(numbers), self.single.given.shape[1] + 2), dtype=np.float32)
        for low in range(0, len(numbers), _MOST_ROWS):
            part = numbers[low : low + _MOST_ROWS]
            out[low : low + _MOST_ROWS] = _extended(self.single[part], self.single.halves[part])
        return out


@lru_cache
def _blas() -> ThreadpoolController:
    """The products of numpy. To find them takes milliseconds, which few questions would notice."""
    return ThreadpoolController().select(user_api="blas")


def _extended(rows: Single, halves: Array) -> Single:
    """Points with two more entries: half the square, and 1."""
    out = np.ones((len(rows), rows.shape[1] + 2), dtype=np.float32)
    out[:, :-2], out[:, -2] = rows, halves
    return out


def _reversed(block: Single) -> Single:
    """What the points of a block are multiplied with: scores are half the squared distances."""
    others = -block
    others[:, -2], others[:, -1] = 1, block[:, -2]
    return others


def _room(wanted: int) -> int:
    """Of a list."""
    return 2 * wanted + 32


def _enough(wanted: int, share: float) -> int:
    """How many of a sample hold its share of the wanted ones, almost certainly."""
    expected = wanted * share
    return int(min(wanted, np.ceil(expected + _DEVIATIONS * np.sqrt(expected) + 2)))
