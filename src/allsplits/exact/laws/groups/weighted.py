"""Weighted votes and means where whole groups are kept together: every choice of training groups.

Given which groups are in training nothing is random but the order of tied neighbours: it is the
vote of all who are left in a row, of which everybody is drawn. Leaving one group out has one choice
for each sample, leaving two of G out G - 1 of them; laws of too many splits are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
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
from allsplits.exact.effort import weighted_mean_seconds, weighted_votes_seconds
from allsplits.exact.laws.groups.fractions import (
    all_training_groups,
    balanced_weights,
    splits_of_groups,
)
from allsplits.exact.laws.groups.vote import CHEAPER
from allsplits.exact.masses import Column
from allsplits.exact.question import Question, class_weights, own_rows
from allsplits.exact.strikes import struck_rows
from allsplits.exact.weighted._kernels_means import QUADRATURE
from allsplits.exact.weighted.mean_fractions import exact_weighted_errors
from allsplits.exact.weighted.means import WeightedMeans
from allsplits.exact.weighted.tables import SizedLaw
from allsplits.exact.weighted.vote_fractions import draw_sets, exact_shares, groups_of_row
from allsplits.exact.weighted.votes import WeightedVote
from allsplits.orders import NeighborOrder
from allsplits.splits import GroupLaw, SizeLaw

Floats = NDArray[np.float64]
_WHAT = "a weighted vote of whole groups"


@dataclass(frozen=True, eq=False)
class _Choice:
    """Training groups: the question of a vote in which all of their samples are drawn.

    Attributes
    ----------
    in_training : ndarray of shape (groups,)
    question : Question
    counted : dict
        What a sample of each group counts in the splits that have these training groups.
    """

    in_training: NDArray[np.bool_]
    question: Question
    counted: dict[int, Fraction]

    def left(self, order: NeighborOrder, groups: NDArray[np.int32]) -> NeighborOrder:
        """The rows with training samples only."""
        return order.where(self.in_training[groups[order.flat_indices]])


class _Choices:
    """All choices of training groups, and what every question counts."""

    def __init__(self, question: Question) -> None:
        self.question, self.law = question, question.columns[0].law
        law: GroupLaw = self.law
        self.groups, n_groups = law.groups, len(law.group_sizes)
        n = question.n_questions
        counted: dict[frozenset[int], dict[int, Fraction]] = {}
        if question.outside:
            # Questions that belong to no group meet every choice.
            self.groups = np.append(law.groups, np.full(n, n_groups, dtype=law.groups.dtype))
            every = all_training_groups(law, _WHAT)
            counted = {frozenset(one): {n_groups: Fraction(1, n * len(every))} for one in every}
            self.weights = [Fraction(1, n)] * n
            if question.n_classes:
                self.weights = [class_weights(question)[code] for code in question.own_codes]
            self.plain = [Fraction(1, n)] * n
        else:
            tested_in, of_groups = splits_of_groups(law, _WHAT)
            for group, splits in enumerate(tested_in):
                for trains, share in splits:
                    of_choice = counted.setdefault(frozenset(trains), {})
                    of_choice[group] = of_choice.get(group, Fraction(0)) + share
            self.plain = [of_groups[group] for group in law.groups.tolist()]
            self.weights = balanced_weights(question, self.plain)
        self.choices = [self._choice(trains, found) for trains, found in counted.items()]
        left_out = int(np.sort(law.group_sizes)[law.n_train - n_groups :].sum())
        k = max(column.k for column in question.columns)
        self.depth = min(question.n_candidates, k + left_out)

    def _choice(self, trains: frozenset[int], counted: dict[int, Fraction]) -> _Choice:
        in_training = np.zeros(len(self.law.group_sizes), dtype=bool)
        in_training[list(trains)] = True
        size = int(self.law.group_sizes[in_training].sum())
        law = SizeLaw.of_size(size + 1, size)
        columns = [Column(column.k, law) for column in self.question.columns]
        return _Choice(in_training, self.question.with_columns(columns), counted)

    def __iter__(self) -> Iterator[_Choice]:
        return iter(self.choices)

    def rows(
        self, order: NeighborOrder
    ) -> Iterator[tuple[_Choice, NDArray[np.intp], Floats, NeighborOrder]]:
        """(a choice, the rows it tests, what each counts there, their training samples)."""
        own = self.groups[own_rows(order)]
        for choice in self:
            share = np.zeros(len(self.law.group_sizes) + 1)
            for group, value in choice.counted.items():
                share[group] = float(value)
            rows = np.flatnonzero(share[own] > 0)
            if len(rows):
                some = struck_rows(order, rows, np.full(len(rows), -1))
                yield choice, rows, share[own[rows]], choice.left(some, self.groups)

    @property
    def n_rows(self) -> int:
        """Rows of all choices together."""
        if self.question.outside:
            return len(self.choices) * self.question.n_questions
        sizes = self.law.group_sizes
        return sum(int(sizes[group]) for choice in self for group in choice.counted)


def solve_weighted_groups(question: Question) -> Solver:
    """Votes that weigh."""
    choices = _Choices(question)
    if question.options.exact:
        return _in_fractions(choices, _exact_shares)
    width, n_columns = question.width, len(question.columns)
    k = max(column.k for column in question.columns)

    def part(order: NeighborOrder, n_threads: int) -> Floats:
        """What rows are worth, or every class; then the doubt of each column."""
        out = np.zeros((order.n_samples, width + n_columns + 1))
        for choice, rows, share, left in choices.rows(order):
            law = SizedLaw(choice.question.columns[0].law, question.n_classes)
            vote = WeightedVote(choice.question, law)
            low, high = vote.enclosed(left, n_threads)[:, :, :, 0].swapaxes(0, 1)
            middle, doubt = (low + high) / 2, (high - low) / 2
            out[rows, :width] += share[:, None] * middle.reshape(len(rows), width)
            out[rows, width:-1] += share[:, None] * doubt.max(axis=1)
            out[rows, -1] = np.maximum(out[rows, -1], vote.rounding())
        return out

    def finish(values: Floats) -> Answer:
        plain, weight = (np.array(w, dtype=np.float64) for w in (choices.plain, choices.weights))
        values[:, :-1] /= plain[:, None]
        bound = weight @ values[:, width:-1] + values[:, -1].max()
        return answer_from_rows(question, values[:, :width], weight, bound)

    total = FromRows(question, finish, width=width + n_columns + 1)
    seconds = weighted_votes_seconds(choices.n_rows, k)
    return Solver(choices.depth, part, total, seconds, CHEAPER)


def solve_weighted_mean_groups(question: Question) -> Solver:
    """Means that weigh."""
    choices = _Choices(question)
    if question.options.exact:
        return _in_fractions(choices, _exact_errors)
    n_columns = len(question.columns)

    def part(order: NeighborOrder, n_threads: int) -> Floats:
        """Squared errors, and how far they may be off."""
        out = np.zeros((order.n_samples, 2 * n_columns))
        for choice, rows, share, left in choices.rows(order):
            means = WeightedMeans.of(choice.question)
            errors = means.errors(left, n_threads)
            out[rows, :n_columns] += share[:, None] * errors
            off = QUADRATURE * errors + means.bound(choice.question)
            out[rows, n_columns:] += share[:, None] * off
        return out

    def finish(values: Floats) -> Answer:
        plain, weight = (np.array(w, dtype=np.float64) for w in (choices.plain, choices.weights))
        values = values / plain[:, None]
        bound = weight @ values[:, n_columns:]
        return answer_from_rows(question, -values[:, :n_columns], weight, bound)

    k = max(column.k for column in question.columns)
    seconds = weighted_mean_seconds(choices.n_rows, k, k)
    total = FromRows(question, finish, width=2 * n_columns)
    return Solver(choices.depth, part, total, seconds, CHEAPER)


# ------------------------------------------------------------ exact=True


def _exact_shares(question: Question, order: NeighborOrder, row: int) -> list[list[Fraction]]:
    """What every class gets, for each column."""
    groups = groups_of_row(question, order, row)
    n = question.columns[0].law.n_candidates
    draw = draw_sets(n, {n: Fraction(1)})
    return [exact_shares(question, groups, column.k, draw) for column in question.columns]


def _exact_errors(question: Question, order: NeighborOrder, row: int) -> list[list[Fraction]]:
    """Minus the squared error, for each column."""
    return [[error] for error in exact_weighted_errors(question, order, row)]


def _in_fractions(choices: _Choices, values: Any) -> Solver:
    question = choices.question
    codes, groups = question.own_codes.tolist(), choices.groups.tolist()

    def line(order: NeighborOrder, row: int) -> list[list[Fraction]]:
        one = order.slice_rows(row, row + 1)
        group = groups[order.sample_of(row)]
        total: list[list[Fraction]] = []
        for choice in choices:
            share = choice.counted.get(group)
            if share:
                found = values(choice.question, choice.left(one, choices.groups), 0)
                found = [[share * each for each in classes] for classes in found]
                total = _sum(total, found) if total else found
        return total

    def finish(lines: list[list[list[Fraction]]]) -> Answer:
        rows = [
            [[each / plain for each in classes] for classes in line]
            for plain, line in zip(choices.plain, lines, strict=True)
        ]
        if not question.n_classes:
            found = [[classes[0] for classes in row] for row in rows]
            return answer_from_fractions(found, choices.weights)
        right = [[classes[code] for classes in row] for code, row in zip(codes, rows, strict=True)]
        proba = [row[0] for row in rows] if question.want_samples else None
        return answer_from_fractions(right, choices.weights, proba=proba)

    return Solver(question.n_candidates, RowFractions(line, question), FromFractions(finish))


def _sum(left: list[list[Fraction]], right: list[list[Fraction]]) -> list[list[Fraction]]:
    return [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(left, right, strict=True)]
