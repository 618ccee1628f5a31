"""Compiled votes for a fixed number of training items from each class, without tied distances.

The vote of k is over when the (k+1)-th training item comes: an item of class e is it with
probability (α_e - b_e)/(N_e - n_e) after b_e voters of its class. Few shots need nearly every rank
of a complete order, and from one rank to the next a single class changes; so `LANES` ranks go
through the products of the classes side by side. No class has more votes than it has items drawn.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from allsplits.exact._kernels_around import LANES, add_every_win
from allsplits.exact._kernels_votes import fewest_votes, finished_votes, last_open_vote
from allsplits.exact.kernel_types import EveryWinWork, Reach, Voters, WinWork
from allsplits.exact.laws.class_counts._kernels_rows import (
    add_losses,
    choose_tables,
    is_pure,
    set_certain,
)


class _Work(NamedTuple):
    """Scratch.

    counts and met: items of each class before some ranks, and with them. The next three are those
    of `Voters`. every_wins[class, lane] is what `every` leads to.
    """

    counts: np.ndarray
    met: np.ndarray
    present: np.ndarray
    most: np.ndarray
    rows: np.ndarray
    table_ids: np.ndarray
    places: np.ndarray
    win: WinWork
    every: EveryWinWork
    every_wins: np.ndarray


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _work(n_classes, size, every_class):
    n_around = n_classes if every_class else 1
    return _Work(
        np.empty(n_classes, np.int64),
        np.empty(n_classes, np.int64),
        np.empty(n_classes, np.int64),
        np.empty(n_classes, np.int64),
        np.empty((n_classes, size, LANES)),
        np.empty(n_classes, np.int64),
        np.empty(LANES, np.int64),
        WinWork(
            np.empty((size, LANES)),
            np.empty((size, LANES)),
            np.empty(n_classes, np.bool_),
            np.empty((size, LANES)),
        ),
        EveryWinWork(
            np.empty((n_around, LANES)),
            np.empty((n_around, size, LANES)),
            np.empty((n_around, size, LANES)),
            np.empty((2, n_classes), np.int64),
            np.empty(LANES),
        ),
        np.empty((n_around, LANES)),
    )


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _fill_ranks(labels, component, voters, draws, counts, table_ids, places):
    """rows[d, b, x]: b votes of class d before rank x; the class of rank x is drawn there.

    Moves the counts past these ranks.
    """
    rows, most = voters.rows, voters.most
    n_ranks, n_components = len(labels), draws.drawn.shape[1]
    for d in voters.present:
        place = draws.starts[table_ids[d]] + counts[d]
        for x in range(n_ranks):
            places[x] = place
            place += labels[x] == d
        for b in range(most[d] + 1):
            column = b * n_components + component
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
        for d in voters.present:
            for b in range(most[d] + 1):
                for x in range(n_ranks, LANES):
                    rows[d, b, x] = 0.0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _meet_ranks(labels, drawn, table_ids, k_most, met, most, present):
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
def _copy_lines(voters, component, draws, counts, table_ids):
    """Lane 0: the votes of all classes after these ranks."""
    n_components = draws.drawn.shape[1]
    for d in voters.present:
        line = draws.lines[draws.starts[table_ids[d]] + counts[d]]
        for b in range(voters.most[d] + 1):
            voters.rows[d, b, 0] = line[b * n_components + component]


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _start_row(own, work):
    """Nothing is met or won yet."""
    for d in range(len(work.counts)):
        work.counts[d], work.met[d] = 0, 0
    for m in range(len(work.every_wins)):
        for x in range(LANES):
            work.every_wins[m, x] = 0.0
    for x in range(LANES):
        work.rows[own, 0, x] = 1.0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _score_row(i, component, rows, draws, vote, work, out):
    """Walk along row i, `LANES` ranks at once, until all of its votes are over: out[0, …]."""
    own, rule = np.int64(rows.own[i]), vote.rule
    first, row_end = rows.indptr[i], min(rows.indptr[i + 1], rows.indptr[i] + vote.depth)
    choose_tables(draws, i, own, work.table_ids)
    _start_row(own, work)
    k_low, n_blocks = vote.k_least, 0
    while first < row_end and k_low <= vote.k_most:
        labels = rows.labels[first : min(first + LANES, row_end)]
        own_line = draws.lines[draws.starts[work.table_ids[own]] + work.counts[own]]
        n_present = _meet_ranks(
            labels, draws.drawn[:, component], work.table_ids, vote.k_most, work.met, work.most,
            work.present,
        )  # fmt: skip
        voters = Voters(work.present[:n_present], work.most, work.rows)
        _fill_ranks(labels, component, voters, draws, work.counts, work.table_ids, work.places)
        if rule.every_class:
            add_every_win(
                voters, vote.k_most, rule.share, vote.quadrature, work.every, work.every_wins
            )
        else:
            # With many items of its own class before it, hardly any way to lose is left.
            v_low = fewest_votes(
                own_line, draws.drawn.shape[1], voters.most[own], vote.tol / vote.depth
            )
            v_high, k_open = last_open_vote(own, voters)
            reach = Reach(v_low, v_high, k_low, min(k_open, vote.k_most))
            if reach.k_low <= reach.k_high and v_low <= v_high:
                add_losses(own, voters, reach, LANES, vote, work.win, out)
        first += len(labels)
        n_blocks += 1
        if n_blocks < 4 or n_blocks % 4 == 0:
            _copy_lines(voters, component, draws, work.counts, work.table_ids)
            k_low = finished_votes(voters, np.int64(1), k_low, vote.k_most, vote.tol, work.win.poly)
    for c in range(out.shape[1]):
        if rule.every_class:
            for x in range(LANES):
                out[0, c] += work.every_wins[c, x]
        else:
            out[0, c] = 1.0 - out[0, c]


@njit(nogil=True, cache=True, error_model="numpy")
def score_untied(rows, start, stop, draws, vote, out):
    """out[i, component]: P(right) for each k, or with every_class P(each class) for the only k.

    With every_class P(class wins) is added up, otherwise P(own class loses): many prefixes leave
    no way to lose, or only for small k. At most `tol` is left out on the way, and a row stops when
    at most `tol` is left.
    """
    n_components = out.shape[1]
    size = draws.lines.shape[1] // n_components
    work = _work(draws.table_of.shape[1], size, vote.rule.every_class)
    for item in range(start * n_components, stop * n_components):
        i, component = item // n_components, item % n_components
        here = out[i, component : component + 1]
        if is_pure(rows, i, vote):
            set_certain(rows.own[i], vote, here)
        else:
            _score_row(i, component, rows, draws, vote, work, here)
