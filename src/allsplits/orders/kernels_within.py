"""Compiled loops of the search within limits: who is no farther than its limit is put on a list.

True distances of a tile of points are looked at while they are in the nearest cache, and hardly
more than what is wanted is ever written. Lists are `SortedRows` whose length is how many were
found, also where there is no room for all.
"""

import numpy as np
from numba import njit

from allsplits.orders.kernels import mark_ties, sort_pairs
from allsplits.orders.kernels_nearest import find_limit
from allsplits.orders.kernels_radix import bit_length, make_sorting, sort_words
from allsplits.orders.kernels_tiles import TILE, meet_tile


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def find_limits(words, start, stop, least, most, limits, counts):
    """Of each row a limit that `least` to `most` are within, and how many these are."""
    limit = words[start, words.shape[1] // 2]
    for i in range(start, stop):
        limit, counts[i] = find_limit(words[i], least, most, limit)
        limits[i] = limit


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _append(distances, first, limit, rows, i):
    """Put those within the limit on the list of a row; points are numbered from `first` on."""
    items, keys, before = rows.items[i], rows.keys[i], rows.lengths[i]
    near, same = items[before:], keys[before:]
    if len(distances) <= len(near):
        # Written always and kept sometimes: a branch here would be guessed wrong too often. A place
        # without a sign is not asked whether it is negative.
        place = np.uint64(0)
        for j in range(len(distances)):
            near[place] = j
            place += np.uint64(distances[j] <= limit)
        for e in range(place):
            same[e] = distances[near[e]]
            near[e] += first
        rows.lengths[i] = before + np.int64(place)
        return
    for j in range(len(distances)):
        if distances[j] <= limit:
            if before < len(items):
                items[before] = first + j
                keys[before] = distances[j]
            before += 1
    rows.lengths[i] = before


@njit(nogil=True, cache=True, error_model="numpy")
def list_within(tiles, first, n_points, queries, limits, rows, start, stop):
    """Put points within the limits on the lists: so many in tiles, numbered from `first` on."""
    found = np.empty((2, TILE))
    for t in range(len(tiles)):
        left = t * TILE
        here = found[:, : n_points - left]
        for i in range(start, stop, 2):
            # The last one may be alone.
            other = min(i + 1, stop - 1)
            meet_tile(tiles[t], queries[i], queries[other], found)
            _append(here[0], first + left, limits[i], rows, i)
            if other > i:
                _append(here[1], first + left, limits[other], rows, other)


@njit(nogil=True, cache=True, error_model="numpy")
def sort_lists(words, rows, limits, own, everybody, start, stop, depth, ties):
    """Sort lists whose items ascend; `words` are their keys, seen as integers.

    A row's `own` number is passed over. A list gets a length of -1 if there was no room, or if its
    last tie group may go on beyond the limit, unless that keeps nobody out: then it is `everybody`.
    """
    room = rows.items.shape[1]
    items, keys = np.empty(room, np.int32), np.empty(room)
    sorting = make_sorting(room)
    packed = sorting[0]
    bits = bit_length(np.int64(room - 1))
    mask = (np.int64(1) << bits) - 1
    for i in range(start, stop):
        listed = rows.lengths[i]
        rows.lengths[i] = -1
        if listed > room:
            continue
        count = np.int64(0)
        for e in range(listed):
            packed[count] = words[i, e] & ~mask | e
            count += rows.items[i, e] != own[i]
        sort_words(sorting, count, bits)
        unsorted = 0
        before = 0.0
        for e in range(count):
            place = packed[e] & mask
            key = rows.keys[i, place]
            unsorted += key < before
            before = key
            items[e] = rows.items[i, place]
            keys[e] = key
        if unsorted > 0:
            # Places displace the last bits of keys; equal ones are in the order of their places.
            sort_pairs(keys, items, np.int64(0), count, np.int64(1))
        end = mark_ties(keys, items, rows.tied[i], count, depth, ties)
        if end < count or limits[i] >= everybody:
            for e in range(end):
                rows.items[i, e] = items[e]
                rows.keys[i, e] = keys[e]
            rows.lengths[i] = end
