"""Compiled majority votes of prefixes that end inside a tie group of several classes.

All orders of the group are averaged over. The votes of a class are counted in two variables: b from
the prefix and β from the group, with the group's own binomial weights B[γ, β] of parameter φ:

    Σ_v Σ_β T[n_c, v-β] · B[γ_c, β] · Σ_i [z^(k-v) w^i] Π_{d≠c} F_d(z, w) · omega[i+β],

with omega[i] the weight of i voters from the group (`tie_weights`).
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels import binomial_row, tie_weights
from allsplits.exact.kernel_types import aligned_space
from allsplits.exact.laws.fixed_size._kernels_rivals import (
    DOUBT,
    Rivals,
    gather_rivals,
    is_free,
    new_rivals,
    quadrature_order,
)

Floats = NDArray[np.float64]


class TiedWork(NamedTuple):
    """Scratch of a mixed tie group.

    The rivals of a class, and their items in prefix and group. For each column: whether a vote of
    it can end in the group, omega, and what was added. One row of the group's binomial weights, a
    line of votes from the prefix; poly[i, x], i of x votes from the group, and the next one.
    """

    rivals: Rivals
    sums: NDArray[np.int64]
    active: NDArray[np.bool_]
    omegas: Floats
    added: Floats
    group_row: Floats
    line: Floats
    poly: Floats
    temp: Floats


class _Ending(NamedTuple):
    """The votes that can end in the group, from k_low to k_high voters, and the group's φ."""

    k_low: int
    k_high: int
    phi: float


