"""Compiled steps of walks that only ask which neighbours have the row's own class."""

from numba import njit


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def count_own(labels, position, end, own):
    """How many of the items from `position` to `end` have the class `own`."""
    n = 0
    for e in range(position, end):
        if labels[e] == own:
            n += 1
    return n


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def own_among(t, g, g_own):
    """Own items among the first t of a tie group, where their order plays no part."""
    return t if 0 < g_own == g else g_own
