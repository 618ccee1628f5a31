"""Who is nearest for certain: true distances, sorted rows with their ties, and the proof.

Candidates are sorted by their true distances, and a row is accepted only if whoever is not among
them is certainly farther away; complete rows are sorted as deep as needed. All in threads.
"""

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.orders.kernel_types import Places, SortedRows, Ties, Words
from allsplits.orders.kernels import (
    direct_rows,
    find_lone_firsts,
    finish_packed_rows,
    finish_sorted_rows,
    mirror_rows,
    rerank_candidates,
)
from allsplits.orders.kernels_nearest import MOST_RANKED, select_rows
from allsplits.orders.kernels_radix import SHORTEST_ROW, sort_words

Array = NDArray[np.float64]


def squared_rows(
    queries: Array, transposed: Array, n_threads: int, *, symmetric: bool = False
) -> Array:
    """Squared Euclidean distances by differences; `transposed` has a column for each reference.

    `symmetric` says that the queries are the references.
    """
    out = np.empty((len(queries), transposed.shape[1]))
    # Mirroring one half costs as much as a few features.
    upper = symmetric and len(transposed) >= 8

    def fill(start: int, stop: int) -> None:
        direct_rows(transposed, queries, start, stop, upper, out)

    map_row_ranges(fill, len(queries), n_threads, smallest=8)
    if upper:
        map_row_ranges(lambda start, stop: mirror_rows(start, stop, out), len(out), n_threads)
    return out


def lone_firsts(rows: Array, n_threads: int, ties: Ties) -> SortedRows:
    """The nearest of each row without a sort; the length is -1 where others may be tied with it."""
    found = SortedRows.of(np.empty((len(rows), 1), dtype=np.int32))

    def find(start: int, stop: int) -> None:
        find_lone_firsts(rows, found, start, stop, ties)

    map_row_ranges(find, len(rows), n_threads, smallest=8)
    return found


def rerank(
    places: Places,
    items: NDArray[np.int32],
    beyond: Array,
    depth: int,
    ties: Ties,
    n_threads: int,
) -> SortedRows:
    """Candidates of the queries, sorted by their true squared distances.

    Whoever is not among a row's `items` is at least ``beyond``, squared, away. Where that does not
    prove the `depth` nearest and the end of their last tie group, the length is -1.
    """
    rows = SortedRows.of(items)

    def verify(start: int, stop: int) -> None:
        rerank_candidates(places, rows, beyond, start, stop, depth, ties)

    map_row_ranges(verify, len(items), n_threads)
    return rows


def mark_sorted(
    items: NDArray[np.int32], keys: Array, depth: int, ties: Ties, n_threads: int = 1
) -> tuple[SortedRows, Array]:
    """Rows sorted by key up to the tie group at `depth`, and the last key of that group.

    Infinite keys are no neighbours. Keys are overwritten: a group gets that of its first member.
    """
    rows = SortedRows.of(items, keys)
    last = np.empty(len(items))

    def finish(start: int, stop: int) -> None:
        part = slice(start, stop)
        before = keys[part].copy()
        finish_sorted_rows(rows, start, stop, depth, ties)
        last[part] = before[np.arange(stop - start), rows.lengths[part] - 1]

    map_row_ranges(finish, len(items), n_threads)
    return rows, last


def is_shallow(depth: int) -> bool:
    """Whether so few are wanted that they are selected and ranked, much faster than sorted."""
    return _sorted_width(depth) <= MOST_RANKED


def _sorted_width(depth: int) -> int:
    """How many are sorted where `depth` are wanted, so that the end of a tie group shows."""
    return depth + 8 + depth // 16


def sort_rows(rows: Array, depth: int, n_candidates: int, n_threads: int, ties: Ties) -> SortedRows:
    """The `depth` nearest and the tie group they end in.

    `rows` holds keys that grow with the distance, infinity for who is no candidate; no row has more
    than `n_candidates` others.
    """
    width = _sorted_width(depth)
    if not is_shallow(depth) or 2 * width > n_candidates:
        return _sort_deep(rows, width, depth, n_candidates, n_threads, ties)
    room = min(2 * width, MOST_RANKED)
    found = SortedRows.of(np.empty((len(rows), room), dtype=np.int32))
    words = rows.view(np.int64)

    def select(start: int, stop: int) -> None:
        select_rows(rows, words, found, start, stop, depth, width, ties)

    map_row_ranges(select, len(rows), n_threads, smallest=8)
    failed = np.flatnonzero(found.lengths < 0)
    if len(failed) == 0:
        return found
    width = max(4 * room, width - int(found.lengths.min()))
    deep = _sort_deep(rows[failed], width, depth, n_candidates, n_threads, ties)
    return found.replaced(failed, deep)


def _sort_deep(
    rows: Array, width: int, depth: int, n_candidates: int, n_threads: int, ties: Ties
) -> SortedRows:
    """The same where many are wanted or tie groups are large; `width` are sorted at first."""
    while True:
        # Where most are wanted, selecting before sorting is no help.
        width = n_candidates if 2 * width > n_candidates else width
        complete = width == n_candidates
        found = _sort_nearest(rows, width, complete, depth, n_threads, ties)
        if found.lengths.min(initial=0) >= 0:
            return found
        # A tie group goes on beyond what was sorted.
        width *= 4


def _sort_nearest(
    rows: Array, width: int, complete: bool, depth: int, n_threads: int, ties: Ties
) -> SortedRows:
    """The `width` nearest of each row, who may be `complete`; length -1 where a tie may go on.

    Keys are sorted as integers that carry their column in their last bits: sorting values is
    several times faster than sorting places. Keys that differ in those bits only are put in order
    afterwards.
    """
    found = SortedRows.of(np.empty((len(rows), width), dtype=np.int32))
    bits = (rows.shape[1] - 1).bit_length()

    def sort(start: int, stop: int) -> None:
        packed = _nearest_words(rows[start:stop].view(np.int64), bits, width, complete)
        words = Words(packed, bits, complete)
        finish_packed_rows(rows, words, found, start, stop, depth, ties)

    map_row_ranges(sort, len(rows), n_threads, smallest=8)
    return found


def _nearest_words(
    words: NDArray[np.int64], bits: int, width: int, complete: bool
) -> NDArray[np.int64]:
    """The `width` smallest words of each row, sorted, with the column in their last `bits`."""
    n_columns = words.shape[1]
    if complete and n_columns >= SHORTEST_ROW:
        packed = np.empty_like(words)
        done = np.empty(len(words), dtype=bool)
        sort_words(words, bits, packed, done)
        for row in np.flatnonzero(~done):
            packed[row].sort()
        return packed[:, :width]
    packed = (words >> bits << bits) | np.arange(n_columns)
    if width < n_columns:
        packed.partition(width, axis=1)
        packed = packed[:, :width]
    packed.sort(axis=1)
    return packed
