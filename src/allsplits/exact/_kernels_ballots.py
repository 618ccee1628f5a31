"""Compiled records of votes (`ballots`), where the numbers of votes of classes are independent.

As in `_kernels_votes`, each class has a row: the probability of b voters, for many cases side by
side (lanes); a case is over with k votes in all. Four sums of products over the classes:

- the own class has v votes: its row times the product of the others, uncapped;
- Σ_c v_c²: with P the product of the classes so far and S that with its squares, a class more
  makes S · row + P · (b² row) and P · row of them;
- m classes are ahead of one that has v votes: a marker a counts them,
      F_d(z) = Σ_{b<v} row[b] z^b + (y + (1-y) a) row[v] z^v + a Σ_{b>v} row[b] z^b,
  where y says what a tie is worth, as in `_kernels_votes`; nobody ahead is a win;
- the same for v = 0, where all classes without votes are tied, met or not.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels_around import LANES, add_wins_by_votes
from allsplits.exact.kernel_types import EveryWinWork, Places, Quadrature, aligned_space

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
    found : array of shape (classes ahead, votes)
        P(v votes, m classes ahead).
    """

    places: Places
    share: bool
    quadrature: Quadrature
    ahead: Floats
    sums: Floats
    line: Floats
    found: Floats


def ballot_work(places: Places, share: bool, quadrature: Quadrature, n_lanes: int) -> BallotWork:
    """Space for votes in so many lanes."""
    size, n_ahead = places.k + 1, max(1, places.n_tops)
    return BallotWork(
        places, share, quadrature, aligned_space(n_ahead, size, n_lanes),
        aligned_space(2, size, n_lanes), aligned_space(n_lanes), np.empty((n_ahead, size)),
    )  # fmt: skip


