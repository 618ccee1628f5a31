"""Compiled majority votes of prefixes that end inside a tie group of several classes.

All orders of the group are averaged over. The votes of a class are counted in two variables: b from
the prefix and β from the group, with the group's own binomial weights B[γ, β] of parameter φ:

    Σ_v Σ_β T[n_c, v-β] · B[γ_c, β] · Σ_i [z^(k-v-i) w^i] Π_{d≠c} F_d(z, w) · omega[i+β],

with omega[i] the weight of i voters from the group (`tie_weights`).
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels import binomial_row, tie_weights
from allsplits.exact.kernel_types import aligned_space
from allsplits.exact.laws.fixed_size._kernels_rivals import (
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
    it can end in the group, omega, and what was added. One line of the group's binomial weights, a
    polynomial poly[u, i] in both variables, and the next one.
    """

    rivals: Rivals
    sums: NDArray[np.int64]
    active: NDArray[np.bool_]
    omegas: Floats
    added: Floats
    group_rows: Floats
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
        aligned_space(1, size),
        aligned_space(size, size),
        aligned_space(size, size),
    )


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def times_capped_pair(poly, temp, rows, group_rows, lines, most, v, y):
    """Multiply poly[u, i] (u voters from the prefix, i from the group) by a class's two lines.

    The class has at most v votes, v of them are worth y; `most` are those from the prefix, from the
    group, and those of all classes but one together.
    """
    line, group_line = lines
    of_prefix, of_group, limit = most
    for u in range(limit + 1):
        for i in range(limit + 1 - u):
            temp[u, i] = 0.0
        for b in range(min(u, of_prefix, v) + 1):
            before = poly[u - b]
            for beta in range(min(limit - u, of_group, v - b) + 1):
                factor = rows[line, b] * group_rows[group_line, beta]
                if b + beta == v:
                    factor *= y
                # Sums side by side, not one after the other: this is vectorised.
                part = temp[u, beta : limit + 1 - u]
                for i in range(len(part)):
                    part[i] += factor * before[i]
    for u in range(limit + 1):
        for i in range(limit + 1 - u):
            poly[u, i] = temp[u, i]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _fill_pairs(n_rivals, v, y, share, limit, phi, table, work):
    """work.poly[u, i]: ways of the rivals to have u voters from the prefix and i from the group."""
    items, tied, after = work.rivals
    sums, poly, group_rows = work.sums, work.poly, work.group_rows
    row = group_rows[0]
    free = np.int64(0)
    g_free = np.int64(0)
    for d in range(n_rivals):
        if is_free(sums[d], v, y if share or after[d] else 0.0):
            free += items[d]
            g_free += tied[d]
    binomial_row(g_free, limit, phi, row)
    for u in range(limit + 1):
        for i in range(limit + 1 - u):
            poly[u, i] = table[free, u] * row[i]
    for d in range(n_rivals):
        y_d = y if share or after[d] else 0.0
        if not is_free(sums[d], v, y_d):
            binomial_row(tied[d], min(v, limit), phi, row)
            most = (items[d], tied[d], limit)
            times_capped_pair(poly, work.temp, table, group_rows, (items[d], 0), most, v, y_d)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _add_wins(n_own, g_own, n_rivals, ending, share, ks, ways, work):
    """Add P(a class wins a vote that ends in the group) to work.added[column]."""
    table, sums, row, poly = ways.table, work.sums, work.group_rows[0], work.poly
    active, omegas, added = work.active, work.omegas, work.added
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
            _fill_pairs(n_rivals, v, y, share, limit, ending.phi, table, work)
            binomial_row(g_own, v, ending.phi, row)
            for c in range(len(ks)):
                k = ks[c]
                if not active[c] or k < v or k - v > limit:
                    continue
                for beta in range(max(0, v - n_own), min(g_own, v) + 1):
                    total = 0.0
                    for i in range(k - v + 1):
                        total += poly[k - v - i, i] * omegas[c, i + beta]
                    added[c] += scale * table[n_own, v - beta] * row[beta] * total


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _weigh_votes(s, g, columns, table, work):
    """Fill active and omegas for the group of g items that follows s; which votes end in it."""
    k_max = table.shape[1] - 1
    depth = columns.masses.shape[1] - 1
    phi = k_max / (k_max + g + 1.0)
    row = work.group_rows[0]
    binomial_row(g, min(k_max, g), phi, row)
    k_low = k_max
    k_high = np.int64(0)
    for c in range(len(columns.ks)):
        k, omega = columns.ks[c], work.omegas[c]
        work.active[c] = tie_weights(s, g, depth, k, columns.masses[c], table, row, omega)
        for extra in range(min(k, g) + 1, k_max + 1):
            omega[extra] = 0.0
        if work.active[c]:
            k_low = min(k_low, k)
            k_high = max(k_high, k)
    return _Ending(k_low, k_high, phi)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def add_mixed_group(own, place, met, votes, work, out):
    """Add the prefixes that end inside a tie group.

    `place` is how many items are before it, how many it has, and how many classes were met.
    """
    s, g, n_present = place
    rule, columns, ways = votes
    ending = _weigh_votes(s, g, columns, ways.table, work)
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
