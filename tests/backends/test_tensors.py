"""Tensors in the place of arrays, wherever arrays are taken: the answers of arrays, bit for bit."""

import subprocess
import sys

import numpy as np
import pytest

import allsplits
from allsplits.exceptions import InvalidInputError, InvalidTypeError
from backends.everything import GROUPS, KNN, TARGETS, D, X, Y, answers

torch = pytest.importorskip("torch", reason="needs torch")


class Far(torch.Tensor):
    """As a tensor on a GPU: numpy cannot look into it, unless it is brought home first."""

    def __array__(self, *_args, **_kwargs):
        raise TypeError("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() first")


def far(array, dtype=None):
    return torch.as_tensor(array, dtype=dtype).as_subclass(Far)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_function_takes_tensors():
    expected = answers(X, Y, TARGETS, GROUPS, D)
    points = far(X, torch.bfloat16).requires_grad_()
    found = answers(points, far(Y), far(TARGETS, torch.float32), far(GROUPS), far(D))
    for name, value in expected.items():
        np.testing.assert_equal(found[name](), value(), err_msg=name)


@pytest.mark.parametrize(
    "dtype", ["float16", "bfloat16", "float32", "float64", "int8", "uint8", "int64", "bool"]
)
def test_types_are_widened_without_loss(dtype):
    rng = np.random.default_rng(1)
    tensor = torch.as_tensor(rng.standard_normal((50, 3)) * 40).abs().to(getattr(torch, dtype))
    expected = allsplits.order_neighbors(tensor.double().numpy())
    found = allsplits.order_neighbors(tensor)
    np.testing.assert_array_equal(found.flat_indices, expected.flat_indices)
    np.testing.assert_array_equal(found.flat_distances, expected.flat_distances)


def test_parameters_views_and_inference_tensors():
    with torch.inference_mode():
        inferred = torch.as_tensor(X) * 1
    kinds = (torch.nn.Parameter(torch.as_tensor(X)), torch.as_tensor(X.T.copy()).T, inferred)
    expected = allsplits.evaluate(KNN, X, Y).score
    for tensor in kinds:
        for backend in ("exact", "torch:cpu"):
            found = allsplits.evaluate(KNN, tensor, torch.as_tensor(Y), backend=backend)
            assert found.score == expected
            assert found.search.device == "cpu"


@pytest.mark.parametrize(
    ("tensor", "error", "words"),
    [
        (
            torch.eye(4).double().to_sparse(),
            InvalidTypeError,
            r"dense.*sparse_coo.*to_dense",
        ),
        (torch.ones(4), InvalidInputError, r"shape \(n_samples, n_features\)"),
        (torch.ones((4, 2), dtype=torch.complex64), InvalidInputError, "[Cc]omplex"),
        (torch.ones((1, 2)), InvalidInputError, "at least 2"),
        (torch.ones((4, 0)), InvalidInputError, "shape"),
        (torch.tensor([[1.0], [np.nan], [2.0]]), InvalidInputError, "NaN"),
        (torch.tensor([[1.0], [7e4], [2.0]]).half(), InvalidInputError, "float16 ends at 65504"),
        (torch.tensor([[1.0], [2.0]]).double() * 1e180, InvalidInputError, "below 1e"),
    ],
)
def test_tensors_that_cannot_work(tensor, error, words, as_if_on_a_gpu):
    for _ in range(2):
        with pytest.raises(error, match=words):
            allsplits.order_neighbors(tensor)
        # The same on the device itself.
        as_if_on_a_gpu()


@pytest.fixture
def as_if_on_a_gpu(monkeypatch):
    """Tensors of the CPU are searched by torch where they are, as those of a GPU are."""

    def start():
        from allsplits._tensors import is_tensor

        monkeypatch.setattr("allsplits.orders.device.is_on_gpu", is_tensor)

    return start


