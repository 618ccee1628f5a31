"""What each splitter means: sizes, number of splits, words."""

from math import comb

import numpy as np
import pytest
from sklearn.model_selection import (
    KFold,
    LeaveOneOut,
    LeavePOut,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.neighbors import KNeighborsClassifier

from allsplits import FixedSize, evaluate
from allsplits.exceptions import AllSplitsError, InvalidInputError

N = 20
X = np.arange(N, dtype=float).reshape(-1, 1) ** 2
y = np.arange(N) % 3


def evaluated(cv):
    return evaluate(KNeighborsClassifier(1), X, y, cv=cv)


@pytest.mark.parametrize(
    ("cv", "n_splits"),
    [
        (FixedSize(7), comb(20, 7)),
        (FixedSize(0.25), comb(20, 5)),
        (FixedSize(0.99), comb(20, 19)),
        (FixedSize(np.int64(7)), comb(20, 7)),
        (LeaveOneOut(), 20),
        (LeavePOut(4), comb(20, 4)),
        (ShuffleSplit(test_size=4), comb(20, 4)),
        (ShuffleSplit(), comb(20, 2)),
        (ShuffleSplit(test_size=0.32), comb(20, 7)),
        (ShuffleSplit(train_size=0.32), comb(20, 6)),
        (ShuffleSplit(train_size=11, test_size=4), comb(20, 11) * comb(9, 4)),
        (KFold(5), comb(20, 4)),
        (KFold(20), 20),
        (KFold(6), comb(20, 3) + comb(20, 4)),
        (RepeatedKFold(n_splits=6, n_repeats=3), comb(20, 3) + comb(20, 4)),
    ],
    ids=str,
)
def test_number_of_splits(cv, n_splits):
    found = evaluated(cv).n_splits
    assert found == n_splits
    assert isinstance(found, int)


def test_the_number_of_splits_is_exact_however_large():
    points = np.random.default_rng(0).normal(size=(300, 2))
    found = evaluate(KNeighborsClassifier(1), points, np.arange(300) % 2, cv=FixedSize(150))
    assert found.n_splits == comb(300, 150)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (LeaveOneOut(), KFold(20)),
        (LeavePOut(4), FixedSize(16)),
        (LeavePOut(4), KFold(5)),
        (KFold(6), KFold(6, shuffle=True, random_state=1)),
        (KFold(6), RepeatedKFold(n_splits=6, n_repeats=9)),
        (ShuffleSplit(100, test_size=4, random_state=0), ShuffleSplit(1, test_size=4)),
        (ShuffleSplit(train_size=10, test_size=4), FixedSize(10)),
        (FixedSize(0.5), FixedSize(10)),
    ],
    ids=str,
)
def test_splitters_that_mean_the_same(one, other):
    assert evaluated(one).score == pytest.approx(evaluated(other).score, abs=1e-14)


def test_unequal_folds_count_equally():
    sizes = [3, 3, 3, 3, 4, 4]
    expected = np.mean([evaluated(FixedSize(N - size)).score for size in sizes])
    assert evaluated(KFold(6)).score == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize(
    ("cv", "n_folds"), [(KFold(6), 6), (StratifiedKFold(4), 4), (3, 3), (LeavePOut(2), 0)], ids=str
)
def test_a_law_remembers_folds(cv, n_folds):
    assert evaluated(cv).law.n_folds == n_folds


def test_a_law_is_a_value():
    assert FixedSize(3) == FixedSize(3)
    assert FixedSize(3) != FixedSize(4)
    assert repr(FixedSize(3)) == "FixedSize(train_size=3)"


def test_an_evaluation_says_its_law_in_words():
    text = str(evaluated(KFold(6)).law)
    assert "16" in text
    assert "17" in text
    assert "20" in text


def test_drawing_no_random_numbers():
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    evaluated(ShuffleSplit(test_size=0.3))
    evaluated(KFold(3, shuffle=True))
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


class EveryOther(KFold):
    """A subclass may split as it likes."""

    def split(self, X, y=None, groups=None):
        del y, groups
        yield np.arange(0, len(X), 2), np.arange(1, len(X), 2)


@pytest.mark.parametrize("cv", [TimeSeriesSplit(3), EveryOther(2), [([0], [1])]], ids=str)
def test_other_splitters_are_refused_and_the_known_ones_named(cv):
    with pytest.raises(AllSplitsError, match=r"cv.*KFold") as caught:
        evaluated(cv)
    assert isinstance(caught.value, (ValueError, TypeError))
    assert "FixedSize" in str(caught.value)


@pytest.mark.parametrize("size", [0, N, N + 5, -3])
def test_sizes_that_leave_no_split(size):
    with pytest.raises(InvalidInputError, match=rf"train_size.*19.*{size}"):
        evaluated(FixedSize(size))


@pytest.mark.parametrize("size", [0.0, 1.0, 1.5, -0.5, 0.01, float("nan")])
def test_fractions_that_leave_no_split(size):
    with pytest.raises(InvalidInputError, match="train_size"):
        evaluated(FixedSize(size))


@pytest.mark.parametrize("size", ["half", None, [3], True])
def test_sizes_of_the_wrong_kind(size):
    with pytest.raises(AllSplitsError, match="train_size"):
        evaluated(FixedSize(size))
