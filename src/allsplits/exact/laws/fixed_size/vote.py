"""Laws of fixed size or independent draws, equal votes: which computation answers a question."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import thread_count
from allsplits.exact.answer import Answer, FromRows, Solver, answer_from_rows, in_fractions
from allsplits.exact.effort import is_long, majority_seconds, right_seconds
from allsplits.exact.laws.fixed_size.circle import circle_vote
from allsplits.exact.laws.fixed_size.fractions import exact_ranked, exact_right
from allsplits.exact.laws.fixed_size.majority import CHEAPER, MajorityVote, VoteTable
from allsplits.exact.laws.fixed_size.ranked import RankedVote
from allsplits.exact.laws.fixed_size.tally import (
    NearestCounter,
    NearestTally,
    PrefixCounter,
    TwoClassTally,
)
from allsplits.exact.laws.fixed_size.two_classes import (
    TwoClassRows,
    TwoClassVote,
    vote_for_every_class,
)
from allsplits.exact.masses import Column, Prefixes, deepest_prefix, prefixes_for
from allsplits.exact.on_device.votes import CircleVotes, RowVotes
from allsplits.exact.question import Question, class_weights, sample_weights
from allsplits.exceptions import InvalidInputError
from allsplits.orders import UNIT_ROUNDOFF, NeighborOrder
from allsplits.splits import SizeLaw

Floats = NDArray[np.float64]


def solve_majority(question: Question) -> Solver:
    """Equal votes: integers, a tally, or sample by sample."""
    if question.options.exact:
        return _in_fractions(question, exact_right)
    tallied = not (question.want_samples or question.want_rows)
    if tallied and _needs_whole_order_for_nearest(question):
        return _nearest_tally(question)
    prefixes = prefixes_for(question.columns, question.options.tol)
    two_classes = question.n_classes == 2
    if (
        two_classes
        and tallied
        and TwoClassTally.fits(prefixes.depth, question.n_samples, question.n_questions)
    ):
        return _two_class_tally(question, prefixes)
    if question.want_rows and two_classes and TwoClassRows.fits(prefixes.depth):
        rows = TwoClassRows(prefixes, question.options)
        return _by_sample(question, prefixes, rows.right, rows.rounding)
    if question.want_samples:
        vote = vote_for_every_class(prefixes, question.n_classes, question.options)
    else:
        vote = MajorityVote(prefixes, question.n_classes, question.options)
    solver = _votes(question, prefixes, vote)
    return solver if isinstance(vote, TwoClassVote) else _announced(question, vote, solver)


def _votes(question: Question, prefixes: Prefixes, vote: TwoClassVote | MajorityVote) -> Solver:
    """Values of every sample, or of every class for every sample, counted where lists are."""
    options = question.options

    def of_rows(order: NeighborOrder, numbers: NDArray[np.intp] | None, n_threads: int) -> Floats:
        if isinstance(vote, TwoClassVote) or question.want_samples:
            return vote.every_class(order, question.codes, n_threads)
        return vote.right(order, question.codes, n_threads, numbers)

    def on_circle() -> CircleVotes | None:
        one = circle_vote(prefixes, question.n_classes, options.share)
        return None if one is None else CircleVotes([one], None, question.want_samples)

    bound = prefixes.missing + vote.rounding
    part = RowVotes(of_rows, question.codes, bound, options.average, on_circle)

    def finish(values: Floats) -> Answer:
        return answer_from_rows(question, values, sample_weights(question), part.error_bound)

    return Solver(prefixes.depth, part, FromRows(question, finish))


def _announced(question: Question, vote: MajorityVote, solver: Solver) -> Solver:
    """The solver with an estimate of its work, or with a look at its first rows."""
    k, depth = int(vote.prefixes.ks.max()), vote.prefixes.depth
    if question.wants_classes:
        seconds = majority_seconds(question.n_questions, depth, question.n_classes, k)
    else:
        seconds = right_seconds(question.n_questions, depth, int(question.class_sizes.max()), k)
    if not is_long(seconds, thread_count(question.options.n_jobs)):
        vote.rows_in_all, vote.first_row = question.n_questions, question.asked.start
    return solver._replace(seconds=seconds, cheaper=CHEAPER)


def _needs_whole_order_for_nearest(question: Question) -> bool:
    """Whether all columns are 1-NN of fixed size and the smallest size needs every neighbour."""
    columns = question.columns
    if not all(column.k == 1 and isinstance(column.law, SizeLaw) for column in columns):
        return False
    smallest = min(columns, key=lambda column: column.law.smallest_training_set)
    return prefixes_for([smallest], question.options.tol).depth == question.n_candidates


def solve_ranked(question: Question) -> Solver:
    """recall@R: the columns' k are the ranks R.

    A training set smaller than R is looked at whole, so a column may be a mixture of ranks.
    """
    columns, mixing = ranks_by_size(question.columns)
    by_size = question.with_columns(columns)
    if question.options.exact:
        return _in_fractions(by_size, partial(_mixed_ranked, mixing))
    prefixes = prefixes_for(by_size.columns, question.options.tol)
    vote = RankedVote(prefixes, question.options)
    solver = _by_sample(by_size, prefixes, vote.right, vote.rounding)
    matrix = np.array(mixing, dtype=np.float64)

    def finish() -> Answer:
        answer = solver.total.finish()
        samples = answer.sample_scores
        return replace(
            answer,
            scores=matrix @ answer.scores,
            error_bound=matrix @ answer.error_bound,
            sample_scores=None if samples is None else samples @ matrix.T,
        )

    return solver._replace(total=_Tallied(solver.total.add, finish))


def ranks_by_size(columns: list[Column]) -> tuple[list[Column], list[list[Fraction]]]:
    """Columns of which no training set is smaller than the rank, and how to mix them."""
    parts = [(c, *part) for c, column in enumerate(columns) for part in _by_size(column)]
    mixing = [
        [w if c == line else Fraction(0) for c, w, _ in parts] for line in range(len(columns))
    ]
    return [part for _, _, part in parts], mixing


def _mixed_ranked(
    mixing: list[list[Fraction]], question: Question, order: NeighborOrder, row: int
) -> list[Fraction]:
    values = exact_ranked(question, order, row)
    return [sum((w * v for w, v in zip(line, values, strict=True)), Fraction(0)) for line in mixing]


def _by_size(column: Column) -> list[tuple[Fraction, Column]]:
    """(weight, column) such that no training set of a column is smaller than its rank."""
    law, rank = column.law, column.k
    if rank <= law.smallest_training_set:
        return [(Fraction(1), column)]
    if not isinstance(law, SizeLaw):
        raise InvalidInputError(
            f"R (of recall@R) must be at most {law.smallest_training_set} ({law}); got {rank}"
        )
    return [
        (component.weight, Column(min(rank, component.train), law.only(component)))
        for component in law.components
    ]


class _Tallied(NamedTuple):
    """A total whose ends are functions."""

    add: Callable[[Any], None]
    finish: Callable[[], Answer]


def _by_sample(
    question: Question,
    prefixes: Prefixes,
    compute: Callable[[NeighborOrder, NDArray[np.int32], int], Floats],
    rounding: float,
) -> Solver:
    """Values of every sample, or of every class for every sample, kept until the end."""

    def part(order: NeighborOrder, n_threads: int) -> Floats:
        return compute(order, question.codes, n_threads)

    def finish(values: Floats) -> Answer:
        bound = prefixes.missing + rounding
        return answer_from_rows(question, values, sample_weights(question), bound)

    return Solver(prefixes.depth, part, FromRows(question, finish))


def _two_class_tally(question: Question, prefixes: Prefixes) -> Solver:
    count = PrefixCounter(
        question.codes, prefixes.depth, question.n_candidates, question.options.average
    )
    tally = TwoClassTally(count)

    def finish() -> Answer:
        weights = np.array([float(w) for w in class_weights(question)])
        right = tally.right(prefixes, question.options.share)
        # The table's own sums and the tie shares (one step per member) round as well.
        rounding = VoteTable.rounding(prefixes, 2) + 8 * prefixes.depth * UNIT_ROUNDOFF
        return Answer(scores=right @ weights, error_bound=prefixes.missing + rounding)

    return Solver(prefixes.depth, count, _Tallied(tally.add, finish))


def _nearest_tally(question: Question) -> Solver:
    """1-NN at full depth: every training size from one table."""
    per_class = class_weights(question)
    equal = len(set(per_class)) == 1
    kinds = np.zeros_like(question.codes) if equal else question.codes
    count = NearestCounter(question.codes, kinds, question.n_candidates, question.options.average)
    tally = NearestTally(count)
    sizes = np.array([c.train for column in question.columns for c in column.law.components])

    def finish() -> Answer:
        right, rounding = tally.right(sizes)
        weights = per_class[:1] if equal else per_class
        by_size = right @ np.array([float(w) for w in weights])
        scores, bounds = np.zeros(len(question.columns)), np.zeros(len(question.columns))
        position = 0
        for c, column in enumerate(question.columns):
            for component in column.law.components:
                scores[c] += float(component.weight) * by_size[position]
                bounds[c] += float(component.weight) * rounding[position]
                position += 1
        return Answer(scores=scores, error_bound=bounds)

    return Solver(question.n_candidates, count, _Tallied(tally.add, finish))


def _in_fractions(question: Question, line: Callable[..., list[Fraction]]) -> Solver:
    """exact=True: Fractions for every sample, at the full depth the law can reach."""
    per_class = class_weights(question)
    return in_fractions(
        question,
        partial(line, question),
        deepest_prefix(question.columns),
        [per_class[code] for code in question.own_codes],
    )
