"""Compiled loops of boosting: one class at a time, each round a step along one example.

Examples wait in a heap by the length of their step. A step along j changes the margins of those
who have j near, and with them the sums W± of everybody near those. Keys in the heap are upper
bounds: a step that became shorter keeps its key until it comes to the top, where it is computed
anew; a step that became longer is moved up at once. An example whose reciprocal neighbours all
agree with it (or all disagree) only gets shorter steps while their margins rise, so that its step
need not be looked at then; with many classes this is nearly everybody.

The sums are kept in two floats each (the second holds what rounding took from the first): weights
fall by many orders of magnitude, and what is left after subtracting has to be right.

A round of the longest step updates one pair of sums for each neighbour of each reciprocal
neighbour; a round in turn only looks at the reciprocal neighbours.
"""

import math

import numpy as np
from numba import njit

from allsplits.boosting._kernel_types import Lists, Queue, State
from allsplits.boosting._kernels_losses import (
    EXPONENTIAL,
    LOGISTIC,
    closed_step,
    loss_at,
    solve_step,
    step_is_longer,
    weight_at,
)

#: Cuts a float to 40 bits, see `_length`.
_SPLITTER = 2.0**13 + 1.0


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
def _before(keys, a, b):
    """Longer steps first, equal ones in row order."""
    return keys[a] > keys[b] or (keys[a] == keys[b] and a < b)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _put(queue, item, position):
    queue.heap[position] = item
    queue.place[item] = position


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _sift_up(queue, position):
    item = queue.heap[position]
    while position > 0:
        parent = (position - 1) // 2
        if not _before(queue.keys, item, queue.heap[parent]):
            break
        _put(queue, queue.heap[parent], position)
        position = parent
    _put(queue, item, position)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _sift_down(queue, position):
    heap, keys = queue.heap, queue.keys
    item = heap[position]
    while True:
        child = 2 * position + 1
        if child >= len(heap):
            break
        if child + 1 < len(heap) and _before(keys, heap[child + 1], heap[child]):
            child += 1
        if not _before(keys, heap[child], item):
            break
        _put(queue, heap[child], position)
        position = child
    _put(queue, item, position)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _start(loss, margins):
    """Everybody at margin 0."""
    m = len(margins)
    margins[:] = 0.0
    weights, losses = np.full(m, weight_at(loss, 0.0)), np.full(m, loss_at(loss, 0.0))
    return State(margins, weights, losses, np.empty((m, 4)))


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _sum_weights(problem, state, j):
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
def _two_sums(kind, sums, j):
    """W± of example j."""
    plus, minus = sums[j, 0] + sums[j, 1], sums[j, 2] + sums[j, 3]
    if kind == EXPONENTIAL or kind == LOGISTIC:
        # Weights are positive; the sum of those that underflowed may be a rounding below 0.
        plus, minus = max(plus, 0.0), max(minus, 0.0)
    return plus, minus


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _step_from_sums(problem, state, j, guess):
    """The step along j at the present margins; 0 if nobody has j near."""
    kind, smoothing = problem.loss.kind, problem.smoothing
    plus, minus = _two_sums(kind, state.sums, j)
    if plus == minus:
        return 0.0
    if kind < LOGISTIC:
        count = problem.indptr[j + 1] - problem.indptr[j]
        return closed_step(kind, plus, minus, count, smoothing)
    if guess <= 0.0:
        guess = abs(math.log((plus + smoothing) / (minus + smoothing)))
    return solve_step(problem, state.margins, j, plus > minus, guess)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _length(step):
    """How long a step is, to 40 bits: rounding must not decide between equal steps."""
    spread = _SPLITTER * abs(step)
    return spread - (spread - abs(step))


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _take_step(problem, state, j, step, total, lost):
    """Move the margins of j's reciprocal neighbours; returns the sum of all losses.

    The sum is kept with compensation (`lost` is what rounding took from `total`), so that many
    small falls do not drown in a large sum.
    """
    signs, margins, losses = problem.signs, state.margins, state.losses
    for e in range(problem.indptr[j], problem.indptr[j + 1]):
        i = problem.members[e]
        margins[i] += step * (signs[i] * signs[j])
        state.weights[i] = weight_at(problem.loss, margins[i])
        loss = loss_at(problem.loss, margins[i])
        change = (loss - losses[i]) - lost
        following = total + change
        lost = (following - total) - change
        total = following
        losses[i] = loss
    return total, lost


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _impure_first(problem, neighbors):
    """Copy the neighbour lists, those first whose step may get longer while margins rise."""
    m, k = neighbors.shape
    indptr, members, signs = problem.indptr, problem.members, problem.signs
    # Losses whose weights may be negative give no such guarantee for anybody.
    guaranteed = problem.loss.kind == EXPONENTIAL or problem.loss.kind == LOGISTIC
    impure = np.zeros(m, np.bool_)
    for j in range(m):
        start, stop = indptr[j], indptr[j + 1]
        impure[j] = not guaranteed
        for e in range(start + 1, stop):
            if signs[members[e]] != signs[members[start]]:
                impure[j] = True
                break
    rows, n_impure = np.empty((m, k), neighbors.dtype), np.empty(m, np.int64)
    for i in range(m):
        front, back = np.int64(0), k
        for rank in range(k):
            j = neighbors[i, rank]
            if impure[j]:
                rows[i, front] = j
                front += 1
            else:
                back -= 1
                rows[i, back] = j
        n_impure[i] = front
    return Lists(rows, n_impure, np.full(m, -1))


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _change_sums(problem, state, j, rows, old):
    """After a step along j: the sums of everybody near its reciprocal neighbours."""
    signs, sums, weights = problem.signs, state.sums, state.weights
    first, members = problem.indptr[j], problem.members
    for e in range(first, problem.indptr[j + 1]):
        i = members[e]
        for rank in range(rows.shape[1]):
            other = rows[i, rank]
            side = 0 if signs[other] == signs[i] else 2
            _change_sum(sums, other, side, weights[i], old[e - first])


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _raise_keys(problem, state, queue, lists, j, step, stamp):
    """After a step along j: move up whoever's step became longer."""
    keys, sums, signs = queue.keys, state.sums, problem.signs
    rows, n_impure, stamps = lists.rows, lists.n_impure, lists.stamps
    kind, smoothing, margins = problem.loss.kind, problem.smoothing, state.margins
    indptr, members = problem.indptr, problem.members
    for e in range(indptr[j], indptr[j + 1]):
        i = members[e]
        rose = step * (signs[i] * signs[j]) > 0.0
        for position in range(n_impure[i] if rose else rows.shape[1]):
            other = rows[i, position]
            if stamps[other] == stamp or keys[other] < 0.0:
                continue
            stamps[other] = stamp
            if kind >= LOGISTIC:
                forward = sums[other, 0] + sums[other, 1] > sums[other, 2] + sums[other, 3]
                if not step_is_longer(problem, margins, other, forward, keys[other]):
                    continue
                longer = _step_from_sums(problem, state, other, 0.0)
            else:
                plus, minus = _two_sums(kind, sums, other)
                count = indptr[other + 1] - indptr[other]
                longer = closed_step(kind, plus, minus, count, smoothing)
            length = _length(longer)
            if length > keys[other]:
                keys[other] = length
                _sift_up(queue, queue.place[other])


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _next_step(problem, state, queue, tol):
    """The example with the longest step, that step, and whether it is longer than `tol`."""
    heap, keys = queue.heap, queue.keys
    while True:
        j = heap[0]
        if keys[j] <= tol:
            return j, 0.0, False
        step = _step_from_sums(problem, state, j, keys[j])
        # Not shorter than its key, so nobody's step is longer.
        if _length(step) >= keys[j]:
            return j, step, True
        keys[j] = _length(step)
        _sift_down(queue, np.int64(0))


