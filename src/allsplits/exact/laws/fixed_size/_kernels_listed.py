"""Compiled losses of the own class in tie groups that are small enough to be listed.

Let the group have g items, and let t of them come before the vote of k ends: t' of the own class
and r of the rivals' g_r, any of them in any order. The own class has v votes, and nobody beats it

    Σ_t' C(γ, t') T[n + t', v] · [z^(k-v)] H_r(z) · m_{s+t} / (T[s+t, k] C(g, t))

times. Of the rivals those are *listed* that may pass v votes and have items in the group; others
may pass them and have none there, and the rest is free: nothing caps its votes. So

    H_r(z) = Σ_h C(f, r-h) (1 - θ + θz)^(r-h) · S_h(z),
    S_h(z) = T[free] · Π_{not in the group} F_d · Σ_{|h_d| = h} Π_listed C(γ_d, h_d) F_d[n_d + h_d],

with f items of free rivals in the group. Mostly one rival is listed, or none: a handful of products
of short polynomials. All ways of the rivals less these are what beats v votes.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import comb

from allsplits.exact._kernels_eight import (
    LANES,
    eight_times,
    largest,
    load,
    load_from,
    plus,
    store,
    times,
)
from allsplits.exact.kernel_types import aligned_space

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Items of the largest group that is listed, ways to take some of the listed rivals', and rivals.
MOST_ITEMS, MOST_WAYS, MOST_LISTED = 24, 32, 5


class Capped(NamedTuple):
    """Rivals that may beat the own class, those that may with the most votes first.

    Attributes
    ----------
    items, tied : array of shape (classes,)
        Their items before the group, and in it.
    reach : array of shape (classes,)
        The most own votes that they may beat.
    loses_ties : array of shape (classes,)
        1 if ties are lost to them, so that one vote less beats nobody.
    """

    items: Integers
    tied: Integers
    reach: Integers
    loses_ties: Integers


class Listed(NamedTuple):
    """Scratch of a small tie group.

    Attributes
    ----------
    space : array
        Lines of polynomials, with as many zeros before each as it is long: T[n, ·] for each n, then
        products of rivals, S_h, and the next S_h.
    width : int
        The length of a line.
    first : int
        The number of the first line after those of T.
    capped : Capped
    items, tied, caps, taken : array of shape (listed rivals,)
        Items before the group and in it, the most votes that beat nobody, and how many of the group
        are taken.
    ways : array of shape (items + 1, items + 1)
        Binomial coefficients.
    first_k : int
        The number of voters of the first lane, one more from lane to lane; -1 if several columns
        have the same.
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
    capped: Capped
    items: Integers
    tied: Integers
    caps: Integers
    taken: Integers
    ways: Floats
    first_k: int
    weights: Floats
    shares: Floats
    chances: Floats
    own: Floats
    every: Floats
    held: Floats
    added: Floats


class Group(NamedTuple):
    """A tie group: items of the own class before it and in it, of rivals, and of those that win
    ties; how many rivals are in `Capped`, and the most own votes that one of them may beat."""

    n_own: int
    g_own: int
    rest: int
    g_rest: int
    ahead: int
    g_ahead: int
    n_capped: int
    v_open: int


class Choice(NamedTuple):
    """For v own votes: how many rivals are capped, how many of these are listed, items of the free
    ones before the group and in it, and how unlikely it is that nobody beats v votes (a log)."""

    n_capped: int
    n_listed: int
    free: int
    g_free: int
    doubt: float


#: Lines after those of T: two for rivals that are not listed, products of listed ones, S_h, the next.
_OTHERS = 0
_PRODUCTS = _OTHERS + 2
_SUMS = _PRODUCTS + MOST_LISTED
_NEXT_SUMS = _SUMS + MOST_ITEMS + 1
_LINES = _NEXT_SUMS + MOST_ITEMS + 1


