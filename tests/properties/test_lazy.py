"""Local models: what must hold on any data, and refitting with numpy at real sizes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_friedman1

from allsplits import LazyRegressor


@st.composite
def problems(draw):
    """Random data of a few features, new points, and settings that fit them."""
    seed = draw(st.integers(0, 10_000))
    n_features = draw(st.integers(1, 3))
    rng = np.random.default_rng(seed)
    X, queries = rng.normal(size=(40, n_features)), rng.normal(size=(5, n_features))
    y = np.sin(2 * X[:, 0]) + X[:, -1] ** 2 + 0.1 * rng.normal(size=40)
    settings = {
        "degrees": draw(st.sampled_from([0, 1, 2, (0, 1), (0, 1, 2)])),
        "combine": draw(st.sampled_from(["best", 1, 3])),
        "ridge": draw(st.sampled_from([1e-6, 0.01, 1.0])),
        "metric": draw(st.sampled_from(["euclidean", "manhattan"])),
        "k_min": 5,
        "k_max": 30,
    }
    return X, y, queries, settings


def answers(X, y, queries, settings, **more):
    model = LazyRegressor(**settings, **more).fit(X, y)
    return model.predict(queries, return_std=True, return_k=True)


@given(problems(), st.booleans())
def test_threads_and_batches_do_not_matter(problem, penalize):
    X, y, queries, settings = problem
    one = answers(X, y, queries, settings, n_jobs=1, penalize_intercept=penalize)
    two = answers(X, y, queries, settings, n_jobs=2, penalize_intercept=penalize)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)
    for q in range(len(queries)):
        alone = answers(X, y, queries[q : q + 1], settings, penalize_intercept=penalize)
        for a, b in zip(one, alone, strict=True):
            assert a[q] == b[0]


@given(problems(), st.randoms())
def test_the_order_of_rows_does_not_matter(problem, random):
    X, y, queries, settings = problem
    order = list(range(len(y)))
    random.shuffle(order)
    expected = answers(X, y, queries, settings)
    for a, b in zip(answers(X[order], y[order], queries, settings), expected, strict=True):
        np.testing.assert_array_equal(a, b)


@given(problems(), st.sampled_from([-300.0, 5.0, 1e4]), st.sampled_from([0.25, 64.0]))
def test_targets_may_be_shifted_and_scaled(problem, shift, scale):
    """The constant term is free, so that nothing is pulled towards 0."""
    X, y, queries, settings = problem
    prediction, std, k = answers(X, y, queries, settings)
    moved = answers(X, scale * y + shift, queries, settings)
    np.testing.assert_array_equal(moved[2], k)
    accuracy = 1e-10 * (abs(shift) + scale)
    np.testing.assert_allclose(moved[0], scale * prediction + shift, rtol=1e-9, atol=accuracy)
    np.testing.assert_allclose(moved[1], scale * std, rtol=1e-7)


@given(problems())
def test_moving_everything_changes_nothing(problem):
    X, y, queries, settings = problem
    # Multiples of 1/1024 are added without rounding.
    X, queries = np.round(X * 1024) / 1024, np.round(queries * 1024) / 1024
    expected = answers(X, y, queries, settings)
    found = answers(X + 4.0, y, queries + 4.0, settings)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


@given(problems())
def test_a_polynomial_of_its_own_degree_is_found(problem):
    X, _, queries, settings = problem
    degree = np.max(settings["degrees"])
    y = 1.0 + degree * X.sum(axis=1) - (degree == 2) * X[:, 0] * X[:, -1]
    settings |= {"ridge": 1e-12, "degrees": int(degree), "k_min": 20}
    prediction, std, _ = answers(X, y, queries, settings)
    expected = 1.0 + degree * queries.sum(axis=1) - (degree == 2) * queries[:, 0] * queries[:, -1]
    np.testing.assert_allclose(prediction, expected, atol=1e-6)
    assert std.max() < 1e-6


@pytest.mark.parametrize("penalize", [False, True], ids=["free", "penalized"])
@pytest.mark.parametrize(("degree", "sizes"), [(1, (2, 5, 9, 10, 30, 50)), (2, (30, 46, 120))])
def test_refitting_with_numpy(degree, sizes, penalize):
    """8 features: sizes below, at and above the number of terms (9 and 45)."""
    X, y = make_friedman1(400, n_features=8, noise=1.0, random_state=0)
    model = LazyRegressor(
        degree, k_min=2, k_max=max(sizes), ridge=1e-6, penalize_intercept=penalize
    ).fit(X[20:], y[20:])
    for query in X[:4]:
        order = np.argsort(((X[20:] - query) ** 2).sum(axis=1), kind="stable") + 20
        paths = model.local_paths(query)
        for k in sizes:
            mse, prediction = refit(X[order[:k]] - query, y[order[:k]], degree, 1e-6, penalize)
            assert paths.mse[k - 2] == pytest.approx(mse, rel=1e-10)
            assert paths.predictions[k - 2] == pytest.approx(prediction, rel=1e-10)


def refit(centred, y, degree, ridge, penalize):
    """Ridge regression as least squares with extra rows, once and with each neighbour left out."""
    upper = np.triu_indices(centred.shape[1])
    squares = (centred[:, :, None] * centred[:, None, :])[:, *upper] if degree == 2 else []
    Z = np.column_stack([np.ones(len(y)), centred, *np.transpose(squares)])
    penalty = np.sqrt(ridge) * np.eye(Z.shape[1])[0 if penalize else 1 :]

    def solve(keep):
        system = np.concatenate([Z[keep], penalty])
        right = np.concatenate([y[keep], np.zeros(len(penalty))])
        return np.linalg.lstsq(system, right, rcond=None)[0]

    everybody = np.arange(len(y))
    errors = [y[j] - Z[j] @ solve(everybody != j) for j in everybody]
    return np.mean(np.square(errors)), solve(everybody >= 0)[0]
