"""The class counts that scikit-learn's stratified splitters allocate."""

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit

from allsplits._validation import shown
from allsplits.exceptions import InvalidInputError, UnsupportedError
from allsplits.splits._counts import CountsComponent, CountsLaw

#: Random rounding may lead to this many different count vectors.
_MOST_VECTORS = 256


def stratified_folds(n_folds: int, codes: NDArray[np.int32]) -> CountsLaw:
    """Read the counts off scikit-learn's own folds: they do not depend on shuffling."""
    sizes = np.bincount(codes)
    try:
        folds = StratifiedKFold(n_folds).split(np.zeros((len(codes), 1)), codes)
        tests = Counter(tuple(np.bincount(codes[test], minlength=len(sizes))) for _, test in folds)
    except (ValueError, TypeError) as error:
        largest = int(sizes.max())
        fewer = f"Use at most {largest} folds, or KFold" if largest > 1 else "Use KFold"
        raise InvalidInputError(
            f"cv with {shown(n_folds)} stratified folds does not fit class sizes {shown(sizes)}: "
            f"{error} {fewer}"
        ) from error
    components = tuple(
        CountsComponent(
            tuple(int(size - count) for size, count in zip(sizes, test, strict=True)),
            tuple(int(count) for count in test),
            Fraction(number, n_folds),
        )
        for test, number in tests.items()
    )
    return CountsLaw(tuple(sizes.tolist()), components, n_folds)


def stratified_shuffle(
    cv: StratifiedShuffleSplit, classes: NDArray[Any], codes: NDArray[np.int32]
) -> CountsLaw:
    """All roundings of the class counts, with the probability that scikit-learn draws each."""
    sizes = np.bincount(codes)
    n = len(codes)
    try:
        # scikit-learn's own checks of sizes and classes, with a seed that is not the user's.
        copy = StratifiedShuffleSplit(
            1, test_size=cv.test_size, train_size=cv.train_size, random_state=0
        )
        next(copy.split(np.zeros((n, 1)), classes[codes]))
    except ValueError as error:
        raise InvalidInputError(
            f"cv={shown(cv)} does not fit class sizes {shown(sizes)}: {error} "
            "Every class needs at least 2 samples, and every class a place in both sets; "
            "drop small classes or use ShuffleSplit"
        ) from error
    plain = ShuffleSplit(1, test_size=cv.test_size, train_size=cv.train_size, random_state=0)
    n_train, n_test = (len(part) for part in next(plain.split(np.zeros((n, 1)))))
    components: dict[tuple[Any, Any], Fraction] = {}
    for train, share in _roundings(sizes, n_train):
        for test, share_of_test in _roundings(sizes - np.array(train), n_test):
            key = (train, test)
            components[key] = components.get(key, Fraction(0)) + share * share_of_test
            if len(components) > _MOST_VECTORS:
                raise UnsupportedError(
                    f"cv={shown(cv)} rounds the class counts at random to more than "
                    f"{_MOST_VECTORS} different vectors for class sizes {shown(sizes)}; choose "
                    "sizes that every class can share evenly, or pass ClassCounts"
                )
    return CountsLaw(
        tuple(sizes.tolist()),
        tuple(CountsComponent(train, test, w) for (train, test), w in components.items()),
    )


def _roundings(sizes: NDArray[np.int64], n_draws: int) -> list[tuple[tuple[int, ...], Fraction]]:
    """Proportional counts; what is left goes to the largest remainders, ties at random.

    The arithmetic is scikit-learn's (`_approximate_mode`), because ties are decided in floating
    point there.
    """
    continuous = sizes / sizes.sum() * n_draws
    floored = np.floor(continuous)
    missing = int(n_draws - floored.sum())
    remainder = continuous - floored
    for value in np.sort(np.unique(remainder))[::-1]:
        tied = np.flatnonzero(remainder == value)
        if missing <= len(tied):
            break
        floored[tied] += 1
        missing -= len(tied)
    number = comb(len(tied), missing)
    if number > _MOST_VECTORS:
        raise UnsupportedError(
            f"stratified sizes are rounded at random to {number} different class counts (class "
            f"sizes {shown(sizes)}, {n_draws} to draw), more than the {_MOST_VECTORS} supported; "
            "choose sizes that every class can share evenly, or pass ClassCounts"
        )
    vectors = []
    for chosen in combinations(tied, missing):
        counts = floored.astype(int)
        counts[list(chosen)] += 1
        vectors.append((tuple(counts.tolist()), Fraction(1, number)))
    return vectors
