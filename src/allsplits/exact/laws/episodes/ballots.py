"""Records of votes over all episodes, with one nearest neighbour.

Only the classes of an episode take part: smoothing counts those, and who is among the most voted
of them is not asked for.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

from allsplits.exact.answer import Answer, Solver
from allsplits.exact.ballot_answer import (
    VoteChances,
    answer_from_ballots,
    ballots_in_fractions,
    ballots_of,
    with_classes,
)
from allsplits.exact.ballots import Ballots, one_vote_records
from allsplits.exact.laws.class_counts.ballots import vote_chances
from allsplits.exact.laws.class_counts.fractions import exact_row
from allsplits.exact.laws.episodes.fractions import check_class_sets
from allsplits.exact.laws.episodes.vote import episode_weights, solve_episodes
from allsplits.exact.question import Question
from allsplits.exceptions import UnsupportedError
from allsplits.orders import NeighborOrder
from allsplits.splits import EpisodeLaw


def solve_ballots(question: Question) -> Solver:
    """How the vote falls, from who wins it."""
    law: EpisodeLaw = question.columns[0].law
    if question.wants.tops:
        raise UnsupportedError(
            "top_K_accuracy is not supported with Episodes, where one vote is cast: recall@R looks "
            "at the R nearest; ClassCounts takes any score when all classes are in every episode"
        )
    if question.columns[0].k != 1:
        raise UnsupportedError(
            "scores of votes are supported with Episodes for n_neighbors=1; got "
            f"n_neighbors={question.columns[0].k}. ClassCounts takes any n_neighbors when all "
            "classes are in every episode"
        )
    options = replace(question.options, exact=False)
    winners = replace(question, vote="majority", want_samples=True, options=options)
    solver = solve_episodes(winners)
    if question.options.exact:
        chances, depth = _vote_chances(question, law), question.n_candidates
        solver = ballots_in_fractions(question, chances, episode_weights(question), depth)
        return solver._replace(total=_Converted(solver.total, lambda a: _few(a.ballots, law)))

    def convert(answer: Answer) -> Answer:
        if answer.prediction_proba is None or answer.sample_weight is None:
            raise AssertionError("every class was asked for")
        proba, share = answer.prediction_proba, question.options.share
        records = one_vote_records(proba, question.own_codes, question.places, share)
        bound = float(answer.error_bound[0]) * question.n_classes
        return _few(ballots_of(question, records, answer.sample_weight, bound), law)

    return solver._replace(total=_Converted(solver.total, convert))


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
    codes, n_classes = question.codes, question.n_classes
    n_sets = check_class_sets(n_classes, law)

    def chances(order: NeighborOrder, row: int) -> VoteChances:
        counted = exact_row(order, row, codes, question.options.average)
        y, found = counted.own, VoteChances()
        held_out = 0 if law.outside else 1
        pools = [size - held_out * (c == y) for c, size in enumerate(law.class_sizes)]
        rest = [c for c in range(n_classes) if c != y]
        for chosen in combinations(rest, law.n_way - 1):
            train = [law.k_shot if c == y or c in chosen else 0 for c in range(n_classes)]
            for votes, chance in vote_chances(counted, pools, train, 1).items():
                found[votes] = found.get(votes, Fraction(0)) + chance / n_sets
        return found

    return chances
