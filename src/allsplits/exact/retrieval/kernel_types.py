"""The named state of retrieval that Python and compiled kernels share."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.kernel_types import TieRules, Walk

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: What relevant items before an item do: nothing; u + 1 is counted; only the first one counts.
PLAIN, COUNTED, FIRST = 0, 1, 2


class CountTables(NamedTuple):
    """How many of the nearest items of a class are in the gallery, for several classes.

    Line n of a table: how likely each number of the n nearest is. Only numbers that matter are
    held, from lows[line] on, in values[offsets[line]:offsets[line + 1]].

    Attributes
    ----------
    pools, drawn : arrays of shape (tables,) and (tables, 1)
        Candidates of the class, and how many are in the gallery.
    shares : array of shape (tables,)
        drawn / pools.
    starts : array of shape (tables,)
        The first line of each table.
    offsets, lows : arrays of shape (lines + 1,) and (lines,)
    values : array
    """

    pools: Integers
    drawn: Integers
    shares: Floats
    starts: Integers
    offsets: Integers
    lows: Integers
    values: Floats


class Queries(NamedTuple):
    """What the galleries of each row are.

    Attributes
    ----------
    shares : array of shape (rows,)
        How likely a relevant item is in the gallery; 0 where there is none.
    kinds : array of shape (rows,)
        The kind of each query: queries of a kind must not meet the same candidates.
    table_of, own_table_of : array of shape (kinds, classes)
        The table of a class for queries of other classes; and of the class itself, for what
        stands before a relevant item.
    """

    shares: Floats
    kinds: NDArray[np.int32]
    table_of: Integers
    own_table_of: Integers


class SmallGroups(NamedTuple):
    """What small tie groups have in common: the nodes of small rules, and powers of their times.

    c of `tied` members come before the time λ with chance ways[tied, c] λ^c (1-λ)^(tied-c).

    Attributes
    ----------
    limits : array of shape (rules,)
        A rule serves tie groups of which no more gallery items are expected.
    weights : array of shape (rules, chunks, lanes)
        Of the nodes of each rule, in lanes; those left over have no weight.
    before, after : arrays of shape (rules, chunks, members + 1, lanes)
        λ^c and (1-λ)^c.
    ways : array of shape (members + 1, members + 1)
        Binomial coefficients.
    """

    limits: Floats
    weights: Floats
    before: Floats
    after: Floats
    ways: Floats


class Reading(NamedTuple):
    """How rows are read.

    Attributes
    ----------
    average : bool
        Whether orders of tied neighbours are averaged.
    size : int
        How many positions of the gallery matter.
    tie_rules : TieRules
    small_groups : SmallGroups
    faint : float
        What may be left out at the ends of a distribution.
    over : float
        A walk is over where no number of items before is as likely as this.
    """

    average: bool
    size: int
    tie_rules: TieRules
    small_groups: SmallGroups
    faint: float
    over: float


class Lanes(NamedTuple):
    """Cases that are computed side by side: a relevant item, at one time of its tie group.

    Attributes
    ----------
    counts, groups : array of shape (classes, lanes)
        Items of each class before the tie group, and in it besides the relevant item.
    times, weights : array of shape (lanes,)
        The time of the item in its tie group, and what the case counts.
    row, poly : array of shape (positions, lanes)
        How many items of one class are in the gallery before the item, and of all of them.
    """

    counts: Integers
    groups: Integers
    times: Floats
    weights: Floats
    row: Floats
    poly: Floats


class WalkWork(NamedTuple):
    """Scratch of one range of rows."""

    walk: Walk
    table_ids: Integers
    lanes: Lanes
