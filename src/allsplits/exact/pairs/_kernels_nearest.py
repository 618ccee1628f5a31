"""Compiled loops over pairs for the nearest neighbour; formulas in `nearest`."""

import numpy as np
from numba import njit

from allsplits.exact.pairs.kernel_types import PairWork

#: The rank of a sample that is not in a row.
NOWHERE = 1 << 40


@njit(nogil=True, cache=True, error_model="numpy")
def count_changes(lists, out):
    """out[i + 1] = how many changes row i has."""
    for i in range(len(out) - 1):
        own = lists.labels[lists.owners[i]]
        before, number = False, 0
        for e in range(lists.indptr[i], lists.indptr[i + 1]):
            right = lists.labels[lists.neighbors[e]] == own
            if right != before:
                number += 1
            before = right
        out[i + 1] = number


@njit(nogil=True, cache=True, error_model="numpy")
def fill_changes(lists, changes):
    """Lengths, steps and counts of the changes of all rows."""
    counts = np.zeros(changes.counts.shape[1], dtype=np.int64)
    for i in range(len(changes.indptr) - 1):
        owner = lists.owners[i]
        counts[:] = 0
        counts[lists.pools[owner]] = 1
        before, place = False, changes.indptr[i]
        first = lists.indptr[i]
        for e in range(first, lists.indptr[i + 1]):
            item = lists.neighbors[e]
            right = lists.labels[item] == lists.labels[owner]
            if right != before:
                changes.lengths[place] = e - first
                changes.steps[place] = 1.0 if right else -1.0
                changes.counts[place] = counts
                place += 1
            before = right
            counts[lists.pools[item]] += 1


