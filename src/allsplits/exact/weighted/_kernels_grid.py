"""Compiled bounds on weighted votes: sums of weights on a grid, with what rounding may hide.

Sums of a class lie on lines of cells (`_kernels_cells`); who is ahead for certain or possibly is
told by `_kernels_rivals`. Here lines are turned into votes and back, prefix by prefix.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from allsplits.exact.weighted._kernels_cells import cell_weights, enter_cells, first_cells, pool
from allsplits.exact.weighted._kernels_law import (
    add_mass,
    copy_values,
    count,
    fill_rows,
    fill_values,
    largest_group,
    next_prefix,
    see_prefix,
    ways_to_come,
)
from allsplits.exact.weighted._kernels_rivals import Claim, GridDuel, convolve, score_line
from allsplits.exact.weighted.kernel_types import Prefix


class Lead(NamedTuple):
    """What the forced items of class p weigh together: base[p] · 2^reference, known to `slack`."""

    base: np.ndarray
    slack: float
    reference: int


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _as_lines(rows, drawable, forced, left_out, out):
    """Weights by votes become weights by lines."""
    for x in range(len(out)):
        b = forced + (drawable - x if left_out else x)
        out[x] = rows[b] if 0 <= b < len(rows) else 0.0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_lines(vote, lines, m, prefix, left_out, out):
    """The same back: lines in all become votes."""
    votes = np.empty(len(vote.rule.slots) - 1)
    forced, seen = count(vote.row.forced), count(prefix.seen)
    drawable = seen - count(vote.row.passed) - forced
    for b in range(len(votes)):
        x = drawable - (b - forced) if left_out else b - forced
        votes[b] = lines[x] if 0 <= x < len(lines) else 0.0
    return add_mass(vote.law, vote.rule.slots, votes, m, seen, prefix.chance, prefix.last >= 0, out)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _fill_lines(vote, prefix, grid, lines, all_lines, wanted):
    """Weights of the lines of every class, of lines in all, and which of these are wanted."""
    row, seen, slots = vote.row, prefix.seen, vote.rule.slots
    n_components, n_classes, n_lines = lines.shape
    n_votes = len(slots) - 1
    rows = np.empty((n_components, n_classes, n_votes))
    polynomial = np.empty((n_components, n_votes))
    fill_rows(vote.law, row, seen, prefix.last, rows, polynomial, np.empty(n_votes))
    spare = np.empty(n_lines)
    for m in range(n_components):
        fill_values(all_lines[m], 0.0)
        all_lines[m, 0] = 1.0
        for p in range(n_classes):
            drawable = seen[p] - row.passed[p] - row.forced[p]
            _as_lines(rows[m, p], drawable, row.forced[p], grid.left_out, lines[m, p])
            convolve(all_lines[m], lines[m, p], spare)
            copy_values(spare, all_lines[m])
    forced = count(row.forced)
    everyone = count(seen) - count(row.passed) - forced
    for x in range(n_lines):
        b = forced + (everyone - x if grid.left_out else x)
        wanted[x] = 0 <= b < n_votes and slots[b + 1] >= 0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _visit(vote, prefix, grid, all_lines, visited):
    """Count the prefix as looked at, unless it is too rare; returns whether it is not."""
    probe = np.empty(visited.shape)
    for m in range(len(probe)):
        fill_values(probe[m], 0.0)
    largest = 0.0
    for m in range(len(all_lines)):
        largest = max(largest, _add_lines(vote, all_lines[m], m, prefix, grid.left_out, probe))
    if largest < grid.rare:
        return False
    for m in range(len(probe)):
        for slot in range(probe.shape[1]):
            visited[m, slot] += probe[m, slot]
    return True


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _duel(vote, cells, prefix, lead, weight, grid, work, found):
    """One prefix, whose last voter weighs `weight` cells."""
    row, rule, law = vote.row, vote.rule, vote.law
    if count(prefix.seen) > law.reach or prefix.chance < grid.rare * 1e-3:
        return
    n_components, n_classes = law.rows.shape[0], len(row.present)
    lines = np.empty((n_components, n_classes, grid.n_lines))
    scores = np.empty((n_components, grid.n_lines))
    wanted = np.empty(grid.n_lines, np.bool_)
    _fill_lines(vote, prefix, grid, lines, scores, wanted)
    if not _visit(vote, prefix, grid, scores, found.visited):
        return
    versions, gains = np.empty(n_classes, np.int64), np.empty(n_classes)
    for p in range(n_classes):
        versions[p] = cells.first[p] + prefix.taken[p]
        gains[p] = lead.base[p] + (weight if p == prefix.last else 0.0)
    duel = GridDuel(grid, versions, gains, lead.slack, lines, wanted, work)
    for c in range(n_classes):
        if rule.target >= 0 and row.present[c] != rule.target:
            continue
        line = 0 if rule.target >= 0 else row.present[c]
        for bound in range(2):
            for m in range(n_components):
                fill_values(scores[m], 0.0)
            for x in range(grid.n_lines):
                score_line(cells, duel, Claim(c, x, bound == 0), scores)
            for m in range(n_components):
                _add_lines(vote, scores[m], m, prefix, grid.left_out, found.won[bound, line])


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _in_cells(lead, scale, top):
    """The lead in cells, of which 2^top has `scale`."""
    away = int(min(max(lead.reference - top, -900), 900))
    base = np.empty(len(lead.base))
    for p in range(len(base)):
        base[p] = math.ldexp(lead.base[p], away) * scale
    return Lead(base, math.ldexp(lead.slack, away) * scale, top)


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def bound_votes(vote, first, lead, grid, found):
    """Bounds on all votes that end in the groups from `first` on; `found` grows."""
    row, n_classes = vote.row, len(vote.row.present)
    weights, scale, top = cell_weights(row, first, grid)
    in_cells = _in_cells(lead, scale, top)
    old, new = pool(row, first, grid), pool(row, first, grid)
    first_cells(old, n_classes)
    work = np.empty((2, grid.n_lines, grid.n_cells))
    before, taken = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    seen, drawable = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    fill_values(drawable, 0)
    for p in range(n_classes):
        before[p] = row.passed[p] + row.forced[p]
    buffer = np.empty(largest_group(row, first) + 2)
    for g in range(first, len(row.members)):
        members, weight = row.members[g], weights[g - first]
        more = ways_to_come(members) <= grid.most_prefixes
        enter_cells(old, new, members, drawable, weight, grid.left_out, not more)
        fill_values(taken, 0)
        while more and grid.spent[0] <= grid.most:
            chance, left = see_prefix(members, before, taken, seen, buffer)
            for e in range(n_classes):
                if members[e] > taken[e]:
                    prefix = Prefix(taken, seen, e, chance * (members[e] - taken[e]) / left)
                    _duel(vote, new, prefix, in_cells, weight, grid, work, found)
            more = next_prefix(members, taken)
        for p in range(n_classes):
            before[p] += members[p]
            drawable[p] += members[p]
        old, new = new, old
