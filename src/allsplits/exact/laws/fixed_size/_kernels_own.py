"""Compiled steps of walks that only ask which neighbours have the row's own class."""

from numba import njit

from allsplits.exact._kernels import group_end

__all__ = ["next_group", "own_among"]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def next_group(rows, i, position, average):
    """(end of the tie group of row i that starts at `position`, its items of the row's class)."""
    end = group_end(rows.tied, position, rows.indptr[i + 1], average)
    g_own = 0
    for e in range(position, end):
        if rows.labels[e] == rows.own[i]:
            g_own += 1
    return end, g_own


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def own_among(t, g, g_own):
    """Own items among the first t of a tie group, where their order plays no part."""
    return t if 0 < g_own == g else g_own
