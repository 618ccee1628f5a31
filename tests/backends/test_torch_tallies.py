"""Tallies counted on the device: the integers of the host, and no list leaves the device."""

import numpy as np
import pytest
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier

from allsplits import learning_curve, validation_curve
from allsplits.exact.laws.fixed_size.tally import (
    NearestCounter,
    NearestTally,
    PrefixCounter,
    TwoClassTally,
)
from allsplits.orders import Metric, iter_parts

torch = pytest.importorskip("torch")

RNG = np.random.default_rng(6)
DATA = {
    "points": RNG.standard_normal((1000, 8)),
    "float32": RNG.standard_normal((1000, 8)).astype(np.float32),
    "many ties": RNG.integers(0, 4, (1000, 4)).astype(float),
    "copies": np.repeat(RNG.standard_normal((25, 5)), 40, axis=0),
    "pairs": np.repeat(RNG.standard_normal((500, 5)), 2, axis=0),
    "constant": np.ones((200, 3)),
    "far from zero": RNG.standard_normal((1000, 8)) + 1e6,
    "a lattice": np.stack(np.meshgrid(np.arange(32), np.arange(32)), -1).reshape(-1, 2) * 0.1,
}
EUCLIDEAN = Metric.resolve("euclidean")


@pytest.fixture(autouse=True)
def few_queries_at_a_time(monkeypatch):
    """Several products for each block, several blocks for each call."""
    monkeypatch.setattr("allsplits.orders.proposers.torch._QUERIES", 150)


def two_classes(n, share):
    y = (RNG.random(n) < share).astype(np.int32)
    y[:2] = 0, 1
    return y


def tallied(X, count, tally, depth, backend, block_size):
    total = tally(count)
    for block in iter_parts(X, EUCLIDEAN, depth, count, backend=backend, block_size=block_size):
        for part in block.parts:
            total.add(part)
    return total


def assert_same_integers(X, count, tally, depth):
    found = tallied(X, count, tally, depth, "torch:cpu", 370)
    expected = tallied(X, count, tally, depth, "exact", None)
    np.testing.assert_array_equal(found.table, expected.table)
    np.testing.assert_array_equal(found.keys, expected.keys)
    np.testing.assert_array_equal(found.sums, expected.sums)
    assert found.table.dtype == np.int64


@pytest.mark.parametrize("share", [0.5, 0.03])
@pytest.mark.parametrize("name", DATA)
def test_prefixes_of_two_classes(name, share):
    X = DATA[name]
    for depth in (1, 40, len(X) - 1):
        count = PrefixCounter(two_classes(len(X), share), depth, len(X) - 1, True)
        assert_same_integers(X, count, TwoClassTally, depth)


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("name", ["points", "many ties", "copies", "pairs", "constant"])
def test_hits_by_rank(name, balanced):
    X = DATA[name][::2]
    codes = RNG.integers(0, 5, len(X)).astype(np.int32)
    kinds = codes if balanced else np.zeros_like(codes)
    count = NearestCounter(codes, kinds, len(X) - 1, True)
    assert_same_integers(X, count, NearestTally, len(X) - 1)


def test_ties_by_index_are_counted_on_the_host():
    X = DATA["many ties"]
    count = PrefixCounter(two_classes(len(X), 0.4), 12, len(X) - 1, False)
    assert not count.by_groups
    assert_same_integers(X, count, TwoClassTally, 12)


def test_no_list_leaves_the_device(monkeypatch):
    from allsplits.orders.proposers.torch import TorchSearch

    def travels(*_, **__):
        raise AssertionError("a neighbour list was asked for")

    for name in ("order", "_certain", "_again"):
        monkeypatch.setattr(TorchSearch, name, travels)
    X, y = DATA["points"], two_classes(1000, 0.3)
    options = {"n_neighbors": range(1, 6), "cv": KFold(5), "backend": "torch:cpu"}
    found = validation_curve(KNeighborsClassifier(), X, y, **options)
    assert found.search.backend == "torch"
    with pytest.raises(AssertionError, match="was asked for"):
        validation_curve(KNeighborsClassifier(), X, y, distance_ties="index", **options)


@pytest.mark.parametrize("name", ["points", "many ties", "pairs"])
def test_curves_are_those_of_the_default(name):
    X, y = DATA[name], two_classes(1000, 0.2)
    for scoring in ("accuracy", "balanced_accuracy"):
        options = {"n_neighbors": range(1, 9), "cv": KFold(5), "scoring": scoring}
        found = validation_curve(KNeighborsClassifier(), X, y, backend="torch:cpu", **options)
        expected = validation_curve(KNeighborsClassifier(), X, y, backend="exact", **options)
        np.testing.assert_array_equal(found.scores, expected.scores)
        options = {"stratify": False, "scoring": scoring}
        found = learning_curve(KNeighborsClassifier(1), X, y, backend="torch:cpu", **options)
        expected = learning_curve(KNeighborsClassifier(1), X, y, backend="exact", **options)
        np.testing.assert_array_equal(found.scores, expected.scores)


def test_rows_done_again_are_counted_once_in_the_report():
    X = np.repeat(RNG.standard_normal((5, 4)), 200, axis=0)
    y = two_classes(1000, 0.5)
    options = {"n_neighbors": [3], "cv": KFold(5), "backend": "torch:cpu"}
    found = validation_curve(KNeighborsClassifier(), X, y, **options)
    assert found.search.redone_rows == 1000
