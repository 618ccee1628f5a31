"""Compiled scores of retrieval from tables over (relevant, other) items before a relevant one.

Within a tie group of g items, a relevant one has each place alike; t items before it are a random
t-subset of the other g - 1.
"""

import numpy as np
from numba import njit

from allsplits.exact._kernels import draw_one_more, group_end
from allsplits.exact.laws.fixed_size._kernels_own import count_own


@njit(nogil=True, cache=True, error_model="numpy")
def add_from_tables(rows, start, stop, average, tables, out):
    """out[i, column] += what the relevant items of row i count, from the table of the row."""
    n_columns = tables.values.shape[1]
    most = np.int64(0)
    for i in range(start, stop):
        most = max(most, rows.indptr[i + 1] - rows.indptr[i])
    share = np.empty(most + 1)
    for i in range(start, stop):
        position, row_end = rows.indptr[i], rows.indptr[i + 1]
        first, step = tables.starts[i], tables.steps[i]
        n_relevant, n_others = np.int64(0), np.int64(0)
        while position < row_end and first >= 0:
            end = group_end(rows.tied, position, row_end, average)
            g, relevant = end - position, count_own(rows.labels, position, end, rows.own[i])
            for c in range(relevant):
                share[c] = 0.0
            share[0] = 1.0
            for t in range(g if relevant > 0 else 0):
                if t > 0:
                    draw_one_more(share, t, g - 1, relevant - 1)
                for c in range(max(0, t - (g - relevant)), min(t, relevant - 1) + 1):
                    line = first + (n_relevant + c) * step + n_others + t - c
                    weight = share[c] * relevant / g
                    for column in range(n_columns):
                        out[i, column] += weight * tables.values[line, column]
            n_relevant += relevant
            n_others += g - relevant
            position = end
