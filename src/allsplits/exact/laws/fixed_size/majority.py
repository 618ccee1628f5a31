"""Majority votes of k equal neighbours, for any number of classes and many k at once.

Cost per sample and prefix: O(k²) when one rival class can catch up, O(k²) more for each further
one. Conditioning as in Celisse & Mary-Huard 2011, any number of classes and ties beyond the paper.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.exact._kernels import binomial_table
from allsplits.exact.effort import map_timed_rows
from allsplits.exact.kernel_types import Rows
from allsplits.exact.laws.fixed_size._kernels_majority import RARE, score_columns
from allsplits.exact.masses import UNIT_ROUNDOFF, Prefixes
from allsplits.exact.question import own_rows
from allsplits.exact.ties import distinct_rows, legendre_rules
from allsplits.orders import NeighborOrder

__all__ = ["MajorityVote", "VoteTable"]

Floats = NDArray[np.float64]


#: What a long run is told.
CHEAPER = "fewer neighbours or fewer samples"


class VoteTable:
    """Binomial weights T[n, b] for a set of prefixes, and what rounding they may bring."""

    def __init__(self, prefixes: Prefixes) -> None:
        k_max = int(prefixes.ks.max())
        # θ follows the line j ≈ k · N/a along which the masses lie, so nothing underflows.
        self.theta = k_max / (prefixes.depth + 1.0)
        self.values = binomial_table(prefixes.depth, k_max, self.theta)

    @staticmethod
    def rounding(prefixes: Prefixes, n_classes: int) -> float:
        """Bound on the relative rounding error of a value: all terms are positive.

        Tables: 3 roundings a row, numerator and denominator; masses: 4 a step and their sum; each
        class's factor: k products and sums; then the sums over votes and prefixes; numbers of
        votes that are less probable than `RARE` are left out.
        """
        depth, k = prefixes.depth, int(prefixes.ks.max())
        factors = min(n_classes, depth)
        return (12 * depth + (k + 3) * (factors + 2) + 64) * UNIT_ROUNDOFF + k * RARE


class MajorityVote:
    """P(every class wins the vote) for samples, columns of (k, law), and two rules for ties."""

    def __init__(
        self, prefixes: Prefixes, n_classes: int, *, average_distance_ties: bool, share: bool
    ) -> None:
        self.prefixes = prefixes
        self.n_classes = n_classes
        self.average = average_distance_ties
        self.share = share
        self.table = VoteTable(prefixes)
        #: Rows of all blocks, if a long run is to be announced.
        self.rows_in_all = 0
        active = prefixes.masses > 0
        ks = prefixes.ks[:, None]
        self.k_high = np.where(active, ks, 0).max(axis=0)
        self.k_low = np.where(active, ks, self.k_high.max()).min(axis=0)
        self.nodes, self.weights = legendre_rules(int(prefixes.ks.max()) // 2 + 1 if share else 0)

    @property
    def rounding(self) -> float:
        """Bound on rounding errors of a probability."""
        return VoteTable.rounding(self.prefixes, self.n_classes)

    def right(self, order: NeighborOrder, codes: NDArray[np.int32], n_threads: int) -> Floats:
        """P(right) of each row of `order`, shape (rows, columns)."""
        own = codes[own_rows(order)]
        return self._run(order, codes, own, n_threads, len(self.prefixes.ks), False)

    def every_class(self, order: NeighborOrder, codes: NDArray[np.int32], n_threads: int) -> Floats:
        """P(each class is predicted) for the only column, shape (rows, classes).

        The rows' own classes play no part, so they may be samples that are not in `codes`.
        """
        own = np.zeros(order.n_samples, dtype=codes.dtype)
        return self._run(order, codes, own, n_threads, self.n_classes, True)

    def _run(
        self,
        order: NeighborOrder,
        codes: NDArray[np.int32],
        own: NDArray[np.int32],
        n_threads: int,
        width: int,
        every_class: bool,
    ) -> Floats:
        rows = Rows(order.indptr, codes[order.flat_indices], order.tied, own)
        place: Any = slice(None)
        if self.average:
            rows, _, place = distinct_rows(rows, np.zeros_like(own))
        out = np.zeros((len(rows.own), width))
        # What ties cost is seen from the first rows; the first block speaks for the others.
        says_so = rows.tied.any() and order.first_row == 0
        map_timed_rows(
            lambda start, stop: score_columns(
                *rows, start, stop, self.n_classes, every_class, self.average, self.share,
                self.prefixes.ks, self.prefixes.masses, self.k_low, self.k_high,
                self.table.values, self.nodes, self.weights, out,
            ),
            len(rows.own),
            n_threads,
            scale=self.rows_in_all / order.n_samples if says_so else 0.0,
            cheaper=CHEAPER,
        )  # fmt: skip
        found: Floats = out[place]
        return found
