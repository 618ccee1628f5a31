"""Two classes, one (k, law): what a prefix is worth is looked up, so a row costs one sum.

A prefix of length j is described by its number of items of the second class; m_j · P(class wins)
is tabulated once, O(depth²). Then a row costs O(depth) whatever k is, and O(depth · g) within a tie
group of g items, where the general vote costs O(k⁴) and more.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact.kernel_types import Rows
from allsplits.exact.laws.fixed_size._kernels_two_classes import fill_win_table, sum_two_classes
from allsplits.exact.laws.fixed_size.majority import MajorityVote, VoteTable, class_rows, query_rows
from allsplits.exact.masses import Prefixes
from allsplits.exact.question import Options
from allsplits.orders import UNIT_ROUNDOFF, NeighborOrder

#: Deepest prefix for which the table of two classes is laid out (32 MiB).
_DEEPEST_TABLE = 1400
#: Numbers in tables of several columns (64 MiB); columns are taken a few at a time.
LARGEST_TABLES = 1 << 23

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

    def __init__(self, prefixes: Prefixes, options: Options) -> None:
        self.average = options.average
        table = win_tables(prefixes, options.share)[..., 0]
        # Lanes are the classes, whatever the class of a row.
        self.tables = np.ascontiguousarray(table.transpose(1, 2, 0))[None]
        # Steps within tie groups and the sums over prefixes round as well.
        self.rounding = VoteTable.rounding(prefixes, 2) + 8 * prefixes.depth * UNIT_ROUNDOFF

    def every_class(self, order: NeighborOrder, codes: Codes, n_threads: int) -> Floats:
        """P(each class is predicted), shape (rows, 2)."""
        rows = query_rows(order, codes)
        out = np.zeros((order.n_samples, 2))
        map_row_ranges(
            lambda start, stop: sum_two_classes(rows, start, stop, self.average, self.tables, out),
            order.n_samples,
            n_threads,
        )
        return out


class TwoClassRows:
    """P(right) of every row in many columns, side by side."""

    def __init__(self, prefixes: Prefixes, options: Options) -> None:
        self.prefixes, self.options = prefixes, options
        self.rounding = VoteTable.rounding(prefixes, 2) + 8 * prefixes.depth * UNIT_ROUNDOFF

    @staticmethod
    def fits(depth: int) -> bool:
        """Whether the table can be laid out."""
        return depth <= _DEEPEST_TABLE

    def right(self, order: NeighborOrder, codes: Codes, n_threads: int) -> Floats:
        """Shape (rows, columns)."""
        rows, average = class_rows(order, codes), self.options.average
        n_columns = len(self.prefixes.ks)
        out = np.empty((order.n_samples, n_columns))
        step = max(1, LARGEST_TABLES // (2 * (self.prefixes.depth + 1) ** 2))
        for first in range(0, n_columns, step):
            here = slice(first, min(first + step, n_columns))
            tables = win_tables(self.prefixes, self.options.share, here)
            some = np.zeros((order.n_samples, tables.shape[3]))
            map_row_ranges(
                partial(_sum_rows, rows, average, tables, some), order.n_samples, n_threads
            )
            out[:, here] = some
        return out


def _sum_rows(
    rows: Rows, average: bool, tables: Floats, out: Floats, start: int, stop: int
) -> None:
    sum_two_classes(rows, start, stop, average, tables, out)


def win_tables(prefixes: Prefixes, share: bool, columns: slice = slice(None)) -> Floats:
    """tables[own, j, o, column] = m_j · P(own wins | o of the first j are of the second class)."""
    binomials = VoteTable(prefixes)
    first_share = 0.5 if share else 1.0
    ks, masses = prefixes.ks[columns], prefixes.masses[columns]
    tables = np.zeros((len(ks), 2, prefixes.depth + 1, prefixes.depth + 1))
    for one, k, line in zip(tables, ks.tolist(), masses, strict=True):
        fill_win_table(k, first_share, line, binomials.values, binomials.theta, one)
    return np.ascontiguousarray(tables.transpose(1, 2, 3, 0))
