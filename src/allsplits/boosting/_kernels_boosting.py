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

from allsplits.boosting._kernels_losses import (
    EXPONENTIAL,
    LOGISTIC,
    closed_step,
    loss_at,
    solve_step,
    step_is_longer,
    weight_at,
)

__all__ = ["boost_in_turn", "boost_longest", "reverse_neighbors"]

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
def _sift_up(heap, place, keys, position):
    item = heap[position]
    while position > 0:
        parent = (position - 1) // 2
        if not _before(keys, item, heap[parent]):
            break
        heap[position] = heap[parent]
        place[heap[position]] = position
        position = parent
    heap[position] = item
    place[item] = position


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _sift_down(heap, place, keys, position):
    size = len(heap)
    item = heap[position]
    while True:
        child = 2 * position + 1
        if child >= size:
            break
        if child + 1 < size and _before(keys, heap[child + 1], heap[child]):
            child += 1
        if not _before(keys, heap[child], item):
            break
        heap[position] = heap[child]
        place[heap[position]] = position
        position = child
    heap[position] = item
    place[item] = position


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _start(kind, addresses, margins, weights, losses):
    """Everybody at margin 0."""
    loss, weight = loss_at(kind, addresses, 0.0), weight_at(kind, addresses, 0.0)
    for i in range(len(margins)):
        margins[i] = 0.0
        weights[i] = weight
        losses[i] = loss


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _sum_weights(indptr, members, j, signs, weights, sums):
    """W± of example j from scratch: sums[j, 0] and sums[j, 2]."""
    plus, minus = 0.0, 0.0
    for e in range(indptr[j], indptr[j + 1]):
        i = members[e]
        if signs[i] == signs[j]:
            plus += weights[i]
        else:
            minus += weights[i]
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
def _step_from_sums(
    kind, addresses, indptr, members, j, signs, margins, sums, smoothing, pseudo, guess
):
    """The step along j at the present margins; 0 if nobody has j near."""
    count = indptr[j + 1] - indptr[j]
    plus, minus = sums[j, 0] + sums[j, 1], sums[j, 2] + sums[j, 3]
    if kind == EXPONENTIAL or kind == LOGISTIC:
        # Weights are positive; the sum of those that underflowed may be a rounding below 0.
        plus, minus = max(plus, 0.0), max(minus, 0.0)
    if count == 0 or plus == minus:
        return 0.0
    if kind < LOGISTIC:
        return closed_step(kind, plus, minus, count, smoothing)
    if guess <= 0.0:
        guess = abs(math.log((plus + smoothing) / (minus + smoothing)))
    return solve_step(
        kind, addresses, indptr, members, j, signs, margins, pseudo, plus > minus, guess
    )


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _length(step):
    """How long a step is, to 40 bits: rounding must not decide between equal steps."""
    spread = _SPLITTER * abs(step)
    return spread - (spread - abs(step))


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _take_step(
    kind, addresses, indptr, members, j, signs, step, margins, weights, losses, total, lost
):
    """Move the margins of j's reciprocal neighbours; returns the sum of all losses.

    The sum is kept with compensation (`lost` is what rounding took from `total`), so that many
    small falls do not drown in a large sum.
    """
    for e in range(indptr[j], indptr[j + 1]):
        i = members[e]
        margins[i] += step * (signs[i] * signs[j])
        weights[i] = weight_at(kind, addresses, margins[i])
        loss = loss_at(kind, addresses, margins[i])
        change = (loss - losses[i]) - lost
        following = total + change
        lost = (following - total) - change
        total = following
        losses[i] = loss
    return total, lost


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _impure_first(kind, neighbors, indptr, members, signs, rows, n_impure):
    """Copy the neighbour lists, those first whose step may get longer while margins rise."""
    m, k = neighbors.shape
    # Losses whose weights may be negative give no such guarantee for anybody.
    guaranteed = kind == EXPONENTIAL or kind == LOGISTIC
    impure = np.zeros(m, np.bool_)
    for j in range(m):
        start, stop = indptr[j], indptr[j + 1]
        impure[j] = not guaranteed
        for e in range(start + 1, stop):
            if signs[members[e]] != signs[members[start]]:
                impure[j] = True
                break
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


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _change_sums(indptr, members, j, signs, rows, old, weights, sums):
    """After a step along j: the sums of everybody near its reciprocal neighbours."""
    for e in range(indptr[j], indptr[j + 1]):
        i = members[e]
        for rank in range(rows.shape[1]):
            other = rows[i, rank]
            side = 0 if signs[other] == signs[i] else 2
            _change_sum(sums, other, side, weights[i], old[e - indptr[j]])


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _raise_keys(
    kind, addresses, indptr, members, j, signs, step, margins, sums, smoothing, pseudo,
    rows, n_impure, stamps, stamp, heap, place, keys,
):  # fmt: skip
    """After a step along j: move up whoever's step became longer."""
    k = rows.shape[1]
    for e in range(indptr[j], indptr[j + 1]):
        i = members[e]
        rose = step * (signs[i] * signs[j]) > 0.0
        for position in range(n_impure[i] if rose else k):
            other = rows[i, position]
            if stamps[other] == stamp or keys[other] < 0.0:
                continue
            stamps[other] = stamp
            forward = sums[other, 0] + sums[other, 1] > sums[other, 2] + sums[other, 3]
            if kind >= LOGISTIC and not step_is_longer(
                kind, addresses, indptr, members, other, signs, margins, pseudo, forward,
                keys[other],
            ):  # fmt: skip
                continue
            length = _length(
                _step_from_sums(
                    kind, addresses, indptr, members, other, signs, margins, sums, smoothing,
                    pseudo, 0.0,
                )
            )  # fmt: skip
            if length > keys[other]:
                keys[other] = length
                _sift_up(heap, place, keys, place[other])


