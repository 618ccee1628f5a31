"""Laws of fixed size or independent draws, equal votes: which computation answers a problem."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.effort import uniform_votes_seconds
from allsplits.exact.laws.fixed_size.fractions import exact_hits, exact_right, rational_answer
from allsplits.exact.laws.fixed_size.majority import MajorityVote, VoteTable
from allsplits.exact.laws.fixed_size.ranked import RankedHit
from allsplits.exact.laws.fixed_size.tally import (
    NearestCounter,
    NearestTally,
    PrefixCounter,
    TwoClassTally,
)
from allsplits.exact.laws.fixed_size.two_classes import TwoClassVote, vote_for_every_class
from allsplits.exact.masses import UNIT_ROUNDOFF, Column, Prefixes, deepest_prefix, prefixes_for
from allsplits.exact.question import Answer, Problem, RowValues, Solver
from allsplits.exceptions import InvalidInputError
from allsplits.orders import NeighborOrder
from allsplits.splits import SizeLaw

__all__ = ["class_weights", "sample_weights", "solve_majority", "solve_ranked"]


def class_weights(problem: Problem) -> list[Fraction]:
    """What one sample of each class counts in the score."""
    if not problem.balanced:
        return [Fraction(1, problem.n_samples)] * problem.n_classes
    sizes = np.bincount(problem.codes, minlength=problem.n_classes)
    return [Fraction(1, problem.n_classes * int(size)) for size in sizes]


def sample_weights(problem: Problem) -> NDArray[np.float64]:
    """What each sample counts in the score."""
    weights = np.array([float(w) for w in class_weights(problem)])
    return weights[problem.codes]


def solve_majority(problem: Problem) -> Solver:
    """Equal votes: integers, a tally, or sample by sample."""
    if problem.options.exact:
        return _rational(problem, exact_right, share=problem.options.share)
    if not problem.want_samples and _needs_whole_order_for_nearest(problem):
        return _nearest_tally(problem)
    prefixes = prefixes_for(problem.columns, problem.options.tol)
    two_classes = problem.n_classes == 2 and not problem.want_samples
    if two_classes and TwoClassTally.fits(prefixes.depth, problem.n_samples):
        return _two_class_tally(problem, prefixes)
    if problem.want_samples:
        vote = vote_for_every_class(prefixes, problem.n_classes, problem.options)
        solver = _by_sample(problem, prefixes, vote.every_class, vote.rounding)
        return solver if isinstance(vote, TwoClassVote) else _announced(problem, prefixes, solver)
    columns = MajorityVote(
        prefixes,
        problem.n_classes,
        average_distance_ties=problem.options.average,
        share=problem.options.share,
    )
    solver = _by_sample(problem, prefixes, columns.right, columns.rounding)
    return _announced(problem, prefixes, solver)


def _announced(problem: Problem, prefixes: Prefixes, solver: Solver) -> Solver:
    """The solver with an estimate of its work."""
    k = int(prefixes.ks.max())
    seconds = uniform_votes_seconds(problem.n_samples, prefixes.depth, problem.n_classes, k)
    return solver._replace(seconds=seconds, cheaper="fewer neighbours or fewer samples")


def _needs_whole_order_for_nearest(problem: Problem) -> bool:
    """Whether all columns are 1-NN of fixed size and the smallest size needs every neighbour."""
    columns = problem.columns
    if not all(column.k == 1 and isinstance(column.law, SizeLaw) for column in columns):
        return False
    smallest = min(columns, key=lambda column: column.law.smallest_training_set)
    return prefixes_for([smallest], problem.options.tol).depth == problem.n_samples - 1


def solve_ranked(problem: Problem) -> Solver:
    """recall@R: the columns' k are the ranks R.

    A training set smaller than R is looked at whole, so a column may be a mixture of ranks.
    """
    parts = [(c, *part) for c, column in enumerate(problem.columns) for part in _by_size(column)]
    solver = _ranked(problem.with_columns([part for _, _, part in parts]))

    def finish() -> Answer:
        mixing = [
            [w if c == line else Fraction(0) for c, w, _ in parts]
            for line in range(len(problem.columns))
        ]
        answer: Answer = solver.finish()
        return answer.mixed(mixing)

    return solver._replace(finish=finish)


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


def _ranked(problem: Problem) -> Solver:
    if problem.options.exact:
        return _rational(problem, exact_hits)
    prefixes = prefixes_for(problem.columns, problem.options.tol)
    vote = RankedHit(prefixes, average_distance_ties=problem.options.average)
    return _by_sample(problem, prefixes, vote.right, vote.rounding)


def _by_sample(problem: Problem, prefixes: Prefixes, compute: Any, rounding: float) -> Solver:
    """Values of every sample, or of every class for every sample, kept until the end."""
    classes = problem.want_samples and problem.vote == "majority"
    width = problem.n_classes if classes else len(prefixes.ks)
    rows = RowValues(problem.n_samples, width)

    def part(order: NeighborOrder, n_threads: int) -> Any:
        return compute(order, problem.codes, n_threads)

    def finish() -> Answer:
        right = values = rows.values
        if classes:
            right = values[np.arange(problem.n_samples), problem.codes][:, None]
        weights = sample_weights(problem)
        return Answer(
            # Summing one fixed array gives the same bits for any number of blocks or threads.
            scores=np.sum(right * weights[:, None], axis=0),
            error_bound=prefixes.missing + rounding,
            sample_weight=weights,
            sample_scores=right if problem.want_samples else None,
            prediction_proba=values if classes else None,
        )

    return Solver(prefixes.depth, part, rows.add, finish)


def _two_class_tally(problem: Problem, prefixes: Prefixes) -> Solver:
    count = PrefixCounter(
        problem.codes, prefixes.depth, problem.n_samples - 1, problem.options.average
    )
    tally = TwoClassTally(count)

    def finish() -> Answer:
        weights = np.array([float(w) for w in class_weights(problem)])
        right = tally.right(prefixes, problem.options.share)
        # The table's own sums and the tie shares (one step per member) round as well.
        rounding = VoteTable.rounding(prefixes, 2) + 8 * prefixes.depth * UNIT_ROUNDOFF
        return Answer(scores=right @ weights, error_bound=prefixes.missing + rounding)

    return Solver(prefixes.depth, count, tally.add, finish)


def _nearest_tally(problem: Problem) -> Solver:
    """1-NN at full depth: every training size from one table."""
    per_class = class_weights(problem)
    equal = len(set(per_class)) == 1
    kinds = np.zeros_like(problem.codes) if equal else problem.codes
    count = NearestCounter(problem.codes, kinds, problem.n_samples - 1, problem.options.average)
    tally = NearestTally(count)
    sizes = np.array([c.train for column in problem.columns for c in column.law.components])

    def finish() -> Answer:
        right, rounding = tally.right(sizes)
        weights = per_class[:1] if equal else per_class
        by_size = right @ np.array([float(w) for w in weights])
        scores, bounds = np.zeros(len(problem.columns)), np.zeros(len(problem.columns))
        position = 0
        for c, column in enumerate(problem.columns):
            for component in column.law.components:
                scores[c] += float(component.weight) * by_size[position]
                bounds[c] += float(component.weight) * rounding[position]
                position += 1
        return Answer(scores=scores, error_bound=bounds)

    return Solver(problem.n_samples - 1, count, tally.add, finish)


def _rational(problem: Problem, compute: Any, **options: bool) -> Solver:
    """exact=True: Fractions for every sample, at the full depth the law can reach."""
    values: list[list[Fraction]] = []

    def part(order: NeighborOrder, _: int) -> Any:
        average = problem.options.average
        return compute(order, problem.codes, problem.columns, average=average, **options)

    def finish() -> Answer:
        per_class = class_weights(problem)
        return rational_answer(values, [per_class[code] for code in problem.codes])

    return Solver(deepest_prefix(problem.columns), part, values.extend, finish)
