"""The named state of the kernels of votes within a radius."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.kernel_types import Quadrature

Floats = NDArray[np.float64]

#: How the voters of one class are drawn: without replacement from its own pool, independently, or
#: with replacement.
HYPERGEOMETRIC, BINOMIAL, POISSON = 0, 1, 2


class Around(NamedTuple):
    """Who stands within the radius of each row.

    Attributes
    ----------
    counts : ndarray of shape (rows, classes)
        Candidates of each class.
    own : ndarray of shape (rows,)
        The row's own class.
    """

    counts: NDArray[np.int64]
    own: NDArray[np.int32]


class Drawn(NamedTuple):
    """How voters are drawn, class by class.

    Attributes
    ----------
    kind : int
        One of the three above.
    pools, train : ndarray of shape (classes,)
        Candidates of each class and how many of them are drawn (hypergeometric).
    own_less : int
        By how much the pool of the row's own class is smaller: 1 where the row is a sample.
    rate : float
        P(drawn) of each candidate, or how often it is expected.
    """

    kind: int
    pools: NDArray[np.int64]
    train: NDArray[np.int64]
    own_less: int
    rate: float


class Totals(NamedTuple):
    """What ties the classes together, by the number m of candidates within the radius.

    A chance is that of independent classes times `factor` of the number of voters s; the factors of
    one m are a sum of powers: factor(s) = Σ_j weights_j ω^(js), ω a root of unity of order `size`.

    Attributes
    ----------
    place : ndarray
        m -> its line; starts, first and size are by line.
    starts : ndarray
        Where a line begins in `factor` and `weights`.
    first, size : ndarray
        Which numbers of voters it holds: first, …, first + size - 1.
    factor : ndarray
    weights : ndarray of complex
    empty : ndarray
        P(no voter), by line; NaN where the classes tell.
    """

    place: NDArray[np.int64]
    starts: NDArray[np.int64]
    first: NDArray[np.int64]
    size: NDArray[np.int64]
    factor: Floats
    weights: NDArray[np.complex128]
    empty: Floats


class Asks(NamedTuple):
    """What is asked of the votes.

    Attributes
    ----------
    share : bool
        Whether tied classes share the win.
    tops : int
        Whether the own class is among the 2, …, `tops` most voted; 0 asks for nothing.
    smoothings : ndarray
        Of the logs of shares; 0 clips as scikit-learn does.
    n_voting : int
        How many classes are smoothed.
    quadrature : Quadrature
        Rules for tied classes.
    """

    share: bool
    tops: int
    smoothings: Floats
    n_voting: int
    quadrature: Quadrature


class Election(NamedTuple):
    """All that a kernel knows of the votes: who is there, who is drawn, what is asked.

    `longest` is how many numbers of voters a class can have.
    """

    around: Around
    drawn: Drawn
    totals: Totals
    asks: Asks
    longest: int


class Seen(NamedTuple):
    """Scratch: the classes within the radius of one row.

    Attributes
    ----------
    classes : ndarray
        Their numbers.
    first, size : ndarray
        How many voters each can have: first, …, first + size - 1.
    chances : ndarray of shape (classes, longest)
    sums : ndarray of complex, shape (classes, longest + 1)
        Sums of chances times powers of a root of unity, over fewer and fewer than so many voters.
    """

    classes: NDArray[np.int64]
    first: NDArray[np.int64]
    size: NDArray[np.int64]
    chances: Floats
    sums: NDArray[np.complex128]


class Own(NamedTuple):
    """Where the own class of a row stands.

    Attributes
    ----------
    place : int
        Among the seen classes; if it is not seen, that of the first seen class after it.
    seen : bool
    before, after : int
        Classes that are not seen, before and after it.
    """

    place: int
    seen: bool
    before: int
    after: int
