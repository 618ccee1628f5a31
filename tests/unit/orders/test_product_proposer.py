"""Candidates from float32 products: the same orders as complete rows, whatever the data."""

import numpy as np
import pytest

from allsplits.orders import Metric
from allsplits.orders.candidates import CandidateSearch
from allsplits.orders.default import full_euclidean_rows
from allsplits.orders.proposers.products import ProductProposer
from allsplits.orders.proposers.tree import NearestProposer

N, D = 700, 6
RNG = np.random.default_rng(0)
CLUSTERS = 1e6 * RNG.standard_normal((7, D))[RNG.integers(0, 7, N)]

DATA = {
    "normal": RNG.standard_normal((N, D)),
    "far from the origin": 1e8 + RNG.standard_normal((N, D)),
    "a grid with many ties": RNG.integers(0, 3, (N, D)).astype(float),
    "copies": np.repeat(RNG.standard_normal((N // 7, D)), 7, axis=0),
    "clusters that float32 cannot look into": CLUSTERS + 1e-3 * RNG.standard_normal((N, D)),
    "all in one place": np.ones((N, D)),
    "huge": 1e140 * RNG.standard_normal((N, D)),
    "tiny": 1e-140 * RNG.standard_normal((N, D)),
    "one outlier": np.vstack([[[1e12] * D], RNG.standard_normal((N - 1, D))]),
}


def searches(X, depth):
    full = full_euclidean_rows(X, Metric.resolve("euclidean"), depth, 2)
    proposers = [lambda: ProductProposer(X, 2), lambda: NearestProposer(X, 2)]
    return CandidateSearch(X, depth, 2, full, proposers), full


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("depth", [1, 12, 100])
def test_the_same_orders_as_complete_rows(name, depth):
    X = DATA[name]
    search, full = searches(X, depth)
    for start, stop in ((0, 300), (300, N)):
        found, expected = search.order(start, stop), full.order(start, stop)
        np.testing.assert_array_equal(found.indptr, expected.indptr)
        np.testing.assert_array_equal(found.flat_indices, expected.flat_indices)
        np.testing.assert_array_equal(found.tied, expected.tied)
        # Both compute distances by the same differences in the same order.
        np.testing.assert_array_equal(found.flat_distances, expected.flat_distances)


def test_float32_is_enough_for_plain_data():
    search, _ = searches(DATA["normal"], 12)
    assert search.order(0, N).search.redone_rows == 0
    assert isinstance(search.proposer, ProductProposer)


def test_tied_neighbours_at_the_border_are_proposed_together():
    X = RNG.integers(0, 6, (N, D)).astype(float)
    search, _ = searches(X, 12)
    assert search.order(0, N).search.redone_rows < N // 20


def test_float64_takes_over_where_float32_cannot_tell():
    search, _ = searches(DATA["clusters that float32 cannot look into"], 12)
    search.order(0, N)
    assert isinstance(search.proposer, NearestProposer)


def test_scores_stay_within_their_room(monkeypatch):
    monkeypatch.setattr("allsplits.orders.proposers.products._MOST_SCORES", 3 * 2 * N)
    search, full = searches(DATA["normal"], 12)
    rows = []
    nearest = ProductProposer._nearest

    def counted(self, part, *rest):
        rows.append(part.stop - part.start)
        return nearest(self, part, *rest)

    monkeypatch.setattr(ProductProposer, "_nearest", counted)
    found, expected = search.order(0, N), full.order(0, N)
    np.testing.assert_array_equal(found.flat_indices, expected.flat_indices)
    assert max(rows) == 3
