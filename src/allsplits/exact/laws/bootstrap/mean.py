"""Regression on draws with replacement: the expected squared error, out of bag or of a test set.

Cost per sample, neighbour and k: O(k).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact.answer import Answer, FromRows, Solver, answer_from_rows, in_fractions
from allsplits.exact.laws.bootstrap._kernels import BootstrapDraws
from allsplits.exact.laws.bootstrap._kernels_mean import bootstrap_errors
from allsplits.exact.laws.bootstrap.fractions import exact_errors
from allsplits.exact.laws.bootstrap.vote import needed_depth
from allsplits.exact.laws.fixed_size._kernels_mean import TargetRows
from allsplits.exact.question import Question, own_rows
from allsplits.orders import UNIT_ROUNDOFF, NeighborOrder

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BootstrapErrors:
    """Expected squared errors of the rows of a block, shape (rows, columns)."""

    targets: Floats
    draws: BootstrapDraws
    ks: NDArray[np.int64]
    average: bool

    @classmethod
    def of(cls, question: Question) -> BootstrapErrors:
        """All columns of a question."""
        n_draws, n_candidates, options = question.n_samples, question.n_candidates, question.options
        ks = np.array([min(column.k, n_draws) for column in question.columns])
        depth = needed_depth(n_draws, n_candidates, int(ks.max()), options.tol)
        draws = BootstrapDraws(n_draws, n_candidates, depth)
        return cls(question.targets, draws, ks, options.average)

    def bound(self, tol: float) -> float:
        """How far an error may be off.

        None exceeds the square of the range of the targets; powers (1-p)^n lose n roundings, sums
        over the prefix and the voters a few for each item and voter.
        """
        worst = float(np.ptp(self.targets)) ** 2
        steps = 8 * self.draws.n_draws + 24 * self.draws.depth + 16 * int(self.ks.max()) + 64
        return (tol + steps * UNIT_ROUNDOFF) * worst

    def seconds(self, n_rows: int) -> float:
        """What rows take on one core, roughly."""
        return 1e-8 * n_rows * self.draws.depth * float(self.ks.sum())

    def __call__(self, order: NeighborOrder, n_threads: int) -> Floats:
        """Errors of the rows of a block."""
        targets, own = self.targets[order.flat_indices], self.targets[own_rows(order)]
        rows = TargetRows(order.indptr, targets, order.tied, own)
        out = np.zeros((order.n_samples, len(self.ks)))

        def run(start: int, stop: int) -> None:
            bootstrap_errors(rows, start, stop, self.average, self.draws, self.ks, out)

        map_row_ranges(run, order.n_samples, n_threads)
        return out


def solve_bootstrap_mean(question: Question) -> Solver:
    """Negative mean squared error of the mean of the k nearest draws."""
    if question.options.exact:
        n = question.n_questions
        line = partial(exact_errors, question, [Fraction(y) for y in question.targets.tolist()])
        return in_fractions(question, line, question.n_candidates, [Fraction(1, n)] * n)
    part = BootstrapErrors.of(question)

    def finish(errors: Floats) -> Answer:
        return answer_from_rows(question, -errors, None, part.bound(question.options.tol))

    seconds = part.seconds(question.n_questions)
    return Solver(part.draws.depth, part, FromRows(question, finish), seconds, "fewer neighbours")
