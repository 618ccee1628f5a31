"""KNeighborsClassifierCV: the exact curve chooses, scikit-learn predicts."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import KFold, LeavePOut, TimeSeriesSplit, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from allsplits import Curve, KNeighborsClassifierCV, validation_curve
from unit.refused import refused

CV = KFold(5)


@pytest.fixture(scope="module")
def fitted(iris):
    return KNeighborsClassifierCV(n_neighbors=range(1, 31), cv=CV).fit(*iris)


def test_it_chooses_by_the_exact_curve(iris, fitted):
    curve = validation_curve(KNeighborsClassifier(), *iris, n_neighbors=range(1, 31), cv=CV)
    assert fitted.best_params_["n_neighbors"] == curve.best
    assert fitted.best_score_ == curve.best_score
    assert isinstance(fitted.curve_, Curve)
    np.testing.assert_array_equal(fitted.curve_.scores, curve.scores)


def test_it_predicts_like_scikit_learn(iris, fitted):
    X, y = iris
    best = KNeighborsClassifier(fitted.best_params_["n_neighbors"]).fit(X, y)
    queries = X + 0.05
    np.testing.assert_array_equal(fitted.predict(queries), best.predict(queries))
    np.testing.assert_array_equal(fitted.predict_proba(queries), best.predict_proba(queries))
    for mine, theirs in zip(fitted.kneighbors(queries), best.kneighbors(queries), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert fitted.score(X, y) == best.score(X, y)


def test_fitted_attributes(fitted):
    assert list(fitted.classes_) == [0, 1, 2]
    assert fitted.n_features_in_ == 4
    assert isinstance(fitted.best_estimator_, KNeighborsClassifier)


def test_parameters_are_kept_as_given():
    candidates = [3, 1, 2]
    model = KNeighborsClassifierCV(n_neighbors=candidates, cv=CV)
    assert model.n_neighbors is candidates
    assert str(clone(model).get_params()) == str(model.get_params())


def test_up_to_fifty_neighbours_by_default():
    assert list(KNeighborsClassifierCV().n_neighbors) == list(range(1, 51))


def test_candidates_that_do_not_fit_are_dropped_aloud(iris):
    X, y = (part[::10] for part in iris)
    model = KNeighborsClassifierCV(n_neighbors=[1, 3, 12, 40], cv=LeavePOut(3))
    with pytest.warns(UserWarning, match=r"n_neighbors.*12"):
        model.fit(X, y)
    assert list(model.curve_.x) == [1, 3, 12]


def test_the_metric_is_chosen_too():
    X, y = load_wine(return_X_y=True)
    model = KNeighborsClassifierCV(
        n_neighbors=range(1, 16), metric=("euclidean", "manhattan", "chebyshev"), cv=CV
    ).fit(X, y)
    scores = {
        metric: validation_curve(
            KNeighborsClassifier(metric=metric), X, y, n_neighbors=range(1, 16), cv=CV
        )
        for metric in ("euclidean", "manhattan", "chebyshev")
    }
    winner = max(scores, key=lambda metric: scores[metric].best_score)
    assert model.best_params_["metric"] == winner
    assert model.best_params_["n_neighbors"] == scores[winner].best
    assert model.best_score_ == scores[winner].best_score
    assert model.best_estimator_.metric == winner


def test_scoring_is_honoured(iris):
    model = KNeighborsClassifierCV(n_neighbors=[1, 5], cv=CV, scoring="balanced_accuracy")
    expected = validation_curve(
        KNeighborsClassifier(), *iris, n_neighbors=[1, 5], cv=CV, scoring="balanced_accuracy"
    )
    np.testing.assert_array_equal(model.fit(*iris).curve_.scores, expected.scores)


def test_ties_are_honoured(iris):
    for options in ({"distance_ties": "index"}, {"label_ties": "share"}):
        model = KNeighborsClassifierCV(n_neighbors=[2, 4], cv=CV, **options).fit(*iris)
        expected = validation_curve(
            KNeighborsClassifier(), *iris, n_neighbors=[2, 4], cv=CV, **options
        )
        np.testing.assert_array_equal(model.curve_.scores, expected.scores)


def test_precomputed_distances(iris, fitted):
    X, y = iris
    model = KNeighborsClassifierCV(n_neighbors=range(1, 31), metric=("precomputed",), cv=CV)
    model.fit(pairwise_distances(X), y)
    assert model.best_params_["n_neighbors"] == fitted.best_params_["n_neighbors"]
    np.testing.assert_array_equal(
        model.predict(pairwise_distances(X[:20] + 0.05, X)), fitted.predict(X[:20] + 0.05)
    )


def test_labels_of_any_kind(iris, fitted):
    X, y = iris
    names = np.array(["setosa", "versicolor", "virginica"])
    model = KNeighborsClassifierCV(n_neighbors=range(1, 31), cv=CV).fit(X, names[y])
    assert model.best_params_ == fitted.best_params_
    np.testing.assert_array_equal(model.predict(X), names[fitted.predict(X)])


def test_feature_names_are_remembered(iris):
    pandas = pytest.importorskip("pandas")
    X, y = iris
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    model = KNeighborsClassifierCV(n_neighbors=[1, 3], cv=CV).fit(frame, y)
    assert list(model.feature_names_in_) == ["a", "b", "c", "d"]
    assert model.predict(frame).shape == (150,)


def test_inside_cross_validation(iris):
    model = KNeighborsClassifierCV(n_neighbors=range(1, 11), cv=KFold(4))
    scores = cross_val_score(model, *iris, cv=KFold(3, shuffle=True, random_state=0))
    assert (scores > 0.8).all()


def test_no_candidate_fits(iris):
    X, y = (part[::12] for part in iris)
    model = KNeighborsClassifierCV(n_neighbors=[11, 12], cv=LeavePOut(5))
    refused(lambda: model.fit(X, y), "n_neighbors", "8", "11")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_neighbors": []}, ["n_neighbors"]),
        ({"n_neighbors": [0]}, ["n_neighbors", "0"]),
        ({"metric": ("euclidian",)}, ["metric", "euclidian"]),
        ({"weights": ("heavy",)}, ["weights", "heavy"]),
        ({"scoring": "f1"}, ["scoring", "f1"]),
        ({"distance_ties": "random"}, ["distance_ties", "random"]),
        ({"label_ties": "last"}, ["label_ties", "last"]),
        ({"cv": TimeSeriesSplit(3)}, ["cv", "TimeSeriesSplit"]),
    ],
    ids=str,
)
def test_options_are_checked_by_fit(iris, options, words):
    model = KNeighborsClassifierCV(**{"n_neighbors": [1, 3], "cv": KFold(3)} | options)
    refused(lambda: model.fit(*iris), *words)
