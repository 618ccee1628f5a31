"""scikit-learn's own loops: the same number where it visits every split, close where it samples."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.model_selection import (
    KFold,
    LeaveOneOut,
    LeavePOut,
    RepeatedKFold,
    ShuffleSplit,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier

from allsplits import evaluate, validation_curve
from properties.monte_carlo import (
    assert_within_standard_errors,
    predicted_labels,
    split_accuracies,
    split_recalls,
)


def points_without_ties(n: int, n_classes: int, seed: int = 0):
    X, y = make_classification(
        n,
        n_features=4,
        n_informative=3,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        class_sep=0.5,
        random_state=seed,
    )
    return X, y


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_leave_p_out_loop(k, p, n_classes):
    X, y = points_without_ties(11, n_classes)
    knn = KNeighborsClassifier(k)
    loop = cross_val_score(knn, X, y, cv=LeavePOut(p))
    found = evaluate(knn, X, y, cv=LeavePOut(p))
    assert found.n_splits == len(loop)
    assert found.score == pytest.approx(loop.mean(), abs=1e-12)


@pytest.mark.parametrize("k", [1, 6, 10])
def test_leave_one_out_loop(k):
    X, y = points_without_ties(60, 3)
    knn = KNeighborsClassifier(k)
    loop = cross_val_score(knn, X, y, cv=LeaveOneOut())
    np.testing.assert_allclose(
        evaluate(knn, X, y, cv=LeaveOneOut()).sample_scores, loop, rtol=0, atol=1e-12
    )


def test_the_monte_carlo_predicts_what_scikit_learn_predicts():
    X, y = points_without_ties(80, 3)
    train, test = next(ShuffleSplit(1, random_state=0).split(X))
    for k in (1, 2, 4, 7):
        expected = KNeighborsClassifier(k).fit(X[train], y[train]).predict(X[test])
        np.testing.assert_array_equal(predicted_labels(X, y, train, test, k), expected)


def test_the_monte_carlo_notices_the_wrong_k():
    X, y = points_without_ties(60, 2)
    splitter = ShuffleSplit(1000, test_size=0.4, random_state=0)
    wrong = evaluate(KNeighborsClassifier(9), X, y, cv=splitter).score
    with pytest.raises(AssertionError, match="standard errors"):
        assert_within_standard_errors(wrong, split_accuracies(splitter, X, y, 1))


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize(
    "sizes", [{"test_size": 0.5}, {"test_size": 7}, {"train_size": 12, "test_size": 20}], ids=str
)
def test_shuffle_split(k, sizes):
    X, y = points_without_ties(60, 3)
    splitter = ShuffleSplit(1000, random_state=1, **sizes)
    exact = evaluate(KNeighborsClassifier(k), X, y, cv=splitter).score
    assert_within_standard_errors(exact, split_accuracies(splitter, X, y, k))


@pytest.mark.parametrize("rank", [2, 4])
def test_shuffle_split_recall(rank):
    X, y = points_without_ties(60, 4)
    splitter = ShuffleSplit(1000, test_size=0.6, random_state=2)
    exact = evaluate(KNeighborsClassifier(1), X, y, cv=splitter, scoring=f"recall@{rank}").score
    assert_within_standard_errors(exact, split_recalls(splitter, X, y, rank))


@pytest.mark.parametrize("n_folds", [3, 7])
def test_repeated_folds_of_unequal_size(n_folds):
    X, y = points_without_ties(40, 3)
    repeats = 400
    splitter = RepeatedKFold(n_splits=n_folds, n_repeats=repeats, random_state=3)
    exact = evaluate(KNeighborsClassifier(3), X, y, cv=splitter).score
    accuracies = split_accuracies(splitter, X, y, 3).reshape(repeats, n_folds)
    assert_within_standard_errors(exact, accuracies.mean(axis=1))
    assert evaluate(KNeighborsClassifier(3), X, y, cv=KFold(n_folds)).score == exact


def test_choosing_k_on_iris():
    """The exact curve lies where a long repeated cross-validation puts it, for every k."""
    X, y = load_iris(return_X_y=True)
    X = X + np.random.default_rng(0).normal(scale=1e-6, size=X.shape)  # iris has tied distances
    splitter = ShuffleSplit(500, test_size=0.2, random_state=4)
    curve = validation_curve(KNeighborsClassifier(), X, y, n_neighbors=[1, 5, 15, 40], cv=splitter)
    for k, score in zip(curve.x, curve.scores, strict=True):
        assert_within_standard_errors(score, split_accuracies(splitter, X, y, int(k)))
