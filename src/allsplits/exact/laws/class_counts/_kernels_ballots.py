"""Compiled records of votes under fixed class counts, of one component: the walks of the votes.

Ranks without ties go through the products of the classes side by side (`_kernels_untied`), the
nodes of a tie group likewise (`_kernels_tied`); what is summed is the whole record.
"""

import numpy as np
from numba import njit

from allsplits.exact._kernels import group_end
from allsplits.exact._kernels_around import LANES
from allsplits.exact._kernels_ballots import (
    add_ballot,
    add_only_class,
    add_ranked_wins,
    add_ranks,
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
from allsplits.exact.kernel_types import Contenders
from allsplits.exact.laws.class_counts._kernels_rows import choose_tables, is_pure
from allsplits.exact.laws.class_counts._kernels_tied import Source, copy_to_lanes, fill_nodes
from allsplits.exact.laws.class_counts._kernels_untied import copy_lines, fill_ranks, meet_ranks


@njit(nogil=True, cache=True, error_model="numpy")
def ballots_untied(rows, start, stop, draws, vote, work, out):
    """out[i]: the record of row i, whose tied distances play no part."""
    n_classes, k = draws.table_of.shape[1], vote.k_most
    counts, met, most, present, table_ids = np.empty((5, n_classes), np.int64)
    places, class_rows = np.empty(LANES, np.int64), np.empty((n_classes, k + 1, LANES))
    poly, component = np.empty((k + 1, 1)), np.int64(0)
    indptr, row_labels, tied, owns = rows
    for i in range(start, stop):
        own, kind, here = np.int64(owns[i]), draws.kinds[i], out[i]
        first, row_end = indptr[i], indptr[i + 1]
        if is_pure(row_labels[first:row_end], tied[first:row_end], own, vote.depth, False):
            add_only_class(own, own, counts, 1.0, work.ballot, here)
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
            n_present = meet_ranks(labels, draws.drawn[:, 0], table_ids, k, met, most, present)
            contenders = Contenders(present[:n_present], most, class_rows)
            fill_ranks(labels, component, contenders, draws, counts, table_ids, places)
            add_ranks(own, contenders, work, here)
            first += len(labels)
            n_blocks += 1
            if n_blocks < 4 or n_blocks % 4 == 0:
                copy_lines(contenders, component, draws, counts, table_ids)
                k_low = finished_votes(contenders, np.int64(1), k_low, k, vote.tol, poly)
        add_ranked_wins(own, work, here)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_group(own, contenders, members, draws, vote, tied_work, ballot, out):
    """Add the records of the votes that end in a tie group."""
    present, most, class_rows = contenders
    counts, group, nodes = tied_work.walk.counts, tied_work.walk.group, tied_work.nodes
    table_ids, rules = tied_work.table_ids, vote.tie_rules
    chosen = choose_rule(rules, members, group, table_ids, draws.pools, draws.drawn)
    at_once = max(1, nodes.shape[1] // len(members))
    for first in range(0, chosen.n_nodes, at_once):
        n_nodes = min(at_once, chosen.n_nodes - first)
        for q in range(n_nodes):
            nodes[0, q], nodes[1, q] = node_of(rules, chosen, first + q)
        for d in present:
            t = table_ids[d]
            source = Source(
                draws.lines[draws.starts[t] :], draws.remaining[t], draws.pools[t], counts[d],
                group[d],
            )  # fmt: skip
            n_votes = min(most[d], vote.k_most) + 1
            fill_nodes(
                d, source, n_votes, members, nodes[:, :n_nodes], tied_work.row, class_rows[d]
            )
        add_ballot(own, contenders, np.int64(n_nodes * len(members)), ballot, out)


@njit(nogil=True, cache=True, error_model="numpy")
def ballots_tied(rows, start, stop, draws, vote, tied_work, ballot, out):
    """The same, averaged over the orders of tie groups."""
    walk, table_ids, class_rows = tied_work.walk, tied_work.table_ids, tied_work.rows
    indptr, labels, tied, owns = rows
    depth, k = vote.depth, vote.k_most
    for i in range(start, stop):
        own, kind, position, row_end = np.int64(owns[i]), draws.kinds[i], indptr[i], indptr[i + 1]
        choose_tables(draws.table_of[kind], draws.own_table_of[kind], own, table_ids)
        start_walk(walk)
        if is_pure(labels[position:row_end], tied[position:row_end], own, depth, True):
            add_only_class(own, own, walk.counts, 1.0, ballot, out[i])
            continue
        for x in range(class_rows.shape[2]):
            class_rows[own, 0, x] = 1.0
        k_low, n_present, n_groups = vote.k_least, np.int64(0), 0
        last = min(position + depth, row_end)
        while position < last and k_low <= k:
            end = group_end(tied, position, row_end, True)
            n_present, n_members = meet_group(labels[position:end], walk, n_present)
            contenders = Contenders(walk.present[:n_present], walk.met, class_rows)
            members = walk.members[:n_members]
            _add_group(own, contenders, members, draws, vote, tied_work, ballot, out[i])
            pass_group(walk, members)
            position = end
            n_groups += 1
            if n_groups % 4 == 0:
                for d in contenders.present:
                    line = draws.lines[draws.starts[table_ids[d]] + walk.counts[d]]
                    n_votes = min(walk.met[d], k) + 1
                    copy_to_lanes(line, n_votes, np.int64(1), np.int64(0), class_rows[d])
                k_low = finished_votes(
                    contenders, np.int64(1), k_low, k, vote.tol, tied_work.win.poly
                )