@njit(nogil=True, cache=True, error_model="numpy")
def boost_longest(
    kind, addresses, neighbors, indptr, members, signs, smoothing, pseudo, tol, once,
    chosen, steps, risks, margins,
):  # fmt: skip
    """Always take the longest step (with `once`, each example at most once); returns the rounds.

    Round t steps along chosen[t] by steps[t]; risks[t] is the mean loss before it.
    """
    m, k = neighbors.shape
    weights, losses, keys, sums = np.empty(m), np.empty(m), np.empty(m), np.empty((m, 4))
    heap, place, stamps = np.arange(m), np.arange(m), np.full(m, -1)
    rows, n_impure = np.empty((m, k), neighbors.dtype), np.empty(m, np.int64)
    old = np.empty(m)
    _start(kind, addresses, margins, weights, losses)
    _impure_first(kind, neighbors, indptr, members, signs, rows, n_impure)
    for j in range(m):
        _sum_weights(indptr, members, j, signs, weights, sums)
        keys[j] = _length(
            _step_from_sums(
                kind, addresses, indptr, members, j, signs, margins, sums, smoothing, pseudo, 0.0
            )
        )
    for position in range(m // 2 - 1, -1, -1):
        _sift_down(heap, place, keys, position)
    total, lost = m * losses[0], 0.0
    risks[0] = losses[0]
    for t in range(len(steps)):
        while True:
            j = heap[0]
            if keys[j] <= tol:
                return t
            step = _step_from_sums(
                kind, addresses, indptr, members, j, signs, margins, sums, smoothing, pseudo,
                keys[j],
            )  # fmt: skip
            # Not shorter than its key, so nobody's step is longer.
            if _length(step) >= keys[j]:
                break
            keys[j] = _length(step)
            _sift_down(heap, place, keys, np.int64(0))
        for e in range(indptr[j], indptr[j + 1]):
            old[e - indptr[j]] = weights[members[e]]
        total, lost = _take_step(
            kind, addresses, indptr, members, j, signs, step, margins, weights, losses, total, lost
        )
        _change_sums(indptr, members, j, signs, rows, old, weights, sums)
        chosen[t], steps[t], risks[t + 1] = j, step, total / m
        if once:
            # Below every step: it sinks to the bottom and stays there.
            keys[j] = -1.0
            _sift_down(heap, place, keys, np.int64(0))
        _raise_keys(
            kind, addresses, indptr, members, j, signs, step, margins, sums, smoothing, pseudo,
            rows, n_impure, stamps, t, heap, place, keys,
        )  # fmt: skip
    return len(steps)


@njit(nogil=True, cache=True, error_model="numpy")
def boost_in_turn(
    kind, addresses, indptr, members, signs, smoothing, pseudo, tol, chosen, steps, risks, margins
):
    """Step along all examples in turn, again and again; returns the rounds.

    It ends when nobody's step was longer than `tol` in a whole turn.
    """
    m = len(margins)
    weights, losses, sums = np.empty(m), np.empty(m), np.empty((m, 4))
    _start(kind, addresses, margins, weights, losses)
    total, lost = m * losses[0], 0.0
    risks[0] = losses[0]
    longest = 0.0
    for t in range(len(steps)):
        j = t % m
        _sum_weights(indptr, members, j, signs, weights, sums)
        step = _step_from_sums(
            kind, addresses, indptr, members, j, signs, margins, sums, smoothing, pseudo, 0.0
        )
        total, lost = _take_step(
            kind, addresses, indptr, members, j, signs, step, margins, weights, losses, total, lost
        )
        chosen[t], steps[t], risks[t + 1] = j, step, total / m
        longest = max(longest, abs(step))
        if j == m - 1:
            if longest <= tol:
                return t + 1
            longest = 0.0
    return len(steps)
