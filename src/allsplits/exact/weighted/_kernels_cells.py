"""Compiled sums of weights on a grid, and how far rounding may put them off.

For each class and each number x, a line of cells holds the distribution of the sum of x of its
candidates, weights rounded to whole cells. x counts the voters, or, where most candidates vote,
those that are left out: few roundings then, and a short line. Rounding errors are known item by
item, so a sum of x items is off by no more than their x largest ones.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from allsplits.exact.weighted._kernels_law import copy_values, count, fill_values, ways_to_come


class Grid(NamedTuple):
    """How fine: cells of a line, lines of a class, and what a line counts.

    `left_out`: x counts candidates that do not vote. Lines less likely than `rare` are not looked
    at: all of them is counted as unknown. spent[0] counts cells that were looked at; when it
    exceeds `most`, what is left stays unknown. So do tie groups that can come in more than
    `most_prefixes` ways.
    """

    n_cells: int
    n_lines: int
    left_out: bool
    rare: float
    spent: np.ndarray
    most: float
    most_prefixes: float


class Cells(NamedTuple):
    """Lines of several versions of each class: version first[p] + d has d items of the group.

    mass[version, x] lies within low[version, x]:high + 1; beaten[version, x, i] is the share at i
    or further from the lead: sums from i on if x is left out, up to i if x votes. over and under
    say how far true sums may lie above and below; total is the sum of all items.
    """

    mass: np.ndarray
    beaten: np.ndarray
    low: np.ndarray
    high: np.ndarray
    over: np.ndarray
    under: np.ndarray
    total: np.ndarray
    first: np.ndarray


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def kept_versions(row, first, most_prefixes):
    """Members of the largest group whose versions are all kept."""
    largest = np.int64(0)
    for g in range(first, len(row.members)):
        if ways_to_come(row.members[g]) <= most_prefixes:
            largest = max(largest, count(row.members[g]))
    return largest


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def pool(row, first, grid):
    """Room for the lines of a group from `first` on."""
    n_classes = len(row.present)
    n_versions = n_classes + 1 + kept_versions(row, first, grid.most_prefixes)
    shape = n_versions, grid.n_lines
    return Cells(
        np.empty((n_versions, grid.n_lines, grid.n_cells)),
        np.empty((n_versions, grid.n_lines, grid.n_cells)),
        np.empty(shape, np.int64), np.empty(shape, np.int64),
        np.empty(shape), np.empty(shape),
        np.empty(n_versions), np.empty(n_classes + 1, np.int64),
    )  # fmt: skip


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def first_cells(cells, n_classes):
    """Before the first group: nobody there."""
    for p in range(n_classes):
        cells.first[p] = p
        # A line that cannot be yet ends before it begins.
        fill_values(cells.low[p], 1)
        fill_values(cells.high[p], 0)
        cells.low[p, 0] = 0
        cells.mass[p, 0, 0] = cells.beaten[p, 0, 0] = 1.0
        fill_values(cells.over[p], 0.0)
        fill_values(cells.under[p], 0.0)
        cells.total[p] = 0.0
    cells.first[n_classes] = n_classes


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _copy(old, a, new, b):
    copy_values(old.low[a], new.low[b])
    copy_values(old.high[a], new.high[b])
    copy_values(old.over[a], new.over[b])
    copy_values(old.under[a], new.under[b])
    new.total[b] = old.total[a]
    for x in range(old.low.shape[1]):
        for i in range(old.low[a, x], old.high[a, x] + 1):
            new.mass[b, x, i] = old.mass[a, x, i]
            new.beaten[b, x, i] = old.beaten[a, x, i]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _grow_sums(sums, value):
    """sums[x] = the x largest values added up; one more value comes."""
    before, last = sums[0], 0.0
    for x in range(1, len(sums)):
        # What the x-th place held; the new value takes a place and pushes the others on.
        held, before = sums[x] - before, sums[x]
        if value > held:
            held, value = value, held
        last = sums[x - 1] + held
        sums[x] = last


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _accumulate(cells, version, left_out):
    for x in range(cells.low.shape[1]):
        low, high = cells.low[version, x], cells.high[version, x]
        total = 0.0
        for i in range(high - low + 1):
            at = high - i if left_out else low + i
            total += cells.mass[version, x, at]
            cells.beaten[version, x, at] = total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _insert(cells, version, drawable, weight, left_out):
    """The next version: one more item of `weight` cells; `drawable` items were there."""
    step = np.int64(np.rint(weight))
    old, new = version, version + 1
    copy_values(cells.over[old], cells.over[new])
    copy_values(cells.under[old], cells.under[new])
    _grow_sums(cells.over[new], max(weight - step, 0.0))
    _grow_sums(cells.under[new], max(step - weight, 0.0))
    cells.total[new] = cells.total[old] + weight
    total = drawable + 1.0
    for x in range(cells.low.shape[1]):
        low, high = cells.low[old, x], cells.high[old, x]
        stay, come = (total - x) / total, x / total
        new_low, new_high = low, high
        if x > 0 and cells.high[old, x - 1] >= cells.low[old, x - 1]:
            from_low, from_high = cells.low[old, x - 1] + step, cells.high[old, x - 1] + step
            if high < low:
                new_low, new_high = from_low, from_high
            else:
                new_low, new_high = min(low, from_low), max(high, from_high)
        line = cells.mass[new, x]
        for i in range(new_low, new_high + 1):
            line[i] = 0.0
        for i in range(low, high + 1):
            line[i] = cells.mass[old, x, i] * stay
        if x > 0:
            source = cells.mass[old, x - 1]
            for i in range(cells.low[old, x - 1], cells.high[old, x - 1] + 1):
                line[i + step] += source[i] * come
        cells.low[new, x], cells.high[new, x] = new_low, new_high
    _accumulate(cells, new, left_out)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def enter_cells(old, new, members, drawable, weight, left_out, only_last):
    """All versions of the classes within a tie group, or only the last ones."""
    version = np.int64(0)
    for p in range(len(members)):
        new.first[p] = version
        _copy(old, old.first[p + 1] - 1, new, version)
        for d in range(members[p]):
            _insert(new, version, drawable[p] + d, weight, left_out)
            if only_last:
                _copy(new, version + 1, new, version)
            else:
                version += 1
        version += 1
    new.first[len(members)] = version


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _longest_line(row, first, weights, room, p):
    """What the `room` heaviest items of class p weigh together."""
    total, used = 0.0, np.empty(len(weights), np.bool_)
    fill_values(used, False)
    while room > 0:
        best = -1
        for g in range(len(weights)):
            if not used[g] and (best < 0 or weights[g] > weights[best]):
                best = g
        if best < 0:
            break
        used[best] = True
        here = min(room, row.members[first + best, p])
        total += here * weights[best]
        room -= here
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def cell_weights(row, first, grid):
    """Weights in cells, such that the heaviest line fits; 2^exponent has `scale` cells.

    Returns (weights, scale, exponent).
    """
    last, top = len(row.members), np.int64(-(1 << 40))
    for g in range(first, last):
        if row.mantissa[g] > 0.0:
            top = max(top, row.exponent[g])
    weights = np.empty(last - first)
    for g in range(len(weights)):
        away = int(max(row.exponent[first + g] - top, -1000))
        weights[g] = math.ldexp(row.mantissa[first + g], away) if top > -(1 << 40) else 0.0
    longest = 0.0
    for p in range(len(row.present)):
        longest = max(longest, _longest_line(row, first, weights, grid.n_lines - 1, p))
    scale = (grid.n_cells - 2 - grid.n_lines) / longest if longest > 0.0 else 1.0
    for g in range(len(weights)):
        weights[g] *= scale
    return weights, scale, top
