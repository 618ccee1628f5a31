"""Weighted votes: an ordinary grid, and that of Celisse & Mary-Huard 2011, Table 1, and beyond it.

The ordinary grid is what people type first, beside scikit-learn's search on one set of folds.

Labels are Bernoulli(noise) and independent of the ten features, as in the paper's timings: the
hardest case, because nearly every vote is contested. The paper's largest cell took 19,009 s.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from sklearn.model_selection import GridSearchCV, LeavePOut
from sklearn.neighbors import KNeighborsClassifier

from allsplits import KNeighborsClassifierCV, evaluate
from benchmarks._timing import Result, interleaved, print_results, seconds

KS, PS, NOISES = (3, 5, 7, 9), (5, 10, 15, 20, 25), (0.1, 0.3)


GRID = {
    "n_neighbors": tuple(range(1, 31)),
    "weights": ("uniform", "distance"),
    "metric": ("euclidean", "manhattan", "chebyshev"),
}


def measure() -> list[Result]:
    return [*_ordinary_grid(), _slowest_cell(), _largest_cell(), *_beyond()]


def like_sonar(n: int = 208, n_features: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Two classes that overlap in six directions, seen through noisy features."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    hidden = rng.standard_normal((n, 6))
    hidden[:, :2] += 2.0 * y[:, None] - 1.0
    noise = 1.2 * rng.standard_normal((n, n_features))
    return hidden @ rng.standard_normal((6, n_features)) + noise, y


def _ordinary_grid() -> list[Result]:
    X, y = like_sonar()
    models = []

    def ours() -> None:
        models.append(KNeighborsClassifierCV(**GRID).fit(X, y))

    def theirs() -> None:
        GridSearchCV(KNeighborsClassifier(), {k: list(v) for k, v in GRID.items()}, cv=5).fit(X, y)

    times = interleaved([ours, theirs], repeats=2)
    widest = max(float(np.max(curve.error_bound)) for curve in models[-1].curves_.values())
    what = "208 × 60, k ≤ 30 × 3 metrics × {uniform, distance}, stratified folds"
    return [
        Result(f"{what}, against GridSearchCV on one set of folds", *times, goal=1.0),
        Result(f"{what}: widest bound", widest, goal=1e-3, unit=""),
    ]


def labelled_at_random(n: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    return rng.standard_normal((n, 10)), (rng.random(n) < noise).astype(int)


def _evaluate(n: int, k: int, p: int, noise: float):
    X, y = labelled_at_random(n, noise)
    return evaluate(KNeighborsClassifier(k, weights="distance"), X, y, cv=LeavePOut(p))


def _slowest_cell() -> Result:
    cells = list(product(KS, PS, NOISES))
    _evaluate(500, *cells[0])
    times = {cell: seconds(lambda cell=cell: _evaluate(500, *cell)) for cell in cells}
    k, p, noise = max(times, key=times.__getitem__)
    what = f"1/distance, n = 500, slowest of {len(cells)} cells (k = {k}, p = {p}, noise {noise})"
    return Result(what, max(times.values()), goal=3.0)


def _largest_cell() -> Result:
    [ours] = interleaved([lambda: _evaluate(2000, 9, 25, 0.3)], repeats=2)
    return Result("1/distance, n = 2000, k = 9, p = 25, noise 0.3", ours, goal=12.0)


def _beyond() -> list[Result]:
    found = []
    ours = seconds(lambda: found.append(_evaluate(1000, 15, 200, 0.3)))
    what = "1/distance, n = 1000, k = 15, p = 200, noise 0.3"
    return [
        Result(what, ours, goal=60.0),
        Result(f"{what}: width of the interval", 2 * found[0].error_bound, goal=1e-4, unit=""),
    ]


if __name__ == "__main__":
    print_results(measure())
