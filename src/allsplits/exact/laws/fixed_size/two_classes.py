"""Two classes, one (k, law): what a prefix is worth is looked up, so a row costs one sum.

A prefix of length j is described by its number of items of the second class; m_j · P(class wins)
is tabulated once, O(depth²). Then a row costs O(depth) whatever k is, and O(depth · g) within a tie
group of g items, where the general vote costs O(k⁴) and more.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact.laws.fixed_size._kernels_two_classes import fill_win_table, sum_two_classes
from allsplits.exact.laws.fixed_size.majority import MajorityVote, VoteTable, query_rows
from allsplits.exact.masses import Prefixes
from allsplits.exact.question import Options, own_rows
from allsplits.orders import UNIT_ROUNDOFF, NeighborOrder

#: Deepest prefix for which the table of two classes is laid out (32 MiB).
_DEEPEST_TABLE = 1400

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]


def vote_for_every_class(
    prefixes: Prefixes, n_classes: int, options: Options
) -> TwoClassVote | MajorityVote:
    """The cheaper way to P(every class) for the only column."""
    if n_classes == 2 and TwoClassRows.fits(prefixes.depth):
        return TwoClassVote(prefixes, options)
    return MajorityVote(prefixes, n_classes, options)


class TwoClassVote:
    """The majority of two classes for one (k, law), by a table of prefix values."""

    def __init__(self, prefixes: Prefixes, options: Options, column: int = 0) -> None:
        binomials = VoteTable(prefixes)
        self.average = options.average
        self.table = np.zeros((2, prefixes.depth + 1, prefixes.depth + 1))
        first_share, k = 0.5 if options.share else 1.0, int(prefixes.ks[column])
        masses = prefixes.masses[column]
        fill_win_table(k, first_share, masses, binomials.values, binomials.theta, self.table)
        # Steps within tie groups and the sums over prefixes round as well.
        self.rounding = VoteTable.rounding(prefixes, 2) + 8 * prefixes.depth * UNIT_ROUNDOFF

    def every_class(self, order: NeighborOrder, codes: Codes, n_threads: int) -> Floats:
        """P(each class is predicted), shape (rows, 2)."""
        rows = query_rows(order, codes)
        out = np.zeros((order.n_samples, 2))
        map_row_ranges(
            lambda start, stop: sum_two_classes(rows, start, stop, self.average, self.table, out),
            order.n_samples,
            n_threads,
        )
        return out


class TwoClassRows:
    """P(right) of every row in many columns: one table after the other."""

    def __init__(self, prefixes: Prefixes, options: Options) -> None:
        self.prefixes, self.options = prefixes, options
        self.rounding = VoteTable.rounding(prefixes, 2) + 8 * prefixes.depth * UNIT_ROUNDOFF

    @staticmethod
    def fits(depth: int) -> bool:
        """Whether the table can be laid out."""
        return depth <= _DEEPEST_TABLE

    def right(self, order: NeighborOrder, codes: Codes, n_threads: int) -> Floats:
        """Shape (rows, columns)."""
        own = codes[own_rows(order)]
        out = np.empty((order.n_samples, len(self.prefixes.ks)))
        for column in range(out.shape[1]):
            vote = TwoClassVote(self.prefixes, self.options, column)
            out[:, column] = vote.every_class(order, codes, n_threads)[np.arange(len(own)), own]
        return out
