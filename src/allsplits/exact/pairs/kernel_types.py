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
    held_out : array of shape (pools, m + 1, draws)
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
    apart : array of shape (pools, m + 1, m + 1, pairs)
        Chance that m given samples of a pool are in the first fold and other m' in the second.
    first, second : array of shape (pairs, pools)
        What samples of the two folds count.
    """

    apart: Floats
    first: Floats
    second: Floats


class PairWork(NamedTuple):
    """Work space for the pairs of one row.

    Attributes
    ----------
    ranks : array of shape (samples,)
        Where samples stand in the row.
    shared : array of shape (changes, pools + 1)
        Samples of the other row in each prefix of the row, by pool and in all.
    active : array of shape (pools,)
        The pools that matter; only the first entries are filled.
    kinds : array
        What the pair counts within each draw, then in each pair of folds.
    lanes : array
        A chance for each of them.
    """

    ranks: Ints
    shared: Ints
    active: Ints
    kinds: Floats
    lanes: Floats


class OnePool(NamedTuple):
    """Both kinds of moments where all samples are of one pool, what pairs count included.

    Attributes
    ----------
    together, alone : array of shape (m + 1,)
        All of m samples are held out in a split: of two samples, or of one.
    folds : array of shape (m + 1, m + 1)
        Prefixes of m and m' samples in two folds.
    """

    together: Floats
    alone: Floats
    folds: Floats


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


class Needs(NamedTuple):
    """Voters of one class that the first and the second row need: at least, at most."""

    least: int
    most: int
    other_least: int
    other_most: int


class RaceWork(NamedTuple):
    """Work space for the pairs of one row.

    Attributes
    ----------
    ranks : array of shape (samples,)
        Where samples stand in the row.
    places : array
        Where those of the row stand in the other row.
    ways : array of shape (classes, drawn + 1)
        Ways to draw samples of each class.
    """

    ranks: Ints
    places: Ints
    ways: Floats
