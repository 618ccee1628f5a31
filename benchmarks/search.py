"""The default neighbour search beside scikit-learn's, its growth, and its memory.

All samples among themselves, the same depth, one thread each, processor time of alternating turns
(other work on the machine disturbs it less than the clock). Before half of the products served both
rows the ratios were 0.57 (MNIST) and 0.37 (letters), and a mapped file of float32 needed five times
its size.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log
from time import process_time
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from allsplits import order_neighbors
from benchmarks._data import gaussian_classes, letters, mnist
from benchmarks._memory import GIB, answer_of
from benchmarks._timing import Result, print_environment, print_results

#: Samples of the mapped file, and its features: 195 MiB of float32.
N, D = 50_000, 1024

PROGRAM = f"""
import tempfile
import numpy as np
from allsplits import order_neighbors

rng = np.random.default_rng(0)
order_neighbors(rng.standard_normal((5000, 32)), depth=10)
with tempfile.NamedTemporaryFile(suffix=".npy") as file:
    table = np.lib.format.open_memmap(file.name, "w+", np.float32, ({N}, {D}))
    for start in range(0, {N}, 1000):
        table[start : start + 1000] = rng.standard_normal((1000, {D}), dtype=np.float32)
    table.flush()
    del table
    X = np.load(file.name, mmap_mode="r")
    before = peak()
    order_neighbors(X, depth=10)
    answer = [before, peak(), X.nbytes]
"""


def processor_seconds(work: Callable[[], Any]) -> float:
    start = process_time()
    work()
    return process_time() - start


def beside_scikit_learn(
    name: str, X: np.ndarray, depth: int, repeats: int, goal: float | None
) -> Result:
    order_neighbors(X[:5000], depth=depth, n_jobs=1)
    turns = []
    with threadpool_limits(1):
        for _ in range(repeats):
            ours = processor_seconds(lambda: order_neighbors(X, depth=depth, n_jobs=1))
            index = NearestNeighbors(n_neighbors=depth, algorithm="brute", n_jobs=1).fit(X)
            turns.append((ours, processor_seconds(index.kneighbors)))
    ours, peer = (min(times) for times in zip(*turns, strict=True))
    what = f"{name}, {len(X):,} x {X.shape[1]}, depth {depth}"
    return Result(f"{what}: search / NearestNeighbors, one thread", ours, peer, goal)


def growth() -> list[Result]:
    """How processor time grows from line to line as n^e."""
    found, before = [], None
    for n in (12_500, 25_000, 50_000, 100_000):
        X, _ = gaussian_classes(n, 64, 10, spread=0.6)
        now = processor_seconds(lambda X=X: order_neighbors(X, depth=20, n_jobs=1))
        grown = "" if before is None else f", exponent {log(now / before) / log(2):.2f}"
        found.append(Result(f"search of {n:,} x 64, depth 20, one thread{grown}", now))
        before = now
    return found


def memory() -> list[Result]:
    """The peak of the search beyond imports and the mapped pages of the file."""
    before, peak, size = answer_of(PROGRAM)
    what = f"mapped float32 file of {N:,} x {D} ({size / 2**20:.0f} MiB)"
    return [
        Result(f"{what}: memory of the search beyond it", (peak - before) / GIB, None, 0.5, "GiB")
    ]


def measure() -> list[Result]:
    name, X, _ = mnist()
    found = [beside_scikit_learn(name, X, 20, 1, 0.4)]
    name, X, _ = letters()
    found.append(beside_scikit_learn(name, X, 57, 3, 0.4))
    X, _ = gaussian_classes(100_000, 64, 10, spread=0.6)
    found.append(beside_scikit_learn("ten classes", X, 20, 1, 0.4))
    return found + growth() + memory()


if __name__ == "__main__":
    print_environment()
    print_results(measure())
