"""Nearest references of new points: as by sorting all distances, ties in row order."""

import pickle

import numpy as np
import pytest
from sklearn.metrics import pairwise_distances

from allsplits.exceptions import InvalidInputError
from allsplits.orders import Metric, Reference


@pytest.fixture(params=["compared", "proposed"], autouse=True)
def way(request, monkeypatch):
    """All tests of this file go both ways, whichever is faster; a few references have no tree."""
    if request.param == "proposed":
        few_or_many = "allsplits.orders.reference.Reference._proposing_is_faster"
        monkeypatch.setattr(few_or_many, lambda self, depth, n_queries: self._places is not None)
    return request.param


def sorted_by_distance(reference, queries, depth, metric="euclidean", **params):
    distances = pairwise_distances(queries, reference, metric=metric, **params)
    return np.argsort(distances, axis=1, kind="stable")[:, :depth]


def search(reference, queries, depth, metric="euclidean", n_threads=2, **params):
    fixed = Metric.resolve(metric, 2, params).fixed_by_sample(reference)
    return Reference(reference, fixed, n_threads).nearest(queries, depth)


@pytest.mark.parametrize("n_features", [2, 8])
@pytest.mark.parametrize("n_reference", [40, 5000])
def test_euclidean(n_reference, n_features):
    """Small sets are compared in full; large ones by a tree or by products, then verified."""
    rng = np.random.default_rng(0)
    reference, queries = (rng.normal(size=(n, n_features)) for n in (n_reference, 50))
    found = search(reference, queries, 20)
    np.testing.assert_array_equal(found, sorted_by_distance(reference, queries, 20))


@pytest.mark.parametrize("n_features", [2, 8])
@pytest.mark.parametrize("n_reference", [40, 5000])
def test_ties_are_taken_in_row_order(n_reference, n_features):
    """Integers have many equal distances; groups run past the depth and past the candidates."""
    rng = np.random.default_rng(1)
    reference = rng.integers(0, 3, size=(n_reference, n_features)).astype(float)
    queries = rng.integers(0, 3, size=(30, n_features)).astype(float)
    squared = ((queries[:, None] - reference) ** 2).sum(axis=2)
    expected = np.argsort(squared, axis=1, kind="stable")[:, :15]
    np.testing.assert_array_equal(search(reference, queries, 15), expected)


def test_digits_are_not_lost_far_from_the_origin():
    rng = np.random.default_rng(2)
    reference, queries = (1e7 + rng.normal(size=(n, 8)) for n in (4000, 20))
    squared = ((queries[:, None] - reference) ** 2).sum(axis=2)
    expected = np.argsort(squared, axis=1, kind="stable")[:, :10]
    np.testing.assert_array_equal(search(reference, queries, 10), expected)


def test_a_query_far_away_from_everybody():
    reference = np.random.default_rng(3).normal(size=(4000, 8))
    queries = np.full((1, 8), 1e6)
    squared = ((queries[:, None] - reference) ** 2).sum(axis=2)
    expected = np.argsort(squared, axis=1, kind="stable")[:, :10]
    np.testing.assert_array_equal(search(reference, queries, 10), expected)


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "cosine", "seuclidean"])
def test_other_metrics(metric):
    rng = np.random.default_rng(4)
    reference, queries = rng.normal(size=(60, 4)), rng.normal(size=(20, 4))
    params = {"V": reference.var(axis=0, ddof=1)} if metric == "seuclidean" else {}
    expected = sorted_by_distance(reference, queries, 9, metric, **params)
    np.testing.assert_array_equal(search(reference, queries, 9, metric), expected)


def test_a_callable_and_a_matrix():
    rng = np.random.default_rng(5)
    reference, queries = rng.normal(size=(30, 3)), rng.normal(size=(6, 3))
    largest = lambda a, b: np.abs(a - b).max()  # noqa: E731
    expected = sorted_by_distance(reference, queries, 7, "chebyshev")
    np.testing.assert_array_equal(search(reference, queries, 7, largest), expected)
    matrix = pairwise_distances(queries, reference, metric="chebyshev")
    square = pairwise_distances(reference, metric="chebyshev")
    np.testing.assert_array_equal(search(square, matrix, 7, "precomputed"), expected)


def test_a_metric_without_distances_is_refused():
    reference = np.random.default_rng(6).normal(size=(10, 2))
    with pytest.raises(InvalidInputError, match="metric"):
        search(reference, reference, 3, lambda a, b: np.nan)


