"""`compare`: the paired differences of evaluations on the same samples.

Metrics, embeddings or numbers of neighbours are judged on the same rows, so what is hard for one is
mostly hard for the other, and the difference is far better known than either score. Each sample
moves the difference by what it moves the first score less what it moves the second; the interval is
that of `Evaluation.interval`, from those. Two have a `Comparison`, more have `Standings`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import NDArray

from allsplits._frames import DataFrame, make_frame
from allsplits._validation import check_fraction
from allsplits.model_selection._comparable import check_comparable
from allsplits.model_selection._evaluation import Evaluation
from allsplits.model_selection._interval import Interval, make_interval
from allsplits.model_selection._standings import Standings, make_standings

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
        The difference of the sample scores (NaN where the law never holds the sample out).
    names : tuple of str
        What the two are called.
    """

    difference: float
    interval: Interval
    error_bound: float
    first: Evaluation
    second: Evaluation
    sample_differences: NDArray[np.float64]
    names: tuple[str, ...]

    @property
    def decided(self) -> bool:
        """Whether the interval leaves out zero."""
        return 0.0 not in self.interval

    @property
    def tied_for_first(self) -> tuple[str, ...]:
        """The name of the better one, or both names where the interval holds zero."""
        if not self.decided:
            return self.names
        return (self.names[0 if self.difference > 0 else 1],)

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
        named = "" if self.names == ("1", "2") else f"{self.names[0]} less {self.names[1]}: "
        return (
            f"Comparison({named}{self.first.scoring} {self.difference:+.6f}, "
            f"{self.interval.confidence:.4g} interval {low:+.4f} to {high:+.4f}"
            f"{self.interval.note}: {verdict}; "
            f"better on {self.n_better}, worse on {self.n_worse} of "
            f"{len(self.sample_differences)} samples)"
        )


@overload
def compare(
    first: Evaluation, second: Evaluation, /, *,
    names: Iterable[str] | None = None, confidence: float = 0.95,
) -> Comparison: ...  # fmt: skip
@overload
def compare(
    first: Evaluation, second: Evaluation, third: Evaluation, /, *more: Evaluation,
    names: Iterable[str] | None = None, confidence: float = 0.95,
) -> Standings: ...  # fmt: skip
@overload
def compare(
    *evaluations: Evaluation, names: Iterable[str] | None = None, confidence: float = 0.95
) -> Comparison | Standings: ...


def compare(
    *evaluations: Evaluation, names: Iterable[str] | None = None, confidence: float = 0.95
) -> Comparison | Standings:
    """Compare evaluations of the same samples: the difference of two, or who of many is first.

    Differences are exact over all splits. Intervals say how much they would move with another data
    set from the same source: each sample is taken out of all evaluations at once, as in
    `Evaluation.interval`.

    Two evaluations have a `Comparison`: first less second, with its interval.

    Three or more have `Standings`: which of them are tied for first, and how far each is from the
    best of the others. These intervals hold all at once, so that to look at the best of many, after
    seeing the scores, is no cheating: with the given confidence the one that is truly best is in
    the tied group.

    Parameters
    ----------
    *evaluations : Evaluation
        Results of `evaluate` on the same samples, in the same order, with the same score and the
        same cv: metrics, embeddings, numbers of neighbours. With a fixed test set: the same test
        samples and the same references.
    names : iterable of str, default=None
        What to call them, in order; None calls them "1", "2", and so on. A dictionary of
        evaluations is compared by ``compare(*found.values(), names=found)``.
    confidence : float, default=0.95
        Confidence of the intervals, between 0 and 1.

    Returns
    -------
    Comparison or Standings
        Of two, or of more.

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
    >>> found = {
    ...     k: evaluate(KNeighborsClassifier(int(k)), X / X.std(axis=0), y) for k in ("1", "5", "9")
    ... }
    >>> compare(raw, *found.values(), names=["raw", *found])
    Standings(accuracy of 4 on 178 samples; tied for first with 0.95 confidence: 9 (0.96...), 5
    (0.96...), 1 (0.95...); behind: raw (0.69...))
    """
    called = check_comparable(evaluations, names)
    level = check_fraction("confidence", confidence)
    if len(evaluations) > 2:
        return make_standings(evaluations, called, level)
    first, second = evaluations
    bound = first.error_bound + second.error_bound
    difference = first.score - second.score
    interval = make_interval(
        difference,
        first.paired_moves().less(second.paired_moves()),
        confidence=level,
        method="combined",
        error_bound=bound,
        scoring="",
    )
    differences = first.sample_scores - second.sample_scores
    return Comparison(difference, interval, bound, first, second, differences, called)
