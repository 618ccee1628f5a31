"""Where the examples are while one class is boosted: margins, weights, and sums of weights.

The sums are kept in two floats each (the second holds what rounding took from the first): weights
fall by many orders of magnitude, and what is left after subtracting has to be right.
"""

import math

import numpy as np
from numba import njit

from allsplits.boosting._kernel_types import Problem, State
from allsplits.boosting._kernels_losses import (
    EXPONENTIAL,
    LOGISTIC,
    closed_step,
    loss_at,
    solve_step,
    weight_at,
)

#: Cuts a float to 40 bits, see `length_of`.
_SPLITTER = 2.0**13 + 1.0
#: Weights that fell below this are not told from none.
_LEAST_TOTAL = 1e-290


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def start(problem, margins):
    """Everybody at margin 0."""
    m = len(margins)
    margins[:] = 0.0
    weight, loss = weight_at(problem.loss, 0.0), loss_at(problem.loss, 0.0)
    totals = np.zeros((1, 4))
    totals[0, 0], totals[0, 2] = m * loss, m * abs(weight)
    return State(margins, np.full(m, weight), np.full(m, loss), np.empty((m, 4)), totals)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def sum_weights(problem, state, j):
    """W± of example j from scratch: sums[j, 0] and sums[j, 2]."""
    signs, sums = problem.signs, state.sums
    plus, minus = 0.0, 0.0
    for e in range(problem.indptr[j], problem.indptr[j + 1]):
        i = problem.members[e]
        if signs[i] == signs[j]:
            plus += state.weights[i]
        else:
            minus += state.weights[i]
    sums[j, 0], sums[j, 1], sums[j, 2], sums[j, 3] = plus, 0.0, minus, 0.0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _change_sum(sums, j, side, new, old):
    """Replace a weight in a sum; what rounding takes is kept beside it."""
    change = new - old
    back = change + old
    # The rounding of new - old and of the addition below, both without error themselves.
    lost = (new - back) + ((back - change) - old)
    total = sums[j, side] + change
    part = total - sums[j, side]
    lost += (sums[j, side] - (total - part)) + (change - part)
    sums[j, side] = total
    sums[j, side + 1] += lost


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def two_sums(kind, sums, j):
    """W± of example j."""
    plus, minus = sums[j, 0] + sums[j, 1], sums[j, 2] + sums[j, 3]
    if kind == EXPONENTIAL or kind == LOGISTIC:
        # Weights are positive; the sum of those that underflowed may be a rounding below 0.
        plus, minus = max(plus, 0.0), max(minus, 0.0)
    return plus, minus


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def step_from_sums(problem, state, j, guess):
    """The step along j at the present margins; 0 if nobody has j near."""
    kind, smoothing = problem.loss.kind, problem.smoothing
    plus, minus = two_sums(kind, state.sums, j)
    if plus == minus:
        return 0.0
    if kind < LOGISTIC:
        count = problem.indptr[j + 1] - problem.indptr[j]
        return closed_step(kind, plus, minus, count, smoothing)
    if guess <= 0.0:
        guess = abs(math.log((plus + smoothing) / (minus + smoothing)))
    return solve_step(problem, state.margins, j, plus > minus, guess)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def length_of(step):
    """How long a step is, to 40 bits: rounding must not decide between equal steps."""
    spread = _SPLITTER * abs(step)
    return spread - (spread - abs(step))


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def key_of(step, positive):
    """How much a step is wanted: its length, or nothing for one that is not positive."""
    return 0.0 if positive and step < 0.0 else length_of(step)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def smoothed(problem, state):
    """The problem with its smoothing at the present weights: a share of them if normalised."""
    if not problem.normalized:
        return problem
    total = max(state.totals[0, 2] + state.totals[0, 3], _LEAST_TOTAL)
    return Problem(
        problem.loss, problem.indptr, problem.members, problem.signs,
        problem.smoothing * total, problem.pseudo * total, problem.normalized,
    )  # fmt: skip


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def take_step(problem, state, j, step):
    """Move the margins of j's reciprocal neighbours."""
    signs, margins, weights, losses = problem.signs, state.margins, state.weights, state.losses
    for e in range(problem.indptr[j], problem.indptr[j + 1]):
        i = problem.members[e]
        margins[i] += step * (signs[i] * signs[j])
        weight, loss = weight_at(problem.loss, margins[i]), loss_at(problem.loss, margins[i])
        _change_sum(state.totals, 0, 0, loss, losses[i])
        _change_sum(state.totals, 0, 2, abs(weight), abs(weights[i]))
        weights[i], losses[i] = weight, loss


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def step_and_sums(problem, state, neighbors, j, step, old):
    """A step along j, and with it the sums of everybody near its reciprocal neighbours.

    `old` is room for the weights before the step. The neighbour lists may be in any order.
    """
    signs, sums, weights = problem.signs, state.sums, state.weights
    first, members = problem.indptr[j], problem.members
    for e in range(first, problem.indptr[j + 1]):
        old[e - first] = weights[members[e]]
    take_step(problem, state, j, step)
    for e in range(first, problem.indptr[j + 1]):
        i = members[e]
        for rank in range(neighbors.shape[1]):
            other = neighbors[i, rank]
            side = 0 if signs[other] == signs[i] else 2
            _change_sum(sums, other, side, weights[i], old[e - first])


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def record(state, out, t, j, step):
    """Note round t: example, step, and the mean loss after it."""
    out.chosen[t], out.steps[t] = j, step
    # Losses that underflowed may sum to a rounding below 0.
    out.risks[t + 1] = max(state.totals[0, 0] + state.totals[0, 1], 0.0) / len(out.margins)
