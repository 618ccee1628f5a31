"""Compiled sums over spans of ranks: products of the classes with items there, joined in pairs.

Let an item of a rival come at each rank x of a span, and let `own` be the row's class. With own
votes v the vote ends at x, and nobody beats v votes, with the chance

    o_v(x) · Π_d F_d(z),

where F_d holds the chances of up to v votes of the rival d before x (`_kernels_capped`), and the
row of the item's class is that of the next one drawn. From one rank to the next a single class
changes. So a span keeps a sum of products of the classes that have items in it, its members, and no
others: of two spans side by side each is multiplied by the members that only the other has, which
do not change there, and then they are added up. A rank takes about log2(C) products of C classes in
this way, instead of C.

A span has groups of lanes, one for each number of own votes (and node y of shared ties), and a line
in which no class is capped: of all votes, with the powers of the own ones. Items of the own class
between two rivals change none of the products: what they give is kept in `run`, and counts at the
next rival.
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
from allsplits.exact.laws.class_counts._kernels_capped import (
    BEFORE,
    LINE,
    Lanes,
    copy_group,
    join_groups,
    set_group,
    times_missing,
)
from allsplits.exact.laws.class_counts._kernels_members import (
    MOST,
    Members,
    note_bits,
    note_class,
    pass_item,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Lines besides those of spans: zeros, three for products, the row of a class and its next one's.
SPARE = 6
#: Numbers that are multiplied side by side.
CHUNK = LANES
#: How many classes are missing: those of one vote, and others.
NOBODY = (np.int64(0), np.int64(0))


class Spans(NamedTuple):
    """A stack of spans.

    Attributes
    ----------
    space : array
        Lines of all votes of all spans, and spare ones; zeros before each.
    width : int
        Length of a line; as many zeros are before it.
    capped : array
        Polynomials of all groups of all spans, coefficient by coefficient; zeros before each.
    heights, degrees : array of shape (spans,)
        How often a span was joined, and how many votes its members can have.
    live : array of shape (spans,)
        How many groups are not zero: the own class has no more votes than items, and no rival beats
        more than it has.
    reach : array of shape (spans, groups)
        The degrees of capped polynomials.
    sets, ones, others : array of shape (spans,)
        The members that have items in it; those that can have one vote before it, or more.
    before : array of shape (spans, members)
        How many items of each member are before it.
    members : Members
    lanes : Lanes
    run : array of shape (votes,)
        The chances that the vote ends with an item of the own class, since the last rival.
    """

    space: Floats
    width: int
    capped: Floats
    heights: Integers
    degrees: Integers
    live: Integers
    reach: Integers
    sets: Integers
    ones: Integers
    others: Integers
    before: Integers
    members: Members
    lanes: Lanes
    run: Floats


class Side(NamedTuple):
    """A row as one component sees it: its class, and its kind."""

    own: int
    kind: int
    component: int


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def line_at(number, spans):
    """Where the line of all votes of a span begins."""
    return (2 * number + 1) * spans.width


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def spare_at(number, spans):
    """Where a spare line begins."""
    return line_at(len(spans.sets) + number, spans)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def capped_at(node, group, spans):
    """Which eight the polynomials of a group of a span begin with."""
    n_groups = spans.reach.shape[1]
    return (node * n_groups + group) * (max(len(spans.run), LINE) + BEFORE) + BEFORE


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def limit_of(group, spans):
    """The most votes of rivals that matter in a group: no more than the own class leaves."""
    return len(spans.run) - 1 - spans.lanes.votes[group * LANES]


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
def note_missing(numbers, d, n, side, draws, spans):
    """The class d, with n items, is missing in the second span; returns how many are noted.

    A class that cannot have a vote changes nothing.
    """
    first, most = row_of(d, n, side, draws, len(spans.run) - 1)
    return note_class(numbers, d, first, most, side.own, spans.members)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _times_missing(line, missing, numbers, rows, step):
    """The line times the classes that are missing in it."""
    for i in range(numbers[0]):
        is_short()
        line = times_row(line, rows, missing[0, i, 0], step, np.int64(2), 1.0)
    for i in range(numbers[1]):
        is_short()
        line = times_row(line, rows, missing[1, i, 0], step, missing[1, i, 1] + 1, 1.0)
    return line


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _both(first, second, missing, numbers, rows, step):
    """Two lines, each times the classes that are missing in it, added up."""
    first = _times_missing(first, missing[0], numbers[0], rows, step)
    second = _times_missing(second, missing[1], numbers[1], rows, step)
    return plus_scaled(first, second, eight_times(1.0))


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _multiply_wide(space, places, spare, n_chunks, missing, numbers, rows, step):
    """space[target:] = space[base:] + space[source:] times the missing classes, for long lines."""
    target, source, base = places
    zeros, stride = spare
    n_missing = numbers[0] + numbers[1]
    for i in range(n_missing):
        is_last = i == n_missing - 1
        product = target if is_last else zeros + (1 + i % 2) * stride
        kind, number = (0, i) if i < numbers[0] else (1, i - numbers[0])
        factor = (missing[kind, number, 0], step, missing[kind, number, 1] + 1, 1.0)
        _times_wide(space, (product, source, base if is_last else zeros), n_chunks, rows, factor)
        source = product
    if n_missing == 0:
        for x in range(0, n_chunks * CHUNK, CHUNK):
            total = plus(load_at(space, base + x), load_at(space, source + x))
            store_at(space, target + x, total)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def multiply_missing(space, places, spare, n_chunks, missing, numbers, rows, step):
    """space[target:] = two lines, each times the classes that are missing in it, added up.

    The `places` are target, first and second, `spare` is where spare lines begin, and how far they
    are apart; so many `numbers` of classes are missing.
    """
    target, a, b = places
    if n_chunks == 1:
        first, second = one_eight(space, a), one_eight(space, b)
        store_line(space, target, _both(first, second, missing, numbers, rows, step))
    elif n_chunks == 2:
        first, second = two_eights(space, a), two_eights(space, b)
        store_line(space, target, _both(first, second, missing, numbers, rows, step))
    elif n_chunks == 3:
        first, second = three_eights(space, a), three_eights(space, b)
        store_line(space, target, _both(first, second, missing, numbers, rows, step))
    else:
        base = a
        if numbers[0][0] + numbers[0][1] > 0:
            base = spare[0] + 3 * spare[1]
            part = (base, a, spare[0])
            _multiply_wide(space, part, spare, n_chunks, missing[0], numbers[0], rows, step)
        part = (target, b, base)
        _multiply_wide(space, part, spare, n_chunks, missing[1], numbers[1], rows, step)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def spare_lines(spans):
    """Where spare lines begin (the first is one of zeros), and how far they are apart."""
    return spare_at(0, spans), 2 * spans.width


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _join_members(a, b, stride, spans):
    """The members of span b become members of a; returns how many were missing in a, and in b.

    What is missing in one of them has no items there, and as many before as between them.
    """
    here, there, before = spans.sets[a], spans.sets[b], spans.before[b]
    ones, others = spans.ones[b], spans.others[b]
    missing, elsewhere = there & ~here, here & ~there
    spans.sets[a] = here | there
    return (
        (
            note_bits(0, 0, missing & ones, before, stride, spans.members),
            note_bits(0, 1, missing & others, before, stride, spans.members),
        ),
        (
            note_bits(1, 0, elsewhere & ones, before, stride, spans.members),
            note_bits(1, 1, elsewhere & others, before, stride, spans.members),
        ),
    )


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _degree(degree, which, most, numbers, spans):
    """How many votes classes can have in all, with those that are missing; each up to `most`."""
    degree += numbers[0]
    for i in range(numbers[1]):
        degree += min(spans.members.missing[which, 1, i, 1], most)
    return degree


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def complete_group(node, group, which, numbers, rows, step, spans):
    """Multiply the polynomials of a group by the classes that are missing in the span."""
    start, limit, degree = (
        capped_at(node, group, spans), limit_of(group, spans), spans.reach[node, group]
    )  # fmt: skip
    new_degree = _degree(degree, which, spans.lanes.tops[group], numbers, spans)
    spans.reach[node, group] = times_missing(
        spans.capped, start, (degree, new_degree, limit), group, spans.members.missing[which],
        numbers, rows, step, spans.lanes,
    )  # fmt: skip


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _join_group(a, b, group, numbers, rows, step, spans):
    """A group of span a takes up that of b."""
    starts = (capped_at(a, group, spans), capped_at(b, group, spans))
    degrees, top = (spans.reach[a, group], spans.reach[b, group]), spans.lanes.tops[group]
    new_degrees = (
        _degree(degrees[0], 0, top, numbers[0], spans),
        _degree(degrees[1], 1, top, numbers[1], spans),
    )
    spans.reach[a, group] = join_groups(
        spans.capped, starts, degrees, new_degrees, limit_of(group, spans), group,
        spans.members.missing, numbers, rows, step, spans.lanes,
    )  # fmt: skip


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def join(a, b, v_high, side, draws, rows, spans):
    """Span a takes up span b, which follows it; lines of all votes have up to v_high own ones."""
    numbers, step = _join_members(a, b, draws.lines.shape[1], spans), draws.drawn.shape[1]
    most = np.int64(len(spans.run))
    degree = max(
        _degree(spans.degrees[a], 0, most, numbers[0], spans),
        _degree(spans.degrees[b], 1, most, numbers[1], spans),
    )
    places = (line_at(a, spans), line_at(a, spans), line_at(b, spans))
    # What lies above the degree is zero since the line was a leaf's.
    n_chunks = min(spans.width, degree + v_high + CHUNK) // CHUNK
    spare, missing = spare_lines(spans), spans.members.missing
    multiply_missing(spans.space, places, spare, n_chunks, missing, numbers, rows, step)
    for g in range(min(spans.live[a], spans.live[b])):
        _join_group(a, b, g, numbers, rows, step, spans)
    for g in range(spans.live[a], spans.live[b]):
        complete_group(b, g, 1, numbers[1], rows, step, spans)
        spans.reach[a, g] = spans.reach[b, g]
        target, source = capped_at(a, g, spans), capped_at(b, g, spans)
        copy_group(spans.capped, target, source, spans.reach[a, g])
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
def set_leaf(node, item, reach, groups, side, draws, rows, spans):
    """A span of one item: its class, its number, own items, and where the row of these begins.

    The last is -1 where no item comes, but a run ends. `reach` are the own votes of all votes, from
    and to; of those of lanes: how many may be beaten, and how many groups they are.
    """
    d, n, n_own, own_row = item
    v_low, v_high = reach
    beaten, n_groups = groups
    space, run = spans.space, spans.run
    row, next_row, step = spare_at(4, spans), spare_at(5, spans), draws.drawn.shape[1]
    most = _copy_rows(d, n, side, draws, rows, spans)
    target, n_terms = line_at(node, spans), v_high - v_low + 1
    places = (target, row - v_low, next_row - v_low, spare_at(0, spans))
    _set_own(space, places, spans.width // CHUNK, (v_low, n_terms, own_row), rows, step, run)
    n_live, terms = np.int64(0), (space, row, next_row, most, np.int64(d > side.own))
    while n_live < n_groups and spans.lanes.votes[n_live * LANES] <= min(n_own, beaten):
        start, own = capped_at(node, n_live, spans), (run, own_row)
        spans.reach[node, n_live] = set_group(
            spans.capped, start, n_live, min(n_own, beaten), terms, own, rows, step, spans.lanes
        )
        n_live += 1
    members, c = spans.members, spans.members.numbers[d] - 1
    spans.sets[node], spans.heights[node], spans.live[node] = np.int64(1) << c, 0, n_live
    spans.degrees[node] = most
    spans.ones[node], spans.others[node] = members.state[1], members.state[2]
    for i in range(0, members.state[0], LANES):
        is_short()
        store_at(spans.before, node * MOST + i, load_at(members.counts, i))
    if own_row >= 0:
        pass_item(c, members)
