"""Compiled records of votes under laws of fixed size: prefixes side by side, tie groups in pairs.

The voters of a prefix of length j are a uniform k-subset: a class with n_d items has the binomial
weights T[n_d, b] (`_kernels_majority`), and the prefix counts m_j / T[j, k].

A prefix that ends inside a tie group of γ_c items of each class has τ_c of them with probability
Π C(γ_c, τ_c) / C(γ, τ). Where there are few such parts of a group, each is one more prefix; where
there are many, the votes are counted in two variables (`_kernels_pair_ballots`).
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels import binomial_row, group_end, tie_weights
from allsplits.exact._kernels_around import LANES
from allsplits.exact._kernels_ballot_lanes import (
    RankWork,
    add_only_class,
    add_ranks,
    close_ranks,
    fill_lanes,
    rank_work,
    start_ranks,
)
from allsplits.exact._kernels_pair_ballots import add_pair_ballot
from allsplits.exact.kernel_types import Contenders, Places, Quadrature, aligned_space

Integers = NDArray[np.int64]

#: A tie group with more parts than this has its votes counted in two variables.
MOST_PARTS = 96


class PrefixWork(NamedTuple):
    """Prefixes that wait for their votes, and the records' own work space.

    Attributes
    ----------
    prefix, group : array of shape (classes,)
        Items of each class so far, and in the tie group that follows.
    part : array of shape (classes,)
        A part of the group.
    choices : array of shape (MOST_PARTS,)
        How many parts of each size there are.
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
    part: Integers
    choices: NDArray[np.float64]
    taken: Integers
    scales: NDArray[np.float64]
    contenders: Contenders
    rank: RankWork


def prefix_work(places: Places, share: bool, quadrature: Quadrature) -> PrefixWork:
    """Space for one row after the other."""
    C = places.n_classes
    prefix, group, part, present, most = np.zeros((5, C), np.int64)
    return PrefixWork(
        prefix, group, part, np.empty(MOST_PARTS), np.zeros((C, LANES), np.int64), np.zeros(LANES),
        Contenders(present, most, aligned_space(C, places.k + 1, LANES)),
        rank_work(places, share, quadrature),
    )  # fmt: skip


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _list_present(k, work):
    """The classes in the prefixes that wait, and their votes at most."""
    present, most = work.contenders.present, work.contenders.most
    n_present = np.int64(0)
    for d in range(len(most)):
        most[d] = min(work.prefix[d] + work.group[d], k)
        if most[d] > 0:
            present[n_present] = d
            n_present += 1
    return n_present


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _take_votes(own, n_waiting, table, work, out):
    """Add the records of the prefixes that wait."""
    present, most, rows = work.contenders
    k = work.rank.ballot.places.k
    n_present = _list_present(k, work)
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
    if most[own] == 0:
        fill_lanes(1.0, rows[own, 0])
    add_ranks(own, Contenders(present[:n_present], most, rows), work.rank)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _wait(own, n_waiting, j, chance, columns, table, work, out):
    """Let a prefix of length j wait, as its items are in work.prefix and work.part.

    Returns how many do.
    """
    for d in range(len(work.prefix)):
        work.taken[d, n_waiting] = work.prefix[d] + work.part[d]
    work.scales[n_waiting] = chance * columns.masses[0, j] / table[j, columns.ks[0]]
    n_waiting += 1
    if n_waiting == LANES:
        _take_votes(own, n_waiting, table, work, out)
        n_waiting = 0
    return n_waiting


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _wait_parts(own, n_waiting, s, g, columns, table, work, out):
    """Let the prefixes wait that end inside a tie group of g items that follows s items."""
    part, group, choices, k_high = work.part, work.group, work.choices, columns.k_high
    choices[0] = 1.0
    for t in range(g):
        choices[t + 1] = choices[t] * (g - t) / (t + 1.0)
    ways, t = 1.0, np.int64(0)
    while True:
        # The next part, as numbers are counted; whole numbers below 2⁵³ throughout.
        d = 0
        while part[d] == group[d]:
            t -= part[d]
            part[d] = 0
            d += 1
        ways = ways * (group[d] - part[d]) / (part[d] + 1.0)
        part[d] += 1
        t += 1
        if t == g:
            break
        j = s + t
        if j < len(k_high) and k_high[j] > 0:
            chance = ways / choices[t]
            n_waiting = _wait(own, n_waiting, j, chance, columns, table, work, out)
    for d in range(len(part)):
        part[d] = 0
    return n_waiting


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _add_large_group(own, s, g, columns, table, work, ties, out):
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


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _fill_pair(e, n, tied, s, g, phi, table, pair):
    """The e-th class has n items in the prefix and `tied` in the group."""
    k = pair.rows.shape[1] - 1
    for b in range(k + 1):
        pair.rows[e, b] = table[n, b]
        pair.rest[e, b] = table[s - n, b]
    binomial_row(tied, k, phi, pair.group_rows[e])
    binomial_row(g - tied, k, phi, pair.group_rest[e])


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _count_group(labels, work):
    """Count a tie group; returns how many parts it has: none if it is of one class.

    One class is one prefix after the other.
    """
    mixed = False
    for d in labels:
        work.group[d] += 1
        mixed = mixed or d != labels[0]
    n_parts = 1.0
    for d in range(len(work.group)):
        n_parts *= work.group[d] + 1.0
    return n_parts if mixed else 0.0


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def ballots_of_prefixes(rows, start, stop, columns, table, work, ties, out):
    """out[i]: the record of row i for the only column.

    Where no distances are tied, `ties` is None, and what only tie groups need is not compiled.
    """
    depth, k_high = columns.masses.shape[1] - 1, columns.k_high
    for i in range(start, stop):
        own, position, s = np.int64(rows.own[i]), rows.indptr[i], np.int64(0)
        start_ranks(work.prefix, work.rank)
        n_waiting, here = np.int64(0), out[i]
        while s < depth:
            end, n_parts = position + 1, 0.0
            if ties is not None:
                end = group_end(rows.tied, position, rows.indptr[i + 1], True)
            labels = rows.labels[position:end]
            if ties is not None:
                n_parts, g = _count_group(labels, work), len(labels)
                if n_parts > MOST_PARTS:
                    _add_large_group(own, s, g, columns, table, work, ties, here)
                elif n_parts > 0:
                    n_waiting = _wait_parts(own, n_waiting, s, g, columns, table, work, here)
            for e in range(len(labels)):
                work.prefix[labels[e]] += 1
                work.group[labels[e]] = 0
                j = s + e + 1
                if j <= depth and k_high[j] > 0 and (n_parts == 0 or e == len(labels) - 1):
                    n_waiting = _wait(own, n_waiting, j, 1.0, columns, table, work, here)
            s += len(labels)
            position = end
        if n_waiting > 0:
            _take_votes(own, n_waiting, table, work, here)
        close_ranks(own, work.rank, here)
