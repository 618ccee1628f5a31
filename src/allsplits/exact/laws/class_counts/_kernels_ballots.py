"""Compiled records of votes under fixed class counts, of all components: one walk for all rows.

A case is a next training item that ends a vote, in all components: one of a run of items of a
class, whose rows are added up, or of a tie group at a node of its time and of a class
(`_kernels_tied`). Cases wait until the lanes are full.
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
    start_walk,
)
from allsplits.exact._kernels_votes import multiply
from allsplits.exact.kernel_types import Contenders, aligned_space
from allsplits.exact.laws.class_counts._kernels_ends import (
    add_end,
    clear_row,
    copy_row,
    copy_votes,
    fill_before,
    fill_next,
)
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
        The line of its table that tells the votes of a class; -1 if they are in `special`.
    special : array of shape (cases, classes, votes · components and some)
        Votes of classes that end there, or are in a tie group before a time in it.
    run : array of shape (votes · components and some,)
        The votes that end at an item of the open run.
    contenders : Contenders
        The votes of those that wait, side by side.
    at_node : two arrays of shape (classes, votes · components and some)
        The votes of classes in a tie group before a time in it, and if the next item is of theirs.
    rank : RankWork
    """

    tied: TiedWork
    lines: Integers
    special: Floats
    run: Floats
    contenders: Contenders
    at_node: tuple[Floats, Floats]
    rank: RankWork


class Waiting(NamedTuple):
    """How many cases wait, and of which class the open run is: none if it is -1."""

    n: int
    run_class: int


