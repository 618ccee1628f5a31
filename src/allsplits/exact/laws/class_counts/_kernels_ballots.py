"""Compiled records of votes under fixed class counts, of all components: one walk for all rows.

A case is a next training item that ends a vote, in all components: of a rank, or of a tie group at
a node of its time and of a class (`_kernels_tied`). Cases wait until the lanes are full.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels import group_end
from allsplits.exact._kernels_around import LANES
from allsplits.exact._kernels_ballot_lanes import (
    RankWork,
    add_only_class,
    add_ranks,
    close_ranks,
    fill_lanes,
    start_ranks,
)
from allsplits.exact._kernels_ties import (
    choose_rule,
    meet_group,
    node_of,
    pass_group,
    row_before,
    row_next,
    start_walk,
)
from allsplits.exact._kernels_votes import finished_votes
from allsplits.exact.kernel_types import Contenders, aligned_space
from allsplits.exact.laws.class_counts._kernels_rows import choose_tables, is_pure
from allsplits.exact.laws.class_counts._kernels_tied import (
    TiedWork,
    copy_to_lanes,
    tied_work,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class WaitingWork(NamedTuple):
    """Cases that wait for their votes.

    Attributes
    ----------
    tied : TiedWork
        Where the walk is.
    lines : array of shape (cases, classes)
        The line of its table that tells the votes of a class; -1 if they are in `contenders`.
    following : array of shape (cases, 2)
        The class of the next item and its candidates that are left; -1 if that is in `contenders`.
    contenders : Contenders
        The votes of those that wait, side by side.
    at_node : two arrays of shape (classes, votes · components)
        The votes of classes in a tie group before a time in it, and if the next item is of theirs.
    rank : RankWork
    """

    tied: TiedWork
    lines: Integers
    following: Integers
    contenders: Contenders
    at_node: tuple[Floats, Floats]
    rank: RankWork


def waiting_work(rank: RankWork) -> WaitingWork:
    """Space for one row after the other."""
    C, size = rank.ballot.places.n_classes, rank.ballot.places.k + 1
    present, most = np.zeros((2, C), np.int64)
    rows = aligned_space(C, size, LANES)
    # Lanes that were never used are multiplied by zero.
    rows[:] = 0.0
    n_components = rank.shares.shape[1]
    tied, at_node = tied_work(C, size, n_components), np.empty((2, C, size * n_components))
    lines, following = np.empty((LANES, C), np.int64), np.empty((LANES, 2), np.int64)
    contenders = Contenders(present, most, rows)
    return WaitingWork(tied, lines, following, contenders, (at_node[0], at_node[1]), rank)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _add_pure(own, votes, work, out):
    """Add a row whose neighbours are all of its own class."""
    shares, width = work.shares, work.ballot.places.width
    for way in range(shares.shape[0]):
        total = 0.0
        for component in range(shares.shape[1]):
            total += shares[way, component, own]
        if way == 0:
            add_only_class(own, own, votes, total, work.ballot, out)
        else:
            out[width + way - 1] += total


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _fill_class(d, n_waiting, n_votes, table, work):
    """The votes of a class, below n_votes, in all lanes of the cases that wait."""
    lines, rows = work.lines[:, d], work.contenders.rows[d]
    n_components = work.rank.shares.shape[1]
    alike = n_components == 1
    for u in range(n_waiting):
        alike = alike and lines[u] == lines[0]
    if alike and lines[0] >= 0:
        for b in range(n_votes):
            fill_lanes(table[lines[0], b], rows[b])
        return
    for u in range(n_waiting):
        if lines[u] >= 0:
            copy_to_lanes(table[lines[u]], n_votes, n_components, u * n_components, rows)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _take_votes(own, n_waiting, draws, work):
    """Add the records of the cases that wait."""
    present, most, rows = work.contenders
    met, table_ids, n_components = work.tied.walk.met, work.tied.table_ids, draws.drawn.shape[1]
    k, n_present = work.rank.ballot.places.k, np.int64(0)
    for d in range(len(met)):
        most[d] = 0
        if met[d] > 0:
            present[n_present] = d
            n_present += 1
            for drawn in draws.drawn[table_ids[d]]:
                most[d] = max(most[d], min(met[d], drawn, k))
            _fill_class(d, n_waiting, most[d] + 1, draws.lines, work)
    for u in range(n_waiting):
        d, left = work.following[u]
        if d >= 0:
            remaining, first = draws.remaining[table_ids[d]], u * n_components
            for b in range(most[d] + 1):
                for p in range(n_components):
                    rows[d, b, first + p] *= remaining[b * n_components + p] / left
    # Lanes in which nobody waits: one row of zeros makes all of their products zero.
    for b in range(k + 1):
        for x in range(n_waiting * n_components, LANES):
            rows[present[0], b, x] = 0.0
    if met[own] == 0:
        fill_lanes(1.0, rows[own, 0])
    add_ranks(own, Contenders(present[:n_present], most, rows), work.rank)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _wait(own, n_waiting, next_class, filled, draws, work):
    """Let one more case wait, the votes of some classes `filled`; returns how many do."""
    counts, table_ids, lines = work.tied.walk.counts, work.tied.table_ids, work.lines[n_waiting]
    for d in range(len(counts)):
        lines[d] = draws.starts[table_ids[d]] + counts[d]
    for d in filled:
        lines[d] = -1
    work.following[n_waiting, 0] = next_class
    if next_class >= 0:
        left = draws.pools[table_ids[next_class]] - counts[next_class]
        work.following[n_waiting, 1] = left
    n_waiting += 1
    if (n_waiting + 1) * draws.drawn.shape[1] > LANES:
        _take_votes(own, n_waiting, draws, work)
        n_waiting = 0
    return n_waiting


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _wait_group(own, members, n_waiting, draws, vote, work):
    """Let the votes that end in a tie group wait; returns how many cases do."""
    walk, table_ids, rules = work.tied.walk, work.tied.table_ids, vote.tie_rules
    n_components, n_votes = draws.drawn.shape[1], vote.k_most + 1
    before, following = work.at_node
    width = n_votes * n_components
    chosen = choose_rule(rules, members, walk.group, table_ids, draws.pools, draws.drawn)
    for q in range(chosen.n_nodes):
        time, weight = node_of(rules, chosen, q)
        for d in members:
            t, n, tied = table_ids[d], walk.counts[d], walk.group[d]
            table = draws.lines[draws.starts[t] :]
            if len(members) > 1:
                row_before(table, n, tied, time, width, before[d])
            row_next(table, draws.remaining[t], draws.pools[t], n, tied, time, width, following[d])
            for x in range(width):
                following[d, x] *= weight
        for next_class in members:
            lane = n_waiting * n_components
            for d in members:
                votes = following[d] if d == next_class else before[d]
                copy_to_lanes(votes, n_votes, n_components, lane, work.contenders.rows[d])
            n_waiting = _wait(own, n_waiting, np.int64(-1), members, draws, work)
    return n_waiting


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _open_votes(n_present, k_low, draws, vote, tied):
    """The smallest k whose vote may still change after these tie groups."""
    walk, table_ids, class_rows = tied.walk, tied.table_ids, tied.rows
    n_components, k = draws.drawn.shape[1], vote.k_most
    contenders = Contenders(walk.present[:n_present], walk.met, class_rows)
    for d in contenders.present:
        line = draws.lines[draws.starts[table_ids[d]] + walk.counts[d]]
        n_votes = min(walk.met[d], k) + 1
        copy_to_lanes(line, n_votes, n_components, np.int64(0), class_rows[d])
    return finished_votes(contenders, n_components, k_low, k, vote.tol, tied.win.poly)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def ballots_of_rows(rows, start, stop, draws, vote, work, out):
    """out[i]: the record of row i; no more components than lanes."""
    walk, table_ids, average = work.tied.walk, work.tied.table_ids, vote.rule.average
    indptr, labels, tied, owns = rows
    for i in range(start, stop):
        own, kind, first, row_end = np.int64(owns[i]), draws.kinds[i], indptr[i], indptr[i + 1]
        start_walk(walk)
        if is_pure(labels[first:row_end], tied[first:row_end], own, vote.depth, average):
            _add_pure(own, walk.counts, work.rank, out[i])
            continue
        choose_tables(draws.table_of[kind], draws.own_table_of[kind], own, table_ids)
        start_ranks(walk.counts, work.rank)
        k_low, n_present, n_waiting, n_groups = vote.k_least, np.int64(0), np.int64(0), 0
        position, last = first, min(first + vote.depth, row_end)
        while position < last and k_low <= vote.k_most:
            end = group_end(tied, position, row_end, average)
            n_present, n_members = meet_group(labels[position:end], walk, n_present)
            members = walk.members[:n_members]
            # With fewer items before it, no item ends a vote.
            if end - first > vote.k_most:
                if end - position > 1:
                    n_waiting = _wait_group(own, members, n_waiting, draws, vote, work)
                else:
                    n_waiting = _wait(own, n_waiting, members[0], members[:0], draws, work)
            pass_group(walk, members)
            position = end
            n_groups += 1
            if n_groups % 4 == 0:
                k_low = _open_votes(n_present, k_low, draws, vote, work.tied)
        if n_waiting > 0:
            _take_votes(own, n_waiting, draws, work)
        close_ranks(own, work.rank, out[i])
