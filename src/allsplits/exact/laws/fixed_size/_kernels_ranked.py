"""Compiled loop of recall@R: whether any of the R nearest training items has the right class.

With the prefix of length j before the (R+1)-th training neighbour, of which o have the sample's
class, nobody of the class is among the R voters with probability T[o, 0] · T[j-o, R] / T[j, R].
"""

import numpy as np
from numba import njit

from allsplits.exact._kernels import binomial_row, group_end, tie_weights
from allsplits.exact.laws.fixed_size._kernels_own import count_own, own_among


@njit(nogil=True, cache=True, error_model="numpy")
def hit_columns(rows, start, stop, average, columns, table, out):
    """P(hit) of each row for each column (ks are the ranks R)."""
    ks, masses = columns.ks, columns.masses
    depth = masses.shape[1] - 1
    k_max = table.shape[1] - 1
    omega = np.empty(k_max + 1)
    group_row = np.empty(k_max + 1)
    other_row = np.empty(k_max + 1)
    for i in range(start, stop):
        position = rows.indptr[i]
        s = np.int64(0)
        n_own = np.int64(0)
        while s < depth:
            end = group_end(rows.tied, position, rows.indptr[i + 1], average)
            g = end - position
            g_own = count_own(rows.labels, position, end, rows.own[i])
            mixed = 0 < g_own < g
            if mixed:
                phi = k_max / (k_max + g + 1.0)
                binomial_row(g, min(k_max, g), phi, group_row)
                binomial_row(g - g_own, min(k_max, g), phi, other_row)
                for c in range(len(ks)):
                    k = ks[c]
                    if tie_weights(s, g, depth, k, masses[c], table, group_row, omega):
                        hit = 0.0
                        for t in range(1, min(g - 1, depth - s) + 1):
                            hit += masses[c, s + t]
                        miss = 0.0
                        for b in range(max(0, k - s), min(k, g) + 1):
                            miss += omega[b] * other_row[b] * table[s - n_own, k - b]
                        out[i, c] += hit - miss * table[n_own, 0] * (1.0 - phi) ** g_own
            for j in range(s + g if mixed else s + 1, min(s + g, depth) + 1):
                o = n_own + own_among(j - s, g, g_own)
                if o > 0:
                    for c in range(len(ks)):
                        if masses[c, j] > 0.0:
                            miss = table[o, 0] * table[j - o, ks[c]] / table[j, ks[c]]
                            out[i, c] += masses[c, j] * (1.0 - miss)
            n_own += g_own
            s += g
            position = end
