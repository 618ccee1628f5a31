"""Compiled records of votes (`ballots`), where the numbers of votes of classes are independent.

As in `_kernels_votes`, each class has a row: the probability of b voters, for many cases side by
side (lanes); a case is over with k votes in all. Four sums of products over the classes:

- the own class has v votes: its row times the product of the others, uncapped;
- Σ_c v_c² = k + Σ_c v_c (v_c - 1): with P the product of the classes so far and S that with these
  pairs of votes, a class more makes S · row + P · (b (b-1) row) and P · row of them;
- m classes are ahead of one that has v votes: a marker a counts them,
      F_d(z) = Σ_{b<v} row[b] z^b + (y + (1-y) a) row[v] z^v + a Σ_{b>v} row[b] z^b,
  where y says what a tie is worth, as in `_kernels_votes`; nobody ahead is a win;
- the same for v = 0, where all classes without votes are tied, met or not.

Sums stay in their lanes, record[place, lane]; `_kernels_ballot_lanes` adds them up. There are eight
lanes, or several times as many.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels_eight import LANES as ONE_EIGHT
from allsplits.exact._kernels_eight import eight_times, load, plus, store, times
from allsplits.exact.kernel_types import Contenders, Places, Quadrature, aligned_space

Floats = NDArray[np.float64]


class BallotWork(NamedTuple):
    """What is asked for, and work space.

    Attributes
    ----------
    places : Places
    share : bool
        Whether tied classes share the vote.
    quadrature : Quadrature
    ahead : array of shape (classes ahead, votes, lanes)
        Products of the others, by how many of them are ahead.
    sums : array of shape (2, votes, lanes)
        P and S.
    line : array of shape (lanes,)
    """

    places: Places
    share: bool
    quadrature: Quadrature
    ahead: Floats
    sums: Floats
    line: Floats


def ballot_work(places: Places, share: bool, quadrature: Quadrature, n_lanes: int) -> BallotWork:
    """Space for votes in so many lanes."""
    size, n_ahead = places.k + 1, max(1, places.n_tops)
    return BallotWork(
        places, share, quadrature, aligned_space(n_ahead, size, n_lanes),
        aligned_space(2, size, n_lanes), aligned_space(n_lanes),
    )  # fmt: skip


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def add_certain_votes(own, votes, share, places, weight, out):
    """Add the record of known votes of all classes, times `weight`."""
    most, n_winners, winner, squares = np.int64(0), 0, np.int64(0), 0.0
    for d in range(len(votes)):
        squares += float(votes[d]) * votes[d]
        if votes[d] > most:
            most, n_winners, winner = votes[d], 1, np.int64(d)
        elif votes[d] == most:
            n_winners += 1
    right = 0.0
    for d in range(len(votes)):
        if votes[d] == most and (share or d == winner):
            each = weight / n_winners if share else weight
            out[d] += each
            if d == own:
                right = each
    if places.own >= 0:
        out[places.own + votes[own]] += weight
    if places.confident >= 0:
        out[places.confident + most] += weight
        out[places.hits + most] += right
    if places.squares >= 0:
        out[places.squares] += weight * squares
    ahead, tied, before = 0, 0, 0
    for d in range(len(votes)):
        ahead += votes[d] > votes[own]
        if votes[d] == votes[own]:
            tied += 1
            before += d < own
    for n in range(1, places.n_tops):
        left = n + 1 - ahead
        if share:
            out[places.tops + n] += weight * (min(max(left, 0), tied) / tied)
        elif left > before:
            out[places.tops + n] += weight


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _times_both(row, top, degree, limit, squares, n_lanes, work):
    """Multiply P, and S if `squares`, by a class; returns the degree of P."""
    P, S, n_eights = work.sums[0], work.sums[1], n_lanes // ONE_EIGHT
    new_degree = min(degree + top, limit)
    for e in range(new_degree, -1, -1):
        low, high = max(0, e - degree), min(e, top)
        for x in range(n_eights):
            if squares:
                total = eight_times(0.0)
                for b in range(low, min(e - 2, top) + 1):
                    part = times(load(row, b * n_eights + x), load(S, (e - b) * n_eights + x))
                    total = plus(total, part)
                for b in range(max(low, 2), high + 1):
                    pairs = times(eight_times(float(b * (b - 1))), load(row, b * n_eights + x))
                    total = plus(total, times(pairs, load(P, (e - b) * n_eights + x)))
                store(S, e * n_eights + x, total)
            total = times(load(row, low * n_eights + x), load(P, (e - low) * n_eights + x))
            for b in range(low + 1, high + 1):
                part = times(load(row, b * n_eights + x), load(P, (e - b) * n_eights + x))
                total = plus(total, part)
            store(P, e * n_eights + x, total)
    return new_degree


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def add_own_votes(own, contenders, n_lanes, work, record):
    """Add P(v votes of `own`) for each v, and E Σ v_c², as far as they are asked for.

    P stays in work.sums[0]; returns its degree.
    """
    present, most, rows = contenders
    places, P, S = work.places, work.sums[0], work.sums[1]
    k, squares, degree = places.k, places.squares >= 0, np.int64(0)
    for x in range(n_lanes):
        P[0, x], S[0, x] = 1.0, 0.0
    for d in present:
        if d != own:
            degree = _times_both(rows[d], min(most[d], k), degree, k, squares, n_lanes, work)
    for v in range(max(0, k - degree), min(most[own], k) + 1):
        row, others = rows[own, v], P[k - v]
        if places.own >= 0:
            sums = record[places.own + v]
            for x in range(n_lanes):
                sums[x] += row[x] * others[x]
        if squares:
            sums, pairs, other_pairs = record[places.squares], float(k + v * (v - 1)), S[k - v]
            for x in range(n_lanes):
                sums[x] += row[x] * (pairs * others[x] + other_pairs[x])
    return degree


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _start(n_ahead, n_lanes, poly):
    """No class yet, of degree 0."""
    for m in range(n_ahead):
        for x in range(n_lanes):
            poly[m, 0, x] = 1.0 if m == 0 else 0.0


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _sum_products(row, poly, first, last, e, x, n_eights):
    """Σ row[b] poly[e - b] over b from `first` to `last`, in the x-th eight lanes."""
    total = eight_times(0.0)
    for b in range(first, last + 1):
        part = times(load(row, b * n_eights + x), load(poly, (e - b) * n_eights + x))
        total = plus(total, part)
    return total


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _times_ahead(n_ahead, degree, row, top, tie, limit, n_lanes, work):
    """Multiply work.ahead[:n_ahead] by F_d up to `limit`; returns its degree. `tie` is (v, y)."""
    n_eights = n_lanes // ONE_EIGHT
    v, y = tie
    new_degree = min(degree + top, limit)
    for m in range(n_ahead - 1, -1, -1):
        poly, fewer = work.ahead[m], work.ahead[max(m - 1, 0)]
        for e in range(new_degree, -1, -1):
            low, high = max(0, e - degree), min(e, top)
            for x in range(n_eights):
                total = _sum_products(row, poly, low, min(high, v - 1), e, x, n_eights)
                if low <= v <= high:
                    tied, at = load(row, v * n_eights + x), (e - v) * n_eights + x
                    total = plus(total, times(times(eight_times(y), tied), load(poly, at)))
                    if m > 0:
                        passed = times(eight_times(1.0 - y), tied)
                        total = plus(total, times(passed, load(fewer, at)))
                if m > 0:
                    ahead = _sum_products(row, fewer, max(low, v + 1), high, e, x, n_eights)
                    total = plus(total, ahead)
                store(poly, e * n_eights + x, total)
    return new_degree


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _add_line(line, n_lanes, sums):
    for x in range(n_lanes):
        sums[x] += line[x]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _count_ahead(target, v, y, contenders, n_ahead, n_lanes, work):
    """work.ahead[m]: products of the others, of which m are ahead of `target` with v votes.

    `y` is what a tie is worth. Returns whether they can have the votes that are left.
    """
    present, most, rows = contenders
    k, share, degree = work.places.k, work.share, np.int64(0)
    _start(n_ahead, n_lanes, work.ahead)
    for d in present:
        if d != target:
            worth = y if share or d > target else 0.0
            degree = _times_ahead(
                n_ahead, degree, rows[d], min(most[d], k), (v, worth), k - v, n_lanes, work
            )
    return degree == k - v


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _most_ahead(target, v, contenders, k):
    """How many others can have v votes as well."""
    able = 0
    for d in contenders.present:
        if d != target and contenders.most[d] >= v:
            able += 1
    return min(able, (k - v) // v)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _add_tops_with(own, v, contenders, n_lanes, work, record):
    """The part of `add_tops` where `own` has v votes, at least one."""
    places, line = work.places, work.line
    k, n_tops, own_row = places.k, places.n_tops, contenders.rows[own, v]
    most_ahead = _most_ahead(own, v, contenders, k)
    n_here, order = min(n_tops, most_ahead + 1), most_ahead // 2 + 1 if work.share else 1
    for q in range(order):
        y = work.quadrature.nodes[order, q] if work.share else 1.0
        weight = work.quadrature.weights[order, q] if work.share else 1.0
        if _count_ahead(own, v, y, contenders, n_here, n_lanes, work):
            for m in range(n_here):
                others = work.ahead[m, k - v]
                for x in range(n_lanes):
                    line[x] = weight * own_row[x] * others[x]
                for n in range(max(m, 1), n_tops):
                    _add_line(line, n_lanes, record[places.tops + n])


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def add_tops(own, contenders, degree, n_lanes, work, record):
    """Add P(`own` is among the 2, 3, … most voted), whatever votes it has.

    P of `add_own_votes`, and its degree: with more than a third of the votes nobody but one can be
    ahead.
    """
    places, P, line = work.places, work.sums[0], work.line
    n_tops, k = places.n_tops, places.k
    if n_tops < 2:
        return
    v_high = min(contenders.most[own], k)
    for v in range(max(1, k - degree), min(v_high, k // 3) + 1):
        _add_tops_with(own, v, contenders, n_lanes, work, record)
    for v in range(max(k // 3 + 1, k - degree), v_high + 1):
        own_row, others = contenders.rows[own, v], P[k - v]
        for x in range(n_lanes):
            line[x] = own_row[x] * others[x]
        for n in range(1, n_tops):
            _add_line(line, n_lanes, record[places.tops + n])
    if degree == k:
        _add_without_votes(own, contenders, n_lanes, work, record)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _add_without_votes(own, contenders, n_lanes, work, record):
    """The same if `own` has no votes: as many are ahead as have any, and tied ones before it."""
    present, most, rows = contenders
    places, share = work.places, work.share
    k, n_tops, n_classes = places.k, places.n_tops, places.n_classes
    # All classes before it are ahead, with votes or by their order.
    first = 0 if share else own
    if first >= n_tops:
        return
    _start(n_tops - first, n_lanes, work.ahead)
    degree = np.int64(0)
    for d in present:
        if d != own:
            v = k + 1 if d < own and not share else 0
            degree = _times_ahead(
                n_tops - first, degree, rows[d], min(most[d], k), (v, 1.0), k, n_lanes, work
            )
    for m in range(n_tops - first):
        others = work.ahead[m, k]
        for n in range(max(m + first, 1), n_tops):
            part = (n + 1 - m) / (n_classes - m) if share else 1.0
            sums = record[places.tops + n]
            for x in range(n_lanes):
                sums[x] += part * rows[own, 0, x] * others[x]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def add_winner_votes(own, target, v, chance, places, out):
    """Add the chance that `target` wins with v votes."""
    out[target] += chance
    if places.confident >= 0:
        out[places.confident + v] += chance
        if target == own:
            out[places.hits + v] += chance


class OneBallotWork(NamedTuple):
    """Space for the record of one case: eight lanes, of which the first is used.

    Attributes
    ----------
    ballot : BallotWork
    rows : array of shape (classes, votes, lanes)
    record : array of shape (width, lanes)
    """

    ballot: BallotWork
    rows: Floats
    record: Floats


def one_ballot_work(places: Places, share: bool, quadrature: Quadrature) -> OneBallotWork:
    """Space for one case."""
    rows = aligned_space(places.n_classes, places.k + 1, ONE_EIGHT)
    rows[:] = 0.0
    record = aligned_space(places.width, ONE_EIGHT)
    return OneBallotWork(ballot_work(places, share, quadrature, ONE_EIGHT), rows, record)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def add_ballot(own, contenders, one, out):
    """Add the whole record of one case; contenders.rows have one lane."""
    work, rows, record = one
    lanes, k = np.int64(ONE_EIGHT), work.places.k
    for place in range(record.shape[0]):
        for x in range(ONE_EIGHT):
            record[place, x] = 0.0
    for d in range(rows.shape[0]):
        for b in range(min(contenders.most[d], k) + 1):
            rows[d, b, 0] = contenders.rows[d, b, 0]
    side_by_side = Contenders(contenders.present, contenders.most, rows)
    degree = add_own_votes(own, side_by_side, lanes, work, record)
    add_tops(own, side_by_side, degree, lanes, work, record)
    for place in range(record.shape[0]):
        out[place] += record[place, 0]
    for target in contenders.present:
        for v in range(1, min(contenders.most[target], k) + 1):
            most_ahead = _most_ahead(target, v, contenders, k)
            order = most_ahead // 2 + 1 if work.share else 1
            for q in range(order):
                y = work.quadrature.nodes[order, q] if work.share else 1.0
                weight = work.quadrature.weights[order, q] if work.share else 1.0
                if _count_ahead(target, v, y, side_by_side, np.int64(1), lanes, work):
                    chance = weight * rows[target, v, 0] * work.ahead[0, k - v, 0]
                    add_winner_votes(own, target, v, chance, work.places, out)
