"""One GPU, embeddings of the size of ImageNet: ``python -m benchmarks.gpu``.

1,281,167 x 768 synthetic embeddings in 1000 classes, every training set of 80 %, all k up to 50.
The floor is the product of all pairs in bfloat16 alone. Needs CUDA; no part of ``make bench``.
"""

from __future__ import annotations

import argparse
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from allsplits import FixedSize, validation_curve
from allsplits.orders import Metric, iter_orders
from allsplits.orders.backends._torch_distances import distances_to_items
from allsplits.orders.backends.torch import TorchSearch

N_SAMPLES, N_FEATURES, N_CLASSES = 1_281_167, 768, 1000
SEARCH_GOAL, WHOLE_GOAL = 10.0, 20.0


def embeddings(n_samples: int, spread: float = 0.8) -> tuple[np.ndarray, np.ndarray]:
    """Classes around random centres in 32 latent dimensions, seen through 768 features."""
    import torch

    torch.manual_seed(0)
    latent = 32
    y = torch.arange(n_samples) % N_CLASSES
    centres = spread * torch.randn(N_CLASSES, latent, device="cuda")
    view = torch.randn(latent, N_FEATURES, device="cuda") / latent**0.5
    X = np.empty((n_samples, N_FEATURES), dtype=np.float32)
    for start in range(0, n_samples, 1 << 16):
        part = y[start : start + (1 << 16)].cuda()
        z = centres[part] + torch.randn(len(part), latent, device="cuda")
        X[start : start + len(part)] = (z @ view).cpu().numpy()
        X[start : start + len(part)] += (
            (0.1 * torch.randn(len(part), N_FEATURES, device="cuda")).cpu().numpy()
        )
    return X, y.numpy()


def device_milliseconds(work: Any, repeats: int = 8) -> float:
    """Median time of `work` on the device."""
    import torch

    times = []
    for _ in range(repeats + 2):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        work()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return float(np.median(times[2:]))


def stages(search: TorchSearch) -> dict[str, float]:
    """Milliseconds of each step for one block of 2,048 queries."""
    import torch

    numbers = torch.randperm(search.n_samples, device="cuda")[:2048]
    level = search._level(0)
    queries = level._queries(numbers)
    scores = queries @ level.table.T
    grouped = scores.view(len(queries), 64, -1)
    maxima = grouped.amax(1)
    items, _ = level.candidates(numbers, search.n_candidates, level.n_columns)
    keys = distances_to_items(torch, search.points, numbers, items)
    plain = level.table[:, :N_FEATURES].contiguous()
    rows = plain[numbers]
    out = {
        "product of the features alone (floor)": device_milliseconds(lambda: rows @ plain.T),
        "product with norms": device_milliseconds(lambda: queries @ level.table.T),
        "maxima of groups": device_milliseconds(lambda: grouped.amax(1)),
        "best groups": device_milliseconds(
            lambda: maxima.topk(search.n_candidates, dim=1, sorted=False)
        ),
        "maxima, best groups and members": device_milliseconds(
            lambda: level._largest(scores, search.n_candidates)
        ),
        "true distances": device_milliseconds(
            lambda: distances_to_items(torch, search.points, numbers, items)
        ),
        "sort": device_milliseconds(lambda: keys.sort(dim=1)),
        "all of it": device_milliseconds(
            lambda: search._nearest(numbers, 0, search.depth + 8 + search.depth // 8)
        ),
    }
    return out


def check(search: TorchSearch, n_queries: int = 64) -> int:
    """Rows of a random sample whose order is not that of complete float64 rows."""
    rng = np.random.default_rng(1)
    wrong = 0
    for row in rng.choice(search.n_samples, n_queries, replace=False):
        fast = search.order(int(row), int(row) + 1)
        slow = search.full.order(int(row), int(row) + 1)
        wrong += not np.array_equal(fast.flat_indices, slow.flat_indices)
    return wrong


def main() -> None:
    import torch

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=N_SAMPLES)
    parser.add_argument("--spread", type=float, default=0.8)
    options = parser.parse_args()
    X, y = embeddings(options.samples, options.spread)
    law = FixedSize(int(0.8 * len(X)))
    small = slice(0, 20_000)
    # Compiling and starting CUDA are not measured.
    validation_curve(
        KNeighborsClassifier(), X[small], y[small], cv=FixedSize(16_000), backend="torch"
    )
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {len(X):,} x {X.shape[1]}")

    start = perf_counter()
    search = TorchSearch(X, Metric.resolve("euclidean"), 110, 16)
    search._level(0)
    torch.cuda.synchronize()
    print(f"points to the device and table: {perf_counter() - start:.2f} s")
    n_blocks = len(X) / 2048
    for name, milliseconds in stages(search).items():
        print(f"  {name:40s} {milliseconds:7.2f} ms/block {milliseconds * n_blocks / 1000:7.2f} s")
    print(f"rows that differ from complete float64 rows: {check(search)} of 64")
    del search

    start = perf_counter()
    redone = 0
    blocks = iter_orders(X, Metric.resolve("euclidean"), 110, backend="torch")
    for block in blocks:
        redone += block.search.redone_rows
    seconds = perf_counter() - start
    print(f"search, points to order: {seconds:.2f} s (goal {SEARCH_GOAL:.0f} s), {redone} redone")

    start = perf_counter()
    curve = validation_curve(KNeighborsClassifier(), X, y, cv=law, backend="torch")
    seconds = perf_counter() - start
    print(f"end to end, all k to 50: {seconds:.2f} s (goal {WHOLE_GOAL:.0f} s): {curve}")
    print(f"  {curve.search}, k=1 {curve.scores[0]:.4f}, k=50 {curve.scores[-1]:.4f}")


if __name__ == "__main__":
    main()
