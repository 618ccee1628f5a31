"""New points among sparse ones, and sparse points among dense ones: the orders of dense rows."""

import numpy as np
import pytest
from scipy import sparse

from allsplits.exceptions import InvalidInputError, UnsupportedError
from allsplits.orders import Metric, Reference, SparsePoints, reference, sparse_points
from allsplits.orders.search import read_new, read_queries, read_samples

RNG = np.random.default_rng(5)
N, N_ASKED, D = 120, 45, 37


def some(n, density, values):
    return np.where(RNG.random((n, D)) < density, values, 0.0)


def pair(density=0.15, draw=lambda shape: RNG.standard_normal(shape)):
    return some(N, density, draw((N, D))), some(N_ASKED, density, draw((N_ASKED, D)))


COUNTS = pair(0.2, lambda shape: RNG.integers(1, 4, shape).astype(float))
SHARED = pair()[0]
DATA = {
    "normal": pair(),
    "hardly anything": pair(0.02),
    "counts": COUNTS,
    "copies of samples": (SHARED, np.concatenate([SHARED[:30], 3 * SHARED[30:N_ASKED]])),
    "thirty decades": pair(0.2, lambda shape: 10.0 ** RNG.uniform(-15, 15, shape)),
    "far away": (COUNTS[0], COUNTS[1] + 1e9 * (np.arange(D) == 3)),
    "close together": tuple(part + 1e9 * (np.arange(D) == 3) for part in COUNTS),
    "huge": tuple(1e140 * part for part in pair()),
    "all zeros": (np.zeros((N, D)), np.zeros((N_ASKED, D))),
    "one that is not zero": (np.zeros((N, D)), np.eye(N_ASKED, D)),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _never_dense(monkeypatch):
    monkeypatch.setattr(sparse_points, "_MADE_DENSE", 0)


def as_sparse(X, metric):
    return SparsePoints.read(sparse.csr_array(X), metric, at_least=1)


def kinds(X, Z, metric):
    """(points, queries) of which one or both are sparse."""
    return {
        "both": (as_sparse(X, metric), as_sparse(Z, metric)),
        "points": (as_sparse(X, metric), Z),
        "queries": (X, as_sparse(Z, metric)),
    }


def assert_same_orders(found, expected, metric):
    for part in ("indptr", "flat_indices", "tied", "first_row"):
        np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))
    assert_same_values(found.flat_distances, expected.flat_distances, metric)


