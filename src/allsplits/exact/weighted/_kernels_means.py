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

import numpy as np
from numba import njit

from allsplits.exact._kernels import group_end

__all__ = ["QUADRATURE", "mean_errors_weighted"]

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


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _count_nodes(weights, first, last, k_least, k_most):
    """(the largest finite weight of these items, how many nodes they need)."""
    least, largest = np.inf, 0.0
    for e in range(first, last):
        if weights[e] < np.inf:
            least, largest = min(least, weights[e]), max(largest, weights[e])
    if largest == 0.0:
        return 1.0, 0
    decades = np.log(largest) - np.log(least)
    span = np.log(_FAR / k_least) - np.log(_NEAR / k_most) + decades
    # The nodes strictly between the ends.
    return largest, max(int(np.ceil(span / STEP)) - 1, 0)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _fill_nodes(weight, largest, k_most, s, n_nodes, q, z):
    """Q = s · w and z = e^(-q) at all nodes; s is in units of the largest weight."""
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
def _pass_item(j, low, high, n_nodes, mean, square, q, z, a, b, c):
    """The j-th item, which is not tied, for subsets of low to high items."""
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
def _pass_tied(j, low, high, n_nodes, mean, square, pair, q, z, a, b, c, d):
    """The j-th item, one more of a tie group; b is left without the group's own errors."""
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


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _forget(n_nodes, a, b, c, d):
    """Subsets that are too small to matter from now on."""
    for x in range(n_nodes):
        a[x], b[x], c[x], d[x] = 0.0, 0.0, 0.0, 0.0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _end_group(k_most, n_nodes, mean, b, d):
    """Give b the group's errors: from now on all of them count alike."""
    for u in range(1, k_most + 1):
        for x in range(n_nodes):
            b[u, x] += mean * d[u, x]
            d[u, x] = 0.0


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
def _add_prefix(j, ks, masses, n_nodes, c, nearest, out):
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


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _pass_zeros(
    targets, weights, first, last, own, average, depth, ks, masses, k_most, nearest, c, out
):
    """Items at distance 0: nearest[u] = mean over u-subsets of the squared mean of their errors.

    Returns how many there are.
    """
    n_zero = 0
    while first + n_zero < last and weights[first + n_zero] == np.inf:
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
        for u in range(1, min(j, k_most) + 1):
            nearest[u] = pair + (square - pair) / u
        _add_prefix(j, ks, masses, 0, c, nearest, out)
    return n_zero


@njit(nogil=True, cache=True, error_model="numpy")
def mean_errors_weighted(
    indptr, targets, tied, weights, own, start, stop, average, ks, masses, lows, highs, out
):
    """out[i, column] = expected squared error of the weighted mean of row i.

    Subsets of the first j items matter if they have lows[j] to highs[j] of them.
    """
    depth = masses.shape[1] - 1
    k_least, k_most = ks[0], ks[0]
    for k in ks:
        k_least, k_most = min(k, k_least), max(k, k_most)
    room = 0
    for i in range(start, stop):
        last = min(indptr[i] + depth, indptr[i + 1])
        room = max(room, _count_nodes(weights, indptr[i], last, k_least, k_most)[1])
    a = np.empty((k_most + 1, room))
    b = np.empty((k_most + 1, room))
    c = np.empty((k_most + 1, room))
    d = np.empty((k_most + 1, room))
    q = np.empty(room)
    z = np.empty(room)
    s = np.empty(room)
    for x in range(room):
        # What lies beyond the largest number is gone anyway.
        s[x] = np.exp(min(np.log(_NEAR / k_most) + (x + 1) * STEP, 709.0))
    nearest = np.empty(k_most + 1)
    for i in range(start, stop):
        last = min(indptr[i] + depth, indptr[i + 1])
        largest, n_nodes = _count_nodes(weights, indptr[i], last, k_least, k_most)
        for u in range(k_most + 1):
            nearest[u] = 0.0
            for x in range(n_nodes):
                a[u, x] = 1.0 if u == 0 else 0.0
                b[u, x], c[u, x], d[u, x] = 0.0, 0.0, 0.0
        j = _pass_zeros(
            targets, weights, indptr[i], indptr[i + 1], own[i], average, depth, ks, masses, k_most,
            nearest, c, out[i],
        )  # fmt: skip
        while indptr[i] + j < last:
            position = indptr[i] + j
            end = group_end(tied, position, indptr[i + 1], average)
            mean, square, pair = _moments(targets, position, end, own[i])
            _fill_nodes(weights[position], largest, k_most, s, n_nodes, q, z)
            for _ in range(position, min(end, last)):
                j += 1
                for u in range(min(j, k_most), 0, -1):
                    nearest[u] = ((j - u) * nearest[u] + u * nearest[u - 1]) / j
                low, high = max(lows[j], 1), min(highs[j], j)
                if end - position == 1:
                    _pass_item(j, low, high, n_nodes, mean, square, q, z, a, b, c)
                else:
                    _pass_tied(j, low, high, n_nodes, mean, square, pair, q, z, a, b, c, d)
                for u in range(lows[j - 1], lows[j]):
                    _forget(n_nodes, a[u], b[u], c[u], d[u])
                _add_prefix(j, ks, masses, n_nodes, c, nearest, out[i])
            if end - position > 1:
                _end_group(k_most, n_nodes, mean, b, d)
