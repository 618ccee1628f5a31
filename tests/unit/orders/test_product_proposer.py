"""Candidates from float32 products: the same orders as complete rows, whatever the data."""

import itertools

import numpy as np
import pytest

from allsplits.orders import Metric
from allsplits.orders.candidates import CandidateSearch
from allsplits.orders.default import full_euclidean_rows
from allsplits.orders.kernels_select import Lists, filter_tile, finish_lists
from allsplits.orders.points import Points
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
    points = Points(X, Metric.resolve("euclidean"))
    full = full_euclidean_rows(points, depth, 2)
    proposers = [lambda: ProductProposer(points, 2), lambda: NearestProposer(X, 2)]
    return CandidateSearch(points, depth, 2, full, proposers), full


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


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("n_samples", [385, 511, 512, 513, 700])
def test_bands_of_rows_where_lists_of_all_find_no_room(monkeypatch, n_samples, metric):
    monkeypatch.setattr("allsplits.orders.proposers.products._LIST_BYTES", 1 << 16)
    monkeypatch.setattr("allsplits.orders.proposers.products._TABLE_BYTES", 0)
    monkeypatch.setattr("allsplits.orders.points._HELD_ENTRIES", 0)
    X = np.repeat(DATA["normal"], 2, axis=0)[:n_samples].astype(np.float32)
    points = Points(X, Metric.resolve(metric))
    assert points.held is None
    search = CandidateSearch(
        points, 12, 2, full_euclidean_rows(points, 12, 2), [lambda: ProductProposer(points, 2)]
    )
    monkeypatch.undo()
    whole = Points(X, Metric.resolve(metric))
    assert whole.held is not None
    full = full_euclidean_rows(whole, 12, 2)
    for start in range(0, n_samples, 150):
        stop = min(start + 150, n_samples)
        found, expected = search.order(start, stop), full.order(start, stop)
        for name in ("indptr", "flat_indices", "tied", "flat_distances"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


@pytest.mark.parametrize("n_samples", [767, 768, 769, 6143, 6145])
def test_both_sides_of_a_block(n_samples):
    X = np.round(RNG.standard_normal((n_samples, 7)), 1)
    search, full = searches(X, 9)
    blocks = search.proposer.blocks
    assert blocks[-1].stop == n_samples
    found, expected = search.order(0, n_samples), full.order(0, n_samples)
    assert found.search.redone_rows < n_samples // 20
    for name in ("indptr", "flat_indices", "tied", "flat_distances"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_rows_in_an_order_of_their_own_are_no_harder():
    X = np.cumsum(RNG.standard_normal((3000, 8)), axis=0)
    search, _ = searches(X, 9)
    assert search.order(0, 3000).search.redone_rows < 30


@pytest.mark.parametrize("n_values", [3, 1000])
def test_who_is_not_on_a_list_is_not_below_its_limit(n_values):
    n, wanted = 300, 11
    # Negative ones as well, which rounding makes of distances near 0.
    scores = (RNG.integers(-1, n_values, (n, n)) / n_values).astype(np.float32)
    scores = np.minimum(scores, scores.T)
    lists = Lists.empty(2 * wanted + 32, 20, np.full(n, 1e-3, dtype=np.float32))
    limits = [lists.limits.copy()]
    for step in range(3):
        for i in range(3):
            rows, columns = slice(100 * i, 100 * i + 100), slice(100 * step, 100 * step + 100)
            if i <= step:
                tile = np.ascontiguousarray(scores[rows, columns])
                both = i != step
                filter_tile(tile, lists, rows.start, columns.start, both, wanted - 4 + 2 * step)
                limits.append(lists.limits.copy())
    finish_lists(lists, 0, n, wanted)
    limits.append(lists.limits.copy())
    assert all(np.all(after <= before) for before, after in itertools.pairwise(limits))
    for row in range(n):
        on_it = lists.words[row, : lists.counts[row]].astype(np.int32)
        assert len(set(on_it)) == len(on_it)
        others = np.setdiff1d(np.arange(n), on_it)
        assert np.maximum(scores[row, others], 0).min() >= lists.limits[row]
