"""The honest interval: what another data set from the same source might have given.

A score is a weighted mean of sample scores, S = Σ wᵢ sᵢ, and each sᵢ is already averaged over the
training sets. For a stable learner the training sets hardly matter to the spread of S, and the
central limit theorem of cross-validation (Bayle, Bayle, Janson & Mackey 2020, *Cross-validation
confidence intervals for test error*, arXiv 2007.12671) holds with the plain variance of the sample
scores:

    S ± z √(Σ wᵢ² (sᵢ - S)²),

their "all-pairs" estimator, for equal weights σ̂/√n. Two cases differ in what is independent and
what is given. Scores in which classes count equally are means of class means, so sᵢ is set against
the mean of its own class. Laws of whole groups treat a group as one draw, so that deviations are
summed over a group before they are squared.

The theorem needs a loss that one training sample more or less changes by less than order 1/n in
mean square. Votes of few neighbours are less stable than that, whatever n is: a sample also moves
the scores of those it is a neighbour of, which is not in the formula: the interval is too narrow
(studies/interval_coverage.md has the figures). It also knows nothing of a k that was chosen by the
same scores. One pass over n numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from allsplits._validation import check_fraction
from allsplits.exceptions import InvalidInputError

if TYPE_CHECKING:
    from allsplits.model_selection._evaluation import Evaluation


@dataclass(frozen=True, repr=False)
class Interval:
    """A central-limit interval for sampling noise; ``low, high = interval`` unpacks it.

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
        What they are: "samples", or "groups" for laws of whole groups.
    """

    estimate: float
    low: float
    high: float
    confidence: float
    standard_error: float
    n_units: int
    unit: str

    def __iter__(self) -> Iterator[float]:
        return iter((self.low, self.high))

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __repr__(self) -> str:
        return (
            f"Interval({self.low:.4f} to {self.high:.4f}, {self.confidence:.4g} confidence, "
            f"sampling noise of {self.n_units:,} {self.unit})"
        )


def deviations(evaluation: Evaluation) -> NDArray[np.float64]:
    """What each sample moves the score away from its expectation (they sum to zero)."""
    weight = evaluation.sample_weight
    scores = np.where(weight > 0, np.nan_to_num(evaluation.sample_scores), 0.0)
    if not _classes_count_equally(evaluation):
        return weight * (scores - evaluation.score)
    codes = np.unique(evaluation.y, return_inverse=True)[1]
    totals = np.bincount(codes, weights=weight)
    means = np.bincount(codes, weights=weight * scores) / np.where(totals > 0, totals, 1.0)
    return weight * (scores - means[codes])


def _classes_count_equally(evaluation: Evaluation) -> bool:
    return evaluation.scoring == "balanced_accuracy" or evaluation.law.kind == "episodes"


def sampling_groups(evaluation: Evaluation) -> NDArray[Any] | None:
    """The group of each sample where whole groups are drawn, else None."""
    groups: NDArray[Any] | None = getattr(evaluation.law, "groups", None)
    return groups


def score_limits(scoring: str) -> tuple[float, float]:
    """The least and the largest value that a score can have."""
    return (-np.inf, 0.0) if scoring.startswith("neg_") else (0.0, 1.0)


def normal_interval(
    estimate: float,
    moved: NDArray[np.float64],
    groups: NDArray[Any] | None,
    *,
    confidence: Any,
    error_bound: float,
    limits: tuple[float, float],
) -> Interval:
    """The interval around an estimate that each sample moved by so much.

    It is widened by `error_bound`, so that what the computation left out is covered as well.
    """
    level = check_fraction("confidence", confidence)
    units = moved if groups is None else np.bincount(groups, weights=moved)
    unit = "samples" if groups is None else "groups"
    if len(units) < 2:
        raise InvalidInputError(f"an interval needs at least 2 {unit}; got {len(units)}")
    standard_error = float(np.sqrt(np.sum(units**2)))
    reach = float(norm.ppf(0.5 + level / 2)) * standard_error + error_bound
    return Interval(
        estimate=estimate,
        low=max(limits[0], estimate - reach),
        high=min(limits[1], estimate + reach),
        confidence=level,
        standard_error=standard_error,
        n_units=len(units),
        unit=unit,
    )
