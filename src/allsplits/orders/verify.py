"""Who is nearest for certain: true distances, sorted rows with their ties, and the proof.

Candidates are sorted by their true distances, and a row is accepted only if whoever is not among
them is certainly farther away; complete rows are sorted as deep as needed. All in threads.
"""

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.orders.kernel_types import Places, SortedRows, Ties
from allsplits.orders.kernels import (
    find_lone_firsts,
    finish_sorted_rows,
    mirror_rows,
    rerank_candidates,
)
from allsplits.orders.kernels_nearest import MOST_RANKED, select_rows
from allsplits.orders.kernels_tiles import TILE, direct_rows

Array = NDArray[np.float64]


def in_tiles(points: Array) -> Array:
    """Points (n, n_features) as (n_tiles, n_features, TILE); zeros fill the last tile."""
    n, n_features = points.shape
    whole = n // TILE
    tiles = np.zeros((-(-n // TILE), n_features, TILE))
    tiles[:whole] = points[: whole * TILE].reshape(whole, TILE, n_features).transpose(0, 2, 1)
    if whole < len(tiles):
        tiles[whole, :, : n - whole * TILE] = points[whole * TILE :].T
    return tiles


def squared_rows(
    queries: Array, tiles: Array, n_points: int, n_threads: int, *, symmetric: bool = False
) -> Array:
    """Squared Euclidean distances by differences to so many points, which stand `in_tiles`.

    `symmetric` says that the queries are the points.
    """
    out = np.empty((len(queries), n_points))
    # Mirroring one half costs as much as a few features.
    upper = symmetric and queries.shape[1] >= 8

    def fill(start: int, stop: int) -> None:
        direct_rows(tiles, queries, start, stop, upper, out)

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
    return _sort_nearest(rows, _sorted_width(depth), depth, n_candidates, n_threads, ties)


def _sort_nearest(
    rows: Array, width: int, depth: int, n_candidates: int, n_threads: int, ties: Ties
) -> SortedRows:
    """The same; about `width` are sorted at first, and more where a tie group goes on beyond."""
    room = min(2 * width, MOST_RANKED) if width <= MOST_RANKED else width
    most = width
    if width >= n_candidates:
        room, most = n_candidates, 0
    found = SortedRows.of(np.empty((len(rows), room), dtype=np.int32))
    words = rows.view(np.int64)

    def select(start: int, stop: int) -> None:
        select_rows(rows, words, found, start, stop, depth, most, ties)

    map_row_ranges(select, len(rows), n_threads, smallest=8)
    failed = np.flatnonzero(found.lengths < 0)
    if len(failed) == 0:
        return found
    width = max(4 * room, width - int(found.lengths.min()))
    deeper = _sort_nearest(rows[failed], width, depth, n_candidates, n_threads, ties)
    return found.replaced(failed, deeper)