@njit(nogil=True, cache=True, error_model="numpy")
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


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def add_own_votes(own, contenders, n_lanes, work, out):
    """Add P(v votes of `own`) for each v, and E Σ v_c², as far as they are asked for.

    P stays in work.sums[0]; returns its degree.
    """
    present, most, rows = contenders
    places, P, S = work.places, work.sums[0], work.sums[1]
    k, squares, v_low = places.k, places.squares >= 0, np.int64(0)
    degree = np.int64(0)
    if places.own < 0 and not squares and places.n_tops == 0:
        return degree
    for x in range(n_lanes):
        P[0, x], S[0, x] = 1.0, 0.0
    for d in present:
        if d == own:
            continue
        row, top = rows[d], min(most[d], k)
        new_degree = min(degree + top, k)
        for e in range(new_degree, -1, -1):
            low = max(0, e - degree)
            if squares:
                for x in range(n_lanes):
                    work.line[x] = 0.0
                for b in range(low, min(e, top) + 1):
                    bb = float(b * b)
                    for x in range(n_lanes):
                        work.line[x] += row[b, x] * (S[e - b, x] + bb * P[e - b, x])
                for x in range(n_lanes):
                    S[e, x] = work.line[x]
            for x in range(n_lanes):
                work.line[x] = row[low, x] * P[e - low, x]
            for b in range(low + 1, min(e, top) + 1):
                for x in range(n_lanes):
                    work.line[x] += row[b, x] * P[e - b, x]
            for x in range(n_lanes):
                P[e, x] = work.line[x]
        degree = new_degree
    v_low = max(v_low, k - degree)
    for v in range(v_low, min(most[own], k) + 1):
        row = rows[own, v]
        total, total_squares = 0.0, 0.0
        for x in range(n_lanes):
            total += row[x] * P[k - v, x]
            if squares:
                total_squares += row[x] * S[k - v, x]
        if places.own >= 0:
            out[places.own + v] += total
        if squares:
            out[places.squares] += total_squares + v * v * total
    return degree


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _start(n_ahead, limit, n_lanes, poly):
    """No class yet: loops, because numba takes seconds to compile what fills parts of arrays."""
    for m in range(n_ahead):
        for e in range(limit + 1):
            for x in range(n_lanes):
                poly[m, e, x] = 1.0 if m + e == 0 else 0.0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _times_ahead(n_ahead, degree, row, top, tie, limit, n_lanes, work):
    """Multiply work.ahead[:n_ahead] by F_d up to `limit`; returns its degree. `tie` is (v, y)."""
    poly, line = work.ahead, work.line
    v, y = tie
    new_degree = min(degree + top, limit)
    for m in range(n_ahead - 1, -1, -1):
        for e in range(new_degree, -1, -1):
            for x in range(n_lanes):
                line[x] = 0.0
            for b in range(max(0, e - degree), min(e, top) + 1):
                stay = 1.0 if b < v else (y if b == v else 0.0)
                pass_by = 1.0 - stay if m > 0 else 0.0
                if stay > 0.0:
                    for x in range(n_lanes):
                        line[x] += stay * row[b, x] * poly[m, e - b, x]
                if pass_by > 0.0:
                    for x in range(n_lanes):
                        line[x] += pass_by * row[b, x] * poly[m - 1, e - b, x]
            for x in range(n_lanes):
                poly[m, e, x] = line[x]
    return new_degree


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def fill_ahead(target, contenders, n_ahead, v_high, n_lanes, work):
    """work.found[m, v] = P(`target` has v votes and m others are ahead), m < n_ahead, v ≤ v_high.

    At least one vote.
    """
    present, most, rows = contenders
    k, share, found = work.places.k, work.share, work.found
    for v in range(1, v_high + 1):
        able, most_ahead = 0, (k - v) // v
        for d in present:
            if d != target and most[d] >= v:
                able += 1
        # Only that many others can have as many votes.
        n_here = min(n_ahead, min(able, most_ahead) + 1)
        order = min(able, most_ahead) // 2 + 1 if share else 1
        for m in range(n_ahead):
            found[m, v] = 0.0
        for q in range(order):
            y = work.quadrature.nodes[order, q] if share else 1.0
            weight = work.quadrature.weights[order, q] if share else 1.0
            _start(n_here, k - v, n_lanes, work.ahead)
            degree = np.int64(0)
            for d in present:
                if d != target:
                    worth = y if share or d > target else 0.0
                    degree = _times_ahead(
                        n_here, degree, rows[d], min(most[d], k), (v, worth), k - v, n_lanes, work
                    )
            if degree < k - v:
                continue
            for m in range(n_here):
                total = 0.0
                for x in range(n_lanes):
                    total += rows[target, v, x] * work.ahead[m, k - v, x]
                found[m, v] += weight * total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def add_tops(own, contenders, degree, n_lanes, work, out):
    """Add P(`own` is among the 2, 3, … most voted), whatever votes it has.

    P of `add_own_votes`, and its degree: with more than a third of the votes nobody but one can be
    ahead.
    """
    places, found, P = work.places, work.found, work.sums[0]
    n_tops, k = places.n_tops, places.k
    if n_tops < 2:
        return
    v_high = min(contenders.most[own], k)
    sure = k // 3 + 1
    fill_ahead(own, contenders, n_tops, min(v_high, sure - 1), n_lanes, work)
    for v in range(1, min(v_high, sure - 1) + 1):
        total = found[0, v]
        for m in range(1, n_tops):
            total += found[m, v]
            out[places.tops + m] += total
    total = 0.0
    for v in range(max(sure, k - degree), v_high + 1):
        for x in range(n_lanes):
            total += contenders.rows[own, v, x] * P[k - v, x]
    for n in range(1, n_tops):
        out[places.tops + n] += total
    _add_without_votes(own, contenders, n_lanes, work, out)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_without_votes(own, contenders, n_lanes, work, out):
    """The same if `own` has no votes: as many are ahead as have any, and tied ones before it."""
    present, most, rows = contenders
    places, share = work.places, work.share
    k, n_tops, n_classes = places.k, places.n_tops, places.n_classes
    # All classes before it are ahead, with votes or by their order.
    first = 0 if share else own
    if first >= n_tops:
        return
    _start(n_tops - first, k, n_lanes, work.ahead)
    degree = np.int64(0)
    for d in present:
        if d != own:
            v = k + 1 if d < own and not share else 0
            degree = _times_ahead(
                n_tops - first, degree, rows[d], min(most[d], k), (v, 1.0), k, n_lanes, work
            )
    if degree < k:
        return
    for m in range(n_tops - first):
        chance = 0.0
        for x in range(n_lanes):
            chance += rows[own, 0, x] * work.ahead[m, k, x]
        for n in range(max(m + first, 1), n_tops):
            if share:
                out[places.tops + n] += chance * (n + 1 - m) / (n_classes - m)
            else:
                out[places.tops + n] += chance


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def add_winner_votes(own, target, v, chance, places, out):
    """Add the chance that `target` wins with v votes."""
    out[target] += chance
    if places.confident >= 0:
        out[places.confident + v] += chance
        if target == own:
            out[places.hits + v] += chance


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def add_ballot(own, contenders, n_lanes, work, out):
    """Add the whole record, winners by the general way: any number of lanes."""
    degree = add_own_votes(own, contenders, n_lanes, work, out)
    add_tops(own, contenders, degree, n_lanes, work, out)
    for target in contenders.present:
        v_high = min(contenders.most[target], work.places.k)
        fill_ahead(target, contenders, 1, v_high, n_lanes, work)
        for v in range(1, v_high + 1):
            add_winner_votes(own, target, v, work.found[0, v], work.places, out)


