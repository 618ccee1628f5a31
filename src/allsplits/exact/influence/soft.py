"""Shapley values of the soft vote (KNN-Shapley, Jia et al. 2019), in O(1) for each neighbour."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact.influence._kernels_soft import soft_shapley
from allsplits.exact.influence.rows import RowInfluences
from allsplits.exact.kernel_types import Rows
from allsplits.exact.laws.fixed_size.fractions import groups_of
from allsplits.exact.question import own_rows
from allsplits.orders import NeighborOrder


@dataclass(frozen=True, eq=False)
class SoftShapley:
    """Values of the candidates of complete rows."""

    codes: NDArray[np.int32]
    k: int
    average: bool

    def __call__(self, order: NeighborOrder, n_threads: int) -> RowInfluences:
        """What the candidates of these rows do."""
        labels = self.codes.take(order.flat_indices, mode="clip")
        rows = Rows(order.indptr, labels, order.tied, self.codes[own_rows(order)])
        out = np.empty(len(labels))
        map_row_ranges(
            lambda start, stop: soft_shapley(rows, start, stop, self.k, self.average, out),
            order.n_samples,
            n_threads,
        )
        return RowInfluences(out, np.zeros((order.n_samples, 1)))

    def exact_line(self, order: NeighborOrder, row: int) -> list[Fraction]:
        """The values of a row's candidates, as Fractions."""
        own, k = self.codes[order.sample_of(row)], self.k
        groups = [self.codes[group] == own for group in groups_of(order, row, self.average)]
        ends = np.cumsum([len(group) for group in groups]).tolist()
        h = [Fraction(0), *(Fraction(min(k, j), k * j) for j in range(1, ends[-1] + 1))]
        lines: list[list[Fraction]] = []
        behind = Fraction(0)
        for mine, end in zip(groups[::-1], ends[::-1], strict=True):
            g, X = len(mine), int(mine.sum())
            H = sum(h[end - g + 1 : end + 1], Fraction(0)) / g
            step = (h[end] - H) / max(g - 1, 1)
            lines.append([int(x) * H + (X - int(x)) * step + behind for x in mine])
            behind += Fraction(X, g) * (h[end] - h[end - g])
        return [value for line in lines[::-1] for value in line]
