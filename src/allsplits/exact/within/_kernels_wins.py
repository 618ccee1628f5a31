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
    line_of,
    nobody,
    partial_sums,
    roots_of_unity,
    seen_work,
)
from allsplits.exact.within.kernel_types import Own


@njit(nogil=True, cache=True, error_model="numpy")
def _add_wins(asks, seen, n_seen, v, weight, factors, wins):
    """Add to wins[i] what a vote of v gives to each seen class; `factors` is scratch.

    Classes after i have at most v votes, those before i fewer. Shared, an even vote is broken by
    times: a class with v votes comes before the winner with the node's chance.
    """
    n_nodes = n_seen // 2 + 1 if asks.share else 1
    for q in range(n_nodes):
        node, scale = 0.0, weight
        if asks.share:
            node = asks.quadrature.nodes[n_nodes, q]
            scale *= asks.quadrature.weights[n_nodes, q]
        tail = 1.0 + 0.0j
        for i in range(n_seen - 1, -1, -1):
            factors[i] = tail
            less, upto = below(seen, i, v), below(seen, i, v + 1)
            tail *= less + node * (upto - less) if asks.share else upto
        for i in range(n_seen):
            less, upto = below(seen, i, v), below(seen, i, v + 1)
            wins[i] += (scale * factors[i] * (upto - less)).real
            scale *= less + node * (upto - less)


@njit(nogil=True, cache=True, error_model="numpy")
def _times(poly, constant, slope):
    """Multiply a polynomial by (constant + slope x), cut to its length."""
    for n in range(len(poly) - 1, 0, -1):
        poly[n] = poly[n] * constant + poly[n - 1] * slope
    poly[0] *= constant


@njit(nogil=True, cache=True, error_model="numpy")
def _add_tops(asks, seen, n_seen, own, v, weight, poly, tops):
    """Add to tops[n - 1] what v votes of the own class give it to be among the n most voted.

    poly[a] is the chance that a classes are ahead; classes that are not seen have no votes.
    """
    if own.seen:
        weight *= below(seen, own.place, v + 1) - below(seen, own.place, v)
    n_nodes = (own.before + own.after + n_seen) // 2 + 1 if asks.share else 1
    for q in range(n_nodes):
        node = asks.quadrature.nodes[n_nodes, q] if asks.share else 1.0
        poly[:] = 0.0
        poly[0] = weight * (asks.quadrature.weights[n_nodes, q] if asks.share else 1.0)
        if v == 0:
            for _ in range(own.before + own.after if asks.share else own.before):
                _times(poly, 1.0 - node, node)
        for i in range(n_seen):
            if own.seen and i == own.place:
                continue
            less, upto = below(seen, i, v), below(seen, i, v + 1)
            behind = less + (1.0 - node) * (upto - less)
            if not asks.share and i >= own.place:
                behind = upto
            _times(poly, behind, seen.sums[i, seen.size[i]] - behind)
        total = 0.0 + 0.0j
        for n in range(len(poly)):
            total += poly[n]
            tops[n] += total.real


@njit(nogil=True, cache=True, error_model="numpy")
def _own_place(n_classes, own, seen, n_seen):
    """Where the own class is, or would be, among the seen."""
    place = 0
    while place < n_seen and seen.classes[place] < own:
        place += 1
    is_seen = place < n_seen and seen.classes[place] == own
    unseen = n_classes - n_seen - (0 if is_seen else 1)
    return Own(place, is_seen, own - place, unseen - (own - place))


@njit(nogil=True, cache=True, error_model="numpy")
def _take_off_nobody(election, row, seen, n_seen, tops):
    """Votes of zero for everybody are no votes."""
    totals, n_classes = election.totals, election.around.counts.shape[1]
    line, own = line_of(election, row), election.around.own[row]
    if totals.size[line] > 1 and totals.first[line] > 0:
        return
    chance = nobody(seen, n_seen) * totals.factor[totals.starts[line]]
    for n in range(len(tops)):
        among = 1.0 if own <= n else 0.0
        tops[n] -= chance * ((n + 1) / n_classes if election.asks.share else among)


@njit(nogil=True, cache=True, error_model="numpy")
def vote_rows(election, start, stop, wins, tops):
    """Fill wins[row, class] and tops[row, n - 1] of the rows start to stop, of votes with voters.

    The own class is among the n most voted, for n = 1, …, asks.tops.
    """
    asks, totals, n_classes = election.asks, election.totals, election.around.counts.shape[1]
    seen = seen_work(election)
    factors, found = np.empty(n_classes, np.complex128), np.empty(n_classes)
    poly = np.empty(max(asks.tops, 1), np.complex128)
    for row in range(start, stop):
        n_seen, line = draw_row(election, row, seen), line_of(election, row)
        roots = roots_of_unity(totals.size[line])
        own = _own_place(n_classes, election.around.own[row], seen, n_seen)
        low, high = 1, 0
        for i in range(n_seen):
            low = max(low, seen.first[i])
            high = max(high, seen.first[i] + seen.size[i] - 1)
        own_low = seen.first[own.place] if own.seen else 0
        own_high = own_low + seen.size[own.place] if own.seen else 1
        found[:n_seen] = 0.0
        for j in range(len(roots) // 2 + 1):
            weight = totals.weights[totals.starts[line] + j]
            # Conjugate roots give conjugate terms.
            weight *= 2.0 if 0 < 2 * j < len(roots) else 1.0
            partial_sums(seen, n_seen, roots, j)
            for v in range(low, high + 1):
                _add_wins(asks, seen, n_seen, v, weight, factors, found)
            for v in range(own_low, own_high if asks.tops else own_low):
                _add_tops(asks, seen, n_seen, own, v, weight, poly, tops[row])
        for i in range(n_seen):
            wins[row, seen.classes[i]] = found[i]
        _take_off_nobody(election, row, seen, n_seen, tops[row])
