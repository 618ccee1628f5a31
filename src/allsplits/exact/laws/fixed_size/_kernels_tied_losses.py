"""Compiled losses of a row's own class in prefixes that end inside a tie group of several classes.

Small groups are counted by the items that are taken (`_kernels_listed`), others in pairs of votes
(`_kernels_tied`). What the own class does not win is lost.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels_eight import LANES, eight_times, is_short, load, plus, store, times
from allsplits.exact.laws.fixed_size._kernels_listed import (
    Listed,
    cap_rivals,
    count_held,
    find_reaching,
    new_listed,
    share_out,
    weigh_votes,
)
from allsplits.exact.laws.fixed_size._kernels_rivals import (
    DOUBT,
    RARE,
    gather_rivals,
    quadrature_order,
)
from allsplits.exact.laws.fixed_size._kernels_tied import (
    TiedWork,
    add_votes,
    fill_pairs,
    group_chances,
    new_tied_work,
    votes_that_end,
    weigh_voters,
)

Floats = NDArray[np.float64]


class LossWork(NamedTuple):
    """Scratch of mixed tie groups: of any, and of small ones."""

    tied: TiedWork
    listed: Listed


def new_loss_work(
    n_classes: int, weights: Floats, table: Floats, ks: NDArray[np.int64]
) -> LossWork:
    """Scratch for votes with these binomial weights T, and weights of prefixes and columns."""
    tied = new_tied_work(n_classes, weights, table.shape[1])
    return LossWork(tied, new_listed(n_classes, table, weights, ks))


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _turn_to_losses(degree, rest, g_rest, limit, phi, table, work):
    """work.pairs = all ways of the rivals less those that are there; returns the new degree."""
    poly, row, stride = work.pairs.poly, work.group_row, work.pairs.stride
    for x in range((degree + 1) * stride, (min(g_rest, limit) + 1) * stride):
        poly[x] = 0.0
    degree = min(g_rest, limit)
    group_chances(g_rest, degree, phi, table, row)
    for i in range(degree + 1):
        part = poly[i * stride + i : i * stride + limit + 1]
        for x in range(len(part)):
            part[x] = row[i] * table[rest, x] - part[x]
    return degree


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _rivals_can_hold(v, n_own, n_rivals, losing, work):
    """Whether no rival is sure to have more than v votes, and the own class to have more itself."""
    doubt = losing.doubts[n_own, v]
    for d in range(n_rivals):
        most = v if losing.share or work.rivals.after[d] else v - 1
        if work.rivals.items[d] > most:
            doubt += losing.doubts[work.rivals.items[d], most]
    return doubt < DOUBT


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _add_listed(v, group, losing, listed):
    """Add P(own class loses with v votes) in a small group to listed.added."""
    caps = cap_rivals(v, group, losing, listed)
    surely_lost = v == 0 or caps.doubt >= DOUBT
    # Nobody is beaten by fewer than 2v voters.
    first_eight = max(0, 2 * v - listed.first_k) // LANES
    if not surely_lost and caps.n_capped == 0:
        return
    if weigh_votes(v, first_eight, group, losing, listed) < RARE:
        return
    n_eights = len(listed.added) // LANES
    for x in range(first_eight, n_eights):
        is_short()
        store(listed.added, x, plus(load(listed.added, x), load(listed.every, x)))
    if surely_lost:
        return
    n_votes = losing.table.shape[1] - 1 - v
    # Rivals that can have v votes may be tied.
    order = min(caps.n_capped, n_votes // v) // 2 + 1 if losing.share else 1
    for q in range(order):
        y = losing.ties.nodes[order, q] if losing.share else 1.0
        scale = losing.ties.weights[order, q] if losing.share else 1.0
        count_held(v, y, n_votes, first_eight, caps, group, losing, listed)
        for x in range(first_eight, n_eights):
            is_short()
            held = times(eight_times(-scale), load(listed.held, x))
            store(listed.added, x, plus(load(listed.added, x), held))


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _add_pairs(v, limit, ending, group, n_rivals, losing, work):
    """The same in a group of any size, counted in pairs."""
    table, share, n_own, g_rest = losing.table, losing.share, group.n_own, group.g_rest
    order = quadrature_order(work.sums, n_rivals, v, v + limit, share) if v > 0 else 1
    for q in range(order):
        y = losing.ties.nodes[order, q] if share else 1.0
        scale = losing.ties.weights[order, q] if share else 1.0
        degree = np.int64(-1)
        if v > 0 and _rivals_can_hold(v, n_own, n_rivals, losing, work):
            degree = fill_pairs(n_rivals, v, y, share, limit, ending.phi, table, work)
        degree = _turn_to_losses(degree, group.rest, g_rest, limit, ending.phi, table, work)
        own = n_own, group.g_own
        add_votes(v, own, (degree, limit), scale, losing.columns.ks, ending, table, work)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _gather(front, met, work):
    """Gather the rivals, and their items before and in the group; returns how many rivals."""
    n_rivals = gather_rivals(front.own, met, front.n_rivals, work.rivals)
    for d in range(n_rivals):
        work.sums[d] = work.rivals.items[d] + work.rivals.tied[d]
    return n_rivals


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def add_mixed_losses(s, g, g_own, front, losing, met, work, out):
    """out[column] += mass of the prefixes that end inside a tie group · P(own class loses).

    The group has g items, g_own of them of the own class, and follows s items.
    """
    columns, table, added, listed = losing.columns, losing.table, work.tied.added, work.listed
    least, n_rivals = losing.fewest[front.n_own], np.int64(-1)
    group = find_reaching((s, g), g_own, least, front, losing, met, listed.reaching)
    if least > group.v_open:
        return
    v_open, n_rest = min(group.v_open, front.n_own + g_own), front.rest + g - g_own
    k_open = min(v_open + n_rest, table.shape[1] - 1)
    ending = votes_that_end(s, g, k_open, columns, table)
    is_small = g <= listed.most_items
    if is_small:
        share_out(s, g, group, listed)
    for c in range(len(added)):
        is_short()
        added[c] = 0.0
    for v in range(least, min(v_open, ending.k_high // 2) + 1):
        limit = min(ending.k_high - v, n_rest)
        if v + limit < ending.k_low:
            continue
        if is_small:
            _add_listed(v, group, losing, listed)
            continue
        if n_rivals < 0:
            n_rivals = _gather(front, met, work.tied)
            weigh_voters(s, g, k_open, ending.phi, columns, table, work.tied)
        _add_pairs(v, limit, ending, group, n_rivals, losing, work.tied)
    for c in range(len(added)):
        is_short()
        out[c] += added[c] + (listed.added[columns.ks[c] - listed.first_k] if is_small else 0.0)
