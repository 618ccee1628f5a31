"""Local models against refitting in exact fractions with each neighbour left out."""

import numpy as np
import pytest

from allsplits import LazyRegressor, local_constant_path
from oracle.local_models import fit_local, mean_path, terms

TARGETS = [3, -1, 4, 1, -5, 9, 2, 6, 5, 3.5]

POINTS = {
    "one feature": [[0], [1], [3], [4.5], [-2], [7], [-3.25], [9], [10], [-8]],
    "two features": [
        [0, 1], [1, 0.5], [3, -1], [4, 2], [-2, 2.5], [7, -3], [-3, 0], [9, 4], [5, 5], [-6, 1]
    ],
    "duplicates": [
        [0, 1], [0, 1], [0, 1], [1, 2], [1, 2], [3, -1], [3, -1], [4, 4], [4, 4], [-5, 2]
    ],
    "a constant feature": [
        [0, 2], [1, 2], [3, 2], [4, 2], [-2, 2], [7, 2], [-3, 2], [9, 2], [5, 2], [-6, 2]
    ],
    "one distinct point": [[1, 1]] * 10,
    "three features on a line": [[v, 2 * v, -v] for v in (0, 1, -1, 2, -2, 3, -3, 4, -4, 5)],
}  # fmt: skip
QUERIES = {1: [0.25], 2: [0.25, 0.5], 3: [0.25, 0.125, 0.5]}

every_geometry = pytest.mark.parametrize("name", POINTS)
every_degree = pytest.mark.parametrize("degree", [1, 2])
every_ridge = pytest.mark.parametrize("ridge", [2.0**-20, 0.125, 4.0])
every_intercept = pytest.mark.parametrize("penalize", [False, True], ids=["free", "penalized"])


@pytest.mark.parametrize(
    "targets",
    [TARGETS, [2] * 6, [0.5, 0.25, -0.75, 2.0, 0.5], [1e6 + v for v in TARGETS], [7], [1, 2]],
    ids=["integers", "constant", "binary fractions", "far from 0", "one", "two"],
)
def test_the_constant_path(targets):
    predictions, loo_mse = local_constant_path(targets)
    # A mean of size 10⁶ is rounded at 10⁻¹⁰, and errors of size 1 are differences from it.
    accuracy = 1e-9 if max(targets) > 1e5 else 1e-14
    for k, (mean, error) in enumerate(mean_path(targets), start=1):
        assert predictions[k - 1] == pytest.approx(float(mean), rel=1e-15)
        if error is None:
            assert np.isnan(loo_mse[k - 1])
        else:
            assert loo_mse[k - 1] == pytest.approx(float(error), rel=accuracy)


def in_order_of_distance(name):
    """Rows, targets and the query, sorted as a search would; equal distances in row order."""
    X = np.array(POINTS[name], dtype=float)
    query = np.array(QUERIES[X.shape[1]])
    order = np.argsort(((X - query) ** 2).sum(axis=1), kind="stable")
    return X, query, order


def rounding(rows, query, degree, ridge, penalize):
    """How far rounding alone may move a least-squares solution: the square of its condition.

    The worst of the whole system and of those with one neighbour left out counts. numpy's lstsq is
    off by as much on these data.
    """
    Z = np.array([[float(value) for value in terms(row, query, degree)] for row in rows])
    penalty = np.sqrt(ridge) * np.eye(Z.shape[1])[0 if penalize else 1 :]
    systems = [np.delete(Z, j, axis=0) for j in range(len(Z))] + [Z]
    condition = max(np.linalg.cond(np.concatenate([system, penalty])) for system in systems)
    return 4 * 2.0**-52 * condition**2


@every_intercept
@every_ridge
@every_degree
@every_geometry
def test_every_size_of_every_local_model(name, degree, ridge, penalize):
    X, query, order = in_order_of_distance(name)
    y = np.array(TARGETS)
    model = LazyRegressor(degree, k_min=2, k_max=10, ridge=ridge, penalize_intercept=penalize)
    paths = model.fit(X, y).local_paths(query)
    assert list(paths.k) == list(range(2, 11))
    for k, mse, prediction in zip(paths.k, paths.mse, paths.predictions, strict=True):
        near = order[:k]
        fit = fit_local(X[near], y[near], query, degree, ridge, penalize_intercept=penalize)
        limit = rounding(X[near], query, degree, ridge, penalize) * np.abs(y).max()
        assert abs(prediction - float(fit.coefficients[0])) <= limit, f"prediction, k = {k}"
        assert abs(mse - float(fit.loo_mse)) <= limit * np.abs(y).max(), f"error, k = {k}"
        if ridge > 0.1:
            assert mse == pytest.approx(float(fit.loo_mse), rel=1e-13), f"error, k = {k}"


@every_intercept
@every_degree
@every_geometry
def test_the_coefficients_of_the_chosen_model(name, degree, penalize):
    X, query, order = in_order_of_distance(name)
    y = np.array(TARGETS)
    model = LazyRegressor(
        degree, k_min=3, k_max=10, combine="best", ridge=0.125, penalize_intercept=penalize
    )
    details = model.fit(X, y).predict([query], return_details=True)[1]
    near = order[: details.k[0, 0]]
    fit = fit_local(X[near], y[near], query, degree, 0.125, penalize_intercept=penalize)
    expected = [float(value) for value in fit.coefficients]
    np.testing.assert_allclose(details.coefficients[0], expected, rtol=1e-10, atol=1e-10)
    assert len(details.terms) == len(expected)


def test_the_comparison_notices_a_wrong_target():
    """The oracle is not satisfied by whatever the library says."""
    X, query, order = in_order_of_distance("two features")
    y = np.array(TARGETS)
    paths = LazyRegressor(1, k_min=6, k_max=6).fit(X, y).local_paths(query)
    y[order[3]] += 1e-6
    fit = fit_local(X[order[:6]], y[order[:6]], query, 1, 1e-6)
    assert paths.mse[0] != pytest.approx(float(fit.loo_mse), rel=1e-9)
