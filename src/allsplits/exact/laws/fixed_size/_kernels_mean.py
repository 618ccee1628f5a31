"""Compiled loop of nearest-neighbour regression: the expected squared error of the mean of k.

The voters are a uniform k-subset of the prefix. With r the differences of the neighbours' targets
from the sample's own, L = Σ r and Q = Σ r² over the prefix of length j,

    E[(mean of the voters' r)²] = ( (j-k)/(j-1) · Q + (k-1)/(j-1) · L² ) / (k j).

Inside a tie group of size g, of which a random t-subset is in the prefix, each member counts t/g
and each pair of members t(t-1)/(g(g-1)).
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels import group_end

Floats = NDArray[np.float64]


class TargetRows(NamedTuple):
    """The rows of an order with targets instead of neighbours; otherwise as `Rows`."""

    indptr: NDArray[np.int64]
    targets: Floats
    tied: NDArray[np.bool_]
    own: Floats


class Windows(NamedTuple):
    """Of each column: k, the masses of prefixes, and from which to which prefix they go."""

    ks: NDArray[np.int64]
    masses: Floats
    first: NDArray[np.int64]
    last: NDArray[np.int64]


@njit(nogil=True, cache=True, error_model="numpy")
def squared_errors(rows, start, stop, average, windows, out):
    """out[i, c] = expected squared error of row i for column c."""
    ks, masses = windows.ks, windows.masses
    depth = masses.shape[1] - 1
    for i in range(start, stop):
        position = rows.indptr[i]
        s = 0
        L = 0.0
        Q = 0.0
        while s < depth:
            end = group_end(rows.tied, position, rows.indptr[i + 1], average)
            g = end - position
            L_group = 0.0
            Q_group = 0.0
            for e in range(position, end):
                r = rows.targets[e] - rows.own[i]
                L_group += r
                Q_group += r * r
            for c in range(len(ks)):
                k = ks[c]
                for j in range(max(s + 1, windows.first[c]), min(s + g, windows.last[c]) + 1):
                    t = j - s
                    member = t / g
                    pair = member * (t - 1.0) / (g - 1.0) if g > 1 else 0.0
                    both = (k - 1.0) / (j - 1.0) if j > 1 else 0.0
                    total = (1.0 - both) * Q + both * L * L
                    total += (member - both * pair) * Q_group + both * pair * L_group * L_group
                    total += 2.0 * both * member * L * L_group
                    out[i, c] += masses[c, j] * total / (k * float(j))
            L += L_group
            Q += Q_group
            s += g
            position = end
