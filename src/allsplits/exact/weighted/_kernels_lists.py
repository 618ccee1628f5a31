"""Compiled exact weighted votes: every sum that the voters of a class can have, without rounding.

A class with n candidates has, for every number b of voters, a sorted list of (sum, share of the
b-subsets with that sum). Lists of different classes meet with two pointers, so the cost is that of
the subsets of each class and not of all neighbours together. Sums are whole numbers of as many
digits of 30 bits as the weights of the row need, whatever their ratio: equal weights cancel
exactly, and what is left decides.
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

__all__ = ["Rule", "count_votes", "fits"]

#: Bits of a digit: sums and differences of digits stay far below 64 bits.
BITS = 30
#: A difference is known well enough when this many bits of it have been seen.
ENOUGH = 2.0**80
#: Orders of a tie group that are less likely are not looked at, and count as unknown.
NEGLIGIBLE = 1e-22


class Rule(NamedTuple):
    """How votes are counted: which k, how ties end, which class is asked for (-1: every class).

    slots[k] is where a vote of k goes, -1 if it is not wanted; `nodes` integrate 1/(1 + tied
    rivals) for shared ties; `tolerance` is the share of the lightest vote by which sums may differ
    and still tie.
    """

    slots: np.ndarray
    share: bool
    target: int
    nodes: np.ndarray
    node_weights: np.ndarray
    tolerance: float


class Lists(NamedTuple):
    """Lists of several versions of each class: version first[p] + d has d items of the group."""

    digits: np.ndarray
    mass: np.ndarray
    starts: np.ndarray
    first: np.ndarray


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _lowest_bit(row, first, last):
    """(exponent below the last bit of the lightest weight, digits that sums of the row need)."""
    low, high, items = np.int64(1 << 40), np.int64(-(1 << 40)), np.int64(1)
    for g in range(first, last):
        items += count(row.members[g])
        if row.mantissa[g] > 0.0:
            low, high = min(low, row.exponent[g]), max(high, row.exponent[g])
    if low > high:
        return np.int64(0), np.int64(1)
    bits = high - low + 54 + int(math.log2(items) + 1.0)
    return low - 53, bits // BITS + 1


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _write_weight(mantissa, exponent, unit, out):
    """The weight as digits, most significant first."""
    fill_values(out, 0)
    if mantissa == 0.0:
        return
    whole = np.int64(mantissa * 2.0**53)
    place = exponent - 53 - unit
    digit, shift = len(out) - 1 - place // BITS, place % BITS
    carry = np.int64(0)
    while whole > 0 or carry > 0:
        value = ((whole & ((1 << BITS) - 1)) << shift) + carry
        out[digit] = value & ((1 << BITS) - 1)
        carry = value >> BITS
        whole >>= BITS
        digit -= 1


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_digits(left, right, out):
    carry = np.int64(0)
    for i in range(len(out) - 1, -1, -1):
        value = left[i] + right[i] + carry
        out[i] = value & ((1 << BITS) - 1)
        carry = value >> BITS


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _order(left, right):
    for i in range(len(left)):
        if left[i] != right[i]:
            return 1 if left[i] > right[i] else -1
    return 0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _merge(lists, a, a_end, factor_a, b, b_end, factor_b, weight, moved, at):
    """Write list a and list b with `weight` added as one at `at`; returns its end, -1 if full."""
    digits, mass = lists.digits, lists.mass
    if at + (a_end - a) + (b_end - b) > len(mass):
        return np.int64(-1)
    if b < b_end:
        _add_digits(digits[b], weight, moved)
    while a < a_end or b < b_end:
        which = 1
        if b == b_end:
            which = -1
        elif a < a_end:
            which = _order(digits[a], moved)
        value = 0.0
        if which <= 0:
            copy_values(digits[a], digits[at])
            value += mass[a] * factor_a
            a += 1
        if which >= 0:
            copy_values(moved, digits[at])
            value += mass[b] * factor_b
            b += 1
            if b < b_end:
                _add_digits(digits[b], weight, moved)
        mass[at] = value
        at += 1
    return at


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _insert(lists, version, drawable, weight, moved):
    """The next version: one more item. `drawable` items were there; returns whether it fits."""
    starts = lists.starts
    at = starts[version, starts.shape[1] - 1]
    for b in range(starts.shape[1] - 1):
        starts[version + 1, b] = at
        if b <= drawable + 1:
            stay = starts[version, b], starts[version, b + 1]
            come = (starts[version, b - 1], starts[version, b]) if b > 0 else (at, at)
            total = drawable + 1.0
            at = _merge(
                lists, stay[0], stay[1], (total - b) / total, come[0], come[1], b / total, weight,
                moved, at,
            )  # fmt: skip
            if at < 0:
                return False
    starts[version + 1, starts.shape[1] - 1] = at
    return True


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _start(n_classes, lists):
    """Before the first group: nobody has voted, all sums are 0."""
    for p in range(n_classes):
        fill_values(lists.digits[p], 0)
        lists.mass[p] = 1.0
        lists.first[p] = p
        fill_values(lists.starts[p], p + 1)
        lists.starts[p, 0] = p
    lists.first[n_classes] = n_classes


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _enter_group(old, new, members, before, passed, weight, moved):
    """All versions of the classes within a tie group; returns whether they fit."""
    at, version, n_votes = np.int64(0), np.int64(0), new.starts.shape[1] - 1
    for p in range(len(members)):
        new.first[p] = version
        last = old.first[p + 1] - 1
        begin, end = old.starts[last, 0], old.starts[last, n_votes]
        if at + end - begin > len(new.mass):
            return False
        for b in range(new.starts.shape[1]):
            new.starts[version, b] = old.starts[last, b] - begin + at
        for i in range(begin, end):
            copy_values(old.digits[i], new.digits[at])
            new.mass[at] = old.mass[i]
            at += 1
        for d in range(members[p]):
            if not _insert(new, version, before[p] - passed[p] + d, weight, moved):
                return False
            version += 1
        at = new.starts[version, n_votes]
        version += 1
    new.first[len(members)] = version
    return True


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _clip(exponent):
    """An exponent that neither overflows nor underflows; beyond it the comparison is the same."""
    return int(min(max(exponent, -900), 900))


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _standing(left, right, weight, times, unit, low, high):
    """Whether left + times · weight is above right (1), below (-1) or tied (0); 2: not clear.

    `low` and `high` = (mantissa, exponent): what differs by up to `low` ties, by more than `high`
    does not.
    """
    total = 0.0
    rest = len(left)
    for i in range(len(left)):
        total = total * 2.0**BITS + (left[i] - right[i] + times * weight[i])
        rest -= 1
        if abs(total) > ENOUGH:
            break
    scale = unit + BITS * rest
    if abs(total) <= math.ldexp(low[0], _clip(low[1] - scale)):
        return 0
    if abs(total) <= math.ldexp(high[0], _clip(high[1] - scale)):
        return 2
    return 1 if total > 0.0 else -1


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
def _advance(lists, d, versions, entry, weight, times, unit, low, high, beaten):
    """Move the pointers of class d up to the sum at `entry`; returns whether all was clear.

    beaten[d, b] = (below up to, shares below, tied up to, shares below or tied).
    """
    starts = lists.starts[versions[d]]
    for b in range(len(starts) - 1):
        while beaten[d, b, 0] < starts[b + 1]:
            at = int(beaten[d, b, 0])
            found = _standing(lists.digits[entry], lists.digits[at], weight, times, unit, low, high)
            if found == 2:
                return False
            if found < 1:
                break
            beaten[d, b, 1] += lists.mass[at]
            beaten[d, b, 0] += 1.0
        while beaten[d, b, 2] < starts[b + 1]:
            at = int(beaten[d, b, 2])
            found = _standing(lists.digits[entry], lists.digits[at], weight, times, unit, low, high)
            if found == 2:
                return False
            if found < 0:
                break
            beaten[d, b, 3] += lists.mass[at]
            beaten[d, b, 2] += 1.0
    return True


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _multiply_rivals(c, present, rows, beaten, node, share, left, poly, spare):
    """poly[v] = Σ over the votes of c's rivals, v in all and at most `left`, that c is not beaten.

    A tied rival counts `node` with shared ties, otherwise 1 if it comes after c.
    """
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
            below, tied = beaten[d, b, 1], beaten[d, b, 3] - beaten[d, b, 1]
            value = rows[d, b] * (below + tie * max(tied, 0.0))
            if value > 0.0:
                for v in range(min(top, left - b) + 1):
                    spare[v + b] += poly[v] * value
                new_top = max(new_top, min(top + b, left))
        copy_values(spare, poly)
        top = new_top
    return top


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _score_class(lists, c, versions, row, rule, rows, last, weight, unit, low, high, beaten, out):
    """out[part, b] = P(class c wins with b voters before the last one, of class `last`).

    Returns False if a tie was not clear.
    """
    n_votes = rows.shape[2]
    poly, spare = np.empty(n_votes), np.empty(n_votes)
    starts = lists.starts[versions[c]]
    for b in range(n_votes):
        for d in range(len(versions)):
            for i in range(n_votes):
                beaten[d, i, 0] = beaten[d, i, 2] = lists.starts[versions[d], i]
                beaten[d, i, 1] = beaten[d, i, 3] = 0.0
        if largest_part(rows, c, b) <= 0.0:
            continue
        for entry in range(starts[b], starts[b + 1]):
            for d in range(len(versions)):
                times = int(c == last) - int(d == last)
                if d != c and not _advance(
                    lists, d, versions, entry, weight, times, unit, low, high, beaten
                ):
                    return False
            for part in range(rows.shape[0]):
                factor = lists.mass[entry] * rows[part, c, b]
                if factor == 0.0:
                    continue
                for q in range(len(rule.nodes)):
                    left = n_votes - 1 - b
                    top = _multiply_rivals(
                        c, row.present, rows[part], beaten, rule.nodes[q], rule.share, left, poly,
                        spare,
                    )  # fmt: skip
                    for v in range(top + 1):
                        out[part, b + v] += factor * rule.node_weights[q] * poly[v]
    return True


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _duel(lists, taken, row, rule, law, seen, last, weight, unit, low, high, chance, won, visited):
    """One prefix: what every class wins goes to won[class, part, slot], its weight to `visited`."""
    total = count(seen)
    if last >= 0 and (total > law.reach or chance < NEGLIGIBLE):
        return True
    n_parts, n_classes, n_votes = law.rows.shape[0], len(row.present), len(rule.slots) - 1
    rows = np.empty((n_parts, n_classes, n_votes))
    polynomial = np.empty((n_parts, n_votes))
    scores = np.empty((n_parts, n_votes))
    fill_rows(law, row, seen, last, rows, polynomial, scores[0])
    largest = 0.0
    for part in range(n_parts):
        added = add_mass(law, polynomial[part], part, total, chance, last >= 0, rule.slots, visited)
        largest = max(largest, added)
    if largest == 0.0:
        return True
    versions = np.empty(n_classes, np.int64)
    for p in range(n_classes):
        versions[p] = lists.first[p] + taken[p]
    beaten = np.empty((n_classes, n_votes, 4))
    for c in range(n_classes):
        if rule.target >= 0 and row.present[c] != rule.target:
            continue
        for part in range(n_parts):
            fill_values(scores[part], 0.0)
        if not _score_class(
            lists, c, versions, row, rule, rows, last, weight, unit, low, high, beaten, scores
        ):
            return False
        line = 0 if rule.target >= 0 else row.present[c]
        for part in range(n_parts):
            add_mass(law, scores[part], part, total, chance, last >= 0, rule.slots, won[line])
    return True


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _pools(row, first, last, n_votes, cap, n_digits):
    n_classes = len(row.present)
    n_versions = largest_group(row, first, last) + n_classes
    return (
        Lists(
            np.empty((cap, n_digits), np.int64), np.empty(cap),
            np.empty((n_versions, n_votes + 1), np.int64), np.empty(n_classes + 1, np.int64),
        ),
        Lists(
            np.empty((cap, n_digits), np.int64), np.empty(cap),
            np.empty((n_versions, n_votes + 1), np.int64), np.empty(n_classes + 1, np.int64),
        ),
    )  # fmt: skip


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def fits(row, first, rule, n_parts, cap, most_work):
    """Whether no list grows beyond `cap` and counting takes at most `most_work` steps."""
    n_votes, n_classes, last = len(rule.slots) - 1, len(row.present), len(row.members)
    unit, n_digits = _lowest_bit(row, first, last)
    old, new = _pools(row, first, last, n_votes, cap, n_digits)
    _start(n_classes, old)
    weight, moved = np.empty(n_digits, np.int64), np.empty(n_digits, np.int64)
    before = np.empty(n_classes, np.int64)
    copy_values(row.passed, before)
    items, work = np.int64(0), 0.0
    for g in range(first, last):
        _write_weight(row.mantissa[g], row.exponent[g], unit, weight)
        if not _enter_group(old, new, row.members[g], before, row.passed, weight, moved):
            return False
        for p in range(n_classes):
            before[p] += row.members[g, p]
        items += count(row.members[g])
        prefixes = ways_to_come(row.members[g])
        states = float(new.starts[new.first[n_classes] - 1, n_votes]) * n_digits
        rivals = n_classes * min(n_votes, items + 1.0)
        work += prefixes * states * rivals * (1 + n_parts * len(rule.nodes))
        if work > most_work:
            return False
        old, new = new, old
    return True


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def count_votes(row, first, rule, law, whole, cap, most_prefixes, won, visited):
    """All votes that end in the groups from `first` on; returns False if a tie was not clear.

    won[class, part, slot] and visited[part, slot] grow. With `whole`, votes that have begun here
    end here, too (voters at distance 0 decide alone). Groups with more than `most_prefixes` ways
    to come are passed over: their votes stay unknown.
    """
    n_votes, n_classes, last = len(rule.slots) - 1, len(row.present), len(row.members)
    unit, n_digits = _lowest_bit(row, first, last)
    old, new = _pools(row, first, last, n_votes, cap, n_digits)
    _start(n_classes, old)
    weight, moved = np.empty(n_digits, np.int64), np.empty(n_digits, np.int64)
    before, taken = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    seen = np.empty(n_classes, np.int64)
    copy_values(row.passed, before)
    buffer = np.empty(largest_group(row, first, last) + 2)
    low, high = (0.0, np.int64(0)), (0.0, np.int64(0))
    for g in range(first, last):
        members = row.members[g]
        _write_weight(row.mantissa[g], row.exponent[g], unit, weight)
        _enter_group(old, new, members, before, row.passed, weight, moved)
        low, high = _tolerances(row, first, g, rule)
        fill_values(taken, 0)
        more = ways_to_come(members) <= most_prefixes
        while more:
            chance = prefix_chance(members, taken, buffer)
            left = count(members) - count(taken)
            for p in range(n_classes):
                seen[p] = before[p] + taken[p]
            for e in range(n_classes):
                if members[e] > taken[e] and not _duel(
                    new, taken, row, rule, law, seen, e, weight, unit, low, high,
                    chance * (members[e] - taken[e]) / left, won, visited,
                ):  # fmt: skip
                    return False
            more = next_prefix(members, taken)
        for p in range(n_classes):
            before[p] += members[p]
        old, new = new, old
    if whole:
        for p in range(n_classes):
            taken[p] = old.first[p + 1] - 1 - old.first[p]
        fill_values(weight, 0)
        return _duel(
            old, taken, row, rule, law, before, -1, weight, unit, low, high, 1.0, won, visited
        )
    return True
