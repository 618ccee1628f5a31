"""The honest interval: what another data set from the same source might have given.

Two variances, one safe and one tight, and what is made of them:

**The jackknife.** The score with each sample taken out of the data, as a question *and* as a
neighbour, exactly and for all samples at once (`exact/jackknife.py`), S₍₁₎ … S₍ₙ₎:

    (n-1)/n Σ (S₍ⱼ₎ - mean)².

Its expectation is never below the variance of the score of n - 1 samples (Efron & Stein 1981): what
several samples do together is counted once for each of them. So it is safe, and too wide for
votes of few neighbours. Laws of whole groups take out whole groups.

**Sample scores.** A score is a weighted mean of sample scores, S = Σ wᵢ sᵢ, with variance

    Σ wᵢ² (sᵢ - S)²

for a stable learner (Bayle, Bayle, Janson & Mackey 2020, *Cross-validation confidence intervals for
test error*, arXiv 2007.12671). Where classes count equally sᵢ is set against the mean of its class;
deviations of a group are summed. It does not see that a sample also moves the scores of those it
is a neighbour of, and is too narrow for few neighbours.

**Combined**, the default: two fifths of the first and three fifths of the second. The share, and
what follows, were chosen by coverage (studies/interval_coverage.md). Few samples may make up most
of the variance (a rare class), so the quantile is Student's with Satterthwaite's degrees of
freedom. A score between 0 and 1 gets Wilson's interval, with as many independent draws as its
variance stands for and no more than there are samples: it stays within 0 and 1, and has a width
where every sample is always right. The difference of two such scores has at least the variance of
one sample for either side, so that two that agree on all samples have a width as well.

Laws and votes that have no jackknife (episodes) have sample scores alone, and say so. None of them
knows of a k that was chosen by the same scores.

With a fixed test set the questions are independent draws that teach nobody, so sample scores are
the whole truth about *them*: the interval holds what other test samples might have given, the
references being what they are. Of other references it knows nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from allsplits._frames import DataFrame, make_frame
from allsplits._validation import check_choice, check_fraction
from allsplits.exceptions import InvalidInputError

if TYPE_CHECKING:
    from allsplits.splits import Law

Floats = NDArray[np.float64]


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

    def __repr__(self) -> str:
        note = "" if self.method == "combined" else f", by {self.method}"
        return (
            f"Interval({self.low:.4f} to {self.high:.4f}, {self.confidence:.4g} confidence, "
            f"sampling noise of {self.n_units:,} {self.unit}{note})"
        )


#: What is less is rounding.
_ROUNDING = 1e-12
#: How the variance is estimated.
METHODS = ("combined", "jackknife", "sample scores")
#: The jackknife's part of the combined variance; more where many are compared at once, and the
#: best of them is chosen by the same scores (studies/compare_coverage.md).
JACKKNIFE, JACKKNIFE_OF_MANY = 0.4, 2 / 3


class Moves(NamedTuple):
    """What each unit moves a score by; the squares of each kind add up to a variance.

    Attributes
    ----------
    jackknife : ndarray of shape (units,) or None
        None where law and vote have no jackknife.
    sample_scores : ndarray of shape (units,)
    unit : str
        "samples", "groups" or "test samples".
    weights : ndarray of shape (units,)
        What each unit counts in a score from 0 to 1; all 0 for a score without such a scale.
    least_variance : float
        Of a difference: the variance is not less. 0 for a score.
    jackknife_share : float
        The jackknife's part of the combined variance.
    """

    jackknife: Floats | None
    sample_scores: Floats
    unit: str
    weights: Floats
    least_variance: float = 0.0
    jackknife_share: float = JACKKNIFE

    def less(self, other: Moves) -> Moves:
        """The moves of a difference.

        Its variance is at least that of two units of middling weight, one for each side: where two
        models agree on all samples that happen to be there, others may yet part them.
        """
        both = self.jackknife is not None and other.jackknife is not None
        return Moves(
            self.jackknife - other.jackknife if both else None,  # type: ignore[operator]
            self.sample_scores - other.sample_scores,
            self.unit,
            self.weights,
            2 * _sum_of_squares(self.weights) / len(self.weights),
        )

    def spread(self, method: str) -> Spread:
        """Variance and degrees of freedom by a method, or by sample scores if there is no other."""
        found = self._own_spread(method)
        return found._replace(variance=max(found.variance, self.least_variance))

    def _own_spread(self, method: str) -> Spread:
        if self.jackknife is None or method == "sample scores":
            return Spread(_sum_of_squares(self.sample_scores), _freedom(self.sample_scores))
        safe = _sum_of_squares(self.jackknife)
        freedom = _freedom(self.jackknife)
        if method == "jackknife":
            return Spread(safe, freedom)
        tight = _sum_of_squares(self.sample_scores)
        share = self.jackknife_share
        return Spread(share * safe + (1 - share) * tight, freedom)


class Spread(NamedTuple):
    """A variance, and how many degrees of freedom its estimate has."""

    variance: float
    freedom: float


def _sum_of_squares(moves: Floats) -> float:
    return float(np.sum(moves**2))


def _freedom(moves: Floats) -> float:
    """Satterthwaite's degrees of freedom of Σ moves²: fewer if few units make up most of it."""
    variance = _sum_of_squares(moves)
    excess = float(np.sum(moves**4)) - variance**2 / len(moves)
    if variance < _ROUNDING**2 or excess <= _ROUNDING * variance**2 / len(moves):
        return float(len(moves) - 1)
    return max(2.0, 2 * variance**2 / excess)


