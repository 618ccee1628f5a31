"""Sparse rows: the orders of dense ones, whatever the data, and clear refusals."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier

from allsplits import evaluate, order_neighbors, validation_curve
from allsplits.exceptions import InvalidInputError, UnsupportedError

RNG = np.random.default_rng(2)
N, D = 150, 61


def sparse_table(density=0.1, values=None):
    X = RNG.standard_normal((N, D)) if values is None else values
    return np.where(RNG.random((N, D)) < density, X, 0.0)


DATA = {
    "normal": sparse_table(),
    "hardly anything": sparse_table(0.02),
    "counts": sparse_table(0.2, RNG.integers(1, 4, (N, D)).astype(float)),
    "copies": np.repeat(sparse_table()[:30], 5, axis=0),
    "thirty decades": sparse_table(0.2, 10.0 ** RNG.uniform(-15, 15, (N, D))),
    "huge": 1e140 * sparse_table(),
    "all zeros": np.zeros((N, D)),
}


@pytest.fixture(autouse=True)
def _never_dense(monkeypatch):
    monkeypatch.setattr("allsplits.orders.sparse_points._MADE_DENSE", 0)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine"])
@pytest.mark.parametrize("depth", [1, 9, N - 1])
@pytest.mark.parametrize("name", DATA)
def test_the_orders_of_dense_rows(name, depth, metric):
    X = DATA[name]
    expected = order_neighbors(X, depth=depth, metric=metric)
    found = order_neighbors(sparse.csr_matrix(X), depth=depth, metric=metric)
    for part in ("indptr", "flat_indices", "tied"):
        np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))
    if metric == "cosine":
        # Lengths are summed in another order.
        np.testing.assert_allclose(
            found.flat_distances, expected.flat_distances, rtol=1e-12, atol=1e-15
        )
    else:
        np.testing.assert_array_equal(found.flat_distances, expected.flat_distances)


@pytest.mark.parametrize("n_features", [1, 2, 3, 4, 5, 7, 8, 9])
def test_any_number_of_features_has_the_same_bits(n_features):
    X = np.where(RNG.random((N, n_features)) < 0.6, RNG.standard_normal((N, n_features)), 0.0)
    expected = order_neighbors(X, depth=5)
    found = order_neighbors(sparse.csr_array(X), depth=5, block_size=7)
    np.testing.assert_array_equal(found.flat_indices, expected.flat_indices)
    np.testing.assert_array_equal(found.flat_distances, expected.flat_distances)


@pytest.mark.parametrize("kind", [sparse.coo_matrix, sparse.csc_array, sparse.lil_matrix])
def test_any_sparse_format_and_type(kind):
    X = DATA["counts"]
    expected = order_neighbors(X, depth=5)
    for dtype in (np.float32, np.int64, np.uint8):
        found = order_neighbors(kind(X.astype(dtype)), depth=5)
        np.testing.assert_array_equal(found.flat_indices, expected.flat_indices)
    twice = sparse.coo_matrix(
        (np.full(4, 0.5), ([0, 0, 1, 2], [3, 3, 1, 1])), shape=(3, 5), dtype=float
    )
    found = order_neighbors(twice)
    np.testing.assert_array_equal(found.distances, order_neighbors(twice.toarray()).distances)


def test_scores_are_those_of_dense_rows():
    X, y = DATA["counts"], RNG.integers(0, 3, N)
    model = KNeighborsClassifier(3, metric="cosine")
    expected = evaluate(model, X, y)
    found = evaluate(model, sparse.csr_matrix(X), y)
    np.testing.assert_array_equal(found.sample_scores, expected.sample_scores)
    curves = [
        validation_curve(model, data, y, n_neighbors=range(1, 9)).scores
        for data in (X, sparse.csr_matrix(X))
    ]
    np.testing.assert_array_equal(*curves)


def test_what_cannot_be_searched_is_refused():
    X = sparse.csr_matrix(DATA["normal"])
    with pytest.raises(InvalidInputError, match="backend must be 'auto' or 'exact'"):
        order_neighbors(X, depth=3, backend="dask")
    tiny = sparse.csr_matrix(1e-200 * DATA["normal"])
    with pytest.raises(UnsupportedError, match="underflow"):
        order_neighbors(tiny, depth=3)
    for value in (np.nan, np.inf):
        bad = X.copy()
        bad.data[5] = value
        with pytest.raises(InvalidInputError, match="NaN or infinity"):
            order_neighbors(bad, depth=3)
    with pytest.raises(InvalidInputError, match="size"):
        order_neighbors(1e200 * X, depth=3)


def test_other_metrics_of_a_large_table_say_what_to_do():
    X = sparse.csr_matrix((100_000, 100_000))
    with pytest.raises(InvalidInputError, match="Euclidean and cosine"):
        order_neighbors(X, depth=3, metric="manhattan")
