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
from allsplits.exact.laws.fixed_size._kernels_rivals import (
    Rivals,
    gather_rivals,
    is_free,
    quadrature_order,
    worth,
)

Floats = NDArray[np.float64]


class TiedWork(NamedTuple):
    """Scratch of a mixed tie group.

    The rivals of a class, their items in the group, and in prefix and group. For each column:
    whether a vote of it can end in the group, omega, and what was added. A row of the group's
    binomial weights, a polynomial poly[u, i] in both variables, and the next one.
    """

    rivals: Rivals
    tied: NDArray[np.int64]
    sums: NDArray[np.int64]
    active: NDArray[np.bool_]
    omegas: Floats
    added: Floats
    row: Floats
    poly: Floats
    temp: Floats


class _Ending(NamedTuple):
    """The votes that can end in the group, from k_low to k_high voters, and the group's φ."""

    k_low: int
    k_high: int
    phi: float


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def make_tied_work(n_classes, n_columns, size):
    """Scratch for votes of fewer than `size`."""
    return TiedWork(
        Rivals(np.empty(n_classes, np.int64), np.empty(n_classes, np.bool_)),
        np.empty(n_classes, np.int64),
        np.empty(n_classes, np.int64),
        np.empty(n_columns, np.bool_),
        np.empty((n_columns, size)),
        np.empty(n_columns),
        np.empty(size),
        np.empty((size, size)),
        np.empty((size, size)),
    )


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def times_capped_pair(poly, row, group_row, v, y, limit, temp):
    """Multiply poly[u, i] (u voters from the prefix, i from the group) by a class's two rows.

    The class has at most v votes, v of them are worth y, and no more than its rows are long.
    """
    top, g = min(len(row) - 1, v), len(group_row) - 1
    for u in range(limit + 1):
        for i in range(limit + 1 - u):
            total = 0.0
            for b in range(min(u, top) + 1):
                for beta in range(min(i, g, v - b) + 1):
                    factor = row[b] * group_row[beta]
                    if b + beta == v:
                        factor *= y
                    total += factor * poly[u - b, i - beta]
            temp[u, i] = total
    for u in range(limit + 1):
        for i in range(limit + 1 - u):
            poly[u, i] = temp[u, i]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _fill_pairs(n_rivals, v, y, share, limit, phi, table, work):
    """work.poly[u, i]: ways of the rivals to have u voters from the prefix and i from the group."""
    (items, after), tied, sums, poly, row = work.rivals, work.tied, work.sums, work.poly, work.row
    free = np.int64(0)
    g_free = np.int64(0)
    for d in range(n_rivals):
        if is_free(sums[d], v, worth(after[d], y, share)):
            free += items[d]
            g_free += tied[d]
    binomial_row(g_free, limit, phi, row)
    for u in range(limit + 1):
        for i in range(limit + 1 - u):
            poly[u, i] = table[free, u] * row[i]
    for d in range(n_rivals):
        y_d = worth(after[d], y, share)
        if not is_free(sums[d], v, y_d):
            binomial_row(tied[d], min(v, limit), phi, row)
            of_prefix, of_group = table[items[d], : items[d] + 1], row[: tied[d] + 1]
            times_capped_pair(poly, of_prefix, of_group, v, y_d, limit, work.temp)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_wins(n_own, g_own, n_rivals, ending, share, ks, ways, work):
    """Add P(a class wins a vote that ends in the group) to work.added[column]."""
    table, sums, row, poly = ways.table, work.sums, work.row, work.poly
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


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _weigh_votes(s, g, columns, table, work):
    """Fill active and omegas for the group of g items that follows s; which votes end in it."""
    k_max = table.shape[1] - 1
    depth = columns.masses.shape[1] - 1
    phi = k_max / (k_max + g + 1.0)
    binomial_row(g, min(k_max, g), phi, work.row)
    k_low = k_max
    k_high = np.int64(0)
    for c in range(len(columns.ks)):
        k, omega = columns.ks[c], work.omegas[c]
        work.active[c] = tie_weights(s, g, depth, k, columns.masses[c], table, work.row, omega)
        for extra in range(min(k, g) + 1, k_max + 1):
            omega[extra] = 0.0
        if work.active[c]:
            k_low = min(k_low, k)
            k_high = max(k_high, k)
    return _Ending(k_low, k_high, phi)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def add_mixed_group(own, place, met, rule, columns, ways, work, out):
    """Add the prefixes that end inside a tie group.

    `place` is how many items are before it, how many it has, and how many classes were met.
    """
    s, g, n_present = place
    ending = _weigh_votes(s, g, columns, ways.table, work)
    if ending.k_high == 0:
        return
    for e in range(n_present):
        target = met.present[e]
        if not rule.every_class and target != own:
            continue
        n_rivals = gather_rivals(target, met, n_present, work.rivals, work.tied)
        for d in range(n_rivals):
            work.sums[d] = work.rivals.items[d] + work.tied[d]
        for c in range(len(columns.ks)):
            work.added[c] = 0.0
        n_own, g_own = met.prefix[target], met.group[target]
        _add_wins(n_own, g_own, n_rivals, ending, rule.share, columns.ks, ways, work)
        for c in range(len(columns.ks)):
            out[target if rule.every_class else c] += work.added[c]
