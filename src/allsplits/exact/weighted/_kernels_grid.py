"""Compiled bounds on weighted votes: sums of weights on a grid, with what rounding may hide.

For each class and each number x, a line of cells holds the distribution of the sum of x of its
candidates, weights rounded to whole cells. x counts the voters, or, where most candidates vote,
those that are left out: few roundings then, and a short line. A class is surely ahead of another
if no rounding of the x items can turn it, and possibly ahead if some rounding can; the two
probabilities enclose the truth. Rounding errors are known item by item, so a sum of x items is off
by no more than their x largest ones.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from allsplits.exact.weighted._kernels_law import (
    add_mass,
    copy_values,
    count,
    fill_rows,
    fill_values,
    largest_group,
    largest_part,
    next_prefix,
    prefix_chance,
    ways_to_come,
)

__all__ = ["Grid", "bound_votes", "kept_versions"]

#: Room for rounding in positions on the grid, in cells.
SAFETY = 1e-6
#: Leads beyond so many cells are the same to all lines, and their rounding stays below SAFETY.
FARTHEST = 1e9


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
    say how far true sums may lie above and below; total is the sum of all items. base[p] is what
    the class has in any case, known to slack[0].
    """

    mass: np.ndarray
    beaten: np.ndarray
    low: np.ndarray
    high: np.ndarray
    over: np.ndarray
    under: np.ndarray
    total: np.ndarray
    first: np.ndarray
    base: np.ndarray
    slack: np.ndarray


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _pool(n_versions, n_classes, n_lines, n_cells):
    return Cells(
        np.empty((n_versions, n_lines, n_cells)), np.empty((n_versions, n_lines, n_cells)),
        np.empty((n_versions, n_lines), np.int64), np.empty((n_versions, n_lines), np.int64),
        np.empty((n_versions, n_lines)), np.empty((n_versions, n_lines)),
        np.empty(n_versions), np.empty(n_classes + 1, np.int64), np.empty(n_classes), np.empty(1),
    )  # fmt: skip


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _start(cells, n_classes):
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
def _enter_group(old, new, members, drawable, weight, left_out, only_last):
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
def _shift(cells, c, x, d, y, extra, left_out, sure):
    """Cell i of line x of version c is ahead of what cell i + shift of line y of d beats.

    `extra` is what the last voter adds to c's lead. For certain if `sure`, else possibly.
    """
    doubt = cells.under[c, x] + cells.over[d, y]
    if left_out == sure:
        doubt = cells.over[c, x] + cells.under[d, y]
    doubt += SAFETY + cells.slack[0]
    doubt, extra = min(doubt, FARTHEST), min(max(extra, -FARTHEST), FARTHEST)
    if left_out:
        lead = cells.total[c] + extra - cells.total[d]
        if sure:
            return np.int64(math.floor(doubt - lead)) + 1
        return np.int64(math.ceil(-doubt - lead))
    if sure:
        return np.int64(math.ceil(extra - doubt)) - 1
    return np.int64(math.floor(extra + doubt))


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _middle(cells, c, x, d, y, shift, left_out):
    """Cells of line x whose rival shares are neither all nor nothing, and those where they are all.

    Returns (first, end, first, end).
    """
    low, high = cells.low[c, x], cells.high[c, x] + 1
    rival_low, rival_high = cells.low[d, y] - shift, cells.high[d, y] - shift + 1
    if left_out:
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
def _one_rival(cells, c, x, d, y, extra, left_out, sure, spent):
    """P(line x of c is ahead of line y of d)."""
    shift = _shift(cells, c, x, d, y, extra, left_out, sure)
    first, end, all_first, all_end = _middle(cells, c, x, d, y, shift, left_out)
    spent[0] += 16.0 + max(end - first, 0)
    total = _share(cells, c, x, all_first, all_end, left_out)
    if first < end:
        total += _dot(cells.mass[c, x], first, cells.beaten[d, y], first + shift, end - first)
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _is_open(cells, c, x, d, extra, left_out, sure, rows, p):
    """Whether some line of d that may come, by the weights of class p, may be ahead of c's x."""
    for y in range(cells.low.shape[1]):
        if cells.high[d, y] >= cells.low[d, y] and largest_part(rows, p, y) > 0.0:
            shift = _shift(cells, c, x, d, y, extra, left_out, sure)
            _, _, all_first, all_end = _middle(cells, c, x, d, y, shift, left_out)
            if all_first > cells.low[c, x] or all_end <= cells.high[c, x]:
                return True
    return False


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _times_rival(cells, c, x, d, extra, left_out, sure, row, top, poly, spare, spent):
    """Multiply poly[v, i] (v lines of the rivals so far, i cells of c) by the lines of d."""
    low, high = cells.low[c, x], cells.high[c, x]
    width, n_lines = high - low + 1, cells.low.shape[1]
    for v in range(n_lines):
        for i in range(width):
            spare[v, i] = 0.0
    new_top = 0
    for y in range(n_lines):
        if row[y] <= 0.0 or cells.high[d, y] < cells.low[d, y]:
            continue
        shift = _shift(cells, c, x, d, y, extra, left_out, sure)
        first, end, all_first, all_end = _middle(cells, c, x, d, y, shift, left_out)
        spent[0] += (min(top, n_lines - 1 - y) + 1.0) * width
        for v in range(min(top, n_lines - 1 - y) + 1):
            source, target = poly[v], spare[v + y]
            for i in range(all_first - low, all_end - low):
                target[i] += source[i] * row[y]
            rival = cells.beaten[d, y]
            for i in range(first - low, end - low):
                target[i] += source[i] * (row[y] * rival[i + low + shift])
        new_top = max(new_top, min(top + y, n_lines - 1))
    for v in range(new_top + 1):
        for i in range(width):
            poly[v, i] = spare[v, i]
    return new_top


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _several_rivals(cells, c, x, versions, gains, rivals, grid, sure, rows, work, out):
    """out[v] = Σ over lines of the rivals, v in all, of P(line x of c is ahead of all of them)."""
    low, high = cells.low[versions[c], x], cells.high[versions[c], x]
    fill_values(out, 0.0)
    for i in range(high - low + 1):
        work[0, 0, i] = 1.0
    top = 0
    for d in range(len(versions)):
        if rivals[d]:
            top = _times_rival(
                cells, versions[c], x, versions[d], gains[c] - gains[d], grid.left_out, sure,
                rows[d], top, work[0], work[1], grid.spent,
            )  # fmt: skip
    for v in range(top + 1):
        out[v] = _dot(cells.mass[versions[c], x], low, work[0, v], 0, high - low + 1)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _convolve(left, right, out):
    n = len(out)
    fill_values(out, 0.0)
    for a in range(n):
        if left[a] > 0.0:
            for b in range(n - a):
                out[a + b] += left[a] * right[b]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _find_rivals(cells, c, x, versions, gains, grid, sure, rows, rivals, free, spare):
    """Which classes may beat line x of c; the weights of all others are multiplied into `free`.

    Returns (rivals, the last of them, whether all others have only one line).
    """
    n_parts, n_classes = rows.shape[0], rows.shape[1]
    n_rivals, rival, alone = 0, 0, True
    for part in range(n_parts):
        fill_values(free[part], 0.0)
        free[part, 0] = 1.0
    for d in range(n_classes):
        rivals[d] = False
        if d == c:
            continue
        extra = gains[c] - gains[d]
        rivals[d] = _is_open(
            cells, versions[c], x, versions[d], extra, grid.left_out, sure, rows, d
        )
        if rivals[d]:
            rival = d
            n_rivals += 1
            continue
        for part in range(n_parts):
            _convolve(free[part], rows[part, d], spare)
            copy_values(spare, free[part])
    for part in range(n_parts):
        for y in range(1, rows.shape[2]):
            alone = alone and free[part, y] <= 0.0
    return n_rivals, rival, alone


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _ahead_of_one(cells, c, x, d, versions, gains, grid, sure, rows, alone, wanted, ahead):
    """ahead[y] = P(line x of c is ahead of line y of d), where that is wanted."""
    for y in range(len(ahead)):
        ahead[y] = 0.0
        if x + y >= len(ahead) or cells.high[versions[d], y] < cells.low[versions[d], y]:
            continue
        if largest_part(rows, d, y) * largest_part(rows, c, x) < grid.rare:
            ahead[y] = 0.0 if sure else 1.0
        elif not alone or wanted[x + y]:
            ahead[y] = _one_rival(
                cells, versions[c], x, versions[d], y, gains[c] - gains[d], grid.left_out, sure,
                grid.spent,
            )  # fmt: skip


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _score_line(cells, c, x, versions, gains, grid, sure, rows, wanted, work, out):
    """out[part, v] += weights of the votes that line x of class c wins, v lines in all.

    rows[part, p, y] are the weights of line y; wanted[v] tells whether v lines are a wanted vote.
    """
    n_parts, n_classes, n_lines = rows.shape
    rivals = np.empty(n_classes, np.bool_)
    free, lines = np.empty((n_parts, n_lines)), np.empty((3, n_lines))
    product, ahead, spare = lines[0], lines[1], lines[2]
    n_rivals, d, alone = _find_rivals(
        cells, c, x, versions, gains, grid, sure, rows, rivals, free, spare
    )
    if n_rivals == 1:
        _ahead_of_one(
            cells, c, x, d, versions, gains, grid, sure, rows, alone, wanted, ahead
        )  # fmt: skip
    for part in range(n_parts):
        fill_values(product, 0.0)
        product[0] = 1.0
        if n_rivals == 1:
            for y in range(n_lines):
                product[y] = ahead[y] * rows[part, d, y]
        elif n_rivals > 1:
            _several_rivals(
                cells, c, x, versions, gains, rivals, grid, sure, rows[part], work, product
            )
        _convolve(product, free[part], spare)
        for v in range(n_lines - x):
            out[part, x + v] += rows[part, c, x] * spare[v]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _as_lines(rows, drawable, forced, left_out, out):
    """Weights by votes become weights by lines."""
    for x in range(len(out)):
        b = forced + (drawable - x if left_out else x)
        out[x] = rows[b] if 0 <= b < len(rows) else 0.0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_lines(law, lines, part, row, seen, chance, grid, rule, out):
    """The same back: lines in all become votes."""
    votes = np.empty(len(rule.slots) - 1)
    forced = count(row.forced)
    drawable = seen - count(row.passed) - forced
    for b in range(len(votes)):
        x = drawable - (b - forced) if grid.left_out else b - forced
        votes[b] = lines[x] if 0 <= x < len(lines) else 0.0
    return add_mass(law, votes, part, seen, chance, True, rule.slots, out)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _fill_lines(law, row, grid, seen, last, lines, all_lines, wanted, slots):
    """Weights of the lines of every class, of lines in all, and which of these are wanted."""
    n_parts, n_classes, n_lines = lines.shape
    n_votes = len(slots) - 1
    rows, polynomial = np.empty((n_parts, n_classes, n_votes)), np.empty((n_parts, n_votes))
    fill_rows(law, row, seen, last, rows, polynomial, np.empty(n_votes))
    spare = np.empty(n_lines)
    for part in range(n_parts):
        fill_values(all_lines[part], 0.0)
        all_lines[part, 0] = 1.0
        for p in range(n_classes):
            drawable = seen[p] - row.passed[p] - row.forced[p]
            _as_lines(rows[part, p], drawable, row.forced[p], grid.left_out, lines[part, p])
            _convolve(all_lines[part], lines[part, p], spare)
            copy_values(spare, all_lines[part])
    forced = count(row.forced)
    everyone = count(seen) - count(row.passed) - forced
    for x in range(n_lines):
        b = forced + (everyone - x if grid.left_out else x)
        wanted[x] = 0 <= b < n_votes and slots[b + 1] >= 0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _duel(cells, taken, row, rule, law, grid, seen, last, weight, chance, work, won, visited):
    """One prefix: won[bound, class, part, slot] and visited[part, slot] grow."""
    total = count(seen)
    if total > law.reach or chance < grid.rare * 1e-3:
        return
    n_parts, n_classes = law.rows.shape[0], len(row.present)
    lines = np.empty((n_parts, n_classes, grid.n_lines))
    scores = np.empty((n_parts, grid.n_lines))
    wanted = np.empty(grid.n_lines, np.bool_)
    _fill_lines(law, row, grid, seen, last, lines, scores, wanted, rule.slots)
    probe = np.empty(visited.shape)
    for part in range(len(probe)):
        fill_values(probe[part], 0.0)
    largest = 0.0
    for part in range(n_parts):
        added = _add_lines(law, scores[part], part, row, total, chance, grid, rule, probe)
        largest = max(largest, added)
    if largest < grid.rare:
        return
    for part in range(len(probe)):
        for slot in range(probe.shape[1]):
            visited[part, slot] += probe[part, slot]
    versions, gains = np.empty(n_classes, np.int64), np.empty(n_classes)
    for p in range(n_classes):
        versions[p] = cells.first[p] + taken[p]
        gains[p] = cells.base[p] + (weight if p == last else 0.0)
    for c in range(n_classes):
        if rule.target >= 0 and row.present[c] != rule.target:
            continue
        line = 0 if rule.target >= 0 else row.present[c]
        for bound in range(2):
            for part in range(n_parts):
                fill_values(scores[part], 0.0)
            for x in range(grid.n_lines):
                there = cells.high[versions[c], x] >= cells.low[versions[c], x]
                if there and largest_part(lines, c, x) > 0.0:
                    _score_line(
                        cells, c, x, versions, gains, grid, bound == 0, lines, wanted, work, scores
                    )
            for part in range(n_parts):
                _add_lines(
                    law, scores[part], part, row, total, chance, grid, rule, won[bound, line]
                )


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
def _cell_weights(row, first, last, n_lines, n_cells):
    """Weights in cells, such that the heaviest line fits; 2^exponent has `scale` cells.

    Returns (weights, scale, exponent).
    """
    top = np.int64(-(1 << 40))
    for g in range(first, last):
        if row.mantissa[g] > 0.0:
            top = max(top, row.exponent[g])
    weights = np.empty(last - first)
    for g in range(len(weights)):
        away = int(max(row.exponent[first + g] - top, -1000))
        weights[g] = math.ldexp(row.mantissa[first + g], away) if top > -(1 << 40) else 0.0
    longest = 0.0
    for p in range(len(row.present)):
        longest = max(longest, _longest_line(row, first, weights, n_lines - 1, p))
    scale = (n_cells - 2 - n_lines) / longest if longest > 0.0 else 1.0
    for g in range(len(weights)):
        weights[g] *= scale
    return weights, scale, top


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def kept_versions(row, first, most_prefixes):
    """Members of the largest group whose versions are all kept."""
    largest = np.int64(0)
    for g in range(first, len(row.members)):
        if ways_to_come(row.members[g]) <= most_prefixes:
            largest = max(largest, count(row.members[g]))
    return largest


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def bound_votes(row, first, base, slack, reference, rule, law, grid, won, visited):
    """Bounds on all votes that end in the groups from `first` on.

    base[p] · 2^reference is what the forced items of each class weigh together, known to `slack`.
    won[0] and won[1] (for certain, possibly) and `visited` grow as in `count_votes`.
    """
    n_classes, last = len(row.present), len(row.members)
    weights, scale, top = _cell_weights(row, first, last, grid.n_lines, grid.n_cells)
    largest = largest_group(row, first, last)
    n_versions = n_classes + 1 + kept_versions(row, first, grid.most_prefixes)
    old = _pool(n_versions, n_classes, grid.n_lines, grid.n_cells)
    new = _pool(n_versions, n_classes, grid.n_lines, grid.n_cells)
    _start(old, n_classes)
    away = int(min(max(reference - top, -900), 900))
    for cells in (old, new):
        cells.slack[0] = math.ldexp(slack, away) * scale
        for p in range(n_classes):
            cells.base[p] = math.ldexp(base[p], away) * scale
    work = np.empty((2, grid.n_lines, grid.n_cells))
    before, taken = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    seen, drawable = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    fill_values(drawable, 0)
    for p in range(n_classes):
        before[p] = row.passed[p] + row.forced[p]
    buffer = np.empty(largest + 2)
    for g in range(first, last):
        members, weight = row.members[g], weights[g - first]
        more = ways_to_come(members) <= grid.most_prefixes
        _enter_group(old, new, members, drawable, weight, grid.left_out, not more)
        fill_values(taken, 0)
        while more and grid.spent[0] <= grid.most:
            chance = prefix_chance(members, taken, buffer)
            left = count(members) - count(taken)
            for p in range(n_classes):
                seen[p] = before[p] + taken[p]
            for e in range(n_classes):
                if members[e] > taken[e]:
                    _duel(
                        new, taken, row, rule, law, grid, seen, e, weight,
                        chance * (members[e] - taken[e]) / left, work, won, visited,
                    )  # fmt: skip
            more = next_prefix(members, taken)
        for p in range(n_classes):
            before[p] += members[p]
            drawable[p] += members[p]
        old, new = new, old