def nasty(n, d):
    rng = np.random.default_rng(n)
    points = np.round(rng.standard_normal((n, d)) * 4) / 4
    points[: n // 4] = points[n // 4 : 2 * (n // 4)]
    points[-3:] = 0
    return points


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "correlation"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16", "int8"])
def test_samples_on_a_device_have_the_order_of_arrays(as_if_on_a_gpu, metric, dtype):
    tensor = torch.as_tensor(nasty(400, 6)).to(getattr(torch, dtype))
    as_if_on_a_gpu()
    for depth in (12, 399):
        found = allsplits.order_neighbors(tensor, depth=depth, metric=metric)
        expected = allsplits.order_neighbors(tensor.double().numpy(), depth=depth, metric=metric)
        np.testing.assert_array_equal(found.flat_indices, expected.flat_indices)
        np.testing.assert_array_equal(found.tied, expected.tied)
        np.testing.assert_allclose(
            found.flat_distances, expected.flat_distances, rtol=1e-12, atol=1e-15
        )
        assert found.search.backend == "torch"


def test_directions_of_any_size_on_a_device():
    """Thirty decades and more: rows are scaled by powers of two, as on the host."""
    from allsplits.orders.directions import directions as on_host
    from allsplits.orders.proposers.torch_points import directions

    rows = np.random.default_rng(0).standard_normal((70, 5))
    rows *= 10.0 ** np.linspace(-320, 149, 70)[:, None]
    rows[11] = 0
    found = directions(torch, torch.as_tensor(rows)).numpy()
    np.testing.assert_allclose(found, on_host(rows), rtol=4e-16, atol=0)
    np.testing.assert_array_equal(found[11], [0, 0, 0, 0, 0, 1])


def test_tensors_on_a_device_never_visit_the_host(as_if_on_a_gpu, monkeypatch):
    points, y = far(nasty(300, 5), torch.float32), far(np.arange(300) % 2)
    expected = allsplits.validation_curve(KNN, nasty(300, 5), np.arange(300) % 2)
    as_if_on_a_gpu()
    monkeypatch.setattr(
        "allsplits.orders.device.to_array", lambda *_: pytest.fail("X was copied to the host")
    )
    curve = allsplits.validation_curve(KNN, points, y)
    np.testing.assert_allclose(curve.scores, expected.scores, rtol=1e-13)
    assert curve.search.backend == "torch"
    found = allsplits.evaluate(KNN, points, y)
    assert found.search.device == "cpu"
    fitted = allsplits.KNeighborsClassifierCV([1, 3]).fit(points, y)
    assert fitted.curve_.search.backend == "torch"
    with pytest.raises(BaseException, match="copied to the host"):
        allsplits.audit_split(KNN, points, y, np.arange(200), np.arange(200, 300), n_runs=100)


def test_results_name_a_device_other_than_the_cpu():
    from dataclasses import replace

    found = allsplits.evaluate(KNN, X, Y)
    assert "searched on" not in repr(found)
    there = replace(found, search=replace(found.search, backend="torch", device="cuda:1"))
    assert repr(there).endswith(", searched on cuda:1)")


def test_points_are_used_where_they_are():
    from allsplits.orders import Metric
    from allsplits.orders.proposers.torch_points import load_points

    tensor = torch.as_tensor(nasty(50, 4)).float()
    points = load_points(torch, tensor, Metric.resolve("euclidean"), "cpu")
    assert points.data_ptr() == tensor.data_ptr()
    half = load_points(torch, tensor.bfloat16(), Metric.resolve("euclidean"), "cpu")
    assert half.dtype == torch.float32


def test_numbers_whose_squares_underflow_go_to_the_host(as_if_on_a_gpu):
    tensor = torch.tensor([[0.0], [1e-200], [3e-200], [7e-200]], dtype=torch.float64)
    as_if_on_a_gpu()
    order = allsplits.order_neighbors(tensor)
    assert order.search.backend == "exact"
    np.testing.assert_array_equal(order.indices[0], [1, 2, 3])
    with pytest.raises(InvalidInputError, match="underflow"):
        allsplits.order_neighbors(tensor, backend="torch:cpu")


def test_arrays_do_not_load_torch():
    program = (
        "import sys, numpy as np, allsplits\n"
        "from sklearn.neighbors import KNeighborsClassifier\n"
        "X = np.arange(40.0).reshape(20, 2)\n"
        "allsplits.evaluate(KNeighborsClassifier(1), X, np.arange(20) % 2)\n"
        "sys.exit('torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
