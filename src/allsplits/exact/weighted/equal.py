"""What weighted votes and weighted means share: their weights, and equal weights as equal votes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from allsplits.exact.question import Answer, Problem, Solver
from allsplits.exact.weighted.weights import VoteWeights
from allsplits.orders import NeighborOrder

__all__ = ["or_equal", "weights_of"]


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
