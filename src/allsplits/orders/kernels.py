"""Compiled loops of the neighbour search: true distances, order within ties, where to stop.

They see arrays only. `keys` are what rows are sorted by: squared distances for Euclidean
geometry, plain distances otherwise; the named state is in `kernel_types`.
"""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def mirror_rows(start, stop, out):
    """out[i, j] = out[j, i] for j < i, tile by tile so that columns are read from the cache."""
    tile = 16
    for first in range(start, stop, tile):
        last = min(first + tile, stop)
        for left in range(0, last, tile):
            for i in range(first, last):
                for j in range(left, min(left + tile, i)):
                    out[i, j] = out[j, i]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def sort_pairs(keys, items, start, stop, gap):
    """Sort by (key, item) in place: Shell's way, from `gap` down to 1.

    A gap of 1 is insertion sort, close to linear where little is out of order; where too much turns
    out to be, larger gaps come first after all.
    """
    size = stop - start
    patience = 16 * size if gap == 1 else np.int64(0)
    while gap > 0:
        insertion = patience > 0
        for i in range(start + gap, stop):
            key = keys[i]
            item = items[i]
            j = i - gap
            while j >= start and (keys[j] > key or (keys[j] == key and items[j] > item)):
                keys[j + gap] = keys[j]
                items[j + gap] = items[j]
                j -= gap
                patience -= 1
            keys[j + gap] = key
            items[j + gap] = item
            if insertion and patience <= 0:
                gap = size
                break
        # Ciura's gaps grow by about this factor, and end with 4 and 1.
        gap = 1 if 1 < gap < 4 else np.int64(gap * 0.444)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def is_tied(before, key, ties):
    """Whether a key counts as equal to the one before it in a sorted row."""
    step = key - before
    if step <= ties.tolerance * key:
        return True
    return ties.floor > 0.0 and step <= ties.floor * (np.sqrt(key) + np.sqrt(before))


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _reach(key, links, ties):
    """How far a chain of near ties that begins with `key` may have come after so many links."""
    grown = np.sqrt(key) + ties.floor * links if ties.floor > 0.0 else 0.0
    return max(key, grown * grown) * (1.0 + 2.0 * ties.tolerance * links)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _any_tie(keys, length, ties):
    """Whether a sorted row has any tie. Without a branch, which makes it a fraction of the work."""
    tolerance, floor = ties.tolerance, ties.floor
    found = 0
    lower, upper = keys[: max(length - 1, 0)], keys[1:]
    for i in range(len(lower)):
        found += upper[i] - lower[i] <= tolerance * upper[i]
    if floor > 0.0:
        for i in range(len(lower)):
            found += upper[i] - lower[i] <= floor * (np.sqrt(upper[i]) + np.sqrt(lower[i]))
    return found > 0


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def mark_ties(keys, items, tied, length, depth, ties):
    """Mark tie groups of a sorted row; return where the group containing rank `depth` ends.

    Members of a group get the group's first key and are put in row order.
    """
    if not _any_tie(keys, length, ties):
        for i in range(length):
            tied[i] = False
        return min(depth, length)
    i = np.int64(0)
    while i < length:
        end = i + 1
        while end < length and is_tied(keys[end - 1], keys[end], ties):
            end += 1
        tied[i] = False
        in_order = True
        for j in range(i + 1, end):
            tied[j] = True
            if items[j] < items[j - 1]:
                in_order = False
            keys[j] = keys[i]
        if not in_order:
            sort_pairs(keys, items, i, end, (end - i + 1) // 2)
        if end >= depth:
            return end
        i = end
    return length


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _distance(x, y):
    """Squared distance, by differences; in the order of `direct_rows`, with the same bits."""
    quads = len(x) - len(x) % 4
    total = 0.0
    for f in range(0, quads, 4):
        a, b, c, d = x[f] - y[f], x[f + 1] - y[f + 1], x[f + 2] - y[f + 2], x[f + 3] - y[f + 3]
        total += (a * a + b * b) + (c * c + d * d)
    for f in range(quads, len(x)):
        a = x[f] - y[f]
        total += a * a
    return total


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _distances(x, points, items, keys):
    """keys[e] = the squared distance of x to the point items[e].

    Four points at a time: memory is waited for once instead of four times.
    """
    quads = len(x) - len(x) % 4
    fours = len(items) - len(items) % 4
    for e in range(0, fours, 4):
        p, q = points[items[e]], points[items[e + 1]]
        r, s = points[items[e + 2]], points[items[e + 3]]
        to_p, to_q, to_r, to_s = 0.0, 0.0, 0.0, 0.0
        for f in range(0, quads, 4):
            x0, x1, x2, x3 = x[f], x[f + 1], x[f + 2], x[f + 3]
            a, b, c, d = x0 - p[f], x1 - p[f + 1], x2 - p[f + 2], x3 - p[f + 3]
            to_p += (a * a + b * b) + (c * c + d * d)
            a, b, c, d = x0 - q[f], x1 - q[f + 1], x2 - q[f + 2], x3 - q[f + 3]
            to_q += (a * a + b * b) + (c * c + d * d)
            a, b, c, d = x0 - r[f], x1 - r[f + 1], x2 - r[f + 2], x3 - r[f + 3]
            to_r += (a * a + b * b) + (c * c + d * d)
            a, b, c, d = x0 - s[f], x1 - s[f + 1], x2 - s[f + 2], x3 - s[f + 3]
            to_s += (a * a + b * b) + (c * c + d * d)
        for f in range(quads, len(x)):
            a, b, c, d = x[f] - p[f], x[f] - q[f], x[f] - r[f], x[f] - s[f]
            to_p += a * a
            to_q += b * b
            to_r += c * c
            to_s += d * d
        keys[e], keys[e + 1], keys[e + 2], keys[e + 3] = to_p, to_q, to_r, to_s
    for e in range(fours, len(items)):
        keys[e] = _distance(x, points[items[e]])


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def rerank_candidates(places, rows, beyond, start, stop, depth, ties):
    """Give candidates their true squared distances, sort, and find where each row may stop.

    The candidates of a row, ended by -1, are the items of `rows`; whoever is not among them is at
    least ``beyond[i]`` away, squared. A row whose last tie group is not safely below that gets
    length -1: it has to be searched in full.
    """
    items, keys = rows.items, rows.keys
    points, queries, first_row = places
    for i in range(start, stop):
        own = first_row + i if first_row >= 0 else -1
        # A plain 0 would have all that it is passed to compiled twice.
        count = np.int64(0)
        for e in range(items.shape[1]):
            j = items[i, e]
            if j < 0:
                break
            items[i, count] = j
            count += j != own
        _distances(queries[i], points, items[i, :count], keys[i])
        sort_pairs(keys[i], items[i], np.int64(0), count, np.int64(1))
        end = mark_ties(keys[i], items[i], rows.tied[i], count, depth, ties)
        everyone = count == len(points) - (own >= 0)
        # A tie group carries its first key; a chain of near ties may end later.
        complete = end >= depth and _reach(keys[i, end - 1], count, ties) < beyond[i]
        rows.lengths[i] = end if everyone or complete else -1


@njit(nogil=True, cache=True, error_model="numpy")
def collect_near(rows, thresholds, start, stop, items, keys):
    """From full rows of keys, gather all that are within the row's threshold; infinity fills up."""
    n = rows.shape[1]
    near = np.empty(n, np.int32)
    for i in range(start, stop):
        count = 0
        # Written always and kept sometimes: a branch here would be guessed wrong too often.
        for j in range(n):
            near[count] = j
            count += rows[i, j] <= thresholds[i]
        for c in range(count):
            items[i, c] = near[c]
            keys[i, c] = rows[i, near[c]]
        for c in range(count, items.shape[1]):
            items[i, c] = -1
            keys[i, c] = np.inf


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def find_lone_firsts(columns, rows, start, stop, ties):
    """Fill in the first item of unsorted `columns`; a length of -1 says that others are tied."""
    n = columns.shape[1]
    for i in range(start, stop):
        row = columns[i]
        least = np.inf
        first = 0
        for j in range(n):
            if row[j] < least:
                least = row[j]
                first = j
        limit = _reach(least, 1, ties)
        n_near = 0
        for j in range(n):
            n_near += row[j] <= limit
        rows.items[i, 0] = first
        rows.keys[i, 0] = least
        rows.tied[i, 0] = False
        rows.lengths[i] = 1 if n_near == 1 else -1


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def finish_sorted_rows(rows, start, stop, depth, ties):
    """Ties and ends of rows that are sorted already; infinite keys are no neighbours."""
    items, keys = rows.items, rows.keys
    for i in range(start, stop):
        n = items.shape[1]
        while n > 0 and keys[i, n - 1] == np.inf:
            n -= 1
        rows.lengths[i] = mark_ties(keys[i], items[i], rows.tied[i], n, depth, ties)
