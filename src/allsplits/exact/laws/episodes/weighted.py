"""Weighted votes over all episodes: every set of classes with its class counts, enclosed."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.answer import Answer, FromRows, Solver, answer_from_rows
from allsplits.exact.laws.episodes.class_sets import ClassSets
from allsplits.exact.laws.episodes.vote import episode_weights, solve_episodes
from allsplits.exact.question import Question
from allsplits.exact.weighted.equal import weights_of
from allsplits.exact.weighted.tables import CountedLaw
from allsplits.exact.weighted.vote_fractions import solve_vote_fractions
from allsplits.exact.weighted.votes import CHEAPER, WeightedVote
from allsplits.orders import NeighborOrder
from allsplits.splits import EpisodeLaw

Floats = NDArray[np.float64]


def solve_weighted_episodes(question: Question) -> Solver:
    """Votes that weigh, of as many classes as have few enough sets."""
    if question.options.exact:
        return solve_vote_fractions(question)
    # The vote of one neighbour has no weights.
    alone = all(column.k == 1 for column in question.columns)
    if alone and not callable(weights_of(question).function):
        return solve_episodes(replace(question, vote="majority", weights=None))
    return _solve_class_sets(question, question.columns[0].law)


def _solve_class_sets(question: Question, law: EpisodeLaw) -> Solver:
    sets, sizes = ClassSets.of(question, law), np.array(law.class_sizes)
    own = np.maximum(sizes - (0 if law.outside else 1), 0)
    votes = [WeightedVote(question, CountedLaw(sizes, own, [train])) for train in sets.trains]
    width, n_columns = question.width, len(question.columns)

    def part(order: NeighborOrder, n_threads: int) -> Floats:
        """What rows are worth, or every class; then the doubt of each column."""
        out = np.zeros((order.n_samples, width + n_columns))
        for number, rows, some in sets.rows(order, question.codes):
            low, high = votes[number].enclosed(some, n_threads)[:, :, :, 0].swapaxes(0, 1)
            middle, doubt = sets.share * (low + high) / 2, sets.share * (high - low) / 2
            out[rows, :width] += middle.reshape(len(rows), width)
            out[rows, width:] += doubt.max(axis=1)
        return out

    def finish(values: Floats) -> Answer:
        weight = np.array([float(w) for w in episode_weights(question)])
        bound = weight @ values[:, width:] + max(vote.rounding() for vote in votes)
        return answer_from_rows(question, values[:, :width], weight, bound)

    depth = max(vote.depth for vote in votes)
    seconds = sum(vote.seconds for vote in votes) * law.n_way / question.n_classes
    total = FromRows(question, finish, width=width + n_columns)
    return Solver(depth, part, total, seconds, CHEAPER)