def assert_same_values(found, expected, metric):
    if metric.of_directions:
        # Lengths are summed in another order.
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine"])
@pytest.mark.parametrize("name", DATA)
def test_the_orders_of_dense_rows(name, metric):
    (X, Z), metric = DATA[name], Metric(metric)
    for depth in (1, 7, N // 4, N // 4 + 1, N):
        expected = Reference(X, metric, 1).of(Z, depth, 9)
        for points, queries in kinds(X, Z, metric).values():
            found = Reference(points, metric, 2).of(queries, depth, 9)
            assert_same_orders(found, expected, metric)


@pytest.mark.parametrize("kind", ["both", "points", "queries"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("per_block", [1, 44, 45, 46])
def test_blocks_change_nothing(monkeypatch, per_block, metric, kind):
    (X, Z), metric = DATA["counts"], Metric(metric)
    monkeypatch.setattr(reference, "_ENTRIES_PER_PART", per_block)
    points, queries = kinds(X, Z, metric)[kind]
    for depth in (5, N):
        expected = Reference(X, metric, 1).of(Z, depth, N)
        asked = Reference(points, metric, 1)
        asked.rows_per_block = per_block
        assert_same_orders(asked.of(queries, depth, N), expected, metric)
        parts = asked.parts_of(queries, depth, lambda order, _: order)
        orders = [order for block in parts for order in block.parts]
        assert orders[0].first_row == N
        indices = np.concatenate([order.flat_indices for order in orders])
        np.testing.assert_array_equal(indices, expected.flat_indices)


@pytest.mark.parametrize("most", [D - 1, D, 3 * D])
def test_dense_points_read_sparse_questions_in_blocks(monkeypatch, most):
    """A block of questions that are made dense has a bounded number of entries, any metric."""
    X, Z = DATA["counts"]
    sizes = []
    dense = SparsePoints.dense
    monkeypatch.setattr(SparsePoints, "dense", lambda self: sizes.append(len(self)) or dense(self))
    monkeypatch.setattr(reference, "_ENTRIES_PER_BLOCK", most)
    for metric in (Metric("euclidean"), Metric("manhattan"), Metric("chebyshev")):
        expected = Reference(X, metric, 1).of(Z, 5)
        found = Reference(X, metric, 1).of(as_sparse(Z, metric), 5)
        assert_same_orders(found, expected, metric)
    assert max(sizes) == max(1, most // D)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("k", [1, 6, N // 4 + 1])
def test_the_nearest_and_the_keys(metric, k):
    (X, Z), metric = DATA["counts"], Metric(metric)
    dense = Reference(X, metric, 1)
    items, cuts = dense.nearest_and_cuts(Z, k)
    expected = dense.keys(Z)
    for points, queries in kinds(X, Z, metric).values():
        asked = Reference(points, metric, 1)
        found, found_cuts = asked.nearest_and_cuts(queries, k)
        np.testing.assert_array_equal(found, items)
        np.testing.assert_array_equal(found_cuts, cuts)
        keys = asked.keys(queries)
        assert keys.ties == expected.ties
        assert_same_values(keys.rows, expected.rows, metric)


@pytest.mark.parametrize("n_features", [1, 2, 3, 4, 5, 8, 9])
def test_any_number_of_features_has_the_same_bits(n_features):
    X = np.where(RNG.random((N, n_features)) < 0.6, RNG.standard_normal((N, n_features)), 0.0)
    Z = np.where(RNG.random((20, n_features)) < 0.6, RNG.standard_normal((20, n_features)), 0.0)
    metric = Metric("euclidean")
    expected = Reference(X, metric, 1).of(Z, 5)
    for points, queries in kinds(X, Z, metric).values():
        assert_same_orders(Reference(points, metric, 1).of(queries, 5), expected, metric)


def test_rounding_grows_with_the_questions():
    """Candidates of a point far away: all products are wrong by more than samples differ."""
    X = np.zeros((400, D))
    X[:, 0] = 1 + np.arange(400) * 1e-7
    X[:, 1] = RNG.integers(0, 2, 400)
    Z = np.full((3, D), 1e8)
    metric = Metric("euclidean")
    expected = Reference(X, metric, 1).of(Z, 3)
    found = Reference(as_sparse(X, metric), metric, 1).of(as_sparse(Z, metric), 3)
    assert_same_orders(found, expected, metric)


@pytest.mark.parametrize("kind", ["both", "points", "queries"])
def test_the_same_direction_is_at_distance_0_however_it_is_stored(kind):
    metric = Metric("cosine")
    X = np.where(RNG.random((N, D)) < 0.3, 10.0 ** RNG.uniform(-9, 9, (N, D)), 0.0)
    X[7] = 0
    Z = X * RNG.uniform(0.1, 10, (N, 1))
    points, queries = kinds(X, Z, metric)[kind]
    found = Reference(points, metric, 1).of(queries, 1)
    np.testing.assert_array_equal(found.indices[:, 0], np.arange(N))
    assert not found.flat_distances.any()


def test_what_was_checked():
    X, Z = DATA["counts"]
    metric = Metric("euclidean")
    points = as_sparse(X, metric)
    with pytest.raises(InvalidInputError, match="X_test must have 37 features as X has; got 36"):
        read_queries(sparse.csr_array(Z[:, :36]), points, metric, name="X_test")
    with pytest.raises(InvalidInputError, match="X_test must have 37 features as X has; got 38"):
        read_queries(np.ones((4, 38)), points, metric, name="X_test")
    bad = sparse.csr_array(Z)
    for value in (np.nan, np.inf):
        bad.data[3] = value
        with pytest.raises(InvalidInputError, match="X must not hold NaN or infinity"):
            read_new(bad, metric)
    bad.data[3] = 1e-200
    with pytest.raises(UnsupportedError, match=r"X is sparse.*underflow: rescale"):
        read_new(bad, metric)
    with pytest.raises(UnsupportedError, match=r"compared with sparse samples.*underflow"):
        Reference(points, metric, 1).of(1e-200 * Z, 3)
    assert len(read_new(bad, Metric("cosine"))) == N_ASKED
    with pytest.raises(InvalidInputError, match="at least 1 sample; got 0"):
        SparsePoints.read(sparse.csr_array((0, D)), metric, at_least=1)
    with pytest.raises(InvalidInputError, match="numeric"):
        read_samples(sparse.csr_array(X.astype(complex)), metric)


def test_missing_values_of_questions():
    """Questions with gaps to dense points, by the metric that knows what a gap is."""
    metric = Metric("nan_euclidean")
    X, Z = DATA["counts"]
    Z = np.where(RNG.random(Z.shape) < 0.1, np.nan, Z)
    expected = Reference(X, metric, 1).of(Z, 5)
    found = Reference(X, metric, 1).of(read_new(sparse.csr_array(Z), metric), 5)
    np.testing.assert_array_equal(found.flat_indices, expected.flat_indices)


def test_features_that_32_bits_cannot_number():
    wide = sparse.csr_array(([1.0, 2.0], ([0, 1], [0, 5])), shape=(2, 2**31 - 1))
    with pytest.raises(InvalidInputError, match="X must have fewer than 2147483647 features"):
        read_samples(wide, Metric("euclidean"))


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("n_features", [2**31 - 2, 3000])
def test_features_that_hardly_anybody_has(metric, n_features):
    """Hashed words: no table has a place for each feature, and unknown words count as well."""
    metric, (X, Z) = Metric(metric), DATA["normal"]
    X = X * (np.arange(D) % 5 > 0)
    X[3] = 0
    hashed = np.sort(RNG.choice(3000, D, replace=False))

    def wide(part):
        rows = sparse.csr_array(part)
        shape = len(part), n_features
        return sparse.csr_array((rows.data, hashed[rows.indices], rows.indptr), shape)

    points, queries = (read_new(wide(part), metric) for part in (X, Z))
    asked, expected = Reference(points, metric, 1), Reference(X, metric, 1)
    assert (asked._sparse._used is None) == (n_features == 3000)
    for depth in (3, N // 4, N):
        found, same = asked.of(queries, depth), expected.of(Z, depth)
        np.testing.assert_array_equal(found.flat_indices, same.flat_indices)
        np.testing.assert_allclose(found.flat_distances, same.flat_distances, rtol=1e-12)
        within = min(depth, N - 1)
        np.testing.assert_array_equal(
            asked.within(within).flat_indices, expected.within(within).flat_indices
        )


def test_points_without_any_value_and_many_features():
    """Nobody has any of the features: there is nothing to renumber by."""
    metric = Metric("euclidean")
    points = read_new(sparse.csr_array((N, 1 << 22)), metric)
    asked = sparse.csr_array(([1.0, 3.0], ([0, 1], [5, 1 << 21])), (3, 1 << 22))
    found = Reference(points, metric, 1).of(read_new(asked, metric), 4)
    np.testing.assert_array_equal(found.flat_distances, np.repeat([1.0, 3.0, 0.0], N))
