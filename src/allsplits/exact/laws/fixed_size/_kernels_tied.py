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
    is_free,
    quadrature_order,
    rivals_of,
    worth,
)

__all__ = ["TiedWork", "add_mixed_group", "make_tied_work", "times_capped_pair"]

Floats = NDArray[np.float64]


class TiedWork(NamedTuple):
    """Scratch of a mixed tie group.

    For each column: whether a vote of it can end in the group, omega, and what was added. A row of
    the group's binomial weights, a polynomial poly[u, i] in both variables, and the next one.
    """

    rivals: Rivals
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


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def make_tied_work(rivals, n_columns, size, average):
    """Scratch for votes of fewer than `size`; next to nothing if ties are not averaged."""
    pairs = size if average else 1
    return TiedWork(
        rivals,
        np.empty(n_columns, np.bool_),
        np.empty((n_columns, size)),
        np.empty(n_columns),
        np.empty(size),
        np.empty((pairs, pairs)),
        np.empty((pairs, pairs)),
    )


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def times_capped_pair(poly, row, group_row, v, y, limit, temp):
    """Multiply poly[u, i] (u voters from the prefix, i from the group) by a class's two rows.

    The class has at most v votes, v of them are worth y, and no more than its rows are long.
    """
    n, g = len(row) - 1, len(group_row) - 1
    for u in range(limit + 1):
        for i in range(limit + 1 - u):
            total = 0.0
            for b in range(min(u, n, v) + 1):
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
def _fill_pairs(rivals, v, y, share, limit, phi, table, work):
    """work.poly[u, i]: ways of the rivals to have u voters from the prefix and i from the group."""
    poly, row = work.poly, work.row
    free = np.int64(0)
    g_free = np.int64(0)
    for d in range(len(rivals.sums)):
        if is_free(rivals.sums[d], v, worth(rivals.after[d], y, share)):
            free += rivals.items[d]
            g_free += rivals.tied[d]
    binomial_row(g_free, limit, phi, row)
    for u in range(limit + 1):
        for i in range(limit + 1 - u):
            poly[u, i] = table[free, u] * row[i]
    for d in range(len(rivals.sums)):
        y_d = worth(rivals.after[d], y, share)
        if not is_free(rivals.sums[d], v, y_d):
            n, g = rivals.items[d], rivals.tied[d]
            binomial_row(g, min(v, limit), phi, row)
            times_capped_pair(poly, table[n, : n + 1], row[: g + 1], v, y_d, limit, work.temp)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_wins(n_own, g_own, rivals, ending, majority, work):
    """Add P(a class wins a vote that ends in the group) to work.added[column]."""
    ks, table, row, poly = majority.columns.ks, majority.table, work.row, work.poly
    share, quadrature = majority.rule.share, majority.quadrature
    for v in range(1, min(n_own + g_own, ending.k_high) + 1):
        reach = v
        for d in range(len(rivals.sums)):
            reach += min(rivals.sums[d], v)
        if reach < ending.k_low:
            continue
        limit = min(ending.k_high, reach) - v
        order = quadrature_order(rivals.sums, v, v + limit, share)
        for q in range(order):
            y = quadrature.nodes[order, q] if share else 1.0
            scale = quadrature.weights[order, q] if share else 1.0
            _fill_pairs(rivals, v, y, share, limit, ending.phi, table, work)
            binomial_row(g_own, v, ending.phi, row)
            for c in range(len(ks)):
                k = ks[c]
                if not work.active[c] or k < v or k - v > limit:
                    continue
                for beta in range(max(0, v - n_own), min(g_own, v) + 1):
                    total = 0.0
                    for i in range(k - v + 1):
                        total += poly[k - v - i, i] * work.omegas[c, i + beta]
                    work.added[c] += scale * table[n_own, v - beta] * row[beta] * total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
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
def add_mixed_group(own, s, g, met, majority, work, out):
    """Add the prefixes that end inside the tie group of g items that follows s items."""
    ending = _weigh_votes(s, g, majority.columns, majority.table, work)
    if ending.k_high == 0:
        return
    every_class = majority.rule.every_class
    for e in range(len(met.present)):
        target = met.present[e]
        if not every_class and target != own:
            continue
        for c in range(len(work.added)):
            work.added[c] = 0.0
        rivals = rivals_of(target, met, work.rivals)
        _add_wins(met.prefix[target], met.group[target], rivals, ending, majority, work)
        for c in range(len(work.added)):
            out[target if every_class else c] += work.added[c]
