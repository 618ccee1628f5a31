"""Compiled sorted lists of (weighted sum, mass): the states of a vote between two classes.

A family holds one list for each number t of voters so far, one after the other in flat arrays:
list t is starts[t]:starts[t + 1]. Sums are integers, so equal sums meet exactly. A list that was
squeezed keeps the lower end of each run it merged; its true sums lie at most widths[t] above.
"""

import numpy as np
from numba import njit

__all__ = ["SHORTEST", "merge_lists", "settle_pairs", "squeeze_lists", "trim_list"]

#: Lists are not squeezed to fewer states than this.
SHORTEST = 4


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def merge_lists(
    sums_a, mass_a, a, a_end, shift_a, factor_a,
    sums_b, mass_b, b, b_end, shift_b, factor_b,
    sums, mass, at,
):  # fmt: skip
    """Write two shifted and scaled lists as one, equal sums together; returns where it ends."""
    while a < a_end and b < b_end:
        left, right = sums_a[a] + shift_a, sums_b[b] + shift_b
        if left < right:
            sums[at], mass[at] = left, mass_a[a] * factor_a
            a += 1
        elif right < left:
            sums[at], mass[at] = right, mass_b[b] * factor_b
            b += 1
        else:
            sums[at], mass[at] = left, mass_a[a] * factor_a + mass_b[b] * factor_b
            a += 1
            b += 1
        at += 1
    while a < a_end:
        sums[at], mass[at] = sums_a[a] + shift_a, mass_a[a] * factor_a
        a += 1
        at += 1
    while b < b_end:
        sums[at], mass[at] = sums_b[b] + shift_b, mass_b[b] * factor_b
        b += 1
        at += 1
    return at


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _runs(sums, start, stop, width):
    """How many runs no wider than `width` cover the list."""
    count = 0
    first = sums[start]
    for i in range(start, stop):
        if count == 0 or sums[i] - first > width:
            count += 1
            first = sums[i]
    return count


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def squeeze_lists(sums, mass, starts, widths, n_lists, likely, room):
    """Shorten the lists to about `room` states in all by merging neighbours into runs.

    What a run hides counts with the probability of its list, likely[t]; lists as long as the square
    roots of these hide least.
    """
    at = np.int64(0)
    begin = starts[0]
    total = 0.0
    for t in range(n_lists):
        total += np.sqrt(likely[t])
    for t in range(n_lists):
        end = starts[t + 1]
        starts[t] = at
        target = max(SHORTEST, int(room * np.sqrt(likely[t]) / total))
        width = np.int64(0)
        if end - begin > target:
            width = (sums[end - 1] - sums[begin]) // (4 * target) + 1
            while _runs(sums, begin, end, width) > target:
                width *= 2
        first = at
        widest = np.int64(0)
        for i in range(begin, end):
            if at > first and sums[i] - sums[at - 1] <= width:
                widest = max(widest, sums[i] - sums[at - 1])
                mass[at - 1] += mass[i]
            else:
                sums[at], mass[at] = sums[i], mass[i]
                at += 1
        widths[t] += widest
        begin = end
    starts[n_lists] = at


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def trim_list(sums, mass, start, stop, width, low, high, settled):
    """Take off the ends that are settled: sums above `high` or below `low`, whatever follows."""
    while stop > start and sums[stop - 1] > high:
        stop -= 1
        settled[0] += mass[stop]
    while start < stop and sums[start] + width < low:
        settled[1] += mass[start]
        start += 1
    return start, stop


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add(total, lost, value):
    """Compensated sum (Kahan): long lists must not cost digits."""
    value -= lost
    new = total + value
    return new, (new - total) - value


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def settle_pairs(
    sums_a, mass_a, a, a_end, sums_b, mass_b, b, b_end, width, tolerance, settled
):  # fmt: skip
    """All pairs of two lists: settled += (first class ahead, second ahead, tie) masses.

    As the sums of one list grow, the partners that put them ahead are a growing suffix of the
    other, and from the other end those that put them behind are a growing prefix.
    """
    ahead, ahead_lost = 0.0, 0.0
    partners, partners_lost = 0.0, 0.0
    everyone, everyone_lost = 0.0, 0.0
    p = b_end
    for i in range(a, a_end):
        while p > b and sums_a[i] + sums_b[p - 1] > tolerance:
            p -= 1
            partners, partners_lost = _add(partners, partners_lost, mass_b[p])
        ahead, ahead_lost = _add(ahead, ahead_lost, mass_a[i] * partners)
        everyone, everyone_lost = _add(everyone, everyone_lost, mass_a[i])
    behind, behind_lost = 0.0, 0.0
    partners, partners_lost = 0.0, 0.0
    p = b
    for i in range(a_end - 1, a - 1, -1):
        while p < b_end and sums_a[i] + sums_b[p] + width < -tolerance:
            partners, partners_lost = _add(partners, partners_lost, mass_b[p])
            p += 1
        behind, behind_lost = _add(behind, behind_lost, mass_a[i] * partners)
    settled[0] += ahead
    settled[1] += behind
    if width == 0:
        partners, partners_lost = 0.0, 0.0
        for i in range(b, b_end):
            partners, partners_lost = _add(partners, partners_lost, mass_b[i])
        settled[2] += max(everyone * partners - ahead - behind, 0.0)
