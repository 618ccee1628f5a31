"""Compiled votes with what each class has in them: the sets of voters that win, and who is in them.

A prefix without one item of class c has T[n_c - 1, b] = T[n_c, b] (1 - b/n_c)/(1 - θ) ways to give
it b votes. So the value without an item follows from the ways to win and, for each class, the mean
of b/n_c among them: the share of winning sets that hold a given item. All classes come from one
pass, with the products of the factors before and behind each of them; every sum is of positive
terms.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels import binomial_row
from allsplits.exact.kernel_types import aligned_space
from allsplits.exact.laws.fixed_size._kernels_rivals import RARE, is_free

Floats = NDArray[np.float64]


class ShareWork(NamedTuple):
    """Scratch of a vote.

    Attributes
    ----------
    capped, tops : array of shape (classes,)
        Rivals whose votes are capped, and the most votes of each.
    lines : array of shape (classes, votes)
        Their ways to have 0, 1, … votes.
    before, behind : array of shape (classes + 1, votes)
        Products of the rivals before and from each on.
    left, right : array of shape (classes + 1, votes, votes)
        The same in a tie group, by votes from the prefix and from the group.
    rest, factor : array of shape (votes, votes)
        All rivals but one, and that one.
    own : array of shape (votes,)
        Ways of the own class, by votes from the group.
    found : array of shape (2, votes)
        What the winning sets hold of a rival, by votes from the group.
    """

    capped: NDArray[np.int64]
    tops: NDArray[np.int64]
    lines: Floats
    before: Floats
    behind: Floats
    left: Floats
    right: Floats
    rest: Floats
    factor: Floats
    own: Floats
    found: Floats


class Shares(NamedTuple):
    """Winning sets, and the share of them that hold a given item of each class.

    Attributes
    ----------
    single : array of shape (classes,)
        For a prefix that ends at an item.
    wins : array of shape (votes,)
        For prefixes that end in a tie group, by voters from the group.
    prefix, group : array of shape (classes, votes)
        Those of `wins` that hold a given item before the group, or of it.
    """

    single: Floats
    wins: Floats
    prefix: Floats
    group: Floats


def new_share_work(n_classes: int, k: int) -> tuple[ShareWork, Shares]:
    """Space for votes of up to k."""
    size = k + 1
    work = ShareWork(
        np.empty(n_classes, np.int64),
        np.empty(n_classes, np.int64),
        aligned_space(n_classes, size),
        aligned_space(n_classes + 1, size),
        aligned_space(n_classes + 1, size),
        aligned_space(n_classes + 1, size, size),
        aligned_space(n_classes + 1, size, size),
        aligned_space(size, size),
        aligned_space(size, size),
        aligned_space(size),
        aligned_space(2, size),
    )
    lines = (aligned_space(n_classes, size) for _ in range(2))
    return work, Shares(np.empty(n_classes), aligned_space(size), *lines)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _nodes(own, v, most, share, met, n_present):
    """Nodes needed for shared ties: r rivals that may have v votes give degree r."""
    if not share:
        return 1
    able = 0
    prefix, group, present = met.prefix, met.group, met.present
    for e in range(n_present):
        d = present[e]
        if d != own and prefix[d] + group[d] >= v:
            able += 1
    return min(able, most // v) // 2 + 1


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _split_rivals(case, met, n_present, share, table, work):
    """(items of free rivals, number of capped ones, ways of those that may have no vote).

    Capped rivals are in work.capped, and what they may have in work.lines, up to work.tops votes.
    """
    own, v, R, y = case
    prefix, present, lines = met.prefix, met.present, work.lines
    capped, tops = work.capped, work.tops
    free, n_capped, silent = np.int64(0), np.int64(0), 1.0
    for e in range(n_present):
        d = present[e]
        items = prefix[d]
        if d == own or items == 0:
            continue
        y_d = y if share or d > own else 0.0
        if is_free(items, v, y_d):
            free += items
            continue
        top = min(v if y_d > 0.0 else v - 1, R)
        if top == 0:
            silent *= table[items, 0]
            continue
        for b in range(top + 1):
            lines[n_capped, b] = table[items, b]
        if top == v:
            lines[n_capped, v] *= y_d
        capped[n_capped], tops[n_capped] = d, top
        n_capped += 1
    return free, n_capped, silent


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _fill_products(free, n_capped, R, table, work):
    """work.before[m], work.behind[m]: products of the rivals before m, and from m on."""
    before, behind, lines, tops = work.before, work.behind, work.lines, work.tops
    for t in range(R + 1):
        before[0, t] = table[free, t]
        behind[n_capped, t] = 0.0
    behind[n_capped, 0] = 1.0
    for m in range(n_capped):
        top = tops[m]
        for t in range(R + 1):
            total = 0.0
            for b in range(min(t, top) + 1):
                total += lines[m, b] * before[m, t - b]
            before[m + 1, t] = total
    for m in range(n_capped - 1, -1, -1):
        top = tops[m]
        for t in range(R + 1):
            total = 0.0
            for b in range(min(t, top) + 1):
                total += lines[m, b] * behind[m + 1, t - b]
            behind[m, t] = total


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _add_capped(case, scale, met, n_present, share, table, work, shares):
    """Add what rivals have in winning sets.

    In the case (own, v, R, y) the own class has v votes, the rivals have R, and a rival with v
    is worth y. `scale` is what such a set counts; returns their number, so scaled.
    """
    own, v, R, y = case
    prefix, present, single = met.prefix, met.present, shares.single
    before, behind, lines = work.before, work.behind, work.lines
    capped, tops = work.capped, work.tops
    free, n_capped, silent = _split_rivals(case, met, n_present, share, table, work)
    reach = free
    for m in range(n_capped):
        reach += tops[m]
    won = 0.0
    if reach >= R:
        scale *= silent
        _fill_products(free, n_capped, R, table, work)
        won = scale * before[n_capped, R]
        for m in range(n_capped):
            held = 0.0
            for b in range(1, tops[m] + 1):
                ways = 0.0
                for t in range(R + 1 - b):
                    ways += before[m, t] * behind[m + 1, R - b - t]
                held += b * lines[m, b] * ways
            d = capped[m]
            single[d] += scale * held / prefix[d]
        if free > 0:
            held = 0.0
            for b in range(1, min(R, free) + 1):
                held += b * table[free, b] * behind[0, R - b]
            held *= scale / free
            for e in range(n_present):
                d = present[e]
                if d != own and is_free(prefix[d], v, y if share or d > own else 0.0):
                    single[d] += held
    return won


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def win_shares(own, j, k, met, n_present, votes, work, shares):
    """P(own class wins k votes | the prefix of j items that is met).

    shares.single[c] = P(it wins, and a given item of class c votes).
    """
    table, share = votes.ways.table, votes.rule.share
    nodes, weights = votes.ways.quadrature.nodes, votes.ways.quadrature.weights
    prefix, present, single = met.prefix, met.present, shares.single
    for e in range(n_present):
        single[present[e]] = 0.0
    n_own = prefix[own]
    others, both = j - n_own, table[j, k]
    total, of_own, of_rivals = 0.0, 0.0, 0.0
    for v in range(max(1, k - others), min(n_own, k) + 1):
        R = k - v
        ways = table[n_own, v]
        if ways * table[others, R] < RARE * both:
            continue
        if v > R:
            won = ways * table[others, R] / both
            if R > 0:
                of_rivals += won * R / others
        else:
            won = 0.0
            order = _nodes(own, v, R, share, met, n_present)
            for q in range(order):
                y = nodes[order, q] if share else 1.0
                weight = weights[order, q] if share else 1.0
                scale = weight * ways / both
                case = (own, v, R, y)
                won += _add_capped(case, scale, met, n_present, share, table, work, shares)
        total += won
        of_own += v * won
    for e in range(n_present):
        d = present[e]
        if d != own:
            single[d] += of_rivals
        elif n_own > 0:
            single[d] = of_own / n_own
    return total


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _times_pair(poly, factor, top, R, out):
    """out[u, i] = poly · factor for u + i ≤ R; the factor has u + i ≤ top."""
    for u in range(R + 1):
        for i in range(R + 1 - u):
            total = 0.0
            for b in range(min(u, top) + 1):
                for beta in range(min(i, top - b) + 1):
                    total += factor[b, beta] * poly[u - b, i - beta]
            out[u, i] = total


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _fill_pair(of_class, limit, phi, table, row, factor):
    """factor[b, β]: ways of a class to have b votes from the prefix and β from the group.

    The class has (items before the group, members of it); the limit (v, y, R) is at most v together
    (v < 0: any number), v of them worth y, and at most R. Returns the largest number.
    """
    items, tied = of_class
    v, y_d, R = limit
    top = R
    if v >= 0:
        top = min(v if y_d > 0.0 else v - 1, R)
    binomial_row(tied, top, phi, row)
    for b in range(top + 1):
        for beta in range(top + 1 - b):
            ways = table[items, b] * row[beta]
            factor[b, beta] = ways * y_d if b + beta == v else ways
    return top


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _hold_pair(items, tied, top, R, work):
    """work.found: what sets of R rivals' votes hold of one item of a class, by group votes.

    work.factor is the class, work.rest all the others; found[0] is for an item before the group.
    """
    factor, rest, found = work.factor, work.rest, work.found
    for i in range(R + 1):
        found[0, i], found[1, i] = 0.0, 0.0
    for b in range(top + 1):
        for beta in range(top + 1 - b):
            if b + beta == 0 or factor[b, beta] == 0.0:
                continue
            left = R - b - beta
            for i in range(left + 1):
                ways = factor[b, beta] * rest[left - i, i]
                if b > 0:
                    found[0, i + beta] += ways * b / items
                if beta > 0:
                    found[1, i + beta] += ways * beta / tied


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _add_found(d, R, weight, work, shares):
    """Add work.found, for the own class's ways work.own, to the shares of class d."""
    for i in range(R + 1):
        for beta in range(len(work.own)):
            ways = weight * work.own[beta]
            if ways > 0.0:
                shares.prefix[d, i + beta] += ways * work.found[0, i]
                shares.group[d, i + beta] += ways * work.found[1, i]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _add_rivals(case, weight, phi, met, n_present, votes, work, shares):
    """Add the winning sets of a case, as in `_add_capped`; work.own are the own class's ways.

    work.rest is filled with the ways of all rivals.
    """
    own, v, R, y = case
    table, share = votes.ways.table, votes.rule.share
    left, right, capped, row = work.left, work.right, work.capped, work.found[0]
    free, g_free, n_capped = np.int64(0), np.int64(0), np.int64(0)
    for e in range(n_present):
        d = met.present[e]
        if d == own:
            continue
        if v > R or is_free(met.prefix[d] + met.group[d], v, y if share or d > own else 0.0):
            free += met.prefix[d]
            g_free += met.group[d]
        else:
            capped[n_capped] = d
            n_capped += 1
    _fill_pair((free, g_free), (-1, 1.0, R), phi, table, row, left[0])
    for u in range(R + 1):
        for i in range(R + 1 - u):
            right[n_capped, u, i] = 1.0 if u + i == 0 else 0.0
    for m in range(n_capped):
        d = capped[m]
        y_d = y if share or d > own else 0.0
        of_class = met.prefix[d], met.group[d]
        top = _fill_pair(of_class, (v, y_d, R), phi, table, row, work.factor)
        _times_pair(left[m], work.factor, top, R, left[m + 1])
    for m in range(n_capped - 1, -1, -1):
        d = capped[m]
        y_d = y if share or d > own else 0.0
        of_class = met.prefix[d], met.group[d]
        top = _fill_pair(of_class, (v, y_d, R), phi, table, row, work.factor)
        _times_pair(right[m + 1], work.factor, top, R, right[m])
        _times_pair(left[m], right[m + 1], R, R, work.rest)
        _hold_pair(met.prefix[d], met.group[d], top, R, work)
        _add_found(d, R, weight, work, shares)
    _fill_pair((free, g_free), (-1, 1.0, R), phi, table, row, work.factor)
    for u in range(R + 1):
        for i in range(R + 1 - u):
            work.rest[u, i] = right[0, u, i]
    _hold_pair(free, g_free, R, R, work)
    for e in range(n_present):
        d = met.present[e]
        total = met.prefix[d] + met.group[d]
        if d != own and (v > R or is_free(total, v, y if share or d > own else 0.0)):
            _add_found(d, R, weight, work, shares)
    for u in range(R + 1):
        for i in range(R + 1 - u):
            work.rest[u, i] = left[n_capped, u, i]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def group_shares(own, k, phi, met, n_present, votes, work, shares):
    """Fill shares.wins, .prefix and .group for the tie group that is met, with its φ."""
    table, share, nodes = votes.ways.table, votes.rule.share, votes.ways.quadrature
    for i in range(k + 1):
        shares.wins[i] = 0.0
        for e in range(n_present):
            shares.prefix[met.present[e], i], shares.group[met.present[e], i] = 0.0, 0.0
    n_own, g_own = met.prefix[own], met.group[own]
    for v in range(1, min(n_own + g_own, k) + 1):
        R = k - v
        order = _nodes(own, v, R, share, met, n_present) if v <= R else 1
        for q in range(order):
            shared = share and v <= R
            y = nodes.nodes[order, q] if shared else 1.0
            weight = nodes.weights[order, q] if shared else 1.0
            binomial_row(g_own, v, phi, work.own)
            for beta in range(len(work.own)):
                work.own[beta] = work.own[beta] * table[n_own, v - beta] if beta <= v else 0.0
            _add_rivals((own, v, R, y), weight, phi, met, n_present, votes, work, shares)
            for beta in range(v + 1):
                for i in range(R + 1):
                    won = weight * work.own[beta] * work.rest[R - i, i]
                    shares.wins[i + beta] += won
                    if won > 0.0 and v > beta:
                        shares.prefix[own, i + beta] += won * (v - beta) / n_own
                    if won > 0.0 and beta > 0:
                        shares.group[own, i + beta] += won * beta / g_own
