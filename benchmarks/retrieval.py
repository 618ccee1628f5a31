"""Retrieval on letter-recognition, 20,000 samples of 26 classes: every gallery beside drawn ones.

Who wants the mean over galleries today draws some and ranks each. The full gallery, of which there
is one, is timed beside the usual way: complete rows of distances, sorted.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics import pairwise_distances_chunked
from sklearn.model_selection import LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier

from allsplits import ClassCounts, evaluate, retrieval_curve
from benchmarks._data import letters
from benchmarks._timing import Result, interleaved, print_results

GALLERIES, SHOTS = 10, 10


def average_precision_at_r(order: np.ndarray, y: np.ndarray, own: np.ndarray, r: int) -> float:
    """MAP@R of ranked gallery items, as its authors compute it."""
    hits = y[order[:, :r]] == own[:, None]
    precision = np.cumsum(hits, axis=1) / np.arange(1, r + 1)
    return float(np.mean((precision * hits).sum(axis=1) / r))


def drawn_galleries(X: np.ndarray, y: np.ndarray) -> float:
    """The mean of some galleries of a few items of each class."""
    rng = np.random.default_rng(0)
    members = [np.flatnonzero(y == c) for c in np.unique(y)]
    scores = []
    for _ in range(GALLERIES):
        gallery = np.concatenate([rng.choice(rows, SHOTS, replace=False) for rows in members])
        asked = np.setdiff1d(np.arange(len(y)), gallery)
        near = KNeighborsClassifier(SHOTS).fit(X[gallery], y[gallery])
        order = near.kneighbors(X[asked], return_distance=False)
        scores.append(average_precision_at_r(order, y[gallery], y[asked], SHOTS))
    return float(np.mean(scores))


def full_gallery(X: np.ndarray, y: np.ndarray) -> float:
    """Average precision on all other samples, by complete sorted rows."""
    total, start = 0.0, 0
    for rows in pairwise_distances_chunked(X, working_memory=256):
        own = y[start : start + len(rows)]
        rows[np.arange(len(rows)), np.arange(start, start + len(rows))] = -1
        hits = y[np.argsort(rows, axis=1)[:, 1:]] == own[:, None]
        precision = np.cumsum(hits, axis=1) / np.arange(1, len(y))
        total += float(np.sum((precision * hits).sum(axis=1) / hits.sum(axis=1)))
        start += len(rows)
    return total / len(y)


def measure() -> list[Result]:
    name, X, y = letters()
    knn, few = KNeighborsClassifier(1), ClassCounts(SHOTS)
    some = slice(0, 5000)
    at_r, curve, full, drawn, sorted_rows = interleaved(
        [
            lambda: evaluate(knn, X, y, cv=few, scoring="map@r"),
            lambda: retrieval_curve(X, y, cv=few, ranks=range(1, 21)),
            lambda: evaluate(knn, X[some], y[some], cv=LeaveOneOut(), scoring="map"),
            lambda: drawn_galleries(X, y),
            lambda: full_gallery(X[some], y[some]),
        ],
        repeats=2,
    )
    what = f"{name}, n = {len(X):,}, 26 classes, {SHOTS} of each in a gallery, search included"
    return [
        Result(f"MAP@R over all galleries, {what}", at_r, goal=10.0),
        Result(f"the same / {GALLERIES} drawn galleries", at_r, drawn),
        Result(f"precision@k over all galleries, k = 1 … 20, {what}", curve),
        Result("MAP of the full gallery, n = 5,000 / complete sorted rows", full, sorted_rows),
    ]


if __name__ == "__main__":
    print_results(measure())
