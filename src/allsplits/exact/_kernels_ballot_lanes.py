"""Compiled records of votes, `LANES` cases side by side: who wins, and all that is asked besides.

Sums stay in their lanes until a row is over; then each lane counts what its component does.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels_around import LANES, add_wins_by_votes
from allsplits.exact._kernels_ballots import (
    BallotWork,
    add_certain_votes,
    add_own_votes,
    add_tops,
    add_winner_votes,
    ballot_work,
)
from allsplits.exact.kernel_types import EveryWinWork, Places, Quadrature, aligned_space

Floats = NDArray[np.float64]


class RankWork(NamedTuple):
    """For `LANES` cases at once: the record, who wins with how many votes, and what that takes.

    Attributes
    ----------
    ballot : BallotWork
    every : EveryWinWork
    wins : array of shape (votes + 1, or 1; classes; LANES)
    record : array of shape (width, LANES)
        What is not a win.
    shares : array of shape (ways, components, classes)
        What a case of a component counts in rows of each class: in the record, then in further
        ways for P(right), which follow it.
    weights : array of shape (ways, LANES)
        The same of the lanes, in a row.
    """

    ballot: BallotWork
    every: EveryWinWork
    wins: Floats
    record: Floats
    shares: Floats
    weights: Floats


def rank_work(
    places: Places, share: bool, quadrature: Quadrature, shares: Floats | None = None
) -> RankWork:
    """Space for `LANES` cases; without `shares` all count alike."""
    C, size = places.n_classes, places.k + 1
    products = aligned_space(2, C, size, LANES)
    every = EveryWinWork(
        aligned_space(C, LANES), products[0], products[1], np.empty((2, C), np.int64),
        aligned_space(LANES),
    )  # fmt: skip
    if shares is None:
        shares = np.ones((1, 1, C))
    return RankWork(
        ballot_work(places, share, quadrature, LANES), every,
        aligned_space(size if places.confident >= 0 else 1, C, LANES),
        aligned_space(places.width, LANES), shares, aligned_space(len(shares), LANES),
    )  # fmt: skip


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def start_ranks(counts, work):
    """A new row: nothing is met, nobody has won."""
    for d in range(len(counts)):
        counts[d] = 0
    for v in range(work.wins.shape[0]):
        for d in range(work.wins.shape[1]):
            fill_lanes(0.0, work.wins[v, d])
    for place in range(work.wins.shape[1], work.record.shape[0]):
        fill_lanes(0.0, work.record[place])


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def fill_lanes(value, row):
    """One value in all lanes."""
    for x in range(LANES):
        row[x] = value


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def add_only_class(own, target, votes, chance, work, out):
    """Add the record of votes that are all for `target`; `votes` is space for them."""
    for d in range(len(votes)):
        votes[d] = work.places.k if d == target else 0
    add_certain_votes(own, votes, work.share, work.places, chance, out)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _is_sure(own, contenders, k):
    """Whether all others together cannot have half of the votes."""
    others = 0
    for d in contenders.present:
        if d != own:
            others += contenders.most[d]
    return 2 * others < k


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def add_ranks(own, contenders, work):
    """Add the records of `LANES` cases, which stay in their lanes (`close_ranks`)."""
    lanes, ballot = np.int64(LANES), work.ballot
    k, degree = ballot.places.k, np.int64(0)
    asked = work.record.shape[0] > ballot.places.n_classes
    if asked or _is_sure(own, contenders, k):
        degree = add_own_votes(own, contenders, lanes, ballot, work.record)
        add_tops(own, contenders, degree, lanes, ballot, work.record)
        if _is_sure(own, contenders, k):
            P, last = ballot.sums[0], len(work.wins) - 1
            for v in range(k - degree, contenders.most[own] + 1):
                row, others, win = contenders.rows[own, v], P[k - v], work.wins[min(v, last), own]
                for x in range(LANES):
                    win[x] += row[x] * others[x]
            return
    add_wins_by_votes(contenders, k, ballot.share, ballot.quadrature, work.every, work.wins)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _weigh(values, weights):
    """The sum over the lanes."""
    total = 0.0
    for x in range(LANES):
        total += weights[x] * values[x]
    return total


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def close_ranks(own, work, out):
    """A row is over: add what is in the lanes, which go round the components."""
    wins, places, shares, weights = work.wins, work.ballot.places, work.shares, work.weights
    for way in range(shares.shape[0]):
        for x in range(LANES):
            weights[way, x] = shares[way, x % shares.shape[1], own]
    for v in range(wins.shape[0]):
        for d in range(wins.shape[1]):
            total = _weigh(wins[v, d], weights[0])
            if total > 0.0:
                add_winner_votes(own, np.int64(d), v, total, places, out)
        for way in range(1, shares.shape[0]):
            out[places.width + way - 1] += _weigh(wins[v, own], weights[way])
    for place in range(places.n_classes, places.width):
        out[place] += _weigh(work.record[place], weights[0])
