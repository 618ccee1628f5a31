"""Weighted votes: what is refused, and what the error says."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeavePOut
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import Bootstrap, evaluate
from allsplits.exceptions import UnsupportedError
from unit.refused import refused

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
y = RNG.integers(0, 2, 60)


def ask(weights, **options):
    knn = KNeighborsClassifier(3, weights=weights)
    return lambda: evaluate(knn, X, y, cv=KFold(4), **options)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ("heavy", ["uniform", "distance", "heavy"]),
        (3, ["uniform", "distance", "3"]),
        (lambda d: -d, ["not negative"]),
        (lambda d: d / 0.0, ["finite"]),
        (lambda d: np.full_like(d, np.nan), ["finite"]),
        (lambda d: d[0], ["shape"]),
        (lambda d: 1.0, ["shape"]),
        (lambda d: np.full(d.shape, "much"), ["numbers"]),
        (lambda d: d / d.max(axis=1, keepdims=True), ["each distance on its own"]),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_weights(weights, words):
    refused(ask(weights), "weights", *words)


def test_a_mean_needs_weights_above_zero():
    knn = KNeighborsRegressor(3, weights=lambda d: np.maximum(1 - d, 0))
    refused(lambda: evaluate(knn, X, X[:, 0], cv=KFold(4)), "weights", "positive")


@pytest.mark.parametrize("vote_tol", [0, 1, -1e-4, "small", None])
def test_vote_tol(vote_tol):
    refused(ask("distance", vote_tol=vote_tol), "vote_tol", repr(vote_tol))


@pytest.mark.parametrize("max_states", [0, 63, 1.5, "many"])
def test_max_states(max_states):
    refused(ask("distance", max_states=max_states), "max_states")


def test_other_laws_say_which_would_do():
    knn = KNeighborsClassifier(3, weights="distance")
    with pytest.raises(UnsupportedError, match=r"Bootstrap.*KFold"):
        evaluate(knn, X, y, cv=Bootstrap())


def test_what_is_out_of_reach_is_an_interval():
    knn = KNeighborsClassifier(21, weights="distance")
    rough = evaluate(knn, X, y, cv=LeavePOut(30), max_states=64, vote_tol=1e-9)
    assert 1e-9 < rough.error_bound < 1
    fine = evaluate(knn, X, y, cv=LeavePOut(30))
    assert fine.error_bound < rough.error_bound
    assert abs(rough.score - fine.score) <= rough.error_bound + fine.error_bound


def test_fractions_out_of_reach():
    knn = KNeighborsClassifier(9, weights="distance")
    with pytest.raises(UnsupportedError, match=r"exact=True.*max_states=64"):
        evaluate(knn, X, y, cv=LeavePOut(30), exact=True, max_states=64)
