"""Compiled shares of the votes within a radius: what log-loss and Brier need.

The numbers of voters of all classes but one are convolved, R(r) = P(r others), together with
A(r) = E[Σ v_d²; r others]. With p(v) of the own class and the factor h of all s = v + r voters,

    E f(v, s) = Σ_v Σ_r p(v) R(r) h(v + r) f(v, v + r).

Sums of terms of one sign only.
"""

import numpy as np
from numba import njit

from allsplits.exact.within._kernels_draws import draw_row

_EPS = 2.0**-52


@njit(nogil=True, cache=True, error_model="numpy")
def _convolve(n_seen, leave, first, size, chances, R, A, space):
    """(first, size) of the others' voters in R, and A beside it; `space` is scratch."""
    low, length = 0, 1
    R[0], A[0] = 1.0, 0.0
    for i in range(n_seen):
        if i == leave:
            continue
        space[0, : length + size[i] - 1] = 0.0
        space[1, : length + size[i] - 1] = 0.0
        for r in range(length):
            for t in range(size[i]):
                chance, v = chances[i, t], float(first[i] + t)
                space[0, r + t] += R[r] * chance
                space[1, r + t] += (A[r] + R[r] * v * v) * chance
        low += first[i]
        length += size[i] - 1
        R[:length] = space[0, :length]
        A[:length] = space[1, :length]
    return low, length


@njit(nogil=True, cache=True, error_model="numpy")
def log_share(v, s, smoothing, n_classes):
    """The log of what a vote of v of s says of a class; smoothing 0 clips as scikit-learn does."""
    if smoothing > 0.0:
        return np.log((v + smoothing) / (s + smoothing * n_classes))
    return np.log(min(max(v / s, _EPS), 1.0 - _EPS))


@njit(nogil=True, cache=True, error_model="numpy")
def share_rows(around, start, stop, drawn, totals, asks, longest, out):
    """out[row] = E[share of the own class], E[Σ shares²], and E[log share] for each smoothing.

    Of votes that have voters.
    """
    n_classes = around.counts.shape[1]
    seen = np.empty(n_classes, np.int64)
    first = np.empty(n_classes, np.int64)
    size = np.empty(n_classes, np.int64)
    chances = np.empty((n_classes, longest))
    R = np.empty(n_classes * longest + 1)
    A = np.empty_like(R)
    space = np.empty((2, len(R)))
    none = np.ones(1)
    for row in range(start, stop):
        n_seen = draw_row(around, row, drawn, seen, first, size, chances)
        own = -1
        for i in range(n_seen):
            own = i if seen[i] == around.own[row] else own
        low, length = _convolve(n_seen, own, first, size, chances, R, A, space)
        line = totals.place[around.counts[row].sum()]
        begin, of_first, order = totals.starts[line], totals.first[line], totals.size[line]
        p = chances[own] if own >= 0 else none
        v_low, n_own = (first[own], size[own]) if own >= 0 else (0, 1)
        out[row] = 0.0
        for t in range(n_own):
            v = v_low + t
            for i in range(length):
                s = v + low + i
                # A line of one factor holds for all numbers of voters.
                at = 0 if order == 1 else s - of_first
                if s == 0 or at < 0 or at >= order:
                    continue
                chance = p[t] * totals.factor[begin + at]
                out[row, 0] += chance * R[i] * (v / s)
                out[row, 1] += chance * (A[i] + R[i] * v * v) / (float(s) * s)
                for k in range(len(asks.smoothings)):
                    f = log_share(float(v), float(s), asks.smoothings[k], n_classes)
                    out[row, 2 + k] += chance * R[i] * f
