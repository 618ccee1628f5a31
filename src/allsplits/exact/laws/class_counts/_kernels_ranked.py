"""Compiled recall@R for a fixed number of training items from each class.

The nearest training item of the right class stands somewhere, and before it there must be fewer
than R training items of other classes.
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
from allsplits.exact._kernels_votes import multiply
from allsplits.exact.kernel_types import Walk
from allsplits.exact.laws.class_counts._kernels_rows import choose_tables


class _Work(NamedTuple):
    """Scratch: flat_row[votes · components], first[component] and poly[votes, component]."""

    walk: Walk
    table_ids: np.ndarray
    flat_row: np.ndarray
    first: np.ndarray
    poly: np.ndarray


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _work(n_classes, size, n_components):
    return _Work(
        new_walk(n_classes),
        np.empty(n_classes, np.int64),
        np.empty(size * n_components),
        np.empty(n_components),
        np.empty((size, n_components)),
    )


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _add_group(own, present, members, draws, vote, work, out):
    """out[component, column] += P(the nearest training item of class `own` is here, in time)."""
    counts, group, met, _, _ = work.walk
    table_ids, flat_row, first, poly = work.table_ids, work.flat_row, work.first, work.poly
    lines, starts, pools, rules, ks = (
        draws.lines,
        draws.starts,
        draws.pools,
        vote.tie_rules,
        vote.ks,
    )
    size, n_components = poly.shape
    row, mine = flat_row.reshape(size, n_components), table_ids[own]
    remaining = draws.remaining[mine]
    chosen = choose_rule(rules, members, group, table_ids, pools, draws.drawn)
    for q in range(chosen.n_nodes):
        time, time_weight = node_of(rules, chosen, q)
        row_next(
            lines[starts[mine] :], remaining, pools[mine], counts[own], group[own], time,
            n_components, first,
        )  # fmt: skip
        # The votes of all other classes before the time.
        for p in range(n_components):
            poly[0, p] = 1.0
        degree = np.int64(0)
        for d in present:
            if d != own:
                top = min(met[d], size - 1)
                width = (top + 1) * n_components
                row_before(
                    lines[starts[table_ids[d]] :], counts[d], group[d], time, width, flat_row
                )
                degree = multiply(poly, degree, row, top, size - 1, n_components)
        for p in range(n_components):
            for c in range(len(ks)):
                fewer = 0.0
                for b in range(min(ks[c] - 1, degree) + 1):
                    fewer += poly[b, p]
                out[p, c] += time_weight * first[p] * fewer


@njit(nogil=True, cache=True, error_model="numpy")
def score_ranked(rows, start, stop, draws, vote, out):
    """out[i, component, c]: P(any of the ks[c] nearest training items has the right class)."""
    n_components, n_classes = out.shape[1], draws.table_of.shape[1]
    work = _work(n_classes, draws.lines.shape[1] // n_components, n_components)
    walk = work.walk
    for i in range(start, stop):
        own = np.int64(rows.own[i])
        kind = draws.kinds[i]
        choose_tables(draws.table_of[kind], draws.own_table_of[kind], own, work.table_ids)
        start_walk(walk)
        n_present = np.int64(0)
        position, row_end = rows.indptr[i], rows.indptr[i + 1]
        last = min(position + vote.depth, row_end)
        while position < last:
            end = group_end(rows.tied, position, row_end, vote.rule.average)
            n_present, n_members = meet_group(rows.labels[position:end], walk, n_present)
            members = walk.members[:n_members]
            if walk.group[own] > 0:
                _add_group(own, walk.present[:n_present], members, draws, vote, work, out[i])
            pass_group(walk, members)
            position = end
