"""The spread between runs by replaying drawn ones, where pairs cannot be counted.

With the order stored, a run is a mask: each tested row is walked until its k voters are met, and
those tied for the last places are averaged over all choices (`_kernels_choices`). The variance of
the scores has the standard error of the mean of their squared deviations, and the standard
deviation the same over twice itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from allsplits._threads import map_row_ranges, thread_count
from allsplits.exact.pairs.result import GivenSplit
from allsplits.exact.question import Question
from allsplits.exact.weighted.weights import VOTE_TOLERANCE
from allsplits.orders import NeighborOrder
from allsplits.replays._kernels_choices import value_samples
from allsplits.replays.draw import RunDrawer, random_state_of
from allsplits.replays.kernel_types import (
    ChoiceWork,
    Floats,
    ReplayRows,
    ReplayRun,
    ReplayVote,
    ReplayWork,
)

#: Nanoseconds for a test sample and a voter of it.
_SAMPLE, _VOTER = 100.0, 10.0
#: Scores of runs that differ by less, in units of the largest, are equal but for rounding.
_ROUNDING = 1e-12


class SampledSpread(NamedTuple):
    """Standard deviation of the score of a run, and the standard error of that."""

    std: float
    standard_error: float


def sampling_seconds(question: Question, n_runs: int) -> float:
    """What the replay takes on one core, roughly."""
    each = _SAMPLE + _VOTER * 2 * question.columns[0].k
    return 1e-9 * n_runs * question.n_questions * each


def replay_scores(order: NeighborOrder, question: Question, n_runs: int, seed: int) -> Floats:
    """The scores of `n_runs` drawn runs, tied neighbours averaged.

    Threads do not change which runs are drawn.
    """
    draw = RunDrawer(question)
    return _scores(order, question, n_runs, lambda number: draw(random_state_of(seed, number)))


def scores_of_splits(
    order: NeighborOrder, question: Question, splits: Sequence[GivenSplit]
) -> Floats:
    """The scores of given splits, on a stored order."""
    draw = RunDrawer(question)
    return _scores(order, question, len(splits), lambda number: draw.given(*splits[number]))


def _scores(
    order: NeighborOrder, question: Question, n_runs: int, run_of: Callable[[int], ReplayRun]
) -> Floats:
    vote, rows = vote_of(question), rows_of(order, question)
    scores = np.empty(n_runs)

    def some(start: int, stop: int) -> None:
        state = np.zeros(1, dtype=np.uint64)
        work, room = ReplayWork.room_for(question.n_classes, state), choice_work(question)
        for number in range(start, stop):
            run = run_of(number)
            values = np.empty(len(run.folds))
            scores[number] = value_samples(rows, vote, run, work, room, values)

    map_row_ranges(some, n_runs, thread_count(question.options.n_jobs), smallest=16)
    return scores


def rows_of(order: NeighborOrder, question: Question) -> ReplayRows:
    """An order as the replay sees it; samples that are not asked have empty rows."""
    weights = np.empty(0) if question.weights is None else question.weights.of(order)
    indptr = np.concatenate([np.zeros(question.asked.start, dtype=np.int64), order.indptr])
    return ReplayRows(indptr, order.flat_indices, order.tied, weights)


def choice_work(question: Question) -> ChoiceWork:
    """Room for averages over choices among the tied."""
    share = question.options.share and "mean" not in question.vote
    return ChoiceWork.room_for(question.columns[0].k, max(2, question.n_classes), share=share)


def spread_of(scores: Floats) -> SampledSpread:
    """From the scores of runs."""
    n_runs = len(scores)
    squares = (scores - scores.mean()) ** 2
    variance = float(squares.sum() / (n_runs - 1))
    if variance <= (_ROUNDING * float(np.abs(scores).max())) ** 2:
        return SampledSpread(0.0, 0.0)
    std = float(np.sqrt(variance))
    return SampledSpread(std, float(squares.std(ddof=1) / np.sqrt(n_runs)) / (2 * std))


def vote_of(question: Question) -> ReplayVote:
    """How the k nearest make a prediction."""
    options, mean = question.options, "mean" in question.vote
    return ReplayVote(
        k=question.columns[0].k,
        average=options.average,
        share=options.share,
        ranked=question.vote == "ranked",
        mean=mean,
        weighted=question.weights is not None,
        tolerance=VOTE_TOLERANCE,
        labels=question.codes,
        targets=question.targets,
    )
