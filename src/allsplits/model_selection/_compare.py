"""`compare`: the paired difference of two evaluations on the same samples.

Two metrics, two embeddings or two k are judged on the same rows, so what is hard for one is mostly
hard for the other, and the difference is far better known than either score. Each sample moves the
difference by what it moves the first score less what it moves the second; the interval is that of
`Evaluation.interval`, from those.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allsplits._frames import DataFrame, make_frame
from allsplits._validation import check_fraction, shown
from allsplits.exceptions import InvalidInputError, InvalidTypeError
from allsplits.model_selection._evaluation import Evaluation
from allsplits.model_selection._interval import (
    Interval,
    Moves,
    make_interval,
    sample_score_moves,
    sampling_groups,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The difference of two evaluations, first less second.

    Attributes
    ----------
    difference : float
        Score of the first less score of the second, exact over all splits.
    interval : Interval
        Its interval: the sampling noise of this data set.
    error_bound : float
        The difference is off by no more than this.
    first, second : Evaluation
        What was compared.
    sample_differences : ndarray of shape (n_samples,)
        The difference of the sample scores (NaN where a law never holds the sample out).
    """

    difference: float
    interval: Interval
    error_bound: float
    first: Evaluation
    second: Evaluation
    sample_differences: NDArray[np.float64]

    @property
    def decided(self) -> bool:
        """Whether the interval leaves out zero."""
        return 0.0 not in self.interval

    @property
    def n_better(self) -> int:
        """Number of samples on which the first is better."""
        return int(np.sum(self.sample_differences > self.error_bound))

    @property
    def n_worse(self) -> int:
        """Number of samples on which the second is better."""
        return int(np.sum(self.sample_differences < -self.error_bound))

    def frame(self, backend: str | None = None) -> DataFrame:
        """One row per sample, with its name where it has one (see `Evaluation.frame`)."""
        columns = {
            "label": self.first.y,
            "first": self.first.sample_scores,
            "second": self.second.sample_scores,
            "difference": self.sample_differences,
        }
        names = self.first.row_names
        return make_frame(columns, backend, self.second.row_names if names is None else names)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw how the difference adds up: what the first gains, what it loses, the interval.

        The line rises over the samples that speak for the first and falls over those that speak for
        the second, and ends at the difference, which is drawn with its interval.
        """
        from allsplits.plots._comparison import draw_comparison

        return draw_comparison(self, ax)

    def __repr__(self) -> str:
        low, high = self.interval
        verdict = "decided" if self.decided else "not decided by these samples"
        return (
            f"Comparison({self.first.scoring} {self.difference:+.6f}, "
            f"{self.interval.confidence:.4g} interval {low:+.4f} to {high:+.4f}: {verdict}; "
            f"better on {self.n_better}, worse on {self.n_worse} of "
            f"{len(self.sample_differences)} samples)"
        )


def compare(
    evaluation_a: Evaluation, evaluation_b: Evaluation, *, confidence: float = 0.95
) -> Comparison:
    """Compare two evaluations of the same samples: first less second, with its interval.

    The difference is exact over all splits. The interval says how much it would move with another
    data set from the same source: each sample is taken out of both, as in `Evaluation.interval`. It
    does not know of choices made by the same scores: the best of many candidates looks better than
    it is.

    Parameters
    ----------
    evaluation_a, evaluation_b : Evaluation
        Results of `evaluate` on the same samples, in the same order, with the same score: two
        metrics, two embeddings, two numbers of neighbours.
    confidence : float, default=0.95
        Confidence of the interval, between 0 and 1.

    Returns
    -------
    Comparison
        The difference with its interval, and the difference of every sample.

    Examples
    --------
    >>> from allsplits import compare, evaluate
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> raw = evaluate(KNeighborsClassifier(5), X, y)
    >>> scaled = evaluate(KNeighborsClassifier(5), X / X.std(axis=0), y)
    >>> compare(scaled, raw)
    Comparison(accuracy +0.2..., 0.95 interval +0.1... to +0.3...: decided; better on ..., worse on
    ... of 178 samples)
    """
    _check_pair(evaluation_a, evaluation_b)
    difference = evaluation_a.score - evaluation_b.score
    bound = evaluation_a.error_bound + evaluation_b.error_bound
    check_fraction("confidence", confidence)
    interval = make_interval(
        difference,
        _moves_of_difference(evaluation_a, evaluation_b),
        confidence=confidence,
        method="combined",
        error_bound=bound,
        scoring="",
    )
    differences = evaluation_a.sample_scores - evaluation_b.sample_scores
    return Comparison(difference, interval, bound, evaluation_a, evaluation_b, differences)


def _moves_of_difference(a: Evaluation, b: Evaluation) -> Moves:
    """What each unit moves the difference by."""
    groups = _common_groups(a, b)
    first, second = a.moves, b.moves
    if first.unit != second.unit:
        first, second = (Moves(None, sample_score_moves(one, groups), "groups") for one in (a, b))
    return first.less(second)


def _check_pair(a: Any, b: Any) -> None:
    for name, value in (("evaluation_a", a), ("evaluation_b", b)):
        if not isinstance(value, Evaluation):
            raise InvalidTypeError(
                f"{name} must be an Evaluation, the result of evaluate(); got "
                f"{type(value).__name__}"
            )
    if a.scoring != b.scoring:
        raise InvalidInputError(
            "evaluation_a and evaluation_b must have the same scoring; got "
            f"{a.scoring!r} and {b.scoring!r}"
        )
    if len(a.y) != len(b.y) or not np.array_equal(a.y, b.y):
        raise InvalidInputError(
            "evaluation_a and evaluation_b must be of the same samples in the same order; got "
            f"{len(a.y)} and {len(b.y)} samples"
            + (" with different labels" if len(a.y) == len(b.y) else "")
        )
    if a.row_names is not None and b.row_names is not None:
        moved = np.flatnonzero(a.row_names != b.row_names)
        if len(moved) and Counter(a.row_names.tolist()) == Counter(b.row_names.tolist()):
            raise InvalidInputError(
                "evaluation_a and evaluation_b must be of the same samples in the same order; got "
                f"row_names in another order, for example {shown(a.row_names[moved[0]])} and "
                f"{shown(b.row_names[moved[0]])} in row {moved[0]}"
            )


def _common_groups(a: Evaluation, b: Evaluation) -> NDArray[Any] | None:
    """Groups of whichever law has them; two laws of groups must have the same."""
    first, second = sampling_groups(a), sampling_groups(b)
    if first is not None and second is not None and not np.array_equal(first, second):
        raise InvalidInputError(
            "evaluation_a and evaluation_b must have the same groups; got two different groupings"
        )
    return first if first is not None else second
