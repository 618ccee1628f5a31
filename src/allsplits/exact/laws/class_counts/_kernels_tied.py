"""Compiled votes for a fixed number of training items from each class.

The vote is over when the (k+1)-th training item comes: an item of class e is drawn with
probability (α_e - b_e)/(N_e - n_e). Within a tie group the chance is integrated over the time at
which that item comes (`ties`). A group of one item is the untied case.
"""

import numpy as np
from numba import njit

from allsplits.exact._kernels import group_end
from allsplits.exact._kernels_draws import table_of_class
from allsplits.exact._kernels_ties import choose_rule, node_of, row_before, row_next
from allsplits.exact._kernels_votes import (
    add_any,
    add_wins,
    fewest_votes,
    finished_votes,
    last_open_vote,
)
from allsplits.exact.kernel_types import Quadrature, Reach, Voters, WinWork

__all__ = ["score_counts"]

# How many vectors of votes go side by side; more than one register's worth, less than a cache's.
LANES = 64


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _copy_to_lanes(row, n_votes, n_parts, first, out):
    """out[votes, first + part] = row[votes · parts + part], for fewer than n_votes."""
    for b in range(n_votes):
        for p in range(n_parts):
            out[b, first + p] = row[b * n_parts + p]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _fill_lanes(
    d,
    table,
    remaining,
    pool,
    n,
    tied,
    members,
    n_members,
    times,
    time_weights,
    n_nodes,
    n_votes,
    n_parts,
    row,
    out,
):
    """Vote rows of class d, one lane for each (time node, class of the next item, part).

    The weight of the node goes with the class that is drawn next. The rows end before n_votes.
    """
    if tied == 0:
        for r in range(n_nodes * n_members):
            _copy_to_lanes(table[n], n_votes, n_parts, r * n_parts, out)
        return
    width = n_votes * n_parts
    for q in range(n_nodes):
        time = times[q]
        if n_members > 1:
            row_before(table, n, tied, time, width, row)
            for e in range(n_members):
                _copy_to_lanes(row, n_votes, n_parts, (q * n_members + e) * n_parts, out)
        row_next(table, remaining, pool, n, tied, time, width, row)
        for x in range(width):
            row[x] *= time_weights[q]
        for e in range(n_members):
            if members[e] == d:
                _copy_to_lanes(row, n_votes, n_parts, (q * n_members + e) * n_parts, out)


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _score_lanes(
    own,
    present,
    n_present,
    most,
    rows,
    n_lanes,
    v_low,
    k_low,
    k_high,
    every_class,
    share,
    ks,
    nodes,
    weights,
    is_free,
    work,
    out,
):
    """Add up the lanes: P(class wins) with every_class, otherwise P(`own` loses) for each k.

    That `own` has fewer than v_low votes is left out.
    """
    n_parts = out.shape[0]
    free, poly, wins = work[0], work[1], work[2]
    voters = Voters(present[:n_present], most, rows)
    win_work = WinWork(free, poly, is_free, wins)
    v_own, k_open = last_open_vote(own, voters)
    k_open = k_high if every_class else min(k_open, k_high)
    for f in range(n_present if every_class else 1):
        target = present[f] if every_class else own
        for k in range(k_low, k_open + 1):
            for x in range(n_lanes):
                wins[k, x] = 0.0
        v_high, sign = most[target], 1.0
        if not every_class:
            v_high, sign = v_own, -1.0
            add_any(own, voters, Reach(v_low, v_own, k_low, k_open), n_lanes, win_work)
        add_wins(
            target, voters, Reach(max(v_low, 1), v_high, k_low, k_open), share,
            Quadrature(nodes, weights), sign, n_lanes, win_work,
        )  # fmt: skip
        for c in range(len(ks)):
            if k_low <= ks[c] <= k_open:
                for first in range(0, n_lanes, n_parts):
                    for p in range(n_parts):
                        out[p, target if every_class else c] += wins[ks[c], first + p]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _is_pure(labels, tied, first, last, row_end, average, own):
    """Whether all labels are `own`, those of the last tie group too: then nothing can be lost."""
    e = first
    while e < row_end and (e < last or (average and tied[e])):
        if labels[e] != own:
            return False
        e += 1
    return True


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _meet_group(labels, position, end, most, group, present, n_present, members):
    """Count a tie group by class; returns how many classes were met so far and how many now."""
    n_members = np.int64(0)
    for e in range(position, end):
        c = labels[e]
        if most[c] == 0:
            present[n_present] = c
            n_present += 1
        if group[c] == 0:
            members[n_members] = c
            n_members += 1
        most[c] += 1
        group[c] += 1
    return n_present, n_members


