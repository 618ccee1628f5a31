"""Data too large to enumerate: the routes through the code must agree."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import hypergeom
from sklearn.datasets import make_blobs
from sklearn.model_selection import KFold, LeavePOut, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier

from allsplits import FixedSize, evaluate, learning_curve, order_neighbors, validation_curve

LAWS = [LeavePOut(10), KFold(7), ShuffleSplit(test_size=0.5), FixedSize(12)]


def blobs(n_classes: int, *, rounded: bool, n: int = 150):
    """Overlapping classes; rounded data have many tied distances."""
    X, y = make_blobs(n, 3, centers=n_classes, cluster_std=6, random_state=n_classes)
    return (np.round(X / 2), y) if rounded else (X, y)


@pytest.mark.parametrize("cv", LAWS, ids=str)
@pytest.mark.parametrize("rounded", [False, True], ids=["no ties", "ties"])
@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("label_ties", ["first", "share"])
def test_floats_are_within_their_bound_of_the_fraction(cv, rounded, n_classes, label_ties):
    X, y = blobs(n_classes, rounded=rounded, n=60)
    options = {"cv": cv, "n_neighbors": [1, 2, 5, 10], "label_ties": label_ties}
    knn = KNeighborsClassifier()
    found = validation_curve(knn, X, y, **options)
    exact = validation_curve(knn, X, y, exact=True, **options)
    bound = Fraction(float(np.max(found.error_bound)))
    assert bound < 1e-12
    for score, fraction in zip(found.scores, exact.fractions, strict=True):
        assert abs(Fraction(float(score)) - fraction) <= bound


@pytest.mark.parametrize("rounded", [False, True], ids=["no ties", "ties"])
@pytest.mark.parametrize("distance_ties", ["average", "index"])
def test_the_whole_learning_curve(rounded, distance_ties):
    X, y = blobs(3, rounded=rounded, n=60)
    curve = learning_curve(KNeighborsClassifier(1), X, y, distance_ties=distance_ties)
    assert list(curve.x) == list(range(1, 60))
    for size in (1, 2, 17, 58, 59):
        alone = evaluate(
            KNeighborsClassifier(1), X, y, cv=FixedSize(size), distance_ties=distance_ties
        )
        assert curve.scores[size - 1] == pytest.approx(alone.score, abs=1e-13)


@pytest.mark.parametrize("cv", LAWS, ids=str)
@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("scoring", ["accuracy", "recall@3"])
def test_threads_agree_to_the_last_bit(cv, n_classes, scoring):
    X, y = blobs(n_classes, rounded=True, n=700)
    one, two = (
        evaluate(KNeighborsClassifier(3), X, y, cv=cv, scoring=scoring, n_jobs=n_jobs)
        for n_jobs in (1, 2)
    )
    assert one.score == two.score
    np.testing.assert_array_equal(one.sample_scores, two.sample_scores)


@pytest.mark.parametrize("block_size", [13, 150])
def test_blocks_agree_to_the_last_bit(block_size):
    X, y = blobs(3, rounded=True)
    order = order_neighbors(X, block_size=block_size)
    knn = KNeighborsClassifier(4)
    assert evaluate(knn, order, y, cv=KFold(5)).score == evaluate(knn, X, y, cv=KFold(5)).score


def test_a_looser_tolerance_is_declared_and_kept():
    X, y = blobs(3, rounded=False)
    options = {"cv": ShuffleSplit(test_size=0.5)}
    knn = KNeighborsClassifier(3)
    exact = evaluate(knn, X, y, exact=True, **options).fraction
    for tol in (1e-3, 1e-6, 1e-9, 1e-15):
        found = evaluate(knn, X, y, tol=tol, **options)
        assert found.error_bound <= max(2 * tol, 1e-12)
        assert abs(Fraction(found.score) - exact) <= Fraction(found.error_bound)


def test_hundreds_of_samples_keep_every_digit():
    """Numbers of splits far beyond what a double can hold."""
    X, y = blobs(2, rounded=False, n=300)
    knn = KNeighborsClassifier(7)
    found = evaluate(knn, X, y, cv=FixedSize(150))
    exact = evaluate(knn, X, y, cv=FixedSize(150), exact=True)
    assert found.n_splits > 10**80
    assert abs(Fraction(found.score) - exact.fraction) <= Fraction(found.error_bound)
    assert found.score == pytest.approx(float(exact.fraction), abs=1e-13)


@pytest.mark.parametrize("size", [1, 2, 11, 100, 333, 998, 999])
def test_when_all_training_samples_vote_distances_mean_nothing(size):
    """Two classes: the number of votes is hypergeometric."""
    X, y = blobs(2, rounded=True, n=1000)
    y = np.where(np.arange(1000) < 430, 0, 1)
    found = evaluate(KNeighborsClassifier(size), X, y, cv=FixedSize(size))
    for label in (0, 1):
        zeros_left = 430 - (label == 0)
        # half of the votes are enough for class 0
        zero_wins = hypergeom.sf(np.ceil(size / 2) - 1, 999, zeros_left, size)
        expected = zero_wins if label == 0 else 1 - zero_wins
        np.testing.assert_allclose(found.sample_scores[y == label], expected, rtol=0, atol=1e-12)


def test_nearly_as_many_classes_as_samples():
    X, _ = blobs(3, rounded=True, n=40)
    y = np.arange(40) // 2
    for options in ({"label_ties": "first"}, {"label_ties": "share"}):
        found = evaluate(KNeighborsClassifier(4), X, y, cv=FixedSize(25), **options)
        exact = evaluate(KNeighborsClassifier(4), X, y, cv=FixedSize(25), exact=True, **options)
        assert abs(Fraction(found.score) - exact.fraction) <= Fraction(found.error_bound)


@pytest.mark.parametrize(
    ("n", "size", "k", "n_classes"),
    [
        (3000, 2999, 50, 2),
        (3000, 2999, 50, 7),
        (3000, 2900, 51, 2),
        (2000, 1950, 20, 7),
        (2000, 2, 1, 2),
        (2000, 2, 1, 7),
        (150, 60, 50, 2),
        (60, 30, 29, 7),
    ],
)
def test_probabilities_sum_to_one_at_the_extremes(n, size, k, n_classes):
    X, y = blobs(n_classes, rounded=True, n=n)
    found = evaluate(KNeighborsClassifier(k), X, y, cv=FixedSize(size))
    np.testing.assert_allclose(found.prediction_proba.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert found.error_bound < 1e-10
