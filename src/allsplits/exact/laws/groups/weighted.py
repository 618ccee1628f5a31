"""Weighted votes and means where whole groups are kept together.

For every choice of training groups it is the vote of all who are left in a row, of which everybody
is drawn.
"""

from __future__ import annotations

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
from allsplits.exact.laws.groups.choices import Choices
from allsplits.exact.laws.groups.vote import CHEAPER
from allsplits.exact.question import Question
from allsplits.exact.weighted._kernels_means import QUADRATURE
from allsplits.exact.weighted.mean_fractions import exact_weighted_errors
from allsplits.exact.weighted.means import WeightedMeans
from allsplits.exact.weighted.tables import SizedLaw
from allsplits.exact.weighted.vote_fractions import draw_sets, exact_shares, groups_of_row
from allsplits.exact.weighted.votes import WeightedVote
from allsplits.orders import NeighborOrder

Floats = NDArray[np.float64]
_WHAT = "a weighted vote of whole groups"


def solve_weighted_groups(question: Question) -> Solver:
    """Votes that weigh."""
    choices = Choices(question, _WHAT)
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
    choices = Choices(question, _WHAT)
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


def _in_fractions(choices: Choices, values: Any) -> Solver:
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
