"""Compiled rivals on a grid: which class is ahead, for certain and possibly.

A class is surely ahead of another if no rounding of the x items can turn it, and possibly ahead if
some rounding can; the two probabilities enclose the truth.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from allsplits.exact.weighted._kernels_cells import Grid
from allsplits.exact.weighted._kernels_law import copy_values, fill_values, largest_component

#: Room for rounding in positions on the grid, in cells.
SAFETY = 1e-6
#: Leads beyond so many cells are the same to all lines, and their rounding stays below SAFETY.
FARTHEST = 1e9


class GridDuel(NamedTuple):
    """The lines that meet: class p has version versions[p], line y with weight rows[m, p, y].

    gains[p] is what class p has besides, known to `slack`; wanted[v] tells whether v lines in all
    are a wanted vote. `work` is room for two products of rivals.
    """

    grid: Grid
    versions: np.ndarray
    gains: np.ndarray
    slack: float
    rows: np.ndarray
    wanted: np.ndarray
    work: np.ndarray


class Claim(NamedTuple):
    """That line x of class c is ahead: for certain if `sure`, else possibly."""

    c: int
    x: int
    sure: bool


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _has_line(cells, duel, p, y):
    """Whether line y of class p can be."""
    version = duel.versions[p]
    return cells.high[version, y] >= cells.low[version, y]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _shift(cells, duel, claim, d, y):
    """Cell i of the claim's line is ahead of what cell i + shift of line y of class d beats."""
    left_out = duel.grid.left_out
    a, b = duel.versions[claim.c], duel.versions[d]
    doubt = cells.under[a, claim.x] + cells.over[b, y]
    if left_out == claim.sure:
        doubt = cells.over[a, claim.x] + cells.under[b, y]
    doubt += SAFETY + duel.slack
    extra = duel.gains[claim.c] - duel.gains[d]
    doubt, extra = min(doubt, FARTHEST), min(max(extra, -FARTHEST), FARTHEST)
    if left_out:
        lead = cells.total[a] + extra - cells.total[b]
        if claim.sure:
            return np.int64(math.floor(doubt - lead)) + 1
        return np.int64(math.ceil(-doubt - lead))
    if claim.sure:
        return np.int64(math.ceil(extra - doubt)) - 1
    return np.int64(math.floor(extra + doubt))


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _middle(cells, duel, claim, d, y, shift):
    """Cells of the claim's line that beat a part of line y, and those that beat all of it.

    Returns (first, end, first, end).
    """
    a, b = duel.versions[claim.c], duel.versions[d]
    low, high = cells.low[a, claim.x], cells.high[a, claim.x] + 1
    rival_low, rival_high = cells.low[b, y] - shift, cells.high[b, y] - shift + 1
    if duel.grid.left_out:
        first = min(max(rival_low + 1, low), high)
        return first, max(min(rival_high, high), first), low, first
    end = max(min(rival_high - 1, high), low)
    return min(max(rival_low, low), end), end, end, high


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _dot(left, a, right, b, length):
    """Σ left[a + i] · right[b + i] in eight sums, which the processor can do side by side."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    i = 0
    while i + 8 <= length:
        s0 += left[a + i] * right[b + i]
        s1 += left[a + i + 1] * right[b + i + 1]
        s2 += left[a + i + 2] * right[b + i + 2]
        s3 += left[a + i + 3] * right[b + i + 3]
        s4 += left[a + i + 4] * right[b + i + 4]
        s5 += left[a + i + 5] * right[b + i + 5]
        s6 += left[a + i + 6] * right[b + i + 6]
        s7 += left[a + i + 7] * right[b + i + 7]
        i += 8
    total = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
    while i < length:
        total += left[a + i] * right[b + i]
        i += 1
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _share(cells, c, x, start, stop, left_out):
    """Mass of the cells start:stop of a line."""
    if start >= stop:
        return 0.0
    low, high, beaten = cells.low[c, x], cells.high[c, x], cells.beaten[c, x]
    if left_out:
        return beaten[start] - (beaten[stop] if stop <= high else 0.0)
    return beaten[stop - 1] - (beaten[start - 1] if start > low else 0.0)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _one_rival(cells, duel, claim, d, y):
    """P(the claim holds against line y of class d)."""
    left_out, a, x = duel.grid.left_out, duel.versions[claim.c], claim.x
    shift = _shift(cells, duel, claim, d, y)
    first, end, all_first, all_end = _middle(cells, duel, claim, d, y, shift)
    duel.grid.spent[0] += 16.0 + max(end - first, 0)
    total = _share(cells, a, x, all_first, all_end, left_out)
    if first < end:
        beaten = cells.beaten[duel.versions[d], y]
        total += _dot(cells.mass[a, x], first, beaten, first + shift, end - first)
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _is_open(cells, duel, claim, d):
    """Whether some line of class d that may come may be ahead of the claim's line."""
    a = duel.versions[claim.c]
    for y in range(duel.grid.n_lines):
        if _has_line(cells, duel, d, y) and largest_component(duel.rows, d, y) > 0.0:
            shift = _shift(cells, duel, claim, d, y)
            _, _, all_first, all_end = _middle(cells, duel, claim, d, y, shift)
            if all_first > cells.low[a, claim.x] or all_end <= cells.high[a, claim.x]:
                return True
    return False


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _times_rival(cells, duel, claim, d, m, top):
    """Multiply work[0, v, i] (v lines of the rivals so far, i cells of the claim's) by those of d.

    Returns the largest v.
    """
    row, poly, spare = duel.rows[m, d], duel.work[0], duel.work[1]
    a, b = duel.versions[claim.c], duel.versions[d]
    low, high = cells.low[a, claim.x], cells.high[a, claim.x]
    width, n_lines = high - low + 1, duel.grid.n_lines
    for v in range(n_lines):
        for i in range(width):
            spare[v, i] = 0.0
    new_top = 0
    for y in range(n_lines):
        if row[y] <= 0.0 or not _has_line(cells, duel, d, y):
            continue
        shift = _shift(cells, duel, claim, d, y)
        first, end, all_first, all_end = _middle(cells, duel, claim, d, y, shift)
        duel.grid.spent[0] += (min(top, n_lines - 1 - y) + 1.0) * width
        for v in range(min(top, n_lines - 1 - y) + 1):
            source, target = poly[v], spare[v + y]
            for i in range(all_first - low, all_end - low):
                target[i] += source[i] * row[y]
            rival = cells.beaten[b, y]
            for i in range(first - low, end - low):
                target[i] += source[i] * (row[y] * rival[i + low + shift])
        new_top = max(new_top, min(top + y, n_lines - 1))
    for v in range(new_top + 1):
        for i in range(width):
            poly[v, i] = spare[v, i]
    return new_top


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _several_rivals(cells, duel, claim, rivals, m, out):
    """out[v] = Σ over lines of the rivals, v in all, of P(the claim holds against all of them)."""
    a = duel.versions[claim.c]
    low, high = cells.low[a, claim.x], cells.high[a, claim.x]
    fill_values(out, 0.0)
    for i in range(high - low + 1):
        duel.work[0, 0, i] = 1.0
    top = np.int64(0)
    for d in range(len(rivals)):
        if rivals[d]:
            top = _times_rival(cells, duel, claim, d, m, top)
    for v in range(top + 1):
        out[v] = _dot(cells.mass[a, claim.x], low, duel.work[0, v], np.int64(0), high - low + 1)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def convolve(left, right, out):
    """out[v] = Σ left[a] · right[v - a]."""
    n = len(out)
    fill_values(out, 0.0)
    for a in range(n):
        if left[a] > 0.0:
            for b in range(n - a):
                out[a + b] += left[a] * right[b]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _find_rivals(cells, duel, claim, rivals, free, spare):
    """Which classes may beat the claim; the weights of all others are multiplied into `free`.

    Returns (rivals, the last of them, whether all others have only one line).
    """
    rows = duel.rows
    n_components, n_classes = rows.shape[0], rows.shape[1]
    n_rivals, rival, alone = 0, 0, True
    for m in range(n_components):
        fill_values(free[m], 0.0)
        free[m, 0] = 1.0
    for d in range(n_classes):
        rivals[d] = d != claim.c and _is_open(cells, duel, claim, d)
        if rivals[d]:
            rival = d
            n_rivals += 1
        elif d != claim.c:
            for m in range(n_components):
                convolve(free[m], rows[m, d], spare)
                copy_values(spare, free[m])
    for m in range(n_components):
        for y in range(1, rows.shape[2]):
            alone = alone and free[m, y] <= 0.0
    return n_rivals, rival, alone


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _ahead_of_one(cells, duel, claim, d, alone, ahead):
    """ahead[y] = P(the claim holds against line y of class d), where that is wanted."""
    likely = largest_component(duel.rows, claim.c, claim.x)
    for y in range(len(ahead)):
        ahead[y] = 0.0
        if claim.x + y >= len(ahead) or not _has_line(cells, duel, d, y):
            continue
        if largest_component(duel.rows, d, y) * likely < duel.grid.rare:
            ahead[y] = 0.0 if claim.sure else 1.0
        elif not alone or duel.wanted[claim.x + y]:
            ahead[y] = _one_rival(cells, duel, claim, d, y)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def score_line(cells, duel, claim, out):
    """out[m, v] += weights of the votes that the claim's line wins, v lines in all."""
    c, x = claim.c, claim.x
    if not _has_line(cells, duel, c, x) or largest_component(duel.rows, c, x) <= 0.0:
        return
    n_components, n_classes, n_lines = duel.rows.shape
    rivals = np.empty(n_classes, np.bool_)
    free, lines = np.empty((n_components, n_lines)), np.empty((3, n_lines))
    product, ahead, spare = lines[0], lines[1], lines[2]
    n_rivals, d, alone = _find_rivals(cells, duel, claim, rivals, free, spare)
    if n_rivals == 1:
        _ahead_of_one(cells, duel, claim, d, alone, ahead)
    for m in range(n_components):
        fill_values(product, 0.0)
        product[0] = 1.0
        if n_rivals == 1:
            for y in range(n_lines):
                product[y] = ahead[y] * duel.rows[m, d, y]
        elif n_rivals > 1:
            _several_rivals(cells, duel, claim, rivals, m, product)
        convolve(product, free[m], spare)
        for v in range(n_lines - claim.x):
            out[m, claim.x + v] += duel.rows[m, claim.c, claim.x] * spare[v]
