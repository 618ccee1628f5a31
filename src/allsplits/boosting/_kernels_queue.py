"""The example with the largest step, from a heap, where steps change only with the weights around.

Examples wait in a heap by their keys. A step along j changes the margins of those who have j near,
and with them the sums W± of everybody near those. Keys in the heap are upper bounds: a step that
became shorter keeps its key until it comes to the top, where it is computed anew; a step that
became longer is moved up at once. An example whose reciprocal neighbours all agree with it (or all
disagree) only gets shorter steps while their margins rise, so that its step need not be looked at
then; with many classes this is nearly everybody.
"""

import numpy as np
from numba import njit

from allsplits.boosting._kernel_types import Lists, Queue
from allsplits.boosting._kernels_losses import EXPONENTIAL, LOGISTIC, step_is_longer
from allsplits.boosting._kernels_state import key_of, step_from_sums


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
def impure_first(problem, neighbors):
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
def queue_up(problem, state, positive):
    """Everybody by the step of the beginning."""
    m = len(state.margins)
    queue = Queue(np.arange(m), np.arange(m), np.empty(m))
    for j in range(m):
        queue.keys[j] = key_of(step_from_sums(problem, state, j, 0.0), positive)
    for position in range(m // 2 - 1, -1, -1):
        _sift_down(queue, position)
    return queue


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def strike_first(queue):
    """The first never comes again: below every step, it sinks to the bottom and stays there."""
    queue.keys[queue.heap[0]] = -1.0
    _sift_down(queue, np.int64(0))


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def next_in_queue(problem, state, queue, rule):
    """The example with the largest step, that step, and whether it is longer than `rule.tol`."""
    heap, keys = queue.heap, queue.keys
    while True:
        j = heap[0]
        if keys[j] <= rule.tol:
            return j, 0.0, False
        step = step_from_sums(problem, state, j, keys[j])
        key = key_of(step, rule.positive)
        # Not shorter than its key, so nobody's step is longer.
        if key >= keys[j]:
            return j, step, True
        keys[j] = key
        _sift_down(queue, np.int64(0))


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _may_be_longer(problem, state, j, key, positive):
    """Whether j's step may exceed its key, without solving for it where that is costly."""
    sums = state.sums
    forward = sums[j, 0] + sums[j, 1] > sums[j, 2] + sums[j, 3]
    if positive and not forward:
        return False
    return problem.loss.kind < LOGISTIC or step_is_longer(problem, state.margins, j, forward, key)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def raise_keys(problem, state, queue, lists, rule, taken):
    """After a step (example, step, round): move up whoever's step became longer."""
    keys, signs = queue.keys, problem.signs
    j, step, stamp = taken
    for e in range(problem.indptr[j], problem.indptr[j + 1]):
        i = problem.members[e]
        rose = step * (signs[i] * signs[j]) > 0.0
        for position in range(lists.n_impure[i] if rose else lists.rows.shape[1]):
            other = lists.rows[i, position]
            if lists.stamps[other] == stamp or keys[other] < 0.0:
                continue
            lists.stamps[other] = stamp
            if not _may_be_longer(problem, state, other, keys[other], rule.positive):
                continue
            key = key_of(step_from_sums(problem, state, other, 0.0), rule.positive)
            if key > keys[other]:
                keys[other] = key
                _sift_up(queue, queue.place[other])
