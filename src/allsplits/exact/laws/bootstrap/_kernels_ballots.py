"""Compiled records of votes for draws with replacement: ranks side by side, tie groups in pairs.

Poisson weights take the place of binomial ones, see `_kernels`.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels import group_end, poisson_row
from allsplits.exact._kernels_around import LANES
from allsplits.exact._kernels_ballots import (
    RankWork,
    add_only_class,
    add_ranked_wins,
    add_ranks,
    fill_lanes,
    rank_work,
    start_ranks,
)
from allsplits.exact._kernels_pair_ballots import PairWork, add_pair_ballot, pair_work
from allsplits.exact.kernel_types import Contenders, Places, Quadrature, aligned_space
from allsplits.exact.laws.bootstrap._kernels import (
    RankLines,
    fill_rank,
    meet_ranks,
    weigh_ends,
)

Integers = NDArray[np.int64]


class DrawWork(NamedTuple):
    """Items of each class so far, and in the tie group; lines of ranks; the records' own space."""

    counts: Integers
    group: Integers
    contenders: Contenders
    lines: RankLines
    rank: RankWork
    pair: PairWork


def draw_work(places: Places, share: bool, quadrature: Quadrature) -> DrawWork:
    """Space for one row after the other."""
    C, size = places.n_classes, places.k + 1
    counts, group, present, most = np.zeros((4, C), np.int64)
    return DrawWork(
        counts, group, Contenders(present, most, aligned_space(C, size, LANES)),
        RankLines(counts, np.empty(size), np.empty(size)),
        rank_work(places, share, quadrature), pair_work(places, share, quadrature),
    )  # fmt: skip


@njit(nogil=True, cache=True, error_model="numpy")
def ballots_untied(rows, start, stop, draws, work, out):
    """out[i]: the record of row i, whose tied distances play no part."""
    counts, lines, ballot = work.counts, work.lines, work.rank.ballot
    present, most, class_rows = work.contenders
    k = ballot.places.k
    for i in range(start, stop):
        own = np.int64(rows.own[i])
        labels = rows.labels[rows.indptr[i] : rows.indptr[i] + draws.depth]
        start_ranks(counts, work.rank)
        for d in range(len(most)):
            most[d] = k
        for b in range(k + 1):
            fill_lanes(0.0, class_rows[own, b])
        for s in range(0, len(labels), LANES):
            n_ranks = min(LANES, len(labels) - s)
            n_present = meet_ranks(labels, s, s + n_ranks, counts, present)
            contenders = Contenders(present[:n_present], most, class_rows)
            for x in range(n_ranks):
                weigh_ends(draws, s + x, 1, k, lines.end_weights)
                fill_rank(x, s + x, labels[s + x], k, contenders, lines)
                counts[labels[s + x]] += 1
            for m in range(n_present):
                for b in range(k + 1):
                    for x in range(n_ranks, LANES):
                        class_rows[present[m], b, x] = 0.0
            # A class that was not met has no votes.
            if counts[own] == 0:
                fill_lanes(1.0, class_rows[own, 0])
            add_ranks(own, contenders, work.rank, out[i])
        add_ranked_wins(own, work.rank, out[i])


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_group(own, s, g, draws, work, out):
    """Add the votes that end in a tie group of g items that follows s items."""
    places, pair, present = work.pair.places, work.pair.pair, work.contenders.present
    k, weights = places.k, work.lines.end_weights
    mass = weigh_ends(draws, s, g, k, weights)
    if mass == 0.0:
        return
    n_present = np.int64(0)
    for d in range(len(work.counts)):
        if work.counts[d] + work.group[d] > 0:
            present[n_present] = d
            n_present += 1
    if n_present == 1:
        add_only_class(own, present[0], work.contenders.most, mass, work.rank.ballot, out)
        return
    theta, phi = k / (s + 1.0), k / (g + 1.0)
    for e in range(n_present + 1):
        n = work.counts[present[e]] if e < n_present else 0
        tied = work.group[present[e]] if e < n_present else 0
        poisson_row(theta * n, k, pair.rows[e])
        poisson_row(phi * tied, k, pair.group_rows[e])
        poisson_row(theta * (s - n), k, pair.rest[e])
        poisson_row(phi * (g - tied), k, pair.group_rest[e])
    # Nobody else has all items.
    whole, group_whole = pair.rest[n_present], pair.group_rest[n_present]
    pair.weight[0] = 0.0
    for u in range(k):
        weight = weights[u]
        pair.weight[k - u] = weight / (whole[u] * group_whole[k - u]) if weight > 0.0 else 0.0
    add_pair_ballot(own, present[:n_present], work.pair, out)


@njit(nogil=True, cache=True, error_model="numpy")
def ballots_tied(rows, start, stop, draws, work, out):
    """The same, averaged over the orders of tie groups."""
    for i in range(start, stop):
        own, position, s = np.int64(rows.own[i]), rows.indptr[i], np.int64(0)
        for d in range(len(work.counts)):
            work.counts[d] = 0
        while s < draws.depth:
            end = group_end(rows.tied, position, rows.indptr[i + 1], True)
            for e in range(position, end):
                work.group[rows.labels[e]] += 1
            _add_group(own, s, end - position, draws, work, out[i])
            for e in range(position, end):
                work.counts[rows.labels[e]] += 1
                work.group[rows.labels[e]] = 0
            s += end - position
            position = end
