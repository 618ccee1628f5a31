"""The unbiased variance against all pairs of disjoint training sets and questions."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import ClassCounts, FixedSize, evaluate
from allsplits.exceptions import UnsupportedError
from oracle import enumerate as oracle
from oracle.checks import every_tie
from oracle.datasets import N, dataset
from oracle.test_weighted import TARGETS, city_block, every_weight


def right(data, k, ties, i, train):
    law = [oracle.Split(Fraction(1), train, (i,))]
    return oracle.classify(data.distances, data.labels, law, k, **ties).sample_scores[i]


def by_definition(values, size, n=N):
    """U² - Q; `values` has what each question is worth with each training set."""
    pairs = [(i, s) for s in combinations(range(n), size) for i in oracle.all_but(n, s)]
    mean = oracle.mean(values[pair] for pair in pairs)
    products = [
        values[i, s] * values[j, t] for i, s in pairs for j, t in pairs if not {i, *s} & {j, *t}
    ]
    return mean**2 - oracle.mean(products)


@every_tie
@pytest.mark.parametrize(("k", "size"), [(1, 1), (1, 3), (2, 2), (3, 3)])
@pytest.mark.parametrize("points", ["no ties", "heavy ties"])
@pytest.mark.parametrize("labels", ["2 classes", "3 classes"])
def test_votes(points, labels, k, size, ties):
    data = dataset(points, labels)
    values = {
        (i, s): right(data, k, ties, i, s)
        for s in combinations(range(N), size)
        for i in oracle.all_but(N, s)
    }
    expected = by_definition(values, size)
    options = {"cv": FixedSize(size), **ties}
    exact = evaluate(KNeighborsClassifier(k), data.X, data.y, exact=True, **options)
    assert exact.unbiased_variance().fraction == expected
    found = evaluate(KNeighborsClassifier(k), data.X, data.y, **options).unbiased_variance()
    assert found.variance == pytest.approx(float(expected), abs=1e-12)
    assert not found.sampled


@every_weight
@pytest.mark.parametrize("points", ["no ties", "heavy ties"])
def test_weighted_votes(points, weights):
    given, weigh = weights
    data, k, size = dataset(points, "3 classes"), 2, 3
    distances = oracle.given_distances(city_block(data.X))
    values = {}
    for s in combinations(range(N), size):
        for i in oracle.all_but(N, s):
            law = [oracle.Split(Fraction(1), s, (i,))]
            answer = oracle.classify(distances, data.labels, law, k, weigh=weigh)
            values[i, s] = answer.sample_scores[i]
    expected = by_definition(values, size)
    knn = KNeighborsClassifier(k, weights=given, metric="manhattan")
    for exact in (True, False):
        found = evaluate(knn, data.X, data.y, cv=FixedSize(size), exact=exact).unbiased_variance()
        assert found.variance == pytest.approx(float(expected), abs=1e-12)
        assert found.fraction == (expected if exact else None)


def test_weighted_means_and_recall():
    data, size = dataset("no ties", "3 classes"), 3
    distances, weigh = oracle.given_distances(city_block(data.X)), oracle.one_over_distance
    knn = KNeighborsRegressor(2, weights="distance", metric="manhattan")
    ways = [
        (knn, TARGETS, None, lambda law: oracle.regress(distances, TARGETS, law, 2, weigh=weigh)),
        (
            KNeighborsClassifier(2, metric="manhattan"), data.y, "recall@2",
            lambda law: oracle.recall(distances, data.labels, law, 2),
        ),
    ]  # fmt: skip
    for estimator, y, scoring, ask in ways:
        values = {
            (i, s): ask([oracle.Split(Fraction(1), s, (i,))]).sample_scores[i]
            for s in combinations(range(N), size)
            for i in oracle.all_but(N, s)
        }
        found = evaluate(estimator, data.X, y, cv=FixedSize(size), scoring=scoring, exact=True)
        assert found.unbiased_variance().fraction == by_definition(values, size)


def test_means():
    data = dataset("no ties", "2 classes")
    y = [3, -1, 4, 1, -5, 9, 2, 6]
    values = {}
    for s in combinations(range(N), 2):
        for i in oracle.all_but(N, s):
            law = [oracle.Split(Fraction(1), s, (i,))]
            values[i, s] = oracle.regress(data.distances, y, law, 2).sample_scores[i]
    found = evaluate(KNeighborsRegressor(2), data.X, y, cv=FixedSize(2)).unbiased_variance()
    assert found.variance == pytest.approx(float(by_definition(values, 2)), rel=1e-9)


def test_drawn_cuts_agree_with_all_cuts(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10, 2)), np.arange(10) % 2
    found = evaluate(KNeighborsClassifier(1), X, y, cv=FixedSize(4))
    every = found.unbiased_variance()
    monkeypatch.setattr("allsplits.exact.halves._FEW_CUTS", 0)
    drawn = found.unbiased_variance(n_cuts=400)
    assert drawn.sampled
    assert "SAMPLED from 400 cuts" in repr(drawn)
    assert abs(drawn.variance - every.variance) < 4 * drawn.standard_error
    assert found.unbiased_variance(n_cuts=50) == found.unbiased_variance(n_cuts=50)


@pytest.mark.parametrize("n", [250, 251])
def test_rows_of_halves_are_deep_enough(n):
    """Shallow and complete orders give the same; halves of different sizes as well."""
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n, 2)), rng.integers(0, 3, n)
    found = evaluate(KNeighborsClassifier(3), X, y, cv=FixedSize(120)).unbiased_variance(n_cuts=5)
    sums = []
    draw = np.random.default_rng(0)
    score = evaluate(KNeighborsClassifier(3), X, y, cv=FixedSize(120)).score
    for _ in range(5):
        half = np.isin(np.arange(n), draw.permutation(n)[: n // 2])
        one, other = (
            evaluate(KNeighborsClassifier(3), X[keep], y[keep], cv=FixedSize(120)).score
            for keep in (half, ~half)
        )
        sums.append(-(one - score) * (other - score))
    assert found.variance == pytest.approx(np.mean(sums), abs=1e-12)


def test_it_is_right_on_average(monkeypatch):
    """Over data sets: the mean of the estimates is the variance of the scores."""
    monkeypatch.setattr("allsplits.exact.halves._FEW_CUTS", 0)
    rng = np.random.default_rng(1)
    scores, variances = [], []
    for _ in range(400):
        y = rng.integers(0, 2, 14)
        y[:2] = 0, 1
        X = rng.normal(size=(14, 1)) + y[:, None]
        found = evaluate(KNeighborsClassifier(1), X, y, cv=FixedSize(6))
        scores.append(found.score)
        variances.append(found.unbiased_variance(n_cuts=10).variance)
    noise = np.var(scores) * np.sqrt(2 / 400) + np.std(variances) / 20
    assert abs(np.mean(variances) - np.var(scores)) < 3 * noise


@pytest.mark.parametrize(
    ("cv", "scoring", "words"),
    [
        (FixedSize(8), "accuracy", "at most 7 of 16"),
        (ClassCounts(2), "accuracy", "one fixed size"),
        (FixedSize(5), "balanced_accuracy", "balanced_accuracy"),
    ],
)
def test_where_there_is_none(cv, scoring, words):
    X = np.arange(16.0)[:, None] ** 2
    found = evaluate(KNeighborsClassifier(1), X, np.arange(16) % 2, cv=cv, scoring=scoring)
    with pytest.raises(UnsupportedError, match=words):
        found.unbiased_variance()
