"""Compiled votes of a row's own class: how it may lose, kept from prefix to prefix, all k at once.

Let the own class get v votes, and L_v(z) count the ways of the rivals to beat it: the coefficient
of z^m belongs to m voters of theirs, weighed as if every item had been drawn with probability θ.

    P(own class loses | prefix of j) = Σ_v T[n, v] · [z^(k-v)] L_v(z) / T[j, k].

An item of the own class changes nothing but n. One of a rival e, of which n_e items are there,

    L_v ← (1 - θ + θz) · L_v + θz · (y T[n_e, v] z^v + (1 - y) T[n_e, v-1] z^(v-1)) · Π_{d≠e} F_d:

who was beaten stays beaten, and e beats the own class now if it lacked this vote and nobody else
does (F_d as in `_kernels_majority`; y is 1 if the own class wins a tie with e, 0 if it loses it,
and a node of a quadrature where ties are shared). All terms are positive, and mostly there is
nobody else: rivals that cannot have v votes are merged, T[Σ n_d, ·].

Nearly everything can be left out. Of n given items at least fewest[n] are drawn, up to a chance of
2⁻⁶⁴: so own classes with many items lose to none of few, and rivals with many beat those of few.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels import group_end
from allsplits.exact._kernels_eight import (
    LANES,
    eight_times,
    is_short,
    load_at,
    plus,
    store,
    times,
)
from allsplits.exact.kernel_types import Columns, Quadrature, aligned_space
from allsplits.exact.laws.fixed_size._kernels_overtaken import add_overtaken
from allsplits.exact.laws.fixed_size._kernels_rivals import Met, add_shifted
from allsplits.exact.laws.fixed_size._kernels_tied_losses import add_mixed_losses

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Losing(NamedTuple):
    """What is the same for all rows.

    Attributes
    ----------
    columns : Columns
    share : bool
        Whether tied classes share the vote.
    ties : Quadrature
        Nodes for shared ties.
    table : array of shape (depth + 1, votes + 1)
        Binomial weights T[n, b].
    padded : array of shape (depth + 1, LANES + width)
        The same, each row between zeros: LANES of them before it.
    theta : float
        The share of items that they are made for.
    doubts : array of shape (depth + 1, votes + 1)
        At most v of n given items are drawn with a chance of less than e^-doubts[n, v].
    fewest : array of shape (depth + 1,)
        How many of n given items are drawn at least, or else the chance is below e^-DOUBT.
    starts : array of shape (rivals + 1, votes / 2 + 2)
        Nodes for v own votes where r rivals may be tied: starts[r, v] to starts[r, v + 1].
    nodes : Quadrature
        The nodes and their weights, one after the other.
    weights : array of shape (depth + 1, columns)
        What a way to lose counts: m_j / T[j, k].
    kept : array of shape (depth + 2, columns)
        The mass of prefixes of length j and more.
    """

    columns: Columns
    share: bool
    ties: Quadrature
    table: Floats
    padded: Floats
    theta: float
    doubts: Floats
    fewest: Integers
    starts: Integers
    nodes: Quadrature
    weights: Floats
    kept: Floats


class Beaten(NamedTuple):
    """The ways to beat the own class of a row.

    Attributes
    ----------
    met : Met
        The classes; those that are present are the rivals, the most frequent first.
    place : array of shape (classes,)
        Where a rival is among those that are present.
    nodes, first_line : array of shape (votes / 2 + 1,) and one more
        Where the nodes for v own votes begin, and their lines.
    lines : array of shape (nodes, LANES + width)
        Coefficients of L_v at each node, after LANES zeros.
    poly, temp, lost : array of shape (votes + 1,)
        A product of rivals, the next one, and what is lost for each k.
    """

    met: Met
    place: Integers
    nodes: Integers
    first_line: Integers
    lines: Floats
    poly: Floats
    temp: Floats
    lost: Floats


class Front(NamedTuple):
    """Where a walk is.

    The own class and its items, items of all rivals, how many rivals there are, the most votes with
    which the own class may lose; items of rivals that come before it in class order.
    """

    own: int
    n_own: int
    rest: int
    n_rivals: int
    v_open: int
    ahead: int


def padded_lines(table: Floats) -> Floats:
    """Each row of a table after LANES zeros, and as many numbers of eight as it needs."""
    depth, size = table.shape
    lines = aligned_space(depth, LANES - (-size // LANES) * LANES)
    lines[:] = 0.0
    lines[:, LANES : LANES + size] = table
    return lines


def new_beaten(n_classes: int, losing: Losing) -> Beaten:
    """Space for the rows of one thread."""
    size = losing.table.shape[1]
    counts = np.empty((4, n_classes), np.int64)
    lines = aligned_space(int(np.ptp(losing.starts, axis=1).max()), losing.padded.shape[1])
    n_votes = losing.starts.shape[1] - 1
    return Beaten(
        Met(*counts[:3]), counts[3], np.empty(n_votes, np.int64),
        np.empty(n_votes + 1, np.int64), lines, *(aligned_space(size) for _ in range(3)),
    )  # fmt: skip


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _count_rival(e, n_rivals, met, place):
    """One more item of e; rivals stay sorted. Returns how many there are."""
    n = met.prefix[e]
    if n == 0 and met.group[e] == 0:
        place[e], met.present[n_rivals] = n_rivals, e
        n_rivals += 1
    met.prefix[e] = n + 1
    p = place[e]
    while p > 0 and met.prefix[met.present[p - 1]] <= n:
        d = met.present[p - 1]
        met.present[p], place[d] = d, p
        p -= 1
    met.present[p], place[e] = e, p
    return n_rivals


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _meet_rival(e, front, losing, beaten):
    """An item of the rival e comes; returns the new front."""
    own, n_own, rest, n_rivals, v_open, ahead = front
    lines, k_most = beaten.lines, losing.table.shape[1] - 1
    stays, goes = eight_times(1.0 - losing.theta), eight_times(losing.theta)
    first_line = beaten.first_line
    reach = min(beaten.met.prefix[e] + (losing.share or e < own), k_most // 2)
    for v in range(v_open + 1, reach + 1):
        for x in range(first_line[v], first_line[v + 1]):
            for m in range(0, lines.shape[1], LANES):
                is_short()
                store(lines, (x * lines.shape[1] + m) // LANES, eight_times(0.0))
    v_open = max(v_open, reach)
    for v in range(max(1, losing.fewest[n_own]), v_open + 1):
        # Fewer of the rivals' items are not drawn, and fewer do not beat v votes.
        first, last = max(v, losing.fewest[rest + 1]), min(rest + 1, k_most - v)
        for x in range(first_line[v], first_line[v + 1]):
            line = x * lines.shape[1] + LANES
            start = first // LANES * LANES
            # From the last on: each number needs the one before it as it was.
            for m in range(line + last // LANES * LANES, line + start - 1, -LANES):
                is_short()
                kept = times(stays, load_at(lines, m))
                store(lines, m // LANES, plus(kept, times(goes, load_at(lines, m - 1))))
            # What comes before is not kept any longer, and must not come in.
            if start > 0:
                lines[x, LANES + start - 1] = 0.0
            if v <= reach:
                y = losing.nodes.nodes[beaten.nodes[v] + x - first_line[v]]
                add_overtaken(e, v, y, (first, last), front, losing, beaten, line)
    n_rivals = _count_rival(e, n_rivals, beaten.met, beaten.place)
    return Front(own, n_own, rest + 1, n_rivals, v_open, ahead + (e < own))


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _add_losses(j, front, losing, beaten, out):
    """out[column] += mass of the prefix of length j · P(own class loses)."""
    table, lost, columns = losing.table, beaten.lost, losing.columns
    first_line = beaten.first_line
    n_own, rest, v_open = front.n_own, front.rest, front.v_open
    k_low, k_high, least = columns.k_low[j], columns.k_high[j], losing.fewest[n_own]
    if k_high == 0 or least > v_open:
        return
    for k in range(k_low, k_high + 1):
        lost[k] = 0.0
    if least == 0:
        for k in range(k_low, k_high + 1):
            lost[k] = table[n_own, 0] * table[rest, k]
    for v in range(max(1, least), min(v_open, n_own) + 1):
        first = max(k_low, v + max(v, losing.fewest[rest]))
        for x in range(first_line[v], first_line[v + 1]):
            weight = losing.nodes.weights[beaten.nodes[v] + x - first_line[v]]
            factor, line = table[n_own, v] * weight, beaten.lines[x, LANES + first - v :]
            add_shifted(factor, line, lost, first, min(k_high, v + rest) + 1 - first)
    for c in range(len(columns.ks)):
        if losing.weights[j, c] > 0.0:
            out[c] += losing.weights[j, c] * lost[columns.ks[c]]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _start_row(rows, i, losing, beaten):
    """Nothing is met yet, but who may be tied with v votes is known: rivals with v items."""
    own, met, nodes, first_line = rows.own[i], beaten.met, beaten.nodes, beaten.first_line
    # np.zeros takes half a second to compile.
    for c in range(len(met.prefix)):
        met.prefix[c], met.group[c] = 0, 0
    for v in range(len(nodes)):
        nodes[v] = 0
    if losing.share:
        start, depth = rows.indptr[i], losing.columns.masses.shape[1] - 1
        for e in range(start, start + depth):
            c = rows.labels[e]
            met.group[c] += c != own
            if c != own and met.group[c] < len(nodes):
                nodes[met.group[c]] += 1
        for e in range(start, start + depth):
            met.group[rows.labels[e]] = 0
    line = np.int64(0)
    for v in range(len(nodes)):
        able = min(nodes[v], len(losing.starts) - 1)
        nodes[v], first_line[v] = losing.starts[able, v], line
        line += losing.starts[able, v + 1] - losing.starts[able, v]
    first_line[len(nodes)] = line
    zero = np.int64(0)
    return Front(np.int64(own), zero, zero, zero, zero, zero)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _meet_own(front):
    """An item of the own class comes."""
    own, n_own, rest, n_rivals, v_open, ahead = front
    return Front(own, n_own + 1, rest, n_rivals, v_open, ahead)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _finish_row(first, losing, out):
    """What is not lost is won, from the first prefix that has an item of the own class."""
    for c in range(len(out)):
        out[c] = max(0.0, losing.kept[first, c] - out[c])


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def right_untied(rows, start, stop, losing, beaten, out):
    """P(right) of each row for each column; ties play no part."""
    depth = losing.columns.masses.shape[1] - 1
    for i in range(start, stop):
        front = _start_row(rows, i, losing, beaten)
        first = depth + 1
        for j in range(1, depth + 1):
            c = rows.labels[rows.indptr[i] + j - 1]
            if c == front.own:
                first = min(first, j)
                front = _meet_own(front)
            else:
                front = _meet_rival(c, front, losing, beaten)
            if front.n_own > 0 and front.rest > 0:
                _add_losses(j, front, losing, beaten, out[i])
        _finish_row(first, losing, out[i])


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _meet_group(labels, position, end, front, beaten):
    """Count a tie group; returns whether it holds several classes, own items, and all rivals."""
    met, place = beaten.met, beaten.place
    n_rivals, g_own, mixed = front.n_rivals, np.int64(0), False
    for e in range(position, end):
        c = labels[e]
        mixed = mixed or c != labels[position]
        if c == front.own:
            g_own += 1
        elif met.prefix[c] + met.group[c] == 0:
            place[c], met.present[n_rivals] = n_rivals, c
            n_rivals += 1
        met.group[c] += 1
    return mixed, g_own, n_rivals


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def right_tied(rows, start, stop, losing, beaten, loss_work, out):
    """As `right_untied`, averaged over the orders of tie groups.

    Groups of one class (a single item is one) need no average.
    """
    depth = losing.columns.masses.shape[1] - 1
    labels, met = rows.labels, beaten.met
    for i in range(start, stop):
        front = _start_row(rows, i, losing, beaten)
        first = depth + 1
        position = rows.indptr[i]
        s = np.int64(0)
        while s < depth:
            end = group_end(rows.tied, position, rows.indptr[i + 1], True)
            mixed, g_own, n_rivals = _meet_group(labels, position, end, front, beaten)
            own, n_own, rest, _, v_open, ahead = front
            front = Front(own, n_own, rest, n_rivals, v_open, ahead)
            if g_own > 0:
                first = min(first, s + 1)
            if mixed and first <= depth:
                add_mixed_losses(s, end - position, g_own, front, losing, met, loss_work, out[i])
            for j in range(s + 1, min(s + end - position, depth) + 1):
                c = labels[position + j - s - 1]
                if c == front.own:
                    front = _meet_own(front)
                else:
                    front = _meet_rival(c, front, losing, beaten)
                if front.n_own > 0 and front.rest > 0 and (not mixed or j == s + end - position):
                    _add_losses(j, front, losing, beaten, out[i])
            for e in range(position, end):
                met.group[labels[e]] = 0
            s += end - position
            position = end
        _finish_row(first, losing, out[i])
