"""Compiled bookkeeping of the majority vote: which classes a row has met, and one against the rest.

A class that gets v votes wins if none of its rivals has more; a rival with as many is worth y of a
win (see `_kernels_majority`). Rivals that cannot reach v votes, or may, are *free*: nothing caps
their votes, so their factors merge into one.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact.kernel_types import Columns, Quadrature, Rule

Integers = NDArray[np.int64]

#: Events that are less probable than this, or than e^-DOUBT, are left out.
RARE = 2.0**-64
DOUBT = -np.log(RARE)


class Ways(NamedTuple):
    """What votes are weighed with: binomial weights table[n, b], and nodes for shared ties."""

    table: NDArray[np.float64]
    quadrature: Quadrature


class Votes(NamedTuple):
    """The votes that are asked for: how they are counted, which, and what they are weighed with."""

    rule: Rule
    columns: Columns
    ways: Ways


class Met(NamedTuple):
    """Items of each class in the prefix, and in the tie group after it; who has any, as met."""

    prefix: Integers
    group: Integers
    present: Integers


class Rivals(NamedTuple):
    """The classes against one: their items in prefix and tie group, and who comes after it."""

    items: Integers
    tied: Integers
    after: NDArray[np.bool_]


def new_rivals(n_classes: int) -> Rivals:
    """Space for the rivals of a class."""
    return Rivals(
        np.empty(n_classes, np.int64), np.empty(n_classes, np.int64), np.empty(n_classes, np.bool_)
    )


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def gather_rivals(target, met, n_present, rivals):
    """Items of the other classes in the prefix, and in the tie group; returns how many classes."""
    n = np.int64(0)
    for e in range(n_present):
        d = met.present[e]
        if d != target:
            rivals.items[n] = met.prefix[d]
            rivals.after[n] = d > target
            rivals.tied[n] = met.group[d]
            n += 1
    return n


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def quadrature_order(items, n_rivals, v, k_high, share):
    """Nodes needed: r tied rivals give a polynomial of degree r in y."""
    if not share:
        return 1
    able = 0
    for d in range(n_rivals):
        if items[d] >= v:
            able += 1
    return min(able, (k_high - v) // v) // 2 + 1


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def is_free(items, v, y):
    """Whether no number of votes of a rival with so many items is too large."""
    return items < v or (items == v and y == 1.0)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def add_shifted(factor, source, target, shift, n):
    """Add the first n numbers of `source`, times a factor, to the target from `shift` on."""
    # Sums side by side, not one after the other: this is vectorised.
    part = target[shift : shift + max(n, 0)]
    for x in range(len(part)):
        part[x] += factor * source[x]
