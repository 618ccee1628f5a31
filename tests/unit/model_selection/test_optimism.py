"""What the choice of k flatters by: the number of `nested_score`, or a pointer to it."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import Bernoulli, KNeighborsClassifierCV, KNeighborsRegressorCV
from allsplits.model_selection import _optimism
from allsplits.model_selection._optimism import choice_in_passing, choice_in_words
from allsplits.model_selection._options import check_options
from allsplits.model_selection._task import Given, Task

X, y = load_iris(return_X_y=True)
X, y = X[::2], y[::2]
KS = [1, 3, 9]


def asked(estimator=None, ks=KS, **others):
    model = KNeighborsClassifier(weights="uniform", p=1) if estimator is None else estimator
    given = Given(**{"X": X, "y": y, "cv": None, "scoring": None, "groups": None, **others})
    return choice_in_passing(
        Task.read(model, given, check_options(), every_score=True, within=True), model, given, ks
    )


def test_it_is_the_nested_score_of_the_same_choice():
    expected = KNeighborsClassifierCV(KS, p=1).nested_score(X, y)
    found = asked()
    assert found.optimism == expected.optimism
    assert found.mean == expected.mean
    expected = KNeighborsRegressorCV(KS, cv=KFold(3)).nested_score(X, X[:, 0])
    found = asked(KNeighborsRegressor(), y=X[:, 0], cv=KFold(3))
    assert found.optimism == expected.optimism


@pytest.mark.parametrize(
    "others",
    [
        {"X_test": X, "y_test": y},
        {"cv": Bernoulli(0.5)},
        {"scoring": ["accuracy", "neg_log_loss+1"]},
        {"estimator": KNeighborsClassifier(metric="precomputed"), "X": np.abs(X[:, :1] - X[:, 0])},
    ],
)
def test_where_it_has_no_meaning_there_is_none(others):
    assert asked(**others) is None


def test_what_takes_long_is_left_to_those_who_ask(monkeypatch):
    monkeypatch.setattr(_optimism, "_SECONDS", 0.0)
    assert asked() is None


def test_candidates_that_small_training_sets_leave_out_are_no_warning():
    assert {params["n_neighbors"] for params in asked(ks=[1, 60]).chosen} == {1}


def test_in_words():
    text = choice_in_words(3, 3, asked(), "k")
    assert text.startswith("k = 3 is the best of 3 by these same scores, which flatters by ")
    assert "SAMPLED: chosen anew within 20 training sets" in text
    assert choice_in_words(0.5, 4, None, "radius") == (
        "radius = 0.5 is the best of 4 by these same scores: its own score is a little too good "
        "(nested_score says by how much)"
    )
