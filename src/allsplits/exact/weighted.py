"""Votes that weigh: 1/distance or any function of the distance, under laws of fixed size.

The k voters are a random set, and which class is ahead depends on sums of weights: sets have to be
counted. Two classes in a neighbourhood: meet in the middle (`_kernels_weighted`), 2^(M/2) states
for M neighbours instead of the exponential recursion of Celisse & Mary-Huard 2011. More classes:
a search that stops where the leader can no longer be caught (`_kernels_branch`). Where this is
out of reach, sums are merged into runs, and what a run hides is counted as unknown: every value
is an interval, most of them a point. Weighted means take another way (`weighted_mean`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact._kernels_weighted_rows import (
    score_many_classes,
    score_two_classes,
)
from allsplits.exact.fixed_size import sample_weights, solve_majority
from allsplits.exact.masses import UNIT_ROUNDOFF, Column, prefixes_for
from allsplits.exact.problem import Answer, Problem, RowValues, Solver, own_rows
from allsplits.exact.rational_weighted import solve_rational
from allsplits.exact.weights import VoteWeights
from allsplits.exceptions import UnsupportedError
from allsplits.orders import NeighborOrder

__all__ = ["or_equal", "solve_weighted", "weights_of"]

Floats = NDArray[np.float64]
#: States of the first attempts; nearly all rows need no more.
_FEW_STATES = 1 << 12


class _Attempt:
    """One column's training size, and how hard a row is tried before it is left with an interval.

    First exactly, then without what is rarer than the tolerance and with more and more states.
    """

    def __init__(self, k: int, law: Any, options: Any) -> None:
        column = [Column(k, law)]
        self.k, self.train = k, law.smallest_training_set
        whole = prefixes_for(column, options.tol)
        near = prefixes_for(column, max(options.tol, options.vote_tol / 4))
        self.depth, self.missing = whole.depth, float(whole.missing[0])
        few = min(_FEW_STATES, options.max_states)
        steps = {few, min(16 * few, options.max_states), options.max_states}
        self.caps = np.array([few, *sorted(steps)])
        self.depths = np.array([whole.depth] + [near.depth] * len(steps))
        rare = options.vote_tol / (8 * near.depth * k)
        self.rares = np.array([0.0] + [rare] * len(steps))

    @property
    def rounding(self) -> float:
        """Bound on rounding errors: each step of a list multiplies, sums are compensated."""
        return (16 * self.depth + 8 * self.k + 64) * UNIT_ROUNDOFF


class _Attempts:
    """All columns; a law that mixes sizes is tried for each size."""

    def __init__(self, problem: Problem) -> None:
        self.columns: list[list[tuple[float, _Attempt]]] = [
            [
                (
                    float(component.weight),
                    _Attempt(column.k, column.law.only(component), problem.options),
                )
                for component in column.law.components
            ]
            for column in problem.columns
        ]

    @property
    def depth(self) -> int:
        return max(attempt.depth for column in self.columns for _, attempt in column)

    def leftover(self) -> Floats:
        """What truncation and rounding may cost in each column."""
        return np.array(
            [sum(w * (a.missing + a.rounding) for w, a in column) for column in self.columns]
        )


class _WeightedVote:
    """For each row of a block: right and unknown in every column, and the share of each class."""

    def __init__(self, problem: Problem, attempts: _Attempts, weights: VoteWeights) -> None:
        self.problem, self.attempts, self.weights = problem, attempts, weights
        self.width = 2 * len(problem.columns) + problem.n_classes

    def split(self, values: Floats) -> list[Floats]:
        """(right, unknown, shares)."""
        n_columns = len(self.problem.columns)
        return np.split(values, [n_columns, 2 * n_columns], axis=1)

    def __call__(self, order: NeighborOrder, n_threads: int) -> Floats:
        problem, options = self.problem, self.problem.options
        n_classes = problem.n_classes
        own, labels = problem.codes[own_rows(order)], problem.codes[order.flat_indices]
        data = (order.indptr, labels, order.tied, self.weights.of(order))
        out = np.zeros((order.n_samples, self.width))
        right, unknown, shares = self.split(out)
        for c, column in enumerate(self.attempts.columns):
            for weight, attempt in column:
                vote = (problem.n_samples - 1, attempt.train, attempt.k, options.average)
                effort = (attempt.depths, attempt.caps, attempt.rares, options.vote_tol)
                found, open_mass = _shares(data, vote, effort, n_classes, options.share, n_threads)
                # What is unknown may belong to any class.
                found += open_mass[:, None] / n_classes
                right[:, c] += weight * found[np.arange(len(found)), own]
                unknown[:, c] += weight * open_mass * (n_classes - 1) / n_classes
                if problem.want_samples:
                    shares += weight * found
        return out


def _shares(
    data: Any, vote: Any, effort: Any, n_classes: int, share: bool, n_threads: int
) -> tuple[Floats, Floats]:
    """What each class gets in each row, and what is unknown."""
    n_rows = len(data[0]) - 1
    found, open_mass = np.empty((n_rows, n_classes)), np.empty(n_rows)

    def run(start: int, stop: int, score: Any) -> None:
        score(*data, start, stop, *vote, share, *effort, found, open_mass)

    for score in (score_two_classes, score_many_classes):
        if score is score_two_classes or open_mass.min() < 0:
            map_row_ranges(partial(run, score=score), n_rows, n_threads, smallest=4)
    return found, open_mass


def solve_weighted(problem: Problem) -> Solver:
    """Weighted votes for classes."""
    if problem.options.exact:
        return solve_rational(problem)
    attempts, weights = _Attempts(problem), weights_of(problem)
    vote = _WeightedVote(problem, attempts, weights)
    collected = RowValues(problem.n_samples, vote.width)

    def finish() -> Answer:
        right, unknown, shares = map(np.ascontiguousarray, vote.split(collected.values))
        per_sample = sample_weights(problem)
        bounds = np.sum(unknown * per_sample[:, None], axis=0) + attempts.leftover()
        _check_width(problem, bounds)
        return Answer(
            scores=np.sum(right * per_sample[:, None], axis=0),
            error_bound=bounds,
            sample_weight=per_sample,
            sample_scores=right if problem.want_samples else None,
            prediction_proba=shares if problem.want_samples else None,
        )

    solver = Solver(attempts.depth, vote, collected.add, finish)
    return or_equal(problem, weights, solver, solve_majority, "majority")


def weights_of(problem: Problem) -> VoteWeights:
    """The weights of a problem that has them."""
    if problem.weights is None:
        raise TypeError("a weighted vote needs weights")
    return problem.weights


def or_equal(
    problem: Problem,
    weights: VoteWeights,
    solver: Solver,
    solve_equal: Callable[[Problem], Solver],
    vote: Any,
) -> Solver:
    """The solver of equal votes, to the bit, if all neighbours of every sample weigh the same."""
    equal = solve_equal(replace(problem, vote=vote, weights=None))
    of_equal, of_unequal = equal.part, solver.part
    all_equal = True

    def part(order: NeighborOrder, n_threads: int) -> tuple[bool, Any, Any]:
        values = weights.of(order)
        first = np.repeat(values[order.indptr[:-1]], np.diff(order.indptr))
        same = bool(np.all((values == first) & (values > 0)))
        return same, of_equal(order, n_threads) if same else None, of_unequal(order, n_threads)

    def add(parts: tuple[bool, Any, Any]) -> None:
        nonlocal all_equal
        all_equal = all_equal and parts[0]
        if all_equal:
            equal.add(parts[1])
        solver.add(parts[2])

    def finish() -> Answer:
        answer: Answer = equal.finish() if all_equal else solver.finish()
        return answer

    depth = max(solver.depth, equal.depth)
    return Solver(depth, part, add, finish, solver.seconds, solver.cheaper)


def _check_width(problem: Problem, bounds: Floats) -> None:
    """Raise if the certified intervals are wider than the user allows; say what would fit."""
    options = problem.options
    c = int(np.argmax(bounds))
    if bounds[c] <= max(options.vote_tol, 1e-12):
        return
    reached = float(f"{bounds[c] * 1.05:.1e}")
    raise UnsupportedError(
        f"weighted votes with n_neighbors={problem.columns[c].k} ({problem.columns[c].law}) are "
        f"known only to ± {bounds[c]:.1e} within max_states={options.max_states}, and vote_tol is "
        f"{options.vote_tol:g}. What would fit: vote_tol={reached:g}, more max_states, fewer "
        "neighbours, or a law that holds out fewer samples"
    )
