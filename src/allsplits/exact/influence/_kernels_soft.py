"""Compiled Shapley values of the soft vote (Jia et al. 2019), with tied neighbours averaged.

A set of samples is worth the share of the own class among its k nearest, with k in the denominator
however few there are. With x_j = 1 if the j-th neighbour has the own class and
h_j = min(k, j)/(k j), the value of the j-th is

    x_j h_j + Σ_{l>j} x_l (h_l - h_(l-1)).

In a tie group at the places p … q the members stand in any order: with H the mean of h over these
places and X the number of members of the own class, a member has on average
x H + (X - x)/(g - 1) · (h_q - H) from the group, and the sum over the places behind it.
"""

import numpy as np
from numba import njit

from allsplits.exact._kernels import group_end


@njit(nogil=True, cache=True, error_model="numpy")
def soft_shapley(rows, start, stop, k, average, out):
    """out[entry] = the value of a candidate for its row; rows are complete."""
    longest = np.int64(0)
    for i in range(start, stop):
        longest = max(longest, rows.indptr[i + 1] - rows.indptr[i])
    weights = np.empty(longest + 1)
    weights[0] = 0.0
    for j in range(1, longest + 1):
        weights[j] = min(k, j) / (k * float(j))
    for i in range(start, stop):
        first, own = rows.indptr[i], rows.own[i]
        position = first
        while position < rows.indptr[i + 1]:
            end = group_end(rows.tied, position, rows.indptr[i + 1], average)
            s, g = position - first, end - position
            mine, mean = 0.0, 0.0
            for e in range(position, end):
                mine += rows.labels[e] == own
                mean += weights[e - first + 1]
            mean /= g
            last = weights[s + g]
            for e in range(position, end):
                x = 1.0 if rows.labels[e] == own else 0.0
                out[e] = x * mean
                if g > 1:
                    out[e] += (mine - x) / (g - 1.0) * (last - mean)
            position = end
        # The sum over the places behind each tie group, from the last group on.
        behind = 0.0
        end = rows.indptr[i + 1]
        while end > first:
            position = end - 1
            while average and position > first and rows.tied[position]:
                position -= 1
            mine = 0.0
            for e in range(position, end):
                out[e] += behind
                mine += rows.labels[e] == own
            s, g = position - first, end - position
            behind += mine / g * (weights[s + g] - weights[s])
            end = position
