"""Categorical data: 2,000 rows of a few bits, where most neighbours are tied.

The peer is scikit-learn's grid over the same k with one stratified 5-fold: it takes tied neighbours
in whatever order they come, once; ours averages over all of their orders and all splits.
"""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from allsplits import FixedSize, evaluate, validation_curve
from benchmarks._timing import Result, interleaved, print_results, seconds

N_ROWS, K_MAX = 2000, 30


def bits(n_bits: int, n_classes: int):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (N_ROWS, n_bits)).astype(float)
    y = (X.sum(axis=1) + rng.integers(0, 2 * n_classes, N_ROWS)).astype(int) % n_classes
    return X, y


def measure_grid() -> Result:
    """Large tie groups of many classes under a law of fixed size."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, (1000, 2)).astype(float), rng.integers(0, 7, 1000)

    def run():
        return evaluate(KNeighborsClassifier(50), X, y, cv=FixedSize(400))

    run()
    return Result(
        "1000 samples on a grid of 25, 7 classes, FixedSize(400), k = 50", seconds(run), None, 5.0
    )


def measure() -> list[Result]:
    results = [measure_grid()]
    ks = list(range(1, K_MAX + 1))
    for n_bits, n_classes, goal in ((3, 2, 10.0), (3, 10, 10.0), (12, 2, None), (12, 10, None)):
        X, y = bits(n_bits, n_classes)

        def exact(X=X, y=y):
            return validation_curve(KNeighborsClassifier(), X, y, n_neighbors=ks)

        def sampled(X=X, y=y):
            folds = StratifiedKFold(5, shuffle=True, random_state=0)
            grid = {"n_neighbors": ks}
            return GridSearchCV(KNeighborsClassifier(), grid, cv=folds, refit=False).fit(X, y)

        ours, peer = interleaved([exact, sampled], repeats=2)
        what = f"{N_ROWS} rows of {n_bits} bits, {n_classes} classes, default cv, all k ≤ {K_MAX}"
        results.append(Result(what, ours, None, goal))
        results.append(Result(f"{what} / GridSearchCV, one 5-fold", ours, peer))
    return results


if __name__ == "__main__":
    print_results(measure())
