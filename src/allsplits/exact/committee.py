"""The committee of all C(n, p) nearest-neighbour classifiers, asked about new points.

Each member is trained on n - p of the n labelled samples and votes with their k nearest. A new
point is not one of the n, so it stands to them as a held-out sample stands to the others: the law
of fixed size with n candidates of which a = n - p are drawn (Celisse & Mary-Huard 2011, section
4.2, for any number of classes, even k and tied distances). Only the first k + p neighbours matter.
Two classes cost O(k + p) per point after a table of O((k + p)²), more classes O(k²) per prefix.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact._kernels_committee import fill_win_table, sum_two_classes
from allsplits.exact.masses import UNIT_ROUNDOFF, Column, Prefixes, prefixes_for
from allsplits.exact.problem import Options
from allsplits.exact.uniform import MajorityVote, VoteTable
from allsplits.orders import NeighborOrder
from allsplits.splits import SizeLaw

__all__ = ["Committee"]

#: Deepest prefix for which the table of two classes is laid out (32 MiB).
_DEEPEST_TABLE = 1400

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]


class Committee:
    """P(a random member predicts each class) for new points.

    Attributes
    ----------
    depth : int
        How many neighbours of a point are looked at.
    error_bound : float
        No share is off by more: rounding, and mass that was left out (at most `options.tol`).
    """

    def __init__(self, codes: Codes, n_classes: int, k: int, p: int, options: Options) -> None:
        n = len(codes)
        # The new point is sample number n + 1; the candidates are the n others.
        prefixes = prefixes_for([Column(k, SizeLaw.of_size(n + 1, n - p))], options.tol)
        self.codes = codes
        self.depth = prefixes.depth
        self._vote: _TwoClassVote | MajorityVote
        if n_classes == 2 and prefixes.depth <= _DEEPEST_TABLE:
            self._vote = _TwoClassVote(prefixes, average=options.average, share=options.share)
        else:
            self._vote = MajorityVote(
                prefixes, n_classes, average_distance_ties=options.average, share=options.share
            )
        self.error_bound = float(prefixes.missing[0] + self._vote.rounding)

    def shares(self, order: NeighborOrder, n_threads: int) -> Floats:
        """Share of the committee for each class, shape (rows of `order`, classes)."""
        return self._vote.every_class(order, self.codes, n_threads)


class _TwoClassVote:
    """The majority of two classes for one (k, law), by a table of prefix values."""

    def __init__(self, prefixes: Prefixes, *, average: bool, share: bool) -> None:
        binomials = VoteTable(prefixes)
        self.average = average
        self.table = np.zeros((2, prefixes.depth + 1, prefixes.depth + 1))
        fill_win_table(
            int(prefixes.ks[0]), 0.5 if share else 1.0, prefixes.masses[0], binomials.values,
            binomials.theta, self.table,
        )  # fmt: skip
        # Steps within tie groups and the sums over prefixes round as well.
        self.rounding = VoteTable.rounding(prefixes, 2) + 8 * prefixes.depth * UNIT_ROUNDOFF

    def every_class(self, order: NeighborOrder, codes: Codes, n_threads: int) -> Floats:
        labels = codes[order.flat_indices]
        longest = int(np.diff(order.indptr).max(initial=0))
        out = np.zeros((order.n_samples, 2))
        map_row_ranges(
            lambda start, stop: sum_two_classes(
                order.indptr, labels, order.tied, start, stop, self.average, self.table, longest,
                out,
            ),
            order.n_samples,
            n_threads,
        )  # fmt: skip
        return out
