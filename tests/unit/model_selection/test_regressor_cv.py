"""KNeighborsRegressorCV: the exact curve chooses, scikit-learn predicts."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold, LeavePOut, StratifiedKFold
from sklearn.neighbors import KNeighborsRegressor

from allsplits import (
    ClassCounts,
    Curve,
    KNeighborsClassifierCV,
    KNeighborsRegressorCV,
    validation_curve,
)
from unit.refused import refused


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


@pytest.mark.parametrize("cv", [None, StratifiedKFold(3), ClassCounts(4)], ids=str)
def test_strata_are_what_folds_draw_from(diabetes, cv):
    X, y = (part[:50] for part in diabetes)
    strata = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    model = KNeighborsRegressorCV(n_neighbors=range(1, 9), cv=cv).fit(X, y, strata=strata)
    curve = validation_curve(
        KNeighborsRegressor(), X, y, n_neighbors=range(1, 9), cv=cv, strata=strata
    )
    np.testing.assert_array_equal(model.curve_.scores, curve.scores)
    plain = KNeighborsRegressorCV(n_neighbors=range(1, 9)).fit(X, y)
    assert not np.array_equal(model.curve_.scores, plain.curve_.scores)
    outer = StratifiedKFold(4)
    nested = model.nested_score(X, y, cv=outer, strata=strata, n_splits=2)
    assert len(nested.chosen) == 2


def test_bad_strata(diabetes):
    X, y = (part[:30] for part in diabetes)
    model = KNeighborsRegressorCV([1], cv=StratifiedKFold(3))
    refused(lambda: model.fit(X, y), "strata")
    refused(lambda: model.fit(X, y, strata=[1, 2]), "strata")
    labels = np.arange(30) % 2
    refused(lambda: KNeighborsClassifierCV([1]).fit(X, labels, strata=labels), "strata", "classes")


def test_candidates_that_do_not_fit_are_dropped_aloud(diabetes):
    X, y = (part[:15] for part in diabetes)
    model = KNeighborsRegressorCV(n_neighbors=[1, 3, 12, 40], cv=LeavePOut(3))
    with pytest.warns(UserWarning, match=r"n_neighbors.*12"):
        model.fit(X, y)
    assert list(model.curve_.x) == [1, 3, 12]


def test_parameters_are_kept_as_given():
    model = KNeighborsRegressorCV(n_neighbors=[3, 1, 2], cv=KFold(3))
    assert str(clone(model).get_params()) == str(model.get_params())
