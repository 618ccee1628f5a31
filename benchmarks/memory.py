"""Memory of a large search: 50,000 x 64 at depth 100, the peak of a process of its own."""

from __future__ import annotations

from benchmarks._memory import GIB, answer_of
from benchmarks._timing import Result, print_results

N, D, DEPTH = 50_000, 64, 100

PROGRAM = f"""
import numpy as np
from allsplits import order_neighbors, validation_curve
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier

rng = np.random.default_rng(0)
y = rng.integers(0, 10, {N})
X = rng.standard_normal((10, {D}))[y] + 2 * rng.standard_normal(({N}, {D}))
before = peak()
start = time.perf_counter()
order = order_neighbors(X, depth={DEPTH})
seconds = time.perf_counter() - start
search = peak()
validation_curve(KNeighborsClassifier(), order, y, n_neighbors=range(1, 16), cv=KFold(5))
answer = [before, search, peak(), seconds]
"""


def measure() -> list[Result]:
    before, search, after, seconds = answer_of(PROGRAM)
    what = f"{N:,} x {D} at depth {DEPTH}"
    return [
        Result(f"{what}: peak memory of the search", search / GIB, None, 1.5, "GiB"),
        Result(f"{what}: before it (imports and X)", before / GIB, None, None, "GiB"),
        Result(f"{what}: with all k ≤ 15 evaluated after it", after / GIB, None, None, "GiB"),
        Result(f"{what}: time of the search", seconds),
    ]


if __name__ == "__main__":
    print_results(measure())
