"""Compiled loops for draws with replacement, where copies vote as often as they are drawn.

Given that a sample is out of bag, the n draws are independent and uniform over the N others. The
k nearest draws are u draws from a prefix of s items and k-u from the tie group of g items that
follows (a single item is a group of one), with probability

    W(u) = P(Bin(n, s/N) = u) · P(Bin(n-u, g/(N-s)) ≥ k-u),        u < k,

and given u the voters are independent and uniform within prefix and group. So a class with n_d
items gets Poisson weights P[n_d, b] = e^(-θ n_d) (θ n_d)^b / b! where drawing without replacement
has binomial ones; in all ratios the rates cancel.

Where the group is a single item, of class e, all of its draws are votes for e: the weights of the
other classes stay what they are, and those of e become Σ_i W(k-i) P[n_e, b-i] / P[s, k-i]. So the
ranks of a row without ties go through the votes side by side.
"""

import numpy as np
from numba import njit

from allsplits.exact._kernels import group_end, poisson_row
from allsplits.exact._kernels_around import LANES, add_every_win
from allsplits.exact.kernel_types import EveryWinWork, Quadrature, Voters

__all__ = ["bootstrap_hits", "bootstrap_scores", "bootstrap_untied"]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _end_weights(n_draws, n_candidates, s, g, k, out):
    """out[u] = W(u) for u < k; returns their sum."""
    inside = s / n_candidates
    rest = n_candidates - s
    p = g / rest
    # P(exactly u draws in the prefix), upwards from u = 0.
    exactly = (1.0 - inside) ** n_draws
    total = 0.0
    for u in range(k):
        left = n_draws - u
        at_least = 1.0
        if g < rest:
            pmf = (1.0 - p) ** left
            for x in range(k - u):
                at_least -= pmf
                pmf *= (left - x) / (x + 1.0) * p / (1.0 - p)
        elif left < k - u:
            at_least = 0.0
        out[u] = exactly * max(at_least, 0.0)
        total += out[u]
        exactly *= (n_draws - u) / (u + 1.0) * inside / (1.0 - inside)
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _win_pair(
    target,
    present,
    n_present,
    counts,
    group,
    s,
    g,
    k,
    end_weights,
    share,
    nodes,
    weights,
    rows,
    group_rows,
    poly,
    temp,
):
    """Σ_u W(u) · P(target wins | u draws from the prefix, k-u from the group)."""
    theta = k / (s + 1.0)
    phi = k / (g + 1.0)
    for e in range(n_present):
        d = present[e]
        poisson_row(theta * counts[d], k, rows[e])
        poisson_row(phi * group[d], k, group_rows[e])
    total = 0.0
    for v in range(1, k + 1):
        order = min(n_present - 1, (k - v) // v) // 2 + 1 if share else 1
        limit = k - v
        for q in range(order):
            y_share = nodes[order, q] if share else 1.0
            for u in range(limit + 1):
                for i in range(limit + 1 - u):
                    poly[u, i] = 0.0
            poly[0, 0] = 1.0
            mine = 0
            for e in range(n_present):
                d = present[e]
                if d == target:
                    mine = e
                    continue
                y = y_share if share or d > target else 0.0
                for u in range(limit + 1):
                    for i in range(limit + 1 - u):
                        value = 0.0
                        for b in range(min(u, v) + 1):
                            for beta in range(min(i, v - b) + 1):
                                factor = rows[e, b] * group_rows[e, beta]
                                if b + beta == v:
                                    factor *= y
                                value += factor * poly[u - b, i - beta]
                        temp[u, i] = value
                for u in range(limit + 1):
                    for i in range(limit + 1 - u):
                        poly[u, i] = temp[u, i]
            scale = weights[order, q] if share else 1.0
            for b in range(v + 1):
                votes = scale * rows[mine, b] * group_rows[mine, v - b]
                for u in range(limit + 1):
                    # u + b voters from the prefix, the others from the group.
                    if u + b < k:
                        total += votes * poly[u, limit - u] * end_weights[u + b]
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _normalise(end_weights, s, g, k, row, group_row):
    """Divide W(u) by the Poisson weights of u draws from the prefix and k-u from the group."""
    poisson_row(k / (s + 1.0) * s, k, row)
    poisson_row(k / (g + 1.0) * g, k, group_row)
    for u in range(k):
        if end_weights[u] > 0.0:
            end_weights[u] /= row[u] * group_row[k - u]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _fill_rank(x, s, e, k, present, n_present, counts, end_weights, row, rows):
    """Lane x: Poisson weights after s items, those of class e with the draws of its next item."""
    theta = k / (s + 1.0)
    poisson_row(theta * s, k, row)
    for u in range(k):
        if end_weights[u] > 0.0:
            end_weights[u] /= row[u]
    for m in range(n_present):
        d = present[m]
        poisson_row(theta * counts[d], k, row)
        for b in range(k + 1):
            value = row[b]
            if d == e:
                value = 0.0
                for i in range(1, b + 1):
                    value += end_weights[k - i] * row[b - i]
            rows[d, b, x] = value


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _meet_ranks(labels, first, last, counts, present):
    """Classes that are met before `last`, in order."""
    for e in range(first, last):
        counts[labels[e]] += 1
    n_present = np.int64(0)
    for d in range(len(counts)):
        if counts[d] > 0:
            present[n_present] = d
            n_present += 1
    for e in range(first, last):
        counts[labels[e]] -= 1
    return n_present


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _untied_row(
    labels, n_draws, n_candidates, k, share, nodes, weights, counts, present, most, end_weights,
    row, rows, own, left, right, degrees, sums, wins,
):  # fmt: skip
    """wins[d, lanes]: what sums up to P(class d wins) for one row and one k."""
    depth = len(labels)
    for d in range(len(counts)):
        counts[d], most[d] = 0, k
        for x in range(LANES):
            wins[d, x] = 0.0
    for s in range(0, depth, LANES):
        n_ranks = min(LANES, depth - s)
        n_present = _meet_ranks(labels, s, s + n_ranks, counts, present)
        for x in range(n_ranks):
            e = labels[s + x]
            mass = _end_weights(n_draws, n_candidates, s + x, 1, k, end_weights)
            if n_present == 1:
                wins[e, x] += mass
            else:
                _fill_rank(x, s + x, e, k, present, n_present, counts, end_weights, row, rows)
            counts[e] += 1
        if n_present > 1:
            # Lanes beyond the ranks: a row of zeros makes their products zero.
            for m in range(n_present):
                for b in range(k + 1):
                    for x in range(n_ranks, LANES):
                        rows[present[m], b, x] = 0.0
            voters = Voters(present[:n_present], most, rows)
            work = EveryWinWork(own, left, right, degrees, sums)
            add_every_win(voters, k, share, Quadrature(nodes, weights), work, wins)


@njit(nogil=True, cache=True, error_model="numpy")
def bootstrap_untied(
    indptr, labels, own, start, stop, n_classes, n_draws, n_candidates, depth, every_class, share,
    ks, nodes, weights, out,
):  # fmt: skip
    """As `bootstrap_scores`, for rows without ties."""
    size = ks.max() + 1
    counts = np.empty(n_classes, np.int64)
    present = np.empty(n_classes, np.int64)
    most = np.empty(n_classes, np.int64)
    degrees = np.empty((2, n_classes), np.int64)
    rows = np.empty((n_classes, size, LANES))
    left = np.empty((n_classes, size, LANES))
    right = np.empty((n_classes, size, LANES))
    saved = np.empty((n_classes, LANES))
    wins = np.empty((n_classes, LANES))
    sums = np.empty(LANES)
    end_weights = np.empty(size)
    row = np.empty(size)
    for i in range(start, stop):
        for column in range(len(ks)):
            _untied_row(
                labels[indptr[i] : indptr[i] + depth], n_draws, n_candidates, ks[column], share,
                nodes, weights, counts, present, most, end_weights, row, rows, saved, left, right,
                degrees, sums, wins,
            )  # fmt: skip
            for d in range(n_classes):
                if every_class or d == own[i]:
                    for x in range(LANES):
                        out[i, d if every_class else column] += wins[d, x]


@njit(nogil=True, cache=True, error_model="numpy")
def bootstrap_scores(
    indptr,
    labels,
    tied,
    own,
    start,
    stop,
    n_classes,
    n_draws,
    n_candidates,
    depth,
    every_class,
    average,
    share,
    ks,
    nodes,
    weights,
    out,
):
    """P(right) of each row for each k, or with every_class P(each class) for the only k."""
    k_max = ks.max()
    counts = np.zeros(n_classes, np.int64)
    group = np.zeros(n_classes, np.int64)
    present = np.empty(n_classes, np.int64)
    rows = np.empty((n_classes, k_max + 1))
    group_rows = np.empty((n_classes, k_max + 1))
    poly = np.empty((k_max + 1, k_max + 1))
    temp = np.empty((k_max + 1, k_max + 1))
    end_weights = np.empty(k_max + 1)
    for i in range(start, stop):
        counts[:] = 0
        n_present = np.int64(0)
        position = indptr[i]
        s = np.int64(0)
        while s < depth:
            end = group_end(tied, position, indptr[i + 1], average)
            g = end - position
            for e in range(position, end):
                c = labels[e]
                if counts[c] + group[c] == 0:
                    present[n_present] = c
                    n_present += 1
                group[c] += 1
            for column in range(len(ks)):
                k = ks[column]
                mass = _end_weights(n_draws, n_candidates, s, g, k, end_weights)
                if mass == 0.0:
                    continue
                if n_present == 1:
                    if every_class:
                        out[i, present[0]] += mass
                    elif present[0] == own[i]:
                        out[i, column] += mass
                    continue
                _normalise(end_weights, s, g, k, rows[0], group_rows[0])
                for e in range(n_present):
                    target = present[e]
                    if every_class or target == own[i]:
                        out[i, target if every_class else column] += _win_pair(
                            target,
                            present,
                            n_present,
                            counts,
                            group,
                            s,
                            g,
                            k,
                            end_weights,
                            share,
                            nodes,
                            weights,
                            rows,
                            group_rows,
                            poly,
                            temp,
                        )
            for e in range(position, end):
                counts[labels[e]] += 1
                group[labels[e]] = 0
            s += g
            position = end


@njit(nogil=True, cache=True, error_model="numpy")
def bootstrap_hits(
    indptr, labels, tied, own, start, stop, n_draws, n_candidates, depth, average, ks, out
):
    """P(any of the R nearest draws has the right class): nobody has it with (1-o/s)^u (1-γ/g)^i."""
    end_weights = np.empty(ks.max() + 1)
    for i in range(start, stop):
        position = indptr[i]
        s = np.int64(0)
        n_own = np.int64(0)
        while s < depth:
            end = group_end(tied, position, indptr[i + 1], average)
            g = end - position
            g_own = 0
            for e in range(position, end):
                if labels[e] == own[i]:
                    g_own += 1
            outside = 1.0 - n_own / s if s > 0 else 1.0
            group_outside = 1.0 - g_own / g
            for column in range(len(ks)):
                k = ks[column]
                _end_weights(n_draws, n_candidates, s, g, k, end_weights)
                for u in range(k):
                    miss = outside**u * group_outside ** (k - u)
                    out[i, column] += end_weights[u] * (1.0 - miss)
            n_own += g_own
            s += g
            position = end
