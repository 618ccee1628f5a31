"""Memory of a large search: 50,000 x 64 at depth 100, the peak of a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys

from benchmarks._timing import Result, print_results

N, D, DEPTH = 50_000, 64, 100
GIB = 2.0**30

PROGRAM = f"""
import json, resource, time
import numpy as np
from allsplits import order_neighbors, validation_curve
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier

def peak():
    # On Linux ru_maxrss starts at what the parent held when it started this process, VmHWM at 0.
    try:
        with open("/proc/self/status") as status:
            return 1024 * next(int(line.split()[1]) for line in status if "VmHWM" in line)
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

rng = np.random.default_rng(0)
y = rng.integers(0, 10, {N})
X = rng.standard_normal((10, {D}))[y] + 2 * rng.standard_normal(({N}, {D}))
before = peak()
start = time.perf_counter()
order = order_neighbors(X, depth={DEPTH})
seconds = time.perf_counter() - start
search = peak()
validation_curve(KNeighborsClassifier(), order, y, n_neighbors=range(1, 16), cv=KFold(5))
print(json.dumps([before, search, peak(), seconds]))
"""


def measure() -> list[Result]:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True
    )  # fmt: skip
    before, search, after, seconds = json.loads(run.stdout)
    what = f"{N:,} x {D} at depth {DEPTH}"
    return [
        Result(f"{what}: peak memory of the search", search / GIB, None, 1.5, "GiB"),
        Result(f"{what}: before it (imports and X)", before / GIB, None, None, "GiB"),
        Result(f"{what}: with all k ≤ 15 evaluated after it", after / GIB, None, None, "GiB"),
        Result(f"{what}: time of the search", seconds),
    ]


if __name__ == "__main__":
    print_results(measure())
