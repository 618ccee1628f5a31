"""Compiled loops over pairs for the nearest neighbour; formulas in `nearest`."""

import numpy as np
from numba import njit

from allsplits.exact.pairs.kernel_types import Changes

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
                    chance *= split.held_out[draw, c, changes.counts[x, c]]
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
def _in_a_split(split, one, other, shared, active, a, b, same):
    """Σ over draws of weight · P(all samples of both prefixes are held out)."""
    total = 0.0
    for draw in range(len(split.times)):
        if same:
            chance = split.times[draw] * split.alone[draw, a]
        elif a == b:
            chance = split.times[draw] * split.together[draw, a]
        else:
            chance = split.times[draw] * split.apart[draw, a] * split.apart[draw, b]
        for c in active:
            chance *= split.held_out[draw, c, one[c] + other[c] - shared[c]]
        total += chance
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _in_two_folds(folds, one, other, active, a, b):
    """Σ over pairs of folds of weight · P(one prefix in the first, the other in the second)."""
    total = 0.0
    for pair in range(len(folds.first)):
        chance = folds.first[pair, a] * folds.second[pair, b]
        for c in active:
            chance *= folds.apart[pair, c, one[c], other[c]]
        total += chance
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _pair(lists, changes, split, folds, ranks, shared, active, i, j):
    """What the rows i and j add to E[S²] if they count 1; ranks holds row i."""
    start, stop = changes.indptr[i], changes.indptr[i + 1]
    if start == stop or changes.indptr[j] == changes.indptr[j + 1]:
        return 0.0
    active = active[: _active_pools(changes, i, j, active)]
    shared[: stop - start] = 0
    total, position, first = 0.0, 0, lists.indptr[j]
    owner, other_owner = lists.owners[i], lists.owners[j]
    a, b, same = lists.pools[owner], lists.pools[other_owner], owner == other_owner
    for y in range(changes.indptr[j], changes.indptr[j + 1]):
        while position <= changes.lengths[y]:
            item = other_owner if position == 0 else lists.neighbors[first + position - 1]
            for x in range(start, stop):
                if ranks[item] <= changes.lengths[x]:
                    shared[x - start, lists.pools[item]] += 1
            position += 1
        for x in range(start, stop):
            one, other, both = changes.counts[x], changes.counts[y], shared[x - start]
            value = _in_a_split(split, one, other, both, active, a, b, same)
            if len(folds.first) > 0 and both.sum() == 0:
                value += _in_two_folds(folds, one, other, active, a, b)
            total += changes.steps[x] * changes.steps[y] * value
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def sum_pairs(lists, changes, split, folds, start, stop, out):
    """out[i] = what the pairs of row i with the next half of all rows, in a circle, add."""
    n = len(changes.indptr) - 1
    ranks = np.full(len(lists.pools), NOWHERE)
    most = np.max(np.diff(changes.indptr))
    shared = np.zeros((most, changes.counts.shape[1]), dtype=np.int64)
    active = np.empty(changes.counts.shape[1], dtype=np.int64)
    for i in range(start, stop):
        mark_row(lists, i, ranks, False)
        total = 0.0
        for step in range(1, n // 2 + 1):
            # In an even circle the row opposite is met once.
            if 2 * step == n and 2 * i >= n:
                break
            j = (i + step) % n
            pair = _pair(lists, changes, split, folds, ranks, shared, active, i, j)
            total += lists.shares[j] * pair
        out[i] = 2.0 * lists.shares[i] * total
        mark_row(lists, i, ranks, True)


def empty_changes(indptr, n_pools):
    """Room for the changes that rows have."""
    n = int(indptr[-1])
    return Changes(indptr, np.empty(n, np.int64), np.empty(n), np.empty((n, n_pools), np.int64))
