"""Independent draws and draws with replacement against the enumeration of every outcome."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsRegressor

from allsplits import Bernoulli, Bootstrap, evaluate, validation_curve
from oracle import enumerate as oracle
from oracle.checks import (
    check_accuracy,
    check_curve,
    check_recall,
    every_distance_tie,
    every_geometry,
    every_tie,
)
from oracle.compare import assert_matches, assert_matches_exactly
from oracle.datasets import BALANCED, POINTS, Dataset, dataset

every_label = pytest.mark.parametrize("labels", [*BALANCED, "3 classes, one of one sample"])


def first(data: Dataset, n: int) -> Dataset:
    """The first rows only: outcomes with replacement are many."""
    return Dataset(data.name, data.X[:n], data.y[:n])


@every_tie
@pytest.mark.parametrize("q", [0.25, 0.875])
@every_label
@every_geometry
def test_bernoulli(points, labels, q, ties):
    data = first(dataset(points, labels), 7)
    for k in (1, 2, 3, 6):
        check_accuracy(data, Bernoulli(q), oracle.bernoulli(data.n, q, at_least=k), k, **ties)


@every_tie
@every_label
@every_geometry
def test_bootstrap(points, labels, ties):
    data = first(dataset(points, labels), 5)
    law = oracle.bootstrap(data.n)
    for k in (1, 2, 3, 5):
        check_accuracy(data, Bootstrap(), law, k, **ties)


@every_distance_tie
@every_geometry
def test_bernoulli_recall(points, distance_ties):
    """Given that there are `rank` training items, as with `rank` voters."""
    data = first(dataset(points, "3 classes"), 6)
    for rank in (1, 2, 3):
        law = oracle.bernoulli(data.n, 0.5, at_least=rank)
        check_recall(data, Bernoulli(0.5), law, rank, distance_ties=distance_ties)


@every_distance_tie
@every_geometry
def test_bootstrap_recall(points, distance_ties):
    data = first(dataset(points, "3 classes"), 5)
    law = oracle.bootstrap(data.n)
    for rank in (1, 2, 3):
        check_recall(data, Bootstrap(), law, rank, distance_ties=distance_ties)


@every_distance_tie
@every_geometry
def test_bootstrap_regression(points, distance_ties):
    X, y = np.array(POINTS[points])[:6], np.array([3, -1, 4, 1, -5, 9])
    law, distances = oracle.bootstrap(6), oracle.squared_distances(X)
    options = {"cv": Bootstrap(), "distance_ties": distance_ties}
    expected = []
    for k in (1, 2, 3, 6):
        answer = oracle.regress(distances, y, law, k, distance_ties=distance_ties)
        expected.append(answer.score)
        found = evaluate(KNeighborsRegressor(k), X, y, **options)
        assert_matches(found, answer, f"k={k}", 1e-11)
        exact = evaluate(KNeighborsRegressor(k), X, y, exact=True, **options)
        assert_matches_exactly(exact, answer, f"k={k}")
    curve = validation_curve(KNeighborsRegressor(), X, y, n_neighbors=[1, 2, 3, 6], **options)
    check_curve(curve, [1, 2, 3, 6], expected, 1e-11)


def test_a_mean_of_bags_beside_scikit_learn():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.normal(size=80)
    found = evaluate(KNeighborsRegressor(5), X, y, cv=Bootstrap())
    errors, tested = np.zeros(80), np.zeros(80)
    for _ in range(3000):
        bag = rng.integers(80, size=80)
        out = np.setdiff1d(np.arange(80), bag)
        predicted = KNeighborsRegressor(5).fit(X[bag], y[bag]).predict(X[out])
        errors[out] += (predicted - y[out]) ** 2
        tested[out] += 1
    assert -found.score == pytest.approx(np.mean(errors / tested), rel=0.01)
    assert found.interval().low < found.score < found.interval().high


def test_scores_of_means_of_bags_without_each_sample():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(14, 2)), rng.normal(size=14)
    knn = KNeighborsRegressor(3)
    without = evaluate(knn, X, y, cv=Bootstrap()).without_one
    for i in range(14):
        smaller = evaluate(knn, np.delete(X, i, 0), np.delete(y, i), cv=Bootstrap())
        assert without[i] == pytest.approx(smaller.score, abs=1e-6)
