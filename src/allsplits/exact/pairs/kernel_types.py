"""The named state that Python and the kernels for pairs share."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Lists(NamedTuple):
    """Neighbours, nearest first: row i has the entries indptr[i]:indptr[i + 1].

    A row is one order of the neighbours of the sample owners[i], and counts shares[i]: the shares
    of the rows of a sample add up to 1. `pools` has the pool of each sample, `labels` its class.
    """

    indptr: Ints
    neighbors: NDArray[np.int32]
    owners: Ints
    shares: Floats
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
    alone : array of shape (draws, pools)
    times : array of shape (draws,)
        A pair counts times · apart · apart if its pools differ, times · together if they do not,
        and times · alone if both rows are of one sample.
    """

    held_out: Floats
    apart: Floats
    together: Floats
    alone: Floats
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
    wanted, lost : array of shape (rows,)
    choose : array of shape (items + 1, voters + 1)
        Binomial coefficients.
    by_class : bool
        Whether the law draws from each class.
    chances : array of shape (kinds, tables, items + 1, drawn + 1)
        Chance that of t given samples d given ones are in training and no others, given that both
        rows' samples are held out: one table for all samples, or one for each class. The kind of
        two rows is 2 · class + class, or 4 + class if they are rows of one sample.
    weights : array of shape (kinds,)
        What two rows count.
    """

    wanted: Ints
    lost: Ints
    choose: Floats
    by_class: bool
    chances: Floats
    weights: Floats


class Cell(NamedTuple):
    """Samples of one class in the prefixes of two rows, the deciding ones taken out.

    Attributes
    ----------
    one, other, both : int
        How many are in the first prefix alone, in the second alone, in both.
    fixed_one, fixed_other : int
        Deciding samples of the other row that vote here.
    deciding : int
        Deciding samples of this class.
    """

    one: int
    other: int
    both: int
    fixed_one: int
    fixed_other: int
    deciding: int
