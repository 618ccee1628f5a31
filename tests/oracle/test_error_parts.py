"""Bias and variance of regression over all training sets, against the enumeration."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor

from allsplits import Bernoulli, FixedSize, evaluate
from oracle import enumerate as oracle
from oracle.checks import every_distance_tie, every_geometry
from oracle.compare import assert_close, assert_within_bound
from oracle.datasets import POINTS

TARGETS = [3, -1, 4, 1, -5, 9, 2, 6]
LAWS = [
    (FixedSize(4), oracle.fixed_size(8, 4)),
    (KFold(3), oracle.folds(8, 3)),
    (Bernoulli(0.5), oracle.bernoulli(8, Fraction(1, 2), 3)),
]


@every_distance_tie
@every_geometry
@pytest.mark.parametrize(("cv", "law"), LAWS, ids=["fixed", "folds", "independent"])
@pytest.mark.parametrize("k", [1, 3])
def test_bias_and_variance(points, cv, law, k, distance_ties):
    X = np.array(POINTS[points])
    distances = oracle.squared_distances(X)
    if isinstance(cv, Bernoulli):
        law = oracle.bernoulli(8, Fraction(1, 2), k)

    def judge(sample, train):
        return tuple(oracle.nearest(distances[sample], train, k, distance_ties))

    def values(sample, choices):
        means = [oracle.mean(TARGETS[i] for i in voters) for voters in choices]
        return [oracle.mean(means), oracle.mean(m * m for m in means)]

    weight, found = oracle.average(law, 8, judge, values)
    assert weight == [Fraction(1, 8)] * 8
    bias = [first - y for (first, _), y in zip(found, TARGETS, strict=True)]
    variance = [second - first**2 for first, second in found]
    expected = [sum(b * b + v for b, v in zip(bias, variance, strict=True)) / 8]
    expected += [sum(b * b for b in bias) / 8, sum(variance) / 8]
    options = {"cv": cv, "distance_ties": distance_ties}
    evaluation = evaluate(KNeighborsRegressor(k), X, TARGETS, **options)
    parts = evaluation.squared_error_parts()
    three = [parts.mean_squared_error, parts.squared_bias, parts.variance]
    for value, exact in zip(three, expected, strict=True):
        assert_within_bound(value, exact, parts.error_bound, "part", 1e-10)
    assert parts.mean_squared_error == -evaluation.score
    assert_close(parts.sample_bias, bias, "bias", 1e-11)
    assert_close(parts.sample_variance, variance, "variance", 1e-10)
    exact = evaluate(KNeighborsRegressor(k), X, TARGETS, exact=True, **options)
    assert list(exact.squared_error_parts().fractions) == expected
