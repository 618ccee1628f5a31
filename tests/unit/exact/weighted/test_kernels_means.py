"""Compiled weighted means beside all subsets of a prefix, and all orders of ties."""

from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest

from allsplits.exact.kernel_types import Columns
from allsplits.exact.weighted._kernels_means import (
    QUADRATURE,
    WeightedTargets,
    mean_errors_weighted,
)

TARGETS, OWN = [3, -1, 4, 1, 5], 2
#: Weights (None at distance 0) and which candidates are tied with the one before.
ROWS = {
    "falling": ([9, 6, 4, 2, 1], [0, 0, 0, 0, 0]),
    "tied": ([9, 4, 4, 4, 1], [0, 0, 1, 1, 0]),
    "at zero": ([None, None, 4, 2, 2], [0, 1, 0, 0, 1]),
}


def squared_error(voters, weights):
    """Of the weighted mean; voters at distance 0 decide alone."""
    nearest = [i for i in voters if weights[i] is None]
    mass = {i: Fraction(1 if nearest else weights[i]) for i in nearest or voters}
    mean = sum(w * TARGETS[i] for i, w in mass.items()) / sum(mass.values())
    return (mean - OWN) ** 2


def mean_of_prefix(weights, tied, j, k):
    """Mean over all k-subsets of the first j items, tied ones in every order."""
    rank = np.cumsum([not t for t in tied]).tolist()
    orders = [p for p in permutations(range(5)) if [rank[i] for i in p] == sorted(rank)]
    values = [squared_error(s, weights) for p in orders for s in combinations(p[:j], k)]
    return float(sum(values) / len(values))


@pytest.mark.parametrize("row", ROWS)
def test_mean_errors_weighted(row):
    weights, tied = ROWS[row]
    pairs = [(j, k) for j in range(1, 6) for k in range(1, min(j, 3) + 1)]
    ks = np.array([k for _, k in pairs])
    masses = np.zeros((len(pairs), 6))
    masses[np.arange(len(pairs)), [j for j, _ in pairs]] = 1.0
    rows = WeightedTargets(
        np.array([0, 5]), np.array(TARGETS, dtype=float), np.array(tied, dtype=bool),
        np.array([np.inf if w is None else float(w) for w in weights]), np.array([float(OWN)]),
    )  # fmt: skip
    columns = Columns(ks, masses, np.zeros(6, dtype=np.int64), np.full(6, 3))
    out = np.zeros((1, len(pairs)))
    mean_errors_weighted(rows, 0, 1, True, columns, out)
    expected = [mean_of_prefix(weights, tied, j, k) for j, k in pairs]
    np.testing.assert_allclose(out[0], expected, rtol=10 * QUADRATURE, atol=1e-12)
