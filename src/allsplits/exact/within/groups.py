"""Votes and means within a radius where whole groups are kept together.

For every choice of training groups the voters are known: all of their samples within the radius.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from allsplits.exact.answer import Answer, FromFractions, Solver, answer_from_fractions
from allsplits.exact.ballot_answer import answer_from_ballots, ballots_of
from allsplits.exact.ballots import ONLY_WINNERS, Values
from allsplits.exact.laws.groups.choices import Choice, Choices
from allsplits.exact.laws.groups.vote import CHEAPER
from allsplits.exact.question import Question, own_rows
from allsplits.exact.within.outliers import check_empty, within_of
from allsplits.exact.within.records import WithinPlaces, outlier_record, votes_record
from allsplits.exact.within.votes import CountsWithin, WithinBallots
from allsplits.orders import UNIT_ROUNDOFF, NeighborOrder

_WHAT = "a vote within a radius of whole groups"


def _record(question: Question, choice: Choice, label: int, line: list[int]) -> list[Any]:
    """The record of known votes, after the own class, and last whether there are none."""
    own, *votes = line
    places, share = WithinPlaces.of(question), question.options.share
    if any(votes):
        return [*votes_record(votes, own, places, share), Fraction(0)]
    return [*outlier_record(own, label, places, share), Fraction(1)]


def _outlier_class(choices: Choices, choice: Choice) -> int:
    """The class that is predicted where nobody is within the radius."""
    question, within = choices.question, within_of(choices.question)
    if not within.most_frequent:
        return within.outlier
    trained = choice.in_training[choices.groups[: question.n_samples]]
    counts = np.bincount(question.sample_codes[trained], minlength=question.n_classes)
    return int(counts.argmax())


def solve_within_groups(question: Question) -> Solver:
    """How the votes of those within a radius fall."""
    choices, within = Choices(question, _WHAT), within_of(question)
    count = CountsWithin(question.codes, question.n_classes, within.radius)
    kind: Any = object if question.options.exact else np.float64
    width = WithinPlaces.of(question).width

    def part(order: NeighborOrder, n_threads: int) -> Values:
        """Records, each choice as it counts; last the same of P(no voter)."""
        out = np.zeros((order.n_samples, width + 1), dtype=kind)
        for choice, rows, _, left in choices.rows(order):
            own = own_rows(left)
            lines = np.column_stack([question.codes[own], count(left, n_threads).astype(np.int64)])
            distinct, place = np.unique(lines, axis=0, return_inverse=True)
            label = _outlier_class(choices, choice)
            records = np.empty((len(distinct), width + 1), dtype=object)
            for i, line in enumerate(distinct.tolist()):
                records[i] = _record(question, choice, label, line)
            shares = np.array([choice.counted[g] for g in choices.groups[own].tolist()], dtype=kind)
            out[rows] += shares[:, None] * records.astype(kind)[place.ravel()]
        return out

    def finish(found: list[Any]) -> Answer:
        plain = np.array(choices.plain, dtype=kind)
        values = np.array(found, dtype=kind) / plain[:, None]
        bound = check_empty(question, values[:, -1])
        bound += 0.0 if question.options.exact else 64 * (len(choices.choices) + 4) * UNIT_ROUNDOFF
        C = question.n_classes
        base = ballots_of(replace(question, wants=ONLY_WINNERS), values[:, :C], plain, bound)
        return answer_from_ballots(
            WithinBallots(
                base.places._replace(k=max(within.depth, 1)), base.records, base.codes, C,
                base.weight, base.balanced, base.recall, bound, values[:, :-1],
                WithinPlaces.of(question),
            )
        )  # fmt: skip

    return Solver(within.depth, part, FromFractions(finish), 0.0, CHEAPER)


def solve_mean_within_groups(question: Question) -> Solver:
    """Negative mean squared error of the mean of those within a radius."""
    choices, within = Choices(question, _WHAT), within_of(question)
    exact = question.options.exact
    kind: Any = object if exact else np.float64
    targets = np.array([Fraction(y) if exact else y for y in question.targets.tolist()], dtype=kind)
    outlier = within.outlier_target
    # What is not given is refused where it would count.
    said = (Fraction if exact else float)(0.0 if outlier is None else outlier)

    def part(order: NeighborOrder, n_threads: int) -> Values:
        """Minus squared errors, each choice as it counts, and P(no voter)."""
        out = np.zeros((order.n_samples, 2), dtype=kind)
        for choice, rows, _, left in choices.rows(order):
            own, inside = own_rows(left), left.within(within.radius)
            at = np.repeat(np.arange(len(rows)), np.diff(left.indptr))[inside]
            sums, m = np.zeros(len(rows), dtype=kind), np.bincount(at, minlength=len(rows))
            np.add.at(sums, at, targets[left.flat_indices[inside]] - targets[own][at])
            errors = np.where(m > 0, sums / np.maximum(m, 1), said - targets[own]) ** 2
            shares = np.array([choice.counted[g] for g in choices.groups[own].tolist()], dtype=kind)
            out[rows, 0] -= shares * errors
            out[rows, 1] += shares * (m == 0)
        return out

    def finish(found: list[Any]) -> Answer:
        plain = np.array(choices.plain, dtype=kind)
        values = np.array(found, dtype=kind) / plain[:, None]
        left_out = check_empty(question, values[:, 1])
        answer = answer_from_fractions([[value] for value in values[:, 0]], choices.weights)
        if exact:
            return answer
        worst = float(np.ptp([*question.targets.tolist(), said])) ** 2
        steps = 24 * (within.depth + len(choices.choices)) + 64
        bound = (steps * UNIT_ROUNDOFF + left_out) * worst
        return replace(answer, fractions=None, sample_fractions=None, error_bound=np.array([bound]))

    return Solver(within.depth, part, FromFractions(finish), 0.0, CHEAPER)
