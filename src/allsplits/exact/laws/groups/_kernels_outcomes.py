"""Compiled outcomes of a vote whose training groups are decided: certain, or within a tie group.

If only i of the t training items of a tie group can vote, they are a uniform i-subset.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels_ballots import (
    OneBallotWork,
    add_ballot,
    add_certain_votes,
    one_ballot_work,
)
from allsplits.exact._kernels_votes import add_wins
from allsplits.exact.kernel_types import Contenders, Places, Quadrature, Reach, WinWork


class VoteRule(NamedTuple):
    """Whether every class is asked for, any of the R nearest suffices, tied classes share.

    With `mean` voters have targets instead of classes, and the squared error is asked for.
    `places` are those of a record, where records of the votes are asked for, or None.
    """

    every_class: bool
    ranked: bool
    share: bool
    mean: bool
    places: Places | None


class Ballot(NamedTuple):
    """The votes that are asked for, of ks[column] voters or ranks, and how they are counted."""

    rule: VoteRule
    ks: NDArray[np.int64]
    k_max: int
    n_classes: int


class TieWork(NamedTuple):
    """Scratch of a tie group: its training items of each class, and what their votes need.

    `sums` are those of the targets of its training items, and of their squares.
    """

    tied: NDArray[np.int64]
    sums: NDArray[np.float64]
    contenders: Contenders
    win: WinWork
    quadrature: Quadrature
    record: OneBallotWork | None


def tie_work(n_classes: int, k_max: int, quadrature: Quadrature, rule: VoteRule) -> TieWork:
    """Scratch for votes of up to k_max."""
    present, most, tied = np.zeros((3, n_classes), np.int64)
    contenders = Contenders(present, most, np.zeros((n_classes, k_max + 1, 1)))
    free, poly, wins = np.empty((3, k_max + 1, 1))
    win = WinWork(free, poly, np.empty(n_classes, np.bool_), wins)
    record = None
    if rule.places is not None:
        record = one_ballot_work(rule.places, rule.share, quadrature)
    return TieWork(tied, np.zeros(2), contenders, win, quadrature, record)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def choose(n, k):
    if k < 0 or k > n:
        return 0.0
    value = 1.0
    for i in range(k):
        value = value * (n - i) / (i + 1.0)
    return value


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _record_certain(own, votes, share, places, weight, out):
    """Add to a record, if one is asked for; if not, this is not compiled."""
    if places is None:
        return False
    add_certain_votes(own, votes, share, places, weight, out)
    return True


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _record_tied(own, contenders, without, scale, record, out):
    """The same for a vote that ends in a tie group; `without`: `own` has no votes there."""
    if record is None:
        return False
    first = contenders.present[0]
    for b in range(contenders.rows.shape[1]):
        contenders.rows[first, b, 0] *= scale
    if without:
        contenders.most[own], contenders.rows[own, 0, 0] = 0, 1.0
    add_ballot(own, contenders, record, out)
    return True


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def add_certain(own, votes, total, k, rule, weight, out, column):
    """Add the outcome of a vote of k whose voters are known, with the total of their targets."""
    if rule.mean:
        out[column] += weight * (total / k) ** 2
        return
    if rule.ranked:
        out[column] += weight if votes[own] > 0 else 0.0
        return
    if _record_certain(own, votes, rule.share, rule.places, weight, out):
        return
    most, n_winners, winner = np.int64(0), 0, np.int64(0)
    for d in range(len(votes)):
        if votes[d] > most:
            most, n_winners, winner = votes[d], 1, np.int64(d)
        elif votes[d] == most:
            n_winners += 1
    if rule.share:
        for d in range(len(votes)):
            if votes[d] == most and (rule.every_class or d == own):
                out[d if rule.every_class else column] += weight / n_winners
    elif rule.every_class or winner == own:
        out[winner if rule.every_class else column] += weight


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _list_voters(votes, k, work):
    """The classes with votes or training items in the group, and their ways to have x votes."""
    present, most, rows = work.contenders
    n_present = np.int64(0)
    for d in range(len(votes)):
        if votes[d] + work.tied[d] > 0:
            present[n_present] = d
            n_present += 1
            most[d] = min(votes[d] + work.tied[d], k)
            for x in range(k + 1):
                rows[d, x, 0] = choose(work.tied[d], x - votes[d]) if x >= votes[d] else 0.0
    return Contenders(present[:n_present], most, rows)


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def add_tie_group(column, k, own, branch_votes, rule, weight, work, out):
    """Add the outcome of a vote of k that ends in the tied training items, after these votes."""
    votes, total, voted = branch_votes
    i, t = k - total, np.int64(0)
    for d in range(len(votes)):
        t += work.tied[d]
    if rule.mean:
        # Of the tied items each votes with probability i/t, and each pair with i(i-1)/(t(t-1)).
        tied, squares = work.sums
        pairs = i / t * (i - 1.0) / (t - 1.0) if t > 1 else 0.0
        error = voted * voted + 2.0 * voted * tied * (i / t) + squares * (i / t)
        out[column] += weight * (error + pairs * (tied * tied - squares)) / (k * float(k))
        return
    if rule.ranked:
        miss = 0.0
        if votes[own] == 0:
            miss = choose(t - work.tied[own], i) / choose(t, i)
        out[column] += weight * (1.0 - miss)
        return
    contenders = _list_voters(votes, k, work)
    scale = weight / choose(t, i)
    if _record_tied(own, contenders, votes[own] + work.tied[own] == 0, scale, work.record, out):
        return
    for target in contenders.present:
        if rule.every_class or target == own:
            work.win.wins[k, 0] = 0.0
            reach = Reach(np.int64(1), contenders.most[target], k, k)
            add_wins(
                target, contenders, reach, rule.share, work.quadrature, scale, np.int64(1), work.win
            )
            out[target if rule.every_class else column] += work.win.wins[k, 0]
