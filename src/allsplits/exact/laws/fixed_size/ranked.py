"""recall@R: a sample counts as right if any of its R nearest training items has its class.

Mullin & Sukthankar 2000, algorithm 2, with tied distances averaged: O(1) per sample, prefix and R.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact.laws.fixed_size._kernels_ranked import hit_columns
from allsplits.exact.laws.fixed_size.majority import VoteTable
from allsplits.exact.masses import Prefixes
from allsplits.exact.question import own_rows
from allsplits.orders import NeighborOrder

__all__ = ["RankedHit"]


class RankedHit:
    """P(hit) for samples and columns of (R, law)."""

    def __init__(self, prefixes: Prefixes, *, average_distance_ties: bool) -> None:
        self.prefixes = prefixes
        self.average = average_distance_ties
        self.table = VoteTable(prefixes)

    @property
    def rounding(self) -> float:
        """Bound on rounding errors of a probability."""
        return VoteTable.rounding(self.prefixes, 2)

    def right(
        self, order: NeighborOrder, codes: NDArray[np.int32], n_threads: int
    ) -> NDArray[np.float64]:
        """P(hit) of each row of `order`, shape (rows, columns)."""
        labels = codes[order.flat_indices]
        own = codes[own_rows(order)]
        out = np.zeros((order.n_samples, len(self.prefixes.ks)))
        map_row_ranges(
            lambda start, stop: hit_columns(
                order.indptr, labels, order.tied, own, start, stop, self.average,
                self.prefixes.ks, self.prefixes.masses, self.table.values, out,
            ),
            order.n_samples,
            n_threads,
        )  # fmt: skip
        return out
