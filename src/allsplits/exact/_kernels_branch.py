"""Compiled search through weighted votes: three or more classes, and weighted means.

The vote meets the tie groups in order; each way it may go is a branch with its probability. A
branch ends when the leader can no longer be caught, when k have voted, or when it is so unlikely
that it is left open (what is left open is counted). Weights are integers, so sums do not drift.

A group is a row of slots: the first decides how many of the group vote, the others deal these
voters to the parts of the group: classes, or single items where a mean is wanted. The search
keeps one frame per slot and walks forth and back.
"""

import numpy as np
from numba import njit

from allsplits.exact._kernels_steps import members_of_class, voters_from_group

__all__ = ["many_class_vote"]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _settle(sums, k, share, mass, out):
    """Give the mass to the class with the largest sum; ties to the first or in shares.

    Sums that agree may differ by a unit for each voter.
    """
    best = np.int64(-1)
    for c in range(len(sums)):
        best = max(best, sums[c])
    winners = 0
    for c in range(len(sums)):
        if sums[c] >= best - 2 * k:
            winners += 1
    for c in range(len(sums)):
        if sums[c] >= best - 2 * k:
            out[c] += mass / winners if share else mass
            if not share:
                return


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _leader(sums, to_come, k):
    """The class that no other can catch, or -1. to_come[c] is the most that c may still gain."""
    first = 0
    for c in range(1, len(sums)):
        if sums[c] > sums[first]:
            first = c
    for c in range(len(sums)):
        if c != first and sums[c] + to_come[c] >= sums[first] - 2 * k:
            return -1
    return first


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _fill_to_come(counts, weights, k, out):
    """out[i, u, c] = what the u heaviest items of class c in groups i and later weigh."""
    n_classes, n_groups = counts.shape
    heaviest = np.zeros((n_classes, k), np.int64)
    for u in range(k + 1):
        for c in range(n_classes):
            out[n_groups, u, c] = 0
    for i in range(n_groups - 1, -1, -1):
        for c in range(n_classes):
            for _ in range(min(counts[c, i], k)):
                weight = weights[i]
                for u in range(k):
                    if heaviest[c, u] < weight:
                        heaviest[c, u], weight = weight, heaviest[c, u]
            out[i, 0, c] = 0
            for u in range(k):
                out[i, u + 1, c] = out[i, u, c] + heaviest[c, u]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _fill_slots(parts, counts, first_part, slots):
    """slots[j] = (group, part, members); part -1 opens a group. Returns nothing: fills slots.

    Group i has the parts first_part[i]:first_part[i + 1] of `parts`, with so many members.
    """
    at = 0
    for i in range(len(first_part) - 1):
        slots[at, 0], slots[at, 1], slots[at, 2] = i, -1, 0
        for e in range(first_part[i], first_part[i + 1]):
            slots[at, 2] += counts[e]
        at += 1
        for e in range(first_part[i], first_part[i + 1]):
            slots[at, 0], slots[at, 1], slots[at, 2] = i, parts[e], counts[e]
            at += 1


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _ends_here(
    i, n_groups, t, mass, n_candidates, k, n_zero, mean, to_come, share, rare, sums, above, below,
    out,
):  # fmt: skip
    """Whether a branch ends at the border before group i; if it is decided, count it."""
    if t == k or (i == n_zero and t > 0):
        if mean:
            out[0] += mass * (above / below) ** 2
            out[1] += mass
        else:
            _settle(sums, k, share, mass, out)
        return True
    if i == n_groups or mass < rare:
        return True
    if not mean and i >= n_zero:
        leader = _leader(sums, to_come[i, k - t], k)
        if leader >= 0:
            out[leader] += mass
            return True
    return False


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _walk(
    n_candidates, train_size, k, slots, before, next_group, whole, weights, errors, n_zero, mean,
    to_come, share, rare, max_nodes, sums, out,
):  # fmt: skip
    """Follow all branches; `out` gets what they end with."""
    n_slots, n_groups = len(slots), len(before)
    parent = np.empty(n_slots + 1, np.int64)
    parent[0] = -1
    option = np.zeros(n_slots + 1, np.int64)
    last = np.zeros(n_slots + 1, np.int64)
    mass = np.ones(n_slots + 1)
    voted = np.zeros(n_slots + 1, np.int64)
    left = np.zeros(n_slots + 1, np.int64)
    rest = np.zeros(n_slots + 1, np.int64)
    above = np.zeros(n_slots + 1)
    below = np.zeros(n_slots + 1)
    chances = np.empty((n_slots + 1, k + 2))
    at = 0
    entering = True
    while at >= 0:
        opens = at == n_slots or slots[at, 1] < 0
        if entering:
            entering = False
            if opens:
                i = n_groups if at == n_slots else slots[at, 0]
                max_nodes -= 1
                ended = max_nodes < 0 or _ends_here(
                    i, n_groups, voted[at], mass[at], n_candidates, k, n_zero, mean, to_come,
                    share, rare, sums, above[at], below[at], out,
                )  # fmt: skip
                if ended:
                    at = parent[at]
                    continue
                room = k - voted[at]
                voters_from_group(
                    n_candidates, train_size, before[i], voted[at], slots[at, 2], room, chances[at]
                )
                option[at], last[at] = -1, min(room, slots[at, 2])
            else:
                low, high = members_of_class(
                    slots[at, 2], rest[at] - slots[at, 2], left[at], chances[at]
                )
                option[at], last[at] = low - 1, high
                if not mean:
                    sums[slots[at, 1]] += (low - 1) * whole[slots[at, 0]]
        option[at] += 1
        i, part, taken = slots[at, 0], slots[at, 1], option[at]
        if not opens and not mean:
            sums[part] += whole[i]
        if taken > last[at]:
            if not opens and not mean:
                sums[part] -= taken * whole[i]
            at = parent[at]
            continue
        chance = chances[at, taken]
        if chance <= 0.0:
            continue
        still = taken if opens else left[at] - taken
        # Nobody left to deal: the other parts of the group are passed over.
        after = at + 1 if still > 0 else next_group[i]
        parent[after] = at
        mass[after] = mass[at] * chance
        voted[after] = voted[at] + taken if opens else voted[at]
        left[after] = still
        rest[after] = slots[at, 2] if opens else rest[at] - slots[at, 2]
        above[after], below[after] = above[at], below[at]
        if mean and not opens:
            above[after] += taken * weights[i] * errors[part]
            below[after] += taken * weights[i]
        at = after
        entering = True


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _borders(slots, n_groups):
    """before[i] = items before group i; next_group[i] = the slot that opens the group after i."""
    before = np.zeros(n_groups, np.int64)
    next_group = np.empty(n_groups, np.int64)
    s = 0
    for j in range(len(slots)):
        if slots[j, 1] < 0:
            before[slots[j, 0]] = s
            s += slots[j, 2]
        next_group[slots[j, 0]] = j + 1
    return before, next_group


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def many_class_vote(
    n_candidates, train_size, k, counts, weights, n_zero, share, rare, max_nodes, out
):
    """out[c] = P(class c wins); what is missing of 1 is unknown.

    counts[c, i] items of class c are in tie group i and weigh weights[i] each; the first n_zero
    groups are at distance 0. Branches less likely than `rare` are left open, and so are all once
    max_nodes have been visited.
    """
    n_classes, n_groups = counts.shape
    first_part = np.zeros(n_groups + 1, np.int64)
    parts = np.empty(n_groups * n_classes, np.int64)
    members = np.empty(n_groups * n_classes, np.int64)
    n_parts = np.int64(0)
    for i in range(n_groups):
        for c in range(n_classes):
            if counts[c, i] > 0:
                parts[n_parts], members[n_parts] = c, counts[c, i]
                n_parts += 1
        first_part[i + 1] = n_parts
    slots = np.empty((n_groups + n_parts, 3), np.int64)
    _fill_slots(parts, members, first_part, slots)
    before, next_group = _borders(slots, n_groups)
    to_come = np.empty((n_groups + 1, k + 1, n_classes), np.int64)
    _fill_to_come(counts, weights, k, to_come)
    sums = np.zeros(n_classes, np.int64)
    for c in range(n_classes):
        out[c] = 0.0
    nothing = np.empty(0)
    _walk(
        n_candidates, train_size, k, slots, before, next_group, weights, nothing, nothing, n_zero,
        False, to_come, share, rare, max_nodes, sums, out,
    )  # fmt: skip
