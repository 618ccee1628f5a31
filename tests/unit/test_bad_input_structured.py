"""Wrong input to splits with structure: what is wrong, and what would work."""

import numpy as np
import pytest
from sklearn import model_selection as splitters
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import cmc_curve, evaluate, learning_curve
from allsplits.exceptions import UnsupportedError
from allsplits.splits import Bernoulli, Bootstrap, ClassCounts, Episodes
from unit.refused import refused

N = 12
X = np.random.default_rng(0).normal(size=(N, 3))
y = np.array([0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2])
KNN = KNeighborsClassifier(1)


BAD_LAWS = {
    "class with too few items": (ClassCounts(4), ["class", "0", "3", "4"]),
    "nothing left to test": (ClassCounts({0: 3, 1: 5, 2: 4}), ["counts", "test sample", "12", "0"]),
    "missing class": (ClassCounts({0: 1, 1: 1}), ["class", "2"]),
    "unknown class": (ClassCounts({0: 1, 1: 1, 2: 1, 9: 1}), ["class", "9"]),
    "nothing from any class": (ClassCounts(0), ["0"]),
    "negative count": (ClassCounts({0: -1, 1: 1, 2: 1}), ["-1"]),
    "a fraction of a class": (ClassCounts(1.5), ["1.5"]),
    "counts as a word": (ClassCounts("one"), ["one"]),
    "too many folds for every class": (splitters.StratifiedKFold(6), ["n_splits", "6", "5"]),
    "too many folds in all": (splitters.RepeatedStratifiedKFold(n_splits=13), ["n_splits", "13"]),
    "shuffle too small for the classes": (
        splitters.StratifiedShuffleSplit(test_size=2),
        ["2", "3"],
    ),
    "more ways than classes": (Episodes(4, 1), ["n_way", "3", "4"]),
    "one way": (Episodes(1, 1), ["n_way", "2", "1"]),
    "more shots than items": (Episodes(2, 4), ["k_shot", "3", "4"]),
    "no shot": (Episodes(2, 0), ["k_shot", "1", "0"]),
    "probability one": (Bernoulli(1.0), ["q", "1.0"]),
    "probability zero": (Bernoulli(0.0), ["q", "0.0"]),
    "probability above one": (Bernoulli(1.5), ["q", "1.5"]),
    "probability in words": (Bernoulli("half"), ["q", "half"]),
    "no groups": (splitters.LeaveOneGroupOut(), ["groups", "None"]),
    "no groups to shuffle": (splitters.GroupShuffleSplit(test_size=1), ["groups", "None"]),
    "no groups to leave out": (splitters.LeavePGroupsOut(2), ["groups", "None"]),
}


@pytest.mark.parametrize(("cv", "words"), BAD_LAWS.values(), ids=BAD_LAWS.keys())
def test_laws(cv, words):
    refused(lambda: evaluate(KNN, X, y, cv=cv), *words)


@pytest.mark.parametrize(
    ("cv", "groups", "words"),
    [
        (splitters.LeaveOneGroupOut(), np.zeros(N), ["groups", "2", "1"]),
        (splitters.LeavePGroupsOut(3), np.arange(N) % 3, ["groups", "3"]),
        (splitters.GroupShuffleSplit(test_size=3), np.arange(N) % 3, ["groups", "3"]),
        (splitters.LeaveOneGroupOut(), np.arange(N - 1) % 3, ["groups", "12", "11"]),
        (splitters.LeaveOneGroupOut(), np.zeros((N, 2)), ["groups"]),
    ],
    ids=["one group", "all groups out", "all groups in the test", "too short", "two columns"],
)
def test_groups(cv, groups, words):
    refused(lambda: evaluate(KNN, X, y, cv=cv, groups=groups), *words)


@pytest.mark.parametrize(
    "cv", [ClassCounts(1), splitters.StratifiedShuffleSplit(test_size=4), Episodes(2, 1)], ids=str
)
def test_a_class_of_one_sample_cannot_be_both_trained_on_and_tested(cv):
    alone = y.copy()
    alone[0] = 7
    refused(lambda: evaluate(KNN, X, alone, cv=cv), "class", "7", "1")


