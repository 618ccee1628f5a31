"""Data sets from sources with known truth, for the study of intervals: scores and moves.

For each data set the exact scores of every k from one pass, and what each sample moves them by,
after the jackknife and after the sample scores (`Moves`). Any interval follows from those, so that
they are drawn once and kept in a folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import make_moons
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import FixedSize, validation_curve

Data = tuple[np.ndarray, np.ndarray]
KS = (1, 3, 5, 15, 39)
#: Data sets in a cell.
RUNS = 400


def normals(n: int, rng: np.random.Generator, apart: float, d: int, shares=(0.5, 0.5)) -> Data:
    """Normal classes along a line, at least one sample of each."""
    y = rng.choice(len(shares), n, p=shares)
    y[: len(shares)] = np.arange(len(shares))
    X = rng.normal(size=(n, d))
    X[:, 0] += apart * y
    return X, y


def noisy(n: int, rng: np.random.Generator) -> Data:
    X = rng.uniform(-1, 1, size=(n, 2))
    return X, ((X[:, 0] * X[:, 1] > 0) ^ (rng.random(n) < 0.2)).astype(int)


def moons(n: int, rng: np.random.Generator) -> Data:
    first = int(np.clip(rng.binomial(n, 0.5), 1, n - 1))
    return make_moons((first, n - first), noise=0.3, random_state=int(rng.integers(2**31)))


def whole_numbers(n: int, rng: np.random.Generator) -> Data:
    """Many equal distances, and samples at the same place in both classes."""
    X, y = normals(n, rng, 2.0, 3)
    return np.round(X), y


@cache
def digits() -> Data:
    with np.load(Path(os.environ["ALLSPLITS_DATA"]) / "mnist_70000.npz") as every:
        X, y = every["X"].reshape(70000, -1), every["y"]
    some = np.isin(y, (4, 9))
    return X[some].astype(np.float64), (y[some] == 9).astype(int)


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
#: The combination was chosen on these,
OF_CHOICE: dict[str, Draw] = {
    "two classes": lambda n, rng: normals(n, rng, 1.5, 5),
    "40 dimensions": lambda n, rng: normals(n, rng, 2.0, 40),
    "five classes": lambda n, rng: normals(n, rng, 1.5, 3, (0.2,) * 5),
    "rare class (10 %)": lambda n, rng: normals(n, rng, 2.0, 3, (0.9, 0.1)),
    "regression": sine,
    "99 % right": lambda n, rng: normals(n, rng, 5.0, 2),
}
#: and not on these.
OTHERS: dict[str, Draw] = {
    "checkers, 20 % noise": noisy,
    "moons": moons,
    "three unequal classes": lambda n, rng: normals(n, rng, 2.0, 8, (0.6, 0.3, 0.1)),
    "whole numbers": whole_numbers,
    "MNIST, 4 or 9": handwritten,
    "regression, heavy tails": heavy_tails,
}
KINDS = OF_CHOICE | OTHERS


class Drawn(NamedTuple):
    """What was found for the data sets of one kind, n and share in training.

    Attributes
    ----------
    ks : ndarray of shape (k,)
    scores : ndarray of shape (data sets, k)
    jackknife, sample_scores : ndarray of shape (data sets, k, n)
        Moves of each sample.
    counted_twice, of_differences : ndarray of shape (data sets, k)
        What the jackknife counts twice in scores, and in differences to the next k (of the last to
        the first).
    """

    ks: np.ndarray
    scores: np.ndarray
    jackknife: np.ndarray
    sample_scores: np.ndarray
    counted_twice: np.ndarray
    of_differences: np.ndarray


def is_regression(kind: str) -> bool:
    return kind.startswith("regression")


def stored(kind: str, n: int, share: float, folder: Path) -> Path:
    name = "".join(letter for letter in kind if letter.isalnum())
    return folder / f"{name}-{n}-{round(100 * share)}.npz"


def draw(kind: str, n: int, share: float, folder: Path) -> Drawn:
    """From the folder, or drawn and kept there."""
    path = stored(kind, n, share, folder)
    if path.exists():
        with np.load(path) as found_there:
            return Drawn(**{field: found_there[field] for field in Drawn._fields})
    rng = np.random.default_rng([list(KINDS).index(kind), n, round(100 * share)])
    model = KNeighborsRegressor() if is_regression(kind) else KNeighborsClassifier()
    # A larger vote is little more than a count of the classes.
    ks = [k for k in KS if k < share * n / 2]
    found: list[tuple] = []
    for _ in range(RUNS):
        X, y = KINDS[kind](n, rng)
        curve = validation_curve(model, X, y, n_neighbors=ks, cv=FixedSize(share), n_jobs=1)
        moves = curve.task.moves(curve.columns, keep=True)
        next_ones = [*moves[1:], moves[0]]
        found.append(
            (
                curve.scores,
                np.array([one.jackknife for one in moves], dtype=np.float32),
                np.array([one.sample_scores for one in moves], dtype=np.float32),
                [one.counted_twice for one in moves],
                [one.less(two).counted_twice for one, two in zip(moves, next_ones, strict=True)],
            )
        )
    drawn = Drawn(np.array(ks), *(np.array(part) for part in zip(*found, strict=True)))
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(path, **drawn._asdict())
    return drawn
