"""Orders of queries that are not in the reference set, against sorting all distances."""

import numpy as np
import pytest
from sklearn.metrics import pairwise_distances

from allsplits.orders import Metric, Reference

RNG = np.random.default_rng(0)


def sorted_groups(distances, tolerance=1e-10):
    """References as groups of equal distance, nearest first, each in row order."""
    order = np.argsort(distances, kind="stable")
    ends = np.flatnonzero(np.diff(distances[order]) > tolerance) + 1
    return [sorted(group.tolist()) for group in np.split(order, ends)]


def found_groups(order, row):
    return [group.tolist() for group in order.tie_groups(row)]


@pytest.mark.parametrize("depth", [1, 3, 12])
@pytest.mark.parametrize(
    "metric", ["euclidean", "sqeuclidean", "cosine", "manhattan", "chebyshev", "canberra"]
)
@pytest.mark.parametrize("kind", ["reals", "integers"])
def test_every_row_is_sorted_and_ends_with_its_tie_group(metric, depth, kind):
    draw = RNG.standard_normal if kind == "reals" else lambda shape: RNG.integers(1, 4, shape)
    reference, queries = (np.asarray(draw((n, 3)), dtype=float) for n in (12, 40))
    order = Reference(reference, Metric(metric), 2).of(queries, depth, first_row=7)
    distances = pairwise_distances(queries, reference, metric=metric)
    assert (order.first_row, order.depth, order.n_candidates) == (7, depth, 12)
    for row in range(40):
        found = found_groups(order, row)
        assert sum(map(len, found)) >= depth
        assert sum(map(len, found[:-1])) < depth
        assert found == sorted_groups(distances[row])[: len(found)]
    flat = np.concatenate(
        [distances[row][np.concatenate(order.tie_groups(row))] for row in range(40)]
    )
    np.testing.assert_allclose(order.flat_distances, flat, atol=1e-7)


def test_a_reference_itself_is_a_neighbour_of_its_place():
    points = np.arange(5.0)[:, None]
    order = Reference(points, Metric("euclidean"), 1).of(points, 1)
    np.testing.assert_array_equal(order.indices.ravel(), np.arange(5))
    np.testing.assert_array_equal(order.distances.ravel(), np.zeros(5))


def test_a_zero_vector_is_equally_far_from_every_direction():
    reference = RNG.standard_normal((6, 3))
    queries = np.vstack([np.zeros(3), 3 * reference[2], np.zeros(3)])
    order = Reference(reference, Metric("cosine"), 1).of(queries, 1)
    assert found_groups(order, 0) == [list(range(6))]
    assert found_groups(order, 1) == [[2]]
    assert found_groups(order, 2) == [list(range(6))]


def test_precomputed_queries_are_rows_of_distances():
    distances = np.array([[3.0, 1.0, 2.0], [1.0, 1.0, 0.5]])
    order = Reference(np.zeros((3, 1)), Metric("precomputed"), 1).of(distances, 2)
    assert found_groups(order, 0) == [[1], [2]]
    assert found_groups(order, 1) == [[2], [0, 1]]


def test_the_queries_are_left_as_they_are():
    distances = RNG.random((4, 5))
    before = distances.copy()
    Reference(np.zeros((5, 1)), Metric("precomputed"), 1).of(distances, 2)
    np.testing.assert_array_equal(distances, before)