@njit(nogil=True, cache=True, error_model="numpy")
def score_counts(
    indptr, labels, tied, own, start, stop, kinds, table_of, own_table_of, starts, pools, drawn,
    remaining, tables, depth, every_class, average, share, ks, tol, rules, nodes, weights, out,
):  # fmt: skip
    """out[i, part]: P(right) for each k, or with every_class P(each class) for the only k.

    The parts are count vectors; they share the walk through the row. With every_class P(class
    wins) is added up, otherwise P(own class loses): most prefixes leave no way to lose, or only
    for small k. All time nodes and next classes of a tie group go through the votes side by side.
    At most `tol` is left out on the way, and a row stops when at most `tol` is left.
    """
    n_parts, n_classes, width = out.shape[1], table_of.shape[1], tables.shape[1]
    size = width // n_parts
    n_lanes = max(LANES, n_classes * n_parts)
    # Filled with zeros below: np.zeros takes half a second to compile.
    counts = np.empty(n_classes, np.int64)
    group = np.empty(n_classes, np.int64)
    most = np.empty(n_classes, np.int64)
    present = np.empty(n_classes, np.int64)
    members = np.empty(n_classes, np.int64)
    table_ids = np.empty(n_classes, np.int64)
    is_free = np.empty(n_classes, np.bool_)
    rows = np.empty((n_classes, size, n_lanes))
    row = np.empty(width)
    times = np.empty(n_lanes)
    time_weights = np.empty(n_lanes)
    work = np.empty((3, size, n_lanes))
    k_least, k_high = ks[0], ks[0]
    for k in ks:
        k_least, k_high = min(k, k_least), max(k, k_high)
    for i in range(start, stop):
        position, row_end, y = indptr[i], indptr[i + 1], own[i]
        if _is_pure(labels, tied, position, position + depth, row_end, average, y):
            for p in range(n_parts):
                for c in range(1 if every_class else len(ks)):
                    out[i, p, y if every_class else c] = 1.0
            continue
        for d in range(n_classes):
            table_ids[d] = table_of_class(kinds[i], d, y, table_of, own_table_of)
            counts[d], group[d], most[d] = 0, 0, 0
        for b in range(size):
            for x in range(n_lanes):
                rows[y, b, x] = 1.0 if b == 0 else 0.0
        k_low = k_least
        n_present = np.int64(0)
        s = np.int64(0)
        n_groups = 0
        while position < row_end and s < depth and k_low <= k_high:
            end = group_end(tied, position, row_end, average)
            n_present, n_members = _meet_group(
                labels, position, end, most, group, present, n_present, members
            )
            v_high, k_open = last_open_vote(y, Voters(present[:n_present], most, rows))
            v_low = np.int64(0)
            if not every_class:
                # With many items of its own class before it, hardly any way to lose is left.
                own_row = tables[starts[table_ids[y]] + counts[y]]
                v_low = fewest_votes(own_row, n_parts, min(v_high, k_high), tol / depth)
            matters = every_class or (k_low <= k_open and v_low <= v_high)
            rule, panels, window = choose_rule(
                rules, members, n_members, group, table_ids, pools, drawn
            )
            n_times = panels * rules.sizes[rule] if matters else 0
            at_once = max(1, n_lanes // (n_members * n_parts))
            for first in range(0, n_times, at_once):
                n_nodes = min(at_once, n_times - first)
                for q in range(n_nodes):
                    times[q], time_weights[q] = node_of(rules, rule, panels, window, first + q)
                for e in range(n_present):
                    d = present[e]
                    t = table_ids[d]
                    # No class has more votes than items, and its own no more than it may lose with.
                    n_votes = min(most[d], k_high) + 1
                    if d == y and not every_class:
                        n_votes = min(v_high + 1, n_votes)
                    _fill_lanes(
                        d, tables[starts[t] :], remaining[t], pools[t], counts[d], group[d],
                        members, n_members, times, time_weights, n_nodes, n_votes, n_parts, row,
                        rows[d],
                    )  # fmt: skip
                _score_lanes(
                    y, present, n_present, most, rows, n_nodes * n_members * n_parts, v_low, k_low,
                    k_high, every_class, share, ks, nodes, weights, is_free, work, out[i],
                )  # fmt: skip
            for e in range(n_members):
                counts[members[e]] += group[members[e]]
                group[members[e]] = 0
            s += end - position
            position = end
            n_groups += 1
            if n_groups % 4 == 0:
                for e in range(n_present):
                    d = present[e]
                    n_votes = min(most[d], k_high) + 1
                    table_row = tables[starts[table_ids[d]] + counts[d]]
                    _copy_to_lanes(table_row, n_votes, n_parts, np.int64(0), rows[d])
                voters = Voters(present[:n_present], most, rows)
                k_low = finished_votes(voters, n_parts, k_low, k_high, tol, work[1])
        if not every_class:
            for p in range(n_parts):
                for c in range(len(ks)):
                    out[i, p, c] = 1.0 - out[i, p, c]
