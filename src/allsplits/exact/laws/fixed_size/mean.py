"""Nearest-neighbour regression: the exact expected squared error, all k and sizes at once.

Cost per sample, prefix and column: O(1). Only sums and sums of squares of the prefix are needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact.laws.fixed_size._kernels_mean import squared_errors
from allsplits.exact.laws.fixed_size.fractions import groups_of, rational_answer
from allsplits.exact.masses import (
    UNIT_ROUNDOFF,
    Prefixes,
    column_value,
    deepest_prefix,
    prefixes_for,
)
from allsplits.exact.question import Answer, Problem, RowValues, Solver, own_rows
from allsplits.orders import NeighborOrder

__all__ = ["solve_mean"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _MeanErrors:
    """Expected squared errors of the rows of a block, shape (rows, columns)."""

    targets: Floats
    prefixes: Prefixes
    average: bool

    def __call__(self, order: NeighborOrder, n_threads: int) -> Floats:
        prefixes = self.prefixes
        active = prefixes.masses > 0
        lows = np.argmax(active, axis=1)
        highs = prefixes.depth - np.argmax(active[:, ::-1], axis=1)
        values, own = self.targets[order.flat_indices], self.targets[own_rows(order)]
        out = np.zeros((order.n_samples, len(prefixes.ks)))
        map_row_ranges(
            lambda start, stop: squared_errors(
                order.indptr, values, order.tied, own, start, stop, self.average, prefixes.ks,
                prefixes.masses, lows, highs, out,
            ),
            order.n_samples,
            n_threads,
        )  # fmt: skip
        return out


def solve_mean(problem: Problem) -> Solver:
    """Negative mean squared error of the mean of k neighbours."""
    if problem.options.exact:
        return _rational(problem)
    prefixes = prefixes_for(problem.columns, problem.options.tol)
    targets = problem.targets
    part = _MeanErrors(targets, prefixes, problem.options.average)
    rows = RowValues(problem.n_samples, len(problem.columns))

    def finish() -> Answer:
        n, errors = problem.n_samples, rows.values
        # No squared error exceeds the square of the range of the targets.
        worst = float(np.ptp(targets)) ** 2
        rounding = (24 * prefixes.depth + 64) * UNIT_ROUNDOFF
        return Answer(
            scores=-errors.mean(axis=0),
            error_bound=(prefixes.missing + rounding) * worst,
            sample_weight=np.full(n, 1 / n),
            sample_scores=-errors if problem.want_samples else None,
        )

    return Solver(prefixes.depth, part, rows.add, finish)


def _rational(problem: Problem) -> Solver:
    targets = [Fraction(value) for value in problem.targets.tolist()]
    values: list[list[Fraction]] = []

    def part(order: NeighborOrder, _: int) -> list[list[Fraction]]:
        return [_row(order, row) for row in range(order.n_samples)]

    def _row(order: NeighborOrder, row: int) -> list[Fraction]:
        own = targets[order.first_row + row]
        ks = {column.k for column in problem.columns}
        by_prefix: dict[int, dict[int, Fraction]] = {k: {} for k in ks}
        s, L, Q = 0, Fraction(0), Fraction(0)
        for group in groups_of(order, row, problem.options.average):
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
            column_value(column, by_prefix[column.k], per_subset=False)
            for column in problem.columns
        ]

    def finish() -> Answer:
        n = problem.n_samples
        negative = [[-value for value in line] for line in values]
        return rational_answer(negative, [Fraction(1, n)] * n)

    return Solver(deepest_prefix(problem.columns), part, values.extend, finish)
