"""Compiled majority votes of prefixes that end inside a tie group of several classes.

All orders of the group are averaged over. The votes of a class are counted in two variables: b from
the prefix and β from the group, with the group's own binomial weights B[γ, β] of parameter φ:

    Σ_v Σ_β T[n_c, v-β] · B[γ_c, β] · Σ_i [z^(k-v) w^i] Π_{d≠c} F_d(z, w) · omega[i+β],

with omega[i] the weight of i voters from the group.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels import binomial_row
from allsplits.exact._kernels_eight import is_short
from allsplits.exact.kernel_types import aligned_space
from allsplits.exact.laws.fixed_size._kernels_rivals import (
    Rivals,
    add_shifted,
    gather_rivals,
    is_free,
    new_rivals,
    quadrature_order,
)

Floats = NDArray[np.float64]


class Pairs(NamedTuple):
    """poly[i · stride + x]: ways to have x votes, i of them from the group; and space for the next.

    Lines are so long that x and the votes of one class more fit.
    """

    poly: Floats
    temp: Floats
    sums: Floats
    stride: int


class TiedWork(NamedTuple):
    """Scratch of a mixed tie group.

    What prefixes count, m_j / T[j, k]. The rivals of a class, and their items in prefix and group.
    omegas[i · columns + column], chances of that form, and what was added to each column. One row
    of the group's binomial weights, a line of votes from the prefix, and pairs of both.
    """

    weights: Floats
    rivals: Rivals
    sums: NDArray[np.int64]
    omegas: Floats
    chances: Floats
    added: Floats
    group_row: Floats
    line: Floats
    pairs: Pairs


class _Ending(NamedTuple):
    """The votes that can end in the group, from k_low to k_high voters, and the group's φ."""

    k_low: int
    k_high: int
    phi: float


