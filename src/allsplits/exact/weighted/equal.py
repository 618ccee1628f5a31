"""What weighted votes and means share: their weights, equal weights as equal votes, a refusal."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from allsplits.exact.answer import Answer, Solver, Total
from allsplits.exact.question import Question
from allsplits.exact.weighted.weights import VoteWeights
from allsplits.exceptions import UnsupportedError
from allsplits.orders import NeighborOrder


def weights_of(question: Question) -> VoteWeights:
    """The weights of a question that has them."""
    if question.weights is None:
        raise TypeError("a weighted vote needs weights")
    return question.weights


def check_states(question: Question, k: int, n_states: int) -> None:
    """Refuse Fractions where the votes of one sample have too many states."""
    if n_states > question.options.max_states:
        raise UnsupportedError(
            f"exact=True with weighted votes and n_neighbors={k} needs more than "
            f"max_states={question.options.max_states} states for one sample; use "
            "exact=False, whose error_bound says how far it can be off"
        )


class _EqualOrNot:
    """The total of equal votes as long as all weights of every row are equal, and the other."""

    def __init__(self, equal: Total[Any], unequal: Total[Any]) -> None:
        self._equal, self._unequal, self._all_equal = equal, unequal, True

    def add(self, found: tuple[bool, Any, Any]) -> None:
        """Add to both totals, as long as both are needed."""
        self._all_equal = self._all_equal and found[0]
        if self._all_equal:
            self._equal.add(found[1])
        self._unequal.add(found[2])

    def finish(self) -> Answer:
        """The answer of equal votes, to the bit, if all weights were equal."""
        return (self._equal if self._all_equal else self._unequal).finish()


def or_equal(
    question: Question, solver: Solver, solve_equal: Callable[[Question], Solver], vote: Any
) -> Solver:
    """The solver of equal votes, to the bit, if all neighbours of every sample weigh the same."""
    weights = weights_of(question)
    equal = solve_equal(replace(question, vote=vote, weights=None))
    of_equal, of_unequal = equal.part, solver.part

    def part(order: NeighborOrder, n_threads: int) -> tuple[bool, Any, Any]:
        values = weights.of(order)
        first = np.repeat(values[order.indptr[:-1]], np.diff(order.indptr))
        same = bool(np.all((values == first) & (values > 0)))
        return same, of_equal(order, n_threads) if same else None, of_unequal(order, n_threads)

    total = _EqualOrNot(equal.total, solver.total)
    return solver._replace(depth=max(solver.depth, equal.depth), part=part, total=total)
