"""Compiled loops over pairs for votes of two classes; formulas in `race`."""

import numpy as np
from numba import njit

from allsplits.exact.pairs._kernels_nearest import NOWHERE, mark_row
from allsplits.exact.pairs.kernel_types import Cell, Needs, RaceWork


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


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _ways(cell, need, choose, ways):
    """ways[d] = number of ways to draw d of the samples of one class, as both rows need them.

    Returns the largest d, -1 if there is no way.
    """
    top = -1
    least, most = need.least - cell.fixed_one, need.most - cell.fixed_one
    other_least = need.other_least - cell.fixed_other
    other_most = need.other_most - cell.fixed_other
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
def _needs(lists, race, i, j, c):
    """Voters of class c that rows i and j need before they are decided.

    The row's own class has all but the deciding voter, the other class too few to win.
    """
    wins = lists.labels[lists.owners[i]] == c
    other_wins = lists.labels[lists.owners[j]] == c
    most = race.wanted[i] - 1 if wins else race.lost[i] - 1
    other_most = race.wanted[j] - 1 if other_wins else race.lost[j] - 1
    return Needs(most if wins else 0, most, other_most if other_wins else 0, other_most)


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _decided(race, kind, zero, one, zero_needs, one_needs, ways):
    """P(both rows are won at their deciding samples), from the cells of the two classes."""
    top = _ways(zero, zero_needs, race.choose, ways[0])
    if top < 0:
        return 0.0
    top_1 = _ways(one, one_needs, race.choose, ways[1])
    t0 = zero.one + zero.other + zero.both + zero.deciding
    t1 = one.one + one.other + one.both + one.deciding
    if race.by_class:
        chance = chance_1 = 0.0
        for d in range(top + 1):
            chance += ways[0, d] * race.chances[kind, 0, t0, zero.deciding + d]
        for d in range(top_1 + 1):
            chance_1 += ways[1, d] * race.chances[kind, 1, t1, one.deciding + d]
        return chance * chance_1
    total, deciding = 0.0, zero.deciding + one.deciding
    for d in range(top + 1):
        some = 0.0
        for d1 in range(top_1 + 1):
            some += ways[1, d1] * race.chances[kind, 0, t0 + t1, deciding + d + d1]
        total += ways[0, d] * some
    return total


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


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _cell(c, met, seen, both, at_u, at_v, met_in):
    """The samples of class c: `met` in one prefix, `seen` in the other, `both` in both.

    at_u and at_v are the classes of the deciding samples. met_in tells whether v is in the prefix
    of the first row, u in that of the second, and whether u and v are the same.
    """
    v_votes = int(met_in[0] and at_v == c)
    u_votes = int(met_in[1] and at_u == c)
    deciding = int(at_u == c) + int(at_v == c and not met_in[2])
    return Cell(met - both - v_votes, seen - both - u_votes, both, v_votes, u_votes, deciding)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _along_row(lists, race, work, i, j, s, low, seen):
    """Σ over deciding ranks r ≥ low of row i, for the deciding rank s of row j, of the excess.

    `seen` has the first s - 1 of row j by class, then the same without the sample of row i.
    """
    owner, other_owner = lists.owners[i], lists.owners[j]
    own, other_own = lists.labels[owner], lists.labels[other_owner]
    kind = 2 * own + other_own
    near_kind = 4 + own if owner == other_owner else kind
    zero_needs, one_needs = _needs(lists, race, i, j, 0), _needs(lists, race, i, j, 1)
    v = lists.neighbors[lists.indptr[j] + s - 1]
    met_0 = met_1 = both_0 = both_1 = gone_0 = gone_1 = 0
    total, first, apart = 0.0, lists.indptr[i], (False, False, False)
    for r in range(1, lists.indptr[i + 1] - first + 1):
        u = lists.neighbors[first + r - 1]
        label, shared = lists.labels[u], work.places[r] < s
        if r >= low and label == own and (met_1 if own else met_0) >= race.wanted[i] - 1:
            zero = _cell(0, met_0, seen[0], 0, own, other_own, apart)
            one = _cell(1, met_1, seen[1], 0, own, other_own, apart)
            far = _decided(race, kind, zero, one, zero_needs, one_needs, work.ways)
            total -= race.weights[kind] * far
            if u != other_owner and v != owner:
                met_in = (work.ranks[v] < r, shared, u == v)
                zero = _cell(0, met_0 - gone_0, seen[2], both_0, own, other_own, met_in)
                one = _cell(1, met_1 - gone_1, seen[3], both_1, own, other_own, met_in)
                near = _decided(race, near_kind, zero, one, zero_needs, one_needs, work.ways)
                total += race.weights[near_kind] * near
        if label:
            met_1 += 1
            gone_1 += u == other_owner
            both_1 += shared
        else:
            met_0 += 1
            gone_0 += u == other_owner
            both_0 += shared
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _excess(lists, race, work, i, j):
    """What rows i and j add beyond what they would if they shared nobody."""
    length = lists.indptr[i + 1] - lists.indptr[i]
    ranks = work.ranks
    work.places[: length + 1] = NOWHERE
    if not _find_shared(lists, j, ranks, work.places):
        return 0.0
    own = lists.labels[lists.owners[j]]
    seen_0 = seen_1 = left_0 = left_1 = 0
    low, total, first = ranks[lists.owners[j]], 0.0, lists.indptr[j]
    for s in range(1, lists.indptr[j + 1] - first + 1):
        v = lists.neighbors[first + s - 1]
        label = lists.labels[v]
        # From the first shared rank on, prefixes share somebody.
        low = min(low, ranks[v])
        enough = (seen_1 if own else seen_0) >= race.wanted[j] - 1
        if low <= length and label == own and enough:
            seen = (seen_0, seen_1, left_0, left_1)
            total += _along_row(lists, race, work, i, j, s, low, seen)
        if label:
            seen_1 += 1
            left_1 += v != lists.owners[i]
        else:
            seen_0 += 1
            left_0 += v != lists.owners[i]
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def sum_excess(lists, race, start, stop, out):
    """out[i] = what row i with itself and with the next half of all rows, in a circle, adds."""
    n = len(lists.owners)
    work = RaceWork(
        np.full(len(lists.pools), NOWHERE),
        np.empty(len(lists.pools) + 1, dtype=np.int64),
        np.empty((2, race.chances.shape[-1])),
    )
    for i in range(start, stop):
        mark_row(lists, i, work.ranks, False)
        total = 0.0
        for step in range(n // 2 + 1):
            # In an even circle the row opposite is met once.
            if step > 0 and 2 * step == n and 2 * i >= n:
                break
            j = (i + step) % n
            times = 1.0 if step == 0 else 2.0
            total += times * lists.shares[j] * _excess(lists, race, work, i, j)
        out[i] = lists.shares[i] * total
        mark_row(lists, i, work.ranks, True)