class RankWork(NamedTuple):
    """For `LANES` cases at once: the record, who wins with how many votes, and what that takes.

    Attributes
    ----------
    ballot : BallotWork
    every : EveryWinWork
    wins : array of shape (votes + 1, or 1; classes; LANES)
    """

    ballot: BallotWork
    every: EveryWinWork
    wins: Floats


def rank_work(places: Places, share: bool, quadrature: Quadrature) -> RankWork:
    """Space for `LANES` cases."""
    C, size = places.n_classes, places.k + 1
    products = aligned_space(2, C, size, LANES)
    every = EveryWinWork(
        aligned_space(C, LANES), products[0], products[1], np.empty((2, C), np.int64),
        aligned_space(LANES),
    )  # fmt: skip
    wins = aligned_space(size if places.confident >= 0 else 1, C, LANES)
    return RankWork(ballot_work(places, share, quadrature, LANES), every, wins)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def start_ranks(counts, work):
    """A new row: nothing is met, nobody has won."""
    for d in range(len(counts)):
        counts[d] = 0
    for v in range(work.wins.shape[0]):
        for d in range(work.wins.shape[1]):
            for x in range(LANES):
                work.wins[v, d, x] = 0.0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def fill_lanes(value, row):
    """One value in all lanes."""
    for x in range(LANES):
        row[x] = value


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def add_only_class(own, target, votes, chance, work, out):
    """Add the record of votes that are all for `target`; `votes` is space for them."""
    for d in range(len(votes)):
        votes[d] = work.places.k if d == target else 0
    add_certain_votes(own, votes, work.share, work.places, chance, out)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def add_ranks(own, contenders, work, out):
    """Add the records of `LANES` cases; who wins is left in work.wins (`add_ranked_wins`)."""
    lanes, ballot = np.int64(LANES), work.ballot
    degree = add_own_votes(own, contenders, lanes, ballot, out)
    add_tops(own, contenders, degree, lanes, ballot, out)
    add_wins_by_votes(
        contenders, ballot.places.k, ballot.share, ballot.quadrature, work.every, work.wins
    )


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def add_ranked_wins(own, work, out):
    """Add who wins, summed over the lanes."""
    wins, places = work.wins, work.ballot.places
    for v in range(wins.shape[0]):
        for d in range(wins.shape[1]):
            total = 0.0
            for x in range(LANES):
                total += wins[v, d, x]
            if total > 0.0:
                add_winner_votes(own, np.int64(d), v, total, places, out)
