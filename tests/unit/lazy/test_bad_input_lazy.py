"""Every wrong input to LazyRegressor is refused at once, by name."""

import numpy as np
import pytest
from sklearn.preprocessing import PolynomialFeatures

from allsplits import LazyRegressor
from allsplits.lazy._limits import largest_spread
from unit.refused import refused

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = RNG.normal(size=40)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"degrees": 3}, ["degrees", "0", "2", "3"]),
        ({"degrees": -1}, ["degrees", "-1"]),
        ({"degrees": ()}, ["degrees", "none"]),
        ({"degrees": (0, 0)}, ["degrees", "once"]),
        ({"degrees": "linear"}, ["degrees", "linear"]),
        ({"degrees": 1.0}, ["degrees", "1.0"]),
        ({"degrees": None}, ["degrees", "None"]),
        ({"k_min": 1}, ["k_min", "2", "1"]),
        ({"k_max": 0}, ["k_max", "2", "0"]),
        ({"k_min": 2.5}, ["k_min", "2.5"]),
        ({"k_max": "all"}, ["k_max", "all"]),
        ({"k_max": True}, ["k_max", "True"]),
        ({"k_max": 41}, ["k_max", "40", "41"]),
        ({"k_min": 41}, ["k_min", "40", "41"]),
        ({"k_min": 9, "k_max": 8}, ["k_min", "8", "9"]),
        ({"k_min": (3, 12, 20)}, ["k_min", "degrees", "(3, 12, 20)"]),
        ({"k_max": (10, 41)}, ["k_max", "degree 1", "41"]),
        ({"combine": "all"}, ["combine", "best", "all"]),
        ({"combine": 0}, ["combine", "1", "0"]),
        ({"combine": 2.0}, ["combine", "2.0"]),
        ({"combine": None}, ["combine", "None"]),
        ({"ridge": 0}, ["ridge", "0"]),
        ({"ridge": -1.0}, ["ridge", "-1"]),
        ({"ridge": float("nan")}, ["ridge", "nan"]),
        ({"ridge": "small"}, ["ridge", "small"]),
        ({"ridge": True}, ["ridge", "True"]),
        ({"penalize_intercept": "yes"}, ["penalize_intercept", "yes"]),
        ({"metric": "euclidian"}, ["metric", "euclidean", "euclidian"]),
        ({"metric": "precomputed"}, ["metric", "precomputed", "degrees"]),
        ({"p": 0}, ["p", "0"]),
        ({"n_jobs": 0}, ["n_jobs", "0"]),
    ],
    ids=str,
)
def test_parameters(parameters, words):
    refused(lambda: LazyRegressor(**parameters).fit(X, Y), *words)


def changed(array, where, value):
    copy = np.array(array, dtype=float)
    copy[where] = value
    return copy


@pytest.mark.parametrize(
    ("points", "targets", "word"),
    [
        (changed(X, (1, 1), np.nan), Y, "NaN"),
        (changed(X, (1, 1), np.inf), Y, "infinity"),
        (X, changed(Y, 2, np.nan), "NaN"),
        (X, Y[:-1], "inconsistent"),
        (X[:1], Y[:1], "minimum of 2"),
        (X[:0], Y[:0], "0 sample"),
        (X[:, :0], Y, "0 feature"),
        (X[:, 0], Y, "1D"),
        (X.astype(str), np.full(40, "a"), "could not convert"),
        (X, None, "requires y"),
        (X, np.array(["a"] * 40, dtype=object), "could not convert"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_data(points, targets, word):
    """scikit-learn's own words, as from its own estimators."""
    with pytest.raises(ValueError, match=word):
        LazyRegressor().fit(points, targets)


def test_numbers_that_are_too_large():
    refused(lambda: LazyRegressor(0).fit(X * 1e151, Y), "X", "overflow", "rescale")
    refused(lambda: LazyRegressor(1).fit(X * 1e10, Y), "X", "ridge=1e-06", "rescale")
    refused(lambda: LazyRegressor(2).fit(X * 1e5, Y), "X", "ridge=1e-06", "rescale")
    refused(lambda: LazyRegressor().fit(X, Y * 1e151), "y", "rescale")
    model = LazyRegressor((0, 1, 2)).fit(X, Y)
    refused(lambda: model.predict([[1e6, 0, 0]]), "X", "1e+05", "rescale")


@pytest.mark.parametrize("degree", [0, 1, 2])
@pytest.mark.parametrize("ridge", [1e-6, 1.0])
@pytest.mark.parametrize("penalize", [False, True])
def test_the_largest_numbers_allowed_stay_finite(degree, ridge, penalize):
    edge = largest_spread(degree, ridge) / 2
    points = changed(X, 0, edge)
    points[1] = -edge
    model = LazyRegressor(degree, penalize_intercept=penalize, ridge=ridge)
    found = model.fit(points, Y).predict(
        [[edge] * 3, [-edge] * 3, [0] * 3], return_std=True, return_details=True
    )
    assert all(np.isfinite(part).all() for part in found[:2])
    assert np.isfinite(found[2].coefficients).all()


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 100.0])
def test_up_to_the_limit_the_errors_are_those_of_least_squares(degree, scale):
    """A penalty at the limit does not matter, and no digits are lost to it."""
    spread = np.ptp(X * scale, axis=0).max()
    ridge = (1.01 * max(spread, spread**degree) / 1e13) ** 2
    k = 30
    paths = (
        LazyRegressor(degree, k_min=k, k_max=k, ridge=ridge)
        .fit(X * scale, Y)
        .local_paths(np.zeros(3))
    )
    near = np.argsort((X**2).sum(axis=1), kind="stable")[:k]
    Z = PolynomialFeatures(degree).fit_transform(X[near])
    errors = [
        Y[near[j]]
        - Z[j] @ np.linalg.lstsq(np.delete(Z, j, 0), np.delete(Y[near], j), rcond=None)[0]
        for j in range(k)
    ]
    assert paths.mse[0] == pytest.approx(np.mean(np.square(errors)), rel=1e-11)


def test_queries():
    model = LazyRegressor().fit(X, Y)
    with pytest.raises(ValueError, match="NaN"):
        model.predict([[np.nan, 0, 0]])
    with pytest.raises(ValueError, match="2 features"):
        model.predict([[0, 0]])
    refused(lambda: model.local_paths(X[:2]), "x", "one query", "2")
    refused(lambda: model.local_paths(X[0], output=1), "output", "0", "1")


def test_matrices_of_distances():
    model = LazyRegressor(0, metric="precomputed")
    refused(lambda: model.fit(X, Y), "X", "square", "(40, 3)")
    square = np.abs(X[:, :1] - X[:, 0])
    refused(lambda: model.fit(square, Y).predict(-square), "X", "precomputed", "≥ 0")


def test_nothing_is_searched_before_everything_is_checked():
    def forbidden(a, b):
        raise RuntimeError("distances are computed before the input is checked")

    model = LazyRegressor(metric=forbidden).fit(X, Y)
    refused(lambda: LazyRegressor(metric=forbidden, combine=0).fit(X, Y), "combine")
    with pytest.raises(ValueError, match="features"):
        model.predict([[0.0]])
