"""The named state that Python and compiled kernels share: NamedTuples of arrays and numbers.

numba compiles and caches functions of them; a field's type is that of the value it is given.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Rows(NamedTuple):
    """The rows of an order as the kernels see them: classes instead of neighbours.

    Row i has the entries indptr[i]:indptr[i + 1], nearest first; `tied` tells that an entry is as
    far away as the one before it. `own` is the class of each row.
    """

    indptr: NDArray[np.int64]
    labels: NDArray[np.int32]
    tied: NDArray[np.bool_]
    own: NDArray[np.int32]


class Rule(NamedTuple):
    """How a vote is counted.

    Attributes
    ----------
    every_class : bool
        Whether the chance of every class is asked for, or only that of a row's own.
    average : bool
        Whether orders of tied neighbours are averaged.
    share : bool
        Whether tied classes share the vote, instead of the first getting it.
    """

    every_class: bool
    average: bool
    share: bool


class Columns(NamedTuple):
    """The votes that are asked for: ks[c] voters, and masses[c, j] of the prefix of length j.

    Prefix j matters for k_low[j] to k_high[j] voters.
    """

    ks: NDArray[np.int64]
    masses: Floats
    k_low: NDArray[np.int64]
    k_high: NDArray[np.int64]


class Quadrature(NamedTuple):
    """Gauss-Legendre rules on [0, 1]: line q of `nodes` and `weights` holds the rule of q nodes."""

    nodes: Floats
    weights: Floats


class TieRules(NamedTuple):
    """Gauss-Legendre rules on [0, 1], by their number of nodes.

    Attributes
    ----------
    sizes : ndarray of int
        Number of nodes of each rule, ascending.
    starts : ndarray of int
        Where the nodes of each rule begin.
    spans : ndarray
        The largest s = t·w that each rule integrates well enough.
    nodes, weights : ndarray
    reach : float
        Items expected before the end of the window.
    spread : float
        L in m + √(2 m L) + L, beyond which no number of draws with mean m matters.
    """

    sizes: NDArray[np.int64]
    starts: NDArray[np.int64]
    spans: Floats
    nodes: Floats
    weights: Floats
    reach: float
    spread: float


class TimeRule(NamedTuple):
    """How to integrate over the times of a tie group: rule `number` on each panel of [0, window].

    `n_nodes` is the number of nodes on all panels together.
    """

    number: int
    panels: int
    window: float
    n_nodes: int


class Walk(NamedTuple):
    """Where a walk along a row is, tie group by tie group.

    Attributes
    ----------
    counts, group : array of shape (classes,)
        Items of each class before the tie group, and in it.
    met : array of shape (classes,)
        Both together.
    present, members : array of shape (classes,)
        The classes that are met so far, and those of the tie group, as they come; only the first
        entries are filled.
    """

    counts: NDArray[np.int64]
    group: NDArray[np.int64]
    met: NDArray[np.int64]
    present: NDArray[np.int64]
    members: NDArray[np.int64]


class Contenders(NamedTuple):
    """The classes that may have votes, and how likely each number is, for many lanes at once.

    Attributes
    ----------
    present : array
        The classes that may have votes, no others.
    most : array of shape (classes,)
        The largest number of votes of each class.
    rows : array of shape (classes, votes, lanes)
        The probability of each number of votes of a class, classes being independent.
    """

    present: NDArray[np.int64]
    most: NDArray[np.int64]
    rows: Floats


class Reach(NamedTuple):
    """Which wins are asked for: with v_low to v_high of k_low to k_high votes."""

    v_low: int
    v_high: int
    k_low: int
    k_high: int


class WinWork(NamedTuple):
    """Work space for the wins of one class, and the wins themselves.

    Attributes
    ----------
    free, poly : array of shape (votes, lanes)
        Products of the classes that cannot have as many votes, and of all others.
    is_free : array
        Whether a class that is present is in `free`.
    wins : array of shape (votes, lanes)
        The chance to win a vote of k, from k = 1; line 0 is work space.
    """

    free: Floats
    poly: Floats
    is_free: NDArray[np.bool_]
    wins: Floats


class EveryWinWork(NamedTuple):
    """Work space for the wins of all C classes at once.

    Attributes
    ----------
    own : array of shape (C, lanes)
        The chance of the winner's votes.
    left, right : array of shape (C, votes, lanes)
        Products of the first classes, and of the last ones.
    degrees : array of shape (2, C)
        The degrees of these products.
    sums : array of shape (lanes,)
        What the others do.
    """

    own: Floats
    left: Floats
    right: Floats
    degrees: NDArray[np.int64]
    sums: Floats


def aligned_space(*shape: int) -> Floats:
    """Work space that begins with a line of the cache, as arrays that kernels make do.

    Loops over lanes are up to half as slow again where numpy happens to put an array elsewhere.
    """
    size, line = math.prod(shape), 64
    space = np.empty(size + line // 8)
    first = -space.ctypes.data % line // 8
    return space[first : first + size].reshape(shape)


class BallotWants(NamedTuple):
    """What is asked of the votes, besides who wins them.

    Attributes
    ----------
    own : bool
        The chance of each number of votes of the own class.
    confidence : bool
        The chance of each number of votes of the winner, and that it is right with them.
    squares : bool
        The expected sum of the squares of all classes' votes.
    tops : int
        Whether the own class is among the 1, 2, …, `tops` most voted.
    logs : tuple of float or None
        The smoothings of logs of shares, which follow from `own` where the number of votes is
        fixed.
    """

    own: bool = False
    confidence: bool = False
    squares: bool = False
    tops: int = 0
    logs: tuple[float | None, ...] = ()

    def __or__(self, other: "BallotWants") -> "BallotWants":
        """What either of them asks for."""
        return BallotWants(
            self.own or other.own, self.confidence or other.confidence,
            self.squares or other.squares, max(self.tops, other.tops),
            tuple(dict.fromkeys(self.logs + other.logs)),
        )  # fmt: skip


class Places(NamedTuple):
    """Where in a record what begins; -1 where it is not asked for. The wins of classes are first.

    `k` is the number of votes, `n_tops` the largest K, `width` the length of a record. The place of
    K = 1 stays empty: that is who wins.
    """

    n_classes: int
    k: int
    own: int
    confident: int
    hits: int
    squares: int
    tops: int
    n_tops: int
    width: int

    @classmethod
    def of(cls, wants: BallotWants, n_classes: int, k: int) -> "Places":
        """One after the other."""
        place, starts = n_classes, list[int]()
        sizes = ((wants.own, k + 1), (wants.confidence, k + 1), (wants.confidence, k + 1),
                 (wants.squares, 1), (wants.tops, wants.tops))  # fmt: skip
        for wanted, size in sizes:
            starts.append(place if wanted else -1)
            place += int(size) if wanted else 0
        own, confident, hits, squares, tops = starts
        return cls(n_classes, k, own, confident, hits, squares, tops, wants.tops, place)
