"""Weighted means of nearest neighbours: the integral against the enumeration of every split."""

from fractions import Fraction
from math import exp, fsum, log

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeavePOut
from sklearn.neighbors import KNeighborsRegressor

from allsplits import (
    Bernoulli,
    KNeighborsRegressorCV,
    evaluate,
    learning_curve,
    validation_curve,
)
from allsplits.exact.weighted import _kernels_means as kernels
from oracle import enumerate as oracle
from oracle.checks import every_distance_tie
from oracle.compare import assert_matches, assert_matches_exactly
from oracle.datasets import POINTS
from oracle.test_weighted import POSITIVE, city_block

N = 8


def symmetric(values):
    """A matrix of distances from a table of which the upper half counts."""
    upper = np.triu(values, 1)
    return upper + upper.T


def matrix(kind, seed=0):
    rng = np.random.default_rng(seed)
    shape = (N, N)
    return symmetric(
        {
            "no ties": rng.random(shape) + 0.1,
            "ties": rng.integers(1, 4, shape).astype(float),
            "all tied": np.full(shape, 2.0),
            "zeros and ties": rng.integers(0, 3, shape).astype(float),
            "nearly all zero": (rng.random(shape) < 0.2).astype(float),
            "thirty decades": 10.0 ** rng.uniform(-15, 15, shape),
            "thirty decades and zeros": 10.0 ** rng.uniform(-15, 15, shape)
            * (rng.random(shape) < 0.7),
        }[kind]
    )


TARGETS = {
    "around zero": [3.0, -1.0, 4.0, 1.5, -5.0, 9.0, 2.0, 6.0],
    "constant": [7.0] * N,
    "far from zero": [1e9 + t for t in (3.0, -1.0, 4.0, 1.5, -5.0, 9.0, 2.0, 6.0)],
    "one far out": [0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1e6],
}
KINDS = ["no ties", "ties", "all tied", "zeros and ties", "nearly all zero", "thirty decades",
         "thirty decades and zeros"]  # fmt: skip


def squared_range(targets):
    return (max(targets) - min(targets)) ** 2


def regressor(k, weights="distance"):
    return KNeighborsRegressor(k, weights=weights, metric="precomputed")


@every_distance_tie
@pytest.mark.parametrize("targets", TARGETS.values(), ids=TARGETS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_split(kind, targets, distance_ties):
    D, y = matrix(kind), np.array(targets)
    distances, law = oracle.given_distances(D), oracle.fixed_size(N, 5)
    for k in (1, 2, 3, 5):
        answer = oracle.regress(
            distances, y, law, k, distance_ties=distance_ties, weigh=oracle.one_over_distance
        )
        found = evaluate(regressor(k), D, y, cv=LeavePOut(3), distance_ties=distance_ties)
        off = abs(Fraction(float(found.score)) - answer.score)
        assert off <= Fraction(float(found.error_bound)), k
        assert found.error_bound <= 1e-13 * squared_range(targets) + 1e-14 * abs(found.score)
        for value, expected in zip(found.sample_scores, answer.sample_scores, strict=True):
            assert abs(Fraction(float(value)) - expected) <= 1e-13 * squared_range(targets)


@every_distance_tie
def test_unequal_folds_and_every_k_at_once(distance_ties):
    D, y = matrix("zeros and ties", 1), np.array(TARGETS["around zero"])
    distances, law = oracle.given_distances(D), oracle.folds(N, 3)
    ks = [1, 2, 4, 5]
    expected = [
        oracle.regress(
            distances, y, law, k, distance_ties=distance_ties, weigh=oracle.one_over_distance
        ).score
        for k in ks
    ]
    curve = validation_curve(
        regressor(1), D, y, n_neighbors=ks, cv=KFold(3), distance_ties=distance_ties
    )
    for score, truth in zip(curve.scores, expected, strict=True):
        assert abs(Fraction(float(score)) - truth) <= curve.error_bound
    alone = [
        evaluate(regressor(k), D, y, cv=KFold(3), distance_ties=distance_ties).score for k in ks
    ]
    np.testing.assert_allclose(curve.scores, alone, rtol=1e-13)


def test_learning_curve_of_one_k():
    D, y = matrix("ties", 2), np.array(TARGETS["around zero"])
    distances = oracle.given_distances(D)
    curve = learning_curve(regressor(2), D, y, train_sizes=[2, 3, 5, 7])
    for size, score in zip([2, 3, 5, 7], curve.scores, strict=True):
        truth = oracle.regress(
            distances, y, oracle.fixed_size(N, size), 2, weigh=oracle.one_over_distance
        ).score
        assert abs(Fraction(float(score)) - truth) <= curve.error_bound


def test_tie_groups_that_end_beyond_the_depth():
    """Fractions, where the enumeration would take too long: groups of up to a dozen."""
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 3, (24, 2)).astype(float), rng.normal(size=24)
    for k in (1, 2, 3):
        knn = KNeighborsRegressor(k, weights="distance", metric="manhattan")
        found = evaluate(knn, X, y, cv=LeavePOut(4))
        truth = evaluate(knn, X, y, cv=LeavePOut(4), exact=True)
        assert abs(Fraction(float(found.score)) - truth.fraction) <= found.error_bound
        np.testing.assert_allclose(found.sample_scores, truth.sample_scores, rtol=0, atol=1e-13)


