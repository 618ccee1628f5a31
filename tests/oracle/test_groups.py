"""Laws of whole groups against the enumeration of every choice of groups."""

from math import comb

import numpy as np
import pytest
from sklearn.model_selection import GroupShuffleSplit, LeaveOneGroupOut, LeavePGroupsOut
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import evaluate, validation_curve
from oracle import enumerate as oracle
from oracle.checks import (
    check_accuracy,
    check_curve,
    check_recall,
    check_validation_curve,
    every_distance_tie,
    every_geometry,
    every_tie,
    ks_to_try,
    smallest_train,
)
from oracle.compare import assert_matches, assert_matches_exactly
from oracle.datasets import POINTS, dataset
from oracle.laws import name_of

GROUPS = {
    "equal groups": [0, 1, 2, 3, 0, 1, 2, 3],
    "unequal groups": ["p", "q", "q", "r", "s", "q", "r", "p"],
    "one large group": [4, 4, 4, 4, 4, 1, 2, 3],
    "each alone": [7, 6, 5, 4, 3, 2, 1, 0],
}

# (splitter, test groups, training groups; None: all others)
LAWS = [
    (LeaveOneGroupOut(), 1, None),
    (LeavePGroupsOut(2), 2, None),
    (GroupShuffleSplit(test_size=1), 1, None),
    (GroupShuffleSplit(train_size=2, test_size=1), 1, 2),
    (GroupShuffleSplit(test_size=2, train_size=1), 2, 1),
]

LABELLED = ["2 classes", "3 classes, one of one sample"]

every_law = pytest.mark.parametrize(
    ("cv", "n_test", "n_train"), LAWS, ids=[name_of(cv) for cv, _, _ in LAWS]
)
every_grouping = pytest.mark.parametrize("groups", GROUPS.values(), ids=GROUPS.keys())


@every_tie
@every_law
@every_grouping
@pytest.mark.parametrize("labels", LABELLED)
@every_geometry
def test_every_field_for_every_k(points, labels, groups, cv, n_test, n_train, ties):
    data = dataset(points, labels)
    law = oracle.group_subsets(groups, n_test, n_train)
    for k in ks_to_try(law)[:3]:
        check_accuracy(data, cv, law, k, groups=groups, **ties)


@every_distance_tie
@every_law
@every_grouping
@every_geometry
def test_recall_at_every_rank(points, groups, cv, n_test, n_train, distance_ties):
    data = dataset(points, "3 classes")
    law = oracle.group_subsets(groups, n_test, n_train)
    for rank in (1, 2, 3):
        check_recall(data, cv, law, rank, groups=groups, distance_ties=distance_ties)


@every_tie
@every_law
@every_grouping
def test_validation_curve_gives_every_k_at_once(groups, cv, n_test, n_train, ties):
    data = dataset("heavy ties", "3 classes")
    law = oracle.group_subsets(groups, n_test, n_train)
    check_validation_curve(data, cv, law, groups=groups, **ties)


@pytest.mark.parametrize(
    ("cv", "n_splits"),
    [
        (LeaveOneGroupOut(), 4),
        (LeavePGroupsOut(2), comb(4, 2)),
        (GroupShuffleSplit(train_size=2, test_size=1), comb(4, 2) * 2),
    ],
    ids=str,
)
def test_number_of_splits(cv, n_splits):
    data = dataset("no ties", "2 classes")
    groups = GROUPS["unequal groups"]
    found = evaluate(KNeighborsClassifier(1), data.X, data.y, cv=cv, groups=groups)
    assert found.n_splits == n_splits


def test_groups_of_one_are_leave_p_out():
    data = dataset("duplicates", "3 classes")
    law = oracle.fixed_size(data.n, data.n - 2)
    check_accuracy(data, LeavePGroupsOut(2), law, 3, groups=np.arange(data.n))


TARGETS = [3, -1, 4, 1, -5, 9, 2, 6]


@every_distance_tie
@every_law
@every_grouping
@every_geometry
def test_regression(points, groups, cv, n_test, n_train, distance_ties):
    X, law = np.array(POINTS[points]), oracle.group_subsets(groups, n_test, n_train)
    distances = oracle.squared_distances(X)
    options = {"cv": cv, "groups": groups, "distance_ties": distance_ties}
    expected, ks = [], range(1, smallest_train(law) + 1)
    for k in ks:
        answer = oracle.regress(distances, TARGETS, law, k, distance_ties=distance_ties)
        expected.append(answer.score)
        found = evaluate(KNeighborsRegressor(k), X, TARGETS, **options)
        assert_matches(found, answer, f"k={k}", 1e-10)
        exact = evaluate(KNeighborsRegressor(k), X, TARGETS, exact=True, **options)
        assert_matches_exactly(exact, answer, f"k={k}")
    curve = validation_curve(KNeighborsRegressor(), X, TARGETS, n_neighbors=ks, **options)
    check_curve(curve, ks, expected, 1e-10)
