"""UNN by the book: dense edge matrices, and a numerical minimiser for every step.

Nothing here knows how the library does it: neighbours come from sorting all distances, steps from
minimising the surrogate along one coordinate, minima from scipy's optimiser. `paper_rounds` is
Algorithm 1 of the paper with all weights computed anew in every round.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize, minimize_scalar

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


def noisy_case(seed: int, m: int = 40, k: int = 3, n_classes: int = 2, apart=0.8) -> Case:
    """Overlapping classes, so that no leverages fit every example."""
    rng = np.random.default_rng(seed)
    y = np.arange(m) % n_classes
    X = rng.normal(size=(m, 2)) + apart * np.column_stack([y, y % 2])
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


def pair_weight(loss, margins, smoothing, normalized):
    """What is added to the sums of weights: (13), of weights that sum to one if normalised."""
    return smoothing * (np.abs(WEIGHTS[loss](margins)).sum() if normalized else 1.0)


def paper_step(loss, edges, margins, j, added):
    """Table 1 with (13); the logistic step is the root of (10), a pair at margin 0 beside it."""
    column, weights = edges[:, j], WEIGHTS[loss](margins)
    near = column != 0
    plus, minus = weights[column > 0].sum(), weights[column < 0].sum()
    if loss == "squared":
        return (plus - minus) / (2 * near.sum()) if near.any() else 0.0
    if loss == "exponential":
        return 0.5 * np.log((plus + added) / (minus + added))

    def slope(step):
        own = (column[near] * WEIGHTS[loss](margins[near] + step * column[near])).sum()
        return own + 2 * added * (WEIGHTS[loss](step) - WEIGHTS[loss](-step))

    return float(brentq(slope, -60, 60, xtol=1e-14))


class Round(NamedTuple):
    """One round: who, by how much, and the weights before it."""

    chosen: int
    step: float
    plus: float
    minus: float
    total: float
    margins: np.ndarray


def paper_rounds(edges, n_rounds, loss, rule, normalized, smoothing=None):
    """Algorithm 1 for one class; `rule` is (only positive steps, each example once)."""
    positive, once = rule
    m = len(edges)
    margins, rounds = np.zeros(m), []
    free = np.ones(m, dtype=bool)
    for _ in range(n_rounds):
        weights = WEIGHTS[loss](margins)
        added = pair_weight(loss, margins, 1 / m if smoothing is None else smoothing, normalized)
        steps = np.array([paper_step(loss, edges, margins, j, added) for j in range(m)])
        wanted = np.where(free, steps if positive else np.abs(steps), -np.inf)
        largest = wanted.max()
        if largest <= 1e-14:
            break
        # Of equal steps that of the lowest row.
        j = int(np.flatnonzero(wanted >= largest - 1e-10)[0])
        plus, minus = weights[edges[:, j] > 0].sum(), weights[edges[:, j] < 0].sum()
        margins = margins + steps[j] * edges[:, j]
        rounds.append(Round(j, steps[j], plus, minus, np.abs(weights).sum(), margins))
        free[j] = not once
    return rounds
