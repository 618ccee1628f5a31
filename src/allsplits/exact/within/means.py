"""Means of everybody within a radius.

Of m candidates with mean μ and variance S² (divisor m - 1) T are in training, a uniform T-subset:

    E(ŷ - y)² = (μ - y)² P(T > 0) + S² Σ_{s > 0} P(T = s) (1/s - 1/m) + P(T = 0) (outlier - y)².

Draws with replacement have S² (m - 1)/m and 1/s in the places of S² and 1/s - 1/m.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.answer import (
    Answer,
    FromFractions,
    FromRows,
    RowFractions,
    Solver,
    answer_from_fractions,
    answer_from_rows,
)
from allsplits.exact.question import Question, own_rows
from allsplits.exact.within.draws import exact_masses, voter_masses
from allsplits.exact.within.outliers import check_empty, within_of
from allsplits.orders import UNIT_ROUNDOFF, NeighborOrder
from allsplits.splits import BootstrapLaw

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MomentsWithin:
    """(m, μ - y, Σ (target - μ)²) of the candidates within the radius of each row."""

    targets: Floats
    radius: float

    def __call__(self, order: NeighborOrder, n_threads: int) -> Floats:
        """Of the rows of a block."""
        inside = order.within(self.radius)
        n = order.n_samples
        rows = np.repeat(np.arange(n), np.diff(order.indptr))[inside]
        # Less the own target: of a perfect fit nothing is left to round.
        differences = self.targets[order.flat_indices[inside]] - self.targets[own_rows(order)][rows]
        m = np.bincount(rows, minlength=n).astype(np.float64)
        mean = np.bincount(rows, differences, minlength=n) / np.maximum(m, 1)
        squares = np.bincount(rows, (differences - mean[rows]) ** 2, minlength=n)
        return np.column_stack([m, mean, squares])


def _parts(law: Any, m: int, masses: Any) -> tuple[Any, Any]:
    """(P(no voter), what Σ (target - μ)² is multiplied by) for m candidates."""
    if m == 0:
        return masses[0], 0
    pairs = masses.items() if isinstance(masses, dict) else enumerate(masses)
    if isinstance(law, BootstrapLaw):
        return masses[0], sum(p / (s * m) for s, p in pairs if s)
    spread = sum(p * (m - s) / (s * m) for s, p in pairs if s)
    return masses.get(0, 0) if isinstance(masses, dict) else masses[0], spread / max(m - 1, 1)


def solve_mean_within(question: Question) -> Solver:
    """Negative mean squared error of the mean of those within a radius."""
    if question.options.exact:
        return _in_fractions(question)
    within, law = within_of(question), question.columns[0].law

    def finish(moments: Floats) -> Answer:
        sizes, place = np.unique(moments[:, 0].astype(np.int64), return_inverse=True)
        known = np.array([_parts(law, int(m), voter_masses(law, int(m))) for m in sizes])
        empty, spread = known.astype(np.float64)[place].T
        left_out = check_empty(question, empty)
        errors = (1 - empty) * moments[:, 1] ** 2 + spread * moments[:, 2]
        targets = question.targets
        if within.outlier_target is not None:
            errors += empty * (within.outlier_target - question.own_targets) ** 2
            targets = np.append(targets, within.outlier_target)
        worst = float(np.ptp(targets)) ** 2
        rounding = (24 * int(sizes.max()) + 64) * UNIT_ROUNDOFF
        return answer_from_rows(question, -errors[:, None], None, (rounding + left_out) * worst)

    part = MomentsWithin(question.targets, within.radius)
    return Solver(within.depth, part, FromRows(question, finish, width=3))


def _in_fractions(question: Question) -> Solver:
    """exact=True."""
    within, law, n = within_of(question), question.columns[0].law, question.n_questions
    targets = [Fraction(y) for y in question.targets.tolist()]
    outlier = None if within.outlier_target is None else Fraction(within.outlier_target)

    def line(order: NeighborOrder, row: int) -> tuple[Fraction, Fraction]:
        own = targets[order.sample_of(row)]
        entries = slice(*order.indptr[row : row + 2])
        inside = order.flat_indices[entries][order.within(within.radius)[entries]].tolist()
        m = len(inside)
        differences = [targets[j] - own for j in inside]
        mean = sum(differences, Fraction(0)) / max(m, 1)
        squares = sum(((d - mean) ** 2 for d in differences), Fraction(0))
        empty, spread = _parts(law, m, exact_masses(law, m))
        error = (1 - empty) * mean**2 + spread * squares
        return -error - (empty * (outlier - own) ** 2 if outlier is not None else 0), empty

    def finish(lines: list[tuple[Fraction, Fraction]]) -> Answer:
        check_empty(question, np.array([empty for _, empty in lines], dtype=object))
        return answer_from_fractions([(value,) for value, _ in lines], [Fraction(1, n)] * n)

    return Solver(within.depth, RowFractions(line, question), FromFractions(finish))
