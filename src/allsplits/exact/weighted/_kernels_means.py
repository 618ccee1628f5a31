"""Compiled expected squared errors of weighted means: an integral instead of sets of voters.

For voters with weights w and errors e (their targets less the query's own),

    (Σ w e)² / (Σ w)² = ∫ s (Σ w e)² e^(-s Σ w) ds,        s from 0 to infinity,

and for a fixed s the mean over all u-subsets of a prefix follows from a walk through its items,
with z = e^(-s w): a is the mean of Π z, b that of Π z · Σ s w e, c that of Π z · (Σ s w e)². One
item more, the j-th, is in a subset of u with probability u/j. With s = e^x the integral is a sum
over equal steps in x, whose relative error is at most `QUADRATURE` whatever the weights: the
aliasing of the trapezoidal rule, 2 Σ |Γ(2 + 2πim/STEP)|, and the two ends that are cut off. All
terms are positive, so that is the relative error of the mean, too.

Members of a tie group weigh the same, and a prefix that ends within the group has a random part of
it: their errors enter by the mean, the mean square and the mean product of two, with d, the mean
of Π z · Σ s w over the members so far. Voters at distance 0 decide alone, by their plain mean.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from allsplits.exact._kernels import group_end

#: Step of x, and the ends: the first node that is left out on either side has s Σ w below or above.
STEP = 0.25
_NEAR, _FAR = 4e-8, 43.0
#: Relative error of the sum over the nodes, for every sum of weights that occurs.
QUADRATURE = 1e-14
#: Beyond this s · w an item's z is zero.
_GONE = 700.0
#: Where weights are so far apart that their ratio loses digits, logarithms are subtracted.
_TINY = 1e-290
#: Terms that are added up in one go: short sums lose less.
_BLOCK = 32


class WeightedTargets(NamedTuple):
    """The rows of an order with targets and weights (inf at distance 0) instead of neighbours."""

    indptr: np.ndarray
    targets: np.ndarray
    tied: np.ndarray
    weights: np.ndarray
    own: np.ndarray


class Walk(NamedTuple):
    """The state of a walk: a, b, c, d of u items at node x, as the formulas name them.

    s, q = s · w and z = e^(-q) belong to the nodes; nearest[u] is the part of voters at distance 0.
    """

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    d: np.ndarray
    s: np.ndarray
    q: np.ndarray
    z: np.ndarray
    nearest: np.ndarray


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _count_nodes(rows, i, columns):
    """(the largest finite weight of the items of row i, how many nodes they need)."""
    first, k_least, k_most = rows.indptr[i], columns.ks[0], columns.ks[0]
    for k in columns.ks:
        k_least, k_most = min(k, k_least), max(k, k_most)
    least, largest = np.inf, 0.0
    for e in range(first, min(first + columns.masses.shape[1] - 1, rows.indptr[i + 1])):
        if rows.weights[e] < np.inf:
            least, largest = min(least, rows.weights[e]), max(largest, rows.weights[e])
    if largest == 0.0:
        return 1.0, 0
    decades = np.log(largest) - np.log(least)
    span = np.log(_FAR / k_least) - np.log(_NEAR / k_most) + decades
    # The nodes strictly between the ends.
    return largest, max(int(np.ceil(span / STEP)) - 1, 0)


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _new_walk(k_most, n_nodes):
    walk = Walk(
        np.empty((k_most + 1, n_nodes)), np.empty((k_most + 1, n_nodes)),
        np.empty((k_most + 1, n_nodes)), np.empty((k_most + 1, n_nodes)),
        np.empty(n_nodes), np.empty(n_nodes), np.empty(n_nodes), np.empty(k_most + 1),
    )  # fmt: skip
    for x in range(n_nodes):
        # What lies beyond the largest number is gone anyway.
        walk.s[x] = np.exp(min(np.log(_NEAR / k_most) + (x + 1) * STEP, 709.0))
    return walk


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _start(walk, n_nodes):
    """Before the first item."""
    for u in range(len(walk.nearest)):
        walk.nearest[u] = 0.0
        for x in range(n_nodes):
            walk.a[u, x] = 1.0 if u == 0 else 0.0
            walk.b[u, x], walk.c[u, x], walk.d[u, x] = 0.0, 0.0, 0.0


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _fill_nodes(walk, n_nodes, weight, largest):
    """Q = s · w and z = e^(-q) at all nodes; s is in units of the largest weight."""
    s, q, z, k_most = walk.s, walk.q, walk.z, len(walk.nearest) - 1
    ratio = weight / largest
    first = np.log(_NEAR / k_most)
    shift = np.log(weight) - np.log(largest)
    for x in range(n_nodes):
        q[x] = s[x] * ratio
        if ratio < _TINY:
            q[x] = np.exp(min(first + (x + 1) * STEP + shift, 100.0))
        z[x] = np.exp(-q[x])
        if q[x] > _GONE:
            q[x], z[x] = 0.0, 0.0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _pass_item(walk, n_nodes, j, low, high, moments):
    """The j-th item, which is not tied, for subsets of low to high items."""
    a, b, c, _, _, q, z, _ = walk
    mean, square, _ = moments
    for u in range(high, low - 1, -1):
        stay, take = (j - u) / j, u / j
        a0, b0, c0, a1, b1, c1 = a[u - 1], b[u - 1], c[u - 1], a[u], b[u], c[u]
        for x in range(n_nodes):
            marked = q[x] * (2.0 * mean * b0[x] + q[x] * square * a0[x])
            c1[x] = stay * c1[x] + take * z[x] * (c0[x] + marked)
        for x in range(n_nodes):
            b1[x] = stay * b1[x] + take * z[x] * (b0[x] + mean * q[x] * a0[x])
        for x in range(n_nodes):
            a1[x] = stay * a1[x] + take * z[x] * a0[x]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _pass_tied(walk, n_nodes, j, low, high, moments):
    """The j-th item, one more of a tie group; b is left without the group's own errors."""
    a, b, c, d, _, q, z, _ = walk
    mean, square, pair = moments
    for u in range(high, low - 1, -1):
        stay, take = (j - u) / j, u / j
        a0, b0, c0, d0 = a[u - 1], b[u - 1], c[u - 1], d[u - 1]
        a1, b1, c1, d1 = a[u], b[u], c[u], d[u]
        for x in range(n_nodes):
            marked = q[x] * (2.0 * (mean * b0[x] + pair * d0[x]) + q[x] * square * a0[x])
            c1[x] = stay * c1[x] + take * z[x] * (c0[x] + marked)
        for x in range(n_nodes):
            d1[x] = stay * d1[x] + take * z[x] * (d0[x] + q[x] * a0[x])
        for x in range(n_nodes):
            b1[x] = stay * b1[x] + take * z[x] * b0[x]
        for x in range(n_nodes):
            a1[x] = stay * a1[x] + take * z[x] * a0[x]


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _forget(walk, n_nodes, u):
    """Subsets of u items are too small to matter from now on."""
    for x in range(n_nodes):
        walk.a[u, x], walk.b[u, x], walk.c[u, x], walk.d[u, x] = 0.0, 0.0, 0.0, 0.0


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _end_group(walk, n_nodes, mean):
    """Give b the group's errors: from now on all of them count alike."""
    for u in range(1, len(walk.nearest)):
        for x in range(n_nodes):
            walk.b[u, x] += mean * walk.d[u, x]
            walk.d[u, x] = 0.0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _moments(targets, first, last, own):
    """Mean, mean square and mean product of two different errors of these items."""
    n = last - first
    total, squares = 0.0, 0.0
    for e in range(first, last):
        error = targets[e] - own
        total += error
        squares += error * error
    pair = 0.0
    if n > 1:
        # (total² - squares) loses digits where the errors nearly cancel: deviations do not.
        mean = total / n
        spread = 0.0
        for e in range(first, last):
            spread += (targets[e] - own - mean) ** 2
        pair = mean * mean - spread / (n * (n - 1.0))
    return total / n, squares / n, pair


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_prefix(c, nearest, n_nodes, j, ks, masses, out):
    """Add what the prefix of j items contributes to every column."""
    for column in range(len(ks)):
        k = ks[column]
        if j < k or masses[column, j] == 0.0:
            continue
        total = 0.0
        for first in range(0, n_nodes, _BLOCK):
            part = 0.0
            for x in range(first, min(first + _BLOCK, n_nodes)):
                part += c[k, x]
            total += part
        out[column] += masses[column, j] * (STEP * total + nearest[k])


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _pass_zeros(walk, rows, i, average, columns, out):
    """Items at distance 0: nearest[u] = mean over u-subsets of the squared mean of their errors.

    Returns how many there are.
    """
    targets, own, nearest = rows.targets, rows.own[i], walk.nearest
    first, last, depth = rows.indptr[i], rows.indptr[i + 1], columns.masses.shape[1] - 1
    n_zero = 0
    while first + n_zero < last and rows.weights[first + n_zero] == np.inf:
        n_zero += 1
    # A random part of a tie group has the moments of the group; without ties they grow with j.
    _, square, pair = _moments(targets, first, first + max(n_zero, 1), own)
    mean, spread = 0.0, 0.0
    for j in range(1, min(n_zero, depth) + 1):
        if not average:
            error = targets[first + j - 1] - own
            change = error - mean
            mean += change / j
            spread += change * (error - mean)
            square = mean * mean + spread / j
            pair = mean * mean - spread / (j * max(j - 1.0, 1.0))
        for u in range(1, min(j, len(nearest) - 1) + 1):
            nearest[u] = pair + (square - pair) / u
        _add_prefix(walk.c, nearest, np.int64(0), j, columns.ks, columns.masses, out)
    return n_zero


