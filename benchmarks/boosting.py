"""Boosted votes: training after the neighbour search, growth with m and k, and prediction.

letter-recognition, the usual 16,000 training samples, 26 classes, k = 10, θ = 0.4. No other open
implementation of UNN is known, so training is held against a time, and prediction against a
model that keeps every example (all step in turn) and against scikit-learn's plain vote.
"""

from __future__ import annotations

import math

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from allsplits import UNNClassifier, order_neighbors
from allsplits._threads import thread_count
from allsplits.boosting._boost import Neighborhoods, Rounds, boost
from allsplits.boosting._losses import resolve_loss
from benchmarks._data import letters
from benchmarks._timing import Result, interleaved, print_results
from benchmarks.startup import first_call

TRAINING, K, THETA = 16_000, 10, 0.4
FIRST_FIT = "allsplits.UNNClassifier().fit(X, y)"


def trainer(X: np.ndarray, y: np.ndarray, k: int, loss: str = "exponential"):
    """A function that boosts all classes, the neighbours being known."""
    near = Neighborhoods.read(order_neighbors(X, depth=k).indices)
    signs = np.where(y == np.unique(y)[:, None], 1, -1).astype(np.int8)
    m = len(X)
    rounds = Rounds(resolve_loss(loss), "boosting", math.ceil(THETA * m), 1 / m, 0.0)
    return lambda: boost(near, signs, rounds, thread_count(None))


def measure_training(name: str, X: np.ndarray, y: np.ndarray) -> list[Result]:
    half = slice(None, TRAINING // 2)
    whole, fewer, nearer = interleaved(
        [trainer(X, y, K), trainer(X[half], y[half], K), trainer(X, y, K // 2)], repeats=3
    )
    logistic, squared = interleaved(
        [trainer(X, y, K, "logistic"), trainer(X, y, K, "squared")], repeats=1
    )
    what = f"UNN, {name}, m = {len(X):,}, k = {K}, θ = {THETA}"
    return [
        Result(f"{what}: training after the search", whole, None, 10.0),
        Result(f"{what}: / half the examples (linear: 2)", whole, fewer, 2.6),
        Result(f"{what}: / half the neighbours (linear: 2)", whole, nearer, 2.6),
        Result(f"{what}: logistic loss", logistic, None, 10.0),
        Result(f"{what}: squared loss", squared, None, 10.0),
    ]


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
    wall, processor = first_call(FIRST_FIT)
    what = "first UNNClassifier.fit on a fresh installation"
    return [
        *measure_training(name, X[train], y[train]),
        *measure_prediction(X[train], y[train], X[TRAINING:]),
        Result(what, wall, None, 15.0),
        Result(f"{what}: processor time", processor),
    ]


if __name__ == "__main__":
    print_results(measure())