def jackknife_moves(without_one: Floats) -> Floats:
    """From the scores without each unit."""
    n = len(without_one)
    moves: Floats = sqrt((n - 1) / n) * (without_one.mean() - without_one)
    return moves


def jackknife_variance(without_one: Sequence[Fraction]) -> Fraction:
    """The variance from the scores without each unit, in Fractions."""
    n = len(without_one)
    mean = sum(without_one, Fraction(0)) / n
    return Fraction(n - 1, n) * sum(((one - mean) ** 2 for one in without_one), Fraction(0))


class SampleScores(NamedTuple):
    """The scores of all samples in one column, and how they make up the score.

    Attributes
    ----------
    score : float
    scores, weight : ndarray of shape (n_samples,)
        The score of each sample, and what it counts.
    y : ndarray of shape (n_samples,) or None
        The labels, if classes count equally.
    groups : ndarray of shape (n_samples,) or None
        The group of each sample, where whole groups are drawn.
    has_scale : bool
        Whether the score is from 0 to 1.
    outside : bool
        Whether the questions are a fixed test set.
    """

    score: float
    scores: Floats
    weight: Floats
    y: NDArray[Any] | None
    groups: NDArray[Any] | None
    has_scale: bool
    outside: bool = False

    @classmethod
    def of(
        cls, score: float, scores: Floats, weight: Floats, *, y: NDArray[Any], law: Law,
        scoring: str,
    ) -> SampleScores:  # fmt: skip
        """As the law and the score demand."""
        classes_count_equally = scoring == "balanced_accuracy" or law.kind == "episodes"
        groups = None if law.outside else getattr(law, "groups", None)
        has_scale = bool(np.isfinite(score_limits(scoring)[0]))
        labels = y if classes_count_equally else None
        return cls(score, scores, weight, labels, groups, has_scale, law.outside)

    def moves(self, without_one: Floats | None) -> Moves:
        """What each unit moves the score by; `without_one` are the scores without each unit."""
        deviations = self._deviations()
        return Moves(
            None if without_one is None else jackknife_moves(without_one),
            self._by_unit(deviations),
            self._unit,
            # Of a score without a scale from 0 to 1 nothing is known beforehand.
            self._by_unit(self.weight if self.has_scale else np.zeros_like(self.weight)),
        )

    @property
    def _unit(self) -> str:
        if self.groups is not None:
            return "groups"
        return "test samples" if self.outside else "samples"

    def _by_unit(self, values: Floats) -> Floats:
        """Sums over groups, where whole groups are drawn."""
        if self.groups is None:
            return values
        return np.bincount(self.groups, weights=values).astype(np.float64)

    def _deviations(self) -> Floats:
        """What each sample moves the score away from its expectation (they sum to zero)."""
        scores = np.where(self.weight > 0, np.nan_to_num(self.scores), 0.0)
        if self.y is None:
            return self.weight * (scores - self.score)
        codes = np.unique(self.y, return_inverse=True)[1]
        totals = np.bincount(codes, weights=self.weight)
        sums = np.bincount(codes, weights=self.weight * scores)
        return self.weight * (scores - (sums / np.where(totals > 0, totals, 1.0))[codes])


