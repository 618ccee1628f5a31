"""Compiled weighted votes, sample by sample: counted exactly where that is cheap, else enclosed.

Voters at distance 0 decide alone, by their number. The others are counted exactly
(`_kernels_lists`) if a rehearsal without any comparison shows that this takes little work, and
enclosed on a grid (`_kernels_grid`) otherwise: a coarse one first, then one as fine as the wanted
width asks for and the work allowed.
"""

import numpy as np
from numba import njit

from allsplits.exact._kernels import group_end
from allsplits.exact.weighted._kernels_cells import Grid, kept_versions
from allsplits.exact.weighted._kernels_heavy import bound_with_heavy
from allsplits.exact.weighted._kernels_law import copy_values, count, fill_rows, fill_values
from allsplits.exact.weighted._kernels_lists import count_votes, fits
from allsplits.exact.weighted.kernel_types import Found, GroupedRow, Vote, WeightedRule


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _find_present(rows, start, stop, place):
    """Numbers of the classes that are there in `place`, -1 for others; returns how many.

    A tie without any weight is one of all classes, so all count if some vote weighs nothing.
    """
    fill_values(place, -1)
    for e in range(start, stop):
        if rows.mantissa[e] == 0.0:
            fill_values(place, 0)
            break
        place[rows.labels[e]] = 0
    n_present = 0
    for c in range(len(place)):
        if place[c] == 0:
            place[c] = n_present
            n_present += 1
    return n_present


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _read_row(rows, i, law, average):
    """The candidates of sample i by tie group and class."""
    start, stop = rows.indptr[i], rows.indptr[i + 1]
    place = np.empty(len(law.table_of), np.int64)
    n_present = _find_present(rows, start, stop, place)
    present, tables = np.empty(n_present, np.int64), np.empty(n_present, np.int64)
    passed = np.empty(n_present, np.int64)
    fill_values(passed, 0)
    for c in range(len(place)):
        if place[c] >= 0:
            present[place[c]] = c
            tables[place[c]] = law.own_table_of[c] if c == rows.own[i] else law.table_of[c]
    n_groups, at = 0, start
    while at < stop:
        at = group_end(rows.tied, at, stop, average)
        n_groups += 1
    members = np.empty((n_groups, n_present), np.int64)
    mantissa, exponent = np.empty(n_groups), np.empty(n_groups, np.int64)
    at = start
    for g in range(n_groups):
        end = group_end(rows.tied, at, stop, average)
        mantissa[g], exponent[g] = rows.mantissa[at], rows.exponent[at]
        fill_values(members[g], 0)
        for e in range(at, end):
            members[g, place[rows.labels[e]]] += 1
        at = end
    return GroupedRow(present, tables, passed, passed, members, mantissa, exponent)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _still_open(law, polynomial, seen, slots):
    """The largest share of a wanted vote that is not over after `seen` candidates."""
    largest = 0.0
    sizes = law.ends.shape[0]
    for m in range(max(len(polynomial), sizes)):
        weights = polynomial[m if sizes == 0 else 0]
        total = 0.0
        for b in range(len(weights)):
            total += weights[b] * (law.ends[m, seen, b] if sizes > 0 else 1.0)
            if slots[b + 1] >= 0:
                largest = max(largest, total)
    return largest


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _groups_needed(vote, first, tol):
    """How many groups must be looked at until at most `tol` of every vote's mass is left."""
    row, law, slots = vote.row, vote.law, vote.rule.slots
    n_classes, n_votes = len(row.present), len(slots) - 1
    n_components, n_groups = law.rows.shape[0], len(row.mantissa)
    rows = np.empty((n_components, n_classes, n_votes))
    polynomial = np.empty((n_components, n_votes))
    spare, seen = np.empty(n_votes), np.empty(n_classes, np.int64)
    copy_values(row.passed, seen)
    for g in range(first, n_groups):
        for p in range(n_classes):
            seen[p] += row.members[g, p]
        fill_rows(law, row, seen, np.int64(-1), rows, polynomial, spare)
        if _still_open(law, polynomial, count(seen), slots) <= tol:
            return g + 1
    return n_groups


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _cut(row, last):
    """The first groups only, and the classes that are there (all if a vote may weigh nothing)."""
    n_present, n_kept, all_stay = len(row.present), 0, False
    for g in range(last):
        all_stay = all_stay or row.mantissa[g] == 0.0
    kept = np.empty(n_present, np.int64)
    for p in range(n_present):
        stays = all_stay or row.passed[p] > 0
        for g in range(last):
            stays = stays or row.members[g, p] > 0
        if stays:
            kept[n_kept] = p
            n_kept += 1
    present, tables = np.empty(n_kept, np.int64), np.empty(n_kept, np.int64)
    passed, forced = np.empty(n_kept, np.int64), np.empty(n_kept, np.int64)
    members = np.empty((last, n_kept), np.int64)
    for p in range(n_kept):
        present[p], tables[p] = row.present[kept[p]], row.tables[kept[p]]
        passed[p], forced[p] = row.passed[kept[p]], row.forced[kept[p]]
        for g in range(last):
            members[g, p] = row.members[g, kept[p]]
    return GroupedRow(
        present, tables, passed, forced, members, row.mantissa[:last], row.exponent[:last]
    )


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _only_class(row, first):
    """The class of all voters if there is but one and all votes weigh something, else -1."""
    only = np.int64(-1)
    for g in range(first, len(row.members)):
        if row.mantissa[g] == 0.0:
            return np.int64(-1)
        for p in range(len(row.present)):
            if row.members[g, p] > 0:
                if only >= 0 and only != row.present[p]:
                    return np.int64(-1)
                only = row.present[p]
    return only


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _pass_nearest(row, n_zero):
    """The row once its voters at distance 0 are known not to vote."""
    passed = np.empty(len(row.passed), np.int64)
    copy_values(row.passed, passed)
    for g in range(n_zero):
        for p in range(len(passed)):
            passed[p] += row.members[g, p]
    return GroupedRow(
        row.present, row.tables, passed, row.forced, row.members, row.mantissa, row.exponent
    )


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _nothing_found(won):
    """won[bound, class, m, slot] and visited[m, slot] of zeros."""
    found = Found(np.empty(won.shape), np.empty(won.shape[2:]))
    for m in range(won.shape[2]):
        fill_values(found.visited[m], 0.0)
        for c in range(won.shape[1]):
            fill_values(found.won[0, c, m], 0.0)
            fill_values(found.won[1, c, m], 0.0)
    return found


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_found(found, known):
    """Add what was found to what was known."""
    for m in range(known.visited.shape[0]):
        for slot in range(known.visited.shape[1]):
            known.visited[m, slot] += found.visited[m, slot]
            for c in range(known.won.shape[1]):
                for bound in range(2):
                    known.won[bound, c, m, slot] += found.won[bound, c, m, slot]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _widest(won):
    """The largest distance between the two bounds."""
    width = 0.0
    for c in range(won.shape[1]):
        for m in range(won.shape[2]):
            for slot in range(won.shape[3]):
                width = max(width, won[1, c, m, slot] - won[0, c, m, slot])
    return width


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _as_counted(row, n_zero):
    """Voters at distance 0, who decide by their number: each weighs 1."""
    mantissa, exponent = np.empty(n_zero), np.empty(n_zero, np.int64)
    fill_values(mantissa, 0.5)
    fill_values(exponent, 1)
    return GroupedRow(
        row.present, row.tables, row.passed, row.forced, row.members[:n_zero], mantissa, exponent
    )


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _give_all(only, target, known):
    """All that is not decided yet goes to the only class."""
    won, visited = known
    for m in range(visited.shape[0]):
        for slot in range(visited.shape[1]):
            rest = max(1.0 - visited[m, slot], 0.0)
            visited[m, slot] = 1.0
            if target < 0 or target == only:
                for bound in range(2):
                    won[bound, 0 if target >= 0 else only, m, slot] += rest


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _rule_of(rule, own):
    """The rule, asking for the sample's own class if it asks for one."""
    target = np.int64(own) if rule.target >= 0 else np.int64(-1)
    return WeightedRule(
        rule.slots, rule.average, rule.share, target, rule.nodes, rule.node_weights, rule.tolerance
    )


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _n_zero(row):
    """Groups at distance 0."""
    n_zero = 0
    while n_zero < len(row.members) and row.mantissa[n_zero] == np.inf:
        n_zero += 1
    return n_zero


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _distant_vote(row, n_zero, rule, law, tol):
    """The vote of those not at distance 0, as far as more than `tol` of it is left."""
    vote = Vote(_pass_nearest(row, n_zero), rule, law)
    return Vote(_cut(vote.row, _groups_needed(vote, n_zero, tol)), rule, law)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _room_for_numbers(row, n_zero, n_slots):
    """How many sums there can be where each of the first groups' items weighs 1."""
    room = len(row.present) + 8
    for g in range(n_zero):
        room += count(row.members[g])
    return room * (n_slots + 1)


