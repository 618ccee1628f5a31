"""Few-shot episodes: the average over every episode.

One nearest neighbour: O(N · C · n_way) per query for the chance of every class, C classes; only the
items of the query's own class matter if just the score is wanted. More neighbours and recall@R go
through every set of classes that an episode may have, each with the votes of class counts: the sets
must be few.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact.answer import Answer, FromRows, Solver, answer_from_rows, in_fractions
from allsplits.exact.effort import episode_seconds
from allsplits.exact.kernel_types import Rows, Rule
from allsplits.exact.laws.class_counts.vote import ClassCountsVote
from allsplits.exact.laws.episodes._kernels import EpisodeTables, score_episodes
from allsplits.exact.laws.episodes.class_sets import ClassSets
from allsplits.exact.laws.episodes.fractions import every_class_set
from allsplits.exact.question import Question, neighbor_labels, own_rows
from allsplits.exact.ties import tie_rules
from allsplits.orders import UNIT_ROUNDOFF, NeighborOrder
from allsplits.splits import EpisodeLaw

Floats = NDArray[np.float64]


def episode_weights(question: Question) -> list[Fraction]:
    """The classes of an episode count equally, so does every class in the end."""
    sizes = question.question_sizes
    return [Fraction(1, question.n_classes * int(sizes[y])) for y in question.own_codes]


class _EpisodeVote:
    """P(right) of the rows of a block, or P(every class) if values of samples are wanted."""

    def __init__(self, question: Question, law: EpisodeLaw) -> None:
        self.codes, self.width = question.codes, question.width
        self.rule = Rule(question.want_samples, question.options.average, question.options.share)
        self.tie_rules = tie_rules(1)
        self.tables = _episode_tables(law)

    def __call__(self, order: NeighborOrder, n_threads: int) -> Floats:
        labels, own = neighbor_labels(order, self.codes), self.codes[own_rows(order)]
        rows = Rows(order.indptr, labels, order.tied, own)
        out = np.zeros((order.n_samples, self.width))
        rules = self.tie_rules if self.rule.average and order.tied.any() else None

        def score(start: int, stop: int) -> None:
            score_episodes(rows, start, stop, self.tables, self.rule, rules, out)

        map_row_ranges(score, order.n_samples, n_threads)
        return out


def _episode_tables(law: EpisodeLaw) -> EpisodeTables:
    """By ratios, for all items of each class."""
    sizes, k_shot = np.array(law.class_sizes), law.k_shot
    pools = np.stack([sizes, sizes - (0 if law.outside else 1)])
    ends = np.cumsum(pools + 1)
    silent, first = np.empty(ends[-1]), np.empty(ends[-1])
    for pool, end in zip(pools.ravel().tolist(), ends.tolist(), strict=True):
        left = np.arange(pool, 0, -1)
        here = slice(end - pool - 1, end)
        silent[here] = np.cumprod(np.append(1.0, np.maximum(left - k_shot, 0) / left))
        first[here] = np.append(silent[here][:-1] * k_shot / left, 0.0)
    starts = (ends - pools.ravel() - 1).reshape(pools.shape)
    return EpisodeTables(law.n_way, k_shot, pools, starts, silent, first)


def solve_episodes(question: Question) -> Solver:
    """Equal votes, or recall@R, over all episodes."""
    law: EpisodeLaw = question.columns[0].law
    nearest = question.vote == "majority" and all(column.k == 1 for column in question.columns)
    if question.options.exact:
        return in_fractions(
            question,
            every_class_set(question, law),
            question.n_candidates,
            episode_weights(question),
        )
    return _solve_nearest(question, law) if nearest else _solve_class_sets(question, law)


def _solve_nearest(question: Question, law: EpisodeLaw) -> Solver:
    """1-NN: all sets of classes at once."""
    vote = _EpisodeVote(question, law)

    def finish(values: Floats) -> Answer:
        weight = np.array([float(w) for w in episode_weights(question)])
        rounding = (
            8 * question.n_samples + 4 * question.n_classes * law.n_way + 64
        ) * UNIT_ROUNDOFF
        return answer_from_rows(question, values, weight, rounding)

    depth = question.n_candidates
    seconds = episode_seconds(question.n_questions, depth, question.n_classes, law.n_way)
    return Solver(depth, vote, FromRows(question, finish), seconds)


def _solve_class_sets(question: Question, law: EpisodeLaw) -> Solver:
    """The mean over the sets of classes that have the query's own, each with its class counts."""
    sets = ClassSets.of(question, law)
    vote = ClassCountsVote(question, sets.trains)
    shares = sets.there * sets.share

    def part(order: NeighborOrder, n_threads: int) -> Floats:
        own = question.codes[own_rows(order)]
        values = vote.values(order, n_threads)
        mean: Floats = np.einsum("ipc,pi->ic", values, shares[:, own])
        return mean

    def finish(values: Floats) -> Answer:
        weight = np.array([float(w) for w in episode_weights(question)])
        bound = 1.25 * question.options.tol + vote.rounding + len(sets.trains) * UNIT_ROUNDOFF
        return answer_from_rows(question, values, weight, bound)

    cheaper = "fewer classes, fewer neighbours or fewer samples"
    return Solver(vote.depth, part, FromRows(question, finish), vote.seconds(), cheaper)
