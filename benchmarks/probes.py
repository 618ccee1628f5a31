"""The probe of training loops on the CPU: an epoch of embeddings, scored at its end.

Who wants the accuracy of neighbours today keeps all embeddings and scores one random split of them,
or runs one cross-validation. 20,000 × 128 embeddings in batches of 256, 20 neighbours by cosine.
"""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
from sklearn.model_selection import KFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from benchmarks._timing import Result, interleaved, print_results

N_SAMPLES, N_FEATURES, N_CLASSES, BATCH, K = 20_000, 128, 100, 256, 20


def measure(repeats: int = 2) -> list[Result]:
    if find_spec("torchmetrics") is None:
        return []
    import torch

    from allsplits import KNNProbe

    generator = torch.Generator().manual_seed(0)
    y = torch.randint(N_CLASSES, (N_SAMPLES,), generator=generator)
    centres = 0.3 * torch.randn(N_CLASSES, N_FEATURES, generator=generator)
    X = centres[y] + torch.randn(N_SAMPLES, N_FEATURES, generator=generator)
    points, labels = X.numpy(), y.numpy()

    def epoch(confidence=None, **options):
        probe = KNNProbe(N_CLASSES, k=K, confidence=confidence, **options)
        for batch, own in zip(X.split(BATCH), y.split(BATCH), strict=True):
            probe.update(batch, own)
        probe.compute()
        return probe

    def one_run():
        model = KNeighborsClassifier(K, metric="cosine", n_jobs=-1)
        folds = KFold(5, shuffle=True, random_state=0)
        return float(np.mean(cross_val_score(model, points, labels, cv=folds)))

    alone, with_interval, sampled, run = interleaved(
        [epoch, lambda: epoch(0.95), lambda: epoch(0.95, max_samples=5000), one_run], repeats
    )
    what = f"{N_SAMPLES:,} x {N_FEATURES} embeddings, {N_CLASSES} classes, k = {K}"
    return [
        Result(f"probe, {what} / one 5-fold run of scikit-learn", alone, run, goal=1.0),
        Result("the same with its interval / that run", with_interval, run, goal=1.5),
        Result("the same, 5,000 of the samples kept", sampled, goal=5.0),
    ]


if __name__ == "__main__":
    print_results(measure())
