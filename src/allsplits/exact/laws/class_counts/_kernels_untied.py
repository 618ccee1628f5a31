"""Compiled votes of every class for a fixed number of items from each, without tied distances.

The vote of k is over when the (k+1)-th training item comes: an item of class e is it with
probability (α_e - b_e)/(N_e - n_e) after b_e voters of its class. Few shots need nearly every rank
of a complete order, and from one rank to the next a single class changes; so `LANES` ranks go
through the products of the classes side by side. No class has more votes than it has items drawn.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels_around import LANES, add_every_win
from allsplits.exact._kernels_votes import finished_votes
from allsplits.exact.kernel_types import Contenders, EveryWinWork, aligned_space
from allsplits.exact.laws.class_counts._kernels_rows import (
    choose_tables,
    is_pure,
    set_certain,
)

Floats = NDArray[np.float64]


class EveryClass(NamedTuple):
    """What the votes of all classes need, and wins[class, lane], what they lead to."""

    work: EveryWinWork
    wins: Floats


def work_space(n_classes: int, size: int) -> EveryClass:
    """Space for the votes of fewer than `size` voters."""
    own, products = aligned_space(n_classes, LANES), aligned_space(2, n_classes, size, LANES)
    degrees, wins = np.empty((2, n_classes), np.int64), aligned_space(n_classes, LANES)
    space = EveryWinWork(own, products[0], products[1], degrees, aligned_space(LANES))
    return EveryClass(space, wins)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def fill_ranks(labels, component, contenders, draws, counts, table_ids, places):
    """rows[d, b, x]: b votes of class d before rank x; the class of rank x is drawn there.

    Moves the counts past these ranks.
    """
    rows, most = contenders.rows, contenders.most
    n_ranks, n_components = len(labels), draws.drawn.shape[1]
    for d in contenders.present:
        first = draws.starts[table_ids[d]] + counts[d]
        place = first
        for x in range(n_ranks):
            places[x] = place
            place += labels[x] == d
        for b in range(most[d] + 1):
            column = b * n_components + component
            if place == first:
                # The class has no item here: one line for all ranks.
                value = draws.lines[first, column]
                for x in range(n_ranks):
                    rows[d, b, x] = value
            else:
                for x in range(n_ranks):
                    rows[d, b, x] = draws.lines[places[x], column]
    for x in range(n_ranks):
        d = labels[x]
        t = table_ids[d]
        scale = 1.0 / (draws.pools[t] - counts[d])
        for b in range(most[d] + 1):
            rows[d, b, x] *= scale * draws.remaining[t, b * n_components + component]
        counts[d] += 1
    # Lanes beyond the ranks: one row of zeros makes all of their products zero.
    if n_ranks < LANES:
        for d in contenders.present:
            for b in range(most[d] + 1):
                for x in range(n_ranks, LANES):
                    rows[d, b, x] = 0.0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def meet_ranks(labels, drawn, table_ids, k_most, met, most, present):
    """Count the classes of these ranks into `met`; `most` are votes they can have at the end.

    Returns how many classes are present.
    """
    for d in labels:
        met[d] += 1
    n_present = np.int64(0)
    for d in range(len(met)):
        if met[d] > 0:
            present[n_present] = d
            n_present += 1
        most[d] = min(met[d], drawn[table_ids[d]], k_most)
    return n_present


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def copy_lines(contenders, component, draws, counts, table_ids):
    """Lane 0: the votes of all classes after these ranks."""
    n_components = draws.drawn.shape[1]
    for d in contenders.present:
        line = draws.lines[draws.starts[table_ids[d]] + counts[d]]
        for b in range(contenders.most[d] + 1):
            contenders.rows[d, b, 0] = line[b * n_components + component]


@njit(nogil=True, cache=True, error_model="numpy")
def score_untied(rows, start, stop, draws, vote, every, out):
    """out[i, component]: P(each class) for the only k.

    A row stops when at most `tol` is left.
    """
    n_components, n_classes = out.shape[1], draws.table_of.shape[1]
    size = draws.lines.shape[1] // n_components
    counts, met, most, present, table_ids = np.empty((5, n_classes), np.int64)
    places, class_rows = np.empty(LANES, np.int64), np.empty((n_classes, size, LANES))
    poly = np.empty((size, 1))
    indptr, row_labels, tied, owns = rows
    k_most, tol, rule, quadrature = vote.k_most, vote.tol, vote.rule, vote.quadrature
    for item in range(start * n_components, stop * n_components):
        i, component = item // n_components, item % n_components
        own, kind, here = np.int64(owns[i]), draws.kinds[i], out[i, component : component + 1]
        first, row_end = indptr[i], indptr[i + 1]
        if is_pure(row_labels[first:row_end], tied[first:row_end], own, vote.depth, rule.average):
            set_certain(own, rule.every_class, here)
            continue
        choose_tables(draws.table_of[kind], draws.own_table_of[kind], own, table_ids)
        counts[:], met[:], every.wins[:] = 0, 0, 0.0
        row_end = min(row_end, first + vote.depth)
        k_low, n_blocks = vote.k_least, 0
        while first < row_end and k_low <= k_most:
            labels = row_labels[first : min(first + LANES, row_end)]
            n_present = meet_ranks(
                labels, draws.drawn[:, component], table_ids, k_most, met, most, present
            )
            contenders = Contenders(present[:n_present], most, class_rows)
            fill_ranks(labels, component, contenders, draws, counts, table_ids, places)
            add_every_win(contenders, k_most, rule.share, quadrature, every.work, every.wins)
            first += len(labels)
            n_blocks += 1
            if first < row_end and (n_blocks < 4 or n_blocks % 4 == 0):
                copy_lines(contenders, component, draws, counts, table_ids)
                k_low = finished_votes(contenders, np.int64(1), k_low, k_most, tol, poly)
        for c in range(out.shape[2]):
            for x in range(LANES):
                here[0, c] += every.wins[c, x]