@pytest.mark.parametrize(
    ("cv", "k", "largest"),
    [
        (ClassCounts(1), 4, 3),
        (splitters.StratifiedKFold(2), 7, 6),
        (splitters.LeaveOneGroupOut(), 9, 8),
    ],
    ids=str,
)
def test_more_neighbours_than_training_samples(cv, k, largest):
    groups = np.arange(N) % 3 if isinstance(cv, splitters.LeaveOneGroupOut) else None
    evaluate(KNeighborsClassifier(largest), X, y, cv=cv, groups=groups)
    refused(
        lambda: evaluate(KNeighborsClassifier(k), X, y, cv=cv, groups=groups),
        "n_neighbors",
        str(largest),
        str(k),
    )


@pytest.mark.parametrize(
    "cv",
    [
        ClassCounts(1),
        splitters.StratifiedKFold(2),
        splitters.StratifiedShuffleSplit(test_size=4),
        Episodes(2, 1),
    ],
    ids=str,
)
def test_laws_of_classes_need_classes(cv):
    targets = X[:, 0]
    refused(lambda: evaluate(KNeighborsRegressor(1), X, targets, cv=cv), "cv")


@pytest.mark.parametrize("scoring", ["accuracy", "recall@2", "r2"])
def test_scorings_of_regression(scoring):
    refused(
        lambda: evaluate(
            KNeighborsRegressor(1), X, X[:, 0], cv=splitters.KFold(3), scoring=scoring
        ),
        "scoring",
        "neg_mean_squared_error",
        scoring,
    )


def test_scorings_of_classification():
    refused(
        lambda: evaluate(KNN, X, y, cv=splitters.LeaveOneOut(), scoring="neg_mean_squared_error"),
        "scoring",
        "accuracy",
        "neg_mean_squared_error",
    )


@pytest.mark.parametrize(
    "targets",
    [np.append(X[:-1, 0], np.nan), np.append(X[:-1, 0], np.inf), ["low"] * N, X[:-1, 0], X[:, :2]],
    ids=["NaN", "infinity", "words", "too short", "two columns"],
)
def test_targets(targets):
    refused(lambda: evaluate(KNeighborsRegressor(1), X, targets, cv=splitters.KFold(3)), "y")


def test_a_pair_without_a_formula_says_what_has_one():
    """The error names what can be done instead."""
    weighted = KNeighborsClassifier(3, weights="distance")
    with pytest.raises(UnsupportedError, match=r"weights='distance'.*KFold.*weights='uniform'"):
        evaluate(weighted, X, y, cv=Bootstrap())


@pytest.mark.parametrize("ranks", [[], [0], [1.5], "all", [-1]], ids=lambda ranks: repr(ranks))
def test_ranks(ranks):
    refused(lambda: cmc_curve(X, y, ranks=ranks), "ranks")


@pytest.mark.parametrize("sizes", [[0], [3], [1, 9]], ids=str)
def test_shots(sizes):
    refused(lambda: learning_curve(KNN, X, y, stratify=True, train_sizes=sizes), "train_sizes", "2")


def test_strata_of_regressors_only():
    regressor, targets = KNeighborsRegressor(2), X[:, 0]
    stratified = splitters.StratifiedKFold(2)
    refused(lambda: evaluate(KNN, X, y, strata=y), "strata", "None", "classifier")
    refused(lambda: evaluate(regressor, X, targets, strata=y[:5]), "strata", "12", "5")
    refused(lambda: evaluate(regressor, X, targets, strata=targets), "strata", "class labels")
    missing = [None] + ["a"] * 11
    refused(lambda: evaluate(regressor, X, targets, strata=missing), "strata", "missing")
    refused(lambda: evaluate(regressor, X, targets, cv=stratified), "strata", "no classes")
    refused(lambda: evaluate(regressor, X, targets, cv=ClassCounts(4), strata=y), "counts", "3")
    weighted = KNeighborsRegressor(2, weights="distance")
    refused(lambda: evaluate(weighted, X, targets, cv=stratified, strata=y), "weights")
    refused(lambda: learning_curve(regressor, X, targets, stratify=True), "stratify", "strata")
    refused(
        lambda: evaluate(regressor, X, targets, cv=ClassCounts(3 * [1]), strata=y), "counts", "got"
    )
