"""Compiled records of votes under fixed class counts, of all components: the walks of the votes.

Ranks without ties go through the products of the classes side by side (`_kernels_untied`). Where
there are tie groups, the cases that stand side by side are the nodes of the groups, the classes of
the next item and the components (`_kernels_tied`); they wait until the lanes are full.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels import group_end
from allsplits.exact._kernels_around import LANES
from allsplits.exact._kernels_ballots import (
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
from allsplits.exact._kernels_votes import finished_votes
from allsplits.exact.kernel_types import Contenders, aligned_space
from allsplits.exact.laws.class_counts._kernels_rows import choose_tables, is_pure
from allsplits.exact.laws.class_counts._kernels_tied import (
    Source,
    TiedWork,
    copy_to_lanes,
    fill_nodes,
    tied_work,
)
from allsplits.exact.laws.class_counts._kernels_untied import copy_lines, fill_ranks, meet_ranks


class WaitingWork(NamedTuple):
    """Cases that wait for their votes.

    Attributes
    ----------
    tied : TiedWork
        Where the walk is.
    contenders : Contenders
        The votes of those that wait, side by side.
    rank : RankWork
    """

    tied: TiedWork
    contenders: Contenders
    rank: RankWork


def waiting_work(rank: RankWork) -> WaitingWork:
    """Space for one row after the other."""
    C, size = rank.ballot.places.n_classes, rank.ballot.places.k + 1
    present, most = np.zeros((2, C), np.int64)
    rows = aligned_space(C, size, LANES)
    # Lanes that were never used are zero times this.
    rows[:] = 0.0
    tied = tied_work(C, size, rank.shares.shape[1])
    return WaitingWork(tied, Contenders(present, most, rows), rank)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
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


@njit(nogil=True, cache=True, error_model="numpy")
def ballots_untied(rows, start, stop, draws, vote, work, out):
    """out[i]: the record of row i, whose tied distances play no part."""
    n_classes, n_components, k = draws.table_of.shape[1], draws.drawn.shape[1], vote.k_most
    counts, met, most, present, table_ids = np.empty((5, n_classes), np.int64)
    places, class_rows = np.empty(LANES, np.int64), np.empty((n_classes, k + 1, LANES))
    poly = np.empty((k + 1, 1))
    indptr, row_labels, tied, owns = rows
    for item in range(start * n_components, stop * n_components):
        i, component = item // n_components, item % n_components
        own, kind = np.int64(owns[i]), draws.kinds[i]
        first, row_end = indptr[i], indptr[i + 1]
        if is_pure(row_labels[first:row_end], tied[first:row_end], own, vote.depth, False):
            if component == 0:
                _add_pure(own, counts, work, out[i])
            continue
        choose_tables(draws.table_of[kind], draws.own_table_of[kind], own, table_ids)
        start_ranks(counts, work)
        fill_lanes(1.0, class_rows[own, 0])
        for d in range(n_classes):
            met[d] = 0
        row_end = min(row_end, first + vote.depth)
        k_low, n_blocks = vote.k_least, 0
        while first < row_end and k_low <= k:
            labels = row_labels[first : min(first + LANES, row_end)]
            n_present = meet_ranks(
                labels, draws.drawn[:, component], table_ids, k, met, most, present
            )
            contenders = Contenders(present[:n_present], most, class_rows)
            fill_ranks(labels, component, contenders, draws, counts, table_ids, places)
            add_ranks(own, contenders, work)
            first += len(labels)
            n_blocks += 1
            if first < row_end and (n_blocks < 4 or n_blocks % 4 == 0):
                copy_lines(contenders, component, draws, counts, table_ids)
                k_low = finished_votes(contenders, np.int64(1), k_low, k, vote.tol, poly)
        close_ranks(own, (component, 1), work, out[i])


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _take_votes(own, n_waiting, draws, work):
    """Add the records of the cases that wait, in so many lanes."""
    present, most, class_rows = work.contenders
    met, table_ids = work.tied.walk.met, work.tied.table_ids
    k, n_present = work.rank.ballot.places.k, np.int64(0)
    for d in range(len(met)):
        most[d] = 0
        if met[d] > 0:
            present[n_present] = d
            n_present += 1
            for drawn in draws.drawn[table_ids[d]]:
                most[d] = max(most[d], min(met[d], drawn, k))
    # Lanes in which nobody waits: one row of zeros makes all of their products zero.
    for b in range(k + 1):
        for x in range(n_waiting, LANES):
            class_rows[present[0], b, x] = 0.0
    if met[own] == 0:
        fill_lanes(1.0, class_rows[own, 0])
    add_ranks(own, Contenders(present[:n_present], most, class_rows), work.rank)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _wait_group(own, n_present, members, n_waiting, draws, vote, work):
    """Let the votes that end in a tie group wait; returns how many lanes do."""
    tied, class_rows, rules = work.tied, work.contenders.rows, vote.tie_rules
    counts, group, table_ids, node = tied.walk.counts, tied.walk.group, tied.table_ids, tied.nodes
    n_components, n_votes = draws.drawn.shape[1], vote.k_most + 1
    chosen = choose_rule(rules, members, group, table_ids, draws.pools, draws.drawn)
    for q in range(chosen.n_nodes):
        node[0, 0], node[1, 0] = node_of(rules, chosen, q)
        first = 0
        while first < len(members):
            free = (LANES - n_waiting) // n_components
            some = members[first : min(first + free, len(members))]
            for d in tied.walk.present[:n_present]:
                t = table_ids[d]
                source = Source(
                    draws.lines[draws.starts[t] :], draws.remaining[t], draws.pools[t], counts[d],
                    group[d],
                )  # fmt: skip
                here = class_rows[d, :, n_waiting:]
                fill_nodes(d, source, n_votes, some, node[:, :1], tied.row, here)
            first += len(some)
            n_waiting += len(some) * n_components
            if n_waiting + n_components > LANES:
                _take_votes(own, n_waiting, draws, work)
                n_waiting = 0
    return n_waiting


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
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


@njit(nogil=True, cache=True, error_model="numpy")
def ballots_tied(rows, start, stop, draws, vote, work, out):
    """The same, averaged over the orders of tie groups; no more components than lanes."""
    walk, table_ids = work.tied.walk, work.tied.table_ids
    class_rows = work.contenders.rows
    indptr, labels, tied, owns = rows
    for i in range(start, stop):
        own, kind, position, row_end = np.int64(owns[i]), draws.kinds[i], indptr[i], indptr[i + 1]
        start_walk(walk)
        if is_pure(labels[position:row_end], tied[position:row_end], own, vote.depth, True):
            _add_pure(own, walk.counts, work.rank, out[i])
            continue
        choose_tables(draws.table_of[kind], draws.own_table_of[kind], own, table_ids)
        start_ranks(walk.counts, work.rank)
        k_low, n_present, n_waiting, n_groups = vote.k_least, np.int64(0), np.int64(0), 0
        last = min(position + vote.depth, row_end)
        while position < last and k_low <= vote.k_most:
            end = group_end(tied, position, row_end, True)
            n_before = n_present
            n_present, n_members = meet_group(labels[position:end], walk, n_present)
            # Those that wait have no votes of classes that are met now.
            for d in walk.present[n_before:n_present]:
                for b in range(vote.k_most + 1):
                    for x in range(n_waiting):
                        class_rows[d, b, x] = 1.0 if b == 0 else 0.0
            members = walk.members[:n_members]
            n_waiting = _wait_group(own, n_present, members, n_waiting, draws, vote, work)
            pass_group(walk, members)
            position = end
            n_groups += 1
            if n_groups % 4 == 0:
                k_low = _open_votes(n_present, k_low, draws, vote, work.tied)
        if n_waiting > 0:
            _take_votes(own, n_waiting, draws, work)
        close_ranks(own, (0, draws.drawn.shape[1]), work.rank, out[i])
