"""Training sets of a fixed size, all equally likely: leave-p-out, shuffle-split, k-fold.

Given that a sample is held out, its training set is a uniform a-subset of the other n - 1. Folds of
unequal size are a mixture: each fold counts the same, as in the mean of scikit-learn's scores.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import comb
from numbers import Integral
from typing import ClassVar, NamedTuple

from allsplits._validation import check_count, check_fraction
from allsplits.splits._questions import Questions


def train_size_without_one(train: int, size: int) -> int:
    """Training items when one of `size` samples is gone.

    The test set stays where it is the smaller part (leave-p-out leaves out p), otherwise the
    training set does (few shots stay few).
    """
    return train - 1 if 2 * train >= size else train


class SizeComponent(NamedTuple):
    """One training size, its test size, and the share of splits that have it."""

    train: int
    test: int
    weight: Fraction


@dataclass(frozen=True)
class SizeLaw(Questions):
    """Fixed training sizes with their weights, for a known number of samples.

    `n_folds` is the number of folds of a run where splits come as folds, 0 where they come alone.
    """

    kind: ClassVar[str] = "fixed size"

    n_samples: int
    components: tuple[SizeComponent, ...]
    n_folds: int = 0
    outside: bool = False

    @classmethod
    def of_size(cls, n_samples: int, train: int, test: int | None = None) -> SizeLaw:
        """One training size; the test set is the rest unless a smaller one is drawn."""
        rest = n_samples - train
        return cls(n_samples, (SizeComponent(train, rest if test is None else test, Fraction(1)),))

    @classmethod
    def of_folds(cls, n_samples: int, n_folds: int) -> SizeLaw:
        """Sizes of k-fold cross-validation: n mod K folds have one sample more."""
        small, larger_folds = divmod(n_samples, n_folds)
        folds = [(small + 1, larger_folds), (small, n_folds - larger_folds)]
        return cls(
            n_samples,
            tuple(
                SizeComponent(n_samples - test, test, Fraction(number, n_folds))
                for test, number in folds
                if number
            ),
            n_folds,
        )

    def without_tests(self) -> SizeLaw:
        """The same training sets for questions from outside."""
        shares: dict[int, Fraction] = {}
        for c in self.components:
            shares[c.train] = shares.get(c.train, Fraction(0)) + c.weight
        components = tuple(SizeComponent(train, 0, share) for train, share in shares.items())
        return replace(self, components=components, n_folds=0, outside=True)

    def without_one(self, unit: int, at_least: int) -> SizeLaw:
        """The law of the same splitting when a sample is gone, if it can with `at_least` voters."""
        n = self.n_samples - 1
        components = []
        for c in self.components:
            train = train_size_without_one(c.train, n + 1)
            train = min(c.train if train < at_least else train, n - 1)
            components.append(c._replace(train=train, test=min(c.test, n - train)))
        return SizeLaw(n, tuple(components))

    def only(self, component: SizeComponent) -> SizeLaw:
        """The law given that one of the sizes is drawn."""
        return replace(self, components=(component._replace(weight=Fraction(1)),), n_folds=0)

    @property
    def smallest_training_set(self) -> int:
        """The largest k that every split can serve."""
        return min(component.train for component in self.components)

    @cached_property
    def n_splits(self) -> int:
        """How many different (training set, test set) pairs are averaged over."""
        n = self.n_samples
        return sum(comb(n, c.train) * comb(n - c.train, c.test) for c in self.components)

    def __str__(self) -> str:
        if self.smallest_training_set == self.n_samples:
            return f"all {self.n_samples} samples in training"
        sizes = " or ".join(str(component.train) for component in self.components)
        return f"every training set of {sizes} of {self.n_samples} samples"


@dataclass(frozen=True)
class FixedSize:
    """All training sets of a given size, each equally likely; the rest is the test set.

    Parameters
    ----------
    train_size : int or float
        Number of training samples, or the fraction of all samples (rounded down).

    Examples
    --------
    >>> from allsplits import FixedSize, evaluate
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.5]], [0, 0, 1, 1]
    >>> evaluate(KNeighborsClassifier(1), X, y, cv=FixedSize(2), exact=True).fraction
    Fraction(13, 24)
    """

    train_size: int | float

    def resolve(self, n_samples: int, *, outside: bool = False) -> SizeLaw:
        """Fix the number of samples; questions from outside need no sample left to test."""
        size = self.train_size
        if not isinstance(size, Integral):
            size = int(check_fraction("train_size", size, allow_one=outside) * n_samples)
        most = n_samples if outside else n_samples - 1
        why = f" (of {n_samples})" if outside else f" (a test sample must be left of {n_samples})"
        return SizeLaw.of_size(
            n_samples, check_count("train_size", size, at_least=1, at_most=most, why=why)
        )
