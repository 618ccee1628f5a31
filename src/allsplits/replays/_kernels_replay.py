"""Compiled replay of runs on a stored order: who votes."""

import numpy as np
from numba import njit

from allsplits.replays._kernels_draw import uniform

#: How a vote came about: the k nearest were met; some of them were drawn among the tied; the row
#: ended before.
DECIDED, DRAWN, SHORT = 0, 1, 2


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def take(rows, vote, work, e, times):
    """Entry e votes so many times."""
    weight = rows.weights[e] if len(rows.weights) else 1.0
    at_zero = np.isinf(weight)
    line = 1 if at_zero else 0
    weight = 1.0 if at_zero else weight
    item = rows.neighbors[e]
    if vote.mean:
        work.sums[line, 0] += times * weight * vote.targets[item]
        work.sums[line, 1] += times * weight
    else:
        work.sums[line, vote.labels[item]] += times * weight
    if at_zero:
        work.extremes[2] += times
    elif weight > 0:
        work.extremes[0] = min(work.extremes[0], weight)
        work.extremes[1] = max(work.extremes[1], weight)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def copies_of(rows, run, i, e):
    """How many voters entry e of sample i is."""
    item = rows.neighbors[e]
    return run.copies[item] if run.folds[item] != run.folds[i] else 0


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def collect(rows, vote, run, work, i):
    """Let the k nearest vote; who is tied for the last places is drawn. Tells how it ended."""
    work.sums[:] = 0.0
    work.extremes[0], work.extremes[1], work.extremes[2] = np.inf, 0.0, 0.0
    left, e, end = vote.k, rows.indptr[i], rows.indptr[i + 1]
    while e < end and left > 0:
        stop, voters = e + 1, copies_of(rows, run, i, e)
        while vote.average and stop < end and rows.tied[stop]:
            voters += copies_of(rows, run, i, stop)
            stop += 1
        drawn = min(left, voters)
        chosen, at_random = drawn, voters > left and stop > e + 1
        for entry in range(e, stop):
            times = 0
            for _ in range(copies_of(rows, run, i, entry)):
                if not at_random:
                    times += times < chosen
                elif uniform(work.state) * voters < drawn:
                    times += 1
                    drawn -= 1
                voters -= 1
            if not at_random:
                chosen -= times
            if times > 0:
                take(rows, vote, work, entry, times)
                left -= times
        e = stop
        if at_random:
            return DRAWN
    return DECIDED if left == 0 else SHORT


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def slack_of(vote, work):
    """By how much two sums of weights may differ and be equal."""
    if not vote.weighted or work.extremes[2] > 0 or work.extremes[1] == 0:
        return 0.0
    return max(work.extremes[0] * vote.tolerance, work.extremes[1] * 1e-13)
