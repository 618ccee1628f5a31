"""recall@R: a sample counts as right if any of its R nearest training items has its class.

Mullin & Sukthankar 2000, algorithm 2, with tied distances averaged: O(1) per sample, prefix and R.
"""

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact.laws.fixed_size._kernels_ranked import hit_columns
from allsplits.exact.laws.fixed_size.majority import VoteTable, class_rows
from allsplits.exact.masses import Prefixes
from allsplits.exact.question import Options
from allsplits.orders import NeighborOrder


class RankedVote:
    """P(hit) for samples and columns of (R, law)."""

    def __init__(self, prefixes: Prefixes, options: Options) -> None:
        self.prefixes = prefixes
        self.average = options.average
        self.table = VoteTable(prefixes)

    @property
    def rounding(self) -> float:
        """Bound on rounding errors of a probability."""
        return VoteTable.rounding(self.prefixes, 2)

    def right(
        self, order: NeighborOrder, codes: NDArray[np.int32], n_threads: int
    ) -> NDArray[np.float64]:
        """P(hit) of each row of `order`, shape (rows, columns)."""
        rows, columns = class_rows(order, codes), self.prefixes.columns
        out = np.zeros((order.n_samples, len(columns.ks)))
        map_row_ranges(
            lambda start, stop: hit_columns(
                rows, start, stop, self.average, columns, self.table.values, out
            ),
            order.n_samples,
            n_threads,
        )
        return out