def waiting_work(rank: RankWork) -> WaitingWork:
    """Space for one row after the other."""
    C, size = rank.ballot.places.n_classes, rank.ballot.places.k + 1
    present, most = np.zeros((2, C), np.int64)
    rows = aligned_space(C, size, LANES)
    # Lanes that were never used are multiplied by zero.
    rows[:] = 0.0
    n_components = rank.shares.shape[1]
    # Whole eights, and room for one that begins at the last numbers.
    n_cases, width = LANES // n_components, -(-(size * n_components + 7) // 8) * 8
    special, at_node = aligned_space(n_cases, C, width), aligned_space(2, C, width)
    run = aligned_space(width)
    special[:], at_node[:], run[:] = 0.0, 0.0, 0.0
    return WaitingWork(
        tied_work(C, size, n_components), np.empty((n_cases, C), np.int64), special, run,
        Contenders(present, most, rows), (at_node[0], at_node[1]), rank,
    )  # fmt: skip


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


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _fill_class(d, n_waiting, n_votes, table, work):
    """The votes of a class, below n_votes, in all lanes of the cases that wait."""
    lines, special, rows = work.lines[:, d], work.special, work.contenders.rows[d]
    n_components = work.rank.shares.shape[1]
    alike = n_components == 1 and lines[0] >= 0
    for u in range(n_waiting):
        alike = alike and lines[u] == lines[0]
    for b in range(n_votes):
        if alike:
            fill_lanes(table[lines[0], b], rows[b])
            continue
        for u in range(n_waiting):
            if lines[u] >= 0:
                copy_votes(table[lines[u]], b, n_components, u * n_components, rows)
            else:
                copy_votes(special[u, d], b, n_components, u * n_components, rows)


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
    # Lanes in which nobody waits: one row of zeros makes all of their products zero.
    for b in range(k + 1):
        for x in range(n_waiting * n_components, LANES):
            rows[present[0], b, x] = 0.0
    if met[own] == 0:
        fill_lanes(1.0, rows[own, 0])
    add_ranks(own, Contenders(present[:n_present], most, rows), work.rank)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _wait(own, n_waiting, draws, work):
    """One more case waits, whose lines are known; returns how many do."""
    n_waiting += 1
    if n_waiting == len(work.lines):
        _take_votes(own, n_waiting, draws, work)
        n_waiting = 0
    return n_waiting


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _list_lines(n_waiting, draws, work):
    """The lines of all classes where the walk is."""
    counts, table_ids, lines = work.tied.walk.counts, work.tied.table_ids, work.lines[n_waiting]
    for d in range(len(counts)):
        lines[d] = draws.starts[table_ids[d]] + counts[d]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _close_run(own, waiting, draws, work):
    """Let the open run wait, if there is one."""
    n_waiting, d = waiting
    if d < 0:
        return waiting
    width = draws.lines.shape[1]
    _list_lines(n_waiting, draws, work)
    work.lines[n_waiting, d] = -1
    copy_row(width, work.run, work.special[n_waiting, d])
    clear_row(width, work.run)
    return Waiting(_wait(own, n_waiting, draws, work), np.int64(-1))


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _extend_run(d, n_items, draws, work):
    """Add the votes that end at one of the next items, all of class d; passes them."""
    walk, t = work.tied.walk, work.tied.table_ids[d]
    for _ in range(n_items):
        left = draws.pools[t] - walk.counts[d]
        line = draws.lines[draws.starts[t] + walk.counts[d]]
        add_end(line, draws.remaining[t], left, draws.lines.shape[1], work.run)
        walk.counts[d] += 1


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _wait_group(own, members, n_waiting, draws, vote, work):
    """Let the votes that end in a tie group wait; returns how many cases do."""
    walk, table_ids, rules = work.tied.walk, work.tied.table_ids, vote.tie_rules
    before, following = work.at_node
    width = draws.lines.shape[1]
    chosen = choose_rule(rules, members, walk.group, table_ids, draws.pools, draws.drawn)
    for q in range(chosen.n_nodes):
        node = node_of(rules, chosen, q)
        for d in members:
            t, n, tied = table_ids[d], walk.counts[d], walk.group[d]
            table = draws.lines[draws.starts[t] :]
            fill_before(table, n, tied, node[0], width, before[d])
            fill_next(table, draws.remaining[t], draws.pools[t], n, tied, node, width, following[d])
        for next_class in members:
            _list_lines(n_waiting, draws, work)
            for d in members:
                votes = following[d] if d == next_class else before[d]
                copy_row(width, votes, work.special[n_waiting, d])
                work.lines[n_waiting, d] = -1
            n_waiting = _wait(own, n_waiting, draws, work)
    return n_waiting


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _mass_left(n_present, draws, k, tied):
    """The chance that at most k training items have come, in the component where it is largest."""
    walk, table_ids, poly = tied.walk, tied.table_ids, tied.win.poly
    n_components, degree = draws.drawn.shape[1], np.int64(0)
    for x in range(n_components):
        poly[0, x] = 1.0
    for d in walk.present[:n_present]:
        row, top = tied.rows[d], min(walk.met[d], k)
        line = draws.lines[draws.starts[table_ids[d]] + walk.counts[d]]
        copy_to_lanes(line, top + 1, n_components, np.int64(0), row)
        degree = multiply(poly, degree, row, top, k, n_components)
    largest = 0.0
    for x in range(n_components):
        total = 0.0
        for b in range(degree + 1):
            total += poly[b, x]
        largest = max(largest, total)
    return largest


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _log_passing(draws):
    """The log of the chance to pass an item of the class that is drawn most."""
    share = 0.0
    for t in range(len(draws.pools)):
        for drawn in draws.drawn[t]:
            share = max(share, drawn / max(draws.pools[t], 1))
    return np.log(max(1.0 - share, 1e-300))


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def ballots_of_rows(rows, start, stop, draws, vote, work, out):
    """out[i]: the record of row i; no more components than lanes."""
    walk, table_ids, average = work.tied.walk, work.tied.table_ids, vote.rule.average
    indptr, labels, tied, owns = rows
    k, tol, log_passing = vote.k_most, max(vote.tol, 1e-300), _log_passing(draws)
    for i in range(start, stop):
        own, kind, first, row_end = np.int64(owns[i]), draws.kinds[i], indptr[i], indptr[i + 1]
        start_walk(walk)
        if is_pure(labels[first:row_end], tied[first:row_end], own, vote.depth, average):
            _add_pure(own, walk.counts, work.rank, out[i])
            continue
        choose_tables(draws.table_of[kind], draws.own_table_of[kind], own, table_ids)
        start_ranks(walk.counts, work.rank)
        waiting, n_present = Waiting(np.int64(0), np.int64(-1)), np.int64(0)
        position, last, look = first, min(first + vote.depth, row_end), first + k + 1
        while position < last:
            end = group_end(tied, position, row_end, average)
            n_present, n_members = meet_group(labels[position:end], walk, n_present)
            members = walk.members[:n_members]
            if n_members > 1 or waiting.run_class != members[0]:
                waiting = _close_run(own, waiting, draws, work)
            # With fewer items before it, no item ends a vote.
            if end - first > k:
                if n_members > 1:
                    n_waiting = _wait_group(own, members, waiting.n, draws, vote, work)
                    waiting = Waiting(n_waiting, np.int64(-1))
                else:
                    d = members[0]
                    walk.counts[d] += max(0, k - (position - first))
                    _extend_run(d, walk.met[d] - walk.counts[d], draws, work)
                    waiting = Waiting(waiting.n, d)
            pass_group(walk, members)
            position = end
            if position >= look:
                left = _mass_left(n_present, draws, k, work.tied)
                if left <= tol:
                    break
                # Each item leaves a share of it at least, as a rule.
                look = position + 1 + np.int64(np.log(tol / left) / log_passing)
        waiting = _close_run(own, waiting, draws, work)
        if waiting.n > 0:
            _take_votes(own, waiting.n, draws, work)
        close_ranks(own, work.rank, out[i])
