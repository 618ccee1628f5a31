"""Compiled votes for a fixed number of training items from each class.

The vote is over when the (k+1)-th training item comes: an item of class e is drawn with
probability (α_e - b_e)/(N_e - n_e). Within a tie group the chance is integrated over the time at
which that item comes (`ties`). A group of one item is the untied case.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from allsplits.exact._kernels import group_end
from allsplits.exact._kernels_ties import (
    choose_rule,
    meet_group,
    new_walk,
    node_of,
    pass_group,
    row_before,
    row_next,
    start_walk,
)
from allsplits.exact._kernels_votes import add_wins, fewest_votes, finished_votes, last_open_vote
from allsplits.exact.kernel_types import Reach, Voters, Walk, WinWork
from allsplits.exact.laws.class_counts._kernels_rows import (
    add_columns,
    add_losses,
    choose_tables,
    is_pure,
    set_certain,
)

# How many vectors of votes go side by side; more than one register's worth, less than a cache's.
LANES = 64


class _Work(NamedTuple):
    """Scratch: rows[class, votes, lane], row[votes · components], and the nodes in time."""

    walk: Walk
    table_ids: np.ndarray
    rows: np.ndarray
    row: np.ndarray
    times: np.ndarray
    time_weights: np.ndarray
    win: WinWork


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _work(n_classes, size, n_components):
    n_lanes = max(LANES, n_classes * n_components)
    return _Work(
        new_walk(n_classes),
        np.empty(n_classes, np.int64),
        np.empty((n_classes, size, n_lanes)),
        np.empty(size * n_components),
        np.empty(n_lanes),
        np.empty(n_lanes),
        WinWork(
            np.empty((size, n_lanes)),
            np.empty((size, n_lanes)),
            np.empty(n_classes, np.bool_),
            np.empty((size, n_lanes)),
        ),
    )


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _copy_to_lanes(row, n_votes, n_components, first, out):
    """out[votes, first + component] = row[votes · components + component], below n_votes."""
    for b in range(n_votes):
        for p in range(n_components):
            out[b, first + p] = row[b * n_components + p]


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _fill_lanes(d, n_votes, n_nodes, members, draws, work):
    """Vote rows of class d, one lane for each (time node, class of the next item, component).

    The weight of the node goes with the class that is drawn next. The rows end before n_votes.
    """
    t, n_components, n_members = work.table_ids[d], draws.drawn.shape[1], len(members)
    n, tied = work.walk.counts[d], work.walk.group[d]
    table, row, out = draws.lines[draws.starts[t] :], work.row, work.rows[d]
    if tied == 0:
        for r in range(n_nodes * n_members):
            _copy_to_lanes(table[n], n_votes, n_components, r * n_components, out)
        return
    width = n_votes * n_components
    for q in range(n_nodes):
        time, first = work.times[q], q * n_members
        if n_members > 1:
            row_before(table, n, tied, time, width, row)
            for e in range(n_members):
                _copy_to_lanes(row, n_votes, n_components, (first + e) * n_components, out)
        row_next(table, draws.remaining[t], draws.pools[t], n, tied, time, width, row)
        for x in range(width):
            row[x] *= work.time_weights[q]
        for e in range(n_members):
            if members[e] == d:
                _copy_to_lanes(row, n_votes, n_components, (first + e) * n_components, out)


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _add_wins_of_all(voters, reach, n_lanes, vote, work, out):
    """out[component, class] += P(the class wins the only vote)."""
    for target in voters.present:
        for k in range(reach.k_low, reach.k_high + 1):
            for x in range(n_lanes):
                work.wins[k, x] = 0.0
        wins = Reach(np.int64(1), voters.most[target], reach.k_low, reach.k_high)
        add_wins(target, voters, wins, vote.rule.share, vote.quadrature, 1.0, n_lanes, work)
        add_columns(target, reach, n_lanes, vote, work.wins, out)


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _open_votes(own, voters, k_low, draws, vote, work):
    """Which votes are asked for at a tie group: all, or those that `own` may lose.

    With many items of its own class before it, hardly any way to lose is left.
    """
    if vote.rule.every_class:
        return Reach(np.int64(0), vote.k_most, k_low, vote.k_most)
    v_high, k_open = last_open_vote(own, voters)
    own_row = draws.lines[draws.starts[work.table_ids[own]] + work.walk.counts[own]]
    v_low = fewest_votes(
        own_row, draws.drawn.shape[1], min(v_high, vote.k_most), vote.tol / vote.depth
    )
    return Reach(v_low, v_high, k_low, min(k_open, vote.k_most))


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _score_group(own, voters, members, k_low, draws, vote, work, out):
    """Add what the votes that end in a tie group give to out[component, column or class]."""
    reach = _open_votes(own, voters, k_low, draws, vote, work)
    if reach.v_low > reach.v_high or reach.k_low > reach.k_high:
        return
    chosen = choose_rule(
        vote.tie_rules, members, work.walk.group, work.table_ids, draws.pools, draws.drawn
    )
    width = len(members) * draws.drawn.shape[1]
    at_once = max(1, len(work.times) // width)
    for first in range(0, chosen.n_nodes, at_once):
        n_nodes = min(at_once, chosen.n_nodes - first)
        for q in range(n_nodes):
            work.times[q], work.time_weights[q] = node_of(vote.tie_rules, chosen, first + q)
        for d in voters.present:
            # No class has more votes than items, and its own no more than it may lose with.
            n_votes = min(voters.most[d], vote.k_most) + 1
            if d == own:
                n_votes = min(reach.v_high + 1, n_votes)
            _fill_lanes(d, n_votes, n_nodes, members, draws, work)
        if vote.rule.every_class:
            _add_wins_of_all(voters, reach, n_nodes * width, vote, work.win, out)
        else:
            add_losses(own, voters, reach, n_nodes * width, vote, work.win, out)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _score_row(i, rows, draws, vote, work, out):
    """Walk along row i, tie group by tie group, until all of its votes are over."""
    own, walk = np.int64(rows.own[i]), work.walk
    choose_tables(draws, i, own, work.table_ids)
    start_walk(walk)
    for b in range(work.rows.shape[1]):
        for x in range(work.rows.shape[2]):
            work.rows[own, b, x] = 1.0 if b == 0 else 0.0
    k_low, n_present, n_groups = vote.k_least, np.int64(0), 0
    position, row_end = rows.indptr[i], rows.indptr[i + 1]
    last = min(position + vote.depth, row_end)
    while position < last and k_low <= vote.k_most:
        end = group_end(rows.tied, position, row_end, vote.rule.average)
        n_present, n_members = meet_group(rows.labels[position:end], walk, n_present)
        voters = Voters(walk.present[:n_present], walk.met, work.rows)
        members = walk.members[:n_members]
        _score_group(own, voters, members, k_low, draws, vote, work, out)
        pass_group(walk, members)
        position = end
        n_groups += 1
        if n_groups % 4 == 0:
            n_components = draws.drawn.shape[1]
            for d in voters.present:
                n_votes = min(walk.met[d], vote.k_most) + 1
                line = draws.lines[draws.starts[work.table_ids[d]] + walk.counts[d]]
                _copy_to_lanes(line, n_votes, n_components, np.int64(0), work.rows[d])
            k_low = finished_votes(
                voters, n_components, k_low, vote.k_most, vote.tol, work.win.poly
            )
    if not vote.rule.every_class:
        for p in range(out.shape[0]):
            for c in range(out.shape[1]):
                out[p, c] = 1.0 - out[p, c]


@njit(nogil=True, cache=True, error_model="numpy")
def score_tied(rows, start, stop, draws, vote, out):
    """out[i, component]: P(right) for each k, or with every_class P(each class) for the only k.

    The components share the walk through the row. With every_class P(class wins) is added up,
    otherwise P(own class loses): most prefixes leave no way to lose, or only for small k. All time
    nodes and next classes of a tie group go through the votes side by side. At most `tol` is left
    out on the way, and a row stops when at most `tol` is left.
    """
    n_components = out.shape[1]
    size = draws.lines.shape[1] // n_components
    work = _work(draws.table_of.shape[1], size, n_components)
    for i in range(start, stop):
        if is_pure(rows, i, vote):
            set_certain(rows.own[i], vote, out[i])
        else:
            _score_row(i, rows, draws, vote, work, out[i])
