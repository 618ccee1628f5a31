"""Training sets of random size: independent draws, and draws with replacement."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import comb
from numbers import Rational
from typing import ClassVar

from allsplits._validation import check_fraction
from allsplits.splits._questions import Questions


@dataclass(frozen=True)
class BernoulliLaw(Questions):
    """Each sample is a training sample with probability q, independently.

    Training sets with fewer than `at_least` samples are left out.
    """

    kind: ClassVar[str] = "independent draws"

    n_samples: int
    q: Fraction
    at_least: int = 1
    outside: bool = False

    def without_tests(self) -> BernoulliLaw:
        """The same training sets for questions from outside."""
        return replace(self, outside=True)

    @property
    def smallest_training_set(self) -> int:
        """Sets too small for the vote are left out, so any k up to all candidates will do."""
        return self.n_candidates

    def without_one(self, unit: int, at_least: int) -> BernoulliLaw:
        """The law when one sample is gone."""
        return BernoulliLaw(self.n_samples - 1, self.q, at_least)

    def given(self, at_least: int) -> BernoulliLaw:
        """The law of training sets with that many voters."""
        return replace(self, at_least=at_least)

    @cached_property
    def n_splits(self) -> int:
        """How many different splits are averaged over: enough in training, and some to test."""
        too_small = sum(comb(self.n_samples, size) for size in range(self.at_least))
        return int(2**self.n_samples) - too_small - (0 if self.outside else 1)

    def __str__(self) -> str:
        enough = f", at least {self.at_least} of them" if self.at_least > 1 else ""
        return (
            f"each of {self.n_samples} samples in training with probability {float(self.q):g}"
            f"{enough}"
        )


@dataclass(frozen=True)
class Bernoulli:
    """Each sample is in the training set with probability q, independently; the rest is tested.

    Training sets with fewer than k samples (R for recall@R) are left out: the average is
    conditional on that many voters. All predictions count alike, so that splits count by the size
    of their test sets: the score is the mean over samples of how often each is right when it is
    held out.

    Parameters
    ----------
    q : float or Fraction
        Probability of being a training sample, strictly between 0 and 1.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from allsplits import Bernoulli, evaluate
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.5]], [0, 0, 1, 1]
    >>> cv = Bernoulli(Fraction(2, 3))
    >>> evaluate(KNeighborsClassifier(1), X, y, cv=cv, exact=True).fraction
    Fraction(27, 52)
    """

    q: float | Fraction

    def resolve(self, n_samples: int) -> BernoulliLaw:
        """Fix the number of samples."""
        check_fraction("q (of Bernoulli)", self.q)
        q = Fraction(self.q) if isinstance(self.q, Rational) else Fraction(float(self.q))
        return BernoulliLaw(n_samples, q)


@dataclass(frozen=True)
class BootstrapLaw(Questions):
    """n draws with replacement; a sample is tested when it is not drawn."""

    kind: ClassVar[str] = "draws with replacement"

    n_samples: int
    outside: bool = False

    def without_tests(self) -> BootstrapLaw:
        """The same bags for questions from outside."""
        return replace(self, outside=True)

    @property
    def smallest_training_set(self) -> int:
        """Copies count, so there are always n voters."""
        return self.n_samples

    def without_one(self, unit: int, at_least: int) -> BootstrapLaw:
        """The law when one sample is gone: as many draws as samples."""
        return BootstrapLaw(self.n_samples - 1)

    @cached_property
    def n_splits(self) -> int:
        """How many different sequences of draws there are (n! of them leave nobody out)."""
        return int(self.n_samples**self.n_samples)

    def __str__(self) -> str:
        return f"{self.n_samples} draws with replacement from {self.n_samples} samples"


@dataclass(frozen=True)
class Bootstrap:
    """As many draws with replacement as there are samples; out-of-bag samples are tested.

    A sample that is drawn several times votes several times. All predictions count alike, so that
    bags count by how many samples they leave out: the score is the mean over samples of how often
    each is right when it is out of bag.

    Examples
    --------
    >>> from allsplits import Bootstrap, evaluate
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.5]], [0, 0, 1, 1]
    >>> evaluate(KNeighborsClassifier(1), X, y, cv=Bootstrap(), exact=True).fraction
    Fraction(185, 324)
    """

    def resolve(self, n_samples: int) -> BootstrapLaw:
        """Fix the number of samples."""
        return BootstrapLaw(n_samples)
