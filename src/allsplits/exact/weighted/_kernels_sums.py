"""Compiled lists of sums: every sum that the voters of a class can have, without rounding.

A class with n candidates has, for every number b of voters, a sorted list of (sum, share of the
b-subsets with that sum). Within a tie group there is a version of them for each number of items of
the group that come first.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from allsplits.exact.weighted._kernels_digits import add_digits, order_of
from allsplits.exact.weighted._kernels_law import copy_values, fill_values, largest_group


class Lists(NamedTuple):
    """Lists of several versions of each class: version first[p] + d has d items of the group."""

    digits: np.ndarray
    mass: np.ndarray
    starts: np.ndarray
    first: np.ndarray


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _pool(n_versions, n_classes, n_votes, cap, n_digits):
    return Lists(
        np.empty((cap, n_digits), np.int64), np.empty(cap),
        np.empty((n_versions, n_votes + 1), np.int64), np.empty(n_classes + 1, np.int64),
    )  # fmt: skip


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def two_pools(row, first, n_votes, cap, n_digits):
    """Room for the lists of two neighbouring groups, `cap` sums each."""
    n_classes = len(row.present)
    n_versions = largest_group(row, first) + n_classes
    return (
        _pool(n_versions, n_classes, n_votes, cap, n_digits),
        _pool(n_versions, n_classes, n_votes, cap, n_digits),
    )


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _merge(lists, stay, come, weight, moved, at):
    """Write `stay` and, with `weight` added, `come` as one list at `at`.

    Both are (begin, end, what their shares are multiplied by). Returns the end, -1 if full.
    """
    digits, mass = lists.digits, lists.mass
    a, a_end, factor_a = stay
    b, b_end, factor_b = come
    if at + (a_end - a) + (b_end - b) > len(mass):
        return np.int64(-1)
    if b < b_end:
        add_digits(digits[b], weight, moved)
    while a < a_end or b < b_end:
        which = 1
        if b == b_end:
            which = -1
        elif a < a_end:
            which = order_of(digits[a], moved)
        value = 0.0
        if which <= 0:
            copy_values(digits[a], digits[at])
            value += mass[a] * factor_a
            a += 1
        if which >= 0:
            copy_values(moved, digits[at])
            value += mass[b] * factor_b
            b += 1
            if b < b_end:
                add_digits(digits[b], weight, moved)
        mass[at] = value
        at += 1
    return at


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _insert(lists, version, drawable, weight, moved):
    """The next version: one more item. `drawable` items were there; returns whether it fits."""
    starts = lists.starts
    at = starts[version, starts.shape[1] - 1]
    for b in range(starts.shape[1] - 1):
        starts[version + 1, b] = at
        if b <= drawable + 1:
            total = drawable + 1.0
            stay = starts[version, b], starts[version, b + 1], (total - b) / total
            begin, end = (starts[version, b - 1], starts[version, b]) if b > 0 else (at, at)
            at = _merge(lists, stay, (begin, end, b / total), weight, moved, at)
            if at < 0:
                return False
    starts[version + 1, starts.shape[1] - 1] = at
    return True


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def first_lists(n_classes, lists):
    """Before the first group: nobody has voted, all sums are 0."""
    for p in range(n_classes):
        fill_values(lists.digits[p], 0)
        lists.mass[p] = 1.0
        lists.first[p] = p
        fill_values(lists.starts[p], p + 1)
        lists.starts[p, 0] = p
    lists.first[n_classes] = n_classes


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def enter_group(old, new, members, before, passed, weight, moved):
    """All versions of the classes within a tie group; returns whether they fit."""
    at, version, n_votes = np.int64(0), np.int64(0), new.starts.shape[1] - 1
    for p in range(len(members)):
        new.first[p] = version
        last = old.first[p + 1] - 1
        begin, end = old.starts[last, 0], old.starts[last, n_votes]
        if at + end - begin > len(new.mass):
            return False
        for b in range(new.starts.shape[1]):
            new.starts[version, b] = old.starts[last, b] - begin + at
        for i in range(begin, end):
            copy_values(old.digits[i], new.digits[at])
            new.mass[at] = old.mass[i]
            at += 1
        for d in range(members[p]):
            if not _insert(new, version, before[p] - passed[p] + d, weight, moved):
                return False
            version += 1
        at = new.starts[version, n_votes]
        version += 1
    new.first[len(members)] = version
    return True
