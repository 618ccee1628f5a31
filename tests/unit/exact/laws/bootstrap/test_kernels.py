"""Draws with replacement beside all sequences of draws from a tiny row, in Fractions."""

from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from math import factorial, prod

import numpy as np
import pytest

from allsplits.exact.kernel_types import Rule
from allsplits.exact.laws.bootstrap._kernels import (
    BootstrapDraws,
    Votes,
    bootstrap_ranked,
    bootstrap_scores,
    bootstrap_untied,
)
from allsplits.exact.ties import legendre_rules


def mean_over_draws(neighbours, k, value):
    """Mean of value(classes of the k nearest draws) over all n^N sequences.

    Copies of a neighbour vote together; of draws from one tie group that cannot all vote, each
    subset is as likely as any other.
    """
    n = neighbours.n
    n_draws = n + 1
    ends = np.cumsum([len(group) for group in neighbours.tie_groups]).tolist()
    labels = neighbours.rows.labels.tolist()
    total = Fraction(0)
    for drawn in combinations_with_replacement(range(n), n_draws):
        copies = [drawn.count(p) for p in range(n)]
        ways = factorial(n_draws) // prod(map(factorial, copies))
        end = next(e for e in ends if sum(copies[:e]) >= k)
        start = [0, *ends][ends.index(end)]
        sure = [labels[p] for p in drawn if p < start]
        tied = [labels[p] for p in drawn if start <= p < end]
        total += ways * _mean_of_subsets(sure, tied, k - len(sure), value)
    return total / n**n_draws


def _mean_of_subsets(sure, tied, size, value):
    chosen = list(combinations(tied, size))
    return sum(value(sure + list(c)) for c in chosen) / Fraction(len(chosen))


@pytest.mark.parametrize("every_class", [False, True])
def test_bootstrap_scores_and_bootstrap_untied(neighbours, share, win, every_class):
    ks = [3] if every_class else [1, 2, 3]
    draws = BootstrapDraws(neighbours.n + 1, neighbours.n, neighbours.n)
    votes = Votes(np.array(ks), 3, legendre_rules(2 if share else 0))
    rule = Rule(every_class, True, share)
    asked = [(3, c) for c in range(3)] if every_class else [(k, neighbours.own) for k in ks]
    expected = [mean_over_draws(neighbours, k, lambda v, c=c: win(v, c)) for k, c in asked]
    untied = not neighbours.rows.tied.any()
    for kernel in [bootstrap_scores, bootstrap_untied] if untied else [bootstrap_scores]:
        out = np.zeros((1, len(asked)))
        kernel(neighbours.rows, 0, 1, rule, draws, votes, out)
        np.testing.assert_allclose(out[0], np.array(expected, dtype=float), rtol=0, atol=1e-12)


def test_bootstrap_hits(neighbours):
    ks = np.array([1, 2, 4])
    draws = BootstrapDraws(neighbours.n + 1, neighbours.n, neighbours.n)
    out = np.zeros((1, 3))
    bootstrap_ranked(neighbours.rows, 0, 1, True, draws, ks, out)
    expected = [
        mean_over_draws(neighbours, k, lambda v: Fraction(neighbours.own in v)) for k in ks.tolist()
    ]
    np.testing.assert_allclose(out[0], np.array(expected, dtype=float), rtol=0, atol=1e-12)
