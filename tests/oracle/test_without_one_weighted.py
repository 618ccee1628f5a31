"""Weighted votes and means with each sample gone, against enumeration of the smaller data set."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import Bernoulli, ClassCounts, FixedSize, evaluate
from allsplits.model_selection._spreads import without_one
from oracle import enumerate as oracle
from oracle.checks import every_distance_tie, every_tie
from oracle.datasets import dataset
from oracle.test_weighted import POSITIVE, TARGETS, WEIGHTS, city_block, every_weight
from oracle.test_without_one import (
    check_answers,
    counted_twice,
    counts_without,
    every_fixed_size,
    fewer,
    mixture,
)

POINTS = ["no ties", "heavy ties", "duplicates"]


def rest_of(distances, sample: int):
    kept = oracle.all_but(len(distances), [sample])
    return tuple(tuple(distances[i][j] for j in kept) for i in kept), kept


def classifier(k, weights, data, **options):
    knn = KNeighborsClassifier(k, weights=weights, metric="manhattan")
    return evaluate(knn, data.X, data.y, **options)


@every_tie
@every_fixed_size
@every_weight
@pytest.mark.parametrize("points", POINTS)
def test_votes_of_fixed_size(points, weights, cv, sizes, ties):
    given, weigh = weights
    data = dataset(points, "3 classes")
    law = mixture(data.n - 1, sizes)
    whole = oracle.given_distances(city_block(data.X))
    for k in (1, 2, 3):
        answers = []
        for j in range(data.n):
            distances, kept = rest_of(whole, j)
            labels = tuple(data.labels[i] for i in kept)
            answers.append(oracle.classify(distances, labels, law, k, weigh=weigh, **ties))
        check_answers(classifier(k, given, data, cv=cv, **ties), answers)


@every_weight
def test_votes_under_independent_draws(weights):
    given, weigh = weights
    data, q = dataset("heavy ties", "3 classes"), Fraction(2, 3)
    whole = oracle.given_distances(city_block(data.X))
    for k in (2, 3):
        answers = []
        for j in range(data.n):
            distances, kept = rest_of(whole, j)
            labels, law = tuple(data.labels[i] for i in kept), oracle.bernoulli(data.n - 1, q, k)
            answers.append(oracle.classify(distances, labels, law, k, weigh=weigh))
        check_answers(classifier(k, given, data, cv=Bernoulli(q)), answers)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("labels", ["2 classes", "3 classes", "2 classes, one of one sample"])
@pytest.mark.parametrize("points", POINTS)
def test_votes_of_class_counts(points, labels, weights):
    given, weigh = WEIGHTS[weights]
    data = dataset(points, labels)
    counts = {c: min(2, data.labels.count(c)) for c in set(data.labels)}
    tests = {c: data.labels.count(c) - taken for c, taken in counts.items()}
    whole = oracle.given_distances(city_block(data.X))
    for k in (1, 2):
        answers = []
        for j in range(data.n):
            law = counts_without(data.labels, j, [(Fraction(1), counts, tests)])
            distances, kept = rest_of(whole, j)
            rest = tuple(data.labels[i] for i in kept)
            answers.append(oracle.classify(distances, rest, law, k, weigh=weigh))
        check_answers(classifier(k, given, data, cv=ClassCounts(counts)), answers, data.labels)


@pytest.mark.parametrize("points", POINTS)
def test_a_grid_says_how_far_off_it_is(points):
    data = dataset(points, "2 classes")
    whole = oracle.given_distances(city_block(data.X))
    law = oracle.fixed_size(data.n - 1, fewer(4, data.n))
    weigh = WEIGHTS["distance"][1]
    expected = []
    for j in range(data.n):
        distances, kept = rest_of(whole, j)
        labels = tuple(data.labels[i] for i in kept)
        expected.append(oracle.classify(distances, labels, law, 3, weigh=weigh).score)
    found = classifier(3, "distance", data, cv=FixedSize(4), max_states=64, vote_tol=0.5)
    without = without_one(found.task)
    off = np.abs(without.scores[:, 0] - np.array(expected, dtype=float))
    assert np.all(off <= without.error_bound[0])


@every_distance_tie
@every_fixed_size
@pytest.mark.parametrize("weights", POSITIVE, ids=["distance", "growing"])
@pytest.mark.parametrize("points", POINTS)
def test_means(points, weights, cv, sizes, distance_ties):
    given, weigh = weights
    X, y = dataset(points, "2 classes").X, np.array(TARGETS)
    law = mixture(len(y) - 1, sizes)
    whole = oracle.given_distances(city_block(X))
    for k in (1, 2, 3):
        answers = []
        for j in range(len(y)):
            distances, kept = rest_of(whole, j)
            rest = [TARGETS[i] for i in kept]
            answers.append(
                oracle.regress(distances, rest, law, k, weigh=weigh, distance_ties=distance_ties)
            )
        knn = KNeighborsRegressor(k, weights=given, metric="manhattan")
        found = evaluate(knn, X, y, cv=cv, distance_ties=distance_ties)
        expected = [float(answer.score) for answer in answers]
        np.testing.assert_allclose(found.without_one, expected, rtol=1e-11, atol=1e-9)
        twice = float(counted_twice(answers, [0] * len(y)))
        assert found.moves.counted_twice == pytest.approx(twice, rel=1e-9, abs=1e-9)


@every_tie
@every_weight
@pytest.mark.parametrize("labels", ["2 classes, one of one sample", "3 classes, one of one sample"])
@pytest.mark.parametrize("points", POINTS)
def test_a_class_that_vanishes_is_none(points, labels, weights, ties):
    """Steps may leave nobody with any weight: then the first class wins that is still there."""
    given, weigh = weights
    data = dataset(points, labels)
    law = oracle.fixed_size(data.n - 1, fewer(4, data.n))
    whole = oracle.given_distances(city_block(data.X))
    for k in (1, 2):
        answers = []
        for j in range(data.n):
            distances, kept = rest_of(whole, j)
            rest = tuple(data.labels[i] for i in kept)
            answers.append(oracle.classify(distances, rest, law, k, weigh=weigh, **ties))
        check_answers(classifier(k, given, data, cv=FixedSize(4), **ties), answers)
        exact = classifier(k, given, data, cv=FixedSize(4), exact=True, **ties)
        assert list(exact.fractions_without_one) == [answer.score for answer in answers]


def test_weights_that_are_never_zero_need_one_pass(monkeypatch):
    monkeypatch.setattr("allsplits.exact.leaving_out._leave_out_each", None)
    knn = KNeighborsClassifier(1, weights=lambda distances: 0.5**distances)
    found = evaluate(knn, [[0.0], [2], [2], [3], [2]], [0, 1, 1, 1, 1], cv=FixedSize(3))
    np.testing.assert_allclose(found.without_one, [1, 0.75, 0.75, 0.75, 0.75])
