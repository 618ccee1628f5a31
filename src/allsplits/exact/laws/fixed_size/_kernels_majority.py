"""Compiled loops of the majority vote: P(each class wins | prefix), for many k at once.

For a class with n_c items in the prefix that gets v votes, the other k - v votes must be shared so
that nobody has more than v (Section "More than two classes" of the mathematics):

    P(c wins) = Σ_v T[n_c, v] · [z^(k-v)] Π_{d≠c} F_d(z) / T[j, k],
    F_d(z) = Σ_{b<v} T[n_d, b] z^b + y_d · T[n_d, v] z^v.

y_d says what a tie with class d is worth: 1 if c comes first in class order, 0 if d does. With
shared ties the value is ∫₀¹ Π F_d dy, because ∫ y^r dy = 1/(r+1) is c's share among r+1 tied
classes; Gauss-Legendre nodes integrate that polynomial exactly. Classes that cannot reach v votes
are merged: the product of their factors is T[Σ n_d, ·] (Vandermonde). The factors do not depend
on k, so one pass gives every k.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels import group_end
from allsplits.exact.kernel_types import aligned_space
from allsplits.exact.laws.fixed_size._kernels_rivals import (
    RARE,
    Met,
    Rivals,
    Votes,
    gather_rivals,
    is_free,
    new_rivals,
    quadrature_order,
)
from allsplits.exact.laws.fixed_size._kernels_tied import TiedWork, add_mixed_group, new_tied_work

Floats = NDArray[np.float64]


class VoteWork(NamedTuple):
    """Scratch of a vote: the rivals, a polynomial and the next one, wins[k] of one class."""

    rivals: Rivals
    poly: Floats
    temp: Floats
    wins: Floats


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _times_capped(poly, degree, counts_row, v, y, limit, temp):
    """Multiply poly by F_d, truncated at `limit`; return the new degree."""
    top = min(v, limit) if y > 0.0 else min(v - 1, limit)
    new_degree = min(degree + top, limit)
    for e in range(new_degree + 1):
        temp[e] = 0.0
    for b in range(top + 1):
        factor = counts_row[b] * y if b == v else counts_row[b]
        # Sums side by side, not one after the other: this is vectorised.
        part = temp[b : min(b + degree, new_degree) + 1]
        for e in range(len(part)):
            part[e] += factor * poly[e]
    for e in range(new_degree + 1):
        poly[e] = temp[e]
    return new_degree


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def fill_wins(n_own, n_rivals, j, k_range, share, ways, work):
    """wins[k] = P(a class with n_own items wins | uniform k-subset of the prefix of j)."""
    items, after = work.rivals.items, work.rivals.after
    table, poly, temp, wins = ways.table, work.poly, work.temp, work.wins
    k_low, k_high = k_range
    for k in range(k_low, k_high + 1):
        wins[k] = 0.0
    for v in range(1, min(n_own, k_high) + 1):
        reach = v
        for d in range(n_rivals):
            reach += min(items[d], v)
        low = max(k_low, v)
        high = min(k_high, reach)
        # k voters that have v of the own with a probability below 2⁻⁶⁴: `VoteTable.rounding`
        # covers them.
        own, others, both = table[n_own, v], table[j - n_own], table[j]
        while low <= high and own * others[low - v] < RARE * both[low]:
            low += 1
        while high >= low and own * others[high - v] < RARE * both[high]:
            high -= 1
        if high < low:
            continue
        order = quadrature_order(items, n_rivals, v, high, share)
        for q in range(order):
            y = ways.quadrature.nodes[order, q] if share else 1.0
            scale = table[n_own, v] * (ways.quadrature.weights[order, q] if share else 1.0)
            free = np.int64(0)
            degree = np.int64(-1)
            for d in range(n_rivals):
                y_d = y if share or after[d] else 0.0
                if is_free(items[d], v, y_d):
                    free += items[d]
                else:
                    if degree < 0:
                        poly[0] = 1.0
                        degree = np.int64(0)
                    degree = _times_capped(poly, degree, table[items[d]], v, y_d, high - v, temp)
            if degree < 0:
                for k in range(low, high + 1):
                    wins[k] += scale * table[free, k - v]
            else:
                for k in range(low, high + 1):
                    temp[k] = 0.0
                for b in range(min(degree, high - v) + 1):
                    factor = poly[b]
                    first = max(low, v + b)
                    part = temp[first : min(high, v + b + free) + 1]
                    rest = table[free, first - v - b :]
                    for k in range(len(part)):
                        part[k] += factor * rest[k]
                for k in range(low, high + 1):
                    wins[k] += scale * temp[k]
    for k in range(k_low, k_high + 1):
        wins[k] /= table[j, k]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _meet(labels, position, end, met, n_present):
    """Count a tie group; returns how many classes were met, and whether it holds several."""
    mixed = False
    for e in range(position, end):
        c = labels[e]
        if met.prefix[c] + met.group[c] == 0:
            met.present[n_present] = c
            n_present += 1
        met.group[c] += 1
        mixed = mixed or c != labels[position]
    return n_present, mixed


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _add_prefix(own, j, met, n_present, votes, work, out):
    """Add what the prefix of length j is worth to the classes in the only column, or to one."""
    rule, columns, ways = votes
    k, wins = columns.ks[0], work.wins
    k_range = columns.k_low[j], columns.k_high[j]
    for e in range(n_present):
        target = met.present[e]
        if not rule.every_class and target != own:
            continue
        n_rivals = gather_rivals(target, met, n_present, work.rivals)
        if n_rivals == 0:
            for k in range(k_range[0], k_range[1] + 1):
                wins[k] = 1.0
        else:
            n_own = met.prefix[target]
            fill_wins(n_own, n_rivals, j, k_range, rule.share, ways, work)
        out[target] += columns.masses[0, j] * wins[k]


def work_space(
    n_classes: int, votes: Votes, tied_weights: Floats | None
) -> tuple[Met, VoteWork, TiedWork | None]:
    """Space to meet the classes of a row and to count votes; with weights also in tie groups."""
    size = votes.ways.table.shape[1]
    counts = np.empty((3, n_classes), np.int64)
    work = VoteWork(new_rivals(n_classes), *(aligned_space(size) for _ in range(3)))
    tied_work = None if tied_weights is None else new_tied_work(n_classes, tied_weights, size)
    return Met(*counts), work, tied_work


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def start_row(met):
    """Nothing is met yet."""
    # np.zeros takes half a second to compile.
    for c in range(len(met.prefix)):
        met.prefix[c], met.group[c] = 0, 0


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def score_untied(rows, start, stop, votes, met, work, out):
    """P(each class) of each row for the only column, or P(own class); ties play no part."""
    k_high = votes.columns.k_high
    for i in range(start, stop):
        start_row(met)
        n_present = np.int64(0)
        for j in range(1, votes.columns.masses.shape[1]):
            c = rows.labels[rows.indptr[i] + j - 1]
            if met.prefix[c] == 0:
                met.present[n_present] = c
                n_present += 1
            met.prefix[c] += 1
            if k_high[j] > 0:
                _add_prefix(rows.own[i], j, met, n_present, votes, work, out[i])


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def score_tied(rows, start, stop, votes, met, work, tied_work, out):
    """As `score_untied`, averaged over the orders of tie groups.

    Walks the tie groups of each row. Groups of one class (a single item is one) need no average.
    """
    columns = votes.columns
    depth = columns.masses.shape[1] - 1
    labels, k_high, prefix, group = rows.labels, columns.k_high, met.prefix, met.group
    for i in range(start, stop):
        own = rows.own[i]
        start_row(met)
        n_present = np.int64(0)
        position = rows.indptr[i]
        s = np.int64(0)
        while s < depth:
            end = group_end(rows.tied, position, rows.indptr[i + 1], True)
            g = end - position
            n_present, mixed = _meet(labels, position, end, met, n_present)
            if mixed:
                add_mixed_group(own, (s, g, n_present), met, votes, tied_work, out[i])
            for e in range(position, end):
                group[labels[e]] = 0
                if mixed:
                    prefix[labels[e]] += 1
            for j in range(s + g if mixed else s + 1, min(s + g, depth) + 1):
                if not mixed:
                    prefix[labels[position]] += 1
                if k_high[j] > 0:
                    _add_prefix(own, j, met, n_present, votes, work, out[i])
            s += g
            position = end
