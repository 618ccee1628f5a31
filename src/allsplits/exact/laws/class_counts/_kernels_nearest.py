"""Compiled loop of 1-NN under fixed class counts: when the first training item of a class comes.

Passing an item of a class with f candidates left, of which α are drawn, multiplies the chance that
nobody was drawn yet by (f - α)/f; so a row costs O(N), however many classes there are. Tie groups
are integrated over a uniform time as in `_kernels_tied`.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from allsplits.exact._kernels import group_end
from allsplits.exact._kernels_ties import (
    choose_rule,
    first_tied,
    has_ties,
    meet_group,
    new_walk,
    node_of,
    pass_group,
    start_walk,
    survive_tied,
)
from allsplits.exact.kernel_types import Walk
from allsplits.exact.laws.class_counts._kernels_rows import choose_tables


class _Work(NamedTuple):
    """Scratch, each of one entry per class."""

    walk: Walk
    table_ids: np.ndarray
    silent: np.ndarray
    others: np.ndarray
    gains: np.ndarray
    unseen: np.ndarray
    shares: np.ndarray


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _work(n_classes):
    return _Work(
        new_walk(n_classes),
        np.empty(n_classes, np.int64),
        np.empty(n_classes),
        np.empty(n_classes),
        np.empty(n_classes),
        np.empty(n_classes),
        np.empty(n_classes),
    )


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _nearest_in_group(members, draws, component, survive, tie_rules, work):
    """work.gains[d] = P(the nearest training item is tied and of class d); returns who survives."""
    counts, group = work.walk.counts, work.walk.group
    pools, drawn, table_ids = draws.pools, draws.drawn[:, component], work.table_ids
    for d in members:
        work.gains[d] = 0.0
    chosen = choose_rule(
        tie_rules, members, group, table_ids, pools, draws.drawn[:, component : component + 1]
    )
    for q in range(chosen.n_nodes):
        time, time_weight = node_of(tie_rules, chosen, q)
        # Products of all but one: a class that is certainly drawn by then is silent with chance 0.
        before = survive * time_weight
        for m in range(len(members)):
            d = members[m]
            t = table_ids[d]
            work.others[m] = before
            work.silent[m] = survive_tied(pools[t], drawn[t], counts[d], group[d], time)
            before *= work.silent[m]
        after = 1.0
        for m in range(len(members) - 1, -1, -1):
            d = members[m]
            t = table_ids[d]
            first = first_tied(pools[t], drawn[t], counts[d], group[d], time)
            work.gains[d] += work.others[m] * after * first
            after *= work.silent[m]
    for d in members:
        t = table_ids[d]
        for passed in range(group[d]):
            left = pools[t] - counts[d] - passed
            survive *= max(left - drawn[t], 0) / left
    return survive


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _score_untied(own, labels, draws, component, vote, work, out):
    """out[0 or class] = P(the nearest training item is of that class), one item after the other."""
    gains, unseen, shares = work.gains, work.unseen, work.shares
    for d in range(len(gains)):
        gains[d] = 0.0
        t = work.table_ids[d]
        unseen[d], shares[d] = draws.pools[t], draws.drawn[t, component]
    survive = 1.0
    for d in labels:
        gains[d] += survive * (shares[d] / unseen[d])
        survive *= max(unseen[d] - shares[d], 0.0) / unseen[d]
        unseen[d] -= 1.0
        if survive <= vote.tol:
            break
    for d in range(len(gains) if vote.rule.every_class else 1):
        out[d] = gains[d if vote.rule.every_class else own]


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _score_tied(i, rows, draws, component, vote, work, out):
    """The same for a row with tied distances, one tie group after the other."""
    walk, own = work.walk, rows.own[i]
    start_walk(walk)
    survive = 1.0
    position, row_end = rows.indptr[i], rows.indptr[i + 1]
    last = min(position + vote.depth, row_end)
    while position < last and survive > vote.tol:
        end = group_end(rows.tied, position, row_end, vote.rule.average)
        _, n_members = meet_group(rows.labels[position:end], walk, np.int64(0))
        members = walk.members[:n_members]
        if end - position == 1:
            d = members[0]
            t = work.table_ids[d]
            left = draws.pools[t] - walk.counts[d]
            drawn = draws.drawn[t, component]
            work.gains[d] = survive * drawn / left
            survive *= max(left - drawn, 0) / left
        else:
            survive = _nearest_in_group(members, draws, component, survive, vote.tie_rules, work)
        for d in members:
            if vote.rule.every_class or d == own:
                out[d if vote.rule.every_class else 0] += work.gains[d]
        pass_group(walk, members)
        position = end


@njit(nogil=True, cache=True, error_model="numpy")
def score_nearest(rows, start, stop, draws, vote, out):
    """1-NN in O(N) per row: passing an item multiplies the chance that nobody was drawn yet.

    An item of class e with f candidates of its class left is the nearest with probability
    survive · α/f; otherwise survive is multiplied by (f - α)/f. Writes out[i, component, 0], or
    out[i, component, class] with every_class.
    """
    n_components = out.shape[1]
    work = _work(draws.table_of.shape[1])
    for item in range(start * n_components, stop * n_components):
        i, component = item // n_components, item % n_components
        own, kind = np.int64(rows.own[i]), draws.kinds[i]
        choose_tables(draws.table_of[kind], draws.own_table_of[kind], own, work.table_ids)
        first, row_end = rows.indptr[i], rows.indptr[i + 1]
        if vote.rule.average and has_ties(rows.tied[first:row_end]):
            _score_tied(i, rows, draws, component, vote, work, out[i, component])
        else:
            labels = rows.labels[first : min(first + vote.depth, row_end)]
            _score_untied(own, labels, draws, component, vote, work, out[i, component])
