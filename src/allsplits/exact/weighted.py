"""Votes that weigh: 1/distance or any function of the distance, under laws of fixed size.

The k voters are a random set, and which class is ahead depends on sums of weights: sets have to be
counted. Two classes in a neighbourhood: meet in the middle (`_kernels_weighted`), 2^(M/2) states
for M neighbours instead of the exponential recursion of Celisse & Mary-Huard 2011. More classes:
a search that stops where the leader can no longer be caught (`_kernels_branch`). Where this is
out of reach, sums are merged into runs, and what a run hides is counted as unknown: every value
is an interval, most of them a point. Weighted means have no such shortcut; all sets are visited.
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
    squared_errors_weighted,
)
from allsplits.exact.fixed_size import sample_weights, solve_majority
from allsplits.exact.masses import UNIT_ROUNDOFF, Column, prefixes_for
from allsplits.exact.problem import Answer, Problem, Solver, own_rows
from allsplits.exact.rational_weighted import solve_rational
from allsplits.exact.regression import solve_mean
from allsplits.exact.weights import VoteWeights
from allsplits.exceptions import UnsupportedError
from allsplits.orders import NeighborOrder

__all__ = ["solve_weighted", "solve_weighted_mean"]

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


def solve_weighted(problem: Problem) -> Solver:
    """Weighted votes for classes."""
    if problem.options.exact:
        return solve_rational(problem)
    attempts, weights = _Attempts(problem), _weights(problem)
    n, n_classes = problem.n_samples, problem.n_classes
    right = np.zeros((n, len(problem.columns)))
    unknown = np.zeros_like(right)
    shares = np.zeros((n, n_classes))

    def add(order: NeighborOrder, n_threads: int) -> None:
        rows, options = own_rows(order), problem.options
        own, labels = problem.codes[rows], problem.codes[order.flat_indices]
        values = weights.of(order)
        for c, column in enumerate(attempts.columns):
            for weight, attempt in column:
                found = np.empty((order.n_samples, n_classes))
                open_mass = np.empty(order.n_samples)
                vote = (problem.n_samples - 1, attempt.train, attempt.k, options.average)
                effort = (attempt.depths, attempt.caps, attempt.rares, options.vote_tol)
                results = (found, open_mass)

                def run(
                    start: int, stop: int, score: Any, vote: Any, effort: Any, results: Any
                ) -> None:
                    score(order.indptr, labels, order.tied, values, start, stop, *vote,
                          options.share, *effort, *results)  # fmt: skip

                for score in (score_two_classes, score_many_classes):
                    kernel = partial(run, score=score, vote=vote, effort=effort, results=results)
                    if score is score_two_classes or open_mass.min() < 0:
                        map_row_ranges(kernel, order.n_samples, n_threads, smallest=4)
                # What is unknown may belong to any class.
                found += open_mass[:, None] / n_classes
                right[rows, c] += weight * found[np.arange(len(found)), own]
                unknown[rows, c] += weight * open_mass * (n_classes - 1) / n_classes
                if problem.want_samples:
                    shares[rows] += weight * found

    def finish() -> Answer:
        per_sample = sample_weights(problem)
        bounds = np.sum(unknown * per_sample[:, None], axis=0) + attempts.leftover()
        _check_width(problem, bounds, 1.0)
        return Answer(
            scores=np.sum(right * per_sample[:, None], axis=0),
            error_bound=bounds,
            sample_weight=per_sample,
            sample_scores=right if problem.want_samples else None,
            prediction_proba=shares if problem.want_samples else None,
        )

    solver = Solver(attempts.depth, add, finish)
    return _or_equal(problem, weights, solver, solve_majority, "majority")


def solve_weighted_mean(problem: Problem) -> Solver:
    """Negative mean squared error of the weighted mean."""
    if problem.options.exact:
        return solve_rational(problem)
    attempts, weights = _Attempts(problem), _weights(problem)
    targets = problem.targets
    errors = np.zeros((problem.n_samples, len(problem.columns)))
    unknown = np.zeros_like(errors)
    scale = float(np.var(targets)) or 1.0
    worst = np.maximum(targets - targets.min(), targets.max() - targets) ** 2

    def add(order: NeighborOrder, n_threads: int) -> None:
        rows, options = own_rows(order), problem.options
        values, neighbors = weights.of(order), targets[order.flat_indices]
        for c, column in enumerate(attempts.columns):
            for weight, attempt in column:
                found, width = np.empty(order.n_samples), np.empty(order.n_samples)
                vote = (problem.n_samples - 1, attempt.train, attempt.k, options.average)
                effort = (attempt.depths, attempt.caps, attempt.rares, options.vote_tol * scale)
                results = (found, width)

                def run(start: int, stop: int, vote: Any, effort: Any, results: Any) -> None:
                    squared_errors_weighted(order.indptr, neighbors, order.tied, values,
                                            targets[rows], worst[rows], start, stop, *vote,
                                            *effort, *results)  # fmt: skip

                kernel = partial(run, vote=vote, effort=effort, results=results)
                map_row_ranges(kernel, order.n_samples, n_threads, smallest=4)
                errors[rows, c] += weight * found
                unknown[rows, c] += weight * width / 2

    def finish() -> Answer:
        n = problem.n_samples
        bounds = unknown.mean(axis=0) + attempts.leftover() * float(worst.max())
        _check_width(problem, bounds, scale)
        return Answer(
            scores=-errors.mean(axis=0),
            error_bound=bounds,
            sample_weight=np.full(n, 1 / n),
            sample_scores=-errors if problem.want_samples else None,
        )

    solver = Solver(attempts.depth, add, finish)
    return _or_equal(problem, weights, solver, solve_mean, "mean")


def _weights(problem: Problem) -> VoteWeights:
    if problem.weights is None:
        raise TypeError("a weighted vote needs weights")
    return problem.weights


def _or_equal(
    problem: Problem,
    weights: VoteWeights,
    solver: Solver,
    solve_equal: Callable[[Problem], Solver],
    vote: Any,
) -> Solver:
    """The solver of equal votes, to the bit, if all neighbours of every sample weigh the same."""
    equal = solve_equal(replace(problem, vote=vote, weights=None))
    all_equal = True

    def add(order: NeighborOrder, n_threads: int) -> None:
        nonlocal all_equal
        values = weights.of(order)
        first = np.repeat(values[order.indptr[:-1]], np.diff(order.indptr))
        all_equal = all_equal and bool(np.all((values == first) & (values > 0)))
        if all_equal:
            equal.add(order, n_threads)
        solver.add(order, n_threads)

    def finish() -> Answer:
        answer: Answer = equal.finish() if all_equal else solver.finish()
        return answer

    return Solver(max(solver.depth, equal.depth), add, finish)


def _check_width(problem: Problem, bounds: Floats, scale: float) -> None:
    """Raise if the certified intervals are wider than the user allows; say what would fit."""
    options = problem.options
    c = int(np.argmax(bounds))
    if bounds[c] / scale <= max(options.vote_tol, 1e-12):
        return
    reached = float(f"{bounds[c] / scale * 1.05:.1e}")
    raise UnsupportedError(
        f"weighted votes with n_neighbors={problem.columns[c].k} ({problem.columns[c].law}) are "
        f"known only to ± {bounds[c]:.1e} within max_states={options.max_states}, and vote_tol is "
        f"{options.vote_tol:g}. What would fit: vote_tol={reached:g}, more max_states, fewer "
        "neighbours, or a law that holds out fewer samples"
    )
