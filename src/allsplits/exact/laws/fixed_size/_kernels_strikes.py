"""Compiled strikes for two classes and laws of fixed size: what a row is worth without a candidate.

With W[j, o] = m_j · P(own class wins | o of the first j are of the second class), a row without its
candidate of rank r, of class c, is worth

    Σ_{j<r} W[j, o(j)] + Σ_{j≥r} W[j, o(j+1) - c].

Both sums are kept while the row is walked, for all k side by side.
"""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy")
def _sum_behind(labels, depth, table, behind):
    """behind[c, r] = Σ_{j≥r} W[j, o(j+1) - c], for ranks r from 1."""
    ones = np.int64(0)
    for label in labels[: depth + 1]:
        ones += label
    last = min(depth, len(labels) - 1)
    behind[:, last + 1] = 0.0
    for j in range(last, -1, -1):
        # `ones` is o(j + 1).
        for c in range(2):
            if 0 <= ones - c <= j:
                for k in range(behind.shape[2]):
                    behind[c, j, k] = behind[c, j + 1, k] + table[j, ones - c, k]
            else:
                behind[c, j] = behind[c, j + 1]
        ones -= labels[j]


@njit(nogil=True, cache=True, error_model="numpy")
def strike_two_classes(rows, numbers, tables, weights, behind, bases, hits):
    """hits[sample, k] += what striking the sample changes, as it counts; bases[i, k]: a far one.

    tables[own, j, o, k] is W; weights[gone, own] is what a row counts.
    """
    depth = tables.shape[1] - 1
    nearer = np.empty(hits.shape[1])
    for i in range(len(rows.own)):
        own = rows.own[i]
        table = tables[own]
        low = rows.indptr[i]
        labels = rows.labels[low : rows.indptr[i + 1]]
        _sum_behind(labels, depth, table, behind)
        base = bases[i]
        ones = np.int64(0)
        for j in range(min(depth, len(labels)) + 1):
            for k in range(len(base)):
                base[k] += table[j, ones, k]
            if j < len(labels):
                ones += labels[j]
        nearer[:] = table[0, 0]
        ones = np.int64(0)
        for r in range(1, min(depth, len(labels)) + 1):
            c = labels[r - 1]
            counts = weights[c, own]
            sample = numbers[low + r - 1]
            for k in range(len(base)):
                hits[sample, k] += counts * (nearer[k] + behind[c, r, k] - base[k])
            ones += c
            for k in range(len(base)):
                nearer[k] += table[r, ones, k]
