"""Compiled rows of votes that end at an item, or in a tie group, eight numbers at a time.

A row holds the chances of b voters in each component, one after the other. They are read and
written in eights: the last one may pass the end of a row by seven numbers, which are not used.
"""

from numba import njit

from allsplits.exact._kernels_around import LANES
from allsplits.exact._kernels_eight import LANES as EIGHT
from allsplits.exact._kernels_eight import eight_times, load_at, plus, store_at, times
from allsplits.exact._kernels_ties import binomial_window


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def clear_row(width, out):
    """A row of zeros."""
    for x in range(0, width, EIGHT):
        store_at(out, x, eight_times(0.0))


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _add_scaled(scale, table, first, width, out):
    """Add a row of the table, which begins at `first`."""
    factor = eight_times(scale)
    for x in range(0, width, EIGHT):
        more = times(factor, load_at(table, first + x))
        store_at(out, x, plus(load_at(out, x), more))


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def add_end(line, remaining, left, width, out):
    """Add a row of votes that end at an item of the class, of which `left` are left.

    remaining[votes, component] is how many items are still to be drawn after those votes.
    """
    factor = eight_times(1.0 / left)
    for x in range(0, width, EIGHT):
        more = times(times(factor, load_at(remaining, x)), load_at(line, x))
        store_at(out, x, plus(load_at(out, x), more))


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def fill_before(table, n, tied, time, width, out):
    """The row of a class before a time in a tie group; `_kernels_ties.row_before`."""
    clear_row(width, out)
    odds = time / (1.0 - time)
    first, last, weight = binomial_window(tied, time)
    total = 0.0
    for d in range(first, last + 1):
        total += weight
        _add_scaled(weight, table, (n + d) * width, width, out)
        weight *= odds * (tied - d) / (d + 1.0)
    factor = eight_times(1.0 / total)
    for x in range(0, width, EIGHT):
        store_at(out, x, times(factor, load_at(out, x)))


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def fill_next(table, remaining, pool, n, tied, node, width, out):
    """The row of votes that end at a tied item of the class at the node's (time, weight)."""
    clear_row(width, out)
    time = node[0]
    odds = time / (1.0 - time)
    first, last, weight = binomial_window(tied - 1, time)
    total = 0.0
    for d in range(first, last + 1):
        total += weight
        _add_scaled(weight / (pool - n - d), table, (n + d) * width, width, out)
        weight *= odds * (tied - 1 - d) / (d + 1.0)
    factor = eight_times(tied * node[1] / total)
    for x in range(0, width, EIGHT):
        store_at(out, x, times(times(factor, load_at(remaining, x)), load_at(out, x)))


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def copy_row(width, source, out):
    """Copy a row."""
    for x in range(0, width, EIGHT):
        store_at(out, x, load_at(source, x))


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def copy_votes(row, b, n_components, first, out):
    """out[b, first + component] = row[b · components + component], in `LANES` lanes.

    Lanes after these are spoiled, and none after the last.
    """
    for p in range(0, n_components, EIGHT):
        if first + p + EIGHT <= LANES:
            store_at(out, b * LANES + first + p, load_at(row, b * n_components + p))
        else:
            for e in range(p, n_components):
                out[b, first + e] = row[b * n_components + e]
