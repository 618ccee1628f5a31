"""Compiled positions of relevant items in the gallery of all candidates.

Nothing is drawn: who stands before a tie group is known. In a group of g items, a of them relevant,
every order is as likely. The item at place l is relevant with chance a/g, and then
(l-1)(a-1)/(g-1) relevant ones of the group are expected before it.
"""

import numpy as np
from numba import njit

from allsplits.exact._kernels import group_end
from allsplits.exact.laws.fixed_size._kernels_own import count_own
from allsplits.exact.retrieval.kernel_types import COUNTED, FIRST


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_group(counting, before, relevant, g, line):
    """line[l] += what the item at place l + 1 of a tie group counts, `before` relevant ahead."""
    value = relevant / g
    others_of_each = max(g - 1, 1)
    for place in range(len(line)):
        counted = value
        if counting == COUNTED:
            counted *= before + 1.0 + place * (relevant - 1.0) / others_of_each
        line[place] += counted
        if counting == FIRST:
            # So far nobody was relevant: there is one other less, among one item less.
            value *= max(g - relevant - place, 0) / max(g - 1.0 - place, 1.0)


@njit(nogil=True, cache=True, error_model="numpy")
def add_whole(rows, start, stop, average, counting, out):
    """out[i, s] += what the relevant items at position s + 1 are expected to count."""
    size = out.shape[1]
    for i in range(start, stop):
        begin, row_end = rows.indptr[i], rows.indptr[i + 1]
        position, before = begin, np.int64(0)
        while position < row_end and position - begin < size:
            end = group_end(rows.tied, position, row_end, average)
            relevant = count_own(rows.labels, position, end, rows.own[i])
            if relevant > 0 and (before == 0 or counting != FIRST):
                line = out[i, position - begin : min(end - begin, size)]
                _add_group(counting, before, relevant, end - position, line)
            before += relevant
            position = end
