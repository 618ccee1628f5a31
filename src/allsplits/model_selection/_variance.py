"""How far a score varies over data sets: two variances, one safe and one tight, and the rule.

**The jackknife.** The score with each sample taken out of the data, as a question *and* as a
neighbour, exactly and for all samples at once (`exact/jackknife.py`), S₍₁₎ … S₍ₙ₎:

    (n-1)/n Σ (S₍ⱼ₎ - mean)².

Its expectation is never below the variance of the score of n - 1 samples (Efron & Stein 1981): what
several samples do together is counted once for each of them. So it is safe, and too wide for
votes of few neighbours.

**Sample scores.** A score is a weighted mean of sample scores, S = Σ wᵢ sᵢ, with variance

    Σ wᵢ² (sᵢ - S)²

for a stable learner (Bayle, Bayle, Janson & Mackey 2020, *Cross-validation confidence intervals for
test error*, arXiv 2007.12671). Where classes count equally sᵢ is set against the mean of its class.
It does not see that a sample also moves the scores of those it is a neighbour of, and is too narrow
for few neighbours.

**Combined**, the default. The jackknife counts what several samples do together once for each of
them; a score has it once. Most of that is what a sample changes in the rows of the others, its
neighbours: with s₍ⱼ₎ᵢ, what row i adds to the score without sample j, and s₍·₎ᵢ, the mean over j
(over samples of a class where it matters which class has lost one),

    (n-1)/n Σ_(i≠j) (s₍ⱼ₎ᵢ - s₍·₎ᵢ)²

is what pairs of a question and a neighbour add to the jackknife a second time, and larger sets once
for each neighbour. The strikes have these changes anyway. The combined variance is the jackknife's
less nine tenths of this sum, but not less than that of the sample scores, which have the whole
variance of each single score. All of the sum would leave a variance that is right on average where
samples are many; of few it is noisy, and an interval that is now too wide, now too narrow covers
too seldom. What two neighbours do together in many rows is still counted twice.

How well the variance itself is known differs as well. The part that the sample scores have, V_S of
V, is known from single samples, with Satterthwaite's degrees of freedom (fewer where few samples
make up most of it, as in a rare class). The rest is what samples do as neighbours. Those of one
place do it together, and a training set of m samples has but m/k sets of k neighbours. The degrees
of freedom ν are the mean of both in the harmonic sense,

    1/ν = V_S/V · 1/ν_S + (1 - V_S/V) · k/m.

Scores, differences and standings have this one rule. How often it covers, and what else was tried,
is in studies/interval_coverage.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: So much of what is counted twice is taken off.
_TAKEN_OFF = 0.9
#: How the variance is estimated.
METHODS = ("combined", "jackknife", "sample scores")


class Variance(NamedTuple):
    """An estimate of a variance, and how many degrees of freedom it has."""

    value: float
    freedom: float


class Squares(NamedTuple):
    """Of the moves of n units: the sums of their squares, and of their fourth powers."""

    n: int
    squares: float
    fourths: float

    @classmethod
    def of(cls, moves: NDArray[np.float64], rounding: float = 0.0) -> Squares:
        """Of these moves; nothing but rounding is left where all of them together are less."""
        squares = float(np.sum(moves**2))
        if squares < rounding**2:
            return cls(len(moves), 0.0, 0.0)
        return cls(len(moves), squares, float(np.sum(moves**4)))

    @property
    def freedom(self) -> float:
        """Satterthwaite's degrees of freedom of the sum: fewer if few units make up most of it."""
        excess = self.n * self.fourths - self.squares**2
        if excess <= _EVEN * self.squares**2:
            return float(self.n - 1)
        return max(2.0, 2 * self.n * self.squares**2 / excess)


#: Fourth powers that exceed those of equal moves by less, in units of these, do so by rounding.
_EVEN = 1e-12


def variance_by(
    method: str, jackknife: Squares | None, sample_scores: Squares, counted_twice: float,
    neighborhoods: float,
) -> Variance:  # fmt: skip
    """Variance and degrees of freedom by a method; by sample scores if there is no jackknife."""
    if jackknife is None or method == "sample scores":
        return Variance(sample_scores.squares, sample_scores.freedom)
    if method == "jackknife":
        return Variance(jackknife.squares, jackknife.freedom)
    value = max(jackknife.squares - _TAKEN_OFF * counted_twice, sample_scores.squares)
    return Variance(value, _freedom(value, sample_scores, neighborhoods))


def _freedom(value: float, sample_scores: Squares, neighborhoods: float) -> float:
    """Of a variance that the sample scores have a part of, and neighbours the rest."""
    if value == 0:
        return sample_scores.freedom
    part = sample_scores.squares / value
    return max(2.0, 1 / (part / sample_scores.freedom + (1 - part) / neighborhoods))
