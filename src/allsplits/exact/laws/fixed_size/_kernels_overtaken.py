"""Compiled ways in which one more item of a rival beats the own class (see `_kernels_losses`).

An item of e that is drawn, θz, with e at the last number of votes that does not beat v, and nobody
else beyond it: θz · (y T[n_e, v] z^v + (1 - y) T[n_e, v-1] z^(v-1)) · Π_{d≠e} F_d.
"""

import numpy as np
from numba import njit

from allsplits.exact._kernels_eight import (
    LANES,
    eight_times,
    is_short,
    load,
    load_at,
    plus,
    store,
    times,
)
from allsplits.exact.laws.fixed_size._kernels_rivals import DOUBT, add_shifted, is_free


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _times_single(n, y, low, high, limit, table, poly, temp):
    """Multiply poly, from `low` to `high`, by Σ_b T[n, b] (yz)^b; returns the highest power."""
    top = min(high + n, limit)
    for x in range(low, top + 1):
        temp[x] = 0.0
    factor = 1.0
    for b in range(min(n, top - low) + 1):
        add_shifted(factor * table[n, b], poly[low:], temp, low + b, min(high, top - b) + 1 - low)
        factor *= y
    for x in range(low, top + 1):
        poly[x] = temp[x]
    return top


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _times_pair(none, one, low, high, top, poly):
    """Multiply poly, from `low` to `high`, by none + one · z in place, up to `top`."""
    if top > high:
        poly[top] = one * poly[high]
    for x in range(high, low, -1):
        poly[x] = none * poly[x] + one * poly[x - 1]
    poly[low] *= none


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _times_capped(row, v, y, least, low, high, top, beaten):
    """Multiply beaten.poly, from `low` to `high`, by F_d from `least` votes on, up to `top`."""
    poly, temp = beaten.poly, beaten.temp
    for x in range(low + least, top + 1):
        temp[x] = 0.0
    for b in range(least, min(v if y > 0.0 else v - 1, top - low) + 1):
        factor = row[b] * y if b == v else row[b]
        add_shifted(factor, poly[low:], temp, low + b, min(high, top - b) + 1 - low)
    for x in range(low + least, top + 1):
        poly[x] = temp[x]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def _multiply_others(e, v, y, limit, doubt, front, losing, beaten):
    """beaten.poly = Π F_d over the rivals but e that are not free, up to `limit`.

    Returns its lowest and its highest power, and how many items the free rivals have; the highest
    is below the lowest if one of them is sure to have more than v votes.
    """
    met, poly, own, share = beaten.met, beaten.poly, front.own, losing.share
    low, high, free, first = np.int64(0), np.int64(0), front.rest - met.prefix[e], v > 1
    poly[0] = 1.0
    one_vote = v == 1 and not share
    if one_vote:
        # Of those that win ties none may have a vote, Π (1 - θ)^n; others with one item are free.
        silent = front.ahead - (met.prefix[e] if e < own else 0)
        poly[0], free = losing.table[silent, 0], free - silent
        doubt += losing.doubts[silent, 0]
        if doubt >= DOUBT:
            return np.int64(1), np.int64(0), free
    for p in range(front.n_rivals):
        d = met.present[p]
        n = met.prefix[d]
        if n < v or (one_vote and n == 1):
            break
        y_d = y if share else (1.0 if d > own else 0.0)
        if d == e or (one_vote and d < own) or is_free(n, v, y_d):
            continue
        if n == 1:
            # All that are left have one item, and v is 1: Π (1 - θ + θyz), in one step.
            n_left = np.int64(0)
            for q in range(p, front.n_rivals):
                n_left += met.prefix[met.present[q]] == 1 and met.present[q] != e
            free -= n_left
            high = _times_single(n_left, y, low, high, limit, losing.table, poly, beaten.temp)
            break
        free -= n
        row, least, most = losing.table[n], losing.fewest[n], v if y_d > 0.0 else v - 1
        top = min(high + most, limit)
        doubt += losing.doubts[n, most]
        if doubt >= DOUBT or low + least > top:
            return np.int64(1), np.int64(0), free
        if v == 1 and least == 0:
            _times_pair(row[0], row[1] * y_d, low, high, top, poly)
        elif first:
            for b in range(least, top + 1):
                poly[b] = row[b] * y_d if b == v else row[b]
        else:
            _times_capped(row, v, y_d, least, low, high, top, beaten)
        first, low, high = False, low + least, top
    return low, high, free


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def add_overtaken(e, v, y, window, front, losing, beaten, line):
    """Add the ways in which an item of e beats v own votes to the line that begins there.

    The window is first and last power.
    """
    first, last = window
    lines, padded, stride = beaten.lines, losing.padded, beaten.lines.shape[1]
    n = beaten.met.prefix[e]
    if not losing.share:
        y = 1.0 if e > front.own else 0.0
    low, high, free = np.int64(-1), np.int64(-1), np.int64(0)
    for cap in range(v - 1, v + 1):
        factor = losing.theta * losing.table[n, cap] * (y if cap == v else 1.0 - y)
        if factor == 0.0:
            continue
        if low < 0:
            # Of shared ties both numbers of votes are in doubt, the larger one less.
            most = v if losing.share else cap
            doubt = losing.doubts[front.n_own, v] + losing.doubts[n, most]
            if doubt >= DOUBT:
                continue
            low, high, free = _multiply_others(e, v, y, last - v, doubt, front, losing, beaten)
        rest = free * stride + LANES
        for b in range(low, high + 1):
            ways, shift = eight_times(factor * beaten.poly[b]), cap + 1 + b
            for x in range(max(first, shift) // LANES * LANES, last + 1, LANES):
                is_short()
                others = times(ways, load_at(padded, rest + x - shift))
                place = (line + x) // LANES
                store(lines, place, plus(load(lines, place), others))
