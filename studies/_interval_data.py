"""Sources of data sets whose truth is known by drawing many, for the studies of intervals."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.datasets import make_moons

Data = tuple[np.ndarray, np.ndarray]


def normals(n: int, rng: np.random.Generator, apart: float, d: int, shares=(0.5, 0.5)) -> Data:
    """Normal classes along a line; independent draws, again where a class has no sample."""
    y = rng.choice(len(shares), n, p=shares)
    while len(np.unique(y)) < len(shares):
        y = rng.choice(len(shares), n, p=shares)
    X = rng.normal(size=(n, d))
    X[:, 0] += apart * y
    return X, y


def noisy(n: int, rng: np.random.Generator) -> Data:
    X = rng.uniform(-1, 1, size=(n, 2))
    return X, ((X[:, 0] * X[:, 1] > 0) ^ (rng.random(n) < 0.2)).astype(int)


def moons(n: int, rng: np.random.Generator) -> Data:
    """Evenly spaced along their arcs: no independent draws."""
    first = int(np.clip(rng.binomial(n, 0.5), 1, n - 1))
    return make_moons((first, n - first), noise=0.3, random_state=int(rng.integers(2**31)))


def independent_moons(n: int, rng: np.random.Generator) -> Data:
    """The same arcs and noise, each sample drawn on its own."""
    y, angle = rng.integers(2, size=n), rng.uniform(0, np.pi, size=n)
    arcs = np.column_stack([np.cos(angle), np.sin(angle)])
    X = np.where(y[:, None] == 0, arcs, np.array([1.0, 0.5]) - arcs)
    return X + 0.3 * rng.normal(size=X.shape), y


def whole_numbers(n: int, rng: np.random.Generator) -> Data:
    """Many equal distances, and samples at the same place in both classes."""
    X, y = normals(n, rng, 2.0, 3)
    return np.round(X), y


@cache
def digits() -> Data:
    with np.load(Path(os.environ["ALLSPLITS_DATA"]) / "mnist_70000.npz") as every:
        X, y = every["X"], every["y"]
    some = np.isin(y, (4, 9))
    return X[some].reshape(some.sum(), -1).astype(np.float64), (y[some] == 9).astype(int)


def handwritten(n: int, rng: np.random.Generator) -> Data:
    X, y = digits()
    rows = rng.choice(len(y), n, replace=False)
    return X[rows], y[rows]


def sine(n: int, rng: np.random.Generator) -> Data:
    X = rng.normal(size=(n, 3))
    return X, np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=n)


def heavy_tails(n: int, rng: np.random.Generator) -> Data:
    X = rng.normal(size=(n, 5))
    return X, X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.standard_t(5, size=n)


Draw = Callable[[int, np.random.Generator], Data]
KINDS: dict[str, Draw] = {
    "two classes": lambda n, rng: normals(n, rng, 1.5, 5),
    "40 dimensions": lambda n, rng: normals(n, rng, 2.0, 40),
    "five classes": lambda n, rng: normals(n, rng, 1.5, 3, (0.2,) * 5),
    "rare class (10 %)": lambda n, rng: normals(n, rng, 2.0, 3, (0.9, 0.1)),
    "regression": sine,
    "99 % right": lambda n, rng: normals(n, rng, 5.0, 2),
    "checkers, 20 % noise": noisy,
    "moons": moons,
    "three unequal classes": lambda n, rng: normals(n, rng, 2.0, 8, (0.6, 0.3, 0.1)),
    "whole numbers": whole_numbers,
    "MNIST, 4 or 9": handwritten,
    "regression, heavy tails": heavy_tails,
    "independent moons": independent_moons,
}


#: The kind whose samples are not drawn independently, and the same with independent ones.
MOONS, INDEPENDENT_MOONS = "moons", "independent moons"
INDEPENDENT = [kind for kind in KINDS if kind != MOONS]


def is_regression(kind: str) -> bool:
    return kind.startswith("regression")
