"""Scores of votes: from the records of all samples to one score with its parts."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits.exact import ONLY_WINNERS, Ballots, BallotWants
from allsplits.model_selection._scoring import Scoring
from allsplits.orders import UNIT_ROUNDOFF

Floats = NDArray[np.float64]


class Scored(NamedTuple):
    """One score of ballots; the attributes are those of `Evaluation`."""

    score: float
    error_bound: float
    fraction: Fraction | None
    sample_scores: Floats
    sample_weight: Floats
    sample_fractions: tuple[Fraction | None, ...] | None


def combined_wants(scores: Iterable[Scoring]) -> BallotWants:
    """What all of these scores need to know of the votes."""
    wants = ONLY_WINNERS
    for each in scores:
        if each.measure is not None:
            wants = wants | each.measure.wants
    return wants


def score_ballots(scoring: Scoring, ballots: Ballots) -> Scored:
    """The score, and what every sample is worth in it."""
    values, weight, largest = _values(scoring, ballots)
    counted = weight != 0
    total: Any = np.sum((values * weight)[counted])
    exact = values.dtype == object and bool(counted.any())
    rounding = 0.0 if exact else (8 * (ballots.k + 2) + 64) * UNIT_ROUNDOFF
    samples = values.astype(np.float64)
    samples[ballots.weight == 0] = np.nan
    fractions = None
    if exact:
        held_out = (ballots.weight != 0).tolist()
        fractions = tuple(v if ok else None for v, ok in zip(values, held_out, strict=True))
    return Scored(
        float(total), largest * (ballots.error_bound + rounding),
        Fraction(total) if exact else None, samples, weight.astype(np.float64), fractions,
    )  # fmt: skip


def _values(scoring: Scoring, ballots: Ballots) -> tuple[Any, Any, float]:
    """(value of each sample, what it counts, the largest value)."""
    if scoring.measure is not None:
        largest = scoring.measure.largest(ballots.k, ballots.n_classes)
        return scoring.measure.values(ballots), ballots.weight, largest
    if scoring.code is not None:
        right, weight = ballots.recall
        return right, np.where(ballots.codes == scoring.code, weight, 0 * weight), 1.0
    if scoring.name == "balanced_accuracy":
        return (*ballots.balanced, 1.0)
    return ballots.right, ballots.weight, 1.0
