"""One GPU, embeddings of the size of ImageNet: ``python -m benchmarks.gpu``.

1,281,167 x 768 synthetic embeddings in 1000 classes, every training set of 80 %, all k up to 50.
The floor is the product of all pairs in bfloat16 alone. Needs CUDA; no part of ``make bench``.
"""

from __future__ import annotations

import argparse
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from allsplits import FixedSize, validation_curve
from allsplits._threads import thread_count
from allsplits.exact import Column
from allsplits.exact.laws.fixed_size.circle import circle_vote
from allsplits.exact.laws.fixed_size.majority import MajorityVote
from allsplits.exact.masses import prefixes_for
from allsplits.exact.on_device.votes import CircleVotes, DeviceVotes
from allsplits.exact.question import Options
from allsplits.orders import Metric, SearchReport, iter_parts, read_points
from allsplits.orders.proposers.torch import TorchSearch
from allsplits.orders.proposers.torch_fused import FusedLists, rounded
from allsplits.orders.protocol import whole_order
from allsplits.splits import Samples, resolve_cv

N_SAMPLES, N_FEATURES, N_CLASSES = 1_281_167, 768, 1000
SEARCH_GOAL, WHOLE_GOAL = 5.0, 8.0


def embeddings(
    n_samples: int, n_classes: int, spread: float, uneven: float
) -> tuple[np.ndarray, np.ndarray]:
    """Classes around random centres in 32 latent dimensions, seen through 768 features.

    `spread` is the distance of centres, `uneven` how much samples differ in difficulty.
    """
    import torch

    torch.manual_seed(0)
    latent = 32
    y = torch.arange(n_samples) % n_classes
    centres = spread * torch.randn(n_classes, latent, device="cuda")
    view = torch.randn(latent, N_FEATURES, device="cuda") / latent**0.5
    X = np.empty((n_samples, N_FEATURES), dtype=np.float32)
    for start in range(0, n_samples, 1 << 16):
        part = y[start : start + (1 << 16)].cuda()
        noise = torch.exp(uneven * torch.randn(len(part), 1, device="cuda"))
        z = centres[part] + noise * torch.randn(len(part), latent, device="cuda")
        x = z @ view + 0.1 * torch.randn(len(part), N_FEATURES, device="cuda")
        X[start : start + len(part)] = x.cpu().numpy()
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


def steps(search: TorchSearch) -> dict[str, float]:
    """Seconds of each step of the search of all rows, on the device."""
    import torch

    seconds, n = {}, search.n_samples
    width = search._widths(again=False)[1]

    def timed(name: str, work: Any) -> Any:
        torch.cuda.synchronize()
        start = perf_counter()
        result = work()
        torch.cuda.synchronize()
        seconds[name] = perf_counter() - start
        return result

    def finish() -> None:
        for start in range(0, n, 8192):
            found.nearest(start, min(start + 8192, n), width)

    found = timed("table in bfloat16, limits from a sample", lambda: FusedLists(search.scaled, 110))
    timed("half of the products, filtered", lambda: found._reach(n))
    timed("true distances, sorted", finish)
    return seconds


def plain(search: TorchSearch) -> dict[str, float]:
    """Seconds of plain torch for all rows, from one block of 2,048."""
    import torch

    table = rounded(search.scaled)[0].points
    rows, blocks = table[torch.randperm(search.n_samples, device="cuda")[:2048]], len(table) / 2048
    work = {
        "product of all pairs in bfloat16 alone (floor)": lambda: rows @ table.T,
        "plain torch: product in bfloat16 and topk(110), unproven": lambda: (rows @ table.T).topk(
            110
        ),
    }
    return {name: device_milliseconds(one) * blocks / 1000 for name, one in work.items()}


def check(search: TorchSearch, n_queries: int = 64) -> int:
    """Rows of a random sample whose order is not that of complete float64 rows."""
    rng = np.random.default_rng(1)
    wrong = 0
    for row in rng.choice(search.n_samples, n_queries, replace=False):
        fast = search.order(int(row), int(row) + 1)
        slow = search.full.order(int(row), int(row) + 1)
        wrong += not np.array_equal(fast.flat_indices, slow.flat_indices)
    return wrong


