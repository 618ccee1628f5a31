"""Compiled votes for a fixed number of training items from each class, without tied distances.

The vote of k is over when the (k+1)-th training item comes: an item of class e is it with
probability (α_e - b_e)/(N_e - n_e) after b_e voters of its class. Few shots need nearly every rank
of a complete order, and from one rank to the next a single class changes; so `LANES` ranks go
through the products of the classes side by side. No class has more votes than it has items drawn.
"""

import numpy as np
from numba import njit

from allsplits.exact._kernels_around import LANES, add_every_win
from allsplits.exact._kernels_draws import table_of_class
from allsplits.exact._kernels_votes import (
    add_any,
    add_wins,
    fewest_votes,
    finished_votes,
    last_open_vote,
)
from allsplits.exact.kernel_types import EveryWinWork, Quadrature, Reach, Voters, WinWork

__all__ = ["score_shots"]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _copy_votes(table_row, n_votes, part, n_parts, x, out):
    """out[votes, x] = the part's entries of a row of a table, for fewer than n_votes."""
    for b in range(n_votes):
        out[b, x] = table_row[b * n_parts + part]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _fill_ranks(
    labels, position, n_ranks, counts, present, n_present, most, table_ids, starts, pools,
    remaining, tables, part, n_parts, places, rows,
):  # fmt: skip
    """rows[d, b, x]: b votes of class d before rank x; the class of rank x is drawn there.

    Moves the counts past these ranks.
    """
    for m in range(n_present):
        d = present[m]
        place = starts[table_ids[d]] + counts[d]
        for x in range(n_ranks):
            places[x] = place
            place += labels[position + x] == d
        for b in range(most[d] + 1):
            column = b * n_parts + part
            for x in range(n_ranks):
                rows[d, b, x] = tables[places[x], column]
    for x in range(n_ranks):
        d = labels[position + x]
        t = table_ids[d]
        scale = 1.0 / (pools[t] - counts[d])
        for b in range(most[d] + 1):
            rows[d, b, x] *= scale * remaining[t, b * n_parts + part]
        counts[d] += 1
    # Lanes beyond the ranks: one row of zeros makes all of their products zero.
    for m in range(n_present if n_ranks < LANES else 0):
        d = present[m]
        for b in range(most[d] + 1):
            for x in range(n_ranks, LANES):
                rows[d, b, x] = 0.0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _meet_ranks(labels, position, n_ranks, most, drawn, table_ids, k_high, part, met, present):
    """Count the classes of these ranks into `met`; `most` are votes they can have at the end."""
    for x in range(n_ranks):
        met[labels[position + x]] += 1
    n_present = np.int64(0)
    for d in range(len(met)):
        if met[d] > 0:
            present[n_present] = d
            n_present += 1
        most[d] = min(met[d], drawn[table_ids[d], part], k_high)
    return n_present


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_losses(
    own, present, n_present, most, rows, v_low, k_low, k_high, share, ks, nodes, weights, is_free,
    work, out,
):  # fmt: skip
    """out[column] += P(the vote of k ends at these ranks and `own` loses).

    That `own` has fewer than v_low votes is left out.
    """
    free, poly, wins = work[0], work[1], work[2]
    voters = Voters(present[:n_present], most, rows)
    v_high, k_open = last_open_vote(own, voters)
    k_open = min(k_open, k_high)
    if k_open < k_low or v_high < v_low:
        return
    for k in range(k_low, k_open + 1):
        for x in range(LANES):
            wins[k, x] = 0.0
    win_work = WinWork(free, poly, is_free, wins)
    add_any(own, voters, Reach(v_low, v_high, k_low, k_open), LANES, win_work)
    add_wins(
        own, voters, Reach(max(v_low, 1), v_high, k_low, k_open), share,
        Quadrature(nodes, weights), -1.0, LANES, win_work,
    )  # fmt: skip
    for c in range(len(ks)):
        if k_low <= ks[c] <= k_open:
            for x in range(LANES):
                out[c] += wins[ks[c], x]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _is_pure(labels, first, last, own):
    """Whether all labels are `own`: then nothing can be lost."""
    for e in range(first, last):
        if labels[e] != own:
            return False
    return True


