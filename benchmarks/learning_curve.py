"""1-NN: every training size from 1 to n - 1 beside sorting the distances once (n = 5000).

The peer is handed the finished matrix of distances and only sorts it.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsClassifier

from allsplits import learning_curve, order_neighbors
from benchmarks._data import two_classes
from benchmarks._timing import Result, interleaved, print_results


def measure() -> list[Result]:
    X, y = two_classes()
    distances = pairwise_distances(X)
    order = order_neighbors(X)

    def exact(data):
        return learning_curve(KNeighborsClassifier(1), data, y)

    ours, sort, both, after, search = interleaved(
        [
            lambda: exact(X),
            lambda: np.argsort(distances, axis=1),
            lambda: np.argsort(pairwise_distances(X), axis=1),
            lambda: exact(order),
            lambda: order_neighbors(X),
        ]
    )
    what = f"1-NN, every training size, n = {len(X)}"
    return [
        Result(f"{what} / argsort of all distances", ours, sort, 3.0),
        Result(f"{what} / distances and argsort", ours, both),
        Result(f"{what}: after the search / search (all {len(X) - 1})", after, search, 1.0),
    ]


if __name__ == "__main__":
    print_results(measure())
