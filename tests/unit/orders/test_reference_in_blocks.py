"""Large references are read a block at a time: the orders of a copy in float64, in less memory."""

import tracemalloc

import numpy as np
import pytest

from allsplits.orders import Metric, Reference, points, reference
from allsplits.orders.proposers import products

RNG = np.random.default_rng(8)
N, N_ASKED, D = 2300, 40, 11


def copies(n):
    """Few different rows, so that tie groups run past whatever is proposed."""
    return RNG.integers(0, 2, (n, D)).astype(float)


DATA = {
    "normal": lambda n: RNG.standard_normal((n, D)),
    "float32": lambda n: RNG.standard_normal((n, D)).astype(np.float32),
    "float16": lambda n: RNG.standard_normal((n, D)).astype(np.float16),
    "int8": lambda n: RNG.integers(-100, 100, (n, D)).astype(np.int8),
    "uint8": lambda n: RNG.integers(0, 3, (n, D)).astype(np.uint8),
    "columns": lambda n: np.asfortranarray(RNG.standard_normal((n, D))),
    "copies": copies,
    "far from 0": lambda n: 1e9 + RNG.integers(0, 50, (n, D)),
    "thirty decades": lambda n: 10.0 ** RNG.uniform(-15, 15, (n, D)),
    "float32, many decades": lambda n: (10.0 ** RNG.uniform(-37, 37, (n, D))).astype(np.float32),
}


@pytest.fixture
def in_blocks(monkeypatch):
    """Nothing is held, and blocks are small."""
    monkeypatch.setattr(reference, "_HELD_ENTRIES", 0)
    monkeypatch.setattr(reference, "_COPIED_ENTRIES", 0)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "correlation"])
@pytest.mark.parametrize("name", DATA)
def test_the_orders_of_a_copy(name, metric, monkeypatch, request):
    metric = Metric(metric)
    X, Z = DATA[name](N), DATA[name](N_ASKED)
    held = Reference(X.astype(np.float64), metric, 1)
    wanted = {depth: held.of(Z.astype(np.float64), depth, 5) for depth in (1, 7, N)}
    request.getfixturevalue("in_blocks")
    for most in (D, 5 * D + 1, 1 << 21):
        monkeypatch.setattr(points, "_READ_ENTRIES", most)
        monkeypatch.setattr(products, "_TABLE_BYTES", 0)
        asked = Reference(X, metric, 2)
        for depth, expected in wanted.items():
            found = asked.of(Z.astype(np.float64), depth, 5)
            for part in ("indptr", "flat_indices", "tied", "flat_distances", "first_row"):
                np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))
        assert "_proposer" not in vars(asked)  # which copies


@pytest.mark.parametrize("n_asked", [1, 2, 3, 4, 5, 9])
def test_batches_of_questions(in_blocks, monkeypatch, n_asked):
    X, Z = DATA["uint8"](N), DATA["uint8"](n_asked).astype(float)
    asked = Reference(X, Metric("euclidean"), 1)
    together = asked.of(Z, 6)
    alone = [asked.of(Z[i : i + 1], 6) for i in range(n_asked)]
    indices = np.concatenate([each.flat_indices for each in alone])
    np.testing.assert_array_equal(together.flat_indices, indices)


@pytest.mark.parametrize("beside", [-1, 0, 1])
def test_both_sides_of_what_is_held(monkeypatch, beside):
    X = DATA["float32"](N)
    expected = Reference(X.astype(np.float64), Metric("cosine"), 1)
    monkeypatch.setattr(reference, "_HELD_ENTRIES", X.size + beside)
    asked = Reference(X, Metric("cosine"), 1)
    Z = RNG.standard_normal((30, D))
    assert (asked._places.held is None) == (beside < 0)
    np.testing.assert_array_equal(asked.of(Z, 9).flat_distances, expected.of(Z, 9).flat_distances)
    np.testing.assert_array_equal(asked.keys(Z).rows, expected.keys(Z).rows)
    np.testing.assert_array_equal(asked.nearest(Z, 3), expected.nearest(Z, 3))


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_memory_beside_a_mapped_file(tmp_path, metric, monkeypatch):
    """80 MB of float32: a copy in float64 is twice as large, and searches made two or three."""
    monkeypatch.setattr(products, "_TABLE_BYTES", 0)  # of larger files no table is kept
    table = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float32, (20_000, 1024))
    for start in range(0, len(table), 1000):
        table[start : start + 1000] = RNG.standard_normal((1000, 1024), dtype=np.float32)
    table.flush()
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    Z = RNG.standard_normal((50, 1024))
    tracemalloc.start()
    try:
        Reference(X, Metric(metric), 1).of(Z, 5)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 120 << 20
