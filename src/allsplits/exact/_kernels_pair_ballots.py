"""Compiled records of votes that end in a tie group, under laws that are not independent by class.

Of the k voters i come from the tie group, with weight[i], the others from the prefix before it; a
class with v votes has v - β of them from the prefix and β from the group. So products of classes
are polynomials in two variables; otherwise as in `_kernels_ballots`.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels_ballots import add_winner_votes
from allsplits.exact.kernel_types import Places, Quadrature

Floats = NDArray[np.float64]


class Pair(NamedTuple):
    """Ways of each class that is present to have b votes, from the prefix and from the group.

    After the last class comes nobody, who has no votes.

    Attributes
    ----------
    rows, group_rows : array of shape (classes + 1, votes)
    rest, group_rest : array of shape (classes + 1, votes)
        The same of all others together.
    weight : array of shape (votes,)
        Of i voters from the group.
    """

    rows: Floats
    group_rows: Floats
    rest: Floats
    group_rest: Floats
    weight: Floats


class PairWork(NamedTuple):
    """What is asked for, and work space; see `BallotWork`."""

    places: Places
    share: bool
    quadrature: Quadrature
    pair: Pair
    poly: Floats
    temp: Floats
    found: Floats


def pair_work(places: Places, share: bool, quadrature: Quadrature) -> PairWork:
    """Space for one tie group after the other."""
    size, n_ahead = places.k + 1, max(1, places.n_tops)
    rows, group_rows, rest, group_rest = np.empty((4, places.n_classes + 1, size))
    pair = Pair(rows, group_rows, rest, group_rest, np.empty(size))
    poly, temp = np.empty((2, n_ahead, size, size))
    return PairWork(places, share, quadrature, pair, poly, temp, np.empty((n_ahead, size)))


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _times_ahead(n_ahead, row, group_row, tie, limit, work):
    """Multiply work.poly[:n_ahead] by the votes of a class; `tie` is (v, y)."""
    poly, temp = work.poly, work.temp
    v, y = tie
    for m in range(n_ahead):
        for u in range(limit + 1):
            for i in range(limit + 1 - u):
                total = 0.0
                for b in range(u + 1):
                    if row[b] == 0.0:
                        continue
                    for beta in range(i + 1):
                        stay = 1.0 if b + beta < v else (y if b + beta == v else 0.0)
                        value = stay * poly[m, u - b, i - beta]
                        if m > 0:
                            value += (1.0 - stay) * poly[m - 1, u - b, i - beta]
                        total += row[b] * group_row[beta] * value
                temp[m, u, i] = total
    for m in range(n_ahead):
        for u in range(limit + 1):
            for i in range(limit + 1 - u):
                poly[m, u, i] = temp[m, u, i]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _start(n_ahead, limit, work):
    for m in range(n_ahead):
        for u in range(limit + 1):
            for i in range(limit + 1 - u):
                work.poly[m, u, i] = 0.0
    work.poly[0, 0, 0] = 1.0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _with_votes(e, v, k, pair, others, group_others):
    """Σ of the ways of class e to have v votes, and of the others to have k - v."""
    total = 0.0
    for beta in range(v + 1):
        ways = pair.rows[e, v - beta] * pair.group_rows[e, beta]
        if ways == 0.0:
            continue
        inner = 0.0
        for i in range(k - v + 1):
            inner += others[k - v - i] * group_others[i] * pair.weight[i + beta]
        total += ways * inner
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _weigh_ahead(e, v, m, k, work):
    """The same with the product work.poly[m] of the others."""
    pair, poly, total = work.pair, work.poly[m], 0.0
    for beta in range(v + 1):
        ways = pair.rows[e, v - beta] * pair.group_rows[e, beta]
        if ways == 0.0:
            continue
        inner = 0.0
        for i in range(k - v + 1):
            inner += poly[k - v - i, i] * pair.weight[i + beta]
        total += ways * inner
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _fill_ahead(mine, present, n_ahead, work):
    """work.found[m, v] = P(present[mine] has v ≥ 1 votes and m others are ahead)."""
    k, share, pair, found = work.places.k, work.share, work.pair, work.found
    for v in range(1, k + 1):
        most_ahead = min(len(present) - 1, (k - v) // v)
        n_here = min(n_ahead, most_ahead + 1)
        order = most_ahead // 2 + 1 if share else 1
        for m in range(n_ahead):
            found[m, v] = 0.0
        for q in range(order):
            y = work.quadrature.nodes[order, q] if share else 1.0
            weight = work.quadrature.weights[order, q] if share else 1.0
            _start(n_here, k - v, work)
            for e in range(len(present)):
                if e != mine:
                    worth = y if share or present[e] > present[mine] else 0.0
                    _times_ahead(n_here, pair.rows[e], pair.group_rows[e], (v, worth), k - v, work)
            for m in range(n_here):
                found[m, v] += weight * _weigh_ahead(mine, v, m, k, work)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_without_votes(own, mine, present, work, out):
    """P(`own` is among the most voted) without votes; see `_kernels_ballots`."""
    places, share, pair = work.places, work.share, work.pair
    k, n_tops, first = places.k, places.n_tops, 0 if work.share else own
    if first >= n_tops:
        return
    _start(n_tops - first, k, work)
    for e in range(len(present)):
        if e != mine:
            v = k + 1 if present[e] < own and not share else 0
            _times_ahead(n_tops - first, pair.rows[e], pair.group_rows[e], (v, 1.0), k, work)
    for m in range(n_tops - first):
        chance = _weigh_ahead(mine, 0, m, k, work)
        for n in range(max(m + first, 1), n_tops):
            part = (n + 1 - m) / (places.n_classes - m) if share else 1.0
            out[places.tops + n] += chance * part


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def add_pair_ballot(own, present, work, out):
    """Add the record of the votes that end in a tie group, as work.pair has them."""
    places, pair, found = work.places, work.pair, work.found
    k, n_present = places.k, len(present)
    mine = np.int64(n_present)
    for e in range(n_present):
        if present[e] == own:
            mine = np.int64(e)
    for e in range(n_present):
        _fill_ahead(e, present, 1, work)
        for v in range(1, k + 1):
            add_winner_votes(own, present[e], v, found[0, v], places, out)
            if places.squares >= 0:
                chance = _with_votes(e, v, k, pair, pair.rest[e], pair.group_rest[e])
                out[places.squares] += v * v * chance
    if places.own >= 0:
        for v in range(k + 1):
            out[places.own + v] += _with_votes(
                mine, v, k, pair, pair.rest[mine], pair.group_rest[mine]
            )
    if places.n_tops > 1:
        if mine < n_present:
            _fill_ahead(mine, present, places.n_tops, work)
            for v in range(1, k + 1):
                total = found[0, v]
                for m in range(1, places.n_tops):
                    total += found[m, v]
                    out[places.tops + m] += total
        _add_without_votes(own, mine, present, work, out)
