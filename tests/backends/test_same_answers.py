"""The same questions to every backend: the order of the default search, ties included."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import evaluate, learning_curve, order_neighbors, validation_curve
from allsplits.exceptions import InvalidInputError, UnsupportedError

RNG = np.random.default_rng(0)
DATA = {
    "points": RNG.standard_normal((600, 12)),
    "float32": RNG.standard_normal((600, 12)).astype(np.float32),
    "many ties": RNG.integers(1, 4, (600, 4)).astype(float),
    "copies": np.repeat(RNG.standard_normal((9, 5)), 100, axis=0),
    "far from zero": RNG.standard_normal((600, 12)) + 1e7,
    "outliers": RNG.standard_normal((600, 12)) * np.exp(2 * RNG.standard_normal((600, 1))),
    "tiny": 1e-140 * RNG.standard_normal((600, 12)),
    "huge": 1e140 * RNG.standard_normal((600, 12)),
    "one feature": RNG.standard_normal((600, 1)),
    "constant": np.ones((300, 3)),
}


def assert_same_order(found, expected):
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    np.testing.assert_array_equal(found.flat_indices, expected.flat_indices)
    np.testing.assert_array_equal(found.tied, expected.tied)
    scale = max(expected.flat_distances.max(), np.finfo(float).tiny)
    np.testing.assert_allclose(
        found.flat_distances / scale, expected.flat_distances / scale, rtol=1e-9, atol=2e-16
    )
    assert found.depth == expected.depth


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine"])
@pytest.mark.parametrize("name", DATA)
def test_orders_are_those_of_the_default(backend, name, metric):
    X = DATA[name]
    if name == "one feature" and metric == "cosine":
        X = np.abs(X) + 1
    expected = order_neighbors(X, depth=15, metric=metric, backend="exact")
    found = order_neighbors(X, depth=15, metric=metric, backend=backend)
    assert_same_order(found, expected)
    assert found.search.backend == backend.partition(":")[0]
    assert not found.search.approximate


@pytest.mark.parametrize("depth", [1, 200, 599])
def test_any_depth(backend, depth):
    X = DATA["many ties"]
    expected = order_neighbors(X, depth=depth, backend="exact")
    assert_same_order(order_neighbors(X, depth=depth, backend=backend), expected)


@pytest.mark.parametrize("block_size", [1, 37, 5000])
def test_blocks_do_not_matter(backend, block_size):
    X = DATA["points"][:150]
    expected = order_neighbors(X, depth=5, backend="exact")
    found = order_neighbors(X, depth=5, backend=backend, block_size=block_size)
    assert_same_order(found, expected)


def test_scores_are_those_of_the_default(backend):
    X, y = DATA["many ties"], RNG.integers(0, 3, 600)
    model = KNeighborsClassifier(7)
    expected = evaluate(model, X, y, backend="exact")
    found = evaluate(model, X, y, backend=backend)
    np.testing.assert_array_equal(found.sample_scores, expected.sample_scores)
    assert found.score == expected.score
    assert found.search.backend == backend.partition(":")[0]
    curve = validation_curve(model, X, y, n_neighbors=range(1, 20), backend=backend)
    plain = validation_curve(model, X, y, n_neighbors=range(1, 20), backend="exact")
    np.testing.assert_array_equal(curve.scores, plain.scores)
    assert curve.search.backend == backend.partition(":")[0]


def test_other_votes_and_laws(backend):
    X, y = DATA["points"][:200], RNG.standard_normal(200)
    model = KNeighborsRegressor(3)
    assert evaluate(model, X, y, backend=backend).score == evaluate(model, X, y).score
    labels = (y > 0).astype(int)
    found = learning_curve(KNeighborsClassifier(1), X, labels, backend=backend)
    expected = learning_curve(KNeighborsClassifier(1), X, labels)
    np.testing.assert_array_equal(found.scores, expected.scores)


def test_auto_says_what_it_took():
    assert order_neighbors(DATA["points"], depth=5).search.backend == "exact"


def test_rows_of_zeros_are_a_direction_of_their_own(backend):
    X = np.vstack([DATA["points"][:100], np.zeros((2, 12))])
    expected = order_neighbors(X, depth=5, metric="cosine", backend="exact")
    found = order_neighbors(X, depth=5, metric="cosine", backend=backend)
    assert_same_order(found, expected)
    assert found.tie_groups(100)[0].tolist() == [101]
    expected = pytest.approx([0.0, 1.0, 1.0], rel=1e-15)
    assert found.flat_distances[found.indptr[100] :][:3].tolist() == expected


def test_squares_that_underflow_are_left_to_the_default(backend):
    X = 1e-170 * DATA["many ties"][:100]
    if backend == "dask":
        expected = order_neighbors(X, depth=5, backend="exact")
        assert_same_order(order_neighbors(X, depth=5, backend=backend), expected)
        return
    with pytest.raises(UnsupportedError, match="underflow: use backend='exact'"):
        order_neighbors(X, depth=5, backend=backend)


def test_other_metrics(backend):
    X = DATA["points"][:100]
    if backend == "dask":
        expected = order_neighbors(X, depth=5, metric="manhattan", backend="exact")
        assert_same_order(
            order_neighbors(X, depth=5, metric="manhattan", backend=backend), expected
        )
        return
    with pytest.raises(UnsupportedError, match="'manhattan'"):
        order_neighbors(X, depth=5, metric="manhattan", backend=backend)


def test_bad_input_is_refused_by_all(backend):
    X = DATA["points"].copy()
    with pytest.raises(InvalidInputError, match="depth must be from 1 to 599; got 600"):
        order_neighbors(X, depth=600, backend=backend)
    X[3, 4] = np.nan
    with pytest.raises(InvalidInputError, match="NaN"):
        order_neighbors(X, backend=backend)


def test_an_unknown_backend_lists_those_that_exist():
    with pytest.raises(InvalidInputError, match=r"backend must be one of .*'faiss'.*'abacus'"):
        order_neighbors(DATA["points"], backend="abacus")
