"""The spread between runs by replaying drawn ones, where pairs cannot be counted.

With the order stored, a run is a mask: each tested row is walked until its k voters are met. The
score of a split averages over the orders of tied neighbours, so each run is scored twice, x and x',
with independent draws among the tied, one or several: the covariance of x and x' is the variance of
the averaged score, and without ties it is the plain variance. Its standard error is the spread of
the products (x - mean)(x' - mean') over √m, that of the standard deviation the same over twice
itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges, thread_count
from allsplits.exact.question import Question
from allsplits.exact.weighted.weights import VOTE_TOLERANCE
from allsplits.orders import NeighborOrder
from allsplits.replays._kernels_replay import replay_run
from allsplits.replays.draw import RunDrawer, random_state_of
from allsplits.replays.kernel_types import Floats, ReplayRows, ReplayVote, ReplayWork

#: Nanoseconds for a test sample and a voter of it.
_SAMPLE, _VOTER = 100.0, 10.0


class SampledSpread(NamedTuple):
    """Standard deviation of the score of a run, and the standard error of that."""

    std: float
    standard_error: float


def sampling_seconds(question: Question, n_runs: int) -> float:
    """What the replay takes on one core, roughly."""
    each = _SAMPLE + _VOTER * 2 * question.columns[0].k
    return 1e-9 * n_runs * question.n_questions * each


def replay_scores(
    order: NeighborOrder, question: Question, n_runs: int, seed: int, n_orders: int
) -> Floats:
    """The two scores of each of `n_runs` drawn runs, each over `n_orders` draws among the tied.

    Threads do not change which runs are drawn.
    """
    draw, vote = RunDrawer(question), vote_of(question, n_orders)
    rows = rows_of(order, question)
    scores = np.empty((n_runs, 2))

    def some(start: int, stop: int) -> None:
        for number in range(start, stop):
            state = random_state_of(seed, number)
            work = ReplayWork.room_for(question.n_classes, state)
            scores[number] = replay_run(rows, vote, draw(state), work)

    map_row_ranges(some, n_runs, thread_count(question.options.n_jobs), smallest=16)
    return scores


def rows_of(order: NeighborOrder, question: Question) -> ReplayRows:
    """An order as the replay sees it; samples that are not asked have empty rows."""
    weights = np.empty(0) if question.weights is None else question.weights.of(order)
    indptr = np.concatenate([np.zeros(question.asked.start, dtype=np.int64), order.indptr])
    return ReplayRows(indptr, order.flat_indices, order.tied, weights)


def new_work(question: Question, state: NDArray[np.uint64]) -> ReplayWork:
    """Work space, with the state of its random numbers."""
    return ReplayWork(np.zeros((2, max(2, question.n_classes))), np.zeros(3), state)


def spread_of(scores: Floats) -> SampledSpread:
    """From the two scores of each run."""
    n_runs = len(scores)
    away = scores - scores.mean(axis=0)
    products = away[:, 0] * away[:, 1]
    variance = float(products.sum() / (n_runs - 1))
    error = float(products.std(ddof=1) / np.sqrt(n_runs))
    if variance <= 0:
        return SampledSpread(0.0, float(np.sqrt(error)))
    std = float(np.sqrt(variance))
    return SampledSpread(std, error / (2 * std))


def vote_of(question: Question, n_orders: int = 1) -> ReplayVote:
    """How the k nearest make a prediction."""
    options, mean = question.options, "mean" in question.vote
    return ReplayVote(
        k=question.columns[0].k,
        n_orders=n_orders,
        average=options.average,
        share=options.share,
        ranked=question.vote == "ranked",
        mean=mean,
        weighted=question.weights is not None,
        tolerance=VOTE_TOLERANCE,
        labels=question.codes,
        targets=question.targets,
    )