@njit(nogil=True, cache=True, error_model="numpy")
def mean_errors_weighted(rows, start, stop, average, columns, out):
    """out[i, column] = expected squared error of the weighted mean of row i."""
    k_most, room = columns.ks[0], np.int64(0)
    for k in columns.ks:
        k_most = max(k, k_most)
    for i in range(start, stop):
        room = max(room, _count_nodes(rows, i, columns)[1])
    walk = _new_walk(k_most, room)
    for i in range(start, stop):
        first, end_of_row = rows.indptr[i], rows.indptr[i + 1]
        last = min(first + columns.masses.shape[1] - 1, end_of_row)
        largest, n_nodes = _count_nodes(rows, i, columns)
        _start(walk, n_nodes)
        j = _pass_zeros(walk, rows, i, average, columns, out[i])
        while first + j < last:
            position = first + j
            end = group_end(rows.tied, position, end_of_row, average)
            moments = _moments(rows.targets, position, end, rows.own[i])
            _fill_nodes(walk, n_nodes, rows.weights[position], largest)
            for _ in range(position, min(end, last)):
                j += 1
                for u in range(min(j, k_most), 0, -1):
                    walk.nearest[u] = ((j - u) * walk.nearest[u] + u * walk.nearest[u - 1]) / j
                low, high = max(columns.k_low[j], 1), min(columns.k_high[j], j)
                if end - position == 1:
                    _pass_item(walk, n_nodes, j, low, high, moments)
                else:
                    _pass_tied(walk, n_nodes, j, low, high, moments)
                for u in range(columns.k_low[j - 1], columns.k_low[j]):
                    _forget(walk, n_nodes, u)
                _add_prefix(walk.c, walk.nearest, n_nodes, j, columns.ks, columns.masses, out[i])
            if end - position > 1:
                _end_group(walk, n_nodes, moments[0])
