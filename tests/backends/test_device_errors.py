"""A device that is missing, too small, or gone: a clear error, or a stated way round it."""

import gc
import weakref

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from allsplits import evaluate, order_neighbors
from allsplits.exceptions import AllSplitsError, DeviceError, InvalidInputError, UnsupportedError
from allsplits.orders import Metric

torch = pytest.importorskip("torch", reason="needs torch")

from allsplits.orders.proposers import torch_points  # noqa: E402
from allsplits.orders.proposers.torch import TorchSearch  # noqa: E402
from allsplits.orders.proposers.torch_errors import explain  # noqa: E402
from allsplits.orders.proposers.torch_products import Level  # noqa: E402

RNG = np.random.default_rng(3)
X = RNG.standard_normal((40_000, 3)).astype(np.float32)
EUCLIDEAN = Metric.resolve("euclidean")
FULL = "CUDA out of memory. Tried to allocate 9.00 GiB. GPU 0 has a total capacity of 16 GiB"
GONE = "CUDA error: unspecified launch failure\nCUDA kernel errors might be reported later"


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_machine_without_a_gpu_says_so_before_any_work(monkeypatch):
    monkeypatch.setattr(
        "allsplits.model_selection._task.read_points", lambda *_: pytest.fail("work was begun")
    )
    with pytest.raises(UnsupportedError, match=r"needs a GPU.*there is none.*'torch:cpu'"):
        evaluate(KNeighborsClassifier(1), X, np.arange(len(X)) % 2, backend="torch")


def search(n=300, depth=5):
    return TorchSearch(X[:n], EUCLIDEAN, depth, 1, "cpu")


def fail_with(monkeypatch, error, times=10**9):
    """Products fail so many times; returns how many columns each of them was asked for."""
    asked, candidates = [], Level.candidates

    def failing(self, numbers, count, n_columns):
        asked.append(n_columns)
        if len(asked) <= times:
            raise error
        return candidates(self, numbers, count, n_columns)

    monkeypatch.setattr(Level, "candidates", failing)
    return asked


def test_smaller_blocks_where_memory_runs_out(monkeypatch):
    expected = search(40_000).order(0, 50)
    asked = fail_with(monkeypatch, torch.cuda.OutOfMemoryError(FULL), times=1)
    narrow = search(40_000)
    found = narrow.order(0, 50)
    assert asked[0] > asked[1] >= 1 << 14
    assert asked[1] <= asked[0] // 2
    np.testing.assert_array_equal(found.flat_indices, expected.flat_indices)
    np.testing.assert_array_equal(found.flat_distances, expected.flat_distances)
    # What was learnt is kept: the next block begins small.
    narrow.order(50, 100)
    assert asked[-1] == asked[1]


def test_out_of_memory_says_what_was_needed_and_what_helps(monkeypatch):
    fail_with(monkeypatch, torch.cuda.OutOfMemoryError(FULL))
    words = r"memory of the device.*Tried to allocate 9.00 GiB.*16 GiB.*backend='exact'"
    with pytest.raises(DeviceError, match=words) as caught:
        order_neighbors(X[:300], depth=5, backend="torch:cpu")
    assert isinstance(caught.value, AllSplitsError)
    assert isinstance(caught.value, RuntimeError)
    assert isinstance(caught.value.__cause__, torch.cuda.OutOfMemoryError)


def test_a_gpu_that_vanishes(monkeypatch):
    asked = fail_with(monkeypatch, RuntimeError(GONE))
    words = r"the GPU failed.*unspecified launch failure\).*start it again, or use backend='exact'"
    with pytest.raises(DeviceError, match=words):
        order_neighbors(X[:300], depth=5, backend="torch:cpu")
    assert len(set(asked)) == 1  # nothing is tried again on a device that is gone


def test_failures_while_the_search_is_prepared(monkeypatch):
    def failing(*_args):
        raise torch.cuda.OutOfMemoryError(FULL)

    monkeypatch.setattr("allsplits.orders.proposers.torch.load_points", failing)
    with pytest.raises(DeviceError, match="Tried to allocate"):
        search()


def test_other_errors_stay_what_they_are(monkeypatch):
    fail_with(monkeypatch, RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    with pytest.raises(RuntimeError, match="cannot be multiplied") as caught:
        search().order(0, 5)
    assert not isinstance(caught.value, DeviceError)
    assert explain(DeviceError("CUDA error, explained")) is None


def test_lists_that_do_not_fit_after_all_are_done_without(monkeypatch):
    found = search()
    found._lists_fit = True

    def failing(*_args):
        raise torch.cuda.OutOfMemoryError(FULL)

    failing.fit = lambda *_: True
    monkeypatch.setattr("allsplits.orders.proposers.torch.FusedLists", failing)
    monkeypatch.setattr("allsplits.orders.proposers.torch.free_bytes", lambda *_: 1 << 40)
    expected = order_neighbors(X[:300], depth=5)
    np.testing.assert_array_equal(found.order(0, 300).flat_indices, expected.flat_indices)
    assert not found._lists_fit


def test_samples_that_cannot_fit_are_refused_before_they_are_sent(monkeypatch):
    monkeypatch.setattr(torch_points, "free_bytes", lambda *_: 1 << 20)
    monkeypatch.setattr(torch_points, "_converted", lambda *_: pytest.fail("rows were sent"))
    words = r"X of shape \(40000, 3\) must fit on the GPU.*0.0 GiB are free; use backend='exact'"
    with pytest.raises(InvalidInputError, match=words):
        torch_points.load_points(torch, X, EUCLIDEAN, "cuda")
    # A tensor that is there already needs room for its tables only.
    tensor = torch.as_tensor(X[:20_000])
    assert torch_points.load_points(torch, tensor, EUCLIDEAN, "cuda") is tensor


def test_memory_is_given_back_at_once():
    """Not when the collector of circles comes by: meanwhile the next epoch needs it."""
    gone = search(3000)
    gone.order(0, 50)
    gone.full.order(0, 2)
    watched = [weakref.ref(part) for part in (gone, gone.scaled, *gone.levels.values())]
    gc.disable()
    try:
        del gone
        assert [part() for part in watched] == [None] * len(watched)
    finally:
        gc.enable()


def test_float16_norms_do_not_overflow():
    """Squares of 60,000 are beyond float16, and are never taken in it."""
    half = torch.as_tensor(RNG.standard_normal((500, 64))).mul(12_000).clamp(-6e4, 6e4).half()
    assert torch.isinf(half.square()).any()
    for backend in ("exact", "torch:cpu"):
        found = order_neighbors(half, depth=9, backend=backend)
        expected = order_neighbors(half.double().numpy(), depth=9, backend="exact")
        np.testing.assert_array_equal(found.flat_indices, expected.flat_indices)
        np.testing.assert_allclose(found.flat_distances, expected.flat_distances, rtol=1e-13)
