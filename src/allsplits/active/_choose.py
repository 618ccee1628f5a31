"""Choosing a batch: the most useful candidates, ties at random, spread out if asked for."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.intp]
Floats = NDArray[np.float64]


def most_useful(
    utilities: Floats, size: int, tolerance: float, rng: np.random.RandomState
) -> Numbers:
    """Positions of the `size` largest utilities, largest first.

    Utilities that differ by no more than `tolerance` are equal but for rounding: which of them
    comes first, or at all, is drawn at random.
    """
    last = np.partition(utilities, -size)[-size]
    shuffled = rng.permutation(np.flatnonzero(utilities >= last - tolerance))
    values = utilities[shuffled]
    best_first = np.argsort(-values, kind="stable")
    # Runs of equal values, in the random order they were drawn in.
    falls = np.diff(values[best_first], prepend=np.inf) < -tolerance
    run = np.empty(len(shuffled), dtype=np.intp)
    run[best_first] = np.cumsum(falls)
    return shuffled[np.argsort(run, kind="stable")[:size]]


def farthest_first(
    shortlist: Numbers, size: int, distances_from: Callable[[int], Floats]
) -> Numbers:
    """`size` of the shortlist: its first, then each time the one farthest from those chosen.

    ``distances_from(i)`` are the distances of the whole shortlist to its member i. Among equally
    far ones the earlier in the list is taken; no member is taken twice.
    """
    chosen = [0]
    nearest = distances_from(0).copy()
    nearest[0] = -1.0
    while len(chosen) < size:
        following = int(np.argmax(nearest))
        chosen.append(following)
        nearest = np.minimum(nearest, distances_from(following))
        nearest[following] = -1.0
    return shortlist[chosen]
