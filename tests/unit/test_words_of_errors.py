"""Errors that name what was given and what is wanted, in the user's words."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold, LeavePGroupsOut, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from allsplits import Bootstrap, ClassCounts, CostMatrix, evaluate, learning_curve
from allsplits.exceptions import InvalidInputError, InvalidTypeError, UnsupportedError

X, y = load_iris(return_X_y=True)
X, y = X[::5], y[::5]
BINS = np.digitize(X[:, 0], [5.5, 6.3])


def test_a_class_is_no_instance_of_it():
    with pytest.raises(InvalidTypeError, match="got the class KNeighborsClassifier, not an inst"):
        evaluate(KNeighborsClassifier, X, y)
    with pytest.raises(InvalidTypeError, match="got the class ClassCounts, not an instance of it"):
        evaluate(KNeighborsClassifier(), X, y, cv=ClassCounts)


def test_all_estimators_that_are_taken_are_named():
    with pytest.raises(InvalidTypeError, match="RadiusNeighborsClassifier or RadiusNeighborsRegr"):
        evaluate(StandardScaler(), X, y)


def test_pairs_are_shown_as_they_were_given():
    with pytest.raises(InvalidInputError, match=r"got \(5, 1\)"):
        evaluate(KNeighborsClassifier(), X, y, scoring=CostMatrix({(5, 1): 2}))


def test_several_scores_of_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), KNeighborsClassifier())
    with pytest.raises(InvalidInputError, match=r"evaluate \(not of a Pipeline\)"):
        evaluate(pipeline, X, y, scoring=["accuracy", "balanced_accuracy"])


def test_scores_of_weighted_votes_point_to_what_is_there():
    weighted = KNeighborsClassifier(3, weights="distance")
    with pytest.raises(UnsupportedError, match="in `confusion` and `prediction_proba`"):
        evaluate(weighted, X, y, scoring="recall_of:1")
    found = evaluate(weighted, X, y)
    with pytest.raises(UnsupportedError, match="in `confusion` and `prediction_proba`"):
        _ = found.recall_per_class
    assert found.confusion.shape == (3, 3)


@pytest.mark.parametrize("value", [np.nan, -1.0])
def test_a_function_of_weights_is_named_with_what_it_returned(value):
    def odd(distances):
        return np.where(distances > 0, value, 1.0)

    with pytest.raises(InvalidInputError, match=f"odd returned {value:g} for a distance of [0-9]"):
        evaluate(KNeighborsClassifier(weights=odd), X, y)
    with pytest.raises(InvalidInputError, match="returned the shape"):
        evaluate(KNeighborsClassifier(weights=lambda d: d.ravel()[:1]), X, y)


def test_strata_are_not_ignored():
    knn = KNeighborsRegressor(2)
    with pytest.raises(InvalidInputError, match="strata must be None for a cv that draws from all"):
        evaluate(knn, X, X[:, 1], cv=KFold(3), strata=BINS)
    with pytest.raises(InvalidInputError, match="strata must be None unless stratify=True"):
        learning_curve(knn, X, X[:, 1], strata=BINS)
    assert evaluate(knn, X, X[:, 1], cv=StratifiedKFold(3), strata=BINS).score < 0
    assert len(learning_curve(knn, X, X[:, 1], strata=BINS, stratify=True, train_sizes=[6]).x) == 1


def test_bias_is_refused_without_advice_that_is_no_use():
    found = evaluate(KNeighborsRegressor(2), X, X[:, 1], cv=Bootstrap())
    with pytest.raises(UnsupportedError, match="has no exact average for the bias") as caught:
        found.squared_error_parts()
    assert "keep cv" not in str(caught.value)
    assert "replay" not in str(caught.value)


def test_many_splits_of_groups_are_counted_in_words():
    knn, groups = KNeighborsClassifier(2, weights="distance"), np.arange(150) % 30
    with pytest.raises(UnsupportedError, match=r"155,117,520 of groups here, at most 20,000.*repl"):
        evaluate(knn, *load_iris(return_X_y=True), cv=LeavePGroupsOut(15), groups=groups)


def test_the_package_is_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "allsplits", "--help"], capture_output=True, text=True, check=True
    )
    assert "evaluate" in done.stdout


def test_steps_that_drop_rows_are_named():
    class Shorter(TransformerMixin, BaseEstimator):
        def fit(self, X, y=None):
            return self

        def transform(self, X):
            return X[1:]

    with pytest.raises(InvalidInputError, match="keep all rows; they made 29 of 30 on all samples"):
        evaluate(make_pipeline(Shorter(), KNeighborsClassifier()), X, y)
