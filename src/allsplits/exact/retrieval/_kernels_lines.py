"""Compiled tables of class counts that hold what matters: as wide as a distribution is.

Of a class with N candidates α are in the gallery; how many of its n nearest are is hypergeometric,
and most numbers are out of reach. (`_kernels_draws` holds the first few numbers of all lines.)
"""

import numpy as np
from numba import njit

from allsplits.exact.retrieval.kernel_types import COUNTED, FIRST


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _next_line(pool, drawn, n, low, before, size, faint, out):
    """(first number, how many) of the line of n + 1 items, from the one `before`.

    Numbers from `size` on do not matter, and those less likely than `faint` at either end are left
    out. The upper end never falls.
    """
    left = float(pool - n)
    width = min(len(before) + 1, size - low)
    for e in range(width):
        b = low + e
        value = 0.0
        if e < len(before):
            value = before[e] * max(pool - n - drawn + b, 0) / left
        if e > 0:
            value += before[e - 1] * max(drawn - b + 1, 0) / left
        out[e] = value
    if width > len(before) and out[width - 1] < faint:
        width -= 1
    first = np.int64(0)
    while first < width - 1 and out[first] < faint:
        first += 1
    for e in range(first, width):
        out[e - first] = out[e]
    return low + first, width - first


@njit(nogil=True, cache=True, error_model="numpy")
def fill_lines(pool, drawn, size, faint, variant, offsets, lows, values):
    """Write the lines of a table, from n = 0 on; returns how many values they take, or -1.

    They hold P(b); (b + 1) P(b) if the variant is COUNTED; P(0) alone if it is FIRST. `offsets` has
    an entry more than there are lines. -1: there is no room for all of them.
    """
    line = np.empty(min(size, drawn + 1) + 2)
    spare = np.empty(min(size, drawn + 1) + 2)
    line[0] = 1.0
    low, width, used = np.int64(0), np.int64(1), np.int64(0)
    n_lines = len(lows)
    for n in range(n_lines):
        held = width if variant != FIRST else np.int64(low == 0)
        if used + held > len(values):
            return np.int64(-1)
        offsets[n], lows[n] = used, low
        for e in range(held):
            values[used + e] = line[e] * (low + e + 1.0 if variant == COUNTED else 1.0)
        used += held
        if n + 1 < n_lines:
            low, width = _next_line(pool, drawn, n, low, line[:width], size, faint, spare)
            line, spare = spare, line
    offsets[n_lines] = used
    return used
