"""Calibration of the vote: how often a class is right that has a share v/k of the votes.

A vote of k that gives its winner v votes says v/k. Over all splits, each counting the same, let
n_v be the expected share of test samples whose winner has v votes, and h_v that of those that are
right with it. Both are linear, so both are exact, and h_v / n_v is the reliability curve. The
expected calibration error of this curve,

    ECE = Σ_bins | Σ_(v in bin) (h_v - v/k · n_v) |,

is not linear: it is the error of the averages, not the average of the errors that single splits
would show, which is never smaller (the noise of few samples in a bin makes it larger).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allsplits._frames import DataFrame, make_frame
from allsplits._validation import check_count, shown
from allsplits.exact import Ballots
from allsplits.exceptions import InvalidInputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Calibration:
    """The reliability curve of a vote, exact over all splits.

    Attributes
    ----------
    confidence : ndarray of shape (n_bins,)
        The mean share of the votes in each bin.
    predictions : ndarray of shape (n_bins,)
        The share of test samples in it, averaged over all splits; they sum to 1.
    hits : ndarray of shape (n_bins,)
        The share of test samples that are in it and right; they sum to the accuracy.
    n_neighbors : int
        Number of votes.
    error_bound : float
        Predictions and hits are off by no more than this.
    of_class : object
        The class whose share of the votes it is about; None: that of the winner.
    fractions : tuple of (Fraction, Fraction), or None
        Predictions and hits as fractions, with ``exact=True``.
    """

    confidence: Floats
    predictions: Floats
    hits: Floats
    n_neighbors: int
    error_bound: float
    of_class: Any = None
    fractions: tuple[tuple[Fraction, Fraction], ...] | None = None

    @property
    def accuracy(self) -> Floats:
        """How often predictions of each bin are right: hits / predictions."""
        return self.hits / self.predictions

    @property
    def ece(self) -> float:
        """Expected calibration error of the averaged bins: Σ predictions · |accuracy - confidence|.

        It is the error of the averages. The average of the errors that single splits show is never
        smaller.
        """
        return float(np.sum(np.abs(self.hits - self.confidence * self.predictions)))

    def frame(self, backend: str | None = None) -> DataFrame:
        """One row per bin, as a pandas or polars data frame."""
        columns = {
            "confidence": self.confidence,
            "predictions": self.predictions,
            "hits": self.hits,
            "accuracy": self.accuracy,
        }
        return make_frame(columns, backend)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the reliability curve; returns the matplotlib Axes."""
        from allsplits.plots._calibration import draw_calibration

        drawn: Axes = draw_calibration(self, ax)
        return drawn

    def __repr__(self) -> str:
        who = "the winner" if self.of_class is None else f"class {self.of_class}"
        return (
            f"Calibration(ECE={self.ece:.6f} of the averages over all splits, "
            f"{len(self.confidence)} bins of the votes for {who}, n_neighbors={self.n_neighbors})"
        )


def calibrate(
    ballots: Ballots, classes: NDArray[Any], *, n_bins: int | None, of_class: Any
) -> Calibration:
    """The reliability curve of ballots."""
    said, right = (
        (ballots.confident, ballots.hits)
        if of_class is None
        else _votes_for(ballots, classes, of_class)
    )
    counted, k = ballots.weight != 0, ballots.k
    weight = ballots.weight[counted][:, None]
    predictions = np.sum(said[counted] * weight, axis=0)
    hits = np.sum(right[counted] * weight, axis=0)
    # Empty bins (a winner without votes) are left out.
    bins = np.arange(k + 1) if n_bins is None else _bins(k, n_bins)
    kept = [v for v in range(k + 1) if predictions[v] != 0]
    places = sorted({int(bins[v]) for v in kept})
    rows = []
    for place in places:
        inside = [v for v in kept if bins[v] == place]
        n, h = sum(predictions[v] for v in inside), sum(hits[v] for v in inside)
        rows.append((sum(predictions[v] * v for v in inside) / n / k, n, h))
    confidence, shares, right_shares = np.array(rows, dtype=np.float64).T
    return Calibration(
        confidence, shares, right_shares, k, ballots.error_bound, of_class,
        tuple((Fraction(n), Fraction(h)) for _, n, h in rows) if ballots.exact else None,
    )  # fmt: skip


def _bins(k: int, n_bins: int) -> NDArray[np.int64]:
    """Which of n equal bins (a, b] of [0, 1] each v/k is in, by whole numbers."""
    check_count("n_bins", n_bins, at_least=1)
    return np.maximum(-(-np.arange(k + 1) * n_bins // k) - 1, 0)


def _votes_for(ballots: Ballots, classes: NDArray[Any], of_class: Any) -> tuple[Any, Any]:
    """P(v votes for one of two classes), and P(that and it is right)."""
    named = classes.tolist()
    if of_class not in named or len(named) != 2:
        raise InvalidInputError(
            "of_class must be one of two classes, None for the winner's share of the votes; got "
            f"{shown(of_class)} and the classes {shown(classes)}"
        )
    own = (ballots.codes == named.index(of_class))[:, None]
    said = np.where(own, ballots.own, ballots.own[:, ::-1])
    return said, np.where(own, ballots.own, 0 * ballots.own)
