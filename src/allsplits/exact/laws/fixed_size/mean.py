"""Nearest-neighbour regression: the exact expected squared error, all k and sizes at once.

Cost per sample, prefix and column: O(1). Only sums and sums of squares of the prefix are needed.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact.answer import Answer, FromRows, Solver, answer_from_rows, in_fractions
from allsplits.exact.laws.fixed_size._kernels_mean import TargetRows, Windows, squared_errors
from allsplits.exact.laws.fixed_size.fractions import groups_of
from allsplits.exact.masses import Prefixes, column_value, deepest_prefix, prefixes_for
from allsplits.exact.question import Question, own_rows
from allsplits.orders import UNIT_ROUNDOFF, NeighborOrder

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MeanErrors:
    """Expected squared errors of the rows of a block, shape (rows, columns)."""

    targets: Floats
    prefixes: Prefixes
    average: bool

    @property
    def windows(self) -> Windows:
        """The prefixes that matter to each column."""
        prefixes = self.prefixes
        active = prefixes.masses > 0
        last = prefixes.depth - np.argmax(active[:, ::-1], axis=1)
        return Windows(prefixes.ks, prefixes.masses, np.argmax(active, axis=1), last)

    def rows(self, order: NeighborOrder) -> TargetRows:
        """The rows of a block, with targets instead of neighbours."""
        targets, own = self.targets[order.flat_indices], self.targets[own_rows(order)]
        return TargetRows(order.indptr, targets, order.tied, own)

    def __call__(self, order: NeighborOrder, n_threads: int) -> Floats:
        """Errors of the rows of a block."""
        rows, windows = self.rows(order), self.windows
        out = np.zeros((order.n_samples, len(self.prefixes.ks)))
        map_row_ranges(
            lambda start, stop: squared_errors(rows, start, stop, self.average, windows, out),
            order.n_samples,
            n_threads,
        )
        return out


def solve_mean(question: Question) -> Solver:
    """Negative mean squared error of the mean of k neighbours."""
    if question.options.exact:
        n = question.n_questions
        line = partial(exact_errors, question, [Fraction(y) for y in question.targets.tolist()])
        return in_fractions(question, line, deepest_prefix(question.columns), [Fraction(1, n)] * n)
    prefixes = prefixes_for(question.columns, question.options.tol)
    part = MeanErrors(question.targets, prefixes, question.options.average)

    def finish(errors: Floats) -> Answer:
        # No squared error exceeds the square of the range of the targets.
        worst = float(np.ptp(question.targets)) ** 2
        rounding = (24 * prefixes.depth + 64) * UNIT_ROUNDOFF
        return answer_from_rows(question, -errors, None, (prefixes.missing + rounding) * worst)

    return Solver(prefixes.depth, part, FromRows(question, finish))


def exact_errors(
    question: Question, targets: list[Fraction], order: NeighborOrder, row: int
) -> list[Fraction]:
    """Minus the expected squared error of a row for each column."""
    own = targets[order.sample_of(row)]
    ks = {column.k for column in question.columns}
    by_prefix: dict[int, dict[int, Fraction]] = {k: {} for k in ks}
    s, L, Q = 0, Fraction(0), Fraction(0)
    for group in groups_of(order, row, question.options.average):
        g = len(group)
        differences = [targets[j] - own for j in group.tolist()]
        L_group = sum(differences, Fraction(0))
        Q_group = sum((r * r for r in differences), Fraction(0))
        for t in range(1, g + 1):
            j = s + t
            member = Fraction(t, g)
            pair = Fraction(t * (t - 1), g * (g - 1)) if g > 1 else Fraction(0)
            squares = Q + member * Q_group
            products = L * L - Q + 2 * member * L * L_group
            products += pair * (L_group * L_group - Q_group)
            for k in ks:
                if k <= j:
                    both = Fraction(k - 1, j - 1) if j > 1 else Fraction(0)
                    by_prefix[k][j] = (squares + both * products) / (k * j)
        s, L, Q = s + g, L + L_group, Q + Q_group
    return [
        -column_value(column, by_prefix[column.k], per_subset=False) for column in question.columns
    ]
