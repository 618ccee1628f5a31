"""Compiled losses of the own class in small tie groups, counted by the items that are taken.

Let the group have g items, and let t of them come before the vote of k ends: t' of the own class
and i of the rivals' g_r, any of them in any order. The own class has v votes, and nobody beats it

    Σ_t' C(γ, t') T[n + t', v] · [z^(k-v)] S_i(z) · m_{s+t} / (T[s+t, k] C(g, t)),    t = t' + i,

times. Rivals that may have more than v votes are *capped*, F_d(z) = Σ_b T[n_d, b] z^b up to the
most that do not beat v; nothing caps the votes of the others, with n items before the group and f
in it. These come first, and the capped join one by one:

    S_i(z) = C(f, i) T[n + i](z);    S_i ← Σ_h C(γ_d, h) F_d[n_d + h](z) · S_{i-h}(z).

Of most groups one rival is capped, or two: a handful of products of short polynomials. All ways of
the rivals less these are what beats v votes.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import comb

from allsplits.exact._kernels_eight import (
    LANES,
    eight_times,
    is_short,
    largest,
    load,
    load_from,
    plus,
    spread_from,
    store,
    times,
)
from allsplits.exact.kernel_types import aligned_space

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Items of the largest group that is counted so, and numbers of the largest scratch.
MOST_ITEMS, MOST_NUMBERS = 24, 2**20


class Reaching(NamedTuple):
    """Rivals that may beat the own class, those that may with the most votes first.

    Attributes
    ----------
    items, tied : array of shape (classes,)
        Their items before the group, and in it.
    reach : array of shape (classes,)
        The most own votes that they may beat.
    wins_ties : array of shape (classes,)
        1 if they win ties, so that as many votes as the own class has beat it.
    """

    items: Integers
    tied: Integers
    reach: Integers
    wins_ties: Integers


class Capped(NamedTuple):
    """Rivals that may beat v own votes.

    Their items before the group and in it, and the most votes with which they do not beat them.
    """

    items: Integers
    tied: Integers
    caps: Integers


class Listed(NamedTuple):
    """Scratch of a small tie group.

    Attributes
    ----------
    space : array
        Lines of polynomials, with as many zeros before each as it is long: T[n, ·] for each n, then
        S_i, and the next S_i.
    width : int
        The length of a line.
    first : int
        The number of the first line after those of T.
    reaching : Reaching
    capped : Capped
    scales : array of shape (items + 1,)
        What the lines of S_i are to be multiplied by.
    ways : array of shape (items + 1, items + 1)
        Binomial coefficients.
    most_items : int
        Items of the largest group that is counted so; 0 if several columns have the same k, or
        the lines are too long.
    first_k : int
        The number of voters of the first lane, one more from lane to lane.
    weights : array of shape (depth + 1, lanes)
        m_j / T[j, k], and zero in lanes that are not asked for.
    shares, chances : array of shape (items + 1, lanes)
        What the prefixes that end in the group count, m_j / (T[j, k] C(g, t)), for each t; the same
        for r items of rivals and v votes of the own class.
    own : array of shape (items + 1,)
        How likely the own class has v votes after t items of the group.
    every, held, added : array of shape (lanes,)
        Of all votes in which the own class has v votes, of those in which nobody beats it, and of
        those that were lost so far.
    """

    space: Floats
    width: int
    first: int
    reaching: Reaching
    capped: Capped
    scales: Floats
    ways: Floats
    most_items: int
    first_k: int
    weights: Floats
    shares: Floats
    chances: Floats
    own: Floats
    every: Floats
    held: Floats
    added: Floats


class Group(NamedTuple):
    """A tie group.

    Attributes
    ----------
    n_own, g_own, rest, g_rest : int
        Items of the own class before it and in it, and of rivals.
    ahead, g_ahead : int
        Those of rivals that win ties.
    last : int
        How many of its items come before the last prefix that ends in it.
    n_reaching, v_open : int
        How many rivals may beat the own class, and the most own votes that one of them may.
    """

    n_own: int
    g_own: int
    rest: int
    g_rest: int
    ahead: int
    g_ahead: int
    last: int
    n_reaching: int
    v_open: int


class Caps(NamedTuple):
    """What v own votes mean for the rivals.

    Attributes
    ----------
    n_capped : int
        How many are capped.
    free, g_free : int
        Items of the free ones before the group and in it.
    doubt : float
        How unlikely it is that nobody beats v votes (a log).
    """

    n_capped: int
    free: int
    g_free: int
    doubt: float


def new_listed(n_classes: int, table: Floats, weights: Floats, ks: Integers) -> Listed:
    """Scratch for votes with these binomial weights T, and weights of prefixes and columns."""
    n_rows, size = table.shape
    width = -(-size // LANES) * LANES
    n_lines = n_rows + 2 * (MOST_ITEMS + 1)
    n_lanes = -(-int(np.ptp(ks) + 1) // LANES) * LANES
    fits = max(2 * n_lines * width, n_rows * n_lanes) <= MOST_NUMBERS
    most_items = MOST_ITEMS if fits and len(np.unique(ks)) == len(ks) else 0
    if most_items == 0:
        n_lines = n_lanes = 0
    # The largest k comes last; lanes that no column asks for stay empty.
    first_k = int(ks.max()) + 1 - n_lanes
    lines, lanes = aligned_space(n_lines, 2, width), aligned_space(n_rows, n_lanes)
    lines[:], lanes[:] = 0.0, 0.0
    if most_items > 0:
        lines[:n_rows, 1, :size] = table
        lanes[:, ks - first_k] = weights
    n = np.arange(MOST_ITEMS + 1)
    shares, chances = (aligned_space(MOST_ITEMS + 1, n_lanes) for _ in range(2))
    every, held, added = (aligned_space(n_lanes) for _ in range(3))
    return Listed(
        lines.reshape(-1), width, n_rows, Reaching(*np.zeros((4, n_classes), np.int64)),
        Capped(*np.zeros((3, n_classes + 1), np.int64)), np.zeros(MOST_ITEMS + 1),
        comb(n[:, None], n), most_items, first_k, lanes, shares, chances,
        np.zeros(MOST_ITEMS + 1), every, held, added,
    )  # fmt: skip


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _line(number, listed):
    """Where a line begins."""
    return (2 * number + 1) * listed.width


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def find_reaching(place, g_own, least, front, losing, met, reaching):
    """The group, and the rivals that may beat `least` own votes or more, sorted.

    `place` is how many items are before it, and how many it has.
    """
    s, g = place
    items, tied, reach, wins_ties = reaching
    n_reaching, v_open, g_ahead = np.int64(0), np.int64(0), np.int64(0)
    for p in range(front.n_rivals):
        d = met.present[p]
        n, gamma = met.prefix[d], met.group[d]
        wins = np.int64(d < front.own and not losing.share)
        most = n + gamma - (d > front.own and not losing.share)
        g_ahead += gamma * wins
        v_open = max(v_open, most)
        # With one vote those that win ties count together: none of them may have a vote.
        if most < max(least, 1 + wins):
            continue
        e = n_reaching
        while e > 0 and reach[e - 1] < most:
            items[e], tied[e] = items[e - 1], tied[e - 1]
            reach[e], wins_ties[e] = reach[e - 1], wins_ties[e - 1]
            e -= 1
        items[e], tied[e], reach[e], wins_ties[e] = n, gamma, most, wins
        n_reaching += 1
    last = min(g - 1, len(losing.table) - 1 - s)
    return Group(
        front.n_own, g_own, front.rest, g - g_own, front.ahead, g_ahead, last, n_reaching, v_open
    )  # fmt: skip


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def cap_rivals(v, group, losing, listed):
    """Fill listed.capped for v own votes."""
    reaching, doubts, share = listed.reaching, losing.doubts, losing.share
    items, tied, caps = listed.capped
    n_reaching, n_capped = np.int64(0), np.int64(0)
    free, g_free, doubt = group.rest, group.g_rest, doubts[group.n_own, v]
    if v == 1 and not share and group.ahead + group.g_ahead > 0:
        items[0], tied[0], caps[0] = group.ahead, group.g_ahead, 0
        n_capped = np.int64(1)
    while n_reaching < group.n_reaching and reaching.reach[n_reaching] >= v:
        wins = reaching.wins_ties[n_reaching]
        if v - wins > 0:
            items[n_capped], tied[n_capped] = reaching.items[n_reaching], reaching.tied[n_reaching]
            caps[n_capped] = v - wins
            n_capped += 1
        n_reaching += 1
    for d in range(n_capped):
        free, g_free, doubt = free - items[d], g_free - tied[d], doubt + doubts[items[d], caps[d]]
    return Caps(n_capped, free, g_free, doubt)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def share_out(s, g, group, listed):
    """Fill listed.shares for the group of g items that follows s; no vote of it was lost yet."""
    n_eights = listed.weights.shape[1] // LANES
    for x in range(n_eights):
        is_short()
        store(listed.added, x, eight_times(0.0))
    for t in range(g + 1):
        inside = 0 < t <= group.last
        j = s + t if inside else 0
        scale = eight_times(1.0 / listed.ways[g, t] if inside else 0.0)
        for x in range(n_eights):
            is_short()
            share = times(scale, load(listed.weights, j * n_eights + x))
            store(listed.shares, t * n_eights + x, share)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def weigh_votes(v, first_eight, group, losing, listed):
    """Fill listed.chances for v own votes, and listed.every; returns the largest of these."""
    own, space, n_eights = listed.own, listed.space, len(listed.every) // LANES
    t_low, t_high = max(0, v - group.n_own), min(group.g_own, group.last)
    for t in range(t_low, t_high + 1):
        is_short()
        own[t] = listed.ways[group.g_own, t] * losing.table[group.n_own + t, v]
    most = 0.0
    for x in range(first_eight, n_eights):
        every, place = eight_times(0.0), listed.first_k - v + x * LANES
        for r in range(min(group.g_rest, group.last) + 1):
            chance = eight_times(0.0)
            for t in range(t_low, t_high + 1):
                is_short()
                share = load(listed.shares, (r + t) * n_eights + x)
                chance = plus(chance, times(spread_from(own, t), share))
            store(listed.chances, r * n_eights + x, chance)
            others = load_from(space, _line(group.rest + r, listed) + place)
            ways = spread_from(listed.ways, group.g_rest * (MOST_ITEMS + 1) + r)
            every = plus(every, times(chance, times(ways, others)))
        store(listed.every, x, every)
        most = max(most, largest(every))
    return most


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _with_rival(i, place, sums, most, d, worth, last, listed):
    """Eight numbers of Σ_h C(γ, h) F[n + h] S_(i-h), from `place` on, for the rival d.

    The sums are times their scales; the last term of F is worth that.
    """
    space, n, gamma = listed.space, listed.capped.items[d], listed.capped.tied[d]
    total, cap = eight_times(0.0), listed.capped.caps[d]
    for h in range(max(0, i - most), min(i, gamma, last) + 1):
        row, line = _line(n + h, listed), _line(sums + i - h, listed) + place
        part = times(spread_from(space, row + cap), load_from(space, line - cap))
        part = times(part, eight_times(worth))
        for b in range(cap):
            is_short()
            part = plus(part, times(spread_from(space, row + b), load_from(space, line - b)))
        scale = times(
            spread_from(listed.ways, gamma * (MOST_ITEMS + 1) + h),
            spread_from(listed.scales, i - h),
        )
        total = plus(total, times(scale, part))
    return total


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def count_held(v, y, n_votes, first_eight, caps, group, losing, listed):
    """Fill listed.held: votes in which nobody beats v own votes; ties are worth y if shared.

    Rivals have n_votes at most.
    """
    space, scales, last = listed.space, listed.scales, group.last
    sums, target, most = caps.free, listed.first, min(caps.g_free, last)
    worth, n_lanes, tied = y if losing.share else 1.0, len(listed.held) // LANES, listed.capped.tied
    for i in range(most + 1):
        is_short()
        scales[i] = listed.ways[caps.g_free, i]
    for d in range(caps.n_capped - 1):
        new_most = min(most + tied[d], last)
        for i in range(new_most + 1):
            line = _line(target + i, listed)
            for x in range(0, n_votes + 1, LANES):
                is_short()
                total = _with_rival(i, x, sums, most, d, worth, last, listed)
                store(space, (line + x) // LANES, total)
        for i in range(new_most + 1):
            is_short()
            scales[i] = 1.0
        sums, most = target, new_most
        target = 2 * listed.first + MOST_ITEMS + 1 - target
    d = caps.n_capped - 1
    most_taken = min(most + tied[d], last)
    for x in range(first_eight, n_lanes):
        held, place = eight_times(0.0), listed.first_k - v + x * LANES
        for i in range(most_taken + 1):
            is_short()
            chance = load(listed.chances, i * n_lanes + x)
            total = _with_rival(i, place, sums, most, d, worth, last, listed)
            held = plus(held, times(chance, total))
        store(listed.held, x, held)
