"""Tensors on a GPU: the answers of arrays on the host, where they lie, within bounds of memory."""

import threading
import time

import numpy as np
import pytest
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier

import allsplits
from allsplits import ClassCounts, FixedSize, KNNProbe
from allsplits.exceptions import DeviceError, InvalidInputError
from backends.everything import GROUPS, TARGETS, D, X, Y, answers

torch = pytest.importorskip("torch", reason="needs torch")
if not torch.cuda.is_available():
    pytest.skip("needs a GPU", allow_module_level=True)

from allsplits.orders.proposers.torch import TorchSearch  # noqa: E402
from allsplits.orders.proposers.torch_fused import FusedLists  # noqa: E402
from allsplits.orders.proposers.torch_products import Level  # noqa: E402

GIB = 1 << 30


def clusters(n, d, n_classes, dtype=torch.float32, spread=1.0):
    generator = torch.Generator("cuda").manual_seed(n + d)
    y = torch.arange(n, device="cuda") % n_classes
    centres = spread * torch.randn(n_classes, d, generator=generator, device="cuda")
    points = centres[y] + torch.randn(n, d, generator=generator, device="cuda")
    return points.to(dtype), y


def on_host(tensor):
    return tensor.detach().cpu().double().numpy()


def assert_same_order(found, expected):
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    np.testing.assert_array_equal(found.flat_indices, expected.flat_indices)
    np.testing.assert_array_equal(found.tied, expected.tied)
    np.testing.assert_allclose(
        found.flat_distances, expected.flat_distances, rtol=1e-12, atol=1e-15
    )
    assert (found.search.backend, found.search.device) == ("torch", "cuda:0")


