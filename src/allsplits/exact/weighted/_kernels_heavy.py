"""Compiled bounds where few votes outweigh many: heavy voters are followed one by one.

A grid as coarse as the heaviest vote cannot tell light ones apart. So the nearest candidates, as
long as one of them weighs as much as many that follow, are followed by cases: it votes or it does
not. What has voted is added up apart, equal weights cancel, and a grid of their own is left to the
others.
"""

import math

import numpy as np
from numba import njit

from allsplits.exact.weighted._kernels_grid import bound_votes
from allsplits.exact.weighted._kernels_law import Row, add_mass, copy_values, count, fill_rows

__all__ = ["bound_with_heavy"]

#: A vote is heavy if it weighs this share of a whole line of those that follow.
HEAVY = 0.5
#: At most so many cases wait at a time.
MOST_CASES = 64


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _is_heavy(row, g, n_lines):
    """Whether group g is a single candidate that weighs as much as many that follow."""
    if count(row.members[g]) > 1 or row.mantissa[g] == 0.0:
        return False
    total, items = 0.0, 0
    for i in range(g + 1, len(row.members)):
        here = min(count(row.members[i]), n_lines - items)
        away = int(min(max(row.exponent[i] - row.exponent[g], -900), 900))
        total += here * math.ldexp(row.mantissa[i], away)
        items += here
    return items > 0 and row.mantissa[g] > HEAVY * total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _is_settled(row, g, base, slack, reference):
    """Whether all votes from group g on cannot change who leads."""
    first, second = -1.0, 0.0
    for p in range(len(base)):
        if base[p] > first:
            first, second = base[p], first
        else:
            second = max(second, base[p])
    rest = 2.0 * slack
    for i in range(g, len(row.members)):
        away = int(min(max(row.exponent[i] - reference, -900), 900))
        rest += count(row.members[i]) * math.ldexp(row.mantissa[i], away)
    return first - max(second, 0.0) > 2.0 * rest


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_vote(base, p, mantissa, exponent, reference, slack):
    """One more vote for class p; what all classes have is taken off. Returns (slack, reference)."""
    blank = slack == 0.0
    for c in range(len(base)):
        blank = blank and base[c] == 0.0
    if blank:
        base[p] = mantissa
        return 0.0, exponent
    value = math.ldexp(mantissa, int(min(max(exponent - reference, -900), 900)))
    total = base[p] + value
    part = total - base[p]
    slack += abs((base[p] - (total - part)) + (value - part))
    base[p] = total
    least = base[0]
    for c in range(1, len(base)):
        least = min(least, base[c])
    for c in range(len(base)):
        rest = base[c] - least
        part = rest - base[c]
        slack += abs((base[c] - (rest - part)) + (-least - part))
        base[c] = rest
    return slack, reference


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _end_votes(row, rule, law, rows, polynomial, sums, slack, seen, last, won, visited):
    """Votes whose last voter is the heavy one; returns their largest weight."""
    voters = count(row.forced)
    largest = 0.0
    if voters + 1 >= len(rule.slots):
        return largest
    fill_rows(law, row, seen, last, rows, polynomial, np.empty(polynomial.shape[1]))
    for part in range(len(polynomial)):
        for b in range(polynomial.shape[1]):
            if b != voters:
                polynomial[part, b] = 0.0
        value = add_mass(law, polynomial[part], part, count(seen), 1.0, True, rule.slots, visited)
        largest = max(largest, value)
        for c in range(len(sums)):
            if rule.target >= 0 and row.present[c] != rule.target:
                continue
            sure, may = True, True
            for d in range(len(sums)):
                doubt = 2.0 * slack + 1e-11 * max(sums[c], sums[d])
                if d != c:
                    sure = sure and sums[c] - sums[d] > doubt
                    may = may and sums[d] - sums[c] <= doubt
            line = 0 if rule.target >= 0 else row.present[c]
            for bound in range(2):
                if may and (sure or bound == 1):
                    add_mass(
                        law, polynomial[part], part, count(seen), 1.0, True, rule.slots,
                        won[bound, line],
                    )  # fmt: skip
    return largest


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _chance(row, law, rows, polynomial, slots):
    """The weight of what has been decided so far, the largest of the parts."""
    seen = np.empty(len(row.present), np.int64)
    for p in range(len(seen)):
        seen[p] = row.passed[p] + row.forced[p]
    fill_rows(law, row, seen, -1, rows, polynomial, np.empty(polynomial.shape[1]))
    voters, total, largest = count(row.forced), count(seen), 0.0
    for part in range(len(polynomial)):
        if law.ends.shape[0] == 0:
            largest = max(largest, polynomial[part, voters])
    for size in range(law.ends.shape[0]):
        largest = max(largest, polynomial[0, voters] * law.ends[size, total, voters])
    return largest


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def bound_with_heavy(row, first, rule, law, grid, won, visited):
    """As `bound_votes`, with heavy voters followed one by one."""
    n_classes, n_votes = len(row.present), len(rule.slots) - 1
    rows = np.empty((law.rows.shape[0], n_classes, n_votes))
    polynomial = np.empty((law.rows.shape[0], n_votes))
    passed = np.empty((MOST_CASES + 1, n_classes), np.int64)
    forced = np.empty((MOST_CASES + 1, n_classes), np.int64)
    base = np.empty((MOST_CASES + 1, n_classes))
    slack, reference = np.empty(MOST_CASES + 1), np.empty(MOST_CASES + 1, np.int64)
    group, seen = np.empty(MOST_CASES + 1, np.int64), np.empty(n_classes, np.int64)
    copy_values(row.passed, passed[0])
    for p in range(n_classes):
        forced[0, p], base[0, p] = 0, 0.0
    slack[0], reference[0], group[0] = 0.0, 0, first
    waiting = 1
    while waiting > 0:
        at = waiting - 1
        case = Row(
            row.present, row.tables, passed[at], forced[at], row.members, row.mantissa, row.exponent
        )
        g = group[at]
        if (count(forced[at]) > 0 or count(passed[at]) > count(row.passed)) and (
            g == len(row.members)
            or count(forced[at]) >= n_votes
            or _chance(case, law, rows, polynomial, rule.slots) < grid.rare
        ):
            waiting -= 1
            continue
        settled = count(forced[at]) > 0 and _is_settled(row, g, base[at], slack[at], reference[at])
        if waiting >= MOST_CASES or settled or not _is_heavy(row, g, grid.n_lines):
            bound_votes(
                case, g, base[at], slack[at], reference[at], rule, law, grid, won, visited
            )  # fmt: skip
            waiting -= 1
            continue
        e = 0
        while row.members[g, e] == 0:
            e += 1
        for p in range(n_classes):
            seen[p] = passed[at, p] + forced[at, p]
        copy_values(passed[at], passed[waiting])
        copy_values(forced[at], forced[waiting])
        copy_values(base[at], base[waiting])
        slack[waiting], reference[waiting] = _add_vote(
            base[waiting], e, row.mantissa[g], row.exponent[g], reference[at], slack[at]
        )
        _end_votes(
            case, rule, law, rows, polynomial, base[waiting], slack[waiting], seen, e, won, visited
        )
        group[at] = group[waiting] = g + 1
        forced[waiting, e] += 1
        passed[at, e] += 1
        waiting += 1
