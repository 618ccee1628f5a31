"""The spread between runs by replaying drawn ones, where pairs cannot be counted.

With the order stored, a run is a mask: each tested row is walked until its k voters are met. The
score of a split averages over the orders of tied neighbours, so each run is scored twice, x and x',
with independent draws among the tied: the covariance of x and x' is the variance of the averaged
score, and without ties it is the plain variance. Its standard error is the spread of the products
(x - mean)(x' - mean') over √m, that of the standard deviation the same over twice itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from allsplits._threads import map_row_ranges
from allsplits.exact.pairs._kernels_replay import replay_run
from allsplits.exact.pairs.draw import RunDrawer
from allsplits.exact.pairs.kernel_types import Floats, ReplayRows, ReplayVote, ReplayWork
from allsplits.exact.question import Question
from allsplits.exact.weighted.weights import VOTE_TOLERANCE
from allsplits.orders import NeighborOrder

#: Nanoseconds for a test sample and a voter of it.
_SAMPLE, _VOTER = 100.0, 10.0


class SampledSpread(NamedTuple):
    """Standard deviation of the score of a run, and the standard error of that."""

    std: float
    standard_error: float


def sampling_seconds(question: Question, n_runs: int) -> float:
    """What the replay takes on one core, roughly."""
    each = _SAMPLE + _VOTER * 2 * question.columns[0].k
    return 1e-9 * n_runs * question.n_samples * each


def sample_spread(
    order: NeighborOrder, question: Question, n_runs: int, seed: int, n_threads: int
) -> SampledSpread:
    """The spread between `n_runs` drawn runs. Threads do not change which runs are drawn."""
    draw, vote = RunDrawer(question), _vote(question)
    weights = np.empty(0) if question.weights is None else question.weights.of(order)
    rows = ReplayRows(order.indptr, order.flat_indices, order.tied, weights)
    scores = np.empty((n_runs, 2))
    width = max(2, question.n_classes)

    def some(start: int, stop: int) -> None:
        for number in range(start, stop):
            rng = np.random.default_rng((seed, number))
            state = rng.integers(1 << 63, size=1, dtype=np.uint64)
            work = ReplayWork(np.zeros((2, width)), np.zeros(3), state)
            scores[number] = replay_run(rows, vote, draw(rng), work)

    map_row_ranges(some, n_runs, n_threads, smallest=16)
    return spread_of(scores)


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


def _vote(question: Question) -> ReplayVote:
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
