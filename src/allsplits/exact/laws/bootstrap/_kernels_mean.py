"""Compiled loop of regression on draws with replacement: the expected squared error of a mean of k.

The k nearest draws are u independent ones from the prefix and k-u from the tie group that follows,
with probability W(u) (`_kernels`). With r the differences of the neighbours' targets from the
sample's own, m and q the means of r and r² in the prefix, m' and q' those in the group,

    E[(Σ of the voters' r)²] = u q + u(u-1) m² + i q' + i(i-1) m'² + 2 u i m m',        i = k - u.
"""

import numpy as np
from numba import njit

from allsplits.exact._kernels import group_end
from allsplits.exact.laws.bootstrap._kernels import weigh_ends


@njit(nogil=True, cache=True, error_model="numpy")
def bootstrap_errors(rows, start, stop, average, draws, ks, out):
    """out[i, c] = expected squared error of row i for ks[c] voters."""
    weights = np.empty(ks.max() + 1)
    for row in range(start, stop):
        position = rows.indptr[row]
        s = np.int64(0)
        L, Q = 0.0, 0.0
        while s < draws.depth:
            end = group_end(rows.tied, position, rows.indptr[row + 1], average)
            g = end - position
            L_group, Q_group = 0.0, 0.0
            for e in range(position, end):
                r = rows.targets[e] - rows.own[row]
                L_group += r
                Q_group += r * r
            m, q = (L / s, Q / s) if s > 0 else (0.0, 0.0)
            m_group, q_group = L_group / g, Q_group / g
            for c in range(len(ks)):
                k = ks[c]
                weigh_ends(draws, s, g, k, weights)
                for u in range(k):
                    i = k - u
                    total = u * q + u * (u - 1.0) * m * m
                    total += i * q_group + i * (i - 1.0) * m_group * m_group
                    total += 2.0 * u * i * m * m_group
                    out[row, c] += weights[u] * total / (k * float(k))
            L += L_group
            Q += Q_group
            s += g
            position = end
