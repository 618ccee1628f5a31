"""Compiled chances of how many voters a class has."""

import numpy as np
from numba import njit

from allsplits.exact.within.kernel_types import BINOMIAL, HYPERGEOMETRIC, Seen

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
def seen_work(election):
    """Scratch for one row after the other."""
    n_classes, longest = election.around.counts.shape[1], election.longest
    return Seen(
        np.empty(n_classes, np.int64), np.empty(n_classes, np.int64),
        np.empty(n_classes, np.int64), np.empty((n_classes, longest)),
        np.empty((n_classes, longest + 1), np.complex128),
    )  # fmt: skip


@njit(nogil=True, cache=True, error_model="numpy")
def draw_row(election, row, seen):
    """How many voters each class within the radius of a row has; returns how many classes."""
    around, drawn = election.around, election.drawn
    own, n_seen = around.own[row], 0
    for c in range(around.counts.shape[1]):
        n = around.counts[row, c]
        if n == 0:
            continue
        pool = drawn.pools[c] - (drawn.own_less if c == own else 0)
        train = min(drawn.train[c], pool)
        seen.classes[n_seen] = c
        seen.first[n_seen], seen.size[n_seen] = voters_of_class(
            drawn.kind, n, pool, train, drawn.rate, seen.chances[n_seen]
        )
        n_seen += 1
    return n_seen


@njit(nogil=True, cache=True, error_model="numpy")
def nobody(seen, n_seen):
    """P(no class has a voter), if classes are independent."""
    value = 1.0
    for i in range(n_seen):
        value *= seen.chances[i, 0] if seen.first[i] == 0 else 0.0
    return value


@njit(nogil=True, cache=True, error_model="numpy")
def line_of(election, row):
    """The line of `Totals` for a row."""
    return election.totals.place[election.around.counts[row].sum()]


@njit(nogil=True, cache=True, error_model="numpy")
def empty_rows(election, start, stop, out):
    """out[row] = P(no voter)."""
    seen = seen_work(election)
    for row in range(start, stop):
        of_nobody = election.totals.empty[line_of(election, row)]
        if np.isnan(of_nobody):
            of_nobody = nobody(seen, draw_row(election, row, seen))
        out[row] = of_nobody


@njit(nogil=True, cache=True, error_model="numpy")
def partial_sums(seen, n_seen, roots, j):
    """sums[i, t] = Σ_{u < t} chances[i, u] ω^(j (first + u)), roots[a] = ω^a."""
    order = len(roots)
    for i in range(n_seen):
        total = 0.0 + 0.0j
        seen.sums[i, 0] = total
        for t in range(seen.size[i]):
            total += seen.chances[i, t] * roots[(j * (seen.first[i] + t)) % order]
            seen.sums[i, t + 1] = total


@njit(nogil=True, cache=True, error_model="numpy")
def below(seen, i, v):
    """The sum over fewer than v voters of class i."""
    return seen.sums[i, min(max(v - seen.first[i], 0), seen.size[i])]


@njit(nogil=True, cache=True, error_model="numpy")
def roots_of_unity(order):
    """exp(2πi a / order) for all a."""
    angles = 2.0 * np.pi * np.arange(order) / order
    return np.cos(angles) + 1j * np.sin(angles)
