"""The greedy rule beside a numerical derivative of the bound as MATH writes it."""

from decimal import Decimal, getcontext

import numpy as np
import pytest

from allsplits import GreedyClassQuery
from unit.refused import refused

getcontext().prec = 60

CASES = [
    ([20, 20], [3, 9], None, 2),
    ([5, 60, 33], [12, 4, 7], [0.2, 0.5, 0.3], 2),
    ([1, 2, 800], [1, 2, 40], None, 3),
    ([40, 50], [300, 280], [0.9, 0.1], 16),
    ([7, 9], [2, 2], None, 1),
]


def bound(m, k, priors, d):
    """The sum over classes, with 60 digits."""
    total = Decimal(0)
    for m_l, k_l, p_l in zip(m, k, priors, strict=True):
        m_l, k_l, p_l, e = Decimal(m_l), Decimal(k_l), Decimal(p_l), Decimal(1).exp()
        inside = ((d + 1) * k_l * m_l.ln() + (e * k_l / d) ** d) / m_l
        total += p_l * inside.sqrt()
    return total


@pytest.mark.parametrize(("m", "k", "priors", "d"), CASES)
def test_bound_and_utilities(m, k, priors, d):
    rule = GreedyClassQuery(priors)
    shares = [1 / len(m)] * len(m) if priors is None else priors
    assert rule.bound(m, k, d) == pytest.approx(float(bound(m, k, shares, d)), rel=1e-13)
    step = Decimal(10) ** -20
    slopes = []
    for c in range(len(m)):
        higher, lower = ([Decimal(v) for v in m] for _ in range(2))
        higher[c] += step
        lower[c] -= step
        difference = bound(higher, k, shares, d) - bound(lower, k, shares, d)
        slopes.append(float(-difference / (2 * step)))
    assert rule.utilities(m, k, d) == pytest.approx(slopes, rel=1e-12)
    assert rule.query(m, k, d) == int(np.argmax(slopes))


def test_more_facets_fewer_examples_or_a_larger_prior_are_asked_first():
    assert GreedyClassQuery().query([50, 50], [10, 20], 2) == 1
    assert GreedyClassQuery().query([50, 30], [10, 10], 2) == 1
    assert GreedyClassQuery([0.3, 0.7]).query([50, 50], [10, 10], 2) == 1
    assert GreedyClassQuery().query([50, 50], [10, 10], 2) == 0


def test_priors_count_up_to_a_factor():
    args = [20, 30], [4, 5], 2
    assert GreedyClassQuery([2, 6]).utilities(*args) == pytest.approx(
        GreedyClassQuery([0.25, 0.75]).utilities(*args)
    )


def test_unavailable_classes_are_not_asked():
    assert GreedyClassQuery().query([50, 50, 50], [9, 20, 10], 2, available=[1, 0, 1]) == 2


def test_a_class_without_facets_gains_nothing():
    utilities = GreedyClassQuery().utilities([50, 50], [0, 4], 2)
    assert utilities[0] == 0 < utilities[1]
    assert GreedyClassQuery().query([50, 50], [0, 0], 2) == 0


def test_many_dimensions_do_not_overflow():
    rule = GreedyClassQuery()
    assert rule.query([50, 50], [1000, 1001], 500) == 1
    assert rule.query([50, 50], [10**6, 10**6 + 1], 5000) == 1
    assert np.all(np.isfinite(rule.utilities([50, 50], [1000, 1001], 200)))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: GreedyClassQuery().query([0, 5], [1, 1], 2), ["n_samples", "at least 1", "0"]),
        (lambda: GreedyClassQuery().query([3, 5], [1, -1], 2), ["facets", "at least 0", "-1"]),
        (lambda: GreedyClassQuery().query([3, 5], [1], 2), ["facets", "2", "1"]),
        (lambda: GreedyClassQuery().query([3, np.nan], [1, 1], 2), ["n_samples", "nan"]),
        (lambda: GreedyClassQuery().query(["a", "b"], [1, 1], 2), ["n_samples", "number"]),
        (lambda: GreedyClassQuery().query([], [], 2), ["n_samples"]),
        (lambda: GreedyClassQuery().query([3, 5], [1, 1], 0), ["n_features", "0"]),
        (lambda: GreedyClassQuery([1]).query([3, 5], [1, 1], 2), ["priors", "2"]),
        (lambda: GreedyClassQuery([0, 0]).query([3, 5], [1, 1], 2), ["priors", "zero"]),
        (lambda: GreedyClassQuery([-1, 2]).query([3, 5], [1, 1], 2), ["priors", "-1"]),
        (
            lambda: GreedyClassQuery().query([3, 5], [1, 1], 2, available=[False, False]),
            ["available", "2"],
        ),
    ],
)
def test_bad_input_is_refused(call, words):
    refused(call, *words)
