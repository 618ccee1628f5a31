"""Splits with structure: exact values beside what scikit-learn's own splitters draw."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.datasets import make_blobs, make_regression
from sklearn.model_selection import (
    GroupShuffleSplit,
    LeaveOneGroupOut,
    LeavePGroupsOut,
    LeavePOut,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import Bernoulli, Bootstrap, ClassCounts, Episodes, evaluate
from properties.monte_carlo import (
    assert_within_standard_errors,
    predicted_labels,
    split_accuracies,
    split_recalls,
    split_squared_errors,
)

CLASS_SIZES = {
    "balanced": [20, 20],
    "unbalanced": [31, 9],
    "three": [17, 12, 8],
    "rare class": [30, 15, 5],
    "four": [14, 13, 7, 9],
}

every_balance = pytest.mark.parametrize("sizes", CLASS_SIZES.values(), ids=CLASS_SIZES.keys())


def overlapping(sizes, seed: int = 0):
    """Classes of the given sizes, rows in random order, no tied distances."""
    X, y = make_blobs(sizes, 2, centers=None, cluster_std=7, random_state=seed)
    return X, y


@every_balance
@pytest.mark.parametrize("n_folds", [3, 5])
@pytest.mark.parametrize("k", [1, 4])
def test_stratified_folds(sizes, n_folds, k):
    """Most of these sizes are not divisible by the number of folds."""
    X, y = overlapping(sizes)
    repeats = 400
    splitter = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=repeats, random_state=1)
    exact = evaluate(KNeighborsClassifier(k), X, y, cv=splitter).score
    accuracies = split_accuracies(splitter, X, y, k).reshape(repeats, n_folds)
    assert_within_standard_errors(exact, accuracies.mean(axis=1))
    assert evaluate(KNeighborsClassifier(k), X, y, cv=StratifiedKFold(n_folds)).score == exact


@every_balance
@pytest.mark.parametrize(
    "options", [{"test_size": 0.3}, {"test_size": 11}, {"train_size": 9, "test_size": 13}], ids=str
)
@pytest.mark.parametrize("k", [1, 4])
def test_stratified_shuffles(sizes, options, k):
    X, y = overlapping(sizes)
    splitter = StratifiedShuffleSplit(1000, random_state=2, **options)
    exact = evaluate(KNeighborsClassifier(k), X, y, cv=splitter).score
    assert_within_standard_errors(exact, split_accuracies(splitter, X, y, k))


@every_balance
def test_stratified_recall(sizes):
    X, y = overlapping(sizes)
    splitter = StratifiedShuffleSplit(1000, test_size=0.7, random_state=3)
    exact = evaluate(KNeighborsClassifier(1), X, y, cv=splitter, scoring="recall@2").score
    assert_within_standard_errors(exact, split_recalls(splitter, X, y, 2))


class RandomClassCounts:
    """A given number of random training items from each class."""

    def __init__(self, per_class, repeats, seed):
        self.per_class, self.repeats, self.seed = per_class, repeats, seed

    def split(self, X, y, groups=None):
        del groups
        rng = np.random.default_rng(self.seed)
        for _ in range(self.repeats):
            train = np.concatenate(
                [
                    rng.permutation(np.flatnonzero(y == label))[: self.per_class]
                    for label in np.unique(y)
                ]
            )
            yield train, np.setdiff1d(np.arange(len(X)), train)


@every_balance
@pytest.mark.parametrize("k", [1, 3])
def test_class_counts(sizes, k):
    X, y = overlapping(sizes)
    exact = evaluate(KNeighborsClassifier(k), X, y, cv=ClassCounts(4)).score
    assert_within_standard_errors(exact, split_accuracies(RandomClassCounts(4, 1000, 0), X, y, k))


@pytest.fixture(scope="module")
def grouped():
    X, y = overlapping([17, 12, 8])
    groups = np.random.default_rng(5).integers(0, 7, size=len(y))
    return X, y, groups


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("cv", [LeaveOneGroupOut(), LeavePGroupsOut(2)], ids=str)
def test_loops_over_all_groups(grouped, cv, k):
    """These splitters visit every split: the value is the same, not only close."""
    X, y, groups = grouped
    loop = cross_val_score(KNeighborsClassifier(k), X, y, groups=groups, cv=cv)
    found = evaluate(KNeighborsClassifier(k), X, y, groups=groups, cv=cv)
    assert found.n_splits == len(loop)
    assert found.score == pytest.approx(loop.mean(), abs=1e-12)


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize(
    "options", [{"test_size": 0.3}, {"train_size": 3, "test_size": 2}], ids=str
)
def test_group_shuffles(grouped, options, k):
    X, y, groups = grouped
    splitter = GroupShuffleSplit(1000, random_state=4, **options)
    exact = evaluate(KNeighborsClassifier(k), X, y, groups=groups, cv=splitter).score
    assert_within_standard_errors(exact, split_accuracies(splitter, X, y, k, groups))


@pytest.mark.parametrize(("n_way", "k_shot"), [(2, 1), (3, 2), (4, 5)])
def test_episodes(n_way, k_shot):
    X, y = overlapping(CLASS_SIZES["four"])
    rng = np.random.default_rng(6)
    exact = evaluate(KNeighborsClassifier(1), X, y, cv=Episodes(n_way, k_shot)).score
    scores = []
    for _ in range(1500):
        way = rng.choice(np.unique(y), n_way, replace=False)
        shuffled = [rng.permutation(np.flatnonzero(y == label)) for label in way]
        support = np.concatenate([members[:k_shot] for members in shuffled])
        right = [
            np.mean(predicted_labels(X, y, support, members[k_shot:], 1) == y[members[k_shot:]])
            for members in shuffled
        ]
        scores.append(np.mean(right))
    assert_within_standard_errors(exact, scores)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("q", [0.1, 0.5, 0.8])
def test_bernoulli(q, k):
    X, y = overlapping(CLASS_SIZES["three"])
    n = len(y)
    rng = np.random.default_rng(7)
    exact = evaluate(KNeighborsClassifier(k), X, y, cv=Bernoulli(q)).score
    counted = (1 - q) * binom.sf(k - 1, n - 1, q)
    scores = []
    for _ in range(1500):
        drawn = rng.random(n) < q
        train, test = np.flatnonzero(drawn), np.flatnonzero(~drawn)
        enough = len(train) >= k and len(test)
        right = np.sum(predicted_labels(X, y, train, test, k) == y[test]) if enough else 0
        scores.append(right / (n * counted))
    assert_within_standard_errors(exact, scores)


@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_bootstrap(k):
    X, y = overlapping(CLASS_SIZES["three"])
    n = len(y)
    rng = np.random.default_rng(8)
    exact = evaluate(KNeighborsClassifier(k), X, y, cv=Bootstrap()).score
    out_of_bag = (1 - 1 / n) ** n
    scores = []
    for _ in range(1500):
        train = rng.integers(0, n, size=n)
        test = np.setdiff1d(np.arange(n), train)
        right = np.sum(predicted_labels(X, y, train, test, k) == y[test])
        scores.append(right / (n * out_of_bag))
    assert_within_standard_errors(exact, scores)


@pytest.fixture(scope="module")
def regression():
    return make_regression(30, 3, noise=10, random_state=0)


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("p", [1, 2])
def test_leave_p_out_loop_of_regression(regression, k, p):
    X, y = (part[:14] for part in regression)
    knn = KNeighborsRegressor(k)
    loop = cross_val_score(knn, X, y, cv=LeavePOut(p), scoring="neg_mean_squared_error")
    assert evaluate(knn, X, y, cv=LeavePOut(p)).score == pytest.approx(loop.mean(), rel=1e-12)


@pytest.mark.parametrize("k", [1, 4])
def test_repeated_folds_of_regression(regression, k):
    X, y = regression
    repeats, n_folds = 400, 4
    splitter = RepeatedKFold(n_splits=n_folds, n_repeats=repeats, random_state=9)
    exact = evaluate(KNeighborsRegressor(k), X, y, cv=splitter).score
    errors = split_squared_errors(splitter, X, y, k).reshape(repeats, n_folds)
    assert_within_standard_errors(exact, -errors.mean(axis=1))
