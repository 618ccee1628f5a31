"""Celisse & Mary-Huard (2011), section 4.2: the agreement of the committee by the paper's formula.

The paper conditions on the k-th neighbour and treats its label apart, for two classes and odd k.
Read with its misprints corrected: H and H' are drawn from the j - 1 items before the j-th, and
1 - F(x) is P(H ≥ x).
"""

from math import comb

import numpy as np
import pytest

from allsplits import CommitteeQuery


def at_least(votes: int, ones: int, zeros: int, draws: int) -> float:
    """P(H ≥ votes), H the ones among `draws` items drawn from ones and zeros."""
    ways = sum(comb(ones, x) * comb(zeros, draws - x) for x in range(votes, draws + 1))
    return ways / comb(ones + zeros, draws)


def paper_share(labels: np.ndarray, p: int, k: int) -> float:
    """Share of the committee that predicts class 1, from the labels in order of distance."""
    n = len(labels)
    total = 0.0
    for j in range(k, min(k + p, n) + 1):
        # U = j - k of the first j are left out, and the j-th is not one of them.
        mass = k / j * comb(j, j - k) * comb(n - j, p - j + k) / comb(n, p)
        ones = int(labels[: j - 1].sum())
        needed = (k + 1) // 2 - int(labels[j - 1])
        total += mass * at_least(needed, ones, j - 1 - ones, k - 1)
    return total


@pytest.mark.parametrize(("k", "p"), [(1, 1), (1, 10), (3, 1), (7, 10), (7, 25), (11, 2)])
def test_the_papers_formula(k, p):
    rng = np.random.default_rng(k + 100 * p)
    X = rng.standard_normal((80, 2))
    labels = (X[:, 0] + 0.5 * rng.standard_normal(80) > 0).astype(int)
    y = np.where(np.arange(80) < 50, labels, np.nan)
    expected = []
    for query in X[50:]:
        nearest_first = np.argsort(np.linalg.norm(X[:50] - query, axis=1))
        expected.append(paper_share(labels[:50][nearest_first], p, k))
    strategy = CommitteeQuery(k, p)
    np.testing.assert_allclose(strategy.shares(X, y)[:, 1], expected, atol=1e-12)
    agreement = 2 * np.abs(np.array(expected) - 0.5)
    np.testing.assert_allclose(strategy.agreement(X, y), agreement, atol=1e-12)
