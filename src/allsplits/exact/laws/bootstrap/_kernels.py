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

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels import group_end, poisson_row
from allsplits.exact._kernels_around import LANES, add_every_win
from allsplits.exact.kernel_types import Contenders, EveryWinWork, Quadrature
from allsplits.exact.laws.fixed_size._kernels_own import count_own

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class BootstrapDraws(NamedTuple):
    """How many draws there are among how many candidates, and how many of these matter."""

    n_draws: int
    n_candidates: int
    depth: int


class Votes(NamedTuple):
    """The votes that are asked for: ks[column] voters."""

    ks: Integers
    n_classes: int
    quadrature: Quadrature


class _PairWork(NamedTuple):
    """Scratch of a tie group: W(u); for each class that is met its weights in prefix and group.

    Then a polynomial poly[u, i] (u voters from the prefix, i from the group), and the next one.
    """

    end_weights: Floats
    rows: Floats
    group_rows: Floats
    poly: Floats
    temp: Floats


class RankLines(NamedTuple):
    """Scratch of a rank: items of each class so far, W(u), one row."""

    counts: Integers
    end_weights: Floats
    row: Floats


class _RankWork(NamedTuple):
    """Scratch of rows without ties: of one rank, the voters, and of all wins."""

    lines: RankLines
    contenders: Contenders
    every_win: EveryWinWork


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def weigh_ends(draws, s, g, k, out):
    """out[u] = W(u) for u < k; returns their sum."""
    n_draws = draws.n_draws
    inside = s / draws.n_candidates
    rest = draws.n_candidates - s
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
def _fill_pair(present, counts, group, s, g, k, work):
    """W(u) by the Poisson weights of u draws from the prefix and k-u from the group; the rows."""
    end_weights, rows, group_rows = work.end_weights, work.rows, work.group_rows
    theta = k / (s + 1.0)
    phi = k / (g + 1.0)
    poisson_row(theta * s, k, rows[0])
    poisson_row(phi * g, k, group_rows[0])
    for u in range(k):
        if end_weights[u] > 0.0:
            end_weights[u] /= rows[0, u] * group_rows[0, k - u]
    for e in range(len(present)):
        poisson_row(theta * counts[present[e]], k, rows[e])
        poisson_row(phi * group[present[e]], k, group_rows[e])


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _times_capped_pair(poly, temp, row, group_row, limit, v, y):
    """Multiply poly[u, i] (u voters from the prefix, i from the group) by a class's two rows.

    The class has at most v votes, v of them are worth y; all classes but one have at most `limit`.
    """
    for u in range(limit + 1):
        for i in range(limit + 1 - u):
            temp[u, i] = 0.0
        for b in range(min(u, v) + 1):
            before = poly[u - b]
            for beta in range(min(limit - u, v - b) + 1):
                factor = row[b] * group_row[beta]
                if b + beta == v:
                    factor *= y
                # Sums side by side, not one after the other: this is vectorised.
                part = temp[u, beta : limit + 1 - u]
                for i in range(len(part)):
                    part[i] += factor * before[i]
    for u in range(limit + 1):
        for i in range(limit + 1 - u):
            poly[u, i] = temp[u, i]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _win_pair(mine, present, k, share, quadrature, work):
    """Σ_u W(u) · P(class present[mine] wins | u draws from the prefix, k-u from the group)."""
    end_weights, rows, group_rows, poly, temp = work
    nodes, weights = quadrature
    total = 0.0
    for v in range(1, k + 1):
        order = min(len(present) - 1, (k - v) // v) // 2 + 1 if share else 1
        limit = k - v
        for q in range(order):
            y_share = nodes[order, q] if share else 1.0
            for u in range(limit + 1):
                for i in range(limit + 1 - u):
                    poly[u, i] = 0.0
            poly[0, 0] = 1.0
            for e in range(len(present)):
                if e != mine:
                    y = y_share if share or present[e] > present[mine] else 0.0
                    _times_capped_pair(poly, temp, rows[e], group_rows[e], limit, v, y)
            scale = weights[order, q] if share else 1.0
            for b in range(v + 1):
                votes = scale * rows[mine, b] * group_rows[mine, v - b]
                for u in range(limit + 1):
                    # u + b voters from the prefix, the others from the group.
                    if u + b < k:
                        total += votes * poly[u, limit - u] * end_weights[u + b]
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def fill_rank(x, s, e, k, contenders, lines):
    """Lane x: Poisson weights after s items, those of class e with the draws of its next item."""
    weights, row, rows = lines.end_weights, lines.row, contenders.rows
    theta = k / (s + 1.0)
    poisson_row(theta * s, k, row)
    for u in range(k):
        if weights[u] > 0.0:
            weights[u] /= row[u]
    for m in range(len(contenders.present)):
        d = contenders.present[m]
        poisson_row(theta * lines.counts[d], k, row)
        for b in range(k + 1):
            value = row[b]
            if d == e:
                value = 0.0
                for i in range(1, b + 1):
                    value += weights[k - i] * row[b - i]
            rows[d, b, x] = value


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def meet_ranks(labels, first, last, counts, present):
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
def _untied_row(labels, k, share, draws, quadrature, work, wins):
    """wins[d, lanes]: what sums up to P(class d wins) for one row and one k."""
    lines = work.lines
    counts = lines.counts
    present, most, rows = work.contenders
    for d in range(len(counts)):
        counts[d], most[d] = 0, k
        for x in range(LANES):
            wins[d, x] = 0.0
    for s in range(0, len(labels), LANES):
        n_ranks = min(LANES, len(labels) - s)
        n_present = meet_ranks(labels, s, s + n_ranks, counts, present)
        contenders = Contenders(present[:n_present], most, rows)
        for x in range(n_ranks):
            e = labels[s + x]
            mass = weigh_ends(draws, s + x, 1, k, lines.end_weights)
            if n_present == 1:
                wins[e, x] += mass
            else:
                fill_rank(x, s + x, e, k, contenders, lines)
            counts[e] += 1
        if n_present > 1:
            # Lanes beyond the ranks: a row of zeros makes their products zero.
            for m in range(n_present):
                for b in range(k + 1):
                    for x in range(n_ranks, LANES):
                        rows[present[m], b, x] = 0.0
            add_every_win(contenders, k, share, quadrature, work.every_win, wins)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _rank_work(n_classes, size):
    counts = np.empty(n_classes, np.int64)
    present, most = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    contenders = Contenders(present, most, np.empty((n_classes, size, LANES)))
    every_win = EveryWinWork(
        np.empty((n_classes, LANES)),
        np.empty((n_classes, size, LANES)),
        np.empty((n_classes, size, LANES)),
        np.empty((2, n_classes), np.int64),
        np.empty(LANES),
    )
    return _RankWork(RankLines(counts, np.empty(size), np.empty(size)), contenders, every_win)


@njit(nogil=True, cache=True, error_model="numpy")
def bootstrap_untied(rows, start, stop, rule, draws, votes, out):
    """As `bootstrap_scores`, for rows without ties."""
    ks = votes.ks
    work = _rank_work(votes.n_classes, ks.max() + 1)
    wins = np.empty((votes.n_classes, LANES))
    for i in range(start, stop):
        labels = rows.labels[rows.indptr[i] : rows.indptr[i] + draws.depth]
        for column in range(len(ks)):
            _untied_row(labels, ks[column], rule.share, draws, votes.quadrature, work, wins)
            for d in range(votes.n_classes):
                if rule.every_class or d == rows.own[i]:
                    for x in range(LANES):
                        out[i, d if rule.every_class else column] += wins[d, x]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _pair_work(n_classes, size):
    rows, group_rows = np.empty((n_classes, size)), np.empty((n_classes, size))
    poly, temp = np.empty((size, size)), np.empty((size, size))
    return _PairWork(np.empty(size), rows, group_rows, poly, temp)


@njit(nogil=True, cache=True, error_model="numpy")
def bootstrap_scores(rows, start, stop, rule, draws, votes, out):
    """P(right) of each row for each k, or with every_class P(each class) for the only k."""
    ks, n_classes = votes.ks, votes.n_classes
    counts, group = np.zeros(n_classes, np.int64), np.zeros(n_classes, np.int64)
    met = np.empty(n_classes, np.int64)
    work = _pair_work(n_classes, ks.max() + 1)
    for i in range(start, stop):
        counts[:] = 0
        n_present = np.int64(0)
        position = rows.indptr[i]
        s = np.int64(0)
        while s < draws.depth:
            end = group_end(rows.tied, position, rows.indptr[i + 1], rule.average)
            g = end - position
            for e in range(position, end):
                c = rows.labels[e]
                if counts[c] + group[c] == 0:
                    met[n_present] = c
                    n_present += 1
                group[c] += 1
            present = met[:n_present]
            for column in range(len(ks)):
                k = ks[column]
                mass = weigh_ends(draws, s, g, k, work.end_weights)
                if mass == 0.0:
                    continue
                if n_present > 1:
                    _fill_pair(present, counts, group, s, g, k, work)
                for e in range(n_present):
                    if rule.every_class or present[e] == rows.own[i]:
                        win = mass
                        if n_present > 1:
                            win = _win_pair(e, present, k, rule.share, votes.quadrature, work)
                        out[i, present[e] if rule.every_class else column] += win
            for e in range(position, end):
                counts[rows.labels[e]] += 1
                group[rows.labels[e]] = 0
            s += g
            position = end


@njit(nogil=True, cache=True, error_model="numpy")
def bootstrap_ranked(rows, start, stop, average, draws, ks, out):
    """P(any of the R nearest draws has the right class): nobody has it with (1-o/s)^u (1-γ/g)^i."""
    end_weights = np.empty(ks.max() + 1)
    for i in range(start, stop):
        position = rows.indptr[i]
        s = np.int64(0)
        n_own = np.int64(0)
        while s < draws.depth:
            end = group_end(rows.tied, position, rows.indptr[i + 1], average)
            g = end - position
            g_own = count_own(rows.labels, position, end, rows.own[i])
            outside = 1.0 - n_own / s if s > 0 else 1.0
            group_outside = 1.0 - g_own / g
            for column in range(len(ks)):
                k = ks[column]
                weigh_ends(draws, s, g, k, end_weights)
                for u in range(k):
                    miss = outside**u * group_outside ** (k - u)
                    out[i, column] += end_weights[u] * (1.0 - miss)
            n_own += g_own
            s += g
            position = end
