"""Whole ballots: how the k votes fall, not only who wins them.

Every score that is a mean over test samples of something that depends on the votes for each alone
is linear in a *record*: chances of a sample that add up over prefixes, components and splits. With
v_c the votes of class c, y the own class and the winner as `label_ties` says,

    P(c wins);  P(v_y = v);  P(the winner has v), and P(it has v and is y);
    E Σ_c v_c²;  P(y is among the K most voted), K = 1, 2, …

From these follow log-loss, Brier, calibration, top-K accuracy and any matrix of costs. Of classes
that have as many votes the first is ahead (`label_ties="first"`), or all orders count alike.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.kernel_types import BallotWants, Places

Values = NDArray[Any]

#: Who wins, and nothing else.
ONLY_WINNERS = BallotWants()


@dataclass(frozen=True, eq=False)
class Ballots:
    """Records of all samples; floats, or Fractions with exact=True.

    Attributes
    ----------
    places : Places
    records : ndarray of shape (n_samples, width)
        Given that the sample is held out; NaN where it never is.
    codes : ndarray of shape (n_samples,)
        The own class of each sample.
    n_classes : int
        How many classes can have votes in one split.
    weight : ndarray of shape (n_samples,)
        What each sample counts if splits count equally.
    balanced, recall : tuple of two ndarrays
        P(right) and weight of each sample if the classes of a split count equally; if the splits
        that test its class do, for which the weights of each class sum to 1.
    error_bound : float
        No sum of chances is off by more than this.
    """

    places: Places
    records: Values
    codes: NDArray[np.int32]
    n_classes: int
    weight: Values
    balanced: tuple[Values, Values]
    recall: tuple[Values, Values]
    error_bound: float = 0.0

    @property
    def k(self) -> int:
        """Number of votes."""
        return self.places.k

    @property
    def proba(self) -> Values:
        """P(each class wins), shape (n_samples, n_classes)."""
        return self.records[:, : self.places.n_classes]

    @property
    def own(self) -> Values:
        """P(the own class has v votes), shape (n_samples, k + 1)."""
        return self._slice(self.places.own, self.k + 1)

    @property
    def confident(self) -> Values:
        """P(the winner has v votes), shape (n_samples, k + 1)."""
        return self._slice(self.places.confident, self.k + 1)

    @property
    def hits(self) -> Values:
        """P(the own class wins with v votes), shape (n_samples, k + 1)."""
        return self._slice(self.places.hits, self.k + 1)

    @property
    def squares(self) -> Values:
        """E Σ (votes of a class)²."""
        return self._slice(self.places.squares, 1)[:, 0]

    @property
    def own_share(self) -> Values:
        """E[share of the votes that the own class has]."""
        found: Values = (self.own @ np.arange(self.k + 1)) / self.k
        return found

    @property
    def share_squares(self) -> Values:
        """E Σ (share of a class)²."""
        return self.squares / (self.k * self.k)

    def log_share(self, smoothing: float | None) -> Values:
        """E log p of the own class: irrational, so floats even of Fractions."""
        found: Values = self.own.astype(np.float64) @ log_shares(smoothing, self.k, self.n_classes)
        return found

    def top(self, n: int) -> Values:
        """P(the own class is among the n most voted)."""
        if n == 1:
            return self.right
        return self._slice(self.places.tops, self.places.n_tops)[:, n - 1]

    @property
    def right(self) -> Values:
        """P(the own class wins)."""
        found: Values = self.records[np.arange(len(self.codes)), self.codes]
        return found

    @property
    def exact(self) -> bool:
        """Whether the records are Fractions."""
        return bool(self.records.dtype == object)

    def knows(self, wants: BallotWants) -> bool:
        """Whether all that is wanted is in the records."""
        places = self.places
        return (
            (places.own >= 0 or not wants.own)
            and (places.confident >= 0 or not wants.confidence)
            and (places.squares >= 0 or not wants.squares)
            and places.n_tops >= wants.tops
        )

    def _slice(self, start: int, size: int) -> Values:
        if start < 0:
            raise AssertionError("a part of the ballots was not asked for")
        return self.records[:, start : start + size]


def log_shares(smoothing: float | None, k: int, n_classes: int) -> NDArray[np.float64]:
    """The log of (v + s)/(k + s C) for v = 0 … k votes of k.

    Without s, that of v/k, clipped as scikit-learn does.
    """
    if smoothing is None:
        eps = float(np.finfo(np.float64).eps)
        return np.log(np.clip(np.arange(k + 1) / k, eps, 1 - eps))
    s = Fraction(float(smoothing))
    shares = [(v + s) / (k + s * n_classes) for v in range(k + 1)]
    return np.array([log(share.numerator) - log(share.denominator) for share in shares])


def certain_record(votes: list[int], own: int, places: Places, share: bool) -> list[Fraction]:
    """The record of known votes of all classes."""
    record, C = [Fraction(0)] * places.width, len(votes)
    most = max(votes)
    winners = [c for c, v in enumerate(votes) if v == most]
    for c in winners if share else winners[:1]:
        record[c] = Fraction(1, len(winners) if share else 1)
    if places.own >= 0:
        record[places.own + votes[own]] = Fraction(1)
    if places.confident >= 0:
        record[places.confident + most] = Fraction(1)
        record[places.hits + most] = record[own]
    if places.squares >= 0:
        record[places.squares] = Fraction(sum(v * v for v in votes))
    ahead = sum(1 for v in votes if v > votes[own])
    tied = [c for c in range(C) if votes[c] == votes[own]]
    for n in range(1, places.n_tops):
        left = n + 1 - ahead
        if share:
            record[places.tops + n] = Fraction(min(max(left, 0), len(tied)), len(tied))
        else:
            record[places.tops + n] = Fraction(int(left > tied.index(own)))
    return record


def one_vote_records(
    proba: Values, codes: NDArray[np.int32], places: Places, share: bool
) -> Values:
    """Records of votes of one, from P(each class has it)."""
    n, C = proba.shape
    records = np.zeros((n, places.width), dtype=proba.dtype)
    rows, everybody = np.arange(n), proba.sum(axis=1)
    records[:, :C] = proba
    right = proba[rows, codes]
    if places.own >= 0:
        records[:, places.own + 1], records[:, places.own] = right, everybody - right
    if places.confident >= 0:
        records[:, places.confident + 1], records[:, places.hits + 1] = everybody, right
    if places.squares >= 0:
        records[:, places.squares] = everybody
    for n_first in range(2, places.n_tops + 1):
        # Of those without a vote, one place less is left.
        other = everybody - right
        if share:
            ahead = other * (n_first - 1) / (C - 1)
        else:
            later = np.where(np.arange(C) > codes[:, None], proba, 0).sum(axis=1)
            ahead = np.where(codes + 1 < n_first, later, 0 * later)
            ahead = ahead + np.where(codes < n_first, other - later, 0 * later)
        records[:, places.tops + n_first - 1] = right + ahead
    return records
