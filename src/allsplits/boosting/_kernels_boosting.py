"""Compiled loops of boosting: one class at a time, each round a step along one example.

Three ways to find the example: the first of a heap, where steps depend on the weights around an
example alone; a look at everybody, where smoothing follows the sum of all weights and every round
changes every step; or all in turn.

A round of the heap updates one pair of sums for each neighbour of each reciprocal neighbour; a
look at everybody adds m small operations (m k if steps have no closed form) for m examples; a
round in turn only looks at the reciprocal neighbours.
"""

import numpy as np
from numba import njit

from allsplits.boosting._kernels_losses import EXPONENTIAL, step_is_longer
from allsplits.boosting._kernels_queue import (
    impure_first,
    next_in_queue,
    queue_up,
    raise_keys,
    strike_first,
)
from allsplits.boosting._kernels_state import (
    key_of,
    record,
    smoothed,
    start,
    step_and_sums,
    step_from_sums,
    sum_weights,
    take_step,
    two_sums,
)

#: Quotients of sums that are less than this share of another belong to shorter steps.
_CLEARLY_LESS = 1.0 - 1e-10


@njit(nogil=True, cache=True, error_model="numpy")
def reverse_neighbors(neighbors, indptr, members):
    """Who has j among the nearest: members[indptr[j]:indptr[j + 1]], in row order."""
    m, k = neighbors.shape
    for i in range(m):
        for rank in range(k):
            indptr[neighbors[i, rank] + 1] += 1
    for j in range(m):
        indptr[j + 1] += indptr[j]
    filled = np.zeros(m, np.int64)
    for i in range(m):
        for rank in range(k):
            j = neighbors[i, rank]
            members[indptr[j] + filled[j]] = i
            filled[j] += 1


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _largest_step(problem, state, free, rule):
    """The free example with the largest step, that step, and whether it is longer than `tol`."""
    kind, smoothing = problem.loss.kind, problem.smoothing
    found, longest, best, quotient = np.int64(0), 0.0, rule.tol, 0.0
    for j in range(len(free)):
        if not free[j]:
            continue
        plus, minus = two_sums(kind, state.sums, j)
        if plus == minus or (rule.positive and plus < minus):
            continue
        own = (max(plus, minus) + smoothing) / (min(plus, minus) + smoothing)
        if kind == EXPONENTIAL:
            # The step is half the logarithm, which is only taken where it may decide.
            if own == quotient or own < _CLEARLY_LESS * quotient:
                continue
        elif not step_is_longer(problem, state.margins, j, plus > minus, best):
            continue
        step = step_from_sums(problem, state, j, 0.0)
        key = key_of(step, rule.positive)
        if key > best:
            found, longest, best, quotient = np.int64(j), step, key, own
    return found, longest, longest != 0.0


@njit(nogil=True, cache=True, error_model="numpy")
def boost_by_queue(problem, neighbors, rule, out):
    """Take the largest step, from a heap; returns the rounds.

    Round t steps along out.chosen[t] by out.steps[t]; out.risks[t] is the mean loss before it.
    """
    m = len(neighbors)
    state = start(problem, out.margins)
    for j in range(m):
        sum_weights(problem, state, j)
    queue, lists = queue_up(problem, state, rule.positive), impure_first(problem, neighbors)
    old = np.empty(m)
    out.risks[0] = state.losses[0]
    for t in range(len(out.steps)):
        j, step, found = next_in_queue(problem, state, queue, rule)
        if not found:
            return t
        step_and_sums(problem, state, lists.rows, j, step, old)
        record(state, out, t, j, step)
        if rule.once:
            strike_first(queue)
        raise_keys(problem, state, queue, lists, rule, (j, step, t))
    return len(out.steps)


@njit(nogil=True, cache=True, error_model="numpy")
def boost_by_looking(problem, neighbors, rule, out):
    """Take the largest step, looking at everybody in every round; returns the rounds."""
    m = len(neighbors)
    state = start(problem, out.margins)
    for j in range(m):
        sum_weights(problem, state, j)
    free, old = np.ones(m, np.bool_), np.empty(m)
    out.risks[0] = state.losses[0]
    for t in range(len(out.steps)):
        j, step, found = _largest_step(smoothed(problem, state), state, free, rule)
        if not found:
            return t
        step_and_sums(problem, state, neighbors, j, step, old)
        record(state, out, t, j, step)
        free[j] = not rule.once
    return len(out.steps)


@njit(nogil=True, cache=True, error_model="numpy")
def boost_in_turn(problem, tol, out):
    """Step along all examples in turn, again and again; returns the rounds.

    It ends when nobody's step was longer than `tol` in a whole turn.
    """
    m = len(out.margins)
    state = start(problem, out.margins)
    out.risks[0] = state.losses[0]
    longest = 0.0
    for t in range(len(out.steps)):
        j = t % m
        sum_weights(problem, state, j)
        step = step_from_sums(smoothed(problem, state), state, j, 0.0)
        take_step(problem, state, j, step)
        record(state, out, t, j, step)
        longest = max(longest, abs(step))
        if j == m - 1:
            if longest <= tol:
                return t + 1
            longest = 0.0
    return len(out.steps)