def votes(search: TorchSearch, y: np.ndarray, law: Any) -> dict[str, float]:
    """Seconds that the votes of all samples would take alone, from one block."""
    import torch

    prefixes = prefixes_for(
        [Column(k, resolve_cv(law, Samples(len(y)))) for k in range(1, 51)], 1e-15
    )
    n_classes, n_rows, codes = int(y.max()) + 1, 32_768, y.astype(np.int32)
    vote = MajorityVote(prefixes, n_classes, Options())
    order = search.order(0, n_rows)
    seconds = {}
    # The second time nothing is compiled.
    for _ in range(2):
        start = perf_counter()
        vote.right(order, codes, thread_count(None))
        seconds[f"votes on {thread_count(None)} threads"] = perf_counter() - start
    one = circle_vote(prefixes, n_classes, share=False)
    if one is None:
        raise AssertionError("a circle is enough for 50 neighbours")
    circle, rows = CircleVotes([one], None, False), list(search._rows_on_device(0, n_rows, 0))
    for _ in range(2):
        torch.cuda.synchronize()
        start = perf_counter()
        counted = DeviceVotes(torch, "cuda", circle, codes, np.arange(n_rows))
        for some in rows:
            counted.add(some)
        torch.cuda.synchronize()
        seconds["votes on the device"] = perf_counter() - start
    return {name: each * len(y) / n_rows for name, each in seconds.items()}


def compile_everything(X: np.ndarray, y: np.ndarray) -> None:
    """What compiles, and starting CUDA, is not measured.

    A few rows of every large run are left to the host, with ties or without: its kernels are
    compiled as well.
    """
    again = X[:2000].copy()
    again[:100] = again[100:200]
    for cv in (FixedSize(0.8), StratifiedKFold(5)):
        validation_curve(KNeighborsClassifier(), X, y, cv=cv, backend="torch")
        validation_curve(KNeighborsClassifier(), again, y[:2000] % 10, cv=cv, backend="exact")


def main() -> None:
    import torch

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=N_SAMPLES)
    parser.add_argument("--classes", type=int, default=N_CLASSES)
    parser.add_argument("--spread", type=float, default=1.1)
    parser.add_argument("--uneven", type=float, default=0.5)
    parser.add_argument("--search-only", action="store_true")
    options = parser.parse_args()
    X, y = embeddings(options.samples, options.classes, options.spread, options.uneven)
    law, metric = FixedSize(int(0.8 * len(X))), Metric.resolve("euclidean")
    compile_everything(X[:40_000], y[:40_000])
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {len(X):,} x {X.shape[1]}")
    difficulty = f"spread {options.spread}, uneven {options.uneven}"
    print(f"{options.classes} classes, {difficulty}, {thread_count(None)} threads")

    start = perf_counter()
    read_points(X, metric)
    print(f"check of X: {perf_counter() - start:.2f} s")
    start = perf_counter()
    search = TorchSearch(X, metric, 110, thread_count(None))
    torch.cuda.synchronize()
    print(f"points to the device, centred: {perf_counter() - start:.2f} s")
    for name, seconds in {**plain(search), **steps(search)}.items():
        print(f"  {name:60s} {seconds:7.2f} s")
    print(f"rows that differ from complete float64 rows: {check(search)} of 64")
    for name, seconds in votes(search, y, law).items():
        print(f"  {name + ', all k to 50, alone':60s} {seconds:7.2f} s")
    del search
    torch.cuda.empty_cache()

    start = perf_counter()
    blocks = iter_parts(X, metric, 110, whole_order, backend="torch")
    reports = [block.search for block in blocks]
    seconds = perf_counter() - start
    print(f"search: {seconds:.2f} s (goal {SEARCH_GOAL:.0f} s), {SearchReport.total(reports)}")

    if options.search_only:
        print(
            f"most memory used on the device: {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB"
        )
        return
    start = perf_counter()
    curve = validation_curve(KNeighborsClassifier(), X, y, cv=law, backend="torch")
    seconds = perf_counter() - start
    print(f"end to end, all k to 50: {seconds:.2f} s (goal {WHOLE_GOAL:.0f} s): {curve}")
    print(f"  k = 1, 20, 50: {curve.scores[[0, 19, 49]].round(4)}, {curve.search}")
    start = perf_counter()
    curve = validation_curve(KNeighborsClassifier(), X, y, cv=StratifiedKFold(5), backend="torch")
    print(f"the same for stratified folds: {perf_counter() - start:.2f} s: {curve}")
    if options.classes == 2:
        # The order within tie groups matters to this rule, so the host has to count.
        start = perf_counter()
        validation_curve(
            KNeighborsClassifier(), X, y, cv=law, backend="torch", distance_ties="index"
        )
        print(f"  the same, tallies counted by the host: {perf_counter() - start:.2f} s")
    print(f"most memory used on the device: {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB")


if __name__ == "__main__":
    main()
