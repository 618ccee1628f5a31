"""Compiled sums over spans of ranks: products of the classes with items there, joined in pairs.

Let an item of a rival come at each rank x of a span, and let `own` be the row's class. With own
votes v the vote ends at x, and nobody beats v votes, with the chance

    o_v(x) · Π_d F_d(z),

where F_d holds the chances of up to v votes of the rival d before x (those of v of them count y
times, which is what a tie is worth) and the row of the item's class is that of the next one drawn.
From one rank to the next a single class changes. So a span keeps a sum of products of the classes
that have items in it, its members, and no others: of two spans side by side each is multiplied by
the members that only the other has, which do not change there, and then they are added up. A rank
takes about log2(C) products of C classes in this way, instead of C.

A span has a line for each number of own votes (and node y of shared ties), and line 0, in which no
class is capped. Items of the own class between two rivals change none of the products: what they
give is kept in `run`, and counts at the next rival.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels_vectors import (
    CHUNK,
    capped_sum,
    sum_four,
    sum_one,
    sum_three,
    sum_two,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Lines besides those of spans: zeros, three for products, the row of a class and its next one's.
SPARE = 6


class Lanes(NamedTuple):
    """What the lines of spans are about.

    Attributes
    ----------
    votes : array of shape (lines,)
        Own votes; 0 for line 0, which is about all of them.
    nodes, weights : array of shape (lines,)
        What a tie is worth, and the weight of that; -1: all, if the own class comes first.
    """

    votes: Integers
    nodes: Floats
    weights: Floats


class Spans(NamedTuple):
    """A stack of spans.

    Attributes
    ----------
    space : array
        Lines of all spans, and spare ones; zeros before each.
    width : int
        Length of a line; as many zeros are before it.
    sizes, heights, degrees, live : array of shape (spans,)
        How many members a span has, how often it was joined, how many votes the members can have,
        and how many lines are not zero: the own class has no more votes than items, and no rival
        beats more than it has.
    members, before, after : array of shape (spans, items)
        The classes that have items in it, and how many of their items are before its begin and end.
    marks : array of shape (classes,)
        Zeros, between two calls.
    missing : array of shape (2, classes, 3)
        Classes that are missing in a span: where their row begins, the most votes that are in it,
        and whether they come after the own class.
    lanes : Lanes
    run : array of shape (votes,)
        The chances that the vote ends with an item of the own class, since the last rival.
    """

    space: Floats
    width: int
    sizes: Integers
    heights: Integers
    degrees: Integers
    live: Integers
    members: Integers
    before: Integers
    after: Integers
    marks: Integers
    missing: Integers
    lanes: Lanes
    run: Floats


class Side(NamedTuple):
    """A row as one component sees it: its class, and its kind."""

    own: int
    kind: int
    component: int


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def line_at(node, line, spans):
    """Where the line of a span begins."""
    return (2 * (node * len(spans.lanes.votes) + line) + 1) * spans.width


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def spare_at(number, spans):
    """Where a spare line begins."""
    return line_at(len(spans.sizes), number, spans)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def chunks_of(line, spans):
    """How many chunks of a line matter: no more votes than the own class leaves."""
    return (len(spans.run) - 1 - spans.lanes.votes[line]) // CHUNK + 1


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _times(space, places, n_chunks, rows, factor):
    """space[target:] = space[base:] + a factor times space[source:]; see `shifted_sum`."""
    target, source, base = places
    while n_chunks > 4:
        sum_four(space, (target, source, base), rows, factor)
        target, source, base = target + 4 * CHUNK, source + 4 * CHUNK, base + 4 * CHUNK
        n_chunks -= 4
    if n_chunks == 1:
        sum_one(space, (target, source, base), rows, factor)
    elif n_chunks == 2:
        sum_two(space, (target, source, base), rows, factor)
    elif n_chunks == 3:
        sum_three(space, (target, source, base), rows, factor)
    else:
        sum_four(space, (target, source, base), rows, factor)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def times(space, places, n_chunks, rows, factor):
    """The same, compiled once for all who call it."""
    _times(space, places, n_chunks, rows, factor)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def row_of(d, n, side, draws, k_most):
    """Where the row of a rival with n items begins, and the most votes that are in it."""
    t = draws.table_of[side.kind, d]
    first = (draws.starts[t] + n) * draws.lines.shape[1] + side.component
    return first, min(n, draws.drawn[t, side.component], k_most)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def note_missing(number, which, d, n, side, draws, spans):
    """The class d, with n items, is missing in one of two spans; returns how many are noted.

    A class that cannot have a vote changes nothing.
    """
    first, most = row_of(d, n, side, draws, len(spans.run) - 1)
    spans.missing[which, number, 0] = first
    spans.missing[which, number, 1] = most
    spans.missing[which, number, 2] = d > side.own
    return number + (most > 0)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def multiply_missing(space, places, lane, missing, n_missing, rows, step, spare):
    """space[target:] = space[base:] + the product of space[source:] and the missing classes.

    The `lane` has own votes (0: no caps), what a tie is worth (-1: nothing if the own class comes
    later) and the number of chunks; `spare` are a line of zeros, and two for products.
    """
    target, source, base = places
    votes, node, n_chunks = lane
    for i in range(n_missing):
        top, y = missing[i, 1], node if node >= 0.0 else float(missing[i, 2])
        if votes > 0:
            top = min(votes if y > 0.0 else votes - 1, top)
        factor = (missing[i, 0], step, top + 1, y if votes > 0 and top == votes else 1.0)
        is_last = i == n_missing - 1
        product = target if is_last else spare[1 + i % 2]
        _times(space, (product, source, base if is_last else spare[0]), n_chunks, rows, factor)
        source = product
    if n_missing == 0:
        # The first entry of all tables is 1: none of no items is drawn.
        factor = (np.int64(0), step, np.int64(1), 1.0)
        _times(space, (target, source, base), n_chunks, rows, factor)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def lane_of(line, spans):
    """What `multiply_missing` needs to know of a line."""
    lanes = spans.lanes
    return lanes.votes[line], lanes.nodes[line], chunks_of(line, spans)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def spare_lines(spans):
    """Zeros, and two lines for products."""
    return spare_at(0, spans), spare_at(1, spans), spare_at(2, spans)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _join_members(a, b, side, draws, spans):
    """The members of span b become members of a; returns how many were missing in a, and in b."""
    members, before, after, marks = spans.members, spans.before, spans.after, spans.marks
    n_members, n_missing, n_new = spans.sizes[a], np.int64(0), np.int64(0)
    for i in range(n_members):
        marks[members[a, i]] = i + 1
    for i in range(spans.sizes[b]):
        d = members[b, i]
        place = marks[d] - 1
        if place >= 0:
            after[a, place] = after[b, i]
            marks[d] = 0
        else:
            n_missing = note_missing(n_missing, 0, d, before[b, i], side, draws, spans)
            place = n_members + n_new
            members[a, place], before[a, place] = d, before[b, i]
            after[a, place] = after[b, i]
            n_new += 1
    n_elsewhere = np.int64(0)
    for i in range(n_members):
        d = members[a, i]
        if marks[d] > 0:
            n_elsewhere = note_missing(n_elsewhere, 1, d, after[a, i], side, draws, spans)
            marks[d] = 0
    spans.sizes[a] = n_members + n_new
    return n_missing, n_elsewhere


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _degree(span, which, n_missing, spans):
    """How many votes the members of a span, and those that are missing, can have."""
    degree = spans.degrees[span]
    for i in range(n_missing):
        degree += spans.missing[which, i, 1]
    return degree


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def join(a, b, v_high, side, draws, rows, spans):
    """Span a takes up span b, which follows it; line 0 has up to v_high own votes."""
    missing_in_a, missing_in_b = _join_members(a, b, side, draws, spans)
    step, spare = draws.drawn.shape[1], spare_lines(spans)
    space, in_a, in_b = spans.space, spans.missing[0], spans.missing[1]
    degree = max(_degree(a, 0, missing_in_a, spans), _degree(b, 1, missing_in_b, spans))
    for line in range(spans.live[b]):
        place, other = line_at(a, line, spans), line_at(b, line, spans)
        votes, node, n_chunks = lane_of(line, spans)
        base = spare[0]
        if line < spans.live[a]:
            # What lies above the degree is zero since the line was a leaf's.
            n_chunks = min(n_chunks, (degree + (v_high if line == 0 else 0)) // CHUNK + 1)
            base = place
            if missing_in_a > 0:
                base = spare_at(3, spans)
                places, lane = (base, place, spare[0]), (votes, node, n_chunks)
                multiply_missing(space, places, lane, in_a, missing_in_a, rows, step, spare)
        places, lane = (place, other, base), (votes, node, n_chunks)
        multiply_missing(space, places, lane, in_b, missing_in_b, rows, step, spare)
    spans.live[a], spans.degrees[a] = spans.live[b], degree
    spans.heights[a] += 1


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _copy_rows(d, n, side, draws, rows, spans):
    """The row of a class, and the same if its next item is drawn, into spare lines."""
    step, width, t = draws.drawn.shape[1], spans.width, draws.table_of[side.kind, d]
    row, next_row = spare_at(4, spans), spare_at(5, spans)
    first, most = row_of(d, n, side, draws, len(spans.run) - 1)
    scale = 1.0 / max(draws.pools[t] - n, 1)
    for b in range(most + 1):
        chance = rows[first + b * step]
        spans.space[row + b] = chance
        spans.space[next_row + b] = chance * draws.remaining[t, b * step + side.component] * scale
    for b in range(most + 1, width):
        spans.space[row + b] = 0.0
        spans.space[next_row + b] = 0.0


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def set_leaf(node, item, reach, lines, side, draws, rows, spans):
    """A span of one item: its class, its number, own items, and where the row of these begins.

    The last is -1 where no item comes, but a run ends. `reach` are the own votes of line 0, from
    and to; lines of the own votes follow: how many votes may be beaten, and how many lines there
    are in all.
    """
    d, n, n_own, own_row = item
    v_low, v_high = reach
    beaten, n_lines = lines
    space, lanes, run, zeros = spans.space, spans.lanes, spans.run, spare_at(0, spans)
    row, next_row, step = spare_at(4, spans), spare_at(5, spans), draws.drawn.shape[1]
    _copy_rows(d, n, side, draws, rows, spans)
    target, n_terms = line_at(node, 0, spans), v_high - v_low + 1
    if n_terms > 0:
        n_chunks = chunks_of(0, spans)
        factor = (v_low, 1, n_terms, 1.0)
        times(space, (target, row - v_low, zeros), n_chunks, run, factor)
        if own_row >= 0:
            factor = (own_row + v_low * step, step, n_terms, 1.0)
            times(space, (target, next_row - v_low, target), n_chunks, rows, factor)
    else:
        for power in range(spans.width):
            space[target + power] = 0.0
    n_live = np.int64(1)
    while n_live < n_lines and lanes.votes[n_live] <= min(n_own, beaten):
        n_live += 1
    for line in range(1, n_live):
        v, target = lanes.votes[line], line_at(node, line, spans)
        y = lanes.nodes[line]
        if y < 0.0:
            y = 1.0 if d > side.own else 0.0
        scales = (run[v], rows[own_row + v * step] if own_row >= 0 else 0.0)
        for power in range(0, chunks_of(line, spans) * CHUNK, CHUNK):
            places = (target + power, row + power, next_row + power, power)
            capped_sum(space, places, scales, v, y)
    spans.sizes[node], spans.heights[node], spans.live[node] = 1, 0, n_live
    spans.degrees[node] = row_of(d, n, side, draws, len(run) - 1)[1]
    spans.members[node, 0], spans.before[node, 0] = d, n
    spans.after[node, 0] = n + (own_row >= 0)
