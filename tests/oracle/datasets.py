"""Tiny data of integers: every kind of tie, and classes of every balance."""

from typing import NamedTuple

import numpy as np

from oracle.enumerate import Distances, squared_distances


class Dataset(NamedTuple):
    name: str
    X: np.ndarray
    y: np.ndarray

    @property
    def n(self) -> int:
        return len(self.y)

    @property
    def labels(self) -> tuple:
        return tuple(self.y.tolist())

    @property
    def distances(self) -> Distances:
        return squared_distances(self.X)

    def __str__(self) -> str:
        return self.name.replace(" ", "-")


N = 8

POINTS = {
    # marks of a Golomb ruler: no two pairs are equally far apart
    "no ties": [[15], [0], [34], [4], [22], [1], [32], [9]],
    "duplicates": [[3], [0], [3], [7], [0], [7], [12], [3]],
    "heavy ties": [[0, 0], [0, 1], [1, 0], [1, 1], [0, 0], [1, 2], [2, 1], [1, 1]],
    "all equally far": np.eye(N, dtype=int).tolist(),
    "all identical": [[1, 2]] * N,
}

# every kind of tie once
GEOMETRIES = ["no ties", "duplicates", "heavy ties", "all equally far"]

LABELS = {
    "2 classes": [1, 0, 0, 1, 0, 1, 1, 0],
    "3 classes": ["b", "c", "a", "a", "b", "c", "b", "c"],
    "4 classes": [7, -1, 3, 0, -1, 7, 0, 3],
    "2 classes, one of one sample": [True, True, False, True, True, True, True, True],
    "3 classes, one of one sample": ["b", "c", "c", "a", "b", "c", "b", "c"],
    "4 classes, one of one sample": [2, 2, 3, 1, 0, 1, 0, 2],
    "2 classes, unbalanced": [5, 5, -2, 5, 5, -2, 5, 5],
    "3 classes, unbalanced": ["z", "x", "z", "y", "z", "x", "y", "z"],
    "4 classes, unbalanced": [0, 3, 0, 1, 0, 2, 0, 3],
}


def dataset(points: str, labels: str) -> Dataset:
    return Dataset(f"{points}: {labels}", np.array(POINTS[points]), np.array(LABELS[labels]))


BALANCED = [name for name in LABELS if "," not in name]
UNEVEN = [name for name in LABELS if "," in name]

DATASETS = [dataset(points, labels) for points in POINTS for labels in BALANCED] + [
    dataset(points, labels) for points in ("no ties", "heavy ties") for labels in UNEVEN
]
