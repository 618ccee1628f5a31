"""KNeighborsRegressorCV: the exact curve chooses, scikit-learn predicts."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold, LeavePOut
from sklearn.neighbors import KNeighborsRegressor

from allsplits import Curve, KNeighborsRegressorCV, validation_curve


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X[:150], y[:150]


@pytest.fixture(scope="module")
def fitted(diabetes):
    return KNeighborsRegressorCV(n_neighbors=range(1, 31), cv=KFold(5)).fit(*diabetes)


def test_it_chooses_by_the_exact_curve(diabetes, fitted):
    curve = validation_curve(
        KNeighborsRegressor(), *diabetes, n_neighbors=range(1, 31), cv=KFold(5)
    )
    assert isinstance(fitted.curve_, Curve)
    np.testing.assert_array_equal(fitted.curve_.scores, curve.scores)
    assert fitted.best_params_["n_neighbors"] == curve.best
    assert fitted.best_score_ == curve.best_score
    assert fitted.best_score_ < 0


def test_it_predicts_like_scikit_learn(diabetes, fitted):
    X, y = diabetes
    best = KNeighborsRegressor(fitted.best_params_["n_neighbors"]).fit(X, y)
    np.testing.assert_array_equal(fitted.predict(X + 0.01), best.predict(X + 0.01))
    assert fitted.score(X, y) == best.score(X, y)
    assert isinstance(fitted.best_estimator_, KNeighborsRegressor)


def test_an_integer_means_folds(diabetes, fitted):
    again = KNeighborsRegressorCV(n_neighbors=range(1, 31), cv=5).fit(*diabetes)
    np.testing.assert_array_equal(again.curve_.scores, fitted.curve_.scores)


def test_candidates_that_do_not_fit_are_dropped_aloud(diabetes):
    X, y = (part[:15] for part in diabetes)
    model = KNeighborsRegressorCV(n_neighbors=[1, 3, 12, 40], cv=LeavePOut(3))
    with pytest.warns(UserWarning, match=r"n_neighbors.*12"):
        model.fit(X, y)
    assert list(model.curve_.x) == [1, 3, 12]


def test_parameters_are_kept_as_given():
    model = KNeighborsRegressorCV(n_neighbors=[3, 1, 2], cv=KFold(3))
    assert str(clone(model).get_params()) == str(model.get_params())