# Every level of calls is optimised again with all that it calls: few levels, quick compilation.


@njit(nogil=True, cache=True, error_model="numpy")
def count_rows(rows, start, stop, law, rule, effort, out):
    """Count the votes on samples start:stop exactly, as far as that takes little work.

    With rule.target -1 for every class, otherwise only for the sample's own.
    """
    for i in range(start, stop):
        known, asked = Found(out.won[i], out.visited[i]), _rule_of(rule, rows.own[i])
        row = _read_row(rows, i, law, rule.average)
        n_zero = _n_zero(row)
        out.is_open[i] = False
        for distant in range(0 if n_zero > 0 else 1, 2 if n_zero < len(row.members) else 1):
            vote, first = Vote(_as_counted(row, n_zero), asked, law), 0
            room = _room_for_numbers(row, n_zero, len(rule.slots))
            if distant:
                vote, first = _distant_vote(row, n_zero, asked, law, effort.tol), n_zero
                room = effort.cap
                only = _only_class(vote.row, first)
                if only >= 0:
                    _give_all(only, asked.target, known)
                    break
                if not fits(vote, first, room, effort.exact_work):
                    out.is_open[i] = True
                    break
            found = _nothing_found(known.won)
            exact = Found(found.won[0], found.visited)
            if count_votes(vote, first, distant == 0, room, effort.most_prefixes, exact):
                for c in range(found.won.shape[1]):
                    for m in range(found.won.shape[2]):
                        copy_values(found.won[0, c, m], found.won[1, c, m])
                _add_found(found, known)


