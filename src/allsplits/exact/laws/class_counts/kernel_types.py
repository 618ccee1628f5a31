"""The named state of class counts that Python and compiled kernels share."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.kernel_types import Quadrature, Rule, TieRules

Floats = NDArray[np.float64]


class Draws(NamedTuple):
    """What is drawn from each class, in all components of a law side by side.

    A class has one table for queries of another class, and one for its own: it has a candidate
    less there, the query. Classes that are drawn alike share their tables.

    Attributes
    ----------
    kinds : array of shape (rows,)
        The kind of each query: queries of a kind must not meet the same candidates.
    table_of, own_table_of : array of shape (kinds, classes)
        Which table a class has for queries of other classes, and of the class itself.
    pools : array of shape (tables,)
        Candidates of a class.
    drawn : array of shape (tables, components)
        How many of them are drawn.
    remaining : array of shape (tables, votes · components)
        How many are still to be drawn after those votes.
    starts : array of shape (tables + 1,)
        The first line of each table.
    lines : array of shape (lines, votes · components)
        Line n of a table: how likely those numbers of the n nearest items are drawn.
    """

    kinds: NDArray[np.int32]
    table_of: NDArray[np.int64]
    own_table_of: NDArray[np.int64]
    pools: NDArray[np.int64]
    drawn: NDArray[np.int64]
    remaining: Floats
    starts: NDArray[np.int64]
    lines: Floats


class ClassVote(NamedTuple):
    """What is asked of each row, and when a walk along it may stop.

    Attributes
    ----------
    rule : Rule
    ks : array
        The number of voters (or the rank) of each column.
    k_least, k_most : int
        The smallest and the largest of them.
    depth : int
        How many items of a row matter, besides those that are tied with the last.
    tol : float
        What may be left out on the way, and at the end.
    tie_rules, quadrature
        Integrals over the times of tie groups, and over shared votes.
    """

    rule: Rule
    ks: NDArray[np.int64]
    k_least: int
    k_most: int
    depth: int
    tol: float
    tie_rules: TieRules
    quadrature: Quadrature
