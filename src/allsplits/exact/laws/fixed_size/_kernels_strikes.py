"""Compiled strikes for laws of fixed size: what a row is worth without a candidate.

With W[j, n] = m_j · P(own class wins | the first j have n of each class), a row without its
candidate of rank r, of class c, is worth

    Σ_{j<r} W[j, n(j)] + Σ_{j≥r} W[j, n(j+1) - e_c].

Both sums are kept while the row is walked, for all k side by side. Of two classes the number of the
second one, o(j), says it all, and W is a table. Of more classes those with as many items (and the
same place in class order, which decides label ties) are struck once for all.
"""

import numpy as np
from numba import njit

from allsplits.exact.laws.fixed_size._kernels_majority import fill_wins
from allsplits.exact.laws.fixed_size._kernels_rivals import meet_one, put_in_rank, start_row


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


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _value_prefix(own, j, met, n_present, votes, work, out):
    """out[column] = W[j, n], with n the items that are met."""
    columns = votes.columns
    for c in range(len(out)):
        out[c] = 0.0
    if met.prefix[own] == 0 or columns.k_high[j] == 0:
        return
    if not fill_wins(own, j, met, n_present, votes, work):
        return
    for c in range(len(out)):
        if columns.masses[c, j] > 0.0:
            out[c] = columns.masses[c, j] * work.wins[columns.ks[c]]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _strike_each(own, j, met, n_struck, n_present, votes, work, behind):
    """behind[p, j] = W[j, n - e_c] for the first classes c that were met; n has j + 1 items."""
    for p in range(n_struck):
        c = met.present[p]
        alike = -1
        for q in range(p):
            d = met.present[q]
            same_side = votes.rule.share or (c > own) == (d > own)
            if c != own and d != own and met.prefix[c] == met.prefix[d] and same_side:
                alike = q
                break
        if alike >= 0:
            behind[p, j] = behind[alike, j]
        else:
            met.prefix[c] -= 1
            put_in_rank(c, met, n_present)
            _value_prefix(own, j, met, n_present, votes, work, behind[p, j])
            met.prefix[c] += 1
            put_in_rank(c, met, n_present)


@njit(nogil=True, cache=True, error_model="numpy")
def strike_classes(rows, part, votes, met, work, sums, bases, changes):
    """changes[entry] = what a row is worth without the entry, less bases[row]: without a far one.

    `part` are the first row and the end. Line p of sums[p, j] is for the class that is met as the
    p-th, the last one for the complete row.
    """
    start, stop = part
    depth = votes.columns.masses.shape[1] - 1
    nearer = sums[-1]
    numbers = np.empty(len(met.prefix), np.int64)
    for i in range(start, stop):
        own = rows.own[i]
        labels = rows.labels[rows.indptr[i] : rows.indptr[i + 1]]
        last = min(depth, len(labels))
        start_row(met)
        n_present = np.int64(0)
        # nearer[j] = W[j, n(j)], and behind likewise; summed up below.
        for j in range(last + 1):
            n_struck = n_present
            _value_prefix(own, j, met, n_present, votes, work, nearer[j])
            if j < len(labels):
                if met.prefix[labels[j]] == 0:
                    numbers[labels[j]] = n_present
                n_present = meet_one(labels[j], met.prefix, met, n_present)
                _strike_each(own, j, met, n_struck, n_present, votes, work, sums)
            else:
                sums[:n_struck, j] = 0.0
        base = bases[i]
        for j in range(last + 1):
            base += nearer[j]
        for p in range(n_present):
            for j in range(last - 1, -1, -1):
                sums[p, j] += sums[p, j + 1]
        before = np.zeros(len(base))
        entry = rows.indptr[i]
        for r in range(1, last + 1):
            before += nearer[r - 1]
            p = numbers[labels[r - 1]]
            for c in range(len(base)):
                changes[entry + r - 1, c] = before[c] + sums[p, r, c] - base[c]
