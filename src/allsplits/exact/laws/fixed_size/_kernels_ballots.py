"""Compiled records of votes under laws of fixed size: prefixes side by side, tie groups in pairs.

The voters of a prefix of length j are a uniform k-subset: a class with n_d items has the binomial
weights T[n_d, b] (`_kernels_majority`), and the prefix counts m_j / T[j, k].
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels import binomial_row, group_end, tie_weights
from allsplits.exact._kernels_around import LANES
from allsplits.exact._kernels_ballots import (
    RankWork,
    add_certain_votes,
    add_ranked_wins,
    add_ranks,
    rank_work,
)
from allsplits.exact._kernels_pair_ballots import PairWork, add_pair_ballot, pair_work
from allsplits.exact.ballots import Places
from allsplits.exact.kernel_types import Contenders, Quadrature, aligned_space

Integers = NDArray[np.int64]


class PrefixWork(NamedTuple):
    """Prefixes that wait for their votes, and the records' own work space.

    Attributes
    ----------
    prefix, group : array of shape (classes,)
        Items of each class so far, and in the tie group that follows.
    taken : array of shape (classes, LANES)
        Items of each class in the prefixes that wait.
    scales : array of shape (LANES,)
        What these count.
    contenders : Contenders
        Space for their votes.
    rank, pair : RankWork, PairWork
    """

    prefix: Integers
    group: Integers
    taken: Integers
    scales: NDArray[np.float64]
    contenders: Contenders
    rank: RankWork
    pair: PairWork


def prefix_work(places: Places, share: bool, quadrature: Quadrature) -> PrefixWork:
    """Space for one row after the other."""
    C = places.n_classes
    prefix, group, present, most = np.zeros((4, C), np.int64)
    return PrefixWork(
        prefix, group, np.zeros((C, LANES), np.int64), np.zeros(LANES),
        Contenders(present, most, aligned_space(C, places.k + 1, LANES)),
        rank_work(places, share, quadrature), pair_work(places, share, quadrature),
    )  # fmt: skip


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _list_present(counts, k, present, most):
    n_present = np.int64(0)
    for d in range(len(counts)):
        most[d] = min(counts[d], k)
        if counts[d] > 0:
            present[n_present] = d
            n_present += 1
    return n_present


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _take_votes(own, n_waiting, table, work, out):
    """Add the records of the prefixes that wait."""
    present, most, rows = work.contenders
    places, share, k = work.rank.ballot.places, work.rank.ballot.share, work.rank.ballot.places.k
    n_present = _list_present(work.taken[:, n_waiting - 1], k, present, most)
    if n_present == 1:
        # Whatever is drawn, all voters are of this class.
        total = 0.0
        for x in range(n_waiting):
            total += work.scales[x] * table[work.taken[present[0], x], k]
        most[:] = 0
        most[present[0]] = k
        add_certain_votes(own, most, share, places, total, out)
        return
    for m in range(n_present):
        d = present[m]
        for b in range(most[d] + 1):
            for x in range(LANES):
                scale = 1.0 if m > 0 else (work.scales[x] if x < n_waiting else 0.0)
                rows[d, b, x] = scale * table[work.taken[d, x], b] if x < n_waiting else 0.0
    if work.taken[own, n_waiting - 1] == 0:
        rows[own, 0, :] = 1.0
    add_ranks(own, Contenders(present[:n_present], most, rows), work.rank, out)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _wait(n_waiting, j, columns, table, work):
    """Let the prefix of length j wait, as its items are in work.prefix; returns how many do."""
    for d in range(len(work.prefix)):
        work.taken[d, n_waiting] = work.prefix[d]
    work.scales[n_waiting] = columns.masses[0, j] / table[j, columns.ks[0]]
    return n_waiting + 1


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_group(own, s, g, columns, table, work, out):
    """Add the prefixes that end inside a tie group of g items that follows s items."""
    places, pair = work.pair.places, work.pair.pair
    k, depth = places.k, columns.masses.shape[1] - 1
    phi = k / (k + g + 1.0)
    group_row = pair.group_rows[0]
    binomial_row(g, min(k, g), phi, group_row)
    for i in range(k + 1):
        pair.weight[i] = 0.0
    if not tie_weights(s, g, depth, k, columns.masses[0], table, group_row, pair.weight):
        return
    present = work.contenders.present
    n_present = np.int64(0)
    for d in range(len(work.prefix)):
        n, tied = work.prefix[d], work.group[d]
        if n + tied > 0:
            present[n_present] = d
            _fill_pair(n_present, n, tied, s, g, phi, table, pair)
            n_present += 1
    _fill_pair(n_present, np.int64(0), np.int64(0), s, g, phi, table, pair)
    add_pair_ballot(own, present[:n_present], work.pair, out)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _fill_pair(e, n, tied, s, g, phi, table, pair):
    """The e-th class has n items in the prefix and `tied` in the group."""
    k = pair.rows.shape[1] - 1
    for b in range(k + 1):
        pair.rows[e, b] = table[n, b]
        pair.rest[e, b] = table[s - n, b]
    binomial_row(tied, k, phi, pair.group_rows[e])
    binomial_row(g - tied, k, phi, pair.group_rest[e])


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _meet(labels, work):
    """Count a tie group; returns whether it holds several classes."""
    mixed = False
    for d in labels:
        work.group[d] += 1
        mixed = mixed or d != labels[0]
    return mixed


@njit(nogil=True, cache=True, error_model="numpy")
def ballots_of_prefixes(rows, start, stop, average, columns, table, work, out):
    """out[i]: the record of row i for the only column."""
    depth, k_high = columns.masses.shape[1] - 1, columns.k_high
    for i in range(start, stop):
        own, position, s = np.int64(rows.own[i]), rows.indptr[i], np.int64(0)
        work.prefix[:], work.rank.wins[:], n_waiting = 0, 0.0, 0
        while s < depth:
            end = group_end(rows.tied, position, rows.indptr[i + 1], average)
            labels = rows.labels[position:end]
            mixed = _meet(labels, work)
            if mixed:
                _add_group(own, s, len(labels), columns, table, work, out[i])
            for e in range(len(labels)):
                work.prefix[labels[e]] += 1
                work.group[labels[e]] = 0
                j = s + e + 1
                if j <= depth and k_high[j] > 0 and (not mixed or e == len(labels) - 1):
                    n_waiting = _wait(n_waiting, j, columns, table, work)
                if n_waiting == LANES:
                    _take_votes(own, n_waiting, table, work, out[i])
                    n_waiting = 0
            s += len(labels)
            position = end
        if n_waiting > 0:
            _take_votes(own, n_waiting, table, work, out[i])
        add_ranked_wins(own, work.rank, out[i])