@pytest.fixture
def no_copies(monkeypatch):
    """X must not come to the host."""
    monkeypatch.setattr(
        "allsplits.orders.device.to_array", lambda *_: pytest.fail("X was copied to the host")
    )


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "correlation"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16", "int8"])
def test_orders(metric, dtype, no_copies):
    for n, depth in ((400, 399), (3000, 40)):
        points, _ = clusters(n, 12, 5, spread=2.0)
        points = (4 * points).round() / (1 if dtype == "int8" else 4)
        points[: n // 4] = points[n // 4 : 2 * (n // 4)]
        points[-3:] = 0
        points = points.clamp(-100, 100).to(getattr(torch, dtype))
        found = allsplits.order_neighbors(points, depth=depth, metric=metric)
        expected = allsplits.order_neighbors(
            on_host(points), depth=depth, metric=metric, backend="exact"
        )
        assert_same_order(found, expected)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_orders_from_lists_of_all_rows(metric, no_copies):
    points, _ = clusters(40_001, 32, 5)
    found = allsplits.order_neighbors(points, depth=30, metric=metric)
    expected = allsplits.order_neighbors(on_host(points), depth=30, metric=metric, backend="exact")
    assert_same_order(found, expected)


#: Those that the CPU's tests leave open: what is searched here, and what is copied to the host.
FUNCTIONS = (
    "evaluate", "regressor", "test set", "manhattan", "precomputed", "validation curve",
    "replayed splits", "part", "CV", "resampled",
)  # fmt: skip


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_functions_take_them():
    expected = answers(X, Y, TARGETS, GROUPS, D)

    def cuda(array, dtype=None):
        return torch.as_tensor(array, dtype=dtype, device="cuda")

    points = cuda(X, torch.bfloat16).requires_grad_()
    found = answers(points, cuda(Y), cuda(TARGETS, torch.float32), cuda(GROUPS), cuda(D))
    for name in FUNCTIONS:
        assert_close(found[name](), expected[name](), name)


def assert_close(there, here, name):
    if isinstance(here, tuple):
        for one, other in zip(there, here, strict=True):
            assert_close(one, other, name)
    elif np.asarray(here).dtype.kind == "f":
        np.testing.assert_allclose(there, here, rtol=1e-9, atol=1e-10, err_msg=name)
    else:
        np.testing.assert_equal(there, here, err_msg=name)


@pytest.mark.parametrize("n_classes", [2, 7, 300])
@pytest.mark.parametrize(
    "law",
    [None, KFold(5), FixedSize(2500), ClassCounts(3)],
    ids=["stratified", "folds", "size", "counts"],
)
def test_values_within_the_bound(n_classes, law, no_copies):
    points, y = clusters(3000, 24, n_classes, spread=0.5)
    model = KNeighborsClassifier(5 if n_classes > 2 else 3)
    for function in (allsplits.evaluate, allsplits.validation_curve):
        options = {} if function is allsplits.evaluate else {"n_neighbors": [1, 2, 5]}
        found = function(model, points, y, cv=law, **options)
        expected = function(
            model, on_host(points), y.cpu().numpy(), cv=law, backend="exact", **options
        )
        assert found.search.device == "cuda:0"
        if function is allsplits.evaluate:
            assert abs(found.score - expected.score) <= found.error_bound + expected.error_bound
            np.testing.assert_allclose(found.sample_scores, expected.sample_scores, atol=1e-9)
            np.testing.assert_allclose(found.prediction_proba, expected.prediction_proba, atol=1e-9)
        else:
            bounds = found.error_bounds + expected.error_bounds
            assert np.all(np.abs(found.scores - expected.scores) <= bounds)


def test_views_gradients_autocast_inference_and_streams(no_copies):
    points, y = clusters(3000, 16, 4)
    model = KNeighborsClassifier(5)
    expected = allsplits.evaluate(model, on_host(points), y.cpu().numpy(), cv=KFold(5))

    def assert_same_score(tensor):
        found = allsplits.evaluate(model, tensor, y, cv=KFold(5))
        assert found.search.device == "cuda:0"
        assert abs(found.score - expected.score) <= found.error_bound + expected.error_bound

    wide = torch.zeros(3000, 40, device="cuda")
    wide[:, 3:19] = points
    assert_same_score(wide[:, 3:19])
    assert_same_score(points.clone().requires_grad_())
    with torch.autocast("cuda", dtype=torch.float16):
        assert_same_score(points)
    with torch.inference_mode():
        assert_same_score(points * 1)
    with torch.cuda.stream(torch.cuda.Stream()):
        assert_same_score(points + 0)


@pytest.mark.parametrize(
    ("tensor", "words"),
    [
        (torch.ones(4), r"shape \(n_samples, n_features\)"),
        (torch.ones((1, 2)), "at least 2"),
        (torch.tensor([[1.0], [np.nan]]), "NaN"),
        (torch.tensor([[1.0], [7e4]]).half(), "float16 ends at 65504"),
        (torch.tensor([[1.0], [2.0]]).double() * 1e180, "below 1e"),
    ],
)
def test_bad_tensors_are_refused_on_the_device(tensor, words, no_copies):
    with pytest.raises(InvalidInputError, match=words):
        allsplits.order_neighbors(tensor.cuda())


def test_what_the_gpu_cannot_serve_is_copied_to_the_host():
    points, _ = clusters(500, 6, 3)
    for options in ({"metric": "manhattan"}, {"backend": "exact"}, {"backend": "torch:cpu"}):
        order = allsplits.order_neighbors(points, depth=5, **options)
        assert order.search.device == "cpu"
        host = allsplits.order_neighbors(on_host(points), depth=5, **options)
        np.testing.assert_array_equal(order.flat_indices, host.flat_indices)


@pytest.fixture
def say(request):
    """Write a line of figures, whatever pytest captures."""
    return request.config.get_terminal_writer().line


def test_memory_is_given_back_and_samples_are_not_copied(say):
    points, y = clusters(60_000, 256, 10)
    allsplits.evaluate(KNeighborsClassifier(5), points[:3000], y[:3000], cv=KFold(5))
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    started = time.perf_counter()
    curve = allsplits.validation_curve(KNeighborsClassifier(5), points, y, cv=KFold(5))
    seconds = time.perf_counter() - started
    peak = torch.cuda.max_memory_allocated() - before
    say(f"60,000 × 256, all k to 50: {seconds:.2f} s, peak {peak / GIB:.2f} GiB beyond X")
    assert peak < 4 * GIB
    del curve
    assert torch.cuda.memory_allocated() - before < 64 << 20


@pytest.fixture
def memory_limit():
    """Let torch have so many more bytes than it has now."""
    total = torch.cuda.get_device_properties(0).total_memory

    def limit(more):
        torch.cuda.empty_cache()
        torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + more) / total)

    yield limit
    torch.cuda.set_per_process_memory_fraction(1.0)
    torch.cuda.empty_cache()