def score_limits(scoring: str) -> tuple[float, float]:
    """The least and the largest value that a score can have; "" is a difference of scores."""
    if scoring == "neg_cost":
        return -np.inf, np.inf
    if scoring.startswith("neg_"):
        return -np.inf, 0.0
    return (0.0, 1.0) if scoring else (-np.inf, np.inf)


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
    spread = moves.spread(method)
    quantile = float(student.ppf(0.5 + level / 2, spread.freedom))
    low, high = score_limits(scoring)
    if (low, high) == (0.0, 1.0):
        ends = _wilson(min(max(estimate, 0.0), 1.0), spread.variance, quantile, n_units)
    else:
        reach = quantile * sqrt(spread.variance)
        ends = estimate - reach, estimate + reach
    return Interval(
        estimate=estimate,
        low=max(low, ends[0] - error_bound),
        high=min(high, ends[1] + error_bound),
        confidence=level,
        standard_error=sqrt(spread.variance),
        n_units=n_units,
        unit=moves.unit,
        method="sample scores" if moves.jackknife is None else method,
    )


def _wilson(p: float, variance: float, quantile: float, n_units: int) -> tuple[float, float]:
    """Wilson's interval of a share with this variance, for at most `n_units` draws."""
    draws = float(n_units)
    if variance * n_units > p * (1 - p) > _ROUNDING:
        draws = p * (1 - p) / variance
    extra = quantile**2 / draws
    middle = (p + extra / 2) / (1 + extra)
    reach = sqrt(extra * (p * (1 - p) + extra / 4)) / (1 + extra)
    return middle - reach, middle + reach


@dataclass(frozen=True, eq=False, repr=False)
class Band:
    """Intervals along a curve, each on its own; ``low, high = band`` unpacks it.

    Attributes
    ----------
    parameter : str
        What varies along the curve.
    x : ndarray
        Its values.
    intervals : tuple of Interval
        One for each value. They hold together less often than each of them does.
    """

    parameter: str
    x: NDArray[Any]
    intervals: tuple[Interval, ...]

    @property
    def low(self) -> Floats:
        """Lower ends."""
        return np.array([one.low for one in self.intervals])

    @property
    def high(self) -> Floats:
        """Upper ends."""
        return np.array([one.high for one in self.intervals])

    @property
    def standard_errors(self) -> Floats:
        """Estimated spread of each score over data sets from the same source."""
        return np.array([one.standard_error for one in self.intervals])

    @property
    def confidence(self) -> float:
        """How often each interval holds the expected score."""
        return self.intervals[0].confidence

    @property
    def method(self) -> str:
        """How the variance was estimated; the plainest, where methods differ along the curve."""
        return max((one.method for one in self.intervals), key=METHODS.index)

    def frame(self, backend: str | None = None) -> DataFrame:
        """One row per value, as a pandas or polars data frame."""
        columns = {
            self.parameter: self.x,
            "score": [one.estimate for one in self.intervals],
            "low": self.low,
            "high": self.high,
            "standard_error": self.standard_errors,
        }
        return make_frame(columns, backend)

    def __iter__(self) -> Iterator[Floats]:
        return iter((self.low, self.high))

    def __repr__(self) -> str:
        note = "" if self.method == "combined" else f", by {self.method}"
        one, widths = self.intervals[0], self.high - self.low
        return (
            f"Band({len(self.x)} intervals of width {widths.min():.4f} to {widths.max():.4f}, "
            f"{one.confidence:.4g} confidence each, sampling noise of {one.n_units:,} "
            f"{one.unit}{note})"
        )
