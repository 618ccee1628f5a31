"""The nearest class mean of one shot is the nearest sample."""

import warnings
from itertools import product

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

from allsplits import ClassCounts, Episodes, evaluate


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("priors", ["uniform", "empirical"])
def test_every_training_set_by_scikit_learn(metric, priors):
    """All choices of one sample of each class, fitted and asked."""
    rng = np.random.default_rng(0)
    y = np.array(["a", "b", "b", "c", "a", "b", "c"])
    X = rng.normal(size=(7, 2))
    scores = []
    for train in product(*(np.flatnonzero(y == c) for c in "abc")):
        test = np.setdiff1d(np.arange(7), train)
        model = NearestCentroid(metric=metric, priors=priors)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of deviations within classes of one sample
            scores.append(model.fit(X[list(train)], y[list(train)]).score(X[test], y[test]))
    model = NearestCentroid(metric=metric, priors=priors)
    found = evaluate(model, X, y, cv=ClassCounts(1))
    assert found.score == pytest.approx(np.mean(scores), abs=1e-13)
    assert float(evaluate(model, X, y, cv=ClassCounts(1), exact=True).fraction) == pytest.approx(
        np.mean(scores), abs=1e-15
    )


@pytest.mark.parametrize(
    "cv", [ClassCounts(1), Episodes(2, 1), ClassCounts({0: 1, 1: 0, 2: 1})], ids=str
)
def test_the_nearest_neighbour_is_the_same(iris, cv):
    centroid = evaluate(NearestCentroid(), *iris, cv=cv)
    nearest = evaluate(KNeighborsClassifier(1), *iris, cv=cv)
    np.testing.assert_array_equal(centroid.sample_scores, nearest.sample_scores)
    assert centroid.n_splits == nearest.n_splits


def test_with_a_fixed_test_set(iris):
    X, y = iris
    options = {"cv": ClassCounts(1), "X_test": X[::3], "y_test": y[::3]}
    rest = np.arange(150) % 3 > 0
    centroid = evaluate(NearestCentroid(), X[rest], y[rest], **options)
    assert centroid.score == evaluate(KNeighborsClassifier(1), X[rest], y[rest], **options).score