@njit(nogil=True, cache=True, error_model="numpy")
def score_shots(
    indptr, labels, own, start, stop, kinds, table_of, own_table_of, starts, pools, remaining,
    tables, depth, drawn, every_class, share, ks, tol, nodes, weights, out,
):  # fmt: skip
    """out[i, part]: P(right) for each k, or with every_class P(each class) for the only k.

    The parts are count vectors. With every_class P(class wins) is added up, otherwise P(own class
    loses): many prefixes leave no way to lose, or only for small k. At most `tol` is left out on
    the way, and a row stops when at most `tol` is left.
    """
    n_parts, n_classes = out.shape[1], table_of.shape[1]
    size = tables.shape[1] // n_parts
    # Filled with zeros below: np.zeros takes half a second to compile.
    counts = np.empty(n_classes, np.int64)
    met = np.empty(n_classes, np.int64)
    most = np.empty(n_classes, np.int64)
    present = np.empty(n_classes, np.int64)
    table_ids = np.empty(n_classes, np.int64)
    is_free = np.empty(n_classes, np.bool_)
    places = np.empty(LANES, np.int64)
    degrees = np.empty((2, n_classes), np.int64)
    rows = np.empty((n_classes, size, LANES))
    work = np.empty((3, size, LANES))
    n_around = n_classes if every_class else 1
    left = np.empty((n_around, size, LANES))
    right = np.empty((n_around, size, LANES))
    saved = np.empty((n_around, LANES))
    wins = np.empty((n_around, LANES))
    sums = np.empty(LANES)
    k_least, k_high = ks[0], ks[0]
    for k in ks:
        k_least, k_high = min(k, k_least), max(k, k_high)
    for item in range(start * n_parts, stop * n_parts):
        i, part = item // n_parts, item % n_parts
        y, position, row_end = own[i], indptr[i], min(indptr[i + 1], indptr[i] + depth)
        if _is_pure(labels, position, row_end, y):
            for c in range(1 if every_class else len(ks)):
                out[i, part, y if every_class else c] = 1.0
            continue
        for d in range(n_classes):
            table_ids[d] = table_of_class(kinds[i], d, y, table_of, own_table_of)
            counts[d], met[d] = 0, 0
        for m in range(n_around):
            for x in range(LANES):
                wins[m, x] = 0.0
        k_low = k_least
        n_blocks = 0
        for x in range(LANES):
            rows[y, 0, x] = 1.0
        while position < row_end and k_low <= k_high:
            n_ranks = min(LANES, row_end - position)
            own_row = tables[starts[table_ids[y]] + counts[y]]
            n_present = _meet_ranks(
                labels, position, n_ranks, most, drawn, table_ids, k_high, part, met, present
            )
            _fill_ranks(
                labels, position, n_ranks, counts, present, n_present, most, table_ids,
                starts, pools, remaining, tables, part, n_parts, places, rows,
            )  # fmt: skip
            if every_class:
                add_every_win(
                    Voters(present[:n_present], most, rows), k_high, share,
                    Quadrature(nodes, weights), EveryWinWork(saved, left, right, degrees, sums),
                    wins,
                )  # fmt: skip
            else:
                # With many items of its own class before it, hardly any way to lose is left.
                v_low = fewest_votes(own_row, n_parts, most[y], tol / depth)
                _add_losses(
                    y, present, n_present, most, rows, v_low, k_low, k_high, share, ks, nodes,
                    weights, is_free, work, out[i, part],
                )  # fmt: skip
            position += n_ranks
            n_blocks += 1
            if n_blocks < 4 or n_blocks % 4 == 0:
                for m in range(n_present):
                    d = present[m]
                    table_row = tables[starts[table_ids[d]] + counts[d]]
                    _copy_votes(table_row, most[d] + 1, part, n_parts, 0, rows[d])
                voters = Voters(present[:n_present], most, rows)
                k_low = finished_votes(voters, np.int64(1), k_low, k_high, tol, work[1])
        for c in range(n_classes if every_class else len(ks)):
            if every_class:
                for x in range(LANES):
                    out[i, part, c] += wins[c, x]
            else:
                out[i, part, c] = 1.0 - out[i, part, c]
