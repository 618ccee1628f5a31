"""Compiled shares of the votes within a radius: what log-loss and Brier need.

The numbers of voters of all classes but one are convolved, R(r) = P(r others), together with
A(r) = E[Σ v_d²; r others]. With p(v) of the own class and the factor h of all s = v + r voters,

    E f(v, s) = Σ_v Σ_r p(v) R(r) h(v + r) f(v, v + r).

Sums of terms of one sign only.
"""

import numpy as np
from numba import njit

from allsplits.exact.within._kernels_draws import draw_row, line_of, seen_work

_EPS = 2.0**-52


@njit(nogil=True, cache=True, error_model="numpy")
def _convolve(seen, n_seen, leave, R, A, space):
    """(first, size) of the others' voters in R, and A beside it; `space` is scratch."""
    low, length = 0, 1
    R[0], A[0] = 1.0, 0.0
    for i in range(n_seen):
        if i == leave:
            continue
        space[:, : length + seen.size[i] - 1] = 0.0
        for r in range(length):
            for t in range(seen.size[i]):
                chance, v = seen.chances[i, t], float(seen.first[i] + t)
                space[0, r + t] += R[r] * chance
                space[1, r + t] += (A[r] + R[r] * v * v) * chance
        low += seen.first[i]
        length += seen.size[i] - 1
        R[:length] = space[0, :length]
        A[:length] = space[1, :length]
    return low, length


@njit(nogil=True, cache=True, error_model="numpy")
def _log_share(v, s, smoothing, n_classes):
    """The log of what a vote of v of s says of a class; smoothing 0 clips as scikit-learn does."""
    if smoothing > 0.0:
        return np.log((v + smoothing) / (s + smoothing * n_classes))
    return np.log(min(max(v / s, _EPS), 1.0 - _EPS))


@njit(nogil=True, cache=True, error_model="numpy")
def share_rows(election, start, stop, out):
    """out[row] = E[share of the own class], E[Σ shares²], and E[log share] for each smoothing.

    Of votes that have voters.
    """
    around, totals, smoothings = election.around, election.totals, election.asks.smoothings
    n_classes = around.counts.shape[1]
    seen = seen_work(election)
    R = np.empty(n_classes * election.longest + 1)
    A, space, alone = np.empty_like(R), np.empty((2, len(R))), np.ones(1)
    for row in range(start, stop):
        n_seen, line = draw_row(election, row, seen), line_of(election, row)
        own = -1
        for i in range(n_seen):
            own = i if seen.classes[i] == around.own[row] else own
        low, length = _convolve(seen, n_seen, own, R, A, space)
        p = seen.chances[own] if own >= 0 else alone
        fewest, n_own = (seen.first[own], seen.size[own]) if own >= 0 else (0, 1)
        out[row] = 0.0
        for t in range(n_own):
            v = float(fewest + t)
            for i in range(length):
                # A line of one factor holds for all numbers of voters.
                s, order = fewest + t + low + i, totals.size[line]
                at = 0 if order == 1 else s - totals.first[line]
                if s == 0 or at < 0 or at >= order:
                    continue
                chance = p[t] * totals.factor[totals.starts[line] + at]
                out[row, 0] += chance * R[i] * (v / s)
                out[row, 1] += chance * (A[i] + R[i] * v * v) / (float(s) * s)
                for k in range(len(smoothings)):
                    f = _log_share(v, float(s), smoothings[k], election.asks.n_voting)
                    out[row, 2 + k] += chance * R[i] * f