def new_tied_work(n_classes: int, n_columns: int, size: int) -> TiedWork:
    """Scratch for votes of fewer than `size`."""
    return TiedWork(
        new_rivals(n_classes),
        np.empty(n_classes, np.int64),
        np.empty(n_columns, np.bool_),
        aligned_space(n_columns, size),
        np.empty(n_columns),
        aligned_space(size),
        aligned_space(size),
        aligned_space(size, size),
        aligned_space(size, size),
    )


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _times_capped(line, temp, row, v, y, limit):
    """Multiply a line by Σ_{b<v} row[b] z^b + y · row[v] z^v, up to `limit`."""
    for x in range(limit + 1):
        temp[x] = 0.0
    for b in range(min(v, limit) + 1):
        factor = row[b] * y if b == v else row[b]
        # Sums side by side, not one after the other: this is vectorised.
        part = temp[b : limit + 1]
        for x in range(len(part)):
            part[x] += factor * line[x]
    for x in range(limit + 1):
        line[x] = temp[x]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _times_capped_pair(poly, temp, degree, rows, of_group, v, y, limit):
    """Multiply poly[i, x] by the two rows of a class that has items in prefix and group.

    It has at most v votes, v of them are worth y, and at most `of_group` from the group. `degree`
    is the largest i so far; returns the next.
    """
    row, group_row = rows
    new_degree = min(degree + of_group, limit)
    for i in range(new_degree + 1):
        for x in range(limit + 1):
            temp[i, x] = 0.0
    for i in range(degree + 1):
        before = poly[i]
        for beta in range(min(of_group, v, limit - i) + 1):
            for b in range(min(v, limit) - beta + 1):
                factor = row[b] * group_row[beta]
                if b + beta == v:
                    factor *= y
                part = temp[i + beta, b + beta : limit + 1]
                for x in range(len(part)):
                    part[x] += factor * before[x]
    for i in range(new_degree + 1):
        for x in range(limit + 1):
            poly[i, x] = temp[i, x]
    return new_degree


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _fill_pairs(n_rivals, v, y, share, limit, phi, table, work):
    """work.poly[i, x]: ways of the rivals to have x votes, i of them from the group.

    Returns the largest i.
    """
    items, tied, after = work.rivals
    sums, poly, row, line = work.sums, work.poly, work.group_row, work.line
    free = np.int64(0)
    g_free = np.int64(0)
    for d in range(n_rivals):
        if is_free(sums[d], v, y if share or after[d] else 0.0):
            free += items[d]
            g_free += tied[d]
    for x in range(limit + 1):
        line[x] = table[free, x]
    for d in range(n_rivals):
        y_d = y if share or after[d] else 0.0
        if tied[d] == 0 and not is_free(sums[d], v, y_d):
            _times_capped(line, work.temp[0], table[items[d]], v, y_d, limit)
    degree = min(g_free, limit)
    binomial_row(g_free, degree, phi, row)
    _spread(line, row, degree, limit, poly)
    for d in range(n_rivals):
        y_d = y if share or after[d] else 0.0
        if tied[d] > 0 and not is_free(sums[d], v, y_d):
            binomial_row(tied[d], min(v, tied[d]), phi, row)
            rows = (table[items[d]], row)
            degree = _times_capped_pair(poly, work.temp, degree, rows, tied[d], v, y_d, limit)
    return degree


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _spread(line, group_row, degree, limit, poly):
    """poly[i, x] = group_row[i] · line[x - i]."""
    for i in range(degree + 1):
        for x in range(i):
            poly[i, x] = 0.0
        part = poly[i, i : limit + 1]
        for x in range(len(part)):
            part[x] = group_row[i] * line[x]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _add_votes(v, n_own, g_own, degree, limit, scale, ks, table, work):
    """Add to work.added what work.poly is worth to a class that gets v votes.

    `degree` is the largest i of work.poly[i, x]; work.group_row tells how many come from the group.
    """
    row, poly, omegas = work.group_row, work.poly, work.omegas
    for c in range(len(ks)):
        k = ks[c]
        if not work.active[c] or k < v or k - v > limit:
            continue
        for beta in range(max(0, v - n_own), min(g_own, v) + 1):
            total = 0.0
            for i in range(min(k - v, degree) + 1):
                total += poly[i, k - v] * omegas[c, i + beta]
            work.added[c] += scale * table[n_own, v - beta] * row[beta] * total


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _add_wins(n_own, g_own, n_rivals, ending, share, ks, ways, work):
    """Add P(a class wins a vote that ends in the group) to work.added[column]."""
    table, sums = ways.table, work.sums
    for v in range(1, min(n_own + g_own, ending.k_high) + 1):
        reach = v
        for d in range(n_rivals):
            reach += min(sums[d], v)
        if reach < ending.k_low:
            continue
        limit = min(ending.k_high, reach) - v
        order = quadrature_order(sums, n_rivals, v, v + limit, share)
        for q in range(order):
            y = ways.quadrature.nodes[order, q] if share else 1.0
            scale = ways.quadrature.weights[order, q] if share else 1.0
            degree = _fill_pairs(n_rivals, v, y, share, limit, ending.phi, table, work)
            binomial_row(g_own, v, ending.phi, work.group_row)
            _add_votes(v, n_own, g_own, degree, limit, scale, ks, table, work)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _weigh_votes(s, g, k_max, columns, table, work):
    """Fill active and omegas for the group of g items that follows s; which votes end in it.

    Votes of more than k_max are not asked for.
    """
    depth = columns.masses.shape[1] - 1
    phi = k_max / (k_max + g + 1.0)
    row = work.group_row
    binomial_row(g, min(k_max, g), phi, row)
    k_low = k_max
    k_high = np.int64(0)
    for c in range(len(columns.ks)):
        k, omega = columns.ks[c], work.omegas[c]
        work.active[c] = k <= k_max and tie_weights(
            s, g, depth, k, columns.masses[c], table, row, omega
        )
        if work.active[c]:
            k_low = min(k_low, k)
            k_high = max(k_high, k)
    return _Ending(k_low, k_high, phi)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def add_mixed_group(own, place, met, votes, work, out):
    """Add the prefixes that end inside a tie group.

    `place` is how many items are before it, how many it has, and how many classes were met.
    """
    s, g, n_present = place
    rule, columns, ways = votes
    ending = _weigh_votes(s, g, ways.table.shape[1] - 1, columns, ways.table, work)
    if ending.k_high == 0:
        return
    for e in range(n_present):
        target = met.present[e]
        if not rule.every_class and target != own:
            continue
        n_rivals = gather_rivals(target, met, n_present, work.rivals)
        for d in range(n_rivals):
            work.sums[d] = work.rivals.items[d] + work.rivals.tied[d]
        for c in range(len(columns.ks)):
            work.added[c] = 0.0
        n_own, g_own = met.prefix[target], met.group[target]
        _add_wins(n_own, g_own, n_rivals, ending, rule.share, columns.ks, ways, work)
        for c in range(len(columns.ks)):
            out[target if rule.every_class else c] += work.added[c]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _turn_to_losses(degree, rest, g_rest, limit, phi, table, work):
    """work.poly = all ways of the rivals less those that are there; returns the largest i."""
    poly, row = work.poly, work.group_row
    for i in range(degree + 1, min(g_rest, limit) + 1):
        for x in range(limit + 1):
            poly[i, x] = 0.0
    degree = min(g_rest, limit)
    binomial_row(g_rest, degree, phi, row)
    for i in range(degree + 1):
        for x in range(i, limit + 1):
            poly[i, x] = row[i] * table[rest, x - i] - poly[i, x]
    return degree


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _rivals_can_hold(v, n_own, n_rivals, losing, work):
    """Whether no rival is sure to have more than v votes, and the own class to have more itself."""
    doubt = losing.doubts[n_own, v]
    for d in range(n_rivals):
        most = v if losing.share or work.rivals.after[d] else v - 1
        if work.rivals.items[d] > most:
            doubt += losing.doubts[work.rivals.items[d], most]
    return doubt < DOUBT


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def add_mixed_losses(s, g, g_own, front, losing, met, work, out):
    """out[column] += mass of the prefixes that end inside a tie group · P(own class loses).

    The group has g items, g_own of them of the own class, and follows s items.
    """
    columns, table, share, n_own = losing.columns, losing.table, losing.share, front.n_own
    sums, ks = work.sums, columns.ks
    n_rivals = gather_rivals(front.own, met, front.n_rivals, work.rivals)
    v_open = np.int64(0)
    for d in range(n_rivals):
        sums[d] = work.rivals.items[d] + work.rivals.tied[d]
        v_open = max(v_open, sums[d] if share or not work.rivals.after[d] else sums[d] - 1)
    if losing.fewest[n_own] > v_open:
        return
    v_open, g_rest = min(v_open, n_own + g_own), g - g_own
    k_open = min(v_open + front.rest + g_rest, losing.k_most)
    ending = _weigh_votes(s, g, k_open, columns, table, work)
    for c in range(len(ks)):
        work.added[c] = 0.0
    for v in range(losing.fewest[n_own], min(v_open, ending.k_high // 2) + 1):
        limit = min(ending.k_high - v, front.rest + g_rest)
        if v + limit < ending.k_low:
            continue
        order = quadrature_order(sums, n_rivals, v, v + limit, share) if v > 0 else 1
        for q in range(order):
            y = losing.ties.nodes[order, q] if share else 1.0
            scale = losing.ties.weights[order, q] if share else 1.0
            degree = np.int64(-1)
            if v > 0 and _rivals_can_hold(v, n_own, n_rivals, losing, work):
                degree = _fill_pairs(n_rivals, v, y, share, limit, ending.phi, table, work)
            degree = _turn_to_losses(
                degree, front.rest, g_rest, limit, ending.phi, table, work
            )
            binomial_row(g_own, v, ending.phi, work.group_row)
            _add_votes(v, n_own, g_own, degree, limit, scale, ks, table, work)
    for c in range(len(ks)):
        out[c] += work.added[c]
