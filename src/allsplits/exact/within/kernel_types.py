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
    soft : bool
        Shares of the votes, their squares and logs.
    tops : int
        Whether the own class is among the 2, …, `tops` most voted; 0 asks for nothing.
    smoothings : ndarray
        Of the logs; 0 clips as scikit-learn does.
    quadrature : Quadrature
        Rules for tied classes.
    """

    share: bool
    soft: bool
    tops: int
    smoothings: Floats
    quadrature: Quadrature
