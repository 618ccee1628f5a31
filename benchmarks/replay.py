"""Replayed splits beside scikit-learn's: random 80/20 splits with accuracy, F1 and AUC, k = 5.

Processor time, of one thread: what is judged does not depend on how busy the machine is. The
neighbour search is done before; 100 µs a split are 20,000 splits a second on two cores.
"""

from __future__ import annotations

from time import process_time

import numpy as np
from sklearn.model_selection import ShuffleSplit, cross_validate
from sklearn.neighbors import KNeighborsClassifier

from allsplits import FixedSize, order_neighbors, replay
from benchmarks._data import gaussian_classes
from benchmarks._timing import Result, print_results

K, DEPTH, N_FEATURES = 5, 40, 16
SCORES = ["accuracy", "f1_macro", "roc_auc_ovr"]
TURNS = 3


def measure() -> list[Result]:
    results = []
    for n_classes, what in ((2, "two classes"), (10, "ten classes")):
        X, y = gaussian_classes(20_000, N_FEATURES, n_classes, spread=0.6)
        order = order_neighbors(X, depth=DEPTH)
        turns = [(_ours(order, y, 1000), _theirs(X, y, 2)) for _ in range(TURNS)]
        ours, theirs = (min(times) for times in zip(*turns, strict=True))
        name = f"1,000 replayed splits, n = 20,000, {what} / 2 splits of scikit-learn"
        results.append(Result(name, ours, theirs, 1.0))
        few = order_neighbors(X[:2000], depth=DEPTH)
        each = min(_ours(few, y[:2000], 10_000) for _ in range(TURNS)) / 10_000
        name = f"a replayed split with {len(SCORES)} scores, n = 2,000, {what}"
        results.append(Result(name, 1e6 * each, None, 100.0, "µs"))
    return results


def _ours(order: object, y: np.ndarray, n_splits: int) -> float:
    options = {"cv": FixedSize(0.8), "scoring": SCORES, "control": False, "n_jobs": 1}
    # Once before, so that its compiled code is loaded.
    replay(KNeighborsClassifier(K), order, y, n_splits=10, random_state=0, **options)
    start = process_time()
    replay(KNeighborsClassifier(K), order, y, n_splits=n_splits, random_state=0, **options)
    return process_time() - start


def _theirs(X: np.ndarray, y: np.ndarray, n_splits: int) -> float:
    cv = ShuffleSplit(n_splits, test_size=0.2, random_state=0)
    start = process_time()
    cross_validate(KNeighborsClassifier(K), X, y, cv=cv, scoring=SCORES, n_jobs=1)
    return process_time() - start


if __name__ == "__main__":
    print_results(measure())
