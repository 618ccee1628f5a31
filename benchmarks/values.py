"""Values of samples and suspects: beside the evaluation, the search, and pyDVL's KNN-Shapley.

pyDVL is run where ``PYDVL_PYTHON`` names a Python that has it (0.9.2 needs NumPy 1.26, so an
environment of its own); without it only our own time is shown. Only times are compared: the values
of 0.9.2 are not those of the enumeration, which ours are. It divides by a rank that counts from 0,
and goes on from the mean over the test points before.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.model_selection import ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier

from allsplits import evaluate, find_label_errors, order_neighbors, sample_values
from allsplits.values._doubt import depth_to_judge
from benchmarks._data import letters, mnist
from benchmarks._timing import Result, interleaved, needed_depth, print_results, seconds

KNN = KNeighborsClassifier(5)
HOLDOUT = ShuffleSplit(test_size=0.2)

PYDVL_PROGRAM = """
import sys, time
import numpy as np
from pydvl.utils import Dataset, Utility
from pydvl.value.shapley.knn import knn_shapley
from sklearn.neighbors import KNeighborsClassifier
data = np.load(sys.argv[1])
data = Dataset(data["X"], data["y"], data["X_test"], data["y_test"])
utility = Utility(KNeighborsClassifier(5), data)
start = time.perf_counter()
knn_shapley(utility, progress=False)
print(time.perf_counter() - start)
"""


def beside_the_evaluation() -> list[Result]:
    name, X, y = letters()
    results = []
    for what, cv in (("20 % held out", HOLDOUT), ("stratified folds", 5)):
        rivals = [partial(work, KNN, X, y, cv=cv) for work in (sample_values, evaluate)]
        ours, plain = interleaved(rivals, repeats=2)
        results.append(Result(f"{name}, k = 5, {what}: influence / evaluate", ours, plain, 5.0))
    return results


def of_weighted_votes() -> list[Result]:
    """Every list of neighbours is valued on its own: as many evaluations as rows are deep."""
    name, X, y = letters()
    weighted, few, of_few = KNeighborsClassifier(3, weights="distance"), X[:300], y[:300]
    rivals = [
        partial(work, weighted, few, of_few, cv=HOLDOUT) for work in (sample_values, evaluate)
    ]
    ours, plain = interleaved(rivals, repeats=2)
    what = f"{name}, 300 rows, k = 3, weights='distance': influence / evaluate"
    return [Result(what, ours, plain)]


def beside_the_search(X: np.ndarray, y: np.ndarray, name: str) -> list[Result]:
    depth = needed_depth(len(X), int(0.8 * len(X)), 5)
    ours, search = interleaved(
        [lambda: sample_values(KNN, X, y, cv=HOLDOUT), lambda: order_neighbors(X, depth=depth)],
        repeats=2,
    )
    what = f"{name}, 50,000 x 64, k = 5, 20 % held out: influence / the search alone"
    return [Result(what, ours, search, 2.0)]


def suspects_beside_the_search() -> list[Result]:
    name, X, y = letters()
    ours, search = interleaved(
        [lambda: find_label_errors(X, y), lambda: order_neighbors(X, depth=depth_to_judge(len(X)))],
        repeats=2,
    )
    return [Result(f"{name}: find_label_errors / the search alone", ours, search, 2.0)]


def complete_orders(X: np.ndarray, y: np.ndarray, name: str) -> list[Result]:
    few, of_few = X[:5000], y[:5000]
    sample_values(KNN, few[:200], of_few[:200], method="shapley")
    shapley = seconds(lambda: sample_values(KNN, few, of_few, method="shapley"))
    soft = seconds(lambda: sample_values(KNN, few, of_few, method="soft_shapley"))
    return [
        Result(f"{name}, 5,000 samples: Shapley of the vote", shapley, None, 30.0),
        Result(f"{name}, 5,000 samples: Shapley of the soft vote", soft),
    ]


def beside_pydvl(X: np.ndarray, y: np.ndarray, name: str) -> list[Result]:
    n, m = 10_000, 1_000
    tests = {"X_test": X[-m:], "y_test": y[-m:]}

    def ours() -> None:
        sample_values(KNN, X[:n], y[:n], method="soft_shapley", **tests)

    (time,) = interleaved([ours], repeats=3)
    what = f"{name}, 10,000 samples, 1,000 tests: soft Shapley"
    peer = _pydvl_seconds(X=X[:n], y=y[:n], **tests)
    if peer is None:
        return [Result(f"{what} (no pyDVL here)", time)]
    return [Result(f"{what} / pyDVL's knn_shapley", time, peer, 1 / 20)]


def _pydvl_seconds(**arrays: np.ndarray) -> float | None:
    python = os.environ.get("PYDVL_PYTHON")
    if python is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        np.savez(path, **arrays)
        command = [python, "-W", "ignore", "-c", PYDVL_PROGRAM, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


def measure() -> list[Result]:
    name, X, y = mnist()
    return [
        *beside_the_evaluation(),
        *of_weighted_votes(),
        *beside_the_search(X, y, name),
        *suspects_beside_the_search(),
        *complete_orders(X, y, name),
        *beside_pydvl(X, y, name),
    ]


if __name__ == "__main__":
    print_results(measure())
