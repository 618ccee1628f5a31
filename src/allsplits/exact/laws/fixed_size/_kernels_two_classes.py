"""Compiled loops of votes between two classes: a table of prefix values, then one sum per row.

With two classes a prefix of length j is described by o, its number of items of the second class.
So m_j · P(class wins | j, o) is tabulated once, and a row costs one look-up per prefix.
"""

import numpy as np
from numba import njit

from allsplits.exact._kernels import draw_one_more, group_end


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _fill_wins_of(own_is_second, tie_share, k, j, mass, binomials, theta, line):
    """line[o] = mass · P(one class wins k votes | it has its items of a prefix of j).

    P(at least h votes) grows with the number of own items x by the chance that the additional item
    tips the vote, T[x, h-1] · T[j-1-x, k-h] · θ / T[j, k]: sums of positive terms.
    """
    need = k // 2 + 1
    half = k // 2
    scale = mass * theta / binomials[j, k]
    more = 0.0
    at_least_half = 0.0
    for x in range(j + 1):
        value = more
        if k % 2 == 0:
            value += tie_share * (at_least_half - more)
        line[x if own_is_second else j - x] = value
        if x < j:
            more += scale * binomials[x, need - 1] * binomials[j - 1 - x, k - need]
            if k % 2 == 0:
                at_least_half += scale * binomials[x, half - 1] * binomials[j - 1 - x, k - half]


@njit(nogil=True, cache=True, error_model="numpy")
def fill_win_table(k, first_share, masses, binomials, theta, table):
    """table[c, j, o] = m_j · P(class c wins | o of j are of the second class).

    `first_share` is what the first class gets of an even vote.
    """
    for j in range(k, len(masses)):
        if masses[j] > 0.0:
            for c in range(2):
                share = 1.0 - first_share if c == 1 else first_share
                _fill_wins_of(c == 1, share, k, j, masses[j], binomials, theta, table[c, j])


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_mixed(s, ones, g, g_ones, table, share, out):
    """Prefixes that end inside a mixed tie group: a random t-subset of it has o of the ones."""
    depth = table.shape[0] - 1
    share[0] = 1.0
    for o in range(1, g_ones + 1):
        share[o] = 0.0
    for t in range(1, min(g - 1, depth - s) + 1):
        draw_one_more(share, t, g, g_ones)
        for o in range(min(t, g_ones) + 1):
            for lane in range(len(out)):
                out[lane] += share[o] * table[s + t, ones + o, lane]


@njit(nogil=True, cache=True, error_model="numpy")
def sum_two_classes(rows, start, stop, average, tables, out):
    """out[i, lane] = sums over the prefixes of the rows start to stop.

    tables[own, j, o, lane] has what prefixes are worth in rows of a class: lanes are the classes
    that may win, or columns.
    """
    depth = tables.shape[1] - 1
    longest = np.int64(0)
    for i in range(start, stop):
        longest = max(longest, rows.indptr[i + 1] - rows.indptr[i])
    share = np.empty(longest + 1)
    for i in range(start, stop):
        table = tables[rows.own[i]]
        position = rows.indptr[i]
        s = np.int64(0)
        ones = np.int64(0)
        while s < depth:
            end = group_end(rows.tied, position, rows.indptr[i + 1], average)
            g = end - position
            g_ones = np.int64(0)
            for e in range(position, end):
                g_ones += rows.labels[e]
            first = s + 1
            if 0 < g_ones < g:
                _add_mixed(s, ones, g, g_ones, table, share, out[i])
                first = s + g
            step = np.int64(0) if g_ones == 0 else np.int64(1)
            for j in range(first, min(s + g, depth) + 1):
                o = ones + g_ones if j == s + g else ones + step * (j - s)
                for lane in range(out.shape[1]):
                    out[i, lane] += table[j, o, lane]
            s += g
            ones += g_ones
            position = end
