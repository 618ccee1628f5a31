"""Losses given as functions."""

import math

import numpy as np
import pytest
from sklearn.datasets import make_moons

from allsplits import UNNClassifier
from allsplits.boosting import Loss
from unit.refused import refused

LOGISTIC = Loss(
    value=lambda x: math.log1p(math.exp(-x)),
    weight=lambda x: 1 / (1 + math.exp(x)),
    curvature=lambda x: math.exp(x) / (1 + math.exp(x)) ** 2,
    name="my logistic",
)
SQUARED = Loss(lambda x: (1 - x) ** 2, lambda x: 2 * (1 - x), lambda x: 2.0)
EXPONENTIAL = Loss(lambda x: math.exp(-x), lambda x: math.exp(-x), lambda x: math.exp(-x))


@pytest.fixture(scope="module")
def moons():
    return make_moons(150, noise=0.3, random_state=1)


@pytest.mark.parametrize("chooser", ["boosting", "longest step", "lazy"])
@pytest.mark.parametrize(("name", "loss"), [("logistic", LOGISTIC), ("exponential", EXPONENTIAL)])
def test_the_same_loss_as_functions(moons, name, loss, chooser):
    X, y = moons
    named = UNNClassifier(5, loss=name, chooser=chooser, theta=0.6).fit(X, y)
    given = UNNClassifier(5, loss=loss, chooser=chooser, theta=0.6).fit(X, y)
    np.testing.assert_allclose(given.surrogate_risk_, named.surrogate_risk_, rtol=1e-9)
    np.testing.assert_allclose(given.alphas_, named.alphas_, atol=1e-6)
    np.testing.assert_allclose(given.predict_proba(X), named.predict_proba(X), atol=1e-6)


def test_the_squared_loss_as_functions(moons):
    """Only smoothing tells them apart, and here there is none to speak of."""
    X, y = moons
    named = UNNClassifier(5, loss="squared", smoothing=False).fit(X, y)
    given = UNNClassifier(5, loss=SQUARED, smoothing=False).fit(X, y)
    np.testing.assert_allclose(given.alphas_, named.alphas_, atol=1e-9)
    np.testing.assert_allclose(given.predict_proba(X), named.predict_proba(X), atol=1e-9)


def test_names_that_do_not_exist(moons):
    refused(lambda: UNNClassifier(loss="hinge").fit(*moons), "loss", "exponential", "'hinge'")
    refused(lambda: UNNClassifier(loss=3).fit(*moons), "loss", "Loss", "3")


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        (Loss(lambda x: x**2 + 1, lambda x: -2 * x, lambda x: 2.0), ("weight > 0",)),
        (Loss(lambda x: -x, lambda x: 1.0, lambda x: 0.0), ("value ≥ 0", "curvature > 0")),
        (Loss(lambda x: math.exp(-x), lambda x: 1.0, lambda x: 1.0), ("weight = -value'",)),
        (
            Loss(lambda x: math.exp(-x), lambda x: math.exp(-x), lambda x: 1.0),
            ("curvature = -weight'",),
        ),
        (Loss(lambda x: math.nan, lambda x: 1.0, lambda x: 1.0), ("finite",)),
        (Loss(3, lambda x: 1.0, lambda x: 1.0), ("loss.value", "function")),
        (Loss(lambda x: "a", lambda x: 1.0, lambda x: 1.0), ("loss.value", "numba")),
        (Loss(lambda x, z: x, lambda x: 1.0, lambda x: 1.0), ("loss.value", "numba")),
    ],
)
def test_functions_that_are_no_loss(moons, loss, words):
    refused(lambda: UNNClassifier(loss=loss).fit(*moons), "loss", *words)
