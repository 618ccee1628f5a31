"""Compiled steps of a vote that meets the neighbours in order, tie group by tie group.

Given that t of the s nearest candidates are training items, the next candidate is one with
probability (a - t)/(N - s). A tie group of g items gives y voters; they are a uniform y-subset of
the group, whether the vote ends in the group or not.
"""

from numba import njit

__all__ = ["members_of_class", "voters_from_group"]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def voters_from_group(n_candidates, train_size, s, t, size, room, out):
    """out[y] = P(y voters from a group of `size`), y ≤ room; `room` stands for more as well."""
    for y in range(room + 1):
        out[y] = 0.0
    out[0] = 1.0
    top = 0
    for i in range(size):
        left = float(n_candidates - s - i)
        new_top = min(top + 1, room)
        for y in range(new_top, -1, -1):
            wanted = train_size - t - y
            value = 0.0
            if y <= top:
                value = out[y] if y == room else out[y] * (left - wanted) / left
            if y > 0:
                value += out[y - 1] * (wanted + 1) / left
            out[y] = value
        top = new_top
    return top


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def members_of_class(inside, outside, drawn, out):
    """out[b] = P(b of `inside` among `drawn` of inside + outside items); returns (low, high).

    By ratios from the mode outwards, then divided by the sum: nothing overflows.
    """
    low, high = max(0, drawn - outside), min(inside, drawn)
    mode = (drawn + 1) * (inside + 1) // (inside + outside + 2)
    mode = min(max(mode, low), high)
    out[mode] = 1.0
    total = 1.0
    for b in range(mode, high):
        out[b + 1] = out[b] * ((inside - b) * (drawn - b)) / ((b + 1.0) * (outside - drawn + b + 1))
        total += out[b + 1]
    for b in range(mode, low, -1):
        out[b - 1] = out[b] * (b * (outside - drawn + b)) / ((inside - b + 1.0) * (drawn - b + 1))
        total += out[b - 1]
    for b in range(low, high + 1):
        out[b] /= total
    return low, high
