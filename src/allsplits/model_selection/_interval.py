"""The honest interval: what another data set from the same source might have given.

The variance is that of `_variance`. Few samples may make up most of it (a rare class), and large
neighbourhoods are few, so the quantile is Student's with the degrees of freedom found there.

A score between 0 and 1 gets Wilson's interval, with as many independent draws as its variance
stands for; but the variance is not taken to be less than that of one sample, or of independent
draws if that is less still. So the interval stays within 0 and 1, and has a width where every
sample is always right. A score of errors ends at 0 and has no other end: it gets the same interval
of a scale with one end, on which a variance grows with the mean. The larger part of it lies on the
side of large errors, which the samples at hand may happen not to have. The difference of two
scores from 0 to 1 has at least the variance of one sample for either side, so that two that agree
on all samples have a width as well. How often all of this covers is in
studies/interval_coverage.md.

Laws and votes that have no jackknife (episodes) have sample scores alone, and say so. None of them
knows of a k that was chosen by the same scores.

With a fixed test set the questions are independent draws that teach nobody, so sample scores are
the whole truth about *them*: the interval holds what other test samples might have given, the
references being what they are. Of other references it knows nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from scipy.special import stdtrit

from allsplits._validation import check_choice, check_fraction
from allsplits.exceptions import InvalidInputError, UnsupportedError
from allsplits.model_selection._moves import Moves
from allsplits.model_selection._scoring import score_limits
from allsplits.model_selection._variance import METHODS, Variance

#: A share that is nearer to an end of its scale is at that end.
_ROUNDING = 1e-12


@dataclass(frozen=True, repr=False)
class Interval:
    """What another data set might have given; ``low, high = interval`` unpacks it.

    Attributes
    ----------
    estimate : float
        The score, or the difference of two.
    low, high : float
        The ends, within what the score can be.
    confidence : float
        How often such intervals hold the expected score, over data sets from the same source, as
        the number of samples grows.
    standard_error : float
        Estimated spread of the score over such data sets.
    n_units : int
        Number of independent draws it is estimated from.
    unit : str
        What they are: "samples", "groups" for laws of whole groups, or "test samples" of a fixed
        test set, the references being given.
    method : str
        How the variance was estimated: "combined", "jackknife" or "sample scores"; the last where
        law and vote have no jackknife.
    """

    estimate: float
    low: float
    high: float
    confidence: float
    standard_error: float
    n_units: int
    unit: str
    method: str

    def __iter__(self) -> Iterator[float]:
        return iter((self.low, self.high))

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def note(self) -> str:
        """What a sentence adds about the method: nothing if it is the usual one."""
        return "" if self.method == "combined" else f", by {self.method}"

    def __repr__(self) -> str:
        return (
            f"Interval({self.low:.4f} to {self.high:.4f}, {self.confidence:.4g} confidence, "
            f"sampling noise of {self.n_units:,} {self.unit}{self.note})"
        )


def make_interval(
    estimate: float, moves: Moves, *, confidence: Any, method: Any, error_bound: float, scoring: str
) -> Interval:
    """The interval around a score, or a difference of scores ("" as its name).

    It is widened by `error_bound`, so that what the computation left out is covered as well.
    """
    level = check_fraction("confidence", confidence)
    check_choice("method", method, METHODS)
    n_units = len(moves.sample_scores)
    if n_units < 3:
        raise InvalidInputError(f"an interval needs at least 3 {moves.unit}; got {n_units}")
    if method == "jackknife" and moves.jackknife is None:
        raise UnsupportedError(
            f"method='jackknife' takes out each of the {moves.unit}, which cannot be done here: "
            f"{moves.why}. method='combined' takes the sample scores instead, and says so"
        )
    variance = moves.variance(method)
    low, high = score_limits(scoring)
    ends = interval_ends(
        estimate, variance, level, scoring=scoring, n_units=n_units, one_unit=moves.one_unit
    )
    return Interval(
        estimate=estimate,
        low=max(low, ends[0] - error_bound),
        high=min(high, ends[1] + error_bound),
        confidence=level,
        standard_error=sqrt(variance.value),
        n_units=n_units,
        unit=moves.unit,
        method="sample scores" if moves.jackknife is None else method,
    )


def interval_ends(
    estimate: float, variance: Variance, confidence: float, *, scoring: str, n_units: int,
    one_unit: float,
) -> tuple[float, float]:  # fmt: skip
    """Both ends; `one_unit` is the variance of one of the units, wholly right or wrong."""
    quantile = float(stdtrit(variance.freedom, 0.5 + confidence / 2))
    limits = score_limits(scoring)
    if limits == (0.0, 1.0):
        p = min(max(estimate, 0.0), 1.0)
        least = min(p * (1 - p) / n_units, one_unit)
        return _wilson(p, max(variance.value, least), quantile, n_units)
    if limits == (-np.inf, 0.0) and estimate < 0:
        # Wilson's interval of a small share, in units in which it is one.
        extra = quantile**2 * variance.value / -estimate
        middle, reach = estimate - extra / 2, sqrt(extra * (extra / 4 - estimate))
        return middle - reach, middle + reach
    reach = quantile * sqrt(variance.value)
    return estimate - reach, estimate + reach


def _wilson(p: float, variance: float, quantile: float, n_units: int) -> tuple[float, float]:
    """Wilson's interval of a share with this variance; `n_units` draws at the ends of the scale."""
    draws = p * (1 - p) / variance if p * (1 - p) > _ROUNDING else float(n_units)
    extra = quantile**2 / draws
    middle = (p + extra / 2) / (1 + extra)
    reach = sqrt(extra * (p * (1 - p) + extra / 4)) / (1 + extra)
    return middle - reach, middle + reach
