"""Compiled loops over pairs for votes of two classes; formulas in `race`."""

import numpy as np
from numba import njit

from allsplits.exact.pairs._kernels_nearest import NOWHERE, mark_row
from allsplits.exact.pairs.kernel_types import Cell


@njit(nogil=True, cache=True, error_model="numpy")
def tally_rows(lists, race, out):
    """Add up in how many ways rows are decided.

    out[class, t0, d0, t1, d1]: t0 samples of class 0 and t1 of class 1 up to the deciding one, d0
    and d1 of them in training.
    """
    for i in range(len(lists.owners)):
        own = lists.labels[lists.owners[i]]
        met = np.zeros(2, dtype=np.int64)
        drawn = np.zeros(2, dtype=np.int64)
        drawn[own] = race.wanted[i]
        for e in range(lists.indptr[i], lists.indptr[i + 1]):
            label = lists.labels[lists.neighbors[e]]
            met[label] += 1
            if label != own or met[own] < race.wanted[i]:
                continue
            ways = lists.shares[i] * race.choose[met[own] - 1, race.wanted[i] - 1]
            for b in range(min(race.lost[i] - 1, met[1 - own]) + 1):
                drawn[1 - own] = b
                more = ways * race.choose[met[1 - own], b]
                out[own, met[0], drawn[0], met[1], drawn[1]] += more


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _ways(cell, least, most, other_least, other_most, choose, ways):
    """ways[d] = number of ways to draw d of the samples of one class, as both rows need them.

    From `least` to `most` vote in the first row, likewise in the second; returns the largest d.
    """
    top = -1
    least, most = least - cell.fixed_one, most - cell.fixed_one
    other_least, other_most = other_least - cell.fixed_other, other_most - cell.fixed_other
    for e in range(min(cell.both, most, other_most) + 1):
        p_most, q_most = min(cell.one, most - e), min(cell.other, other_most - e)
        p_least, q_least = max(0, least - e), max(0, other_least - e)
        if p_least > p_most or q_least > q_most:
            continue
        while top < e + p_most + q_most:
            top += 1
            ways[top] = 0.0
        for p in range(p_least, p_most + 1):
            some = choose[cell.both, e] * choose[cell.one, p]
            for q in range(q_least, q_most + 1):
                ways[e + p + q] += some * choose[cell.other, q]
    return top


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _decided(race, kind, i, j, owns, zero, one, ways):
    """P(row i is won with one deciding sample, row j with another), from the cells of classes."""
    tops = np.empty(2, dtype=np.int64)
    for c in range(2):
        # The row's own class has all but the deciding voter, the other too few to win.
        cell = zero if c == 0 else one
        wins, other_wins = owns[0] == c, owns[1] == c
        most = race.wanted[i] - 1 if wins else race.lost[i] - 1
        other_most = race.wanted[j] - 1 if other_wins else race.lost[j] - 1
        least = most if wins else 0
        other_least = other_most if other_wins else 0
        tops[c] = _ways(cell, least, most, other_least, other_most, race.choose, ways[c])
        if tops[c] < 0:
            return 0.0
    t0 = zero.one + zero.other + zero.both + zero.deciding
    t1 = one.one + one.other + one.both + one.deciding
    if race.by_class:
        chance = chance_1 = 0.0
        for d in range(tops[0] + 1):
            chance += ways[0, d] * race.chances[kind, 0, t0, zero.deciding + d]
        for d in range(tops[1] + 1):
            chance_1 += ways[1, d] * race.chances[kind, 1, t1, one.deciding + d]
        return chance * chance_1
    total, deciding = 0.0, zero.deciding + one.deciding
    for d in range(tops[0] + 1):
        for d1 in range(tops[1] + 1):
            chance = race.chances[kind, 0, t0 + t1, deciding + d + d1]
            total += ways[0, d] * ways[1, d1] * chance
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _apart(race, kind, i, j, owns, met, other_met, ways):
    """The same if the two rows shared nobody: what the tally has counted."""
    a, b = owns[0], owns[1]
    zero = Cell(met[0], other_met[0], 0, 0, 0, int(a == 0) + int(b == 0))
    one = Cell(met[1], other_met[1], 0, 0, 0, int(a == 1) + int(b == 1))
    return _decided(race, kind, i, j, owns, zero, one, ways)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _find_shared(lists, j, ranks, places):
    """places[r] = rank in row j of what is r-th in row i; returns whether the rows share anybody.

    Both samples themselves have rank 0.
    """
    shares = ranks[lists.owners[j]] < NOWHERE
    first = lists.indptr[j]
    for e in range(first, lists.indptr[j + 1]):
        rank = ranks[lists.neighbors[e]]
        if rank < NOWHERE:
            places[rank] = e - first + 1
            shares = True
    return shares


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _along_row(lists, race, i, j, s, low, ranks, places, seen, ways):
    """Σ over deciding ranks r ≥ low of row i, for the deciding rank s of row j, of the excess.

    seen[0] counts the first s - 1 of row j by class, seen[1] the same without the sample of i.
    """
    owner, other_owner = lists.owners[i], lists.owners[j]
    owns = (lists.labels[owner], lists.labels[other_owner])
    kind = 2 * owns[0] + owns[1]
    near_kind = 4 + owns[0] if owner == other_owner else kind
    v = lists.neighbors[lists.indptr[j] + s - 1]
    met = np.zeros(2, dtype=np.int64)
    both = np.zeros(2, dtype=np.int64)
    gone = np.zeros(2, dtype=np.int64)
    total, first = 0.0, lists.indptr[i]
    for r in range(1, lists.indptr[i + 1] - first + 1):
        u = lists.neighbors[first + r - 1]
        label = lists.labels[u]
        if r >= low and label == owns[0] and met[label] >= race.wanted[i] - 1:
            total -= race.weights[kind] * _apart(race, kind, i, j, owns, met, seen[0], ways)
            if u != other_owner and v != owner:
                fixed_one = ranks[v] < r
                fixed_other = places[r] < s
                new = 0 if u == v else 1
                at_u, at_v = label, lists.labels[v]
                zero = Cell(
                    met[0] - gone[0] - both[0] - (fixed_one and at_v == 0),
                    seen[1, 0] - both[0] - (fixed_other and at_u == 0),
                    both[0],
                    int(fixed_one and at_v == 0),
                    int(fixed_other and at_u == 0),
                    int(at_u == 0) + new * int(at_v == 0),
                )
                one = Cell(
                    met[1] - gone[1] - both[1] - (fixed_one and at_v == 1),
                    seen[1, 1] - both[1] - (fixed_other and at_u == 1),
                    both[1],
                    int(fixed_one and at_v == 1),
                    int(fixed_other and at_u == 1),
                    int(at_u == 1) + new * int(at_v == 1),
                )
                found = _decided(race, near_kind, i, j, owns, zero, one, ways)
                total += race.weights[near_kind] * found
        met[label] += 1
        if u == other_owner:
            gone[label] += 1
        if places[r] < s:
            both[label] += 1
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _excess(lists, race, i, j, ranks, places, ways):
    """What rows i and j add beyond what they would if they shared nobody; ranks holds row i."""
    length = lists.indptr[i + 1] - lists.indptr[i]
    places[: length + 1] = NOWHERE
    if not _find_shared(lists, j, ranks, places):
        return 0.0
    own = lists.labels[lists.owners[j]]
    seen = np.zeros((2, 2), dtype=np.int64)
    low, total, first = ranks[lists.owners[j]], 0.0, lists.indptr[j]
    for s in range(1, lists.indptr[j + 1] - first + 1):
        v = lists.neighbors[first + s - 1]
        label = lists.labels[v]
        # From the first shared rank on, prefixes share somebody.
        low = min(low, ranks[v])
        if low <= length and label == own and seen[0, own] >= race.wanted[j] - 1:
            total += _along_row(lists, race, i, j, s, low, ranks, places, seen, ways)
        seen[0, label] += 1
        if v != lists.owners[i]:
            seen[1, label] += 1
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def sum_excess(lists, race, start, stop, out):
    """out[i] = what row i with itself and with the next half of all rows, in a circle, adds."""
    n = len(lists.owners)
    ranks = np.full(len(lists.pools), NOWHERE)
    places = np.empty(len(lists.pools) + 1, dtype=np.int64)
    ways = np.empty((2, race.chances.shape[-1]))
    for i in range(start, stop):
        mark_row(lists, i, ranks, False)
        total = 0.0
        for step in range(n // 2 + 1):
            # In an even circle the row opposite is met once.
            if step > 0 and 2 * step == n and 2 * i >= n:
                break
            j = (i + step) % n
            times = 1.0 if step == 0 else 2.0
            total += times * lists.shares[j] * _excess(lists, race, i, j, ranks, places, ways)
        out[i] = lists.shares[i] * total
        mark_row(lists, i, ranks, True)
