"""The probe in Lightning's own loops: as a metric of a module, and by the callback of its page."""

import logging

import pytest

torch = pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("torchmetrics", reason="needs torchmetrics")
pl = pytest.importorskip("pytorch_lightning", reason="needs pytorch-lightning")

from allsplits import KNNProbe  # noqa: E402
from docs import pages  # noqa: E402

# Lightning warns of what the machine could do, and of things that are its own.
pytestmark = pytest.mark.filterwarnings("ignore")


def samples(n=192):
    generator = torch.Generator().manual_seed(0)
    y = torch.arange(n) % 3
    return torch.eye(3)[y].repeat(1, 2) + torch.randn(n, 6, generator=generator), y


class Module(pl.LightningModule):
    """An embedding that is trained to tell three classes apart."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.embed, self.head = torch.nn.Linear(6, 4), torch.nn.Linear(4, 3)
        self.knn = KNNProbe(3, k=5, max_samples=100)

    def forward(self, x):
        return self.embed(x)

    def training_step(self, batch, _):
        x, y = batch
        return torch.nn.functional.cross_entropy(self.head(self(x)), y)

    def validation_step(self, batch, _):
        x, y = batch
        self.knn.update(self(x), y)
        self.log("val/knn", self.knn)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def trained(tmp_path, callbacks, **options):
    logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*samples()), batch_size=48)
    trainer = pl.Trainer(
        default_root_dir=tmp_path, max_epochs=3, logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, callbacks=callbacks, **options,
    )  # fmt: skip
    module = Module()
    trainer.fit(module, loader, loader)
    return module, trainer


def page_callback():
    """The callback as the page has it."""
    text = (pages.ROOT / "docs" / "probes.md").read_text(encoding="utf-8")
    _, start, rest = text.partition("import pytorch_lightning as pl\n")
    names = {}
    exec(start + rest.partition("```")[0], names)
    return names["KNNCallback"]


def test_a_module_logs_it_and_a_callback_gives_the_interval(tmp_path):
    seen = []

    class Watch(page_callback()):
        def on_validation_epoch_end(self, trainer, module):
            super().on_validation_epoch_end(trainer, module)
            seen.append((trainer.sanity_checking, self.probe.result, len(self.probe.embeddings)))

    callback = Watch(n_classes=3, every_n_epochs=2, k=5)
    module, trainer = trained(tmp_path, [callback], num_sanity_val_steps=1)
    found = {name: float(value) for name, value in trainer.callback_metrics.items()}
    assert found["knn_low"] < found["knn_accuracy"] < found["knn_high"]
    assert found["knn_accuracy"] == pytest.approx(callback.probe.result.score, abs=1e-6)
    # The sanity check is left out, epoch 1 as well, and nothing is kept between epochs.
    assert [held for *_, held in seen] == [0, 0, 0, 0]
    assert [sanity for sanity, *_ in seen] == [True, False, False, False]
    results = [result for _, result, _ in seen]
    assert results[0] is None
    assert results[1] is results[2]
    assert results[3] is not results[2]
    # The module's own probe kept 100 of 192, and Lightning reset it.
    assert 0.5 < found["val/knn"] < 1
    assert (module.knn.result.n_samples, module.knn.result.n_seen) == (100, 192)
    assert module.knn.embeddings == []
    assert module.knn.result.search.device.startswith(trainer.strategy.root_device.type)
