"""Compiled bounds where few votes outweigh many: heavy voters are followed one by one.

A grid as coarse as the heaviest vote cannot tell light ones apart. So the nearest candidates, as
long as one of them weighs as much as many that follow, are followed by cases: it votes or it does
not. What has voted is added up apart, equal weights cancel, and a grid of their own is left to the
others.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from allsplits.exact.weighted._kernels_grid import Lead, bound_votes
from allsplits.exact.weighted._kernels_law import add_mass, copy_values, count, fill_rows
from allsplits.exact.weighted.kernel_types import GroupedRow, Vote

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


class Cases(NamedTuple):
    """Cases that wait, the last one first: who did not vote, who did, and what they weigh.

    Case i goes on with group group[i]; base, slack and reference are those of a `Lead`.
    """

    passed: np.ndarray
    forced: np.ndarray
    base: np.ndarray
    slack: np.ndarray
    reference: np.ndarray
    group: np.ndarray


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _first_case(row, first):
    """Nobody has voted yet."""
    n_classes = len(row.present)
    cases = Cases(
        np.empty((MOST_CASES + 1, n_classes), np.int64),
        np.empty((MOST_CASES + 1, n_classes), np.int64),
        np.empty((MOST_CASES + 1, n_classes)),
        np.empty(MOST_CASES + 1),
        np.empty(MOST_CASES + 1, np.int64),
        np.empty(MOST_CASES + 1, np.int64),
    )
    copy_values(row.passed, cases.passed[0])
    for p in range(n_classes):
        cases.forced[0, p], cases.base[0, p] = 0, 0.0
    cases.slack[0], cases.reference[0], cases.group[0] = 0.0, 0, first
    return cases


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _is_settled(row, g, lead):
    """Whether all votes from group g on cannot change who leads."""
    first, second = -1.0, 0.0
    for value in lead.base:
        if value > first:
            first, second = value, first
        else:
            second = max(second, value)
    rest = 2.0 * lead.slack
    for i in range(g, len(row.members)):
        away = int(min(max(row.exponent[i] - lead.reference, -900), 900))
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
def _is_ahead(lead, c):
    """Whether class c leads: (for certain, possibly)."""
    sure, may = True, True
    for d in range(len(lead.base)):
        doubt = 2.0 * lead.slack + 1e-11 * max(lead.base[c], lead.base[d])
        if d != c:
            sure = sure and lead.base[c] - lead.base[d] > doubt
            may = may and lead.base[d] - lead.base[c] <= doubt
    return sure, may


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _end_votes(vote, lead, seen, last, rows, polynomial, found):
    """Votes whose last voter is the heavy one, of class `last`; `lead` counts it."""
    row, rule, law = vote.row, vote.rule, vote.law
    voters, total, slots = count(row.forced), count(seen), rule.slots
    if voters + 1 >= len(slots):
        return
    fill_rows(law, row, seen, last, rows, polynomial, np.empty(polynomial.shape[1]))
    for m in range(len(polynomial)):
        for b in range(polynomial.shape[1]):
            if b != voters:
                polynomial[m, b] = 0.0
        add_mass(law, slots, polynomial[m], m, total, 1.0, last >= 0, found.visited)
        for c in range(len(row.present)):
            if rule.target >= 0 and row.present[c] != rule.target:
                continue
            sure, may = _is_ahead(lead, c)
            line = 0 if rule.target >= 0 else row.present[c]
            for bound in range(2):
                if may and (sure or bound == 1):
                    won = found.won[bound, line]
                    add_mass(law, slots, polynomial[m], m, total, 1.0, last >= 0, won)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _chance(vote, rows, polynomial):
    """The weight of what has been decided so far, the largest of the components."""
    row, law = vote.row, vote.law
    seen = np.empty(len(row.present), np.int64)
    for p in range(len(seen)):
        seen[p] = row.passed[p] + row.forced[p]
    fill_rows(law, row, seen, np.int64(-1), rows, polynomial, np.empty(polynomial.shape[1]))
    voters, total, largest = count(row.forced), count(seen), 0.0
    for m in range(len(polynomial)):
        if law.ends.shape[0] == 0:
            largest = max(largest, polynomial[m, voters])
    for size in range(law.ends.shape[0]):
        largest = max(largest, polynomial[0, voters] * law.ends[size, total, voters])
    return largest


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def bound_with_heavy(vote, first, grid, found):
    """As `bound_votes`, with heavy voters followed one by one."""
    row, law = vote.row, vote.law
    n_classes, n_votes = len(row.present), len(vote.rule.slots) - 1
    rows = np.empty((law.rows.shape[0], n_classes, n_votes))
    polynomial = np.empty((law.rows.shape[0], n_votes))
    cases, seen = _first_case(row, first), np.empty(n_classes, np.int64)
    waiting = 1
    while waiting > 0:
        at = waiting - 1
        passed, forced, g = cases.passed[at], cases.forced[at], cases.group[at]
        lead = Lead(cases.base[at], cases.slack[at], cases.reference[at])
        case = GroupedRow(
            row.present, row.tables, passed, forced, row.members, row.mantissa, row.exponent
        )
        case_vote = Vote(case, vote.rule, law)
        if (count(forced) > 0 or count(passed) > count(row.passed)) and (
            g == len(row.members)
            or count(forced) >= n_votes
            or _chance(case_vote, rows, polynomial) < grid.rare
        ):
            waiting -= 1
            continue
        settled = count(forced) > 0 and _is_settled(row, g, lead)
        if waiting >= MOST_CASES or settled or not _is_heavy(row, g, grid.n_lines):
            bound_votes(case_vote, g, lead, grid, found)
            waiting -= 1
            continue
        e = 0
        while row.members[g, e] == 0:
            e += 1
        for p in range(n_classes):
            seen[p] = passed[p] + forced[p]
        copy_values(passed, cases.passed[waiting])
        copy_values(forced, cases.forced[waiting])
        base = cases.base[waiting]
        copy_values(lead.base, base)
        slack, reference = _add_vote(
            base, e, row.mantissa[g], row.exponent[g], lead.reference, lead.slack
        )
        cases.slack[waiting], cases.reference[waiting] = slack, reference
        voted = Lead(base, slack, reference)
        _end_votes(case_vote, voted, seen, e, rows, polynomial, found)
        cases.group[at] = cases.group[waiting] = g + 1
        cases.forced[waiting, e] += 1
        passed[e] += 1
        waiting += 1
