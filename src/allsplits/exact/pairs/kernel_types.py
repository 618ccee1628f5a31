"""The named state that Python and the kernels for pairs share."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Lists(NamedTuple):
    """Neighbours of all samples, nearest first: row i has the entries indptr[i]:indptr[i + 1].

    `pools` has the pool of each sample, `labels` its class.
    """

    indptr: Ints
    neighbors: NDArray[np.int32]
    pools: NDArray[np.int32]
    labels: NDArray[np.int32]


class Changes(NamedTuple):
    """Where rows change between right and wrong.

    Row i has the entries indptr[i]:indptr[i + 1]: after its first lengths[e] neighbours the nearest
    training neighbour is right more often by steps[e], +1 or -1. counts[e, c] is how many of these
    neighbours, and the sample itself, belong to pool c.
    """

    indptr: Ints
    lengths: Ints
    steps: Floats
    counts: Ints


class SplitMoments(NamedTuple):
    """Pairs within a split, for each draw of the law.

    Attributes
    ----------
    held_out : array of shape (draws, pools, m + 1)
        Chance that m given samples of a pool are all held out.
    apart : array of shape (draws, pools)
    together : array of shape (draws, pools)
    times : array of shape (draws,)
        A pair counts times · apart · apart if its pools differ, times · together if not.
    """

    held_out: Floats
    apart: Floats
    together: Floats
    times: Floats


class FoldMoments(NamedTuple):
    """Pairs of samples in two folds of a run, for each pair of draws.

    Attributes
    ----------
    apart : array of shape (pairs, pools, m + 1, m + 1)
        Chance that m given samples of a pool are in the first fold and other m' in the second.
    first, second : array of shape (pairs, pools)
        What samples of the two folds count.
    """

    apart: Floats
    first: Floats
    second: Floats


class Race(NamedTuple):
    """Two classes: a row is right if its class has `wanted` voters before the other has `lost`.

    Attributes
    ----------
    wanted, lost : array of shape (variants, classes)
        By class; a vote that may end even is the mean of two variants, one for each class.
    choose : array of shape (items + 1, voters + 1)
        Binomial coefficients.
    by_class : bool
        Whether the law draws from each class.
    chances : array of shape (classes, classes, tables, items + 1, drawn + 1)
        For the classes of both rows: chance that of t given samples d given ones are in training,
        given that both are held out. One table for all samples, or one for each class.
    """

    wanted: Ints
    lost: Ints
    choose: Floats
    by_class: bool
    chances: Floats
