"""UNN by the book: dense edge matrices, and a numerical minimiser for every step.

Nothing here knows how the library does it: neighbours come from sorting all distances, steps from
minimising the surrogate along one coordinate, minima from scipy's optimiser.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize, minimize_scalar

LOSSES = {
    "exponential": lambda x: np.exp(-x),
    "squared": lambda x: (1 - x) ** 2,
    "logistic": lambda x: np.logaddexp(0, -x),
}
WEIGHTS = {
    "exponential": lambda x: np.exp(-x),
    "squared": lambda x: 2 * (1 - x),
    "logistic": lambda x: 1 / (1 + np.exp(x)),
}


class Case(NamedTuple):
    """Points, labels and how many neighbours."""

    X: np.ndarray
    y: np.ndarray
    k: int


def noisy_case(seed: int, m: int = 40, k: int = 3, n_classes: int = 2) -> Case:
    """Overlapping classes, so that no leverages fit every example."""
    rng = np.random.default_rng(seed)
    y = np.arange(m) % n_classes
    X = rng.normal(size=(m, 2)) + 0.8 * np.column_stack([y, y % 2])
    return Case(X, y, k)


def edge_matrix(X, member, k):
    """r_ij = y_i y_j if j is one of the k nearest of i, nearest first, equals in row order."""
    signs = np.where(member, 1.0, -1.0)
    edges = np.zeros((len(X), len(X)))
    for i in range(len(X)):
        distances = np.sqrt(((X - X[i]) ** 2).sum(axis=1))
        distances[i] = np.inf
        for j in np.argsort(distances, kind="stable")[:k]:
            edges[i, j] = signs[i] * signs[j]
    return edges


def best_step(loss, edges, margins, j, smoothing):
    """Minimise the surrogate along j; smoothing is a pair of examples at margin 0."""
    psi, start = LOSSES[loss], WEIGHTS[loss](0.0)
    pairs = 0.0 if loss == "squared" else smoothing / start
    column = edges[:, j]
    near = column != 0
    if not near.any():
        return 0.0

    def along(step):
        pair = pairs * (psi(step) + psi(-step))
        return psi(margins[near] + step * column[near]).sum() + pair

    found = minimize_scalar(along, bracket=(-0.1, 0.1), options={"xtol": 1e-11})
    return float(found.x)


def risk(loss, edges, alphas):
    """The surrogate risk of one class."""
    return float(LOSSES[loss](edges @ alphas).mean())


def global_minimum(loss, edges):
    """The smallest surrogate risk of all leverages, by scipy's optimiser."""

    def value_and_gradient(alphas):
        margins = edges @ alphas
        gradient = -edges.T @ WEIGHTS[loss](margins) / len(edges)
        return LOSSES[loss](margins).mean(), gradient

    found = minimize(
        value_and_gradient, np.zeros(len(edges)), jac=True, method="L-BFGS-B",
        options={"maxiter": 5000, "maxfun": 20_000, "ftol": 1e-14, "gtol": 1e-8},
    )  # fmt: skip
    return float(found.fun)
