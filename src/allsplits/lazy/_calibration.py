"""Prediction intervals: as wide as leave-one-out predictions of the training samples were off.

Every training sample i is predicted from the others, by the same search and the same choice among
local models as a query. Of its residual and of the std of its models,

    score_i = |y_i - ŷ_i| / (std_i + floor),        interval of a query: ŷ ± q (std + floor)

with q the ⌈confidence (n + 1)⌉-th smallest of the n scores. A sample that is left out and a query
come about in the same way, but for one training sample more, so that the interval holds the share
of new targets that it says, on average over queries like the training samples. This is the
jackknife of conformal prediction (Barber, Candès, Ramdas & Tibshirani 2021, *Predictive inference
with the jackknife+*) with scores normalised as Papadopoulos, Vovk & Gammerman (2011, *Regression
conformal prediction with nearest neighbours*) do for nearest neighbours.

The floor is a share of the mean residual, because a small std says less than it seems to. A std of
0, where a few neighbours happen to agree, says nothing: the mean std takes its place. Cost: n
predictions, once.
"""

import math
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from allsplits._progress import progress_bar
from allsplits._validation import check_fraction
from allsplits.exceptions import InvalidInputError
from allsplits.lazy._answers import Near, answer_queries, make_answers
from allsplits.lazy._paths import LocalData
from allsplits.lazy._plan import Plan
from allsplits.orders import NeighborOrder, Reference, iter_parts

Array = NDArray[np.float64]

#: The floor in mean absolute residuals (chosen in studies/lazy_intervals.py).
FLOOR = 0.25


class Calibration(NamedTuple):
    """Scores of all training samples, sorted, array (rank, output), and what scales are made of.

    floor and typical_std are arrays (output).
    """

    scores: Array
    floor: Array
    typical_std: Array

    @classmethod
    def of(cls, residuals: Array, std: Array, share: float = FLOOR) -> Self:
        """From arrays (sample, output), with a floor of this share of the mean residual."""
        sizes = np.abs(residuals)
        floor, typical_std = share * _column_means(sizes), _column_means(std)
        scale = _scale(std, floor, typical_std)
        # Without any residual there is no floor either, and every score is 0.
        scores = np.divide(sizes, scale, out=np.zeros_like(sizes), where=scale > 0)
        return cls(np.sort(scores, axis=0), floor, typical_std)

    def half_width(self, std: Array, rank: int) -> Array:
        """How far the interval of each query reaches, array (query, output)."""
        width: Array = self.scores[rank - 1] * _scale(std, self.floor, self.typical_std)
        return width


def _scale(std: Array, floor: Array, typical_std: Array) -> Array:
    scale: Array = np.where(std > 0, std, typical_std) + floor
    return scale


def _column_means(values: Array) -> Array:
    """Means of (sample, output), each summed alone: what is beside it does not change a bit."""
    return np.array([column.mean() for column in np.ascontiguousarray(values.T)])


def score_rank(confidence: float, n_samples: int) -> int:
    """Which of the sorted scores has this confidence, counted from 1; raises if none has."""
    check_fraction("confidence", confidence)
    # A product that is an integer but for its rounding is that integer.
    rank = math.ceil(round(confidence * (n_samples + 1), 9))
    if rank > n_samples:
        raise InvalidInputError(
            f"confidence must be at most {n_samples} / {n_samples + 1} = "
            f"{n_samples / (n_samples + 1):.4g} with {n_samples} training samples; "
            f"got {confidence!r}"
        )
    return rank


def leave_one_out(
    data: LocalData, plan: Plan, search: Reference, *, progress: bool = False
) -> tuple[Array, Array]:
    """Residuals and stds of all training samples, each predicted from the others."""
    n_samples, n_outputs = data.targets.shape
    if n_samples < 3:
        raise InvalidInputError(
            "X must have at least 3 samples for intervals, so that two are left when one is "
            f"predicted; got {n_samples}"
        )
    left = plan.without_one(n_samples)

    def predict_block(order: NeighborOrder, n_threads: int) -> tuple[Array, Array]:
        rows = slice(order.first_row, order.first_row + order.n_samples)
        answers = make_answers(order.n_samples, left.n_combined, 1, n_outputs)
        cuts = order.cuts()
        near = Near(
            data.points[rows],
            order.flat_indices[order.rectangle()],
            cuts if cuts.any() else None,
        )
        answer_queries(data, left, near, n_threads, answers)
        return data.targets[rows] - answers.predictions, answers.std

    blocks = iter_parts(
        data.points, search.metric, left.depth, predict_block, n_jobs=search.n_threads
    )
    found: list[tuple[Array, Array]] = []
    with progress_bar(progress, "leave-one-out", n_samples) as step:
        for block in blocks:
            found.extend(block.parts)
            step(block.n_rows)
    residuals, std = (np.concatenate(column) for column in zip(*found, strict=True))
    return residuals, std
