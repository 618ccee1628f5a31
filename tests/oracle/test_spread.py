"""The spread between runs against the enumeration of every run."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from sklearn.model_selection import (
    KFold,
    LeaveOneOut,
    LeavePOut,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.neighbors import KNeighborsClassifier

from allsplits import ClassCounts, FixedSize, evaluate, order_neighbors
from allsplits.exact import Column
from allsplits.exact.pairs.lists import listed_orders
from allsplits.exact.pairs.nearest import find_changes, nearest_moments
from allsplits.exact.pairs.race import race_moments
from allsplits.exact.pairs.runs import Runs
from oracle import enumerate as oracle
from oracle import spread
from oracle.checks import every_tie
from oracle.datasets import dataset

N = 8
GEOMETRIES = ["no ties", "duplicates"]


def fixed(size):
    return lambda labels: spread.of_splits(oracle.fixed_size(N, size))


def folds(number):
    return lambda labels: spread.of_folds(N, number)


def stratified(number):
    return lambda labels: spread.of_stratified_folds(labels, number)


def counts(number):
    return lambda labels: spread.of_splits(
        oracle.class_counts(labels, dict.fromkeys(labels, number))
    )


SINGLE = {
    "FixedSize(3)": (FixedSize(3), fixed(3)),
    "LeavePOut(2)": (LeavePOut(2), fixed(N - 2)),
    "LeaveOneOut": (LeaveOneOut(), fixed(N - 1)),
    "ShuffleSplit(4, 2)": (
        ShuffleSplit(train_size=4, test_size=2),
        lambda labels: spread.of_splits(oracle.train_and_test_size(N, 4, 2)),
    ),
}
BY_CLASS = {
    "ClassCounts(1)": (ClassCounts(1), counts(1)),
    "StratifiedShuffleSplit(4, 3)": (
        StratifiedShuffleSplit(train_size=4, test_size=3),
        lambda labels: spread.of_splits(oracle.stratified_shuffles(labels, 4, 3)),
    ),
}
RACES = {
    **SINGLE,
    "ClassCounts(2)": (ClassCounts(2), counts(2)),
    "StratifiedShuffleSplit(4, 3)": BY_CLASS["StratifiedShuffleSplit(4, 3)"],
}
FOLDS = {
    "KFold(2)": (KFold(2), folds(2)),
    "KFold(3)": (KFold(3, shuffle=True), folds(3)),
    "KFold(5)": (RepeatedKFold(n_splits=5), folds(5)),
    "StratifiedKFold(2)": (StratifiedKFold(2), stratified(2)),
    "StratifiedKFold(3)": (StratifiedKFold(3), stratified(3)),
}


def check(data, cv, runs, k, *, balanced=False, **ties):
    """Both the floats and the fractions."""
    scores = spread.run_scores(data, runs, k, balanced=balanced, **ties)
    mean, variance = spread.moments(scores)
    options = {"cv": cv, "scoring": "balanced_accuracy" if balanced else "accuracy", **ties}
    knn = KNeighborsClassifier(k)
    evaluation = evaluate(knn, data.X, data.y, **options)
    found = evaluation.split_spread(method="exact")
    assert evaluation.score == pytest.approx(float(mean), abs=1e-12)
    assert abs(Fraction(found.std) ** 2 - variance) < 1e-10
    assert abs(found.std - float(variance) ** 0.5) <= found.error_bound <= 1e-4
    exact = evaluate(knn, data.X, data.y, exact=True, **options).split_spread(method="exact")
    assert exact.variance == variance
    assert not exact.sampled
    assert exact.error_bound == 0


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize(
    ("points", "distance_ties"),
    [("no ties", "average"), ("duplicates", "average"), ("duplicates", "index")],
)
@pytest.mark.parametrize("labels", ["2 classes", "3 classes, one of one sample"])
@pytest.mark.parametrize("law", [*SINGLE, *FOLDS])
def test_nearest_neighbour(law, labels, points, distance_ties):
    data = dataset(points, labels)
    cv, runs = {**SINGLE, **FOLDS}[law]
    check(data, cv, runs(data.labels), 1, distance_ties=distance_ties)


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("labels", ["2 classes", "3 classes"])
@pytest.mark.parametrize("law", [*BY_CLASS, "StratifiedKFold(2)"])
def test_nearest_neighbour_of_class_counts(law, labels, balanced):
    data = dataset("no ties", labels)
    cv, runs = {**BY_CLASS, **FOLDS}[law]
    check(data, cv, runs(data.labels), 1, balanced=balanced)


def test_counts_that_differ_by_class():
    data = dataset("no ties", "2 classes, unbalanced")
    counts = {-2: 1, 5: 3}
    runs = spread.of_splits(oracle.class_counts(data.labels, counts))
    check(data, ClassCounts(counts), runs, 1)
    check(data, ClassCounts(counts), runs, 3)


@every_tie
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("points", GEOMETRIES)
@pytest.mark.parametrize("law", RACES)
def test_votes_of_two_classes(law, points, k, ties):
    data = dataset(points, "2 classes")
    cv, runs = RACES[law]
    check(data, cv, runs(data.labels), k, **ties)


@pytest.mark.parametrize("k", [4, 5])
@pytest.mark.parametrize("labels", ["2 classes, unbalanced", "2 classes, one of one sample"])
@pytest.mark.parametrize("size", [5, 6])
def test_more_voters_and_uneven_classes(size, labels, k):
    data = dataset("no ties", labels)
    check(data, FixedSize(size), fixed(size)(data.labels), k, label_ties="share")


@pytest.mark.parametrize(
    ("law", "k"),
    [
        ("ShuffleSplit(4, 2)", 1),
        ("KFold(3)", 1),
        ("StratifiedKFold(3)", 1),
        ("FixedSize(3)", 2),
        ("ShuffleSplit(4, 2)", 3),
        ("StratifiedShuffleSplit(4, 3)", 3),
    ],
)
def test_every_pair_of_samples(law, k):
    """Two samples alone: all other rows count nothing."""
    data = dataset("no ties", "2 classes")
    cv, runs = {**SINGLE, **BY_CLASS, **FOLDS}[law]
    runs = runs(data.labels)
    task = evaluate(KNeighborsClassifier(k), data.X, data.y, cv=cv).task
    found = Runs.of(task.ask([Column(k, task.law)], want_samples=True))
    order = order_neighbors(data.X, depth=N - 1)
    codes = task.samples.codes
    rows = listed_orders(order, codes, found.pools, average=True, nearest=k == 1)
    for pair in combinations(range(N), 2):
        lists = rows._replace(shares=np.isin(rows.owners, pair).astype(float))
        if k == 1:
            changes = find_changes(lists, len(found.sizes))
            _, second = nearest_moments(lists, changes, found, 1)
        else:
            _, second = race_moments(lists, k, found, 1, share=False)
        expected = spread.second_moment_of(pair, data, runs, k)
        assert second == pytest.approx(float(expected), abs=1e-14), pair


def test_folds_of_one_sample_leave_nothing_to_chance():
    data = dataset("no ties", "3 classes")
    evaluation = evaluate(KNeighborsClassifier(1), data.X, data.y, cv=KFold(N))
    assert evaluation.split_std == 0
    alone = evaluate(KNeighborsClassifier(1), data.X, data.y, cv=LeaveOneOut())
    p = evaluation.score
    assert alone.split_std == pytest.approx((p * (1 - p)) ** 0.5)


def test_the_enumeration_sees_a_wrong_run():
    """Folds of a run are not independent splits."""
    data = dataset("no ties", "2 classes")
    together = spread.moments(spread.run_scores(data, spread.of_folds(N, 2), 1))
    alone = spread.moments(spread.run_scores(data, spread.of_splits(oracle.fixed_size(N, 4)), 1))
    assert together[0] == alone[0]
    assert alone[1] / 2 != together[1] < alone[1]
