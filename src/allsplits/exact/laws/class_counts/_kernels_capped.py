"""Compiled products of capped polynomials, for eight numbers of own votes side by side.

Nobody beats v own votes as long as each rival d has at most v of them, or fewer where it wins ties:

    F_d(z) = Σ_{b < v} H_d(b) z^b + y H_d(v) z^v,

with y what a tie is worth. Each v (and node y, where ties are shared) is a lane, and eight lanes
are a *group*: coefficient m of all of them is one vector. So every lane takes the same steps, and a
class with few items is a polynomial of few terms, whatever v is.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels_eight import (
    LANES,
    eight_times,
    is_short,
    load,
    plus,
    plus_times,
    spread_from,
    store,
    times,
)
from allsplits.exact._kernels_lines import (
    eight_eights,
    four_eights,
    moved_eight,
    plus_scaled,
    scaled,
    sixteen_eights,
    store_line,
)
from allsplits.exact.kernel_types import aligned_space

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Zeros before each polynomial, so that terms of no power below 0 need a case of their own.
BEFORE = 3
#: Coefficients of the longest polynomials that are multiplied in registers; all of them are set.
LINE = 16


class Lanes(NamedTuple):
    """What lanes are about, the fewest own votes first; lanes that are not used have none.

    Attributes
    ----------
    votes : array of shape (groups · LANES,)
        Own votes v.
    nodes, weights : array of shape (groups · LANES,)
        What a tie is worth if ties are shared, and the weight of that.
    tops : array of shape (groups,)
        The most votes of a rival that count in some lane of the group.
    worth : array
        How often b votes of a rival count: eights in the order rivals that win ties and others,
        groups, b.
    row, own, next_own : array
        Scratch: the row of a rival with its worth; what a leaf counts in each lane of a group.
    """

    votes: Integers
    nodes: Floats
    weights: Floats
    tops: Integers
    worth: Floats
    row: Floats
    own: Floats
    next_own: Floats


def new_lanes(n_lanes: int, most_votes: int) -> Lanes:
    """Lanes for up to so many own votes."""
    n_groups, n_rows = max(1, -(-n_lanes // LANES)), most_votes + 1
    size = n_groups * LANES
    return Lanes(
        np.zeros(size, np.int64), np.ones(size), np.ones(size), np.zeros(n_groups, np.int64),
        aligned_space(2 * n_groups * n_rows, LANES).reshape(-1),
        aligned_space(n_rows, LANES).reshape(-1), aligned_space(LANES), aligned_space(LANES),
    )  # fmt: skip


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def worth_of(after, group, lanes):
    """Where it begins how often votes of a rival count that comes `after` the own class, or not."""
    return (after * len(lanes.tops) + group) * (len(lanes.row) // LANES)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def finish_lanes(n_lanes, share, lanes):
    """What follows from votes and nodes of the first lanes; returns how many groups they are."""
    n_groups = (n_lanes + LANES - 1) // LANES
    for lane in range(n_lanes, n_groups * LANES):
        lanes.votes[lane], lanes.weights[lane] = 0, 0.0
    for g in range(n_groups):
        lanes.tops[g] = lanes.votes[min(n_lanes, (g + 1) * LANES) - 1]
        for after in range(2):
            place = worth_of(after, g, lanes) * LANES
            for lane in range(LANES):
                v, y = lanes.votes[g * LANES + lane], lanes.nodes[g * LANES + lane]
                if not share:
                    y = float(after)
                for b in range(lanes.tops[g] + 1):
                    counts = 1.0 if b < v else (y if b == v and v > 0 else 0.0)
                    lanes.worth[place + b * LANES + lane] = counts
    return n_groups


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _times_row(space, start, degree, new_degree, n_terms, row):
    """Multiply polynomials by a row, four coefficients at once: they share what they read."""
    for m in range(degree + 1, new_degree + 1):
        is_short()
        store(space, start + m, eight_times(0.0))
    m = new_degree
    while m >= BEFORE:
        first = max(0, m - BEFORE - degree)
        x = load(space, start + m - first)
        below, lower = load(space, start + m - first - 1), load(space, start + m - first - 2)
        a, b, c, d = eight_times(0.0), eight_times(0.0), eight_times(0.0), eight_times(0.0)
        for t in range(first, min(n_terms - 1, m) + 1):
            is_short()
            term, last = load(row, t), load(space, start + m - 3 - t)
            a, b = plus_times(a, term, x), plus_times(b, term, below)
            c, d = plus_times(c, term, lower), plus_times(d, term, last)
            x, below, lower = below, lower, last
        store(space, start + m, a)
        store(space, start + m - 1, b)
        store(space, start + m - 2, c)
        store(space, start + m - 3, d)
        m -= 4
    while m >= 0:
        is_short()
        a = eight_times(0.0)
        for t in range(max(0, m - degree), min(n_terms - 1, m) + 1):
            is_short()
            a = plus_times(a, load(row, t), load(space, start + m - t))
        store(space, start + m, a)
        m -= 1


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _times_in_place(space, start, degree, limit, group, missing, numbers, rows, step, lanes):
    """Multiply the polynomials of a group by the rivals that are missing, however long they are."""
    for i in range(numbers[0] + numbers[1]):
        kind, number = (0, i) if i < numbers[0] else (1, i - numbers[0])
        first, most, after = (missing[kind, number, 0], missing[kind, number, 1],
                              missing[kind, number, 2])  # fmt: skip
        top, worth = min(most, lanes.tops[group]), worth_of(after, group, lanes)
        for b in range(top + 1):
            is_short()
            term = times(load(lanes.worth, worth + b), spread_from(rows, first + b * step))
            store(lanes.row, b, term)
        new_degree = min(degree + top, limit)
        _times_row(space, start, degree, new_degree, top + 1, lanes.row)
        degree = new_degree
    return degree


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _times_missing(line, group, missing, numbers, rows, step, lanes):
    """The polynomials of a group, which are a line in registers, times the rivals missing there."""
    one_vote = load(lanes.worth, worth_of(0, group, lanes) + 1)
    one_vote_after = load(lanes.worth, worth_of(1, group, lanes) + 1)
    for i in range(numbers[0]):
        is_short()
        first = missing[0, i, 0]
        worth = one_vote_after if missing[0, i, 2] else one_vote
        term = times(worth, spread_from(rows, first + step))
        line = plus_scaled(scaled(line, spread_from(rows, first)), moved_eight(line), term)
    for i in range(numbers[1]):
        is_short()
        first, place = missing[1, i, 0], worth_of(missing[1, i, 2], group, lanes)
        moved, total = line, scaled(line, spread_from(rows, first))
        for b in range(1, min(missing[1, i, 1], lanes.tops[group]) + 1):
            is_short()
            moved = moved_eight(moved)
            term = times(load(lanes.worth, place + b), spread_from(rows, first + b * step))
            total = plus_scaled(total, moved, term)
        line = total
    return line


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _joined(first, second, group, missing, numbers, rows, step, lanes):
    """Two lines, each times the rivals that are missing in it, added up."""
    first = _times_missing(first, group, missing[0], numbers[0], rows, step, lanes)
    second = _times_missing(second, group, missing[1], numbers[1], rows, step, lanes)
    return plus_scaled(first, second, eight_times(1.0))


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def times_missing(space, start, degrees, group, missing, numbers, rows, step, lanes):
    """Multiply the polynomials of a group by the rivals that are missing; the new degree.

    The `degrees` are the one they have, the one they would get, and the most that counts.
    """
    degree, new_degree, limit = degrees
    new_degree = min(new_degree, limit)
    if new_degree < 4:
        line = four_eights(space, start * LANES)
        line = _times_missing(line, group, missing, numbers, rows, step, lanes)
        store_line(space, start * LANES, line)
    elif new_degree < 8:
        line = eight_eights(space, start * LANES)
        line = _times_missing(line, group, missing, numbers, rows, step, lanes)
        store_line(space, start * LANES, line)
    elif new_degree < LINE:
        line = sixteen_eights(space, start * LANES)
        line = _times_missing(line, group, missing, numbers, rows, step, lanes)
        store_line(space, start * LANES, line)
    else:
        _times_in_place(space, start, degree, limit, group, missing, numbers, rows, step, lanes)
    return new_degree


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def join_groups(space, starts, degrees, new_degrees, limit, group, missing, numbers, rows, step,
                lanes):  # fmt: skip
    """Multiply the polynomials of two spans by the rivals that are missing there, and add them up.

    They go where those of the first span were; returns their degree.
    """
    new_degree = min(max(new_degrees[0], new_degrees[1]), limit)
    a, b = starts[0] * LANES, starts[1] * LANES
    if new_degree < 4:
        first, second = four_eights(space, a), four_eights(space, b)
        line = _joined(first, second, group, missing, numbers, rows, step, lanes)
        store_line(space, a, line)
    elif new_degree < 8:
        first, second = eight_eights(space, a), eight_eights(space, b)
        line = _joined(first, second, group, missing, numbers, rows, step, lanes)
        store_line(space, a, line)
    elif new_degree < LINE:
        first, second = sixteen_eights(space, a), sixteen_eights(space, b)
        line = _joined(first, second, group, missing, numbers, rows, step, lanes)
        store_line(space, a, line)
    else:
        x = _times_in_place(
            space, starts[0], degrees[0], limit, group, missing[0], numbers[0], rows, step, lanes
        )
        y = _times_in_place(
            space, starts[1], degrees[1], limit, group, missing[1], numbers[1], rows, step, lanes
        )
        for m in range(min(x, y) + 1):
            is_short()
            total = plus(load(space, starts[0] + m), load(space, starts[1] + m))
            store(space, starts[0] + m, total)
        for m in range(x + 1, y + 1):
            is_short()
            store(space, starts[0] + m, load(space, starts[1] + m))
    return new_degree


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def copy_group(space, target, source, degree):
    """Polynomials of a group, where the others are zero."""
    for m in range(max(degree + 1, LINE)):
        is_short()
        store(space, target + m, load(space, source + m))


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def set_group(space, start, group, beaten, terms, own, rows, step, lanes):
    """The polynomials of a group where an item of a rival comes; their degree.

    Only up to `beaten` own votes count. The `terms` have where the rows of the item's class and of
    its next item begin, in the work space `source`, the most votes in them, and whether it comes
    after the own class; `own` what votes of a run count, and where the row of the own class
    begins, or -1.
    """
    source, row, next_row, most, after = terms
    run, own_row = own
    for lane in range(LANES):
        is_short()
        v = lanes.votes[group * LANES + lane]
        counts = 0 < v <= beaten
        lanes.own[lane] = run[v] if counts else 0.0
        lanes.next_own[lane] = rows[own_row + v * step] if counts and own_row >= 0 else 0.0
    degree, worth = min(most, lanes.tops[group]), worth_of(after, group, lanes)
    before, here = load(lanes.own, 0), load(lanes.next_own, 0)
    for b in range(degree + 1):
        is_short()
        ends = plus_times(times(before, spread_from(source, row + b)), here,
                          spread_from(source, next_row + b))  # fmt: skip
        store(space, start + b, times(load(lanes.worth, worth + b), ends))
    for b in range(degree + 1, LINE):
        is_short()
        store(space, start + b, eight_times(0.0))
    return degree
