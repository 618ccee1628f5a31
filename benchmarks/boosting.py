"""Boosted votes: training after the neighbour search, growth with m and k, and prediction.

Growth is measured in the processor's own time with one thread, which other work disturbs less.
With normalised weights (the default) every round looks at every example, so that twice the examples
may take four times as long; with weights as they are about twice.

letter-recognition, the usual 16,000 training samples, 26 classes, k = 10, θ = 0.4. No other open
implementation of UNN is known, so training is held against a time, and prediction against a
model that keeps every example (all step in turn) and against scikit-learn's plain vote.
"""

from __future__ import annotations

import math
from time import process_time

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from allsplits import UNNClassifier, order_neighbors
from allsplits._threads import thread_count
from allsplits.boosting._boost import Neighborhoods, Rounds, boost
from allsplits.boosting._losses import resolve_loss
from benchmarks._data import letters
from benchmarks._timing import Result, interleaved, print_results

TRAINING, K, THETA = 16_000, 10, 0.4
#: Twice the work must not take much more than twice the time, or four times for its square.
GROWTH, SQUARE_GROWTH = 2.5, 4.5


def trainer(X, y, k: int, loss: str = "exponential", normalized: bool = True, n_jobs=None):
    """A function that boosts all classes, the neighbours being known."""
    near = Neighborhoods.read(order_neighbors(X, depth=k).indices)
    signs = np.where(y == np.unique(y)[:, None], 1, -1).astype(np.int8)
    m = len(X)
    n_rounds = math.ceil(THETA * m)
    rounds = Rounds(resolve_loss(loss), "boosting", n_rounds, 1 / m, normalized, 0.0)
    return lambda: boost(near, signs, rounds, thread_count(n_jobs))


def measure_training(name: str, X: np.ndarray, y: np.ndarray) -> list[Result]:
    whole, plain, logistic, squared = interleaved(
        [trainer(X, y, K), trainer(X, y, K, normalized=False),
         trainer(X, y, K, "logistic", normalized=False), trainer(X, y, K, "squared")], repeats=2,
    )  # fmt: skip
    what = f"UNN, {name}, m = {len(X):,}, k = {K}, θ = {THETA}"
    return [
        Result(f"{what}: training after the search", whole, None, 10.0),
        Result(f"{what}: the same, weights as they are", plain),
        Result(f"{what}: the same, weights as they are, logistic loss", logistic),
        Result(f"{what}: the same, squared loss", squared),
    ]


def measure_growth(X: np.ndarray, y: np.ndarray) -> list[Result]:
    half = slice(None, len(X) // 2)
    results = []
    for normalized, what, goal in ((True, "UNN", SQUARE_GROWTH),
                                   (False, "UNN, weights as they are", GROWTH)):  # fmt: skip
        options = {"normalized": normalized, "n_jobs": 1}
        whole, fewer, more = processor_seconds([
            trainer(X, y, K, **options),
            trainer(X[half], y[half], K, **options),
            trainer(X, y, 2 * K, **options),
        ])  # fmt: skip
        sizes = f"{len(X):,} / {len(X) // 2:,} examples"
        results += [
            Result(f"{what}, k = {K}: {sizes}", whole, fewer, goal),
            Result(f"{what}, {len(X):,} examples: k = {2 * K} / k = {K}", more, whole, GROWTH),
        ]
    return results


def processor_seconds(rivals, repeats: int = 3) -> list[float]:
    """Least processor time of each rival; all take turns."""
    times = np.full((repeats, len(rivals)), np.inf)
    for turn in range(repeats):
        for i, rival in enumerate(rivals):
            start = process_time()
            rival()
            times[turn, i] = process_time() - start
    return times.min(axis=0).tolist()


def measure_prediction(X: np.ndarray, y: np.ndarray, queries: np.ndarray) -> list[Result]:
    some = UNNClassifier(K, theta=THETA).fit(X, y)
    everybody = UNNClassifier(K, chooser="lazy").fit(X, y)
    plain = KNeighborsClassifier(K).fit(X, y)
    ours, all_examples, peer = interleaved(
        [lambda: some.predict(queries), lambda: everybody.predict(queries),
         lambda: plain.predict(queries)], repeats=5,
    )  # fmt: skip
    kept, most = len(some.prototype_indices_), len(everybody.prototype_indices_)
    what = f"UNN predicts {len(queries):,} with {kept:,} prototypes (θ = {THETA})"
    return [
        Result(f"{what} / with {most:,}, everybody", ours, all_examples, 1.0),
        Result(f"{what} / KNeighborsClassifier, all {len(X):,}", ours, peer),
    ]


def measure() -> list[Result]:
    name, X, y = letters()
    train = slice(None, TRAINING)
    return [
        *measure_training(name, X[train], y[train]),
        *measure_growth(X[train], y[train]),
        *measure_prediction(X[train], y[train], X[TRAINING:]),
    ]


if __name__ == "__main__":
    print_results(measure())
