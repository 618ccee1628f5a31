"""Compiled exact weighted votes: the lists of sums of different classes meet with two pointers.

The cost is that of the subsets of each class and not of all neighbours together. Equal weights
cancel exactly, and what is left decides.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from allsplits.exact.weighted._kernels_digits import LastVote, lowest_bit, standing, write_weight
from allsplits.exact.weighted._kernels_law import (
    add_mass,
    copy_values,
    count,
    fill_rows,
    fill_values,
    largest_component,
    largest_group,
    next_prefix,
    see_prefix,
    ways_to_come,
)
from allsplits.exact.weighted._kernels_sums import enter_group, first_lists, two_pools
from allsplits.exact.weighted.kernel_types import Prefix

#: Orders of a tie group that are less likely are not looked at, and count as unknown.
NEGLIGIBLE = 1e-22


class ListDuel(NamedTuple):
    """The lists that meet: class p has version versions[p], b voters with weight rows[m, p, b].

    beaten[p, b] = ((below up to, shares below), (tied up to, shares below or tied)).
    """

    versions: np.ndarray
    rows: np.ndarray
    beaten: np.ndarray


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _tolerances(row, first, g, rule):
    """The lightest voter of a vote that ends in group g weighs from `low` to `high`, times ε.

    They are the same where weights fall with the distance. With three classes or more sums must
    be closer than a quarter, so that classes which tie with one another tie with the same others.
    """
    low = (row.mantissa[g], row.exponent[g])
    high = low
    for i in range(first, g):
        weight = (row.mantissa[i], row.exponent[i])
        if weight[0] == 0.0:
            continue
        if low[0] == 0.0 or weight[1] < low[1] or (weight[1] == low[1] and weight[0] < low[0]):
            low = weight
        if row.mantissa[g] == 0.0 and (
            weight[1] > high[1] or high[0] == 0.0 or (weight[1] == high[1] and weight[0] > high[0])
        ):
            high = weight
    share = rule.tolerance if len(row.present) < 3 else 0.25 * rule.tolerance
    return (low[0] * share, low[1]), (high[0] * rule.tolerance, high[1])


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _advance(lists, version, entry, last_vote, times, beaten):
    """Move the pointers of a class up to the sum at `entry`; returns whether all was clear."""
    digits, mass, starts = lists.digits, lists.mass, lists.starts[version]
    for b in range(len(starts) - 1):
        for tied in range(2):
            at, passed = int(beaten[b, tied, 0]), beaten[b, tied, 1]
            while at < starts[b + 1]:
                found = standing(digits, entry, at, last_vote, times)
                if found == 2:
                    return False
                if found < 1 - tied:
                    break
                passed += mass[at]
                at += 1
            beaten[b, tied, 0], beaten[b, tied, 1] = at, passed
    return True


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _multiply_rivals(c, present, rows, beaten, node, share, left, work):
    """work[0, v] = Σ over votes of c's rivals, v in all and at most `left`, that c is not beaten.

    A tied rival counts `node` with shared ties, otherwise 1 if it comes after c.
    """
    poly, spare = work[0], work[1]
    fill_values(poly, 0.0)
    poly[0] = 1.0
    top = 0
    for d in range(len(present)):
        if d == c:
            continue
        tie = node if share else (1.0 if present[d] > present[c] else 0.0)
        fill_values(spare, 0.0)
        new_top = 0
        for b in range(min(rows.shape[1] - 1, left) + 1):
            below, tied = beaten[d, b, 0, 1], beaten[d, b, 1, 1] - beaten[d, b, 0, 1]
            value = rows[d, b] * (below + tie * max(tied, 0.0))
            if value > 0.0:
                for v in range(min(top, left - b) + 1):
                    spare[v + b] += poly[v] * value
                new_top = max(new_top, min(top + b, left))
        copy_values(spare, poly)
        top = new_top
    return top


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _score_class(present, rule, lists, duel, c, last, last_vote, out):
    """out[m, b] = P(class c wins with b voters before the last one, of class `last`).

    Returns False if a tie was not clear.
    """
    versions, rows, beaten = duel
    n_votes = rows.shape[2]
    work = np.empty((2, n_votes))
    starts = lists.starts[versions[c]]
    for b in range(n_votes):
        for d in range(len(versions)):
            for i in range(n_votes):
                beaten[d, i, 0, 0] = beaten[d, i, 1, 0] = lists.starts[versions[d], i]
                beaten[d, i, 0, 1] = beaten[d, i, 1, 1] = 0.0
        if largest_component(rows, c, b) <= 0.0:
            continue
        for entry in range(starts[b], starts[b + 1]):
            for d in range(len(versions)):
                times = int(c == last) - int(d == last)
                if d != c and not _advance(lists, versions[d], entry, last_vote, times, beaten[d]):
                    return False
            for m in range(rows.shape[0]):
                factor = lists.mass[entry] * rows[m, c, b]
                if factor == 0.0:
                    continue
                for q in range(len(rule.nodes)):
                    left = n_votes - 1 - b
                    top = _multiply_rivals(
                        c, present, rows[m], beaten, rule.nodes[q], rule.share, left, work
                    )
                    for v in range(top + 1):
                        out[m, b + v] += factor * rule.node_weights[q] * work[0, v]
    return True


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _duel(vote, lists, prefix, last_vote, found):
    """One prefix: what every class wins, and its weight; returns False if a tie was not clear."""
    row, rule, law = vote.row, vote.rule, vote.law
    total, slots, last, chance = count(prefix.seen), rule.slots, prefix.last, prefix.chance
    if last >= 0 and (total > law.reach or chance < NEGLIGIBLE):
        return True
    n_components, n_classes, n_votes = law.rows.shape[0], len(row.present), len(slots) - 1
    rows = np.empty((n_components, n_classes, n_votes))
    polynomial = np.empty((n_components, n_votes))
    scores = np.empty((n_components, n_votes))
    fill_rows(law, row, prefix.seen, last, rows, polynomial, scores[0])
    largest = 0.0
    for m in range(n_components):
        added = add_mass(law, slots, polynomial[m], m, total, chance, last >= 0, found.visited)
        largest = max(largest, added)
    if largest == 0.0:
        return True
    versions = np.empty(n_classes, np.int64)
    for p in range(n_classes):
        versions[p] = lists.first[p] + prefix.taken[p]
    duel = ListDuel(versions, rows, np.empty((n_classes, n_votes, 2, 2)))
    for c in range(n_classes):
        if rule.target >= 0 and row.present[c] != rule.target:
            continue
        for m in range(n_components):
            fill_values(scores[m], 0.0)
        if not _score_class(row.present, rule, lists, duel, c, last, last_vote, scores):
            return False
        line = 0 if rule.target >= 0 else row.present[c]
        for m in range(n_components):
            add_mass(law, slots, scores[m], m, total, chance, last >= 0, found.won[line])
    return True


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def fits(vote, first, cap, most_work):
    """Whether no list grows beyond `cap` and counting takes at most `most_work` steps."""
    row, n_components = vote.row, vote.law.rows.shape[0]
    n_votes, n_classes = len(vote.rule.slots) - 1, len(row.present)
    unit, n_digits = lowest_bit(row, first)
    old, new = two_pools(row, first, n_votes, cap, n_digits)
    first_lists(n_classes, old)
    weight, moved = np.empty(n_digits, np.int64), np.empty(n_digits, np.int64)
    before = np.empty(n_classes, np.int64)
    copy_values(row.passed, before)
    items, work = np.int64(0), 0.0
    for g in range(first, len(row.members)):
        write_weight(row.mantissa[g], row.exponent[g], unit, weight)
        if not enter_group(old, new, row.members[g], before, row.passed, weight, moved):
            return False
        for p in range(n_classes):
            before[p] += row.members[g, p]
        items += count(row.members[g])
        prefixes = ways_to_come(row.members[g])
        states = float(new.starts[new.first[n_classes] - 1, n_votes]) * n_digits
        rivals = n_classes * min(n_votes, items + 1.0)
        work += prefixes * states * rivals * (1 + n_components * len(vote.rule.nodes))
        if work > most_work:
            return False
        old, new = new, old
    return True


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def count_votes(vote, first, whole, cap, most_prefixes, found):
    """All votes that end in the groups from `first` on; returns False if a tie was not clear.

    `found` grows. With `whole`, votes that have begun here end here, too (voters at distance 0
    decide alone). Groups with more than `most_prefixes` ways to come are passed over: their votes
    stay unknown.
    """
    row, n_classes = vote.row, len(vote.row.present)
    unit, n_digits = lowest_bit(row, first)
    old, new = two_pools(row, first, len(vote.rule.slots) - 1, cap, n_digits)
    first_lists(n_classes, old)
    weight, moved = np.empty(n_digits, np.int64), np.empty(n_digits, np.int64)
    before, taken = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    seen = np.empty(n_classes, np.int64)
    copy_values(row.passed, before)
    buffer = np.empty(largest_group(row, first) + 2)
    low, high = (0.0, np.int64(0)), (0.0, np.int64(0))
    for g in range(first, len(row.members)):
        members = row.members[g]
        write_weight(row.mantissa[g], row.exponent[g], unit, weight)
        enter_group(old, new, members, before, row.passed, weight, moved)
        low, high = _tolerances(row, first, g, vote.rule)
        last_vote = LastVote(weight, unit, low, high)
        fill_values(taken, 0)
        more = ways_to_come(members) <= most_prefixes
        while more:
            chance, left = see_prefix(members, before, taken, seen, buffer)
            for e in range(n_classes):
                if members[e] > taken[e]:
                    prefix = Prefix(taken, seen, e, chance * (members[e] - taken[e]) / left)
                    if not _duel(vote, new, prefix, last_vote, found):
                        return False
            more = next_prefix(members, taken)
        for p in range(n_classes):
            before[p] += members[p]
        old, new = new, old
    if whole:
        for p in range(n_classes):
            taken[p] = old.first[p + 1] - 1 - old.first[p]
        fill_values(weight, 0)
        last_vote = LastVote(weight, unit, low, high)
        return _duel(vote, old, Prefix(taken, before, -1, 1.0), last_vote, found)
    return True
