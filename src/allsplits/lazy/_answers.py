"""What queries are answered with: their best local models, weighted and combined."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.lazy._kernels_choice import choose_models
from allsplits.lazy._paths import LocalData, fill_paths, make_paths
from allsplits.lazy._plan import Plan

Array = NDArray[np.float64]

#: All models of some queries are held in this many numbers (256 KiB), which a core keeps at hand.
_ENTRIES_AT_HAND = 1 << 15
#: A thread is given at least this many multiplications, about a tenth of a millisecond.
_OPERATIONS_PER_RANGE = 1 << 19


class Answers(NamedTuple):
    """The chosen models of each query, best first, and what they come to together.

    coefficients[query, coefficient, output] are the weighted ones, of which the first is the
    prediction; std[query, output] is the root of the weighted mean of their errors; models, mse and
    weights are arrays (query, rank, output).
    """

    coefficients: Array
    std: Array
    models: NDArray[np.int64]
    mse: Array
    weights: Array

    @property
    def predictions(self) -> Array:
        """Array (query, output)."""
        return self.coefficients[:, 0]

    def rows(self, start: int, stop: int) -> "Answers":
        """The answers of the queries start to stop, as views."""
        return Answers._make(part[start:stop] for part in self)


def make_answers(n_queries: int, n_combined: int, n_wanted: int, n_outputs: int) -> Answers:
    """Room for the answers to so many queries."""
    chosen = (n_queries, n_combined, n_outputs)
    return Answers(
        np.empty((n_queries, n_wanted, n_outputs)),
        np.empty((n_queries, n_outputs)),
        np.empty(chosen, dtype=np.int64),
        np.empty(chosen),
        np.empty(chosen),
    )


def answer_queries(
    data: LocalData,
    plan: Plan,
    queries: Array,
    neighbors: NDArray[np.int32],
    n_threads: int,
    answers: Answers,
) -> None:
    """Fill in the answers to these queries; `neighbors` holds the `plan.depth` nearest of each."""
    n_models, (_, n_wanted, n_outputs) = len(plan.sizes), answers.coefficients.shape
    at_hand = max(1, _ENTRIES_AT_HAND // (n_models * (n_wanted + 1) * n_outputs))

    def answer(start: int, stop: int) -> None:
        paths = make_paths(min(at_hand, stop - start), n_models, n_wanted, n_outputs)
        words = paths.errors.view(np.int64)
        for low in range(start, stop, at_hand):
            high = min(low + at_hand, stop)
            fill_paths(data, plan, queries[low:high], neighbors[low:high], paths)
            choose_models(paths, words, answers.rows(low, high))

    work = plan.count_operations(data.points.shape[1]) * n_outputs
    smallest = max(1, _OPERATIONS_PER_RANGE // work)
    map_row_ranges(answer, len(queries), n_threads, smallest=smallest)
