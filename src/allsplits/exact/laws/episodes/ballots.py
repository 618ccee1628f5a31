"""Records of votes over all episodes.

Only the classes of an episode take part: smoothing counts those, and who is among the most voted
of them is not asked for. One neighbour takes any number of classes; more go through every set of
classes, each with the records of its class counts.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.answer import Answer, FromRows, Solver
from allsplits.exact.ballot_answer import (
    VoteChances,
    answer_from_ballots,
    ballots_in_fractions,
    ballots_of,
    with_classes,
)
from allsplits.exact.ballots import Ballots, one_vote_records
from allsplits.exact.laws.class_counts.ballots import ClassCountsBallots, vote_chances
from allsplits.exact.laws.class_counts.fractions import exact_row
from allsplits.exact.laws.class_counts.vote import CHEAPER
from allsplits.exact.laws.episodes.class_sets import ClassSets
from allsplits.exact.laws.episodes.fractions import check_class_sets, support_sets
from allsplits.exact.laws.episodes.vote import episode_weights, solve_episodes
from allsplits.exact.question import Question
from allsplits.exceptions import UnsupportedError
from allsplits.orders import UNIT_ROUNDOFF, NeighborOrder
from allsplits.splits import EpisodeLaw

Floats = NDArray[np.float64]


def solve_ballots(question: Question) -> Solver:
    """How the votes fall, of the only column."""
    law: EpisodeLaw = question.columns[0].law
    refuse_tops(question)
    if question.options.exact:
        chances, depth = _vote_chances(question, law), question.n_candidates
        solver = ballots_in_fractions(question, chances, episode_weights(question), depth)
        return solver._replace(total=_Converted(solver.total, lambda a: _few(a.ballots, law)))
    if question.columns[0].k > 1:
        return _solve_class_sets(question, law)
    winners = replace(question, vote="majority", want_samples=True)
    solver = solve_episodes(winners)

    def convert(answer: Answer) -> Answer:
        if answer.prediction_proba is None or answer.sample_weight is None:
            raise AssertionError("every class was asked for")
        proba, share = answer.prediction_proba, question.options.share
        records = one_vote_records(proba, question.own_codes, question.places, share)
        bound = float(answer.error_bound[0]) * question.n_classes
        return _few(ballots_of(question, records, answer.sample_weight, bound), law)

    return solver._replace(total=_Converted(solver.total, convert))


def refuse_tops(question: Question) -> None:
    """Raise if the rank of a class is asked for: that of one that is not in the episode is none."""
    if question.wants.tops:
        raise UnsupportedError(
            "top_K_accuracy is not supported with Episodes, where classes that are not in the "
            "episode would tie with those that have no votes: recall@R looks at the R nearest; "
            "ClassCounts takes any score when all classes are in every episode; replay(...) takes "
            "any score, and ranks the classes of each drawn episode"
        )


def _solve_class_sets(question: Question, law: EpisodeLaw) -> Solver:
    """The mean over the sets of classes that have the query's own."""
    sets = ClassSets.of(question, law)
    alike = np.ones((1, 1, question.n_classes))
    parts = [ClassCountsBallots(question, [train], alike) for train in sets.trains]
    width = question.places.width

    def part(order: NeighborOrder, n_threads: int) -> Floats:
        records = np.zeros((order.n_samples, width))
        for number, rows, some in sets.rows(order, question.codes):
            records[rows] += sets.share * parts[number](some, n_threads)
        return records

    def finish(records: Floats) -> Answer:
        weight = np.array([float(w) for w in episode_weights(question)])
        bound = max(each.error_bound for each in parts) + len(parts) * UNIT_ROUNDOFF
        return _few(ballots_of(question, records, weight, bound), law)

    depth = max(each.depth for each in parts)
    seconds = sum(each.seconds for each in parts) * law.n_way / question.n_classes
    return Solver(depth, part, FromRows(question, finish, width=width), seconds, CHEAPER)


def _few(ballots: Ballots | None, law: EpisodeLaw) -> Answer:
    """Only the classes of an episode have votes."""
    if ballots is None:
        raise AssertionError("ballots were asked for")
    return answer_from_ballots(with_classes(ballots, law.n_way))


class _Converted:
    """A total whose answer is turned into another."""

    def __init__(self, total: Any, convert: Callable[[Answer], Answer]) -> None:
        self._total, self._convert = total, convert

    def add(self, found: Any) -> None:
        """Add what a block contributed."""
        self._total.add(found)

    def finish(self) -> Answer:
        """The other answer."""
        return self._convert(self._total.finish())


def _vote_chances(question: Question, law: EpisodeLaw) -> Any:
    """Class counts of every set of classes."""
    codes, n_sets, k = question.codes, check_class_sets(law), question.columns[0].k

    def chances(order: NeighborOrder, row: int) -> VoteChances:
        counted = exact_row(order, row, codes, question.options.average)
        y, found = counted.own, VoteChances()
        held_out = 0 if law.outside else 1
        pools = [size - held_out * (c == y) for c, size in enumerate(law.class_sizes)]
        for train in support_sets(law, y):
            for votes, chance in vote_chances(counted, pools, train, k).items():
                found[votes] = found.get(votes, Fraction(0)) + chance / n_sets
        return found

    return chances
