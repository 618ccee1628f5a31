"""The probe: the values of `evaluate`, from batches, within a bound of memory."""

import importlib.util
import sys

import numpy as np
import pytest
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier

from allsplits import ClassCounts, KNNProbe, evaluate
from allsplits.exceptions import (
    InvalidInputError,
    InvalidTypeError,
    MissingExtraError,
    UnsupportedError,
)

torch = pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("torchmetrics", reason="needs torchmetrics")


def clusters(n=90, d=4, n_classes=3, seed=0):
    generator = torch.Generator().manual_seed(seed)
    y = torch.arange(n) % n_classes
    centres = torch.randn(n_classes, d, generator=generator)
    return centres[y] + torch.randn(n, d, generator=generator), y


X, Y = clusters()


def fed(probe, X=X, y=Y, size=16):
    for start in range(0, len(X), size):
        probe.update(X[start : start + size], y[start : start + size])
    return probe


def expected(X=X, y=Y, k=5, metric="cosine", cv=None):
    model = KNeighborsClassifier(k, metric=metric)
    return evaluate(
        model, X.double().numpy(), y.numpy(), cv=KFold(5, shuffle=True) if cv is None else cv
    )


def test_the_value_of_evaluate():
    probe = fed(KNNProbe(3, k=5))
    found = probe.compute()
    assert found.shape == ()
    assert found.dtype == torch.float32
    assert float(found) == pytest.approx(expected().score, abs=1e-7)
    assert probe.result.score == pytest.approx(expected().score, abs=1e-14)
    assert probe.result.interval is None
    assert (probe.result.n_samples, probe.result.n_seen) == (90, 90)
    assert "accuracy=0." in repr(probe.result)
    assert "on cpu" in repr(probe.result)


def test_its_repr_says_what_it_measures():
    text = repr(KNNProbe(3, k=7, law=ClassCounts(4)))
    assert text.startswith("KNNProbe(n_classes=3, k=7, law=ClassCounts(")
    assert "metric='cosine', max_samples=50000" in text


@pytest.mark.parametrize("law", [None, 5, ClassCounts(4)])
def test_the_interval_of_evaluate(law):
    probe = fed(KNNProbe(3, k=3, law=law, metric="euclidean", confidence=0.9))
    found = probe.compute()
    assert list(found) == ["knn_accuracy", "knn_low", "knn_high"]
    of_all = expected(k=3, metric="euclidean", cv=law)
    interval = of_all.interval(0.9)
    values = [of_all.score, interval.low, interval.high]
    np.testing.assert_allclose([float(value) for value in found.values()], values, atol=1e-7)
    assert probe.result.interval.confidence == 0.9


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_types_are_kept_and_gradients_are_not(dtype):
    embeddings = X.to(getattr(torch, dtype)).requires_grad_()
    probe = fed(KNNProbe(3, k=5), embeddings)
    assert all(part.dtype == embeddings.dtype for part in probe.embeddings)
    assert not any(part.requires_grad for part in probe.embeddings)
    probe.compute()
    assert probe.result.score == pytest.approx(expected(embeddings.detach()).score, abs=1e-14)


@pytest.mark.parametrize("size", [1, 7, 90])
def test_batches_do_not_matter(size):
    assert float(fed(KNNProbe(3, k=5), size=size).compute()) == float(
        fed(KNNProbe(3, k=5)).compute()
    )


def test_memory_is_bounded_however_long_an_epoch_is():
    probe = KNNProbe(3, k=5, max_samples=100)
    for epoch in range(40):
        batch, labels = clusters(64, seed=epoch)
        probe.update(batch, labels)
        assert sum(len(part) for part in probe.embeddings) <= 125
    probe.compute()
    assert (probe.result.n_samples, probe.result.n_seen) == (100, 2560)
    assert "100 samples drawn from 2,560" in repr(probe.result)


def test_a_look_in_between_changes_nothing():
    probe, looked = KNNProbe(3, k=5, max_samples=40), KNNProbe(3, k=5, max_samples=40)
    fed(fed(probe), X + 1)
    fed(looked).compute()
    fed(looked, X + 1)
    assert looked.compute() == probe.compute()
    assert looked.result.n_seen == 180


def test_samples_stay_with_their_labels():
    probe = KNNProbe(64, k=1, max_samples=100)
    for _ in range(20):
        labels = torch.randperm(64)
        probe.update(labels[:, None].float().expand(-1, 3), labels)
    embeddings, labels, numbers = probe._sample()
    assert len(labels) == 100
    assert torch.equal(embeddings[:, 0].long(), labels)
    assert len(torch.unique(numbers)) == 100


def test_a_view_does_not_keep_what_it_is_a_view_of():
    tokens = torch.randn(16, 50, 4)
    probe = KNNProbe(3, k=5)
    probe.update(tokens[:, 0], torch.arange(16) % 3)
    assert probe.embeddings[0].untyped_storage().nbytes() == 16 * 4 * 4
    tokens[:] = 0  # later changes do not change what was kept
    assert probe.embeddings[0].abs().sum() > 0


def kept_of(numbers, most, *, processes=1, state=0, monkeypatch=None):
    """Which of a stream are kept, by their own values, joined from several processes."""
    joined = []
    for rank in range(processes):
        monkeypatch.setattr("allsplits.probes._probe._rank", lambda rank=rank: rank)
        probe = KNNProbe(2, k=1, max_samples=most, random_state=state)
        joined.append(
            fed(
                probe,
                numbers[rank::processes, None],
                torch.zeros(len(numbers[rank::processes]), dtype=int),
                3,
            )
        )
    first, *others = joined
    for other in others:
        first.merge_state(other)
    return first._sample()[0][:, 0].long().tolist()