def test_smaller_blocks_or_a_clear_error_where_memory_runs_out(memory_limit, monkeypatch, say):
    asked, lock, candidates = [], threading.Lock(), Level.candidates

    def watched(self, numbers, count, n_columns):
        with lock:
            asked.append(n_columns)
        return candidates(self, numbers, count, n_columns)

    monkeypatch.setattr(Level, "candidates", watched)
    monkeypatch.setattr(TorchSearch, "ahead", 1)
    monkeypatch.setattr(FusedLists, "fit", lambda *_: False)
    # So many that scores need more than what comes after them.
    points, _ = clusters(120_000, 16, 5)
    expected = allsplits.order_neighbors(points, depth=200)
    outcomes = []
    for megabytes in (2048, 1024, 512, 384, 256, 192, 96, 8):
        asked.clear()
        memory_limit(megabytes << 20)
        try:
            found = allsplits.order_neighbors(points, depth=200)
        except DeviceError:
            outcomes.append((megabytes, "refused"))
        else:
            assert_same_order(found, expected)
            outcomes.append((megabytes, "smaller" if len(set(asked)) > 1 else "as before"))
        torch.cuda.set_per_process_memory_fraction(1.0)
    say(f"memory left in MiB, and what came of it: {outcomes}")
    assert "refused" in {what for _, what in outcomes}
    assert "smaller" in {what for _, what in outcomes}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_a_probe(dtype):
    points, y = clusters(20_000, 64, 20, getattr(torch, dtype), spread=0.4)
    probe = KNNProbe(20, k=20, confidence=0.95).cuda()
    for batch, labels in zip(points.split(512), y.split(512), strict=True):
        probe.update(batch, labels)
    found = {name: float(value) for name, value in probe.compute().items()}
    assert probe.result.search.device == "cuda:0"
    # Where NCCL can join them.
    assert {part.device.type for state in probe._states for part in state} == {"cuda"}
    model = KNeighborsClassifier(20, metric="cosine")
    curve = allsplits.validation_curve(
        model, on_host(points), y.cpu().numpy(), n_neighbors=[20], cv=KFold(5), backend="exact"
    )
    (interval,) = curve.interval(0.95).intervals
    values = [curve.scores[0], interval.low, interval.high]
    np.testing.assert_allclose(list(found.values()), values, atol=2e-7)


@pytest.mark.parametrize("n_classes", [10, 1000])
def test_a_probe_is_quick_and_stays_within_its_memory(n_classes, say):
    n_features, room = 768, 50_000
    generator = torch.Generator("cuda").manual_seed(0)
    centres = 0.12 * torch.randn(n_classes, n_features, generator=generator, device="cuda")
    probe = KNNProbe(n_classes, k=20, confidence=0.95, max_samples=room).cuda()
    for epoch in range(2):
        probe.reset()
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        before = torch.cuda.memory_allocated()
        started = time.perf_counter()
        for _ in range(400):
            y = torch.randint(n_classes, (512,), generator=generator, device="cuda")
            noise = torch.randn(512, n_features, generator=generator, device="cuda")
            probe.update((centres[y] + noise).bfloat16(), y)
        torch.cuda.synchronize()
        updates, held = time.perf_counter() - started, torch.cuda.memory_allocated() - before
        torch.cuda.reset_peak_memory_stats()
        started = time.perf_counter()
        probe.compute()
        seconds = time.perf_counter() - started
        peak = torch.cuda.max_memory_allocated() - before
        say(
            f"{n_classes} classes, epoch {epoch}: 400 updates {updates:.2f} s, held "
            f"{held / GIB:.2f} GiB, compute {seconds:.2f} s, peak {peak / GIB:.2f} GiB"
        )
        say(repr(probe.result))
    assert held < 1.3 * room * n_features * 2 + (8 << 20)
    assert seconds < 30
    probe.reset()
    assert torch.cuda.memory_allocated() - before < 64 << 20


def test_a_probe_that_keeps_embeddings_on_the_host():
    points, y = clusters(5000, 32, 5)
    probe = KNNProbe(5, k=5, max_samples=2000, compute_on_cpu=True).cuda()
    for batch, labels in zip(points.split(256), y.split(256), strict=True):
        probe.update(batch, labels)
    assert {part.device.type for part in probe.embeddings} == {"cpu"}
    there = KNNProbe(5, k=5, max_samples=2000).cuda()
    for batch, labels in zip(points.split(256), y.split(256), strict=True):
        there.update(batch, labels)
    assert float(probe.compute()) == pytest.approx(float(there.compute()), abs=1e-7)
    assert (probe.result.n_samples, probe.result.n_seen) == (2000, 5000)
