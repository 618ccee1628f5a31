"""Weighted means of nearest neighbours: the expected squared error, all k and sizes at once.

The square of a weighted mean is an integral (`_kernels_weighted_mean`) whose integrand needs no
sets of voters, only a walk through the neighbours. Cost per sample, neighbour and k: about a
hundred nodes, more where weights span many decades. The error of the integral is certified,
relative, and the same for all data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact._effort import weighted_mean_seconds
from allsplits.exact._kernels_weighted_mean import QUADRATURE, mean_errors_weighted
from allsplits.exact.masses import UNIT_ROUNDOFF, Prefixes, prefixes_for
from allsplits.exact.problem import Answer, Problem, RowValues, Solver, own_rows
from allsplits.exact.rational_weighted import solve_rational
from allsplits.exact.regression import solve_mean
from allsplits.exact.weighted import or_equal, weights_of
from allsplits.exact.weights import VoteWeights
from allsplits.orders import NeighborOrder

__all__ = ["solve_weighted_mean"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _WeightedMeanErrors:
    """Expected squared errors of the rows of a block, shape (rows, columns)."""

    targets: Floats
    prefixes: Prefixes
    weights: VoteWeights
    average: bool

    def __call__(self, order: NeighborOrder, n_threads: int) -> Floats:
        data = (order.indptr, self.targets[order.flat_indices], order.tied,
                self.weights.of(order), self.targets[own_rows(order)])  # fmt: skip
        ks, masses = self.prefixes.ks, self.prefixes.masses
        out = np.zeros((order.n_samples, len(ks)))

        def run(start: int, stop: int) -> None:
            mean_errors_weighted(*data, start, stop, self.average, ks, masses, out)

        map_row_ranges(run, order.n_samples, n_threads, smallest=8)
        return out


def solve_weighted_mean(problem: Problem) -> Solver:
    """Negative mean squared error of the weighted mean of k neighbours."""
    if problem.options.exact:
        return solve_rational(problem)
    prefixes, weights = prefixes_for(problem.columns, problem.options.tol), weights_of(problem)
    targets, n = problem.targets, problem.n_samples
    part = _WeightedMeanErrors(targets, prefixes, weights, problem.options.average)
    rows = RowValues(n, len(problem.columns))

    def finish() -> Answer:
        scores = -rows.values.mean(axis=0)
        # Signed errors are added up, so rounding is measured by the largest error of each sample:
        # steps of the walk, voters, exponents up to 43, and sums of up to 3,000 nodes by blocks.
        worst = np.mean(np.maximum(targets - targets.min(), targets.max() - targets) ** 2)
        k = int(prefixes.ks.max())
        rounding = (24 * prefixes.depth + 8 * k + 256) * UNIT_ROUNDOFF
        return Answer(
            scores=scores,
            error_bound=-QUADRATURE * scores + (prefixes.missing + rounding) * float(worst),
            sample_weight=np.full(n, 1 / n),
            sample_scores=-rows.values if problem.want_samples else None,
        )

    seconds = weighted_mean_seconds(n, prefixes.depth, int(prefixes.ks.max()))
    solver = Solver(prefixes.depth, part, rows.add, finish, seconds, "fewer neighbours")
    return or_equal(problem, weights, solver, solve_mean, "mean")
