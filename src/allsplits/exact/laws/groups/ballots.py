"""Records of votes where whole groups are kept together."""

from fractions import Fraction
from math import comb

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.answer import Answer, FromRows, Solver
from allsplits.exact.ballot_answer import (
    VoteChances,
    answer_from_ballots,
    ballots_in_fractions,
    ballots_of,
    votes_within,
)
from allsplits.exact.laws.fixed_size.ballots import record_rounding
from allsplits.exact.laws.fixed_size.fractions import groups_of
from allsplits.exact.laws.groups.fractions import all_training_groups, splits_of_groups
from allsplits.exact.laws.groups.vote import CHEAPER, GroupVote
from allsplits.exact.question import Question
from allsplits.orders import NeighborOrder
from allsplits.splits import GroupLaw

Floats = NDArray[np.float64]


def solve_ballots(question: Question) -> Solver:
    """How the votes fall, of the only column."""
    law: GroupLaw = question.columns[0].law
    if question.options.exact:
        return _in_fractions(question, law)
    vote = GroupVote(question, law)
    vote.check_size()
    width = question.places.width

    def finish(values: Floats) -> Answer:
        bound = vote.rounding + record_rounding(question.places, vote.depth)
        records = np.ascontiguousarray(values[:, :width])
        return answer_from_ballots(ballots_of(question, records, vote.weights(values), bound))

    total = FromRows(question, finish, width=width + 1)
    return Solver(vote.depth, vote, total, 1.5 * vote.seconds(), CHEAPER)


def _in_fractions(question: Question, law: GroupLaw) -> Solver:
    every = all_training_groups(law) if question.outside else []
    tested_in, of_groups = ([], []) if question.outside else splits_of_groups(law)
    groups, codes = law.groups.tolist(), question.codes
    k, C = question.columns[0].k, question.n_classes

    def of_split(order: NeighborOrder, row: int, trains: set[int]) -> VoteChances:
        votes, found = [0] * C, 0
        for tie_group in groups_of(order, row, question.options.average):
            labels = [int(codes[j]) for j in tie_group.tolist() if groups[j] in trains]
            tied = [labels.count(c) for c in range(C)]
            if found + len(labels) >= k:
                # The last voters are a uniform subset of the tie group.
                extra = k - found
                ways = votes_within(extra, [0] * C, tied)
                return {
                    tuple(v + x for v, x in zip(votes, more, strict=True)): Fraction(
                        sum(each.values()), comb(len(labels), extra)
                    )
                    for more, each in ways.items()
                }
            votes = [v + t for v, t in zip(votes, tied, strict=True)]
            found += len(labels)
        raise AssertionError("every training set has k voters")

    def chances(order: NeighborOrder, row: int) -> VoteChances:
        met = [(trains, Fraction(1, len(every))) for trains in every]
        if not question.outside:
            own = groups[order.sample_of(row)]
            met = [(trains, share / of_groups[own]) for trains, share in tested_in[own]]
        found = VoteChances()
        for trains, share in met:
            for votes, chance in of_split(order, row, trains).items():
                found[votes] = found.get(votes, Fraction(0)) + share * chance
        return found

    n = question.n_questions
    weight = [Fraction(1, n)] * n if question.outside else [of_groups[group] for group in groups]
    return ballots_in_fractions(question, chances, weight, question.n_candidates)
