"""Nearest neighbours on splits that scikit-learn really draws, without the library."""

import numpy as np
from scipy.spatial.distance import cdist


def predicted_labels(X, y, train, test, k: int) -> np.ndarray:
    """Uniform votes of the k nearest, ties between classes to the lowest; no tied distances."""
    classes, codes = np.unique(y, return_inverse=True)
    distances = cdist(X[test], X[train])
    nearest = np.argsort(distances, axis=1)[:, :k]
    votes = codes[train][nearest]
    counts = (votes[:, :, None] == np.arange(len(classes))).sum(axis=1)
    return classes[counts.argmax(axis=1)]


def split_accuracies(splitter, X, y, k: int, groups=None) -> np.ndarray:
    """The accuracy on each split, in the order in which they come."""
    return np.array(
        [
            np.mean(predicted_labels(X, y, train, test, k) == y[test])
            for train, test in splitter.split(X, y, groups)
        ]
    )


def split_recalls(splitter, X, y, rank: int, groups=None) -> np.ndarray:
    """How many test samples have their class among the `rank` nearest, for each split."""
    recalls = []
    for train, test in splitter.split(X, y, groups):
        nearest = np.argsort(cdist(X[test], X[train]), axis=1)[:, :rank]
        recalls.append(np.mean((y[train][nearest] == y[test][:, None]).any(axis=1)))
    return np.array(recalls)


def split_squared_errors(splitter, X, y, k: int, groups=None) -> np.ndarray:
    """The mean squared error of the mean of the k nearest targets, for each split."""
    errors = []
    for train, test in splitter.split(X, y, groups):
        nearest = np.argsort(cdist(X[test], X[train]), axis=1)[:, :k]
        errors.append(np.mean((y[train][nearest].mean(axis=1) - y[test]) ** 2))
    return np.array(errors)


def assert_within_standard_errors(exact: float, independent, limit: float = 4.0) -> None:
    """The mean of independent repetitions is where it should be, given how much they vary."""
    independent = np.asarray(independent)
    standard_error = independent.std(ddof=1) / np.sqrt(len(independent))
    off = abs(independent.mean() - exact)
    assert off <= limit * standard_error + 1e-12, (
        f"exact {exact}, mean of {len(independent)} repetitions {independent.mean()}: "
        f"{off / standard_error:.1f} standard errors"
    )
