"""Whole groups go to training or to test together."""

from dataclasses import dataclass, replace
from functools import cached_property
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupShuffleSplit

from allsplits._validation import check_count, shown
from allsplits.exceptions import InvalidInputError
from allsplits.splits._fixed import SizeLaw, train_size_without_one
from allsplits.splits._questions import Questions


@dataclass(frozen=True, eq=False)
class GroupLaw(Questions):
    """A fixed number of training groups and of test groups, all choices equally likely.

    Each split counts the same, whatever the size of its test set, as in the mean of
    scikit-learn's scores.
    """

    kind: ClassVar[str] = "whole groups"

    groups: NDArray[np.int32]
    n_train: int
    n_test: int
    outside: bool = False

    def without_tests(self) -> "GroupLaw":
        """The same training sets for questions from outside, which belong to no group."""
        return replace(self, n_test=0, outside=True)

    @property
    def n_samples(self) -> int:  # type: ignore[override]
        """Number of samples."""
        return len(self.groups)

    @cached_property
    def group_sizes(self) -> NDArray[np.int64]:
        """Number of samples of each group."""
        return np.bincount(self.groups)

    @property
    def smallest_training_set(self) -> int:
        """The largest k that every split can serve."""
        return int(np.sort(self.group_sizes)[: self.n_train].sum())

    def without_one(self, unit: int, at_least: int) -> "GroupLaw":
        """The law of the samples that are left when the group `unit` is gone."""
        left = self.groups[self.groups != unit]
        n_groups = len(self.group_sizes)
        n_train = train_size_without_one(self.n_train, n_groups)
        n_train = max(1, min(n_train, n_groups - 2))
        return GroupLaw(
            left - (left > unit), n_train, max(1, min(self.n_test, n_groups - 1 - n_train))
        )

    @cached_property
    def n_splits(self) -> int:
        """How many different splits are averaged over."""
        n_groups = len(self.group_sizes)
        return comb(n_groups, self.n_train) * comb(n_groups - self.n_train, self.n_test)

    def __str__(self) -> str:
        return f"every choice of {self.n_train} of {len(self.group_sizes)} groups for training"


def group_law(groups: Any, n_test: int, n_train: int | None, cv: Any) -> GroupLaw | SizeLaw:
    """The law of whole groups; groups of one sample each are no groups at all."""
    numbers = _require(groups, cv)
    n_groups = int(numbers.max()) + 1
    if n_groups < 2:
        raise InvalidInputError(
            f"groups must hold at least 2 different groups for cv={shown(cv)}; got {n_groups}"
        )
    why = f" for {n_groups} groups (one must be left for training)"
    check_count("number of groups left out", n_test, at_least=1, at_most=n_groups - 1, why=why)
    train = n_groups - n_test if n_train is None else n_train
    if n_groups == len(numbers):
        return SizeLaw.of_size(n_groups, train, n_test)
    return GroupLaw(numbers, train, n_test)


def group_shuffle(cv: GroupShuffleSplit, groups: Any) -> GroupLaw | SizeLaw:
    """Read the numbers of groups off one of scikit-learn's own splits."""
    numbers = _require(groups, cv)
    copy = GroupShuffleSplit(1, test_size=cv.test_size, train_size=cv.train_size, random_state=0)
    try:
        train, test = next(copy.split(np.zeros((len(numbers), 1)), groups=numbers))
    except ValueError as error:
        raise InvalidInputError(
            f"groups do not fit cv={shown(cv)}: there are {int(numbers.max()) + 1}. {error}"
        ) from error
    n_train, n_test = len(np.unique(numbers[train])), len(np.unique(numbers[test]))
    return group_law(numbers, n_test, n_train, cv)


def _require(groups: Any, cv: Any) -> NDArray[np.int32]:
    if groups is None:
        raise InvalidInputError(
            f"groups must be given for cv={shown(cv)}, one value for each sample; got None"
        )
    numbers: NDArray[np.int32] = groups
    return numbers
