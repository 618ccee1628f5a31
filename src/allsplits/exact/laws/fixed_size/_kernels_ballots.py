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
    add_only_class,
    add_ranked_wins,
    add_ranks,
    fill_lanes,
    rank_work,
    start_ranks,
)
from allsplits.exact._kernels_pair_ballots import add_pair_ballot
from allsplits.exact.kernel_types import Contenders, Places, Quadrature, aligned_space

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
    rank : RankWork
    """

    prefix: Integers
    group: Integers
    taken: Integers
    scales: NDArray[np.float64]
    contenders: Contenders
    rank: RankWork


def prefix_work(places: Places, share: bool, quadrature: Quadrature) -> PrefixWork:
    """Space for one row after the other."""
    C = places.n_classes
    prefix, group, present, most = np.zeros((4, C), np.int64)
    return PrefixWork(
        prefix, group, np.zeros((C, LANES), np.int64), np.zeros(LANES),
        Contenders(present, most, aligned_space(C, places.k + 1, LANES)),
        rank_work(places, share, quadrature),
    )  # fmt: skip


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _list_present(taken, x, k, present, most):
    """The classes in the x-th of the prefixes that wait, and their votes at most."""
    n_present = np.int64(0)
    for d in range(len(taken)):
        most[d] = min(taken[d, x], k)
        if taken[d, x] > 0:
            present[n_present] = d
            n_present += 1
    return n_present


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _take_votes(own, n_waiting, table, work, out):
    """Add the records of the prefixes that wait."""
    present, most, rows = work.contenders
    k = work.rank.ballot.places.k
    n_present = _list_present(work.taken, n_waiting - 1, k, present, most)
    if n_present == 1:
        # Whatever is drawn, all voters are of this class.
        total = 0.0
        for x in range(n_waiting):
            total += work.scales[x] * table[work.taken[present[0], x], k]
        add_only_class(own, present[0], most, total, work.rank.ballot, out)
        return
    for m in range(n_present):
        d = present[m]
        for b in range(most[d] + 1):
            for x in range(LANES):
                scale = 1.0 if m > 0 else (work.scales[x] if x < n_waiting else 0.0)
                rows[d, b, x] = scale * table[work.taken[d, x], b] if x < n_waiting else 0.0
    if work.taken[own, n_waiting - 1] == 0:
        fill_lanes(1.0, rows[own, 0])
    add_ranks(own, Contenders(present[:n_present], most, rows), work.rank, out)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _wait(n_waiting, j, columns, table, work):
    """Let the prefix of length j wait, as its items are in work.prefix; returns how many do."""
    for d in range(len(work.prefix)):
        work.taken[d, n_waiting] = work.prefix[d]
    work.scales[n_waiting] = columns.masses[0, j] / table[j, columns.ks[0]]
    return n_waiting + 1


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_group(own, s, g, columns, table, work, ties, out):
    """Add the prefixes that end inside a tie group of g items that follows s items."""
    pair = ties.pair
    k, depth = ties.places.k, columns.masses.shape[1] - 1
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
    add_pair_ballot(own, present[:n_present], ties, out)


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
def _take_group(own, s, labels, columns, table, work, ties, out):
    """Count a tie group, and take its votes if it holds several classes; returns whether it does.

    One class is one prefix after the other.
    """
    mixed = False
    for d in labels:
        work.group[d] += 1
        mixed = mixed or d != labels[0]
    if mixed:
        _add_group(own, s, len(labels), columns, table, work, ties, out)
    return mixed


@njit(nogil=True, cache=True, error_model="numpy")
def ballots_of_prefixes(rows, start, stop, columns, table, work, ties, out):
    """out[i]: the record of row i for the only column.

    Where no distances are tied, `ties` is None, and what only tie groups need is not compiled.
    """
    depth, k_high = columns.masses.shape[1] - 1, columns.k_high
    for i in range(start, stop):
        own, position, s = np.int64(rows.own[i]), rows.indptr[i], np.int64(0)
        start_ranks(work.prefix, work.rank)
        n_waiting = 0
        while s < depth:
            end = position + 1
            if ties is not None:
                end = group_end(rows.tied, position, rows.indptr[i + 1], True)
            labels = rows.labels[position:end]
            mixed = False
            if ties is not None:
                mixed = _take_group(own, s, labels, columns, table, work, ties, out[i])
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