def new_tied_work(n_classes: int, weights: Floats, size: int) -> TiedWork:
    """Scratch for votes of fewer than `size` neighbours, and weights of prefixes and columns."""
    n_columns = weights.shape[1]
    poly, temp, sums = aligned_space(3, size * size)
    return TiedWork(
        weights,
        new_rivals(n_classes),
        np.empty(n_classes, np.int64),
        aligned_space(size * n_columns),
        aligned_space(size * n_columns),
        aligned_space(n_columns),
        aligned_space(size),
        aligned_space(size),
        Pairs(poly, temp, sums, size),
    )


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def group_chances(n, b_max, phi, table, row):
    """row[b] = B[n, b] for b ≤ b_max."""
    if phi > 0.0:
        binomial_row(n, b_max, phi, row)
    else:
        for b in range(b_max + 1):
            row[b] = table[n, b]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _times_capped(line, temp, row, v, y, limit):
    """Multiply a line by Σ_{b<v} row[b] z^b + y · row[v] z^v, up to `limit`."""
    for x in range(limit + 1):
        temp[x] = 0.0
    for b in range(min(v, limit) + 1):
        add_shifted(row[b] * y if b == v else row[b], line, temp, b, limit + 1 - b)
    for x in range(limit + 1):
        line[x] = temp[x]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _times_capped_pair(pairs, degree, row, group_row, of_group, v, y, limit):
    """Multiply pairs.poly by the two rows of a class that has items in prefix and group.

    It has at most v votes, v of them are worth y, and at most `of_group` from the group. `degree`
    is the largest i so far; returns the next. With β votes from the group at most v - β come from
    the prefix: sums of these grow as β falls, so their products cost no more than β = 0 alone.
    """
    poly, temp, sums, stride = pairs
    new_degree = min(degree + of_group, limit)
    for x in range((new_degree + 1) * stride):
        temp[x] = 0.0
    for x in range((degree + 1) * stride):
        sums[x] = 0.0
    n = (degree + 1) * stride - v
    most = v if y == 1.0 else v - 1
    b = 0
    for beta in range(min(of_group, v, new_degree), -1, -1):
        # The fewer votes from the group, the more may come from the prefix.
        while b <= most - beta:
            add_shifted(row[b], poly, sums, b, n)
            b += 1
        # One step of i is a line, one of x a number; v of them are free at the end of each line.
        shift, fits = beta * stride, (min(degree, new_degree - beta) + 1) * stride
        add_shifted(group_row[beta], sums, temp, shift + beta, fits - beta)
        if 0.0 < y < 1.0:
            factor = y * row[v - beta] * group_row[beta]
            add_shifted(factor, poly, temp, shift + v, fits - v)
    for i in range(new_degree + 1):
        for x in range(i * stride, i * stride + limit + 1):
            poly[x] = temp[x]
        for x in range(i * stride + limit + 1, (i + 1) * stride):
            poly[x] = 0.0
    return new_degree


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def fill_pairs(n_rivals, v, y, share, limit, phi, table, work):
    """Fill work.pairs with the ways of the rivals; returns the most votes from the group."""
    items, tied, after = work.rivals
    sums, row, line = work.sums, work.group_row, work.line
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
            _times_capped(line, work.pairs.temp, table[items[d]], v, y_d, limit)
    degree = min(g_free, limit)
    group_chances(g_free, degree, phi, table, row)
    poly, stride = work.pairs.poly, work.pairs.stride
    for i in range(degree + 1):
        for x in range(stride):
            poly[i * stride + x] = 0.0
        add_shifted(row[i], line, poly, i * stride + i, limit + 1 - i)
    for d in range(n_rivals):
        y_d = y if share or after[d] else 0.0
        if tied[d] > 0 and not is_free(sums[d], v, y_d):
            group_chances(tied[d], min(v, tied[d]), phi, table, row)
            degree = _times_capped_pair(
                work.pairs, degree, table[items[d]], row, tied[d], v, y_d, limit
            )
    return degree


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def add_votes(v, own, reach, scale, ks, ending, table, work):
    """Add to work.added what work.pairs are worth to a class that gets v votes.

    `own` are its items in prefix and group, `reach` the most votes that rivals have from the group
    and in all.
    """
    n_own, g_own = own
    degree, limit = reach
    row, chances, added = work.group_row, work.chances, work.added
    poly, stride, n_columns = work.pairs.poly, work.pairs.stride, len(ks)
    group_chances(g_own, min(g_own, v), ending.phi, table, row)
    n = (degree + 1) * n_columns
    for x in range(n):
        chances[x] = 0.0
    for beta in range(max(0, v - n_own), min(g_own, v) + 1):
        factor = scale * table[n_own, v - beta] * row[beta]
        add_shifted(factor, work.omegas[beta * n_columns :], chances, 0, n)
    for c in range(n_columns):
        if v <= ks[c] <= v + limit:
            for i in range(min(ks[c] - v, degree) + 1):
                added[c] += poly[i * stride + ks[c] - v] * chances[i * n_columns + c]


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
            degree = fill_pairs(n_rivals, v, y, share, limit, ending.phi, table, work)
            add_votes(v, (n_own, g_own), (degree, limit), scale, ks, ending, table, work)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def votes_that_end(s, g, k_max, columns, table):
    """Which votes of up to k_max end in the group of g items that follows s."""
    # The table will do for groups that are no larger than prefixes.
    phi = 0.0 if g < len(table) else k_max / (k_max + g + 1.0)
    k_low, k_high = k_max, np.int64(0)
    for j in range(s + 1, min(s + g, columns.masses.shape[1])):
        is_short()
        if columns.k_high[j] > 0 and columns.k_low[j] <= k_max:
            k_low = min(k_low, columns.k_low[j])
            k_high = max(k_high, min(columns.k_high[j], k_max))
    return _Ending(k_low, k_high, phi)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def weigh_voters(s, g, k_max, phi, columns, table, work):
    """Fill omegas[i, column] for the group of g items that follows s.

        omega[i] = Σ_t m_{s+t} · T[t, i] / (T[s+t, k] · B[g, i])

    is the weight of i voters from the group: while the (k+1)-th training neighbour stands inside
    it, the t items before are a random t-subset. Votes of more than k_max are not asked for.
    """
    omegas, row, most, n_columns = work.omegas, work.group_row, min(k_max, g), len(columns.ks)
    for x in range((most + 1) * n_columns):
        omegas[x] = 0.0
    for j in range(s + 1, min(s + g, columns.masses.shape[1])):
        if columns.k_high[j] > 0 and columns.k_low[j] <= k_max:
            for i in range(min(j - s, most) + 1):
                add_shifted(table[j - s, i], work.weights[j], omegas, i * n_columns, n_columns)
    group_chances(g, most, phi, table, row)
    for i in range(most + 1):
        scale = 1.0 / row[i] if row[i] > 0.0 else 0.0
        for x in range(i * n_columns, (i + 1) * n_columns):
            omegas[x] *= scale


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def add_mixed_group(own, place, met, votes, work, out):
    """Add the prefixes that end inside a tie group to the classes in the only column, or to one.

    `place` is how many items are before it, how many it has, and how many classes were met.
    """
    s, g, n_present = place
    rule, columns, ways = votes
    k_max = ways.table.shape[1] - 1
    ending = votes_that_end(s, g, k_max, columns, ways.table)
    if ending.k_high == 0:
        return
    weigh_voters(s, g, k_max, ending.phi, columns, ways.table, work)
    for e in range(n_present):
        target = met.present[e]
        if not rule.every_class and target != own:
            continue
        n_rivals = gather_rivals(target, met, n_present, work.rivals)
        for d in range(n_rivals):
            work.sums[d] = work.rivals.items[d] + work.rivals.tied[d]
        work.added[0] = 0.0
        n_own, g_own = met.prefix[target], met.group[target]
        _add_wins(n_own, g_own, n_rivals, ending, rule.share, columns.ks, ways, work)
        out[target] += work.added[0]
