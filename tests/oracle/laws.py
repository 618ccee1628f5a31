"""Splitters of fixed training size beside the enumeration of their splits."""

from collections.abc import Callable
from math import comb
from typing import Any, NamedTuple

from sklearn.model_selection import KFold, LeaveOneOut, LeavePOut, RepeatedKFold, ShuffleSplit

from allsplits import FixedSize
from oracle import enumerate as oracle


class LawCase(NamedTuple):
    """A splitter, its enumeration and the number of its splits, for `n` samples."""

    cv: Any
    law: Callable[[int], oracle.Law]
    n_splits: Callable[[int], int]

    def __str__(self) -> str:
        return name_of(self.cv)


def name_of(cv) -> str:
    """A splitter's repr without white space."""
    return "".join(repr(cv).split())


def _fixed(cv, train_size: Callable[[int], int]) -> LawCase:
    return LawCase(
        cv,
        lambda n: oracle.fixed_size(n, train_size(n)),
        lambda n: comb(n, train_size(n)),
    )


def _folds(cv, n_folds: int) -> LawCase:
    return LawCase(
        cv,
        lambda n: oracle.folds(n, n_folds),
        lambda n: sum(comb(n, size) for size in set(oracle.fold_sizes(n, n_folds))),
    )


# Sizes for the 8 samples of `datasets`: fractions round as in scikit-learn, test sizes up
# (0.3 -> 3) and training sizes down (0.4 -> 3).
CORE_FIXED_SIZE_LAWS = [
    _fixed(FixedSize(3), lambda n: 3),
    _fixed(LeavePOut(2), lambda n: n - 2),
    LawCase(
        ShuffleSplit(train_size=4, test_size=2),
        lambda n: oracle.train_and_test_size(n, 4, 2),
        lambda n: comb(n, 4) * comb(n - 4, 2),
    ),
    _folds(KFold(3, shuffle=True), 3),
]

OTHER_FIXED_SIZE_LAWS = [
    _fixed(FixedSize(1), lambda n: 1),
    _fixed(FixedSize(0.5), lambda n: n // 2),
    _fixed(LeaveOneOut(), lambda n: n - 1),
    _fixed(LeavePOut(5), lambda n: n - 5),
    _fixed(ShuffleSplit(test_size=3), lambda n: n - 3),
    _fixed(ShuffleSplit(test_size=0.3), lambda n: 5),
    _fixed(ShuffleSplit(train_size=0.4), lambda n: 3),
    LawCase(
        ShuffleSplit(train_size=0.7, test_size=0.2),
        lambda n: oracle.train_and_test_size(n, 5, 2),
        lambda n: comb(n, 5) * comb(n - 5, 2),
    ),
    _folds(KFold(4, shuffle=True), 4),
    _folds(KFold(2), 2),
    _folds(KFold(5, shuffle=True, random_state=0), 5),
    _folds(RepeatedKFold(n_splits=3, n_repeats=2), 3),
]
