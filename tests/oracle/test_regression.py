"""Nearest-neighbour regression against the enumeration of every split."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsRegressor

from allsplits import evaluate, learning_curve, validation_curve
from oracle import enumerate as oracle
from oracle.checks import check_curve, every_distance_tie, ks_to_try, smallest_train
from oracle.compare import assert_matches, assert_matches_exactly
from oracle.datasets import POINTS
from oracle.laws import CORE_FIXED_SIZE_LAWS, OTHER_FIXED_SIZE_LAWS

TARGETS = {
    "integers": [3, -1, 4, 1, -5, 9, 2, 6],
    "binary fractions": [0.5, 0.25, -0.75, 2.0, 0.5, 1.5, -1.0, 0.125],
    "constant": [2] * 8,
}

# squared errors are of the size of squared targets, and so are their rounding errors
LARGEST_BOUND = 1e-11

every_geometry = pytest.mark.parametrize("points", POINTS)
every_target = pytest.mark.parametrize("targets", TARGETS.values(), ids=TARGETS.keys())
core_laws = pytest.mark.parametrize("case", CORE_FIXED_SIZE_LAWS, ids=str)
other_laws = pytest.mark.parametrize("case", OTHER_FIXED_SIZE_LAWS, ids=str)


@every_distance_tie
@core_laws
@every_target
@every_geometry
def test_all_data(points, targets, case, distance_ties):
    check_every_field_for_every_k(points, targets, case, distance_ties)


@every_distance_tie
@other_laws
@every_geometry
def test_all_laws(points, case, distance_ties):
    check_every_field_for_every_k(points, TARGETS["integers"], case, distance_ties)


def check_every_field_for_every_k(points, targets, case, distance_ties):
    X, y = np.array(POINTS[points]), np.array(targets)
    law = case.law(len(y))
    for k in ks_to_try(law):
        answer = oracle.regress(oracle.squared_distances(X), y, law, k, distance_ties=distance_ties)
        options = {"cv": case.cv, "distance_ties": distance_ties}
        found = evaluate(KNeighborsRegressor(k), X, y, **options)
        assert found.n_splits == case.n_splits(len(y))
        assert_matches(found, answer, f"k={k}", LARGEST_BOUND)
        exact = evaluate(KNeighborsRegressor(k), X, y, exact=True, **options)
        assert_matches_exactly(exact, answer, f"k={k}")


@every_distance_tie
@core_laws
@every_geometry
def test_validation_curve_gives_every_k_at_once(points, case, distance_ties):
    X, y = np.array(POINTS[points]), np.array(TARGETS["integers"])
    law = case.law(len(y))
    ks = range(1, smallest_train(law) + 1)
    distances = oracle.squared_distances(X)
    expected = [oracle.regress(distances, y, law, k, distance_ties=distance_ties).score for k in ks]
    options = {"n_neighbors": ks, "cv": case.cv, "distance_ties": distance_ties}
    curve = validation_curve(KNeighborsRegressor(), X, y, **options)
    check_curve(curve, ks, expected, LARGEST_BOUND)
    exact = validation_curve(KNeighborsRegressor(), X, y, exact=True, **options)
    assert list(exact.fractions) == expected
    assert exact.best == ks[expected.index(max(expected))]


@every_distance_tie
@pytest.mark.parametrize("k", [1, 3])
@every_geometry
def test_learning_curve_gives_every_size_at_once(points, k, distance_ties):
    X, y = np.array(POINTS[points]), np.array(TARGETS["integers"])
    distances = oracle.squared_distances(X)
    sizes = list(range(k, len(y)))
    expected = [
        oracle.regress(
            distances, y, oracle.fixed_size(len(y), a), k, distance_ties=distance_ties
        ).score
        for a in sizes
    ]
    curve = learning_curve(
        KNeighborsRegressor(k), X, y, train_sizes=sizes, distance_ties=distance_ties
    )
    check_curve(curve, sizes, expected, LARGEST_BOUND)


def test_the_scoring_may_be_named():
    X, y = np.array(POINTS["no ties"]), np.array(TARGETS["integers"])
    law = oracle.folds(len(y), 4)
    answer = oracle.regress(oracle.squared_distances(X), y, law, 2)
    found = evaluate(KNeighborsRegressor(2), X, y, cv=4, scoring="neg_mean_squared_error")
    assert_matches(found, answer, largest_bound=LARGEST_BOUND)


def test_an_integer_means_plain_folds():
    X, y = np.array(POINTS["no ties"]), np.array(TARGETS["integers"])
    answer = oracle.regress(oracle.squared_distances(X), y, oracle.folds(len(y), 5), 2)
    for cv in (None, 5):
        found = evaluate(KNeighborsRegressor(2), X, y, cv=cv)
        assert_matches(found, answer, largest_bound=LARGEST_BOUND)
