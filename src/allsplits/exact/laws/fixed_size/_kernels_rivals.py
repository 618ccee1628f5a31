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

__all__ = ["Majority", "Met", "Rivals", "is_free", "quadrature_order", "rivals_of", "worth"]

Integers = NDArray[np.int64]


class Majority(NamedTuple):
    """What every row is asked: the rule and the columns, with binomial weights table[n, b]."""

    rule: Rule
    columns: Columns
    quadrature: Quadrature
    table: NDArray[np.float64]
    n_classes: int


class Met(NamedTuple):
    """Items of each class in the prefix, and in the tie group after it; who has any, as met."""

    prefix: Integers
    group: Integers
    present: Integers


class Rivals(NamedTuple):
    """The classes against one: items in the prefix, in the tie group, in both.

    `after` tells that a rival comes after it in class order.
    """

    items: Integers
    tied: Integers
    sums: Integers
    after: NDArray[np.bool_]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def rivals_of(target, met, scratch):
    """The rivals of a class, written into `scratch`."""
    n = np.int64(0)
    for e in range(len(met.present)):
        d = met.present[e]
        if d != target:
            scratch.items[n] = met.prefix[d]
            scratch.tied[n] = met.group[d]
            scratch.sums[n] = met.prefix[d] + met.group[d]
            scratch.after[n] = d > target
            n += 1
    return Rivals(scratch.items[:n], scratch.tied[:n], scratch.sums[:n], scratch.after[:n])


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def quadrature_order(sums, v, k_high, share):
    """Nodes needed: r tied rivals give a polynomial of degree r in y."""
    if not share:
        return 1
    able = 0
    for d in range(len(sums)):
        if sums[d] >= v:
            able += 1
    return min(able, (k_high - v) // v) // 2 + 1


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def worth(after, y, share):
    """What a tie with a rival is worth: y if ties are shared, otherwise all of it or nothing."""
    return y if share or after else 0.0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def is_free(items, v, y):
    """Whether no number of votes of a rival with so many items is too large."""
    return items < v or (items == v and y == 1.0)
