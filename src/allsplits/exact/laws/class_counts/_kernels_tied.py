"""Compiled votes for a fixed number of training items from each class.

The vote is over when the (k+1)-th training item comes: an item of class e is drawn with
probability (α_e - b_e)/(N_e - n_e). Within a tie group the chance is integrated over the time at
which that item comes (`ties`). A group of one item is the untied case.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels import group_end
from allsplits.exact._kernels_ties import (
    choose_rule,
    meet_group,
    node_of,
    pass_group,
    row_before,
    row_next,
    start_walk,
)
from allsplits.exact._kernels_votes import fewest_votes, finished_votes, last_open_vote
from allsplits.exact.kernel_types import Contenders, Reach, Walk, WinWork, aligned_space
from allsplits.exact.laws.class_counts._kernels_rows import (
    add_lanes,
    choose_tables,
    is_pure,
    set_certain,
)

Floats = NDArray[np.float64]

# How many vectors of votes go side by side; more than one register's worth, less than a cache's.
LANES = 64


class Source(NamedTuple):
    """A class at a tie group: its table, what is still to be drawn, items before and in it."""

    table: Floats
    remaining: Floats
    pool: int
    n: int
    tied: int


class TiedWork(NamedTuple):
    """Scratch: rows[class, votes, lane], row[votes · components], nodes[time or weight, node]."""

    walk: Walk
    table_ids: NDArray[np.int64]
    rows: Floats
    row: Floats
    nodes: Floats
    win: WinWork


def tied_work(n_classes: int, size: int, n_components: int) -> TiedWork:
    """Space for votes of fewer than `size` voters."""
    n_lanes = max(LANES, n_classes * n_components)
    *walk, table_ids = np.zeros((6, n_classes), np.int64)
    free, poly, wins = (aligned_space(size, n_lanes) for _ in range(3))
    return TiedWork(
        Walk(*walk), table_ids, aligned_space(n_classes, size, n_lanes),
        np.empty(size * n_components), np.empty((2, n_lanes)),
        WinWork(free, poly, np.empty(n_classes, np.bool_), wins),
    )  # fmt: skip


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def copy_to_lanes(row, n_votes, n_components, first, out):
    """out[votes, first + component] = row[votes · components + component], below n_votes."""
    for b in range(n_votes):
        for p in range(n_components):
            out[b, first + p] = row[b * n_components + p]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def fill_nodes(d, source, n_votes, members, nodes, row, out):
    """Vote rows of class d, one lane for each (time node, class of the next item, component).

    The weight of the node goes with the class that is drawn next; `members` may be some of those of
    the group. The rows end before n_votes.
    """
    table, remaining, pool, n, tied = source
    n_nodes, n_members, n_components = nodes.shape[1], len(members), len(row) // out.shape[0]
    if tied == 0:
        for r in range(n_nodes * n_members):
            copy_to_lanes(table[n], n_votes, n_components, r * n_components, out)
        return
    width = n_votes * n_components
    for q in range(n_nodes):
        time, first = nodes[0, q], q * n_members
        if n_members > 1 or members[0] != d:
            row_before(table, n, tied, time, width, row)
            for e in range(n_members):
                copy_to_lanes(row, n_votes, n_components, (first + e) * n_components, out)
        row_next(table, remaining, pool, n, tied, time, width, row)
        for x in range(width):
            row[x] *= nodes[1, q]
        for e in range(n_members):
            if members[e] == d:
                copy_to_lanes(row, n_votes, n_components, (first + e) * n_components, out)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _score_group(own, contenders, members, k_low, draws, vote, work, out):
    """Add what the votes that end in a tie group give to out[component, column or class]."""
    present, most, class_rows = contenders
    counts, group, nodes, table_ids = work.walk.counts, work.walk.group, work.nodes, work.table_ids
    lines, starts, pools, rules, k_most = (
        draws.lines, draws.starts, draws.pools, vote.tie_rules, vote.k_most,
    )  # fmt: skip
    reach = Reach(np.int64(0), k_most, k_low, k_most)
    if not vote.rule.every_class:
        # With many items of its own class before it, hardly any way to lose is left.
        v_high, k_open = last_open_vote(own, contenders)
        own_row = lines[starts[table_ids[own]] + counts[own]]
        v_low = fewest_votes(own_row, out.shape[0], min(v_high, k_most), vote.tol / vote.depth)
        reach = Reach(v_low, v_high, k_low, min(k_open, k_most))
        if reach.v_low > reach.v_high or reach.k_low > reach.k_high:
            return
    chosen = choose_rule(rules, members, group, table_ids, pools, draws.drawn)
    width = len(members) * out.shape[0]
    at_once = max(1, nodes.shape[1] // width)
    for first in range(0, chosen.n_nodes, at_once):
        n_nodes = min(at_once, chosen.n_nodes - first)
        for q in range(n_nodes):
            nodes[0, q], nodes[1, q] = node_of(rules, chosen, first + q)
        for d in present:
            # No class has more votes than items, and its own no more than it may lose with.
            n_votes = min(most[d], k_most) + 1
            if d == own:
                n_votes = min(reach.v_high + 1, n_votes)
            t = table_ids[d]
            source = Source(lines[starts[t] :], draws.remaining[t], pools[t], counts[d], group[d])
            fill_nodes(d, source, n_votes, members, nodes[:, :n_nodes], work.row, class_rows[d])
        add_lanes(own, contenders, reach, n_nodes * width, vote, work.win, out)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def score_tied(rows, start, stop, draws, vote, work, out):
    """out[i, component]: P(right) for each k, or with every_class P(each class) for the only k.

    The components share the walk through the row. With every_class P(class wins) is added up,
    otherwise P(own class loses): most prefixes leave no way to lose, or only for small k. All time
    nodes and next classes of a tie group go through the votes side by side. At most `tol` is left
    out on the way, and a row stops when at most `tol` is left.
    """
    n_components, walk, table_ids, class_rows = out.shape[1], work.walk, work.table_ids, work.rows
    indptr, labels, tied, owns = rows
    lines, starts, depth, k_most = draws.lines, draws.starts, vote.depth, vote.k_most
    every_class, average = vote.rule.every_class, vote.rule.average
    for i in range(start, stop):
        own, kind, position, row_end = np.int64(owns[i]), draws.kinds[i], indptr[i], indptr[i + 1]
        if is_pure(labels[position:row_end], tied[position:row_end], own, depth, average):
            set_certain(own, every_class, out[i])
            continue
        choose_tables(draws.table_of[kind], draws.own_table_of[kind], own, table_ids)
        start_walk(walk)
        class_rows[own] = 0.0
        class_rows[own, 0] = 1.0
        k_low, n_present, n_groups = vote.k_least, np.int64(0), 0
        last = min(position + depth, row_end)
        while position < last and k_low <= k_most:
            end = group_end(tied, position, row_end, average)
            n_present, n_members = meet_group(labels[position:end], walk, n_present)
            contenders = Contenders(walk.present[:n_present], walk.met, class_rows)
            members = walk.members[:n_members]
            _score_group(own, contenders, members, k_low, draws, vote, work, out[i])
            pass_group(walk, members)
            position = end
            n_groups += 1
            if n_groups % 4 == 0:
                for d in contenders.present:
                    n_votes = min(walk.met[d], k_most) + 1
                    line = lines[starts[table_ids[d]] + walk.counts[d]]
                    copy_to_lanes(line, n_votes, n_components, np.int64(0), class_rows[d])
                k_low = finished_votes(
                    contenders, n_components, k_low, k_most, vote.tol, work.win.poly
                )
        if not every_class:
            for p in range(n_components):
                for c in range(out.shape[2]):
                    out[i, p, c] = 1.0 - out[i, p, c]
