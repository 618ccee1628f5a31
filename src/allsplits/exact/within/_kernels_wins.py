"""Compiled votes within a radius: who wins, and who is among the most voted.

If classes had independent numbers of voters, class c would win with

    Σ_{v ≥ 1} p_c(v) Π_{d < c} F_d(v - 1) Π_{d > c} F_d(v),

p the chances and F their sums (ties go to the first class). Laws of fixed size tie the classes
together by the number of voters s alone: a factor for each s, and a factor is a sum of powers
ω^(js). So the same formula holds with p_d(v) ω^(jv) in the place of p_d(v), summed over j. No
intermediate is larger than 1, so what rounds is bounded by the weights of the sum.
"""

import numpy as np
from numba import njit

from allsplits.exact.within._kernels_draws import (
    below,
    draw_row,
    nobody,
    partial_sums,
    roots_of_unity,
)


@njit(nogil=True, cache=True, error_model="numpy")
def _add_wins(weight, v, n_seen, first, size, sums, share, nodes, node_weights, factors, wins):
    """Add what a vote of v gives to each class; `factors` is scratch."""
    for q in range(len(nodes) if share else 1):
        scale = weight * node_weights[q] if share else weight
        # Classes after i have at most v votes, those before i fewer; shared, an even vote is
        # broken by times: class d comes before the winner's time with the node's chance.
        tail = 1.0 + 0.0j
        for i in range(n_seen - 1, -1, -1):
            factors[i] = tail
            less = below(sums, i, first, size, v)
            upto = below(sums, i, first, size, v + 1)
            tail *= less + nodes[q] * (upto - less) if share else upto
        head = scale
        for i in range(n_seen):
            less = below(sums, i, first, size, v)
            upto = below(sums, i, first, size, v + 1)
            wins[i] += (head * factors[i] * (upto - less)).real
            head *= less + nodes[q] * (upto - less) if share else less


@njit(nogil=True, cache=True, error_model="numpy")
def _add_tops(weight, v, own, absent, n_seen, first, size, sums, asks, poly, tops):
    """Add to tops[n - 1] what v votes of the own class give it to be among the n most voted.

    `own` is its place among the seen classes, or of the first class after it if it is not seen;
    absent[0] classes before it and absent[1] after it have no votes.
    """
    seen_own = absent[2] == 1
    of_own = weight
    if seen_own:
        of_own *= below(sums, own, first, size, v + 1) - below(sums, own, first, size, v)
    n_others = absent[0] + absent[1] + n_seen
    n_nodes = n_others // 2 + 1 if asks.share else 1
    for q in range(n_nodes):
        u = asks.quadrature.nodes[n_nodes, q] if asks.share else 0.0
        poly[:] = 0.0
        poly[0] = of_own * (asks.quadrature.weights[n_nodes, q] if asks.share else 1.0)
        if v == 0:
            before, after = absent[0], absent[1]
            for _ in range(before + after if asks.share else before):
                _times(poly, 1.0 - u if asks.share else 0.0, u if asks.share else 1.0)
        for i in range(n_seen):
            if seen_own and i == own:
                continue
            less = below(sums, i, first, size, v)
            upto = below(sums, i, first, size, v + 1)
            everything = sums[i, size[i]]
            if asks.share:
                behind = less + (1.0 - u) * (upto - less)
            else:
                behind = less if i < own else upto
            _times(poly, behind, everything - behind)
        total = 0.0 + 0.0j
        for n in range(len(poly)):
            total += poly[n]
            tops[n] += total.real


@njit(nogil=True, cache=True, error_model="numpy")
def _times(poly, constant, slope):
    """poly · (constant + slope x), cut to its length."""
    for n in range(len(poly) - 1, 0, -1):
        poly[n] = poly[n] * constant + poly[n - 1] * slope
    poly[0] *= constant


@njit(nogil=True, cache=True, error_model="numpy")
def _place_of_own(n_classes, own, seen, n_seen, absent):
    """Where the own class is, or would be, among the seen; fills how many are absent around it."""
    place = 0
    while place < n_seen and seen[place] < own:
        place += 1
    absent[2] = 1 if place < n_seen and seen[place] == own else 0
    absent[0] = own - place
    absent[1] = n_classes - n_seen - absent[0] - (1 - absent[2])
    return place


@njit(nogil=True, cache=True, error_model="numpy")
def _zero_tops(own, n_classes, n, share):
    """Whether the own class is among the n most voted where nobody has a vote."""
    return min(n, n_classes) / n_classes if share else (1.0 if own < n else 0.0)


@njit(nogil=True, cache=True, error_model="numpy")
def vote_rows(around, start, stop, drawn, totals, asks, longest, wins, tops):
    """Fill wins[row, class] and tops[row, n - 1] of the rows start to stop, of votes with voters."""
    n_classes = around.counts.shape[1]
    seen = np.empty(n_classes, np.int64)
    first = np.empty(n_classes, np.int64)
    size = np.empty(n_classes, np.int64)
    chances = np.empty((n_classes, longest))
    sums = np.empty((n_classes, longest + 1), np.complex128)
    factors = np.empty(n_classes, np.complex128)
    found = np.empty(n_classes)
    absent = np.empty(3, np.int64)
    poly = np.empty(max(asks.tops, 1), np.complex128)
    for row in range(start, stop):
        n_seen = draw_row(around, row, drawn, seen, first, size, chances)
        line = totals.place[around.counts[row].sum()]
        order = totals.size[line]
        roots = roots_of_unity(order)
        place = _place_of_own(n_classes, around.own[row], seen, n_seen, absent)
        low, high = 1, 0
        for i in range(n_seen):
            low, high = max(low, first[i]), max(high, first[i] + size[i] - 1)
        nodes = asks.quadrature.nodes[n_seen // 2 + 1] if asks.share else asks.quadrature.nodes[0]
        rule = asks.quadrature.weights[n_seen // 2 + 1] if asks.share else nodes
        n_nodes = n_seen // 2 + 1 if asks.share else 1
        found[:n_seen] = 0.0
        for j in range(order // 2 + 1):
            weight = totals.weights[totals.starts[line] + j]
            # Conjugate roots give conjugate terms.
            if j > 0 and 2 * j < order:
                weight *= 2.0
            partial_sums(n_seen, first, size, chances, roots, j, sums)
            for v in range(low, high + 1):
                _add_wins(
                    weight, v, n_seen, first, size, sums, asks.share, nodes[:n_nodes],
                    rule[:n_nodes], factors, found,
                )  # fmt: skip
            if asks.tops:
                own_low = first[place] if absent[2] else 0
                own_high = own_low + size[place] - 1 if absent[2] else 0
                for v in range(own_low, own_high + 1):
                    _add_tops(
                        weight, v, place, absent, n_seen, first, size, sums, asks, poly, tops[row]
                    )
        for i in range(n_seen):
            wins[row, seen[i]] = found[i]
        # Votes of zero for everybody are no votes.
        begin = totals.starts[line]
        starts_at_0 = order == 1 or totals.first[line] == 0
        zero = nobody(n_seen, first, chances) * totals.factor[begin] if starts_at_0 else 0.0
        for n in range(asks.tops):
            tops[row, n] -= zero * _zero_tops(around.own[row], n_classes, n + 1, asks.share)
