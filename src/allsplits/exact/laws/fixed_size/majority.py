"""Majority votes of k equal neighbours, for any number of classes and many k at once.

Cost per sample and prefix: O(k²) when one rival class can catch up, O(k²) more for each further
one. Conditioning as in Celisse & Mary-Huard 2011, any number of classes and ties beyond the paper.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.effort import map_timed_rows
from allsplits.exact.kernel_types import Rows, Rule
from allsplits.exact.laws.fixed_size._kernels_majority import (
    RARE,
    score_tied,
    score_untied,
    work_space,
)
from allsplits.exact.laws.fixed_size._kernels_rivals import Votes, Ways
from allsplits.exact.masses import Prefixes, binomial_table
from allsplits.exact.question import Options, own_rows
from allsplits.exact.ties import distinct_rows, legendre_rules
from allsplits.orders import UNIT_ROUNDOFF, NeighborOrder

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]

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

    def __init__(self, prefixes: Prefixes, n_classes: int, options: Options) -> None:
        self.prefixes = prefixes
        self.n_classes = n_classes
        self.options = options
        self.table = VoteTable(prefixes)
        #: Rows of all blocks, if a long run is to be announced.
        self.rows_in_all = 0
        #: The number of the first row, which speaks for the others.
        self.first_row = 0
        self.quadrature = legendre_rules(int(prefixes.ks.max()) // 2 + 1 if options.share else 0)

    @property
    def rounding(self) -> float:
        """Bound on rounding errors of a probability."""
        return VoteTable.rounding(self.prefixes, self.n_classes)

    def right(
        self,
        order: NeighborOrder,
        codes: Codes,
        n_threads: int,
        numbers: NDArray[np.intp] | None = None,
    ) -> Floats:
        """P(right) of each row of `order`, shape (rows, columns).

        `numbers` are those of the rows, where the order does not tell.
        """
        return self._run(order, class_rows(order, codes, numbers), n_threads, every_class=False)

    def every_class(self, order: NeighborOrder, codes: Codes, n_threads: int) -> Floats:
        """P(each class is predicted) for the only column, shape (rows, classes).

        The rows' own classes play no part, so they may be samples that are not in `codes`.
        """
        return self._run(order, query_rows(order, codes), n_threads, every_class=True)

    def _run(
        self, order: NeighborOrder, rows: Rows, n_threads: int, *, every_class: bool
    ) -> Floats:
        rule = Rule(every_class, self.options.average, self.options.share)
        ways = Ways(self.table.values, self.quadrature)
        votes = Votes(rule, self.prefixes.columns, ways)
        place: Any = slice(None)
        if rule.average:
            rows, _, place = distinct_rows(rows, np.zeros_like(rows.own))
        width = self.n_classes if every_class else len(self.prefixes.ks)
        out = np.zeros((len(rows.own), width))
        has_ties = bool(rows.tied.any())
        tied = rule.average and has_ties

        def score(start: int, stop: int) -> None:
            met, work, tied_work = work_space(self.n_classes, votes, tied)
            if tied:
                score_tied(rows, start, stop, votes, met, work, tied_work, out)
            else:
                score_untied(rows, start, stop, votes, met, work, out)

        # What ties cost is seen from the first rows; the first block speaks for the others.
        says_so = has_ties and order.first_row == self.first_row
        map_timed_rows(
            score,
            len(rows.own),
            n_threads,
            scale=self.rows_in_all / order.n_samples if says_so else 0.0,
            cheaper=CHEAPER,
        )
        found: Floats = out[place]
        return found


def class_rows(order: NeighborOrder, codes: Codes, numbers: NDArray[np.intp] | None = None) -> Rows:
    """The rows of a block of samples, or of samples with these numbers, and their own classes."""
    own = codes[own_rows(order) if numbers is None else numbers]
    return Rows(order.indptr, codes[order.flat_indices], order.tied, own)


def query_rows(order: NeighborOrder, codes: Codes) -> Rows:
    """Rows of points whose own class plays no part."""
    own = np.zeros(order.n_samples, dtype=codes.dtype)
    return Rows(order.indptr, codes[order.flat_indices], order.tied, own)
