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

from allsplits.exact._kernels_eight import (
    LANES,
    eight_times,
    is_short,
    load_at,
    plus,
    plus_times,
    store_at,
    times,
)
from allsplits.exact._kernels_lines import (
    cut_at,
    four_eights,
    load_like,
    one_eight,
    plus_scaled,
    store_line,
    three_eights,
    times_row,
    two_eights,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Lines besides those of spans: zeros, three for products, the row of a class and its next one's.
SPARE = 6
#: Numbers that are multiplied side by side.
CHUNK = LANES


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
def _plus_times_row(total, space, source, rows, factor):
    """A line plus the one that begins at `source` times a row.

    The `factor` has where the row begins, its step, the number of terms, and how often the last
    one counts.
    """
    first, step, n_terms, last = factor
    for t in range(n_terms - 1):
        term = eight_times(rows[first + t * step])
        total = plus_scaled(total, load_like(total, space, source - t), term)
    term = eight_times(rows[first + (n_terms - 1) * step] * last)
    return plus_scaled(total, load_like(total, space, source - n_terms + 1), term)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _times_wide(space, places, n_chunks, rows, factor):
    """space[target:] = space[base:] + space[source:] times a row, for lines of any length."""
    target, source, base = places
    while n_chunks >= 4:
        line = _plus_times_row(four_eights(space, base), space, source, rows, factor)
        store_line(space, target, line)
        target, source, base = target + 4 * CHUNK, source + 4 * CHUNK, base + 4 * CHUNK
        n_chunks -= 4
    if n_chunks == 1:
        line = _plus_times_row(one_eight(space, base), space, source, rows, factor)
        store_line(space, target, line)
    elif n_chunks == 2:
        line = _plus_times_row(two_eights(space, base), space, source, rows, factor)
        store_line(space, target, line)
    elif n_chunks == 3:
        line = _plus_times_row(three_eights(space, base), space, source, rows, factor)
        store_line(space, target, line)


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


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _capped(i, votes, node, missing):
    """How many terms the row of a missing class has, and how often the last one counts."""
    top, y = missing[i, 1], node if node >= 0.0 else float(missing[i, 2])
    if votes > 0:
        top = min(votes, top)
    return top + 1, y if votes > 0 and top == votes else 1.0


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _times_missing(line, votes, node, missing, n_missing, rows, step):
    """The line times the classes that are missing in it."""
    for i in range(n_missing):
        n_terms, last = _capped(i, votes, node, missing)
        line = times_row(line, rows, missing[i, 0], step, n_terms, last)
    return line


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _both(first, second, lane, missing, numbers, rows, step):
    """Two lines, each times the classes that are missing in it, added up."""
    votes, node, _ = lane
    first = _times_missing(first, votes, node, missing[0], numbers[0], rows, step)
    second = _times_missing(second, votes, node, missing[1], numbers[1], rows, step)
    return plus_scaled(first, second, eight_times(1.0))


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _multiply_wide(space, places, spare, lane, missing, n_missing, rows, step):
    """space[target:] = space[base:] + space[source:] times the missing classes, for long lines."""
    target, source, base = places
    votes, node, n_chunks = lane
    zeros, stride = spare
    for i in range(n_missing):
        n_terms, last = _capped(i, votes, node, missing)
        is_last = i == n_missing - 1
        product = target if is_last else zeros + (1 + i % 2) * stride
        factor = (missing[i, 0], step, n_terms, last)
        _times_wide(space, (product, source, base if is_last else zeros), n_chunks, rows, factor)
        source = product
    if n_missing == 0:
        for x in range(0, n_chunks * CHUNK, CHUNK):
            total = plus(load_at(space, base + x), load_at(space, source + x))
            store_at(space, target + x, total)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def multiply_missing(space, places, spare, lane, missing, numbers, rows, step):
    """space[target:] = two lines, each times the classes that are missing in it, added up.

    The `places` are target, first and second, `spare` is where spare lines begin, and how far they
    are apart. The `lane` has own votes (0: no caps), what a tie is worth (-1: nothing if the own
    class comes later) and the number of chunks; so many `numbers` of classes are missing.
    """
    target, a, b = places
    if lane[2] == 1:
        first, second = one_eight(space, a), one_eight(space, b)
        store_line(space, target, _both(first, second, lane, missing, numbers, rows, step))
    elif lane[2] == 2:
        first, second = two_eights(space, a), two_eights(space, b)
        store_line(space, target, _both(first, second, lane, missing, numbers, rows, step))
    elif lane[2] == 3:
        first, second = three_eights(space, a), three_eights(space, b)
        store_line(space, target, _both(first, second, lane, missing, numbers, rows, step))
    else:
        base = a
        if numbers[0] > 0:
            base = spare[0] + 3 * spare[1]
            part = (base, a, spare[0])
            _multiply_wide(space, part, spare, lane, missing[0], numbers[0], rows, step)
        part = (target, b, base)
        _multiply_wide(space, part, spare, lane, missing[1], numbers[1], rows, step)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def lane_of(line, spans):
    """What `multiply_missing` needs to know of a line."""
    lanes = spans.lanes
    return lanes.votes[line], lanes.nodes[line], chunks_of(line, spans)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def spare_lines(spans):
    """Where spare lines begin (the first is one of zeros), and how far they are apart."""
    return spare_at(0, spans), 2 * spans.width


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
    numbers, step = _join_members(a, b, side, draws, spans), draws.drawn.shape[1]
    degree = max(_degree(a, 0, numbers[0], spans), _degree(b, 1, numbers[1], spans))
    space, spare = spans.space, spare_lines(spans)
    for line in range(spans.live[b]):
        place, other = line_at(a, line, spans), line_at(b, line, spans)
        votes, node, n_chunks = lane_of(line, spans)
        # What lies above the degree is zero since the line was a leaf's.
        n_chunks = min(n_chunks, (degree + (v_high if line == 0 else 0)) // CHUNK + 1)
        if line < spans.live[a]:
            places, both = (place, place, other), numbers
        else:
            n_chunks = chunks_of(line, spans)
            places, both = (place, spare[0], other), (np.int64(0), numbers[1])
        lane = (votes, node, n_chunks)
        multiply_missing(space, places, spare, lane, spans.missing, both, rows, step)
    spans.live[a], spans.degrees[a] = spans.live[b], degree
    spans.heights[a] += 1


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _copy_rows(d, n, side, draws, rows, spans):
    """The row of a class, and the same if its next item is drawn, into spare lines.

    Returns the most votes that are in it.
    """
    step, width, t = draws.drawn.shape[1], spans.width, draws.table_of[side.kind, d]
    row, next_row, space = spare_at(4, spans), spare_at(5, spans), spans.space
    first, most = row_of(d, n, side, draws, len(spans.run) - 1)
    scale = 1.0 / max(draws.pools[t] - n, 1)
    for b in range(0, width, CHUNK):
        store_at(space, row + b, eight_times(0.0))
        store_at(space, next_row + b, eight_times(0.0))
    if step == 1:
        remaining, scales = t * draws.remaining.shape[1], eight_times(scale)
        for b in range(0, most + 1, CHUNK):
            is_short()
            chances = cut_at(load_at(rows, first + b), most - b, eight_times(1.0))
            store_at(space, row + b, chances)
            ends = times(times(chances, load_at(draws.remaining, remaining + b)), scales)
            store_at(space, next_row + b, ends)
        return most
    for b in range(most + 1):
        chance = rows[first + b * step]
        space[row + b] = chance
        space[next_row + b] = chance * draws.remaining[t, b * step + side.component] * scale
    return most


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _own_times(line, next_line, v_low, n_terms, own_row, rows, step, run):
    """The line times the votes of a run, and the next one times those of the own class."""
    total = times_row(line, run, v_low, 1, n_terms, 1.0)
    if own_row >= 0:
        votes = times_row(next_line, rows, own_row + v_low * step, step, n_terms, 1.0)
        total = plus_scaled(total, votes, eight_times(1.0))
    return total


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _set_own(space, places, n_chunks, own, rows, step, run):
    """Line 0 of a leaf: own votes from v_low on, and any of the item's class.

    The `places` are the target, the rows of the item's class and of its next item, and zeros; `own`
    are v_low, the number of terms, and where the row of the own class begins.
    """
    target, row, next_row, zeros = places
    v_low, n_terms, own_row = own
    if n_terms <= 0:
        for x in range(0, n_chunks * CHUNK, CHUNK):
            store_at(space, target + x, eight_times(0.0))
    elif n_chunks == 1:
        line, next_line = one_eight(space, row), one_eight(space, next_row)
        store_line(space, target, _own_times(line, next_line, *own, rows, step, run))
    elif n_chunks == 2:
        line, next_line = two_eights(space, row), two_eights(space, next_row)
        store_line(space, target, _own_times(line, next_line, *own, rows, step, run))
    elif n_chunks == 3:
        line, next_line = three_eights(space, row), three_eights(space, next_row)
        store_line(space, target, _own_times(line, next_line, *own, rows, step, run))
    else:
        _times_wide(space, (target, row, zeros), n_chunks, run, (v_low, 1, n_terms, 1.0))
        if own_row >= 0:
            factor = (own_row + v_low * step, step, n_terms, 1.0)
            _times_wide(space, (target, next_row, target), n_chunks, rows, factor)


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
    space, lanes, run = spans.space, spans.lanes, spans.run
    row, next_row, step = spare_at(4, spans), spare_at(5, spans), draws.drawn.shape[1]
    most = _copy_rows(d, n, side, draws, rows, spans)
    target, n_terms = line_at(node, 0, spans), v_high - v_low + 1
    places = (target, row - v_low, next_row - v_low, spare_at(0, spans))
    _set_own(space, places, chunks_of(0, spans), (v_low, n_terms, own_row), rows, step, run)
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
            is_short()
            numbers = eight_times(0.0)
            if power <= min(v, most):
                left = times(eight_times(scales[0]), load_at(space, row + power))
                right = plus_times(left, eight_times(scales[1]), load_at(space, next_row + power))
                numbers = cut_at(right, v - power, eight_times(y))
            store_at(space, target + power, numbers)
    spans.sizes[node], spans.heights[node], spans.live[node] = 1, 0, n_live
    spans.degrees[node] = most
    spans.members[node, 0], spans.before[node, 0] = d, n
    spans.after[node, 0] = n + (own_row >= 0)
