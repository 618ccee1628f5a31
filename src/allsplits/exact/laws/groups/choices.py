"""Every choice of training groups, gone through one by one.

Given which groups are in training nothing is random but the order of tied neighbours. Leaving one
group out has one choice for each sample, leaving two of G out G - 1 of them; laws of too many
splits are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.laws.groups.fractions import (
    all_training_groups,
    balanced_weights,
    splits_of_groups,
)
from allsplits.exact.masses import Column
from allsplits.exact.question import Question, class_weights, own_rows
from allsplits.exact.strikes import struck_rows
from allsplits.orders import NeighborOrder
from allsplits.splits import GroupLaw, SizeLaw

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Choice:
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


class Choices:
    """All choices of training groups, and what every question counts.

    `what` goes through them, and is refused where they are too many.
    """

    def __init__(self, question: Question, what: str) -> None:
        self.question, self.law = question, question.columns[0].law
        law: GroupLaw = self.law
        self.groups, n_groups = law.groups, len(law.group_sizes)
        n = question.n_questions
        counted: dict[frozenset[int], dict[int, Fraction]] = {}
        if question.outside:
            # Questions that belong to no group meet every choice.
            self.groups = np.append(law.groups, np.full(n, n_groups, dtype=law.groups.dtype))
            every = all_training_groups(law, what)
            counted = {frozenset(one): {n_groups: Fraction(1, n * len(every))} for one in every}
            self.weights = [Fraction(1, n)] * n
            if question.n_classes:
                self.weights = [class_weights(question)[code] for code in question.own_codes]
            self.plain = [Fraction(1, n)] * n
        else:
            tested_in, of_groups = splits_of_groups(law, what)
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

    def _choice(self, trains: frozenset[int], counted: dict[int, Fraction]) -> Choice:
        in_training = np.zeros(len(self.law.group_sizes), dtype=bool)
        in_training[list(trains)] = True
        size = int(self.law.group_sizes[in_training].sum())
        law = SizeLaw.of_size(size + 1, size)
        columns = [Column(column.k, law) for column in self.question.columns]
        return Choice(in_training, self.question.with_columns(columns), counted)

    def __iter__(self) -> Iterator[Choice]:
        return iter(self.choices)

    def rows(
        self, order: NeighborOrder
    ) -> Iterator[tuple[Choice, NDArray[np.intp], Floats, NeighborOrder]]:
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