@njit(nogil=True, cache=True, error_model="numpy")
def bound_rows(rows, start, stop, law, rule, effort, out):
    """Enclose the votes that are left open on a grid, refined once if too wide."""
    spent, n_votes = np.empty(1), len(rule.slots) - 1
    left_out = effort.left_out + 1 < n_votes
    n_lines = effort.left_out + 1 if left_out else n_votes
    for i in range(start, stop):
        if not out.is_open[i]:
            continue
        known, asked = Found(out.won[i], out.visited[i]), _rule_of(rule, rows.own[i])
        row = _read_row(rows, i, law, rule.average)
        first = _n_zero(row)
        vote = _distant_vote(row, first, asked, law, effort.near)
        versions = len(vote.row.present) + 1 + kept_versions(vote.row, first, effort.most_prefixes)
        fine = float(max(effort.most_cells // (versions * n_lines), 4 * n_lines))
        n_cells = 4 * n_lines + effort.coarse
        while True:
            spent[0] = 0.0
            grid = Grid(
                n_cells, n_lines, left_out, effort.near * 1e-3, spent, 4.0 * effort.grid_work,
                effort.most_prefixes,
            )  # fmt: skip
            found = _nothing_found(known.won)
            bound_with_heavy(vote, first, grid, found)
            width = _widest(found.won)
            finer = 1.25 * width / effort.wanted_width
            finer = min(n_cells * min(finer, effort.grid_work / (spent[0] + 1.0)), fine)
            if width <= effort.wanted_width or finer < 1.5 * n_cells:
                break
            n_cells = int(finer)
        _add_found(found, known)
