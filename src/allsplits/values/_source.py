"""What values were computed from: asked again for influences, and for scores as samples leave."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array

from allsplits._threads import thread_count
from allsplits.exact import Answer, Neighbors
from allsplits.exact.influence.asked import Asked
from allsplits.exact.influence.everybody import values_by_all
from allsplits.exact.influence.groups import group_values
from allsplits.exact.influence.rows import RowValues
from allsplits.exact.influence.solve import influences
from allsplits.exact.influence.sums import question_weights, solve_values
from allsplits.exact.question import own_rows
from allsplits.exact.solve import run_solver
from allsplits.exceptions import InvalidInputError, UnsupportedError
from allsplits.orders import NeighborOrder, Reference
from allsplits.splits import GroupLaw
from allsplits.values._questions import Samples

#: Influences that a matrix may hold (3 GiB).
_MOST_INFLUENCES = 250_000_000


@dataclass(frozen=True, eq=False)
class Source:
    """The checked question, the samples, and whose neighbours it is about."""

    neighbors: Neighbors
    asked: Asked
    samples: Samples

    @property
    def n_questions(self) -> int:
        """How many questions there are."""
        return len(self.asked.codes) - self._first_question

    @property
    def _first_question(self) -> int:
        return int(self.asked.question.asked.start)

    def values(self) -> Answer:
        """Values of all samples, or of all groups."""
        if isinstance(self.asked.law, GroupLaw):
            return group_values(self.neighbors, self.asked.question)
        self.neighbors.keep_if_small()
        return run_solver(self.neighbors, self.asked.question, solve_values(self.asked))

    def influence(self) -> tuple[csc_array, NDArray[np.float64]]:
        """(what each sample does for each question where it is near, what others do).

        Rows of the first are samples, columns are questions; the second has a line for each
        question, and a column for all samples or for those of each class.
        """
        asked = self.asked
        if isinstance(asked.law, GroupLaw):
            raise UnsupportedError("influence is of samples; these are values of whole groups")
        found = influences(asked)
        if self.n_questions * found.depth > _MOST_INFLUENCES:
            raise InvalidInputError(
                f"influence would hold {self.n_questions:,} × {found.depth:,} numbers, and at most "
                f"{_MOST_INFLUENCES:,} fit: ask about fewer questions (X_test)"
            )

        def part(order: NeighborOrder, n_threads: int) -> tuple[NDArray[Any], ...]:
            entries, far, _ = found.part(order, n_threads)
            questions = np.arange(len(asked.codes))[own_rows(order)]
            columns = np.repeat(questions, np.diff(order.indptr))
            nobody = found.constants
            return (
                entries + nobody[columns], order.flat_indices, columns,
                far + nobody[questions, None],
            )  # fmt: skip

        blocks = self.neighbors.blocks(found.depth, part)
        parts = [each for block in blocks for each in block.parts]
        values, rows, columns, far = (np.concatenate(each) for each in zip(*parts, strict=True))
        places = rows, columns - self._first_question
        shape = (asked.n_samples, self.n_questions)
        return coo_array((values, places), shape=shape).tocsc(), far

    def scores_without(
        self, leaving: Sequence[NDArray[np.intp]], X_test: Any, y_test: Any
    ) -> list[tuple[float, float]]:
        """Scores of fresh questions, answered by all samples but those that leave, in turn.

        Each with how far it may be off.
        """
        queries, tests = self.samples.read(X_test, y_test)
        asked = self.asked.of_tests(tests)
        numbers = np.arange(asked.n_samples, len(asked.codes))
        weights = question_weights(asked)[numbers]
        scores = []
        for gone in leaving:
            keep, reference = self._left(gone)
            order = reference.of(queries, min(asked.k, len(keep)), len(keep))
            at = np.concatenate([keep, numbers])
            found = values_by_all(asked, at, order, len(keep), reference.n_threads)
            scores.append(_score([found], weights))
        return scores

    def scores_of_samples_without(
        self, leaving: Sequence[NDArray[np.intp]]
    ) -> list[tuple[float, float]]:
        """The same with all samples as questions, those that left as well; nobody asks itself."""
        asked, points = self.asked, self.samples.points
        if points is None or self.samples.metric.precomputed or asked.outside:
            raise InvalidInputError(
                "X_test must be given where the values are of other questions than the samples, "
                "and X must be an array of points; got None"
            )
        weights = question_weights(asked)
        scores = []
        for gone in leaving:
            keep, reference = self._left(gone)
            at, n_left = np.concatenate([keep, gone]), len(keep)
            if n_left < 2:
                raise InvalidInputError("shares must leave two samples at least; one is left")
            orders = [reference.within(min(asked.k, n_left - 1))]
            if len(gone):
                orders.append(reference.of(points[gone], min(asked.k, n_left), n_left))
            found = [
                values_by_all(asked, at, order, n_left - (place == 0), reference.n_threads)
                for place, order in enumerate(orders)
            ]
            scores.append(_score(found, weights[at]))
        return scores

    def _left(self, gone: NDArray[np.intp]) -> tuple[NDArray[np.intp], Reference]:
        """Who is left, and where to find them."""
        keep = np.setdiff1d(np.arange(self.asked.n_samples), gone)
        n_threads = thread_count(self.asked.question.options.n_jobs)
        return keep, Reference(self.samples.points[keep], self.samples.metric, n_threads)


def _score(found: Sequence[RowValues], weights: NDArray[np.float64]) -> tuple[float, float]:
    """The score of rows as they count, and how far it may be off."""
    values = np.concatenate([each.values for each in found])
    doubts = np.concatenate([np.zeros(len(each.values)) + each.doubts for each in found])
    return float(values @ weights), float(doubts @ weights)
