"""Compiled records of votes under laws of fixed size: prefixes side by side, tie groups in pairs.

The voters of a prefix of length j are a uniform k-subset: a class with n_d items has the binomial
weights T[n_d, b] (`_kernels_majority`), and the prefix counts m_j / T[j, k].

A prefix that ends inside a tie group of γ_c items of each class has τ_c of them with probability
Π C(γ_c, τ_c) / C(γ, τ). Prefixes that differ in the items of one class only are a run: their rows
of this class are added up, each as often as its prefix counts, and they are one case. Of a tie
group, those that have as much of all classes but the largest are a run. Where many would be left,
the votes are counted in two variables (`_kernels_pair_ballots`).
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

#: A tie group with more runs than this has its votes counted in two variables.
MOST_RUNS = 24


class PrefixWork(NamedTuple):
    """Cases that wait for their votes, and the records' own work space.

    Attributes
    ----------
    prefix, group : array of shape (classes,)
        Items of each class so far, and in the tie group that follows.
    part : array of shape (classes,)
        A part of the group.
    taken : array of shape (classes, LANES)
        Items of each class in the runs that wait.
    runs : array of shape (LANES, votes)
        The rows of its own class, added up over the prefixes of a run; the open run is the last.
    run_classes : array of shape (LANES,)
    contenders : Contenders
        Space for their votes.
    rank : RankWork
    """

    prefix: Integers
    group: Integers
    part: Integers
    taken: Integers
    runs: NDArray[np.float64]
    run_classes: Integers
    contenders: Contenders
    rank: RankWork


class Waiting(NamedTuple):
    """How many cases wait, and of which class the open run is: none if it is -1."""

    n: int
    run_class: int


def prefix_work(places: Places, share: bool, quadrature: Quadrature) -> PrefixWork:
    """Space for one row after the other."""
    C = places.n_classes
    prefix, group, part, present, most = np.zeros((5, C), np.int64)
    rows = aligned_space(C, places.k + 1, LANES)
    # Lanes that were never used are multiplied by zero.
    rows[:] = 0.0
    return PrefixWork(
        prefix, group, part, np.zeros((C, LANES), np.int64), np.zeros((LANES, places.k + 1)),
        np.zeros(LANES, np.int64),
        Contenders(present, most, rows), rank_work(places, share, quadrature),
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


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _fill_class(taken, n_votes, table, rows):
    """The votes of a class, below n_votes, in the lanes of the cases that wait."""
    alike = True
    for x in range(1, len(taken)):
        alike &= taken[x] == taken[0]
    for b in range(n_votes):
        if alike:
            fill_lanes(table[taken[0], b], rows[b])
        else:
            for x in range(len(taken)):
                rows[b, x] = table[taken[x], b]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _take_votes(own, n_waiting, table, work, out):
    """Add the records of the cases that wait."""
    present, most, rows = work.contenders
    k = work.rank.ballot.places.k
    n_present = _list_present(k, work)
    if n_present == 1:
        # Whatever is drawn, all voters are of this class.
        total = 0.0
        for x in range(n_waiting):
            total += work.runs[x, k]
        add_only_class(own, present[0], most, total, work.rank.ballot, out)
        return
    for d in present[:n_present]:
        _fill_class(work.taken[d, :n_waiting], most[d] + 1, table, rows[d])
    for x in range(n_waiting):
        d = work.run_classes[x]
        for b in range(most[d] + 1):
            rows[d, b, x] = work.runs[x, b]
    # Lanes in which nobody waits: one row of zeros makes all of their products zero.
    for b in range(k + 1):
        for x in range(n_waiting, LANES):
            rows[present[0], b, x] = 0.0
    if most[own] == 0:
        fill_lanes(1.0, rows[own, 0])
    add_ranks(own, Contenders(present[:n_present], most, rows), work.rank)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _close_run(own, waiting, table, work, out):
    """Let the open run wait, the items of the other classes as in work.prefix and work.part."""
    n_waiting, d = waiting
    if d < 0:
        return waiting
    for c in range(len(work.prefix)):
        work.taken[c, n_waiting] = work.prefix[c] + work.part[c]
    work.run_classes[n_waiting] = d
    n_waiting += 1
    if n_waiting == LANES:
        _take_votes(own, n_waiting, table, work, out)
        n_waiting = 0
    run = work.runs[n_waiting]
    for b in range(len(run)):
        run[b] = 0.0
    return Waiting(n_waiting, np.int64(-1))


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _add_prefix(n, j, chance, columns, table, run):
    """Add a prefix of length j, with n items of the run's class; returns whether it counts."""
    if j >= len(columns.k_high) or columns.k_high[j] == 0:
        return False
    k = columns.ks[0]
    scale = chance * columns.masses[0, j] / table[j, k]
    for b in range(min(n, k) + 1):
        run[b] += scale * table[n, b]
    return True


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _extend_run(d, s, g, columns, table, run, work):
    """Add to the run of class d the prefixes that have work.part of the other tied classes.

    The g items of the tie group follow s items. Returns whether any of the prefixes counts.
    """
    part, group, n = work.part, work.group, work.prefix[d]
    # Of t items the chance is C(γ_d, τ) Π C(γ_c, τ_c) / C(γ, t).
    t, chance, counts = np.int64(0), 1.0, False
    for c in range(len(part)):
        for e in range(part[c]):
            chance *= (group[c] - e) * (t + 1.0) / ((e + 1.0) * (g - t))
            t += 1
    for tau in range(min(group[d], columns.masses.shape[1] - 1 - s - t) + 1):
        if t > 0:
            counts |= _add_prefix(n + tau, s + t, chance, columns, table, run)
        if t < g:
            chance *= (group[d] - tau) * (t + 1.0) / ((tau + 1.0) * (g - t))
            t += 1
    return counts


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _next_part(d, work):
    """The next part of the tied classes but d, as numbers are counted; after the last, nothing."""
    part, group, c = work.part, work.group, 0
    while c < len(part) and (c == d or part[c] == group[c]):
        part[c] = 0
        c += 1
    if c < len(part):
        part[c] += 1


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _is_whole(d, work):
    """Whether the part has all items of the tied classes but d."""
    for c in range(len(work.part)):
        if c != d and work.part[c] < work.group[c]:
            return False
    return True


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _add_runs(own, waiting, d, s, g, columns, table, work, out):
    """Let the runs of class d wait that end in a tie group of g items, which follows s items.

    The last one stays open. Returns what waits.
    """
    while True:
        if waiting.run_class != d:
            waiting = _close_run(own, waiting, table, work, out)
        if _extend_run(d, s, g, columns, table, work.runs[waiting.n], work):
            waiting = Waiting(waiting.n, d)
        whole = _is_whole(d, work)
        if not whole:
            waiting = _close_run(own, waiting, table, work, out)
        _next_part(d, work)
        if whole:
            return waiting


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
    """Count a tie group; returns its largest class, and how many runs it has of that."""
    group, largest, n_parts = work.group, np.int64(0), 1.0
    for d in labels:
        group[d] += 1
    for d in range(len(group)):
        n_parts *= group[d] + 1.0
        if group[d] > group[largest]:
            largest = np.int64(d)
    return largest, n_parts / (group[largest] + 1.0)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _add_group(own, waiting, labels, s, columns, table, work, ties, out):
    """Add the prefixes that end in a tie group of several classes, which follows s items.

    Returns what waits: of its last run at least.
    """
    g, (d, n_runs) = len(labels), _count_group(labels, work)
    if n_runs <= MOST_RUNS:
        waiting = _add_runs(own, waiting, d, s, g, columns, table, work, out)
    else:
        waiting = _close_run(own, waiting, table, work, out)
        _add_large_group(own, s, g, columns, table, work, ties, out)
    for c in labels:
        work.prefix[c] += 1
        work.group[c] = 0
    if n_runs > MOST_RUNS:
        run = work.runs[waiting.n]
        if _add_prefix(work.prefix[d], s + g, 1.0, columns, table, run):
            waiting = Waiting(waiting.n, d)
    return waiting


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def ballots_of_prefixes(rows, start, stop, columns, table, work, ties, out):
    """out[i]: the record of row i for the only column.

    Where no distances are tied, `ties` is None, and what only tie groups need is not compiled.
    """
    depth, none = columns.masses.shape[1] - 1, np.int64(-1)
    for i in range(start, stop):
        own, position, s = np.int64(rows.own[i]), rows.indptr[i], np.int64(0)
        start_ranks(work.prefix, work.rank)
        waiting, here = Waiting(np.int64(0), none), out[i]
        work.runs[0, :] = 0.0
        while s < depth:
            end, mixed = position + 1, False
            d = np.int64(rows.labels[position])
            if ties is not None:
                end = group_end(rows.tied, position, rows.indptr[i + 1], True)
                for e in range(position + 1, end):
                    mixed = mixed or rows.labels[e] != d
            if mixed:
                labels = rows.labels[position:end]
                waiting = _add_group(own, waiting, labels, s, columns, table, work, ties, here)
            else:
                if waiting.run_class != d:
                    waiting = _close_run(own, waiting, table, work, here)
                run = work.runs[waiting.n]
                for j in range(s + 1, s + end - position + 1):
                    work.prefix[d] += 1
                    if _add_prefix(work.prefix[d], j, 1.0, columns, table, run):
                        waiting = Waiting(waiting.n, d)
            s += end - position
            position = end
        waiting = _close_run(own, waiting, table, work, here)
        if waiting.n > 0:
            _take_votes(own, waiting.n, table, work, here)
        close_ranks(own, work.rank, here)
