"""The expected prediction of nearest-neighbour regression, less the target.

With it the expected squared error falls into two parts, E(ŷ - y)² = (Eŷ - y)² + Var ŷ, over all
training sets that hold the sample out. Noise of y itself is in the first part.
"""

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact.answer import Answer, FromRows, Solver, answer_from_rows, in_fractions
from allsplits.exact.laws.fixed_size._kernels_bias import expected_differences
from allsplits.exact.laws.fixed_size.fractions import groups_of
from allsplits.exact.laws.fixed_size.mean import MeanErrors
from allsplits.exact.masses import column_value, deepest_prefix, prefixes_for
from allsplits.exact.question import Question
from allsplits.orders import UNIT_ROUNDOFF, NeighborOrder

Floats = NDArray[np.float64]


class MeanDifferences(MeanErrors):
    """E(prediction) - y of the rows of a block, shape (rows, columns)."""

    def __call__(self, order: NeighborOrder, n_threads: int) -> Floats:
        """Differences of the rows of a block."""
        rows, windows = self.rows(order), self.windows
        out = np.zeros((order.n_samples, len(self.prefixes.ks)))
        map_row_ranges(
            lambda start, stop: expected_differences(rows, start, stop, self.average, windows, out),
            order.n_samples,
            n_threads,
        )
        return out


def solve_bias(question: Question) -> Solver:
    """E(prediction) - y."""
    n = question.n_questions
    if question.options.exact:
        line = partial(_exact_differences, question, [Fraction(y) for y in question.targets])
        return in_fractions(question, line, deepest_prefix(question.columns), [Fraction(1, n)] * n)
    prefixes = prefixes_for(question.columns, question.options.tol)
    part = MeanDifferences(question.targets, prefixes, question.options.average)

    def finish(differences: Floats) -> Answer:
        worst = float(np.ptp(question.targets))
        rounding = (16 * prefixes.depth + 64) * UNIT_ROUNDOFF
        bound = (prefixes.missing + rounding) * worst
        return answer_from_rows(question, differences, np.full(n, 1 / n), bound)

    return Solver(prefixes.depth, part, FromRows(question, finish))


def _exact_differences(
    question: Question, targets: list[Fraction], order: NeighborOrder, row: int
) -> list[Fraction]:
    own = targets[order.sample_of(row)]
    by_prefix: dict[int, Any] = {}
    s, L = 0, Fraction(0)
    for group in groups_of(order, row, question.options.average):
        in_group = sum((targets[j] - own for j in group.tolist()), Fraction(0))
        for t in range(1, len(group) + 1):
            by_prefix[s + t] = (L + Fraction(t, len(group)) * in_group) / (s + t)
        s, L = s + len(group), L + in_group
    return [
        column_value(
            column, {j: v for j, v in by_prefix.items() if j >= column.k}, per_subset=False
        )
        for column in question.columns
    ]