def test_equal_points_by_hundreds_are_a_plain_mean():
    """Everybody in one place but one sample: tie groups of hundreds, in any order of the rows."""
    rng = np.random.default_rng(4)
    y = rng.normal(size=401)
    X = np.zeros((401, 1))
    X[0] = 1.0
    found = evaluate(KNeighborsRegressor(7, weights="distance"), X, y, cv=KFold(5))
    plain = evaluate(KNeighborsRegressor(7), X, y, cv=KFold(5))
    np.testing.assert_allclose(found.sample_scores[0], plain.sample_scores[0], rtol=1e-12)
    permuted = rng.permutation(401)
    again = evaluate(
        KNeighborsRegressor(7, weights="distance"), X[permuted], y[permuted], cv=KFold(5)
    )
    assert abs(again.score - found.score) <= found.error_bound + again.error_bound


def test_weights_that_hardly_differ_are_the_plain_mean():
    """The way of equal votes and this one meet: k = 30 of hundreds."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(300, 3)), 1e6 + rng.normal(size=300)
    ks = [1, 7, 30]

    def nearly_equal(distances):
        return 1.0 + 1e-14 * distances

    curves = [
        validation_curve(KNeighborsRegressor(weights=w), X, y, n_neighbors=ks, cv=KFold(5))
        for w in ("uniform", nearly_equal)
    ]
    np.testing.assert_allclose(curves[0].scores, curves[1].scores, rtol=1e-12)


def test_weights_beyond_the_ratio_of_two_floats():
    """Weights from 1e-300 to 1e300: the lightest still compare among themselves."""

    def steep(distances):
        return 10.0 ** (300 - 200 * distances)

    X, y = np.array([[0.0], [0.5], [2.9], [2.95], [3.0]]), np.array([0.0, 5.0, 1.0, 2.0, 4.0])
    found = evaluate(
        KNeighborsRegressor(2, weights=steep), X, y, cv=LeavePOut(2), distance_ties="index"
    )
    truth = evaluate(
        KNeighborsRegressor(2, weights=steep), X, y, cv=LeavePOut(2), distance_ties="index",
        exact=True,
    )  # fmt: skip
    assert abs(Fraction(float(found.score)) - truth.fraction) <= found.error_bound


@pytest.mark.parametrize("k", [1, 30])
@pytest.mark.parametrize("decades", [0, 3, 30])
def test_the_error_of_the_sum_over_nodes(k, decades):
    """Σ STEP (sW)² e^(-sW) over the nodes is 1 for every sum of weights that occurs."""
    start = log(kernels._NEAR / 30)
    span = log(kernels._FAR / k) - start + decades * log(10)
    nodes = [exp(start + x * kernels.STEP) for x in range(1, int(np.ceil(span / kernels.STEP)))]
    for total in np.geomspace(k * 10.0**-decades, 30, 200):
        terms = [kernels.STEP * (s * total) ** 2 * exp(-s * total) for s in nodes]
        assert abs(fsum(terms) - 1) <= kernels.QUADRATURE


def test_an_ordinary_grid_gives_every_cell():
    """Distances and uniform weights, all k up to 30: once out of reach."""
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(200, 6)), rng.normal(size=200)
    model = KNeighborsRegressorCV(range(1, 31), weights=("uniform", "distance"), cv=KFold(5))
    for curve in model.fit(X, y).curves_.values():
        assert len(curve.scores) == 30
        assert curve.error_bound < 1e-10


@every_distance_tie
@pytest.mark.parametrize("q", [Fraction(1, 3), Fraction(7, 8)])
@pytest.mark.parametrize("weights", POSITIVE, ids=["distance", "growing"])
@pytest.mark.parametrize("points", ["no ties", "duplicates", "heavy ties", "all equally far"])
def test_independent_draws_mix_the_sizes(points, weights, q, distance_ties):
    given, weigh = weights
    X, y = np.array(POINTS[points])[:7], np.array([3, -1, 4, 1, -5, 9, 2])
    distances = oracle.given_distances(city_block(X))
    for k in (1, 2, 4):
        law = oracle.bernoulli(7, q, at_least=k)
        answer = oracle.regress(distances, y, law, k, weigh=weigh, distance_ties=distance_ties)
        knn = KNeighborsRegressor(k, weights=given, metric="manhattan")
        options = {"cv": Bernoulli(q), "distance_ties": distance_ties}
        assert_matches(evaluate(knn, X, y, **options), answer, f"k={k}", 1e-10)
        assert_matches_exactly(evaluate(knn, X, y, exact=True, **options), answer, f"k={k}")
