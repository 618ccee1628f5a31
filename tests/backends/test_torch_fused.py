"""Candidates of all rows at once, on a GPU: the same orders as without lists."""

import numpy as np
import pytest

from allsplits.orders import Metric

torch = pytest.importorskip("torch", reason="needs torch")
if not torch.cuda.is_available():
    pytest.skip("needs a GPU", allow_module_level=True)

from allsplits.orders.proposers.torch import TorchSearch  # noqa: E402
from allsplits.orders.proposers.torch_fused import FusedLists, sample_rank  # noqa: E402

RNG = np.random.default_rng(0)
N = 40_001
FLOATS = RNG.standard_normal((N, 32), dtype=np.float32)
CASES = {
    "normal": FLOATS,
    "sixteen features, float64": RNG.standard_normal((N, 16)),
    "hundred features, uneven": np.repeat(FLOATS, 4, axis=1)[:, :100]
    * np.exp(2 * RNG.standard_normal((N, 1))).astype(np.float32),
    "integers": RNG.integers(0, 3, (N, 20)).astype(np.float32),
    "every row ten times": np.repeat(FLOATS[: N // 10 + 1], 10, axis=0)[:N],
    "two places": np.where(np.arange(N)[:, None] % 7 == 0, 2.0, 1.0) * np.ones((1, 16)),
    "one tight cluster": FLOATS
    * np.where(np.arange(N)[:, None] < 30_000, 1e-4, 1).astype(np.float32),
    "an outlier": FLOATS * np.where(np.arange(N)[:, None] == 5, 1e12, 1),
}


def assert_same(found, expected):
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    np.testing.assert_array_equal(found.flat_indices, expected.flat_indices)
    np.testing.assert_array_equal(found.tied, expected.tied)
    np.testing.assert_allclose(found.flat_distances, expected.flat_distances, rtol=1e-13, atol=0)


@pytest.mark.parametrize("depth", [30, 110])
@pytest.mark.parametrize("name", CASES)
def test_lists_give_the_order_of_the_search_without_them(name, depth):
    metric = Metric.resolve("euclidean")
    search = TorchSearch(CASES[name], metric, depth, 8)
    plain = TorchSearch(CASES[name], metric, depth, 8, precisions=("float32", "float64"))
    # The last rows before the first: bands are filtered up to what is asked for.
    for start, stop in ((N - 601, N), (0, 600)):
        assert_same(search.order(start, stop), plain.order(start, stop))
    assert search._lists is not None


def test_complete_rows_of_float64_distances():
    search = TorchSearch(FLOATS, Metric.resolve("euclidean"), 110, 8)
    for row in RNG.choice(N, 50, replace=False).tolist():
        found, expected = search.order(row, row + 1), search.full.order(row, row + 1)
        np.testing.assert_array_equal(found.flat_indices, expected.flat_indices)


def test_cosine():
    X, metric = RNG.standard_normal((N, 48)), Metric.resolve("cosine")
    found = TorchSearch(X, metric, 60, 8).order(0, 2000)
    assert_same(found, TorchSearch(X, metric, 60, 8, precisions=("float64",)).order(0, 2000))


def test_nobody_who_is_not_on_a_list_is_nearer_than_promised():
    search = TorchSearch(FLOATS, Metric.resolve("euclidean"), 110, 8)
    search.order(0, 1)
    lists = search._lists
    assert 0 < lists.rows_done < N
    search.order(N - 1, N)
    assert lists.rows_done >= N
    rows = torch.arange(200, device="cuda")
    beyond = lists.rounding.beyond(rows, lists.limits[:200].double()).cpu().numpy()
    squared = ((FLOATS[:200, None, :].astype(float) - FLOATS[None].astype(float)) ** 2).sum(2)
    counts = lists.lists.counts[:200].cpu().numpy()
    assert counts.min() > 110
    assert counts.max() <= lists.lists.items.shape[1]
    for row in range(200):
        squared[row, lists.lists.items[row, : counts[row]].cpu().numpy()] = np.inf
    outside = squared.min(axis=1)
    assert np.all(beyond < outside)
    assert np.median(beyond / outside) > 0.95


def test_lists_that_do_not_fit_are_not_made():
    assert FusedLists.fit(1 << 20, 768, 110, 100 << 30)
    assert not FusedLists.fit(1 << 20, 768, 110, 4 << 30)
    assert not FusedLists.fit(1000, 768, 110, 100 << 30)
    assert not FusedLists.fit(1 << 20, 768, 5000, 100 << 30)
    assert [sample_rank(depth) for depth in (1, 110)] == [16, 22]
