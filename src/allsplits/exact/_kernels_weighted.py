"""Compiled weighted votes between two classes: meet in the middle.

Voters of the first class push a sum up by their weight, voters of the other push it down. From the
nearest group on, lists hold every reachable sum with its probability; from the farthest group
back, lists hold what may still be added. The shorter family takes the next step until both meet,
and pairs are counted with two pointers: 2^(M/2) states instead of 2^M for M neighbours. Sums that
no further voter can turn are settled at once.
"""

import numpy as np
from numba import njit

from allsplits.exact._kernels_lists import (
    SHORTEST,
    merge_lists,
    settle_pairs,
    squeeze_lists,
    trim_list,
)
from allsplits.exact._kernels_steps import members_of_class, voters_from_group

__all__ = ["ZERO_WEIGHT", "two_class_vote"]

#: Weight of voters at distance 0, among whom plain numbers decide.
ZERO_WEIGHT = 1 << 40


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _fill_chances(n_candidates, train_size, s, size, k, chances):
    """chances[t, y] = P(y voters from the group, given t voters among the s items before)."""
    for t in range(min(s, k - 1) + 1):
        if size == 1:
            left = float(n_candidates - s)
            chances[t, 0] = (left - (train_size - t)) / left
            chances[t, 1] = (train_size - t) / left
        else:
            voters_from_group(n_candidates, train_size, s, t, size, k - t, chances[t])


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _list_parts(target, s, up, down, weight, k, backward, chances, starts, row, parts, factors):
    """Which lists make up the list `target` after a step: parts = (source, shift), with factors.

    Forward a list comes from shorter votes, backward from longer ones.
    """
    n = 0
    size = up + down
    room = min(size, k - target if backward else target)
    for y in range(room + 1):
        source = target + y if backward else target - y
        before = target if backward else source
        if before > s or starts[source + 1] == starts[source]:
            continue
        chance = chances[before, y]
        if chance <= 0.0:
            continue
        low, high = members_of_class(up, down, y, row)
        for b in range(low, high + 1):
            parts[n, 0] = source
            parts[n, 1] = weight * (2 * b - y)
            factors[n] = chance * row[b]
            n += 1
    return n


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _write_list(
    sums, mass, starts, parts, factors, n, new_sums, new_mass, at, spare_sums, spare_mass
):
    """Merge the parts of one list, one after the other; returns where it ends."""
    if n == 0:
        return at
    left_sums, left_mass = sums, mass
    left, left_end = starts[parts[0, 0]], starts[parts[0, 0] + 1]
    shift, factor = parts[0, 1], factors[0]
    end = at
    for i in range(1, max(n, 2)):
        part = parts[min(i, n - 1), 0]
        right, right_end = starts[part], starts[part + 1] if i < n else starts[part]
        last = i >= n - 1
        to_sums, to_mass = spare_sums[i % 2], spare_mass[i % 2]
        begin = left * 0
        if last:
            to_sums, to_mass, begin = new_sums, new_mass, at
        end = merge_lists(
            left_sums, left_mass, left, left_end, shift, factor,
            sums, mass, right, right_end, parts[min(i, n - 1), 1], factors[min(i, n - 1)],
            to_sums, to_mass, begin,
        )  # fmt: skip
        left_sums, left_mass, left, left_end = to_sums, to_mass, begin, end
        shift, factor = begin * 0, 1.0
    return end


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _step(
    n_candidates, train_size, s, up, down, weight, k, backward, cap, now, then, rare, chances,
    row, parts, factors, sums, mass, starts, widths, new_starts, new_widths, side, spare_sums,
    spare_mass,
):  # fmt: skip
    """Take one tie group into a family of lists; the new family is on the other side.

    now[t] and then[t] are the probabilities of t voters at the border where the family stands and
    at the one it goes to. Lists that are rarer than `rare` are given up.
    """
    _fill_chances(n_candidates, train_size, s, up + down, k, chances)
    n_lists = k + 1 if backward else k
    while True:
        wanted = np.int64(0)
        for t in range(k):
            for y in range(min(up + down, k - t if backward else t) + 1):
                source = t + y if backward else t - y
                ways = min(up, y) - max(0, y - down) + 1
                wanted += ways * (starts[source + 1] - starts[source])
        if wanted <= cap or starts[n_lists] <= SHORTEST * n_lists:
            break
        room = int(0.5 * cap / wanted * starts[n_lists])
        squeeze_lists(sums[side], mass[side], starts, widths, n_lists, now, room)
    at = np.int64(0)
    for t in range(k):
        new_starts[t] = at
        new_widths[t] = 0
        if then[t] < rare:
            continue
        n = _list_parts(t, s, up, down, weight, k, backward, chances, starts, row, parts, factors)
        for i in range(n):
            new_widths[t] = max(new_widths[t], widths[parts[i, 0]])
        at = _write_list(
            sums[side], mass[side], starts, parts, factors, n,
            sums[1 - side], mass[1 - side], at, spare_sums, spare_mass,
        )  # fmt: skip
    new_starts[k] = at
    if backward:
        # Whoever has k voters is done and adds nothing.
        sums[1 - side, at], mass[1 - side, at] = 0, 1.0
        new_widths[k] = 0
        new_starts[k + 1] = at + 1


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _settle_finished(
    up, down, weight, k, s, chances, row, sums, mass, starts, widths, tolerance, settled
):  # fmt: skip
    """Votes that end in this group: settled += (ahead, behind, tie) masses."""
    for t in range(max(0, k - up - down), min(k - 1, s) + 1):
        if starts[t] == starts[t + 1] or chances[t, k - t] <= 0.0:
            continue
        low, high = members_of_class(up, down, k - t, row)
        for b in range(low, high + 1):
            factor = chances[t, k - t] * row[b]
            shift = weight * (2 * b - (k - t))
            for i in range(starts[t], starts[t + 1]):
                total = sums[i] + shift
                if total > tolerance:
                    settled[0] += factor * mass[i]
                elif total + widths[t] < -tolerance:
                    settled[1] += factor * mass[i]
                elif widths[t] == 0:
                    settled[2] += factor * mass[i]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _settle_nearest(sums, mass, starts, k, settled):
    """After the voters at distance 0: if there was one, they alone decide."""
    for i in range(starts[1], starts[k]):
        settled[0 if sums[i] > 0 else (1 if sums[i] < 0 else 2)] += mass[i]
    for t in range(2, k + 1):
        starts[t] = starts[1]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _trim(sums, mass, starts, widths, k, up_to_come, down_to_come, tolerance, settled):
    """Settle what no later voter can turn, and close the gaps.

    up_to_come[u] is what the u heaviest later items of the first class weigh together.
    """
    at = np.int64(0)
    begin = starts[0]
    for t in range(k):
        end = starts[t + 1]
        low, high = -up_to_come[k - t] - tolerance, down_to_come[k - t] + tolerance
        first, last = trim_list(sums, mass, begin, end, widths[t], low, high, settled)
        starts[t] = at
        for i in range(first, last):
            sums[at], mass[at] = sums[i], mass[i]
            at += 1
        begin = end
    starts[k] = at


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _fill_to_come(counts, weights, n_groups, k, out):
    """out[i, u] = what the u heaviest items of groups i and later weigh together."""
    heaviest = np.zeros(k, np.int64)
    for u in range(k + 1):
        out[n_groups, u] = 0
    for i in range(n_groups - 1, -1, -1):
        for _ in range(min(counts[i], k)):
            weight = weights[i]
            for u in range(k):
                if heaviest[u] < weight:
                    heaviest[u], weight = weight, heaviest[u]
        out[i, 0] = 0
        for u in range(k):
            out[i, u + 1] = out[i, u] + heaviest[u]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _fill_likely(n_candidates, train_size, k, ups, downs, n_groups, chances, likely):
    """likely[i, t] = P(t voters before group i, and the vote goes on); likely[:, k] = 1."""
    for i in range(n_groups + 1):
        for t in range(k):
            likely[i, t] = 0.0
        likely[i, k] = 1.0
    likely[0, 0] = 1.0
    s = np.int64(0)
    for i in range(n_groups):
        size = ups[i] + downs[i]
        _fill_chances(n_candidates, train_size, s, size, k, chances)
        for t in range(min(s, k - 1) + 1):
            for y in range(min(size, k - 1 - t) + 1):
                likely[i + 1, t + y] += likely[i, t] * chances[t, y]
        s += size


