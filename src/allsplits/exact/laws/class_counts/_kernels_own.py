"""Compiled votes of a row's own class for a fixed number of items from each class, without ties.

The vote of k is over when the (k+1)-th training item comes. Up to `LEAVES` items of rivals, and the
items of the own class before each of them, are summed up in spans (`_kernels_spans`), which are
multiplied by the other rivals at the end. What is added up are losses: all votes less those that
are won, for numbers of own votes that may be too few. Before each of these blocks of ranks

- votes of up to k are left out if more training items have come for sure;
- own votes v are left out if the own class has more for sure, or if v and more are enough for sure:
  the vote of k ends once, so the chance that this is wrong is one for the block, not for each rank.

At each rank own votes are left out that no rival has the items to beat.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels_eight import LANES
from allsplits.exact.kernel_types import aligned_space
from allsplits.exact.laws.class_counts._kernels_capped import (
    BEFORE,
    LINE,
    finish_lanes,
    new_lanes,
)
from allsplits.exact.laws.class_counts._kernels_members import (
    MOST,
    add_member,
    forget_members,
    new_members,
)
from allsplits.exact.laws.class_counts._kernels_rows import is_pure, set_certain
from allsplits.exact.laws.class_counts._kernels_spans import (
    CHUNK,
    NOBODY,
    SPARE,
    Side,
    Spans,
    capped_at,
    complete_group,
    join,
    line_at,
    multiply_missing,
    note_missing,
    row_of,
    set_leaf,
    spare_at,
    spare_lines,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Items of rivals that are joined before the other classes are multiplied in.
LEAVES = MOST


class OwnWork(NamedTuple):
    """Scratch of one thread.

    Attributes
    ----------
    spans : Spans
    counts, met : array of shape (classes,)
        Items of each class before a rank, and at the end of a block of ranks.
    present : array of shape (classes,)
        Rivals as they come; the first are filled.
    tails, own_tails, sums : array of shape (votes,)
        How likely some rival, or the own class, has so many votes; what is added up for each k.
    by_wins : bool
        Whether wins are added up: small chances are precise then.
    """

    spans: Spans
    counts: Integers
    met: Integers
    present: Integers
    tails: Floats
    own_tails: Floats
    sums: Floats
    by_wins: bool


class Front(NamedTuple):
    """Where a walk is: the position, own items before it, how many rivals, and their last."""

    position: int
    n_own: int
    n_rivals: int
    last: int


class Window(NamedTuple):
    """Own votes of lines of all votes, from and to, those of the lanes, and the smallest k."""

    low: int
    high: int
    first: int
    last: int
    k_low: int


def own_work(n_classes: int, k_most: int, share: bool, by_wins: bool) -> OwnWork:
    """Space for votes of up to k_most voters."""
    width, size = -(-(k_most + 1) // CHUNK) * CHUNK, k_most + 1
    n_lanes = k_most // 2
    if share:
        n_lanes = sum(((k_most - v) // v) // 2 + 1 for v in range(1, k_most // 2 + 1))
    n_spans, lanes = LEAVES.bit_length() + 1, new_lanes(n_lanes, k_most // 2)
    n_groups = len(lanes.tops)
    space = aligned_space(2 * (n_spans + SPARE) * width + CHUNK)
    capped = aligned_space(n_spans * n_groups * (max(size, LINE) + BEFORE) * LANES)
    space[:], capped[:] = 0.0, 0.0
    heights, degrees, live, sets, ones, others = np.zeros((6, n_spans), np.int64)
    reach, before = np.zeros((n_spans, n_groups), np.int64), np.zeros((n_spans, MOST), np.int64)
    spans = Spans(
        space, width, capped, heights, degrees, live, reach, sets, ones, others, before,
        new_members(n_classes), lanes, np.zeros(size),
    )  # fmt: skip
    counts, met, present = (np.zeros(n_classes, np.int64) for _ in range(3))
    tails, own_tails, sums = (np.zeros(size) for _ in range(3))
    return OwnWork(spans, counts, met, present, tails, own_tails, sums, by_wins)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _own_row(n, side, draws):
    """Where the row of the own class with n items begins."""
    t = draws.own_table_of[side.kind, side.own]
    return (draws.starts[t] + n) * draws.lines.shape[1] + side.component


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _multiply_rivals(n_rivals, side, draws, rows, work):
    """The chances of each number of votes of all rivals, in a spare line; returns where."""
    spans, source, target = work.spans, spare_at(4, work.spans), spare_at(5, work.spans)
    missing = spans.members.missing
    for b in range(spans.width):
        spans.space[source + b] = 0.0
    spans.space[source] = 1.0
    n_missing = NOBODY
    for i in range(n_rivals):
        d = work.present[i]
        n_missing = note_missing(n_missing, d, work.counts[d], side, draws, spans)
    # The first line is one of zeros.
    spare, step, numbers = spare_lines(spans), draws.drawn.shape[1], (NOBODY, n_missing)
    places, n_chunks = (target, spare[0], source), spans.width // CHUNK
    multiply_missing(spans.space, places, spare, n_chunks, missing, numbers, rows, step)
    return target


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _add_tail(row, step, most, k_most, out):
    """out[v] += P(v votes or more), for a row in which they end with `most`, or are cut."""
    total = 0.0
    if most > k_most:
        total = 1.0 + 1e-13
        for b in range(k_most + 1):
            total -= row[b * step]
    for b in range(min(most, k_most), 0, -1):
        total += row[b * step]
        out[b] += total


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _highest_votes(n_own, n_rivals, allowed, side, draws, rows, work):
    """The most own votes at the end of a block with which a loss is likelier than `allowed`."""
    step, p, k_most = draws.drawn.shape[1], side.component, len(work.sums) - 1
    tails, own_tails = work.tails, work.own_tails
    for v in range(k_most + 1):
        tails[v], own_tails[v] = 0.0, 0.0
    for i in range(n_rivals):
        d = work.present[i]
        first, _ = row_of(d, work.met[d], side, draws, k_most)
        most = min(work.met[d], draws.drawn[draws.table_of[side.kind, d], p])
        _add_tail(rows[first:], step, most, k_most, tails)
    own_table = draws.own_table_of[side.kind, side.own]
    most = min(n_own, draws.drawn[own_table, p])
    _add_tail(rows[_own_row(n_own, side, draws) :], step, most, k_most, own_tails)
    highest = min(most, k_most // 2)
    while highest > 0 and tails[highest] * own_tails[highest] <= allowed:
        highest -= 1
    return highest


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _find_window(front, end, k_low, side, vote, draws, rows, work):
    """What the block from `front` to `end` must look at."""
    step, k_most, by_wins = draws.drawn.shape[1], vote.k_most, work.by_wins
    rivals = _multiply_rivals(front.n_rivals, side, draws, rows, work)
    at_most, own_row = work.spans.space, _own_row(front.n_own, side, draws)
    for b in range(1, k_most + 1):
        at_most[rivals + b] += at_most[rivals + b - 1]
    while k_low <= k_most:
        left = 0.0
        for v in range(k_low + 1):
            left += rows[own_row + v * step] * at_most[rivals + k_low - v]
        if left > vote.tol:
            break
        k_low += 1
    own_table = draws.own_table_of[side.kind, side.own]
    most = min(end.n_own, draws.drawn[own_table, side.component], k_most)
    if by_wins:
        return Window(k_most // 2 + 1, most, 1, min(most, k_most // 2), k_low)
    allowed = 0.5 * vote.tol * (end.position - front.position) / vote.depth
    high = _highest_votes(end.n_own, end.n_rivals, allowed, side, draws, rows, work)
    low, left = 0, 0.0
    while low <= high:
        left += rows[own_row + low * step] * at_most[rivals + k_most - low]
        if left > allowed:
            break
        low += 1
    return Window(low, high, max(low, 1), high, k_low)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _set_lanes(window, n_rivals, side, vote, draws, work):
    """A lane for each number of own votes, and node of shared ties; returns how many groups."""
    lanes, n_lanes = work.spans.lanes, np.int64(0)
    for v in range(window.first, window.last + 1):
        order = np.int64(1)
        if vote.rule.share:
            n_able = 0
            for i in range(n_rivals):
                d = work.present[i]
                drawn = draws.drawn[draws.table_of[side.kind, d], side.component]
                n_able += min(work.met[d], drawn) >= v
            order = min(n_able, (vote.k_most - v) // v) // 2 + 1
        for q in range(order):
            lanes.votes[n_lanes], lanes.weights[n_lanes] = v, 1.0
            if vote.rule.share:
                lanes.nodes[n_lanes] = vote.quadrature.nodes[order, q]
                lanes.weights[n_lanes] = vote.quadrature.weights[order, q]
            n_lanes += 1
    return finish_lanes(n_lanes, vote.rule.share, lanes)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _look_ahead(labels, front, most, own, work):
    """The front after the next items of rivals, so many at most, or at the end of the labels."""
    position, n_own, n_rivals, last = front
    n_leaves = 0
    while position < len(labels) and n_leaves < most:
        d = np.int64(labels[position])
        if d == own:
            n_own += 1
        else:
            if work.met[d] == 0:
                work.present[n_rivals] = d
                n_rivals += 1
            work.met[d] += 1
            last = d
            n_leaves += 1
        position += 1
    return Front(position, n_own, n_rivals, last)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _pass_items(n_rivals, work):
    """All items that were met are before the next rank."""
    for i in range(n_rivals):
        work.counts[work.present[i]] = work.met[work.present[i]]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _run_on(row, n_own, votes, side, draws, rows, run):
    """One more item of the own class: with how many votes before it the vote may end there."""
    step, t = draws.drawn.shape[1], draws.own_table_of[side.kind, side.own]
    scale = 1.0 / (draws.pools[t] - n_own)
    for v in range(min(votes, n_own) + 1):
        place = v * step
        run[v] += rows[row + place] * draws.remaining[t, place + side.component] * scale


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _add_block(n_rivals, k_low, side, draws, rows, work):
    """Multiply the only span by the rivals that are missing, and add it up."""
    spans, sums, n_missing = work.spans, work.sums, NOBODY
    missing = spans.members.missing
    spare, step = spare_lines(spans), draws.drawn.shape[1]
    for i in range(n_rivals):
        d = work.present[i]
        if spans.members.numbers[d] == 0:
            n_missing = note_missing(n_missing, d, work.counts[d], side, draws, spans)
    forget_members(spans.members)
    numbers, target = (NOBODY, n_missing), spare_at(4, spans)
    places, n_chunks = (target, spare[0], line_at(0, spans)), spans.width // CHUNK
    multiply_missing(spans.space, places, spare, n_chunks, missing, numbers, rows, step)
    for k in range(k_low, len(sums)):
        sums[k] += spans.space[target + k]
    sign = 1.0 if work.by_wins else -1.0
    for g in range(spans.live[0]):
        complete_group(0, g, 1, n_missing, rows, step, spans)
        start, degree = capped_at(0, g, spans), spans.reach[0, g]
        for lane in range(LANES):
            v = spans.lanes.votes[g * LANES + lane]
            weight, place = sign * spans.lanes.weights[g * LANES + lane], start * LANES + lane
            for k in range(max(k_low, v), min(len(sums), v + degree + 1) if v > 0 else 0):
                sums[k] += weight * spans.capped[place + (k - v) * LANES]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _beaten_by(d, side, vote, work):
    """The most own votes that a rival beats with the items it has."""
    return work.counts[d] - (d > side.own and not vote.rule.share)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _most_beaten(n_rivals, side, vote, work):
    """The most own votes that some rival beats."""
    most = np.int64(0)
    for i in range(n_rivals):
        most = max(most, _beaten_by(work.present[i], side, vote, work))
    return most


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _add_member(d, side, draws, work):
    """A rival is in the block."""
    first, _ = row_of(d, np.int64(0), side, draws, np.int64(0))
    drawn = min(draws.drawn[draws.table_of[side.kind, d], side.component], len(work.sums) - 1)
    add_member(d, work.counts[d], first, drawn, side.own, work.spans.members)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _score_block(labels, front, end, window, side, vote, tables, work):
    """Add up the votes that end from `front` to `end`; moves the counts past them."""
    draws, rows = tables
    spans, n_own, n_spans, position = work.spans, front.n_own, np.int64(0), front.position
    for x in range(position, end.position):
        if labels[x] != side.own:
            _add_member(np.int64(labels[x]), side, draws, work)
    # At the end of the row a run of the own class may be left; any rival is good for it.
    _add_member(end.last, side, draws, work)
    n_groups = _set_lanes(window, end.n_rivals, side, vote, draws, work)
    votes = max(window.high, window.last)
    # Where losses are added up, votes that nobody beats yet are left out, of all as of those won.
    beaten = votes if work.by_wins else _most_beaten(front.n_rivals, side, vote, work)
    while position < end.position:
        own_row = np.int64(-1)
        while position < end.position and own_row < 0:
            own_row = _own_row(n_own, side, draws)
            if labels[position] == side.own:
                _run_on(own_row, n_own, votes, side, draws, rows, spans.run)
                own_row, n_own = np.int64(-1), n_own + 1
            position += 1
        d = end.last if own_row < 0 else np.int64(labels[position - 1])
        item, reach = (d, work.counts[d], n_own, own_row), (window.low, min(window.high, beaten))
        set_leaf(n_spans, item, reach, (beaten, n_groups), side, draws, rows, spans)
        n_spans, work.counts[d] = n_spans + 1, work.counts[d] + (own_row >= 0)
        beaten = max(beaten, _beaten_by(d, side, vote, work))
        for v in range(votes + 1):
            spans.run[v] = 0.0
        # Spans that were joined as often are joined, at the end all of them.
        while n_spans > 1 and (
            position == end.position or spans.heights[n_spans - 2] == spans.heights[n_spans - 1]
        ):
            join(n_spans - 2, n_spans - 1, window.high, side, draws, rows, spans)
            n_spans -= 1
    # Rivals that come first in this block are in it.
    _add_block(front.n_rivals, window.k_low, side, draws, rows, work)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _score_row(labels, side, vote, tables, work, out):
    """out[column]: P(right) of a row in which there is a rival."""
    zero, k_low = np.int64(0), vote.k_least
    for k in range(len(work.sums)):
        work.sums[k], work.spans.run[k] = 0.0, 0.0
    # No vote of k ends before k voters have come.
    before = labels[: vote.k_least]
    front = _look_ahead(before, Front(zero, zero, zero, zero), len(before), side.own, work)
    _pass_items(front.n_rivals, work)
    while front.position < len(labels) and k_low <= vote.k_most:
        end = _look_ahead(labels, front, LEAVES, side.own, work)
        window = _find_window(front, end, k_low, side, vote, tables[0], tables[1], work)
        k_low = window.k_low
        is_open = end.n_rivals > 0 and (window.low <= window.high or window.first <= window.last)
        if is_open and k_low <= vote.k_most:
            _score_block(labels, front, end, window, side, vote, tables, work)
        else:
            _pass_items(end.n_rivals, work)
        front = end
    for i in range(front.n_rivals):
        work.counts[work.present[i]], work.met[work.present[i]] = 0, 0
    for c in range(len(out)):
        value = work.sums[vote.ks[c]]
        out[c] = value if work.by_wins else 1.0 - value


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def score_own(rows, start, stop, draws, lines, vote, work, out):
    """out[i, component]: P(right) for each k. `lines` are those of `draws`, in one dimension.

    At most `tol` is left out on the way, and a row stops when at most `tol` is left.
    """
    n_components, rule = out.shape[1], vote.rule
    for i in range(start, stop):
        first, own = rows.indptr[i], np.int64(rows.own[i])
        labels, tied = (
            rows.labels[first : rows.indptr[i + 1]],
            rows.tied[first : rows.indptr[i + 1]],
        )
        if is_pure(labels, tied, own, vote.depth, rule.average):
            set_certain(own, np.bool_(False), out[i])
            continue
        labels = labels[: vote.depth]
        for component in range(n_components):
            side = Side(own, np.int64(draws.kinds[i]), component)
            _score_row(labels, side, vote, (draws, lines), work, out[i, component])
