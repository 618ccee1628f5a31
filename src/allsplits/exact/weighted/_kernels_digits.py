"""Compiled whole numbers of many digits: weights and their sums without rounding.

A number has as many digits of 30 bits as the weights of a row need, most significant first, in
units of the last bit of the lightest weight.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from allsplits.exact.weighted._kernels_law import count, fill_values

#: Bits of a digit: sums and differences of digits stay far below 64 bits.
BITS = 30
#: A difference is known well enough when this many bits of it have been seen.
ENOUGH = 2.0**80


class LastVote(NamedTuple):
    """What the last voter weighs, in units of 2^unit, and which sums tie.

    `low` and `high` = (mantissa, exponent): what differs by up to `low` ties, by more than `high`
    does not.
    """

    digits: np.ndarray
    unit: int
    low: tuple[float, int]
    high: tuple[float, int]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def lowest_bit(row, first):
    """(exponent below the last bit of the lightest weight, digits that sums of the row need)."""
    low, high, items = np.int64(1 << 40), np.int64(-(1 << 40)), np.int64(1)
    for g in range(first, len(row.members)):
        items += count(row.members[g])
        if row.mantissa[g] > 0.0:
            low, high = min(low, row.exponent[g]), max(high, row.exponent[g])
    if low > high:
        return np.int64(0), np.int64(1)
    bits = high - low + 54 + int(math.log2(items) + 1.0)
    return low - 53, bits // BITS + 1


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def write_weight(mantissa, exponent, unit, out):
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
def add_digits(left, right, out):
    """Out = left + right."""
    carry = np.int64(0)
    for i in range(len(out) - 1, -1, -1):
        value = left[i] + right[i] + carry
        out[i] = value & ((1 << BITS) - 1)
        carry = value >> BITS


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def order_of(left, right):
    """1 if left is the larger, -1 if right is, 0 if they are equal."""
    for i in range(len(left)):
        if left[i] != right[i]:
            return 1 if left[i] > right[i] else -1
    return 0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _clip(exponent):
    """An exponent that neither overflows nor underflows; beyond it the comparison is the same."""
    return int(min(max(exponent, -900), 900))


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def standing(digits, a, b, last_vote, times):
    """How digits[a] + times · last vote stands to digits[b].

    Above (1), below (-1) or tied (0); 2: not clear.
    """
    weight, unit, low, high = last_vote
    total = 0.0
    rest = len(weight)
    for i in range(len(weight)):
        total = total * 2.0**BITS + (digits[a, i] - digits[b, i] + times * weight[i])
        rest -= 1
        if abs(total) > ENOUGH:
            break
    scale = unit + BITS * rest
    if abs(total) <= math.ldexp(low[0], _clip(low[1] - scale)):
        return 0
    if abs(total) <= math.ldexp(high[0], _clip(high[1] - scale)):
        return 2
    return 1 if total > 0.0 else -1
