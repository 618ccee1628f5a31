"""A fixed test set beside 50,000 references: a plain search, and every draw of 16 per class.

The goal is about 10,000 test samples; all sides grow with their number alone, so some of them are
asked where that takes long, the plain search as well, and what is judged is the ratio of processor
time. How deep rows must be is up to the number of classes: for all k ≤ 20, 16 of 50 of each of 1000
classes need some 150 neighbours of each test sample, 16 of 500 of 100 classes 2,600, and 16 of
5,000 of ten classes 26,000, and votes are computed at all of these ranks.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from allsplits import ClassCounts, validation_curve
from allsplits.exceptions import LongRunWarning
from allsplits.orders import Metric, Reference
from benchmarks._timing import Result, print_results

N_REFERENCES, N_FEATURES, N_TEST, SHOTS, LARGEST_K = 50_000, 64, 10_000, 16, 20
#: Test samples that are asked, by the number of classes.
N_ASKED = {1000: N_TEST, 100: 500, 10: 200}
#: Neighbours that are needed for all k, about.
DEPTHS = {1000: 150, 100: 2_600, 10: 26_000}


def clusters(n_classes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """References and test samples around the centres of their classes."""
    rng = np.random.default_rng(0)
    centres = 0.7 * rng.normal(size=(n_classes, N_FEATURES))
    y, y_test = np.arange(N_REFERENCES) % n_classes, np.arange(N_TEST) % n_classes
    X = rng.normal(size=(N_REFERENCES, N_FEATURES)) + centres[y]
    return X, y, rng.normal(size=(N_TEST, N_FEATURES)) + centres[y_test], y_test


def processor_time(work: Callable[[], Any], repeats: int = 2) -> float:
    """The least of some turns, after one."""
    work()
    turns = []
    for _ in range(repeats):
        start = process_time()
        work()
        turns.append(process_time() - start)
    return min(turns)


def measure() -> list[Result]:
    return [result for n_classes in N_ASKED for result in _of_classes(n_classes)]


def _of_classes(n_classes: int) -> list[Result]:
    X, y, X_test, y_test = clusters(n_classes)
    search = NearestNeighbors(n_neighbors=LARGEST_K, algorithm="brute").fit(X)
    n_asked = N_ASKED[n_classes]
    plain = processor_time(lambda: search.kneighbors(X_test)) * n_asked / N_TEST

    def asked(ks: list[int], tol: float = 1e-15) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LongRunWarning)
            return processor_time(
                lambda: validation_curve(
                    KNeighborsClassifier(), X, y, n_neighbors=ks, cv=ClassCounts(SHOTS), tol=tol,
                    X_test=X_test[:n_asked], y_test=y_test[:n_asked],
                ),
                repeats=1,
            )  # fmt: skip

    def searched() -> float:
        references, depth = Reference(X, Metric("euclidean"), 2), DEPTHS[n_classes]
        return processor_time(lambda: references.of(X_test[:n_asked], depth), repeats=1)

    what = (
        f"{n_asked:,} of {N_TEST:,} test samples, {N_REFERENCES:,} references × {N_FEATURES}, "
        f"{n_classes} classes, ClassCounts({SHOTS})"
    )
    every_k = list(range(1, LARGEST_K + 1))
    return [
        Result(f"{what}, k ≤ {LARGEST_K} / plain search", asked(every_k), plain, goal=1.5),
        Result(f"{what}, k ≤ {LARGEST_K}, tol=1e-6 / plain search", asked(every_k, 1e-6), plain),
        Result(f"{what}, k = 1 / plain search", asked([1]), plain),
        Result(f"{what}: our search, {DEPTHS[n_classes]} deep / plain search", searched(), plain),
    ]


if __name__ == "__main__":
    print_results(measure())