def test_threads_do_not_matter():
    rng = np.random.default_rng(7)
    reference, queries = rng.normal(size=(3000, 8)), rng.normal(size=(300, 8))
    one, two = (search(reference, queries, 12, n_threads=n) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("more", [0, 5000])
def test_equal_distances_go_to_the_lower_row_whatever_rounding_says(more):
    """0.3 - 0.2 is a little less than 0.2 - 0.1 in floating point."""
    far = 9 + np.arange(more, dtype=float)[:, None]
    for near in ([[0.1], [0.3]], [[0.3], [0.1]]):
        assert search(np.vstack([near, far]), np.array([[0.2]]), 1).tolist() == [[0]]


@pytest.mark.parametrize("n_reference", [40, 5000])
@pytest.mark.parametrize("metric", ["cosine", "correlation"])
def test_directions(metric, n_reference):
    """Multiples and rows of zeros (or constant ones) among references and queries."""
    rng = np.random.default_rng(6)
    reference = rng.integers(-2, 3, size=(n_reference, 4)) * 0.1
    queries = np.vstack([rng.integers(-2, 3, size=(20, 4)) * 0.3, np.zeros(4), np.full(4, 0.7)])
    points, others = np.rint(reference * 10), np.rint(queries * 10)
    if metric == "correlation":
        points, others = (4 * z - z.sum(axis=1, keepdims=True) for z in (points, others))
    lengths = np.outer((others**2).sum(axis=1), (points**2).sum(axis=1))
    products = others @ points.T
    # Whole numbers until the last division: equal cosines are equal.
    cosines = products * np.abs(products) / np.maximum(lengths, 1)
    neither = ~others.any(axis=1)[:, None] & ~points.any(axis=1)
    expected = np.argsort(-np.where(neither, 1.0, cosines), axis=1, kind="stable")[:, :9]
    np.testing.assert_array_equal(search(reference, queries, 9, metric), expected)


def test_tiny_distances_are_told_apart():
    reference = np.array([[3e-170], [1e-170], [2e-170], [1.0]])
    assert search(reference, np.array([[0.0]]), 4).tolist() == [[1, 2, 0, 3]]
    # Neither set alone shows that squares will not do.
    assert search(np.array([[1e-170], [0.0]]), np.array([[1e-170]]), 2).tolist() == [[0, 1]]


@pytest.mark.parametrize("n_features", [2, 8])
def test_the_nearest_alone_is_the_first_of_several(n_features):
    rng = np.random.default_rng(7)
    reference = rng.integers(0, 3, size=(3000, n_features)) * 0.1
    queries = rng.integers(0, 3, size=(200, n_features)) * 0.1 + 0.05
    first = search(reference, queries, 6)[:, :1]
    np.testing.assert_array_equal(search(reference, queries, 1), first)


@pytest.mark.parametrize("n_features", [2, 8])
def test_a_search_that_was_asked_can_be_pickled(n_features):
    rng = np.random.default_rng(8)
    reference, queries = rng.normal(size=(2500, n_features)), rng.normal(size=(9, n_features))
    asked = Reference(reference, Metric("euclidean"), 2)
    found = asked.nearest(queries, 7)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(asked)).nearest(queries, 7), found)


def test_large_references_are_proposed_from(way):
    """What decides is the number of references, of features and of neighbours."""
    for n_points, n_features, depth, proposed in [
        (2000, 1, 5, False), (2001, 1, 5, True), (5000, 5, 5, False), (5001, 5, 5, True),
        (12_500, 16, 5, False), (12_501, 16, 5, True), (12_501, 16, 1, False),
        (2500, 2, 300, True), (2500, 16, 300, False), (2500, 16, 700, False),
        (20_000, 64, 300, True), (20_000, 64, 900, False),
    ]:  # fmt: skip
        asked = Reference(np.ones((n_points, n_features)), Metric("euclidean"), 1)
        assert asked._proposing_is_faster(depth, 9) == (proposed or way == "proposed")
        other = Reference(np.ones((n_points, n_features)), Metric("manhattan"), 1)
        assert not other._proposing_is_faster(depth, 9)


@pytest.mark.parametrize(
    ("n_points", "n_features", "depth", "proposed"),
    [
        (2001, 16, 5, False), (4000, 16, 5, True), (4000, 16, 700, False), (12_501, 16, 1, True),
        (50_000, 64, 600, True), (50_000, 64, 1600, False), (50_000, 5, 600, False),
    ],
)  # fmt: skip
def test_products_serve_many_questions(n_points, n_features, depth, proposed, way):
    asked = Reference(np.ones((n_points, n_features)), Metric("euclidean"), 1)
    assert asked._proposing_is_faster(depth, 64) == (proposed or way == "proposed")


def test_threads_for_large_batches_only():
    few = Reference(np.ones((400, 2)), Metric("euclidean"), 5)
    assert [few.threads_for(n) for n in (1, 100, 1310, 1311)] == [1, 1, 1, 5]
    assert Reference(np.ones((70_000, 1)), Metric("euclidean"), 5).threads_for(1) == 5
    # Other distances take longer.
    assert Reference(np.ones((400, 2)), Metric("manhattan"), 5).threads_for(100) == 5
