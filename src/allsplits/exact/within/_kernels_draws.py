"""Compiled chances of how many voters a class has."""

import numpy as np
from numba import njit

from allsplits.exact.within.kernel_types import BINOMIAL, HYPERGEOMETRIC

#: Chances this far below the largest are left out: less than a rounding, all of them together.
_NEGLIGIBLE = 1e-25


@njit(nogil=True, cache=True, error_model="numpy")
def _ratio(kind, v, n, pool, drawn, rate):
    """P(v + 1 voters) / P(v voters)."""
    if kind == HYPERGEOMETRIC:
        return (n - v) * (drawn - v) / ((v + 1.0) * (pool - n - drawn + v + 1.0))
    if kind == BINOMIAL:
        return (n - v) / (v + 1.0) * (rate / (1.0 - rate))
    return n * rate / (v + 1.0)


@njit(nogil=True, cache=True, error_model="numpy")
def voters_of_class(kind, n, pool, drawn, rate, out):
    """(first, size): out[i] = P(first + i voters) of n candidates within the radius.

    From the mode outwards by ratios, divided by their sum.
    """
    low, high = 0, n
    if kind == HYPERGEOMETRIC:
        low, high = max(0, drawn - (pool - n)), min(n, drawn)
        mode = int((n + 1.0) * (drawn + 1.0) / (pool + 2.0))
    elif kind == BINOMIAL:
        low = n if rate >= 1.0 else 0
        mode = int((n + 1.0) * rate)
    else:
        high = len(out) - 1
        mode = int(n * rate)
    mode = min(max(mode, low), high)
    first = mode
    value = 1.0
    while first > low:
        value /= _ratio(kind, first - 1, n, pool, drawn, rate)
        if value < _NEGLIGIBLE:
            break
        first -= 1
    value = 1.0
    out[mode - first] = 1.0
    for v in range(mode, first, -1):
        value /= _ratio(kind, v - 1, n, pool, drawn, rate)
        out[v - 1 - first] = value
    last = mode
    value = 1.0
    while last < high:
        value *= _ratio(kind, last, n, pool, drawn, rate)
        if value < _NEGLIGIBLE:
            break
        last += 1
        out[last - first] = value
    total = 0.0
    for i in range(last - first + 1):
        total += out[i]
    for i in range(last - first + 1):
        out[i] /= total
    return first, last - first + 1


@njit(nogil=True, cache=True, error_model="numpy")
def draw_row(around, row, drawn, seen, first, size, chances):
    """How many voters each class within the radius of a row has; returns how many classes.

    seen[i] is a class, chances[i] its chances from first[i] voters on.
    """
    own = around.own[row]
    n_seen = 0
    for c in range(around.counts.shape[1]):
        n = around.counts[row, c]
        if n == 0:
            continue
        pool = drawn.pools[c] - (drawn.own_less if c == own else 0)
        seen[n_seen] = c
        first[n_seen], size[n_seen] = voters_of_class(
            drawn.kind, n, pool, min(drawn.train[c], pool), drawn.rate, chances[n_seen]
        )
        n_seen += 1
    return n_seen


@njit(nogil=True, cache=True, error_model="numpy")
def nobody(n_seen, first, chances):
    """P(no class has a voter), if classes are independent."""
    value = 1.0
    for i in range(n_seen):
        value *= chances[i, 0] if first[i] == 0 else 0.0
    return value


@njit(nogil=True, cache=True, error_model="numpy")
def empty_rows(around, start, stop, drawn, totals, longest, out):
    """out[row] = P(no voter)."""
    n_classes = around.counts.shape[1]
    seen = np.empty(n_classes, np.int64)
    first = np.empty(n_classes, np.int64)
    size = np.empty(n_classes, np.int64)
    chances = np.empty((n_classes, longest))
    for row in range(start, stop):
        of_nobody = totals.empty[totals.place[around.counts[row].sum()]]
        if np.isnan(of_nobody):
            n_seen = draw_row(around, row, drawn, seen, first, size, chances)
            of_nobody = nobody(n_seen, first, chances)
        out[row] = of_nobody


@njit(nogil=True, cache=True, error_model="numpy")
def partial_sums(n_seen, first, size, chances, roots, j, sums):
    """sums[i, t] = Σ_{u < t} chances[i, u] ω^(j (first + u)), roots[a] = ω^a."""
    order = len(roots)
    for i in range(n_seen):
        total = 0.0 + 0.0j
        sums[i, 0] = total
        for t in range(size[i]):
            total += chances[i, t] * roots[(j * (first[i] + t)) % order]
            sums[i, t + 1] = total


@njit(nogil=True, cache=True, error_model="numpy")
def below(sums, i, first, size, v):
    """The sum over fewer than v voters of class i."""
    return sums[i, min(max(v - first[i], 0), size[i])]


@njit(nogil=True, cache=True, error_model="numpy")
def roots_of_unity(order):
    """exp(2πi a / order) for all a."""
    angles = 2.0 * np.pi * np.arange(order) / order
    return np.cos(angles) + 1j * np.sin(angles)
