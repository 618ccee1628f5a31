"""A fixed number of training items from each class: stratified folds, few shots.

Given the counts, every choice of that many items from each class is equally likely. A splitter
that rounds (folds of unequal size, random rounding) is a mixture of count vectors.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import comb, prod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits._validation import check_count, shown
from allsplits.exceptions import InvalidInputError
from allsplits.splits._fixed import train_size_without_one
from allsplits.splits._questions import Questions


class CountsComponent(NamedTuple):
    """Training and test items of each class, and the share of splits that have them."""

    train: tuple[int, ...]
    test: tuple[int, ...]
    weight: Fraction


@dataclass(frozen=True)
class ClassSizes(Questions):
    """What laws that draw from each class know of the samples."""

    class_sizes: tuple[int, ...]

    @property
    def n_samples(self) -> int:  # type: ignore[override]
        """Number of samples."""
        return sum(self.class_sizes)


@dataclass(frozen=True)
class CountsLaw(ClassSizes):
    """Count vectors with their weights, for known class sizes.

    `n_folds` is the number of folds of a run where splits come as folds, 0 where they come alone.
    """

    kind: ClassVar[str] = "class counts"

    components: tuple[CountsComponent, ...]
    n_folds: int = 0
    outside: bool = False

    @property
    def smallest_training_set(self) -> int:
        """The largest k that every split can serve."""
        return min(sum(component.train) for component in self.components)

    def without_tests(self) -> "CountsLaw":
        """The same training sets for questions from outside."""
        shares: dict[tuple[int, ...], Fraction] = {}
        for c in self.components:
            shares[c.train] = shares.get(c.train, Fraction(0)) + c.weight
        none = (0,) * len(self.class_sizes)
        components = tuple(CountsComponent(train, none, w) for train, w in shares.items())
        return replace(self, components=components, n_folds=0, outside=True)

    def among(self, places: Sequence[int], n_classes: int) -> "CountsLaw":
        """The same law when there are more classes, which have no samples."""

        def widened(counts: tuple[int, ...]) -> tuple[int, ...]:
            found = [0] * n_classes
            for place, count in zip(places, counts, strict=True):
                found[place] = count
            return tuple(found)

        components = tuple(
            CountsComponent(widened(c.train), widened(c.test), c.weight) for c in self.components
        )
        return replace(self, class_sizes=widened(self.class_sizes), components=components)

    def of_classes(self, places: Sequence[int]) -> "CountsLaw":
        """The same law where the other classes, which have no samples, are none."""
        components = tuple(
            c._replace(
                train=tuple(c.train[place] for place in places),
                test=tuple(c.test[place] for place in places),
            )
            for c in self.components
        )
        sizes = tuple(self.class_sizes[place] for place in places)
        return replace(self, class_sizes=sizes, components=components)

    def without_one(self, unit: int, at_least: int) -> "CountsLaw":
        """The law when a sample of class `unit` is gone, if it can with `at_least` voters."""
        size = self.class_sizes[unit]
        sizes = (*self.class_sizes[:unit], size - 1, *self.class_sizes[unit + 1 :])
        components = []
        for c in self.components:
            train = c.train[unit]
            fewer = train_size_without_one(train, size)
            tested = sum(c.test) - c.test[unit] + min(c.test[unit], size - 1 - train)
            if (fewer < train and sum(c.train) > at_least) or tested == 0:
                train -= 1
            train = min(max(train, 0), size - 1)
            counts, tests = list(c.train), list(c.test)
            counts[unit], tests[unit] = train, min(tests[unit], size - 1 - train)
            weight = c.weight if sum(tests) else Fraction(0)
            components.append(CountsComponent(tuple(counts), tuple(tests), weight))
        total = sum((c.weight for c in components), Fraction(0)) or Fraction(1)
        return CountsLaw(sizes, tuple(c._replace(weight=c.weight / total) for c in components))

    @cached_property
    def n_splits(self) -> int:
        """How many different (training set, test set) pairs are averaged over."""
        return sum(
            prod(
                comb(size, train) * comb(size - train, test)
                for size, train, test in zip(self.class_sizes, c.train, c.test, strict=True)
            )
            for c in self.components
        )

    def __str__(self) -> str:
        trains = [component.train for component in self.components]
        low = [min(column) for column in zip(*trains, strict=True)]
        high = [max(column) for column in zip(*trains, strict=True)]
        each = [str(a) if a == b else f"{a}-{b}" for a, b in zip(low, high, strict=True)]
        what = each[0] if len(set(each)) == 1 else ", ".join(each[:6])
        more = ", …" if len(set(each)) > 1 and len(each) > 6 else ""
        return f"every training set with {what}{more} samples of each of {len(each)} classes"


@dataclass(frozen=True)
class ClassCounts:
    """All training sets with given numbers of items from each class; the rest is the test set.

    Parameters
    ----------
    counts : int or dict
        Training items from each class: one number for all, or {class: number}.

    Examples
    --------
    >>> from allsplits import ClassCounts, evaluate
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.5], [4.0]], list("aabbb")
    >>> cv = ClassCounts({"a": 1, "b": 2})
    >>> evaluate(KNeighborsClassifier(1), X, y, cv=cv, exact=True).fraction
    Fraction(5, 6)
    """

    counts: int | Mapping[Any, int]

    def resolve(
        self, classes: NDArray[Any], codes: NDArray[np.int32], *, outside: bool = False
    ) -> CountsLaw:
        """Fix the classes and their sizes; questions from outside need nobody left to test."""
        sizes = np.bincount(codes, minlength=len(classes)).tolist()
        train = self._by_class(classes)
        for name, size, count in zip(classes.tolist(), sizes, train, strict=True):
            # One number for all classes is meant to test all of them, too.
            most = size if outside or isinstance(self.counts, Mapping) else size - 1
            why = f" for class {name!r}, which has {size} samples"
            if most < size:
                why += " (one must be left to test; name the counts by class to allow otherwise)"
            check_count("counts (of ClassCounts)", count, at_least=0, at_most=most, why=why)
        test = tuple(size - count for size, count in zip(sizes, train, strict=True))
        if sum(train) == 0 or (sum(test) == 0 and not outside):
            raise InvalidInputError(
                "counts (of ClassCounts) must leave at least one training and one test sample; "
                f"got {sum(train)} training and {sum(test)} test samples"
            )
        return CountsLaw(tuple(sizes), (CountsComponent(train, test, Fraction(1)),))

    def _by_class(self, classes: NDArray[Any]) -> tuple[int, ...]:
        if not isinstance(self.counts, Mapping):
            count = check_count("counts (of ClassCounts)", self.counts, at_least=1)
            return (count,) * len(classes)
        names = classes.tolist()
        missing = [name for name in names if name not in self.counts]
        if missing or len(self.counts) > len(names):
            lacking = f", without {shown(missing)}" if missing else ""
            raise InvalidInputError(
                f"counts (of ClassCounts) must name every class of y once: {shown(names)}; "
                f"got {shown(list(self.counts))}{lacking}"
            )
        return tuple(self.counts[name] for name in names)
