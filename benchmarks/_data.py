"""Data of the benchmarks: made on the spot, or read from the folder ALLSPLITS_DATA."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification, make_friedman1

__all__ = [
    "faces",
    "gaussian_classes",
    "letters",
    "mnist",
    "pendigits",
    "regression_table",
    "two_classes",
]


def two_classes(n_samples: int = 5000, n_features: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Two classes that overlap: about 6 % error."""
    return make_classification(n_samples, n_features, n_informative=6, random_state=0)


def gaussian_classes(
    n_samples: int, n_features: int, n_classes: int, spread: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Classes of equal size around random centres; a larger `spread` of the centres is easier."""
    rng = np.random.default_rng(0)
    centres = spread * rng.standard_normal((n_classes, n_features))
    y = rng.permutation(np.arange(n_samples) % n_classes)
    return centres[y] + rng.standard_normal((n_samples, n_features)), y


def _stored(name: str) -> Path | None:
    """The file in the folder that ALLSPLITS_DATA names, if it is there."""
    folder = os.environ.get("ALLSPLITS_DATA")
    path = Path(folder) / name if folder else None
    return path if path is not None and path.exists() else None


def letters() -> tuple[str, np.ndarray, np.ndarray]:
    """letter-recognition (20,000 x 16, 26 classes), or integers of the same size and difficulty."""
    path = _stored("letter_recognition.csv")
    if path is None:
        X, y = gaussian_classes(20_000, 16, 26, spread=1.25)
        # The letters are integers from 0 to 15, with the tied distances that come with them.
        return "stand-in for letter-recognition", np.clip(np.rint(2 * X + 7.5), 0, 15), y
    table = np.loadtxt(path, delimiter=",", skiprows=1, dtype=str)
    return "letter-recognition", table[:, :-1].astype(np.float64), table[:, -1]


def pendigits() -> tuple[str, np.ndarray, np.ndarray]:
    """UCI pendigits (10,992 x 16, 10 classes), or integers of the same size and difficulty."""
    path = _stored("pendigits.csv")
    if path is None:
        X, y = gaussian_classes(10_992, 16, 10, spread=1.6)
        # Coordinates of pens are integers from 0 to 100.
        return "stand-in for pendigits", np.clip(np.rint(12 * X + 50), 0, 100), y
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    return "pendigits", table[:, :16], table[:, -1].astype(int)


def mnist() -> tuple[str, np.ndarray, np.ndarray]:
    """MNIST (50,000 images reduced to 64 dimensions by PCA), or classes of the same size."""
    path = _stored("mnist_70000.npz")
    if path is None:
        return "stand-in for MNIST", *gaussian_classes(50_000, 64, 10, spread=0.6)
    with np.load(path) as stored:
        images = stored["X"][:50_000].reshape(50_000, -1).astype(np.float64)
        y = stored["y"][:50_000]
    images -= images.mean(axis=0)
    _, directions = np.linalg.eigh(images.T @ images)
    return "MNIST", images @ directions[:, -64:], y


def faces() -> tuple[str, np.ndarray, np.ndarray]:
    """ORL faces (400 x 256, 40 people) averaged down to 16 x 16, or classes of the same size."""
    folder = os.environ.get("ALLSPLITS_DATA")
    path = Path(folder) / "orl_faces_112x92.npz" if folder else None
    if path is None or not path.exists():
        return "stand-in for ORL faces", *gaussian_classes(400, 256, 40, spread=0.35)
    with np.load(path) as stored:
        images, y = stored["X"].astype(np.float64), stored["y"]
    rows, columns = (_averages(size, 16) for size in images.shape[1:])
    small = np.einsum("ri,nij,cj->nrc", rows, images, columns)
    return "ORL faces", small.reshape(len(y), -1), y


def regression_table(name: str, n_samples: int) -> tuple[str, np.ndarray, np.ndarray]:
    """A table with a numeric target in its last column, numeric features standardised."""
    folder = os.environ.get("ALLSPLITS_DATA")
    path = Path(folder) / f"{name}.csv" if folder else None
    if path is None or not path.exists():
        return f"stand-in for {name}", *make_friedman1(n_samples, 8, noise=1.0, random_state=0)
    table = np.loadtxt(path, delimiter=",", skiprows=1, dtype=str)
    # The column of words, where there is one, is the first.
    features = table[:, np.char.isalpha(table[0]).sum() : -1].astype(np.float64)
    scaled = (features - features.mean(axis=0)) / features.std(axis=0)
    return name, scaled, table[:, -1].astype(np.float64)


def _averages(size: int, parts: int) -> np.ndarray:
    """Weights that average `size` pixels in `parts` equal intervals, sharing pixels in between."""
    edges = np.linspace(0, size, parts + 1)
    pixels = np.arange(size)
    overlap = np.minimum(edges[1:, None], pixels + 1) - np.maximum(edges[:-1, None], pixels)
    return np.clip(overlap, 0, None) * parts / size