@njit(nogil=True, cache=True, error_model="numpy")
def held_out_and_right(changes, split, out):
    """out[draw, i] = P(the sample of row i is held out, and right)."""
    n_pools = changes.counts.shape[1]
    for draw in range(len(split.times)):
        for i in range(len(changes.indptr) - 1):
            total = 0.0
            for x in range(changes.indptr[i], changes.indptr[i + 1]):
                chance = changes.steps[x]
                for c in range(n_pools):
                    chance *= split.held_out[c, changes.counts[x, c], draw]
                total += chance
            out[draw, i] = total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def mark_row(lists, i, ranks, erase):
    """Write down where each sample stands in row i, itself at rank 0; or forget it."""
    first = lists.indptr[i]
    ranks[lists.owners[i]] = NOWHERE if erase else 0
    for e in range(first, lists.indptr[i + 1]):
        ranks[lists.neighbors[e]] = NOWHERE if erase else e - first + 1


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _work(lists, changes, n_pools, n_kinds):
    """Work space for the pairs of a row."""
    most = np.max(np.diff(changes.indptr))
    return PairWork(
        np.full(len(lists.pools), NOWHERE),
        np.zeros((most, n_pools + 1), dtype=np.int64),
        np.empty(n_pools, dtype=np.int64),
        np.empty(n_kinds),
        np.empty(n_kinds),
    )


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _active_pools(changes, i, j, active):
    """The pools that either row meets; returns how many."""
    number = 0
    last_i, last_j = changes.indptr[i + 1] - 1, changes.indptr[j + 1] - 1
    for c in range(len(active)):
        if changes.counts[last_i, c] + changes.counts[last_j, c] > 0:
            active[number] = c
            number += 1
    return number


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _weigh(lists, split, folds, i, j, kinds):
    """What rows i and j count in each kind of pair: within splits, then in two folds."""
    owner, other = lists.owners[i], lists.owners[j]
    a, b = lists.pools[owner], lists.pools[other]
    n_draws = len(split.times)
    for draw in range(n_draws):
        kinds[draw] = split.times[draw]
        if owner == other:
            kinds[draw] *= split.alone[draw, a]
        elif a == b:
            kinds[draw] *= split.together[draw, a]
        else:
            kinds[draw] *= split.apart[draw, a] * split.apart[draw, b]
    for pair in range(len(folds.first)):
        kinds[n_draws + pair] = folds.first[pair, a] * folds.second[pair, b]


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _share(lists, changes, work, i, j, y, position):
    """Count who of row j, up to its change y, is in the prefixes of row i, whose ranks are held.

    Returns how far row j has been read; its sample itself is its first entry.
    """
    start, stop, first = changes.indptr[i], changes.indptr[i + 1], lists.indptr[j]
    while position <= changes.lengths[y]:
        item = lists.owners[j] if position == 0 else lists.neighbors[first + position - 1]
        rank = work.ranks[item]
        if rank < NOWHERE:
            for x in range(start, stop):
                if rank <= changes.lengths[x]:
                    work.shared[x - start, lists.pools[item]] += 1
                    work.shared[x - start, work.shared.shape[1] - 1] += 1
        position += 1
    return position


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _joint(changes, split, folds, work, x, y, row, n_active):
    """Σ over kinds of pairs of weight · P(the prefixes at x and y are held out)."""
    n_draws, n_pairs, counts = len(split.times), len(folds.first), changes.counts
    shared, lanes = work.shared, work.lanes
    apart = shared[row, shared.shape[1] - 1] == 0
    n_lanes = n_draws + n_pairs if apart else n_draws
    for lane in range(n_lanes):
        lanes[lane] = work.kinds[lane]
    for place in range(n_active):
        c = work.active[place]
        one, other = counts[x, c], counts[y, c]
        m = one + other - shared[row, c]
        for draw in range(n_draws):
            lanes[draw] *= split.held_out[c, m, draw]
        if apart:
            for pair in range(n_pairs):
                lanes[n_draws + pair] *= folds.apart[c, one, other, pair]
    total = 0.0
    for lane in range(n_lanes):
        total += lanes[lane]
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def sum_pairs(lists, changes, split, folds, start, stop, out):
    """out[i] = what the pairs of row i with the next half of all rows, in a circle, add."""
    n, n_pools = len(changes.indptr) - 1, changes.counts.shape[1]
    work = _work(lists, changes, n_pools, len(split.times) + len(folds.first))
    for i in range(start, stop):
        mark_row(lists, i, work.ranks, False)
        first, last, total = changes.indptr[i], changes.indptr[i + 1], 0.0
        for step in range(1, n // 2 + 1):
            # In an even circle the row opposite is met once.
            if first == last or (2 * step == n and 2 * i >= n):
                break
            j = (i + step) % n
            if changes.indptr[j] == changes.indptr[j + 1]:
                continue
            n_active = _active_pools(changes, i, j, work.active)
            _weigh(lists, split, folds, i, j, work.kinds)
            work.shared[: last - first] = 0
            position, pair = 0, 0.0
            for y in range(changes.indptr[j], changes.indptr[j + 1]):
                position = _share(lists, changes, work, i, j, y, position)
                for x in range(first, last):
                    value = _joint(changes, split, folds, work, x, y, x - first, n_active)
                    pair += changes.steps[x] * changes.steps[y] * value
            total += lists.shares[j] * pair
        out[i] = 2.0 * lists.shares[i] * total
        mark_row(lists, i, work.ranks, True)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _excess(lists, changes, one_pool, work, i, j):
    """What rows i and j add beyond what they would if they shared nobody."""
    first, last = changes.indptr[i], changes.indptr[i + 1]
    same = lists.owners[i] == lists.owners[j]
    work.shared[: last - first] = 0
    position, total = 0, 0.0
    for y in range(changes.indptr[j], changes.indptr[j + 1]):
        position = _share(lists, changes, work, i, j, y, position)
        for x in range(first, last):
            both = work.shared[x - first, 0]
            if both > 0:
                one, other = changes.counts[x, 0], changes.counts[y, 0]
                if same:
                    value = one_pool.alone[one + other - both]
                else:
                    value = one_pool.together[one + other - both]
                value -= one_pool.together[one + other] + one_pool.folds[one, other]
                total += changes.steps[x] * changes.steps[y] * value
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def sum_excess_one_pool(lists, changes, one_pool, start, stop, out):
    """out[i] = what row i with itself and with the next half of all rows adds."""
    n = len(changes.indptr) - 1
    work = _work(lists, changes, 1, 0)
    for i in range(start, stop):
        mark_row(lists, i, work.ranks, False)
        total = 0.0
        for step in range(n // 2 + 1):
            # In an even circle the row opposite is met once.
            if step > 0 and 2 * step == n and 2 * i >= n:
                break
            j = (i + step) % n
            times = 1.0 if step == 0 else 2.0
            excess = _excess(lists, changes, one_pool, work, i, j)
            total += times * lists.shares[j] * excess
        out[i] = lists.shares[i] * total
        mark_row(lists, i, work.ranks, True)
