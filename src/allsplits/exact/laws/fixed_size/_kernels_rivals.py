"""Compiled bookkeeping of the majority vote: which classes a row has met, and who is left out.

A class that gets v votes wins if none of its rivals has more; a rival with as many is worth y of a
win (see `_kernels_majority`). Rivals that hardly ever have v votes are *free*: nothing caps their
votes, so their factors merge into one. Rivals are looked at by their number of items, most first:
of two rivals, the one with fewer items is free wherever the other is.

The votes of a class with n of n + o items are hypergeometric, so their chances fall off to both
sides of the likeliest number: what lies beyond v is at most its chance times the numbers that are
left. What is less likely than `RARE` is left out. From where to where that goes depends on n and o
alone: it is found once (`Spans`).
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact.kernel_types import Columns, Quadrature, Rule

Integers = NDArray[np.int64]

#: What is less probable than this is left out.
RARE = 2.0**-58
#: Longest prefixes for which spans are kept, and how many numbers they are (8 MiB, twice).
_DEEPEST, _MOST_SPANS = 1024, 1 << 21


class Ways(NamedTuple):
    """What votes are weighed with: binomial weights table[n, b], and nodes for shared ties."""

    table: NDArray[np.float64]
    quadrature: Quadrature


class Votes(NamedTuple):
    """The votes that are asked for: how they are counted, which, and what they are weighed with.

    `by_length` are the masses again, masses[j, column].
    """

    rule: Rule
    columns: Columns
    ways: Ways
    by_length: NDArray[np.float64]


class Met(NamedTuple):
    """Items of each class in the prefix, and in the tie group after it; who has any.

    `present` are the classes as they were met, `ranked` the same by their number of items in prefix
    and group, most first, and `place` where a class stands there.
    """

    prefix: Integers
    group: Integers
    present: Integers
    ranked: Integers
    place: Integers


def new_met(n_classes: int) -> Met:
    """Space to meet the classes of a row."""
    return Met(*np.empty((5, n_classes), np.int64))


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def start_row(met):
    """Nothing is met yet."""
    # np.zeros takes half a second to compile.
    for c in range(len(met.prefix)):
        met.prefix[c], met.group[c] = 0, 0


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def put_in_rank(c, met, n_present):
    """Class c has an item more, or less: move it to its place among the first n_present."""
    ranked, place = met.ranked, met.place
    items, at = met.prefix[c] + met.group[c], place[c]
    while at > 0:
        d = ranked[at - 1]
        if met.prefix[d] + met.group[d] >= items:
            break
        ranked[at], place[d] = d, at
        at -= 1
    while at < n_present - 1:
        d = ranked[at + 1]
        if met.prefix[d] + met.group[d] <= items:
            break
        ranked[at], place[d] = d, at
        at += 1
    ranked[at], place[c] = c, at


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def meet_one(c, items, met, n_present):
    """Count an item of class c in `items`, the prefix or the group; returns how many were met."""
    if met.prefix[c] + met.group[c] == 0:
        met.present[n_present], met.ranked[n_present], met.place[c] = c, c, n_present
        n_present += 1
    items[c] += 1
    put_in_rank(c, met, n_present)
    return n_present


class Spans(NamedTuple):
    """In which votes of k a class with n of j items may have v votes, as far as that is known.

    Attributes
    ----------
    place : array of shape (lengths, lengths)
        The line of (j, n), 0 if it is not known; empty if prefixes are too long to keep them.
    filled : array of shape (1,)
        The last line that is known; lines up to 2 are work space.
    reach, stay : array of shape (lines, votes + 1)
        The largest k for which the class hardly ever has v or more, and the smallest for which it
        hardly ever has v or fewer.
    """

    place: NDArray[np.int32]
    filled: Integers
    reach: NDArray[np.int32]
    stay: NDArray[np.int32]


def new_spans(depth: int, size: int) -> Spans:
    """Space for votes of fewer than `size`."""
    side = depth + 1 if depth <= _DEEPEST else 0
    lines = 3 + min(side * (side + 1) // 2, _MOST_SPANS // size)
    reach, stay = np.empty((2, lines, size), np.int32)
    return Spans(np.zeros((side, side), np.int32), np.full(1, 2), reach, stay)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _fill_span(j, n, k_low, k_high, table, reach, stay):
    """Both ends for each v; they grow with v, as more voters give a class more votes."""
    o, low, high = j - n, k_low, k_low
    for v in range(min(n, k_high) + 1):
        while low <= k_high and (low < v or _hardly_reaches(n, o, v, low, table)):
            low += 1
        high = max(high, low)
        while high <= k_high and not _hardly_stays(n, o, v, high, table):
            high += 1
        reach[v], stay[v] = low - 1, high
    for v in range(min(n, k_high) + 1, k_high + 1):
        reach[v], stay[v] = k_high, k_high + 1


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _hardly_reaches(n, o, v, k, table):
    """Whether to have v, or v + 1, … of k votes is less likely than `RARE`, added up over them."""
    if v * (n + o + 2) < (k + 1) * (n + 1):
        return False
    left = min(n, k) - v + 1.0
    return left * (left + 1.0) * table[n, v] * table[o, k - v] < 2.0 * RARE * table[n + o, k]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _hardly_stays(n, o, v, k, table):
    """Whether to have v or fewer of k votes is less likely than `RARE`."""
    if v * (n + o + 2) > (k + 1) * (n + 1):
        return False
    return (v + 1.0) * table[n, v] * table[o, k - v] < RARE * table[n + o, k]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def span_of(j, n, columns, table, spans):
    """The line of (j, n) in `spans`, which may be 0: the next one that is not kept takes it."""
    kept = len(spans.place) > 0
    line = np.int64(spans.place[j, n]) if kept else np.int64(0)
    if line == 0:
        if kept and spans.filled[0] + 1 < len(spans.reach):
            spans.filled[0] += 1
            line = spans.filled[0]
            spans.place[j, n] = line
        k_low, k_high = columns.k_low[j], columns.k_high[j]
        _fill_span(j, n, k_low, k_high, table, spans.reach[line], spans.stay[line])
    return line


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def keep_two(j, n, m, columns, table, spans):
    """Lines of (j, n) and (j, m) that stay as they are while others are asked for."""
    k_low, k_high = columns.k_low[j], columns.k_high[j]
    _fill_span(j, n, k_low, k_high, table, spans.reach[1], spans.stay[1])
    _fill_span(j, m, k_low, k_high, table, spans.reach[2], spans.stay[2])
    return np.int64(1), np.int64(2)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def quadrature_order(n_rivals, v, k_high, share):
    """Nodes needed: r tied rivals give a polynomial of degree r in y."""
    return min(n_rivals, (k_high - v) // v) // 2 + 1 if share else 1
