"""Compiled votes between two classes under class counts, as races.

Of the first k = 2h - 1 that are drawn, a class has the majority if its h-th comes before the other
class's h-th. Classes are drawn independently, so with n items of the class and m of the other
before an item,

    P(h before g) = Σ_(items of the class) T[n, h] · F[m, g],

T[n, h]: the next item is drawn and is the h-th; F[m, g]: fewer than g of the other's first m are
drawn. O(1) for each item and k. Tied items of both classes have no order: such rows are not for
these loops.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Races(NamedTuple):
    """Tables of one component of the law for rows of one class; the last axis is the race.

    Attributes
    ----------
    nth : array of shape (3, items + 1, races)
        T of the row's own class: all samples there, one of the class gone, one of the other gone.
    fewer : array of shape (3, items + 1, races)
        F of the other class, for the same three.
    """

    nth: Floats
    fewer: Floats


class Mixes(NamedTuple):
    """Which two races decide a vote, and what each counts.

    Attributes
    ----------
    races : array of shape (columns, 2)
    counts : array of shape (own classes, own or other class gone, columns, 2)
    """

    races: Integers
    counts: Floats


class RaceWork(NamedTuple):
    """Numbers of items before each entry of a row, and sums over the items behind it."""

    before: Integers
    behind: Floats


def race_work(longest: int, n_races: int) -> RaceWork:
    """Space for rows of up to `longest` entries."""
    return RaceWork(np.empty((2, longest + 1), np.int64), np.empty((2, longest + 1, n_races)))


@njit(nogil=True, cache=True, error_model="numpy")
def _count_before(own, labels, before):
    """before[0, e], before[1, e]: items of the own and of the other class before entry e."""
    mine = np.int64(0)
    for e in range(len(labels)):
        before[0, e] = mine
        before[1, e] = e - mine
        if labels[e] == own:
            mine += 1


@njit(nogil=True, cache=True, error_model="numpy")
def _sum_behind(own, labels, races, work):
    """behind[v, e]: the items from e on, when an own item (0) or another (1) before e is gone."""
    before, behind = work.before, work.behind
    behind[:, len(labels)] = 0.0
    for e in range(len(labels) - 1, -1, -1):
        behind[:, e] = behind[:, e + 1]
        if labels[e] == own:
            n, m = before[0, e], before[1, e]
            for r in range(behind.shape[2]):
                if n > 0:
                    behind[0, e, r] += races.nth[1, n - 1, r] * races.fewer[1, m, r]
                if m > 0:
                    behind[1, e, r] += races.nth[2, n, r] * races.fewer[2, m - 1, r]


@njit(nogil=True, cache=True, error_model="numpy")
def race_bases(rows, races_of, out):
    """out[i, v, race]: the race with all samples (v = 0), with a far own one gone, another gone."""
    for i in range(len(rows.own)):
        own = rows.own[i]
        races = races_of[own]
        mine = np.int64(0)
        for e in range(rows.indptr[i], rows.indptr[i + 1]):
            if rows.labels[e] == own:
                m = e - rows.indptr[i] - mine
                for v in range(3):
                    for r in range(out.shape[2]):
                        out[i, v, r] += races.nth[v, mine, r] * races.fewer[v, m, r]
                mine += 1


@njit(nogil=True, cache=True, error_model="numpy")
def race_strikes(rows, numbers, races_of, mixes, bases, hits, work):
    """hits[sample, column] += what striking the sample changes.

    bases[i, v, race] as from `race_bases`.
    """
    here = np.empty(bases.shape[2])
    nearer = np.empty((2, bases.shape[2]))
    for i in range(len(rows.own)):
        low, high = rows.indptr[i], rows.indptr[i + 1]
        own = rows.own[i]
        labels = rows.labels[low:high]
        races = races_of[own]
        _count_before(own, labels, work.before)
        _sum_behind(own, labels, races, work)
        nearer[:] = 0.0
        for e in range(len(labels)):
            other = 0 if labels[e] == own else 1
            for r in range(len(here)):
                here[r] = nearer[other, r] + work.behind[other, e + 1, r] - bases[i, 1 + other, r]
            sample = numbers[low + e]
            for c in range(hits.shape[1]):
                a, b = mixes.races[c, 0], mixes.races[c, 1]
                x, y = mixes.counts[own, other, c, 0], mixes.counts[own, other, c, 1]
                hits[sample, c] += x * here[a] + y * here[b]
            if other == 0:
                n, m = work.before[0, e], work.before[1, e]
                for r in range(len(here)):
                    nearer[0, r] += races.nth[1, n, r] * races.fewer[1, m, r]
                    nearer[1, r] += races.nth[2, n, r] * races.fewer[2, m, r]
