"""Covering a pool: the samples that bring all the others nearest to a label.

While labels are few a committee sees little of the pool, and what it doubts is where it happens to
have labels. The nearest neighbour's answer is the better the nearer the neighbour is. So the first
samples are those after which the pool is nearest to its labels L:

    the next one is the c with the smallest  Σ_x min(d(x, L), d(x, c))

It stands where samples are many and labels are far, so it is a typical sample, not an outlier. This
is the first step of k-medoids (Kaufman & Rousseeuw 1990), and comes within a factor 1 - 1/e of the
best choice of as many (Nemhauser, Wolsey & Fisher 1978); to begin with typical samples of what has
no label yet is the idea of TypiClust (Hacohen, Dekel & Weinshall 2022). No label is looked at, and
any metric will do.

Cost: of a large pool m samples are drawn, which are candidates and stand for all; m² distances, and
a few sums of m for each choice.
"""

import numpy as np
from numpy.typing import NDArray

from allsplits.active._candidates import Candidates

#: Samples that a pool is represented by.
_MOST_DRAWN = 2000

Numbers = NDArray[np.intp]
Floats = NDArray[np.float64]


def choose_cover(
    found: Candidates, size: int, n_threads: int, rng: np.random.RandomState
) -> Numbers:
    """Positions of the `size` candidates to label next, the most useful first."""
    drawn = rng.permutation(len(found))[: max(_MOST_DRAWN, size)]
    between = found.distances(drawn, found.indices[drawn], n_threads)
    if len(found.labelled):
        nearest = found.distances(drawn, found.labelled, n_threads).min(axis=1)
    else:
        nearest = between.max(axis=0)  # nobody can be farther: the first gain is that of a label
    return drawn[cover_greedily(between, nearest, size)]


def cover_greedily(between: Floats, nearest: Floats, size: int) -> list[int]:
    """Samples that lower the sum of distances to the nearest label most, one after the other.

    A gain can only shrink as labels are added. So a gain that was computed earlier is an upper
    bound, and whoever is ahead with a gain of now need not be compared with the others.

    Parameters
    ----------
    between : ndarray of shape (m, m)
        Distances between the samples.
    nearest : ndarray of shape (m,)
        Their distances to the nearest label so far.
    size : int
        How many to choose.
    """
    nearest = nearest.copy()
    gains = np.array([np.maximum(nearest - row, 0.0).sum() for row in between])
    chosen: list[int] = []
    for _ in range(size):
        ahead = -1
        while ahead != (ahead := int(gains.argmax())):
            gains[ahead] = np.maximum(nearest - between[ahead], 0.0).sum()
        chosen.append(ahead)
        gains[ahead] = -1.0
        np.minimum(nearest, between[ahead], out=nearest)
    return chosen
