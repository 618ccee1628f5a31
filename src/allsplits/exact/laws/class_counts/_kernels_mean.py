"""Compiled squared errors of means under class counts: sums of targets, with their chances.

A class has, for each number b of its voters, the chance of it and the first and second moments of
the sum of their targets (less the own target): P, M and Q. Classes are independent, so a class more
makes P p, M p + P m and Q p + 2 M m + P q of them. The vote of k is over when the next training
item comes; Q of k voters, over k², is the squared error.

Tied items come at random times λ in [0, 1]: before λ a class with γ tied members has
Binomial(γ, λ) of them. The integrand is a polynomial of a degree less than the group has members.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels import group_end

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Strata(NamedTuple):
    """How samples are drawn from each class.

    Attributes
    ----------
    pools, train : ndarray of shape (classes,)
        Candidates of each class, for a question of another class, and how many are drawn.
    own_less : int
        By how much the pool of the own class is smaller.
    lines : ndarray of shape (classes, 2, longest + 1, k + 1)
        P(b of the first j of a class are drawn), for others and for the class itself.
    """

    pools: Integers
    train: Integers
    own_less: int
    lines: Floats


class Times(NamedTuple):
    """Rules for tie groups: that of g members has its nodes from starts[g] on."""

    starts: Integers
    sizes: Integers
    nodes: Floats
    weights: Floats


class _Sums(NamedTuple):
    """Of each class: items, targets, squares before the tie group; the same in it."""

    n: Integers
    first: Floats
    second: Floats
    tied: Integers
    tied_first: Floats
    tied_second: Floats


@njit(nogil=True, cache=True, error_model="numpy")
def _fill(c, sums, lines, left, time, out):
    """out[:, b] = P, M, Q of b voters of class c before `time`.

    left[0] members of its tie group may come before; if left[1] is not 0 the next item is one of
    the class, left[1] candidates of which left[2] are drawn in all.
    """
    n, gamma, members = sums.n[c], sums.tied[c], left[0]
    out[:] = 0.0
    chance = (1.0 - time) ** members
    for z in range(members + 1):
        j = n + z
        share = z / gamma if gamma > 0 else 0.0
        both = share * (z - 1.0) / (gamma - 1.0) if gamma > 1 else 0.0
        total = sums.first[c] + share * sums.tied_first[c]
        squares = sums.second[c] + share * sums.tied_second[c]
        pairs = (
            sums.first[c] ** 2 - sums.second[c] + 2.0 * share * sums.first[c] * sums.tied_first[c]
        )
        pairs += both * (sums.tied_first[c] ** 2 - sums.tied_second[c])
        for b in range(min(j, out.shape[1] - 1) + 1):
            p = chance * lines[j, b]
            if left[1] > 0:
                p *= max(left[2] - b, 0) / (left[1] - j)
            out[0, b] += p
            if b > 0:
                out[1, b] += p * total * b / j
                more = pairs * (b - 1.0) / (j - 1.0) if j > 1 else 0.0
                out[2, b] += p * (squares + more) * b / j
        if z < members:
            chance *= (members - z) / (z + 1.0) * (time / (1.0 - time))


@njit(nogil=True, cache=True, error_model="numpy")
def _times(state, one, space):
    """Multiply P, M, Q by those of one class more."""
    size = state.shape[1]
    space[:] = 0.0
    for a in range(size):
        if state[0, a] == 0.0:
            continue
        for b in range(size - a):
            p, m, q = one[0, b], one[1, b], one[2, b]
            space[0, a + b] += state[0, a] * p
            space[1, a + b] += state[1, a] * p + state[0, a] * m
            space[2, a + b] += state[2, a] * p + 2.0 * state[1, a] * m + state[0, a] * q
    state[:] = space


@njit(nogil=True, cache=True, error_model="numpy")
def _start(state):
    state[:] = 0.0
    state[0, 0] = 1.0


@njit(nogil=True, cache=True, error_model="numpy")
def _add_group(own, strata, sums, times, ks, work, out):
    """Add the votes whose next item is in the tie group."""
    base, state, one, space = work
    n_classes, g = len(sums.n), sums.tied.sum()
    left = np.zeros(3, np.int64)
    _start(base)
    for c in range(n_classes):
        if sums.tied[c] == 0 and sums.n[c] > 0:
            left[0], left[1] = 0, 0
            _fill(c, sums, strata.lines[c, 1 if c == own else 0], left, 0.0, one)
            _times(base, one, space)
    for node in range(times.starts[g], times.starts[g] + times.sizes[g]):
        time, weight = times.nodes[node], times.weights[node]
        for e in range(n_classes):
            if sums.tied[e] == 0:
                continue
            state[:] = base
            for c in range(n_classes):
                if sums.tied[c] == 0:
                    continue
                left[0] = sums.tied[c] - (1 if c == e else 0)
                left[1] = strata.pools[c] - (strata.own_less if c == own else 0) if c == e else 0
                left[2] = min(strata.train[c], left[1])
                _fill(c, sums, strata.lines[c, 1 if c == own else 0], left, time, one)
                _times(state, one, space)
            for column in range(len(ks)):
                out[column] += weight * sums.tied[e] * state[2, ks[column]] / float(ks[column]) ** 2


@njit(nogil=True, cache=True, error_model="numpy")
def _add_everybody(own, strata, sums, ks, work, out):
    """The vote of all training samples: there is no next one."""
    _, state, one, space = work
    left = np.zeros(3, np.int64)
    _start(state)
    for c in range(len(sums.n)):
        if sums.n[c] > 0:
            _fill(c, sums, strata.lines[c, 1 if c == own else 0], left, 0.0, one)
            _times(state, one, space)
    for column in range(len(ks)):
        if ks[column] == strata.train.sum():
            out[column] += state[2, ks[column]] / float(ks[column]) ** 2


@njit(nogil=True, cache=True, error_model="numpy")
def stratified_errors(rows, targets, start, stop, average, votes, out):
    """out[i, column] = the expected squared error; targets are less that of the row.

    `votes` are the strata, the rules for tie groups, the ks and how deep rows matter.
    """
    strata, times, ks, depth = votes
    n_classes = len(strata.pools)
    shape = (3, int(ks.max()) + 1)
    work = (np.empty(shape), np.empty(shape), np.empty(shape), np.empty(shape))
    for i in range(start, stop):
        sums = _Sums(
            np.zeros(n_classes, np.int64), np.zeros(n_classes), np.zeros(n_classes),
            np.zeros(n_classes, np.int64), np.zeros(n_classes), np.zeros(n_classes),
        )  # fmt: skip
        first, last = rows.indptr[i], rows.indptr[i + 1]
        position = first
        while position < min(last, first + depth):
            end = group_end(rows.tied, position, last, average)
            sums.tied[:], sums.tied_first[:], sums.tied_second[:] = 0, 0.0, 0.0
            for e in range(position, end):
                c = rows.labels[e]
                sums.tied[c] += 1
                sums.tied_first[c] += targets[e]
                sums.tied_second[c] += targets[e] ** 2
            _add_group(rows.own[i], strata, sums, times, ks, work, out[i])
            for c in range(n_classes):
                sums.n[c] += sums.tied[c]
                sums.first[c] += sums.tied_first[c]
                sums.second[c] += sums.tied_second[c]
            position = end
        sums.tied[:] = 0
        _add_everybody(rows.own[i], strata, sums, ks, work, out[i])