def new_listed(n_classes: int, table: Floats, weights: Floats, ks: Integers) -> Listed:
    """Scratch for votes with these binomial weights T, and weights of prefixes and columns."""
    depth, size = table.shape
    width = -(-size // LANES) * LANES
    lines = aligned_space(depth + _LINES + 1, 2, width)
    lines[:] = 0.0
    lines[:depth, 1, :size] = table
    n = np.arange(MOST_ITEMS + 1)
    # Columns that are no range of k leave lanes empty.
    first_k = int(ks.min()) if len(np.unique(ks)) == len(ks) else -1
    n_lanes = -(-int(np.ptp(ks) + 1) // LANES) * LANES
    lanes = aligned_space(len(weights), n_lanes)
    lanes[:] = 0.0
    lanes[:, ks - ks.min()] = weights
    return Listed(
        lines.reshape(-1), width, depth, Capped(*np.zeros((4, n_classes), np.int64)),
        *np.zeros((4, MOST_LISTED), np.int64), comb(n[:, None], n), first_k, lanes,
        *(aligned_space(MOST_ITEMS + 1, n_lanes) for _ in range(2)), np.zeros(MOST_ITEMS + 1),
        *(aligned_space(n_lanes) for _ in range(3)),
    )  # fmt: skip


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _line(number, listed):
    """Where a line begins."""
    return (2 * number + 1) * listed.width


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _multiply(target, source, n_eights, row, n_terms, worth, scale, adds, space):
    """Multiply a line by the first terms of another, the last of them times `worth`.

    It is added to the target, or replaces it.
    """
    factor, last = eight_times(scale), eight_times(worth * space[row + n_terms - 1])
    for x in range(0, n_eights * LANES, LANES):
        total = times(last, load_from(space, source + x - n_terms + 1))
        for b in range(n_terms - 1):
            others = load_from(space, source + x - b)
            total = plus(total, times(eight_times(space[row + b]), others))
        total = times(factor, total)
        if adds:
            total = plus(total, load_from(space, target + x))
        store(space, (target + x) // LANES, total)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def share_out(s, g, listed):
    """Fill listed.shares for the group of g items that follows s; no vote of it was lost yet."""
    depth, n_eights = len(listed.weights) - 1, listed.weights.shape[1] // LANES
    for x in range(n_eights):
        store(listed.added, x, eight_times(0.0))
    for t in range(g + 1):
        j = min(s + t, depth)
        inside = 0 < t < g and s + t <= depth
        scale = eight_times(1.0 / listed.ways[g, t] if inside else 0.0)
        for x in range(n_eights):
            share = times(scale, load(listed.weights, j * n_eights + x))
            store(listed.shares, t * n_eights + x, share)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def weigh_votes(v, group, losing, listed):
    """Fill listed.chances for v own votes, and listed.every; returns the largest of these."""
    ways, own, g_own, g_rest = listed.ways, listed.own, group.g_own, group.g_rest
    n_eights, t_low = len(listed.every) // LANES, max(0, v - group.n_own)
    table, space, deepest = losing.table, listed.space, len(losing.table) - 1
    for t in range(t_low, g_own + 1):
        own[t] = ways[g_own, t] * table[min(group.n_own + t, deepest), v]
    most = 0.0
    for x in range(n_eights):
        every = eight_times(0.0)
        for r in range(g_rest + 1):
            chance = eight_times(0.0)
            for t in range(t_low, g_own + 1):
                share = load(listed.shares, (r + t) * n_eights + x)
                chance = plus(chance, times(eight_times(own[t]), share))
            store(listed.chances, r * n_eights + x, chance)
            line = _line(min(group.rest + r, deepest), listed) + listed.first_k - v
            others = times(eight_times(ways[g_rest, r]), load_from(space, line + x * LANES))
            every = plus(every, times(chance, others))
        store(listed.every, x, every)
        most = max(most, largest(every))
    return most


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def find_capped(g, g_own, least, front, losing, met, capped):
    """The group of g items, and the rivals that may beat `least` own votes or more, sorted."""
    items, tied, reach, loses_ties = capped
    n_capped, v_open, g_ahead = np.int64(0), np.int64(0), np.int64(0)
    for p in range(front.n_rivals):
        d = met.present[p]
        n, gamma = met.prefix[d], met.group[d]
        loses = np.int64(d < front.own and not losing.share)
        most = n + gamma - (d > front.own and not losing.share)
        g_ahead += gamma * loses
        v_open = max(v_open, most)
        # With one vote those that win ties count together: none of them may have a vote.
        if most < max(least, 1 + loses):
            continue
        place = n_capped
        while place > 0 and reach[place - 1] < most:
            items[place], tied[place] = items[place - 1], tied[place - 1]
            reach[place], loses_ties[place] = reach[place - 1], loses_ties[place - 1]
            place -= 1
        items[place], tied[place], reach[place], loses_ties[place] = n, gamma, most, loses
        n_capped += 1
    return Group(
        front.n_own, g_own, front.rest, g - g_own, front.ahead, g_ahead, n_capped, v_open
    )  # fmt: skip


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def list_rivals(v, group, losing, listed):
    """Choose the rivals that are listed for v own votes; their number is -1 if they are too many."""
    capped, doubts = listed.capped, losing.doubts
    n_capped, n_listed, n_ways = np.int64(0), np.int64(0), np.int64(1)
    free, g_free, doubt = group.rest, group.g_rest, doubts[group.n_own, v]
    if v == 1 and not losing.share:
        free, g_free = free - group.ahead, g_free - group.g_ahead
        doubt += doubts[group.ahead, 0]
        if group.g_ahead > 0:
            listed.items[0], listed.tied[0], listed.caps[0] = group.ahead, group.g_ahead, 0
            n_listed, n_ways = np.int64(1), group.g_ahead + 1
    while n_capped < group.n_capped and capped.reach[n_capped] >= v:
        n, gamma = capped.items[n_capped], capped.tied[n_capped]
        cap = v - capped.loses_ties[n_capped]
        n_capped += 1
        if cap == 0:
            continue
        free, g_free, doubt = free - n, g_free - gamma, doubt + doubts[n, cap]
        if gamma > 0:
            n_ways *= gamma + 1
            if n_listed < MOST_LISTED:
                listed.items[n_listed], listed.tied[n_listed] = n, gamma
                listed.caps[n_listed] = cap
            n_listed += 1
    if n_ways > MOST_WAYS or n_listed > MOST_LISTED:
        n_listed = np.int64(-1)
    return Choice(n_capped, n_listed, free, g_free, doubt)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _multiply_others(v, y, n_eights, choice, group, losing, listed):
    """The product of the rivals that are not listed; returns where it is."""
    space, capped, share = listed.space, listed.capped, losing.share
    place = _line(choice.free, listed)
    for d in range(choice.n_capped):
        cap, n = v - capped.loses_ties[d], capped.items[d]
        if capped.tied[d] == 0 and cap > 0:
            target = _line(listed.first + _OTHERS, listed)
            if target == place:
                target = _line(listed.first + _OTHERS + 1, listed)
            worth = y if share and n >= v else 1.0
            row = _line(n, listed)
            _multiply(target, place, n_eights, row, min(cap, n) + 1, worth, 1.0, False, space)
            place = target
    return place


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _list_ways(v, y, silence, source, n_eights, choice, share, listed):
    """Fill the lines S_h; returns the largest h.

    `source` is the product of those that are not listed, to be multiplied by `silence`.
    """
    space, taken, tied, n_listed = listed.space, listed.taken, listed.tied, choice.n_listed
    most, total, level = np.int64(0), np.int64(0), np.int64(0)
    for i in range(n_listed):
        taken[i] = 0
        most += tied[i]
    for h in range(most + 1):
        place = _line(listed.first + _SUMS + h, listed) // LANES
        for x in range(n_eights):
            value = eight_times(0.0)
            if n_listed == 0:
                value = times(eight_times(silence), load_from(space, source + x * LANES))
            store(space, place + x, value)
    while level >= 0 and n_listed > 0:
        for i in range(level, n_listed):
            before = source if i == 0 else _line(listed.first + _PRODUCTS + i - 1, listed)
            is_last = i == n_listed - 1
            number = _SUMS + total if is_last else _PRODUCTS + i
            n, scale = listed.items[i] + taken[i], listed.ways[tied[i], taken[i]]
            if i == 0:
                scale *= silence
            n_terms, worth = min(listed.caps[i], n) + 1, y if share and n >= v else 1.0
            target, row = _line(listed.first + number, listed), _line(n, listed)
            _multiply(target, before, n_eights, row, n_terms, worth, scale, is_last, space)
        level = n_listed - 1
        while level >= 0 and taken[level] == tied[level]:
            total -= taken[level]
            taken[level] = 0
            level -= 1
        if level >= 0:
            taken[level] += 1
            total += 1
    return most


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _join_free(v, f, most, n_eights, theta, listed):
    """listed.held from S_h, h ≤ most, and f items of free rivals."""
    space, n_lanes = listed.space, len(listed.held) // LANES
    stays, goes = eight_times(1.0 - theta), eight_times(theta)
    sums, others = listed.first + _SUMS, listed.first + _NEXT_SUMS
    for x in range(n_lanes):
        store(listed.held, x, eight_times(0.0))
    for q in range(f + 1):
        scale = eight_times(listed.ways[f, q])
        for h in range(most + 1):
            place, target = _line(sums + h, listed), _line(others + h, listed)
            for x in range(n_lanes):
                line = load_from(space, place + listed.first_k - v + x * LANES)
                chance = times(scale, load(listed.chances, (h + q) * n_lanes + x))
                store(listed.held, x, plus(load(listed.held, x), times(chance, line)))
            if q < f:
                for x in range(0, n_eights * LANES, LANES):
                    kept = times(stays, load_from(space, place + x))
                    moved = times(goes, load_from(space, place + x - 1))
                    store(space, (target + x) // LANES, plus(kept, moved))
        sums, others = others, sums


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def count_held(v, y, n_votes, choice, group, losing, listed):
    """Fill listed.held: votes in which nobody beats v own votes; ties are worth y if shared.

    Rivals have n_votes at most.
    """
    n_eights, silence = n_votes // LANES + 1, 1.0
    if v == 1 and not losing.share and group.g_ahead == 0:
        silence = losing.table[group.ahead, 0]
    others = _multiply_others(v, y, n_eights, choice, group, losing, listed)
    most = _list_ways(v, y, silence, others, n_eights, choice, losing.share, listed)
    _join_free(v, choice.g_free, most, n_eights, losing.theta, listed)
