"""Weighted means of nearest neighbours: the expected squared error, all k and sizes at once.

The square of a weighted mean is an integral (`_kernels_means`) whose integrand needs no
sets of voters, only a walk through the neighbours. Cost per sample, neighbour and k: about a
hundred nodes, more where weights span many decades. The error of the integral is certified,
relative, and the same for all data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact.answer import Answer, FromRows, Solver, answer_from_rows
from allsplits.exact.effort import weighted_mean_seconds
from allsplits.exact.kernel_types import Columns
from allsplits.exact.laws.fixed_size.mean import solve_mean
from allsplits.exact.masses import Prefixes, prefixes_for
from allsplits.exact.question import Question, own_rows
from allsplits.exact.weighted._kernels_means import (
    QUADRATURE,
    WeightedTargets,
    mean_errors_weighted,
)
from allsplits.exact.weighted.equal import or_equal, weights_of
from allsplits.exact.weighted.mean_fractions import solve_mean_fractions
from allsplits.exact.weighted.weights import VoteWeights
from allsplits.orders import UNIT_ROUNDOFF, NeighborOrder

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WeightedMeanErrors:
    """Expected squared errors of the rows of a block, shape (rows, columns)."""

    targets: Floats
    columns: Columns
    weights: VoteWeights
    average: bool

    def __call__(self, order: NeighborOrder, n_threads: int) -> Floats:
        """The rows of a block."""
        rows = WeightedTargets(
            order.indptr, self.targets[order.flat_indices], order.tied, self.weights.of(order),
            self.targets[own_rows(order)],
        )  # fmt: skip
        out = np.zeros((order.n_samples, len(self.columns.ks)))

        def run(start: int, stop: int) -> None:
            mean_errors_weighted(rows, start, stop, self.average, self.columns, out)

        map_row_ranges(run, order.n_samples, n_threads, smallest=8)
        return out


def subset_windows(prefixes: Prefixes, tol: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each prefix, the least and the largest number of voters in it that matter.

    r[j, u], the probability that the voters are found beyond or at prefix j and that u of them are
    among its j items, goes backwards: item j + 1 is one of u in the longer prefix with probability
    u / (j + 1). What is left out has at most tol / 4 together.
    """
    ks, depth = prefixes.ks, prefixes.depth
    k_max = int(ks.max())
    lows, highs = np.zeros(depth + 1, dtype=np.int64), np.full(depth + 1, k_max)
    allowed = tol / (8 * depth)
    counts = np.arange(k_max + 2)
    columns = np.arange(len(ks))
    reach = np.zeros((len(ks), k_max + 2))
    for j in range(depth, -1, -1):
        taken = reach * counts / (j + 1)
        reach *= np.maximum(j + 1 - counts, 0) / (j + 1)
        reach[:, :-1] += taken[:, 1:]
        reach[columns, ks] += prefixes.masses[:, j]
        below = np.cumsum(reach, axis=1).max(axis=0)
        above = np.cumsum(reach[:, ::-1], axis=1).max(axis=0)
        low = min(int(np.searchsorted(below, allowed, side="right")), k_max)
        lows[j] = low
        highs[j] = max(k_max + 1 - int(np.searchsorted(above, allowed, side="right")), low)
    return np.maximum.accumulate(lows), np.maximum.accumulate(highs)


@dataclass(frozen=True, eq=False)
class WeightedMeans:
    """Errors of rows, and how far they may be off."""

    prefixes: Prefixes
    errors: WeightedMeanErrors

    @classmethod
    def of(cls, question: Question) -> WeightedMeans:
        """All columns of a question."""
        prefixes = prefixes_for(question.columns, question.options.tol)
        windows = subset_windows(prefixes, question.options.tol)
        columns = Columns(prefixes.ks, prefixes.masses, *windows)
        errors = WeightedMeanErrors(
            question.targets, columns, weights_of(question), question.options.average
        )
        return cls(prefixes, errors)

    def bound(self, question: Question) -> Floats:
        """What is left out and rounded in a mean error, besides `QUADRATURE` of it.

        Signed errors are added up, so rounding is measured by the largest error of each sample:
        steps of the walk, voters, exponents up to 43, and sums of up to 3,000 nodes by blocks.
        """
        left_out = self.prefixes.missing + question.options.tol / 4
        k = int(self.prefixes.ks.max())
        rounding = (24 * self.prefixes.depth + 8 * k + 256) * UNIT_ROUNDOFF
        bound: Floats = (left_out + rounding) * largest_error(question)
        return bound

    def seconds(self, n_rows: int) -> float:
        """What rows take on one core, roughly."""
        return weighted_mean_seconds(n_rows, self.prefixes.depth, int(self.prefixes.ks.max()))


def largest_error(question: Question) -> float:
    """The mean over questions of the largest squared error that each may have."""
    targets, own = question.targets, question.own_targets
    return float(np.mean(np.maximum(own - targets.min(), targets.max() - own) ** 2))


def solve_weighted_mean(question: Question) -> Solver:
    """Negative mean squared error of the weighted mean of k neighbours."""
    if question.options.exact:
        return solve_mean_fractions(question)
    means = WeightedMeans.of(question)

    def finish(errors: Floats) -> Answer:
        bound = QUADRATURE * errors.mean(axis=0) + means.bound(question)
        return answer_from_rows(question, -errors, None, bound)

    total, seconds = FromRows(question, finish), means.seconds(question.n_questions)
    solver = Solver(means.prefixes.depth, means.errors, total, seconds, "fewer neighbours")
    return or_equal(question, solver, solve_mean, "mean")