@pytest.mark.parametrize("processes", [1, 2])
def test_every_sample_is_kept_equally_often(processes, monkeypatch):
    stream, times = torch.arange(30.0), np.zeros(30)
    runs = 200
    for state in range(runs):
        kept = kept_of(stream, 6, processes=processes, state=state, monkeypatch=monkeypatch)
        assert len(set(kept)) == 6
        times[kept] += 1
    # Binomial with p = 1/5: five standard deviations, the seeds are fixed.
    assert np.abs(times - runs / 5).max() < 5 * np.sqrt(runs * 0.2 * 0.8)
    # Neighbours in a batch are not kept together more often than others.
    assert times[:15].sum() == pytest.approx(3 * runs, rel=0.08)


def test_the_same_samples_in_every_epoch():
    probe = KNNProbe(3, k=5, max_samples=20)
    first = fed(probe)._sample()[0]
    result = probe.compute() * 0 + probe.compute()
    probe.reset()
    assert probe.embeddings == []
    assert probe.result is not None
    assert torch.equal(fed(probe)._sample()[0], first)
    assert probe.compute() == result
    other = fed(KNNProbe(3, k=5, max_samples=20, random_state=1))
    assert not torch.equal(other._sample()[0], first)


@pytest.mark.parametrize(
    ("embeddings", "labels", "words"),
    [
        (torch.full((20, 2), torch.nan), torch.arange(20) % 2, "NaN"),
        (torch.tensor([[7e4, 1.0]] * 20).half(), torch.arange(20) % 2, "float16 ends at 65504"),
        (torch.randn(20, 2), torch.zeros(20, dtype=int), "at least 2 classes"),
        (torch.randn(6, 2), torch.arange(6) % 2, "n_neighbors must be at most 4"),
        (torch.randn(3, 2), torch.arange(3) % 2, "does not fit|at least|5"),
    ],
)
@pytest.mark.parametrize("confidence", [None, 0.95])
def test_what_cannot_be_scored_is_nan_and_says_why(embeddings, labels, words, confidence):
    probe = KNNProbe(2, k=5, confidence=confidence)
    probe.update(embeddings, labels)
    with pytest.warns(UserWarning, match=f"no score for these .* NaN: .*({words})"):
        found = probe.compute()
    values = [found] if confidence is None else list(found.values())
    assert all(torch.isnan(value) for value in values)
    assert probe.result is None


def test_nothing_seen_is_nan():
    with pytest.warns(UserWarning, match="before the ``update`` method"):
        assert torch.isnan(KNNProbe(2).compute())


def test_labels_beyond_the_classes_are_an_error():
    with pytest.raises(InvalidInputError, match=r"labels must be from 0 to 1.*got 0 to 2"):
        fed(KNNProbe(2, k=5)).compute()


def test_what_has_no_formula_is_an_error():
    with pytest.raises(UnsupportedError, match="manhattan"):
        fed(KNNProbe(3, k=5, metric="manhattan", backend="torch:cpu")).compute()


@pytest.mark.parametrize(
    ("embeddings", "labels", "error", "words"),
    [
        (np.ones((3, 2)), torch.arange(3), InvalidTypeError, "embeddings must be a torch.Tensor"),
        (torch.ones(3, 2), [0, 1, 2], InvalidTypeError, "labels must be a torch.Tensor"),
        (torch.ones(3), torch.arange(3), InvalidInputError, r"\(n_batch, n_features\); got \(3,\)"),
        (torch.ones(3, 2), torch.ones(3, 1), InvalidInputError, r"\(n_batch,\); got \(3, 1\)"),
        (torch.ones(3, 2).int(), torch.arange(3), InvalidTypeError, "floating; got torch.int32"),
        (torch.ones(3, 2), torch.ones(3), InvalidTypeError, "integers; got torch.float32"),
        (torch.ones(3, 2), torch.arange(4), InvalidInputError, "each of the 3 .* got 4"),
    ],
)
def test_batches_that_cannot_work(embeddings, labels, error, words):
    with pytest.raises(error, match=words):
        KNNProbe(5).update(embeddings, labels)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_classes": 1}, "n_classes must be at least 2; got 1"),
        ({"k": 0}, "k must be at least 1; got 0"),
        ({"k": 2.5}, "k must be an integer; got 2.5"),
        ({"metric": "cosign"}, "metric must be"),
        ({"metric": "precomputed"}, "metric must be one of embeddings; got 'precomputed'"),
        ({"max_samples": 0}, "max_samples must be at least 2; got 0"),
        ({"confidence": 95}, "confidence must lie strictly between 0 and 1; got 95"),
        ({"confidence": 0.0}, "confidence must lie strictly"),
        ({"backend": "gpu"}, "backend must be one of"),
        ({"random_state": -1}, "random_state must be at least 0; got -1"),
    ],
)
def test_parameters_are_checked_at_once(options, words):
    with pytest.raises((InvalidInputError, InvalidTypeError), match=words):
        KNNProbe(**{"n_classes": 3, **options})


def test_without_torchmetrics_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torchmetrics", None)
    origin = importlib.util.find_spec("allsplits.probes._probe").origin
    spec = importlib.util.spec_from_file_location("allsplits.probes._without", origin)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.raises(MissingExtraError, match=r"KNNProbe needs torchmetrics.*allsplits\[probe\]"):
        module.KNNProbe(3)