@njit(nogil=True, cache=True, error_model="numpy")
def two_class_vote(
    n_candidates, train_size, k, ups, downs, weights, n_groups, n_zero, cap, rare, settled
):
    """Settled = masses of (first class ahead, second ahead, tie); what is missing is unknown.

    Group i has ups[i] items of the first class and downs[i] of the second, of weight weights[i];
    the first n_zero groups are at distance 0. No more than `cap` states are held in each family,
    and numbers of voters less likely than `rare` are given up.
    """
    # Sums that agree may differ by a unit for each voter.
    tolerance = 2 * k
    largest_group = np.int64(1)
    n_items = np.int64(0)
    for i in range(n_groups):
        largest_group = max(largest_group, min(ups[i] + downs[i], k))
        n_items += ups[i] + downs[i]
    n_parts = (largest_group + 1) * (largest_group + 2) // 2
    # No list is squeezed below SHORTEST, and each part of the next family is one list at most.
    cap = max(cap, SHORTEST * (k + 1) * n_parts)
    sums = np.empty((2, 2, cap + 1), np.int64)
    mass = np.empty((2, 2, cap + 1))
    spare_sums = np.empty((2, cap + 1 if largest_group > 1 else 1), np.int64)
    spare_mass = np.empty((2, cap + 1 if largest_group > 1 else 1))
    starts = np.zeros((2, 2, k + 2), np.int64)
    widths = np.zeros((2, 2, k + 1), np.int64)
    chances = np.empty((k, k + 1))
    row = np.empty(k + 2)
    parts = np.empty((n_parts, 2), np.int64)
    factors = np.empty(n_parts)
    up_to_come = np.empty((n_groups + 1, k + 1), np.int64)
    down_to_come = np.empty((n_groups + 1, k + 1), np.int64)
    _fill_to_come(ups, weights, n_groups, k, up_to_come)
    _fill_to_come(downs, weights, n_groups, k, down_to_come)
    likely = np.empty((n_groups + 1, k + 1))
    _fill_likely(n_candidates, train_size, k, ups, downs, n_groups, chances, likely)
    for c in range(3):
        settled[c] = 0.0
    # Forward family: nobody has voted. Backward family: who has k voters is done.
    sums[0, 0, 0], mass[0, 0, 0] = 0, 1.0
    sums[1, 0, 0], mass[1, 0, 0] = 0, 1.0
    for t in range(1, k + 2):
        starts[0, 0, t] = 1
    starts[1, 0, k + 1] = 1
    # Where each family stands: its next group, the items before that border, and its side.
    border = np.array([0, n_groups])
    items = np.array([0, n_items])
    sides = np.zeros(2, np.int64)
    while border[0] < border[1]:
        f = 0
        if starts[0, sides[0], k] == 0:
            return
        if border[0] >= n_zero and starts[0, sides[0], k] > starts[1, sides[1], k + 1]:
            f = 1
            border[1] -= 1
            items[1] -= ups[border[1]] + downs[border[1]]
        side, i, s = sides[f], border[f], items[f]
        _step(
            n_candidates, train_size, s, ups[i], downs[i], weights[i], k, f == 1, cap,
            likely[i + f], likely[i + 1 - f], rare, chances, row, parts, factors, sums[f], mass[f],
            starts[f, side], widths[f, side], starts[f, 1 - side], widths[f, 1 - side], side,
            spare_sums, spare_mass,
        )  # fmt: skip
        sides[f] = 1 - side
        if f == 1:
            continue
        _settle_finished(
            ups[i], downs[i], weights[i], k, s, chances, row, sums[0, side], mass[0, side],
            starts[0, side], widths[0, side], tolerance, settled,
        )  # fmt: skip
        items[0] += ups[i] + downs[i]
        border[0] += 1
        side = 1 - side
        if border[0] == n_zero:
            _settle_nearest(sums[0, side], mass[0, side], starts[0, side], k, settled)
        if border[0] >= n_zero:
            _trim(
                sums[0, side], mass[0, side], starts[0, side], widths[0, side], k,
                up_to_come[i + 1], down_to_come[i + 1], tolerance, settled,
            )  # fmt: skip
    side, side_back = sides[0], sides[1]
    for t in range(k):
        width = widths[0, side, t] + widths[1, side_back, t]
        settle_pairs(
            sums[0, side], mass[0, side], starts[0, side, t], starts[0, side, t + 1],
            sums[1, side_back], mass[1, side_back], starts[1, side_back, t],
            starts[1, side_back, t + 1], width, tolerance, settled,
        )  # fmt: skip