@njit(nogil=True, cache=True, error_model="numpy")
def boost_longest(problem, neighbors, tol, once, out):
    """Always take the longest step (with `once`, each example at most once); returns the rounds.

    Round t steps along out.chosen[t] by out.steps[t]; out.risks[t] is the mean loss before it.
    """
    m, indptr = len(neighbors), problem.indptr
    state = _start(problem.loss, out.margins)
    queue = Queue(np.arange(m), np.arange(m), np.empty(m))
    lists, old = _impure_first(problem, neighbors), np.empty(m)
    for j in range(m):
        _sum_weights(problem, state, j)
        queue.keys[j] = _length(_step_from_sums(problem, state, j, 0.0))
    for position in range(m // 2 - 1, -1, -1):
        _sift_down(queue, position)
    total, lost = m * state.losses[0], 0.0
    out.risks[0] = state.losses[0]
    for t in range(len(out.steps)):
        j, step, found = _next_step(problem, state, queue, tol)
        if not found:
            return t
        for e in range(indptr[j], indptr[j + 1]):
            old[e - indptr[j]] = state.weights[problem.members[e]]
        total, lost = _take_step(problem, state, j, step, total, lost)
        _change_sums(problem, state, j, lists.rows, old)
        out.chosen[t], out.steps[t], out.risks[t + 1] = j, step, total / m
        if once:
            # Below every step: it sinks to the bottom and stays there.
            queue.keys[j] = -1.0
            _sift_down(queue, np.int64(0))
        _raise_keys(problem, state, queue, lists, j, step, t)
    return len(out.steps)


@njit(nogil=True, cache=True, error_model="numpy")
def boost_in_turn(problem, tol, out):
    """Step along all examples in turn, again and again; returns the rounds.

    It ends when nobody's step was longer than `tol` in a whole turn.
    """
    state = _start(problem.loss, out.margins)
    m = len(out.margins)
    total, lost = m * state.losses[0], 0.0
    out.risks[0] = state.losses[0]
    longest = 0.0
    for t in range(len(out.steps)):
        j = t % m
        _sum_weights(problem, state, j)
        step = _step_from_sums(problem, state, j, 0.0)
        total, lost = _take_step(problem, state, j, step, total, lost)
        out.chosen[t], out.steps[t], out.risks[t + 1] = j, step, total / m
        longest = max(longest, abs(step))
        if j == m - 1:
            if longest <= tol:
                return t + 1
            longest = 0.0
    return len(out.steps)
