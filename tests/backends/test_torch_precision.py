"""The torch search in every precision: certified rows are right, others are done again."""

import numpy as np
import pytest

from allsplits import order_neighbors
from allsplits.exceptions import UnsupportedError
from allsplits.orders import Metric

torch = pytest.importorskip("torch")

RNG = np.random.default_rng(1)


def search(X, depth, precisions):
    from allsplits.orders.proposers.torch import TorchSearch

    return TorchSearch(X, Metric.resolve("euclidean"), depth, 1, "cpu", precisions)


@pytest.mark.parametrize("precision", ["bfloat16", "float32", "float64"])
@pytest.mark.parametrize("spread", [0.0, 3.0, 300.0])
def test_one_precision_and_the_comparison_with_everybody(precision, spread):
    X = RNG.standard_normal((500, 16)) + spread * RNG.standard_normal((500, 1))
    found = search(X, 10, (precision,)).order(0, 500)
    expected = order_neighbors(X, depth=10, backend="exact")
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    np.testing.assert_array_equal(found.flat_indices, expected.flat_indices)


@pytest.mark.parametrize("precision", ["bfloat16", "float32", "float64"])
def test_nobody_outside_the_candidates_is_nearer_than_promised(precision):
    from allsplits.orders.proposers.torch_products import Level, ScaledPoints

    X = RNG.standard_normal((2000, 24)) * np.exp(RNG.standard_normal((2000, 1)))
    level = Level(ScaledPoints(torch, torch.as_tensor(X)), getattr(torch, precision))
    items, beyond = level.candidates(torch.arange(2000), 64, 512)
    squared = ((X[:, None, :] - X[None, :, :]) ** 2).sum(2)
    np.put_along_axis(squared, items.numpy(), np.inf, axis=1)
    nearest_outside = squared.min(axis=1)
    assert np.all(beyond.numpy() < nearest_outside)
    # The promise is worth something: rounding takes a small part of it, in bfloat16 more.
    kept = np.median(beyond.numpy() / nearest_outside)
    assert kept > (0.5 if precision == "bfloat16" else 0.99)


def test_slices_of_columns_find_the_same_candidates():
    from allsplits.orders.proposers.torch_products import Level, ScaledPoints

    X = RNG.standard_normal((20_000, 8))
    level = Level(ScaledPoints(torch, torch.as_tensor(X)), torch.float64)
    rows = torch.arange(50)
    whole, _ = level.candidates(rows, 64, level.n_columns)
    sliced, _ = level.candidates(rows, 64, 6400)
    np.testing.assert_array_equal(np.sort(whole.numpy()), np.sort(sliced.numpy()))


def test_rows_done_again_are_counted():
    X = np.repeat(RNG.standard_normal((5, 4)), 200, axis=0)
    assert order_neighbors(X, depth=3, backend="torch:cpu").search.redone_rows == 1000
    Y = RNG.standard_normal((1000, 4))
    assert order_neighbors(Y, depth=3, backend="torch:cpu").search.redone_rows == 0


def test_without_a_gpu_the_error_says_what_to_do():
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(UnsupportedError, match=r"needs a GPU.*'torch:cpu'"):
        order_neighbors(RNG.standard_normal((20, 2)), backend="torch")


def test_the_callers_precision_comes_back():
    flags = torch.backends.cuda.matmul
    before = flags.allow_tf32
    flags.allow_tf32 = True
    try:
        order_neighbors(RNG.standard_normal((1000, 4)), depth=3, backend="torch:cpu")
        assert flags.allow_tf32
    finally:
        flags.allow_tf32 = before
