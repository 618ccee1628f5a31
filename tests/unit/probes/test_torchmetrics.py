"""The probe as a metric of torchmetrics: collections, processes, copies."""

import copy
import pickle

import pytest

torch = pytest.importorskip("torch", reason="needs torch")
torchmetrics = pytest.importorskip("torchmetrics", reason="needs torchmetrics")

from allsplits import KNNProbe  # noqa: E402
from allsplits.exceptions import InvalidInputError, InvalidTypeError  # noqa: E402


def batches(n_batches=8, size=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    for _ in range(n_batches):
        y = torch.randint(0, 3, (size,), generator=generator)
        yield torch.eye(3)[y] + 0.7 * torch.randn(size, 3, generator=generator), y


def fed(metric, **options):
    for batch in batches(**options):
        metric.update(*batch)
    return metric


class Seen(torchmetrics.Metric):
    """Another metric of the same batches."""

    full_state_update = False

    def __init__(self):
        super().__init__()
        self.add_state("n", default=torch.tensor(0.0), dist_reduce_fx="sum")

    def update(self, embeddings, labels):
        self.n += len(labels)

    def compute(self):
        return self.n


def test_in_a_collection_with_others():
    metrics = {"one": KNNProbe(3, k=1), "five": KNNProbe(3, k=5), "seen": Seen()}
    alone = {name: float(fed(copy.deepcopy(metric)).compute()) for name, metric in metrics.items()}
    collection = torchmetrics.MetricCollection(metrics, prefix="val/")
    for _ in range(2):
        found = fed(collection).compute()
        assert {f"val/{name}": value for name, value in alone.items()} == {
            name: float(value) for name, value in found.items()
        }
        collection.reset()
    assert alone["one"] != alone["five"]
    # Probes with other k share what is kept.
    assert sorted(map(sorted, collection.compute_groups.values())) == [["five", "one"], ["seen"]]


def test_probes_that_keep_other_samples_share_nothing():
    few, many = KNNProbe(3, k=5, max_samples=50), KNNProbe(3, k=5, max_samples=100)
    collection = fed(torchmetrics.MetricCollection({"few": few, "many": many}))
    collection.compute()
    assert len(collection.compute_groups) == 2
    assert (few.result.n_samples, many.result.n_samples) == (50, 100)


def test_intervals_in_a_collection():
    collection = torchmetrics.MetricCollection([KNNProbe(3, k=5, confidence=0.95), Seen()])
    found = fed(collection.clone(prefix="train_")).compute()
    assert sorted(found) == ["train_Seen", "train_knn_accuracy", "train_knn_high", "train_knn_low"]
    assert found["train_knn_low"] < found["train_knn_accuracy"] < found["train_knn_high"]


def test_calling_it_is_updating_it():
    probe, called = fed(KNNProbe(3, k=5, max_samples=100)), KNNProbe(3, k=5, max_samples=100)
    assert all(called(*batch) is None for batch in batches())
    assert probe.compute() == called.compute()
    assert (called.result.n_samples, called.result.n_seen) == (100, 256)
    collection = torchmetrics.MetricCollection({"knn": KNNProbe(3, k=5), "seen": Seen()})
    for batch in batches():
        assert collection(*batch)["knn"] is None
    assert collection.compute()["seen"] == 256


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)),
                                    lambda x: x.clone()])  # fmt: skip
def test_copies_go_on_where_the_first_was(copied):
    probe = fed(KNNProbe(3, k=5, max_samples=100), n_batches=6)
    twin = copied(probe)
    for metric in (probe, twin):
        fed(metric, n_batches=3, seed=1)
    assert probe.compute() == twin.compute()
    assert twin.result.n_seen == 9 * 32


def processes(monkeypatch, n_batches, **options):
    """Two probes as in two processes, each of which gathers what both have."""
    probes = []

    def gather(tensor, group=None):
        state = next(
            name for name in probes[0]._reductions if _is_of(probes[asking[0]], name, tensor)
        )
        return [_whole(probe, state) for probe in probes]

    asking = [0]
    for rank in range(2):
        monkeypatch.setattr("allsplits.probes._probe._rank", lambda rank=rank: rank)
        probe = KNNProbe(
            3, k=5, dist_sync_fn=gather, distributed_available_fn=lambda: True, **options
        )
        probes.append(fed(probe, n_batches=n_batches[rank], seed=rank))
    found = []
    for rank, probe in enumerate(probes):
        asking[0] = rank
        found.append(probe.compute())
    return found, probes


def _whole(probe, name):
    state = probe._cache[name] if probe._cache else getattr(probe, name)
    if not isinstance(state, list):
        return state
    return torch.cat(state) if state else torch.tensor([])


def _is_of(probe, name, tensor):
    own = _whole(probe, name)
    return own.shape == tensor.shape and own.dtype == tensor.dtype and torch.equal(own, tensor)


def test_processes_join_their_samples(monkeypatch):
    found, probes = processes(monkeypatch, (4, 3))
    together = KNNProbe(3, k=5)
    for rank, n_batches in enumerate((4, 3)):
        fed(together, n_batches=n_batches, seed=rank)
    assert found[0] == found[1] == together.compute()
    assert [probe.result.n_seen for probe in probes] == [7 * 32, 7 * 32]
    # Afterwards each has its own again.
    assert [int(probe.n_seen) for probe in probes] == [4 * 32, 3 * 32]


def test_processes_together_keep_as_many_as_one(monkeypatch):
    found, probes = processes(monkeypatch, (8, 5), max_samples=100)
    assert found[0] == found[1]
    assert [probe.result.n_samples for probe in probes] == [100, 100]
    assert [probe.result.n_seen for probe in probes] == [13 * 32, 13 * 32]


def test_a_process_without_a_batch_is_an_error_not_a_hang(monkeypatch):
    with pytest.raises(InvalidInputError, match=r"every process.*got \[64, 0\] samples"):
        processes(monkeypatch, (2, 0))
    with pytest.warns(UserWarning, match="before the ``update`` method"):
        found, _ = processes(monkeypatch, (0, 0))
    assert all(torch.isnan(value) for value in found)


def test_embeddings_kept_in_half_precision():
    probe = fed(KNNProbe(3, k=5), n_batches=3)
    torchmetrics.MetricCollection([probe]).set_dtype(torch.bfloat16)
    fed(probe, n_batches=2, seed=1)
    assert {part.dtype for part in probe.embeddings} == {torch.bfloat16}
    # Everything else is what it was.
    assert {part.dtype for part in (*probe.labels, *probe.numbers)} == {torch.int64}
    given = KNNProbe(3, k=5)
    for seed, n_batches in ((0, 3), (1, 2)):
        for embeddings, labels in batches(n_batches, seed=seed):
            given.update(embeddings.bfloat16(), labels)
    assert probe.compute() == given.compute()
    assert probe.half().double().embeddings[0].dtype == torch.bfloat16  # as all metrics
    with pytest.raises(InvalidTypeError, match=r"floating torch.dtype; got torch.int8"):
        probe.set_dtype(torch.int8)


def test_kept_on_the_host():
    probe = fed(KNNProbe(3, k=5, max_samples=100, compute_on_cpu=True))
    assert {part.device.type for part in probe.embeddings} == {"cpu"}
    assert probe.compute() == fed(KNNProbe(3, k=5, max_samples=100)).compute()
