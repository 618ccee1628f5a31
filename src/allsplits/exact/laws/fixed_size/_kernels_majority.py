"""Compiled loops of the majority vote: P(a class wins | prefix), for many k at once.

For a class with n_c items in the prefix that gets v votes, the other k - v votes must be shared so
that nobody has more than v (Section "More than two classes" of the mathematics):

    P(c wins) = Σ_v T[n_c, v] · [z^(k-v)] Π_{d≠c} F_d(z) / T[j, k],
    F_d(z) = Σ_{b<v} T[n_d, b] z^b + y_d · T[n_d, v] z^v.

y_d says what a tie with class d is worth: 1 if c comes first in class order, 0 if d does. With
shared ties the value is ∫₀¹ Π F_d dy, because ∫ y^r dy = 1/(r+1) is c's share among r+1 tied
classes; Gauss-Legendre nodes integrate that polynomial exactly. Classes that hardly ever reach v
votes are merged: the product of their factors is T[Σ n_d, ·] (Vandermonde). The factors do not
depend on k, so one pass gives every k.

Most of it need not be computed. Numbers of votes v that a class hardly ever has, or that some rival
hardly ever stays below, are passed over (`_open_votes`), and usually one or two rivals are left
that are not free (`_rivals_of_votes`).
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels import group_end
from allsplits.exact.kernel_types import aligned_space
from allsplits.exact.laws.fixed_size._kernels_rivals import (
    Integers,
    Met,
    Spans,
    Votes,
    keep_two,
    meet_one,
    new_met,
    new_spans,
    quadrature_order,
    span_of,
    start_row,
)
from allsplits.exact.laws.fixed_size._kernels_tied import TiedWork, add_mixed_group, new_tied_work

Floats = NDArray[np.float64]


class VoteWork(NamedTuple):
    """Scratch of a vote.

    Attributes
    ----------
    spans : Spans
    low, high, n_rivals : array of shape (votes + 1,)
        With v votes a class may win votes of low[v] to high[v], and n_rivals[v] are not free then.
    room : array of shape (votes + 1,)
        The most votes there can be if nobody has more than v.
    items, after : array of shape (classes,)
        Items of the rivals, most first, and whether they come after the class.
    first, poly, temp : array of shape (votes + 1,)
        Ways of the first rival and the free ones, a polynomial, and the next one.
    wins : array of shape (votes + 1,)
        wins[k] of one class.
    """

    spans: Spans
    low: Integers
    high: Integers
    n_rivals: Integers
    room: Integers
    items: Integers
    after: NDArray[np.bool_]
    first: Floats
    poly: Floats
    temp: Floats
    wins: Floats


def work_space(n_classes: int, votes: Votes, tied: bool) -> tuple[Met, VoteWork, TiedWork | None]:
    """Space to meet the classes of a row and to count votes; with `tied` also in tie groups."""
    size = votes.ways.table.shape[1]
    depth = votes.columns.masses.shape[1] - 1
    low, high, n_rivals, room = np.empty((4, size), np.int64)
    first, poly, temp, wins = (aligned_space(size) for _ in range(4))
    work = VoteWork(
        new_spans(depth, size), low, high, n_rivals, room, np.empty(n_classes, np.int64),
        np.empty(n_classes, np.bool_), first, poly, temp, wins,
    )  # fmt: skip
    tied_work = new_tied_work(n_classes, len(votes.columns.ks), size) if tied else None
    return new_met(n_classes), work, tied_work


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _times_capped(poly, degree, line, v, y, top, limit, temp):
    """Multiply poly by F_d, which has `top` votes at most, up to `limit`; return the new degree."""
    new_degree = min(degree + top, limit)
    for e in range(new_degree + 1):
        temp[e] = 0.0
    for b in range(top + 1):
        factor = line[b] * y if b == v else line[b]
        # Sums side by side, not one after the other: this is vectorised.
        part = temp[b : min(b + degree, new_degree) + 1]
        for e in range(len(part)):
            part[e] += factor * poly[e]
    for e in range(new_degree + 1):
        poly[e] = temp[e]
    return new_degree


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _first_certain(n_own, k_range, reach, stay):
    """The smallest k from which on a class wins nearly always: nobody else reaches what it has.

    `reach` is that of the largest rival, `stay` that of the class.
    """
    first = k_range[1] + 1
    for v in range(min(n_own, k_range[1]), 0, -1):
        if reach[v] >= first - 1 and stay[v - 1] < first:
            first = max(np.int64(stay[v - 1]), k_range[0])
    return first


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _open_votes(n_own, k_range, own, top, work):
    """Fill low and high: which votes of k a class may win with v, as far as the largest rival goes.

    `own` and `top` are the lines of the class and of that rival. Returns the largest v, 0 if the
    class hardly ever wins.
    """
    k_low, k_high = k_range
    reach, stay, last = work.spans.reach[own], work.spans.stay, np.int64(0)
    for v in range(1, min(n_own, k_high) + 1):
        low = max(k_low, v, reach[v] + 1)
        high = min(k_high, stay[own, v] - 1, stay[top, v] - 1)
        work.low[v], work.high[v] = low, high
        if low <= high:
            last = np.int64(v)
    return last


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _list_rivals(target, last, j, met, n_present, columns, table, work):
    """Fill items, after and n_rivals: against whom the class wins with v votes, v up to `last`.

    No more votes can be shared out than `high`, if nobody has more than v.
    """
    n, items = np.int64(0), work.items
    reach, n_own = work.spans.reach, met.prefix[target]
    for v in range(1, last + 1):
        work.n_rivals[v] = 0
        work.room[v] = j - n_own + v
    for e in range(n_present):
        d = met.ranked[e]
        if d == target or met.prefix[d] == 0:
            continue
        items[n], work.after[n] = met.prefix[d], d > target
        line, needed = span_of(j, items[n], columns, table, work.spans), False
        n += 1
        for v in range(1, last + 1):
            work.room[v] -= max(items[n - 1] - v, 0)
            work.high[v] = min(work.high[v], work.room[v])
            if work.low[v] <= work.high[v] and reach[line, v] < work.high[v]:
                work.n_rivals[v], needed = n, True
        # Those with fewer items are free as well.
        if not needed:
            break


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _add_votes(b, factor, rest, free, r_high, ways):
    """ways[r] += factor · rest[r - b]: the first rival has b of r votes, `free` items the rest."""
    part = ways[b : min(r_high, b + free) + 1]
    for r in range(len(part)):
        part[r] += factor * rest[r]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _add_capped(v, scale, free, share, ways, work):
    """wins[k] += scale · Σ over the votes of the rivals, of which n_rivals[v] are not free.

    The others have `free` items. work.first[r] are the ways of the first rival and those to share r
    votes.
    """
    table, poly, temp, wins, items = ways.table, work.poly, work.temp, work.wins, work.items
    low, high, m = work.low[v], work.high[v], work.n_rivals[v]
    limit, order = high - v, quadrature_order(m, v, high, share)
    for q in range(order):
        y = ways.quadrature.nodes[order, q] if share else 1.0
        weight = scale * (ways.quadrature.weights[order, q] if share else 1.0)
        degree = np.int64(0)
        poly[0] = 1.0
        for e in range(m):
            y_e = y if share or work.after[e] else 0.0
            top = min(v if y_e > 0.0 else v - 1, limit, items[e])
            degree = _times_capped(poly, degree, table[items[e]], v, y_e, top, limit, temp)
        for k in range(low, high + 1):
            temp[k] = 0.0
        for b in range(max(0, low - v - free), degree + 1):
            factor = poly[b]
            first = max(low, v + b)
            part = temp[first : min(high, v + b + free) + 1]
            rest = table[free, first - v - b :]
            for k in range(len(part)):
                part[k] += factor * rest[k]
        for k in range(low, high + 1):
            wins[k] += weight * temp[k]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _add_wins(last, n_own, j, stay, share, ways, work):
    """wins[k] += what each number of votes up to `last` gives.

    One vote more for the class lets its first rival have one more: work.first grows with v.
    """
    table, items, first = ways.table, work.items, work.first
    rest, own, line, r_high = table[j - n_own], table[n_own], table[items[0]], np.int64(0)
    for v in range(1, last + 1):
        if work.high[v] >= work.low[v]:
            r_high = max(r_high, work.high[v] - v)
    m, free, b = np.int64(0), np.int64(0), np.int64(0)
    for v in range(1, last + 1):
        low, high = work.low[v], work.high[v]
        if high < low:
            continue
        if work.n_rivals[v] == 0:
            part, others = work.wins[low : high + 1], rest[low - v :]
            for k in range(len(part)):
                part[k] += own[v] * others[k]
            continue
        if work.n_rivals[v] != m:
            m, free, b = work.n_rivals[v], j - n_own, np.int64(0)
            for e in range(m):
                free -= items[e]
            for r in range(r_high + 1):
                first[r] = 0.0
            while b < v - 1 and stay[b] <= low:
                b += 1
        if share or m > 2:
            _add_capped(v, own[v], free, share, ways, work)
            continue
        while b <= min(v if work.after[0] else v - 1, items[0], r_high):
            _add_votes(b, line[b], table[free], free, r_high, first)
            b += 1
        if m == 1:
            part, found = work.wins[low : high + 1], first[low - v :]
            for k in range(len(part)):
                part[k] += own[v] * found[k]
            continue
        second, start = table[items[1]], low - v
        for b_second in range(min(v if work.after[1] else v - 1, items[1], high - v) + 1):
            factor, start = own[v] * second[b_second], max(low, v + b_second)
            part, found = work.wins[start : high + 1], first[start - v - b_second :]
            for k in range(len(part)):
                part[k] += factor * found[k]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def fill_wins(target, j, met, n_present, votes, work):
    """wins[k] = P(a class wins | uniform k-subset of the prefix of j, which is met).

    Returns whether it may win at all.
    """
    table, wins, columns, spans = votes.ways.table, work.wins, votes.columns, work.spans
    n_own, k_low, k_high = met.prefix[target], columns.k_low[j], columns.k_high[j]
    if n_own == j:
        for k in range(k_low, k_high + 1):
            wins[k] = 1.0
        return True
    if n_own == 0:
        return False
    own = span_of(j, n_own, columns, table, spans)
    first = met.ranked[0] if met.ranked[0] != target else met.ranked[1]
    top = span_of(j, met.prefix[first], columns, table, spans)
    if own == 0 or top == 0:
        own, top = keep_two(j, n_own, met.prefix[first], columns, table, spans)
    certain = _first_certain(n_own, (k_low, k_high), spans.reach[top], spans.stay[own])
    last = _open_votes(n_own, (k_low, certain - 1), own, top, work)
    if last == 0 and certain > k_high:
        return False
    for k in range(k_low, k_high + 1):
        wins[k] = 1.0 if k >= certain else 0.0
    if last > 0:
        _list_rivals(target, last, j, met, n_present, columns, table, work)
        _add_wins(last, n_own, j, spans.stay[top], votes.rule.share, votes.ways, work)
        for k in range(k_low, certain):
            wins[k] /= table[j, k]
    return True


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _add_prefix(own, j, met, n_present, votes, work, out):
    """Add what the prefix of length j is worth to the columns, or to the classes of column 0."""
    rule, ks, masses = votes.rule, votes.columns.ks, votes.by_length[j]
    for e in range(n_present):
        target = met.present[e]
        if not rule.every_class and target != own:
            continue
        if fill_wins(target, j, met, n_present, votes, work):
            for c in range(len(ks)):
                if masses[c] > 0.0:
                    out[target if rule.every_class else c] += masses[c] * work.wins[ks[c]]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def score_untied(rows, start, stop, votes, met, work, out):
    """P(right) of each row for each column, or, with every_class, P(each class) for column 0.

    Ties play no part.
    """
    k_high = votes.columns.k_high
    for i in range(start, stop):
        start_row(met)
        n_present = np.int64(0)
        for j in range(1, votes.columns.masses.shape[1]):
            c = rows.labels[rows.indptr[i] + j - 1]
            n_present = meet_one(c, met.prefix, met, n_present)
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
            g, mixed = end - position, False
            for e in range(position + 1, end):
                mixed = mixed or labels[e] != labels[position]
            if mixed:
                for e in range(position, end):
                    n_present = meet_one(labels[e], group, met, n_present)
                add_mixed_group(own, (s, g, n_present), met, votes, tied_work, out[i])
                for e in range(position, end):
                    group[labels[e]] = 0
                    prefix[labels[e]] += 1
            for j in range(s + g if mixed else s + 1, min(s + g, depth) + 1):
                if not mixed:
                    n_present = meet_one(labels[position], prefix, met, n_present)
                if k_high[j] > 0:
                    _add_prefix(own, j, met, n_present, votes, work, out[i])
            s += g
            position = end
