"""Compiled loops of the majority vote: P(a class wins | prefix), for many k at once.

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

import numpy as np
from numba import njit

from allsplits.exact._kernels import binomial_row, group_end, tie_weights

__all__ = ["RARE", "score_columns"]

#: Numbers of votes less probable than this are left out.
RARE = 2.0**-64


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _quadrature_order(others, n_others, v, k_high, share):
    """Nodes needed: r tied rivals give a polynomial of degree r in y."""
    if not share:
        return 1
    rivals = 0
    for d in range(n_others):
        if others[d] >= v:
            rivals += 1
    return min(rivals, (k_high - v) // v) // 2 + 1


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
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


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _rare(n_own, v, j, k, table):
    """Whether k voters from a prefix of j have v of the n_own with a probability below 2⁻⁶⁴."""
    return table[n_own, v] * table[j - n_own, k - v] < RARE * table[j, k]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _wins_plain(
    n_own, others, after, n_others, j, k_low, k_high, table, nodes, weights, share, poly, temp, wins
):
    """wins[k] = P(own class wins | uniform k-subset of the prefix) for k_low ≤ k ≤ k_high."""
    for k in range(k_low, k_high + 1):
        wins[k] = 0.0
    for v in range(1, min(n_own, k_high) + 1):
        reach = v
        for d in range(n_others):
            reach += min(others[d], v)
        low = max(k_low, v)
        high = min(k_high, reach)
        # Numbers of own votes that practically never happen: `VoteTable.rounding` covers them.
        while low <= high and _rare(n_own, v, j, low, table):
            low += 1
        while high >= low and _rare(n_own, v, j, high, table):
            high -= 1
        if high < low:
            continue
        order = _quadrature_order(others, n_others, v, high, share)
        for q in range(order):
            y_after = nodes[order, q] if share else 1.0
            y_before = nodes[order, q] if share else 0.0
            scale = table[n_own, v] * (weights[order, q] if share else 1.0)
            free = np.int64(0)
            degree = np.int64(-1)
            for d in range(n_others):
                y = y_after if after[d] else y_before
                if others[d] < v or (others[d] == v and y == 1.0):
                    free += others[d]
                else:
                    if degree < 0:
                        poly[0] = 1.0
                        degree = np.int64(0)
                    degree = _times_capped(poly, degree, table[others[d]], v, y, high - v, temp)
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


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _times_capped_pair(poly, row, group_row, n, g, v, y, limit, temp):
    """Two-variable version: poly[u, i] for u voters from the prefix, i from the tie group."""
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
def _add_tied(
    n_own,
    g_own,
    others,
    group_others,
    after,
    n_others,
    k_low,
    k_high,
    active,
    ks,
    omegas,
    phi,
    table,
    nodes,
    weights,
    share,
    poly,
    temp,
    row,
    sums,
    out,
):
    """Add the contribution of all prefixes that end inside a tie group to out[column]."""
    for d in range(n_others):
        sums[d] = others[d] + group_others[d]
    for v in range(1, min(n_own + g_own, k_high) + 1):
        reach = v
        for d in range(n_others):
            reach += min(sums[d], v)
        if reach < k_low:
            continue
        limit = min(k_high, reach) - v
        order = _quadrature_order(sums, n_others, v, min(k_high, reach), share)
        for q in range(order):
            y_after = nodes[order, q] if share else 1.0
            y_before = nodes[order, q] if share else 0.0
            free = np.int64(0)
            g_free = np.int64(0)
            for d in range(n_others):
                y = y_after if after[d] else y_before
                if sums[d] < v or (sums[d] == v and y == 1.0):
                    free += others[d]
                    g_free += group_others[d]
            binomial_row(g_free, limit, phi, row)
            for u in range(limit + 1):
                for i in range(limit + 1 - u):
                    poly[u, i] = table[free, u] * row[i]
            for d in range(n_others):
                y = y_after if after[d] else y_before
                if not (sums[d] < v or (sums[d] == v and y == 1.0)):
                    binomial_row(group_others[d], min(v, limit), phi, row)
                    _times_capped_pair(
                        poly, table[others[d]], row, others[d], group_others[d], v, y, limit, temp
                    )
            scale = weights[order, q] if share else 1.0
            binomial_row(g_own, v, phi, row)
            for c in range(len(ks)):
                k = ks[c]
                if not active[c] or k < v or k - v > limit:
                    continue
                for beta in range(max(0, v - n_own), min(g_own, v) + 1):
                    total = 0.0
                    for i in range(k - v + 1):
                        total += poly[k - v - i, i] * omegas[c, i + beta]
                    out[c] += scale * table[n_own, v - beta] * row[beta] * total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _gather_others(counts, group, present, n_present, own, others, group_others, after):
    """Counts of the classes other than `own`, and whether they come after it in class order."""
    n_others = np.int64(0)
    for e in range(n_present):
        d = present[e]
        if d != own:
            others[n_others] = counts[d]
            group_others[n_others] = group[d]
            after[n_others] = d > own
            n_others += 1
    return n_others


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _add_mixed_group(
    own,
    s,
    g,
    counts,
    group,
    present,
    n_present,
    every_class,
    share,
    ks,
    masses,
    table,
    nodes,
    weights,
    others,
    group_others,
    after,
    sums,
    active,
    omegas,
    row,
    poly,
    temp,
    column_out,
    out,
):
    """Prefixes that end inside a tie group of several classes, averaged over its orders."""
    depth = masses.shape[1] - 1
    k_max = table.shape[1] - 1
    phi = k_max / (k_max + g + 1.0)
    binomial_row(g, min(k_max, g), phi, row)
    k_low = k_max
    k_high = np.int64(0)
    for c in range(len(ks)):
        active[c] = tie_weights(s, g, depth, ks[c], masses[c], table, row, omegas[c])
        for extra in range(min(ks[c], g) + 1, k_max + 1):
            omegas[c, extra] = 0.0
        if active[c]:
            k_low = min(k_low, ks[c])
            k_high = max(k_high, ks[c])
    if k_high == 0:
        return
    for e in range(n_present):
        target = present[e]
        if not every_class and target != own:
            continue
        n_others = _gather_others(
            counts, group, present, n_present, target, others, group_others, after
        )
        for c in range(len(ks)):
            column_out[c] = 0.0
        _add_tied(
            counts[target],
            group[target],
            others,
            group_others,
            after,
            n_others,
            k_low,
            k_high,
            active,
            ks,
            omegas,
            phi,
            table,
            nodes,
            weights,
            share,
            poly,
            temp,
            row,
            sums,
            column_out,
        )
        for c in range(len(ks)):
            out[target if every_class else c] += column_out[c]


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _add_prefix(
    own,
    j,
    counts,
    group,
    present,
    n_present,
    every_class,
    share,
    ks,
    masses,
    k_low,
    k_high,
    table,
    nodes,
    weights,
    others,
    group_others,
    after,
    poly,
    temp,
    wins,
    out,
):
    """The prefix of length j, with the class counts it has."""
    for e in range(n_present):
        target = present[e]
        if not every_class and target != own:
            continue
        n_others = _gather_others(
            counts, group, present, n_present, target, others, group_others, after
        )
        if n_others == 0:
            for k in range(k_low, k_high + 1):
                wins[k] = 1.0
        else:
            _wins_plain(
                counts[target],
                others,
                after,
                n_others,
                j,
                k_low,
                k_high,
                table,
                nodes,
                weights,
                share,
                poly,
                temp,
                wins,
            )
        for c in range(len(ks)):
            if masses[c, j] > 0.0:
                out[target if every_class else c] += masses[c, j] * wins[ks[c]]


@njit(nogil=True, cache=True, error_model="numpy")
def score_columns(
    indptr,
    labels,
    tied,
    own,
    start,
    stop,
    n_classes,
    every_class,
    average,
    share,
    ks,
    masses,
    k_low_at,
    k_high_at,
    table,
    nodes,
    weights,
    out,
):
    """P(right) of each row for each column, or, with every_class, P(each class) for column 0.

    Walks the tie groups of each row. Groups of one class (a single item is one) need no average;
    inside a mixed group the prefixes are averaged over the orders of the group.
    """
    depth = masses.shape[1] - 1
    size = table.shape[1]
    pair_size = size if average else 1
    # Filled with zeros below: np.zeros takes half a second to compile.
    counts = np.empty(n_classes, np.int64)
    group = np.empty(n_classes, np.int64)
    present = np.empty(n_classes, np.int64)
    others = np.empty(n_classes, np.int64)
    group_others = np.empty(n_classes, np.int64)
    sums = np.empty(n_classes, np.int64)
    after = np.empty(n_classes, np.bool_)
    active = np.empty(len(ks), np.bool_)
    wins = np.empty(size)
    poly = np.empty(size)
    temp = np.empty(size)
    row = np.empty(size)
    pair_poly = np.empty((pair_size, pair_size))
    pair_temp = np.empty((pair_size, pair_size))
    omegas = np.empty((len(ks), size))
    column_out = np.empty(len(ks))
    for i in range(start, stop):
        for c in range(n_classes):
            counts[c] = 0
            group[c] = 0
        n_present = np.int64(0)
        position = indptr[i]
        s = np.int64(0)
        while s < depth:
            end = group_end(tied, position, indptr[i + 1], average)
            g = end - position
            mixed = False
            for e in range(position, end):
                c = labels[e]
                if counts[c] + group[c] == 0:
                    present[n_present] = c
                    n_present += 1
                group[c] += 1
                mixed = mixed or c != labels[position]
            if mixed:
                _add_mixed_group(
                    own[i],
                    s,
                    g,
                    counts,
                    group,
                    present,
                    n_present,
                    every_class,
                    share,
                    ks,
                    masses,
                    table,
                    nodes,
                    weights,
                    others,
                    group_others,
                    after,
                    sums,
                    active,
                    omegas,
                    row,
                    pair_poly,
                    pair_temp,
                    column_out,
                    out[i],
                )
            for e in range(position, end):
                group[labels[e]] = 0
                if mixed:
                    counts[labels[e]] += 1
            for j in range(s + g if mixed else s + 1, min(s + g, depth) + 1):
                if not mixed:
                    counts[labels[position]] += 1
                if k_high_at[j] > 0:
                    _add_prefix(
                        own[i],
                        j,
                        counts,
                        group,
                        present,
                        n_present,
                        every_class,
                        share,
                        ks,
                        masses,
                        k_low_at[j],
                        k_high_at[j],
                        table,
                        nodes,
                        weights,
                        others,
                        group_others,
                        after,
                        poly,
                        temp,
                        wins,
                        out[i],
                    )
            s += g
            position = end
