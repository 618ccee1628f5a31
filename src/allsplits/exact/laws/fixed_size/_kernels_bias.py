"""Compiled loop of the bias of nearest-neighbour regression: the expected mean of k, less y.

The voters are a uniform k-subset of the prefix, so the expected mean is that of the prefix, for any
k; inside a tie group of g items, of which t are in the prefix, each member counts t/g.
"""

from numba import njit

from allsplits.exact._kernels import group_end


@njit(nogil=True, cache=True, error_model="numpy")
def expected_differences(rows, start, stop, average, windows, out):
    """out[i, c] = E(prediction) - y of row i for column c."""
    masses = windows.masses
    depth = masses.shape[1] - 1
    for i in range(start, stop):
        position, s, L = rows.indptr[i], 0, 0.0
        while s < depth:
            end = group_end(rows.tied, position, rows.indptr[i + 1], average)
            g, L_group = end - position, 0.0
            for e in range(position, end):
                L_group += rows.targets[e] - rows.own[i]
            for c in range(len(windows.ks)):
                for j in range(max(s + 1, windows.first[c]), min(s + g, windows.last[c]) + 1):
                    out[i, c] += masses[c, j] * (L + (j - s) / g * L_group) / j
            L += L_group
            s += g
            position = end
