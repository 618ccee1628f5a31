"""Tie groups under class counts: rules in time, rows at a time, and rows that are alike."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy.special import betainc

from allsplits.exact._kernels_draws import hypergeometric_table
from allsplits.exact._kernels_ties import (
    choose_rule,
    first_tied,
    node_of,
    row_before,
    row_next,
    survive_tied,
)
from allsplits.exact.kernel_types import Rows, TimeRule
from allsplits.exact.ties import distinct_rows, legendre_rules, tie_rules, unit_legendre

TINY = 2.0**-60


@pytest.mark.parametrize("size", [1, 2, 3, 24, 100, 155, 300, 355])
def test_the_ends_of_a_rule_are_as_good_as_its_middle(size):
    """λ^(2n-1) and (1-λ)^(2n-1) are at one end alone; weights from 1 - x err by 1e-10 there."""
    nodes, weights = unit_legendre([size])
    sums = [weights @ values ** (2 * size - 1) for values in (nodes, 1 - nodes)]
    # A node near 1 is off by half a rounding, to the power of 2n - 1.
    np.testing.assert_allclose(sums, 1 / (2 * size), rtol=2 * size * 2.0**-53 + 1e-15)
    np.testing.assert_allclose(weights.sum(), 1, rtol=4e-16)
    np.testing.assert_array_equal(weights, weights[::-1])


def test_rules_side_by_side_are_those_alone():
    rules, together = legendre_rules(5), unit_legendre([3, 1, 5])
    alone = [unit_legendre([size]) for size in (3, 1, 5)]
    np.testing.assert_array_equal(together, np.concatenate(alone, axis=1))
    np.testing.assert_array_equal(rules.nodes[3], [*alone[0][0], 0, 0])
    np.testing.assert_array_equal(rules.weights[5], alone[2][1])
    assert not legendre_rules(0).weights.any()


def share_before(window: float, t: int, r: int) -> float:
    """P(the (r+1)-th of t uniform times is below the window)."""
    return float(betainc(r + 1, t - r, window))


def integrated(rules, chosen, t, r) -> float:
    """The rule's value for the density of the (r+1)-th of t times, in log space."""
    total = 0.0
    for q in range(chosen.n_nodes):
        time, weight = node_of(rules, chosen, q)
        log = np.log(float(t)) + _log_choose(t - 1, r) + r * np.log(time)
        total += weight * np.exp(log + (t - 1 - r) * np.log1p(-time))
    return total


def time_rule(rules, number, panels, window):
    return TimeRule(number, panels, window, panels * int(rules.sizes[number]))


def _log_choose(n, k):
    return float(sum(np.log((n - i) / (i + 1.0)) for i in range(k)))


@pytest.mark.parametrize("k", [1, 2, 5, 30, 51])
@pytest.mark.parametrize("which", [9, 20, 23, 24, -1])
def test_every_rule_integrates_what_it_promises(k, which):
    rules = tie_rules(k)
    rule = range(len(rules.sizes))[which]
    span = rules.spans[rule]
    for t in {1, 2, int(span), int(span) + 1, 2 * int(span) + 1, 700, 4000}:
        if t < 1:
            continue
        window = min(1.0, span / t)
        for r in {0, 1, k // 2, k - 1, k}:
            if r < t:
                expected = share_before(window, t, r)
                found = integrated(rules, time_rule(rules, rule, 1, window), t, r)
                # Logarithms of the density lose some digits; the rule itself does not.
                assert abs(found - expected) < 1e-11, (t, r)


def test_panels_integrate_what_one_rule_cannot():
    rules = tie_rules(5)
    last = len(rules.sizes) - 1
    for t in (1, 3, 50, 1500):
        panels = int(np.ceil(1500 / rules.spans[last]))
        for r in range(min(t, 6)):
            assert abs(integrated(rules, time_rule(rules, last, panels, 1.0), t, r) - 1) < 1e-11


def rule_for(k, group, pools, drawn):
    members = np.arange(len(group))
    return tie_rules(k), choose_rule(
        tie_rules(k), members, np.array(group), members, np.array(pools),
        np.array(drawn).reshape(len(group), -1),
    )  # fmt: skip


@pytest.mark.parametrize("k", [1, 7, 30])
@pytest.mark.parametrize("size", [1, 2, 47, 48, 49, 64, 65, 130, 400, 5000])
def test_a_rule_serves_all_draws_that_can_happen(k, size):
    """Mixtures of what can be drawn, at both sides of every number of nodes."""
    rules, chosen = rule_for(k, [size, 3], [size + 5, 9], [[size - 1], [3]])
    assert chosen.panels == 1
    window = chosen.window
    expected = size * (size - 1) / (size + 5) + 1
    assert window == 1.0 or window * expected >= rules.reach * (1 - 1e-12)
    for t in {1, max(1, int(expected)), size + 2}:
        for r in range(min(t, k + 1)):
            truth = share_before(window, t, r)
            assert abs(integrated(rules, chosen, t, r) - truth) < 1e-11


def test_few_draws_need_few_nodes_however_many_are_tied():
    _, chosen = rule_for(5, [5000, 5000], [6000, 6000], [[5], [5]])
    assert (chosen.panels, chosen.window, chosen.n_nodes) == (1, 1.0, 5)


def test_components_that_draw_very_differently_share_panels():
    rules, chosen = rule_for(3, [2000], [2000], [[0, 2000]])
    assert chosen.window == 1.0
    assert chosen.panels > 1
    for t in (1, 10, 2000):
        for r in range(min(t, 4)):
            assert abs(integrated(rules, chosen, t, r) - 1) < 1e-10


def hypergeometric(pool, drawn, n, b):
    return Fraction(comb(n, b) * comb(pool - n, drawn - b) if b <= drawn else 0, comb(pool, drawn))


@pytest.mark.parametrize("tied", [1, 2, 9, 64, 65, 300])
@pytest.mark.parametrize("share", [0.01, 0.5, 0.97])
@pytest.mark.parametrize("time", [0.001, 0.3, 0.999])
def test_rows_within_a_group(tied, share, time):
    pool, n = tied + 7, 4
    drawn = max(1, int(share * pool))
    width = 4
    table = np.empty((n + tied + 1, width))
    hypergeometric_table(pool, drawn, n + tied, width - 1, table)
    lam = Fraction(time)

    def chance(d, of):
        return comb(of, d) * lam**d * (1 - lam) ** (of - d)

    before = [
        sum(chance(d, tied) * hypergeometric(pool, drawn, n + d, b) for d in range(tied + 1))
        for b in range(width)
    ]
    out = np.empty(width)
    row_before(table, n, tied, time, width, out)
    np.testing.assert_allclose(out, np.array(before, dtype=float), rtol=1e-11, atol=TINY)

    following = [
        tied
        * sum(
            chance(d, tied - 1)
            * hypergeometric(pool, drawn, n + d, b)
            * Fraction(max(drawn - b, 0), pool - n - d)
            for d in range(tied)
        )
        for b in range(width)
    ]
    remaining = np.maximum(drawn - np.arange(width), 0).astype(float)
    row_next(table, remaining, pool, n, tied, time, width, out)
    np.testing.assert_allclose(out, np.array(following, dtype=float), rtol=1e-11, atol=TINY)

    nobody = hypergeometric(pool, drawn, n, 0)
    if nobody:
        silent = survive_tied(pool, drawn, n, tied, time)
        assert abs(silent - float(before[0] / nobody)) <= 1e-11
        first = first_tied(pool, drawn, n, tied, time)
        assert abs(first - float(following[0] / nobody)) <= 1e-11 * tied


def rows_of(*samples):
    """Rows from (own class, [classes of each tie group])."""
    labels = [c for _, groups in samples for group in groups for c in group]
    tied = [e > 0 for _, groups in samples for group in groups for e in range(len(group))]
    lengths = [sum(map(len, groups)) for _, groups in samples]
    own = np.array([own for own, _ in samples], dtype=np.int32)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return Rows(indptr, np.array(labels, dtype=np.int32), np.array(tied), own)


def test_rows_are_alike_whatever_the_order_within_their_groups():
    rows = rows_of(
        (0, [[0, 1, 1], [2, 0]]),
        (0, [[1, 0, 1], [0, 2]]),
        (1, [[0, 1, 1], [2, 0]]),
        (0, [[0, 1, 1], [2, 2]]),
        (0, [[0, 1, 1, 2, 0]]),
        (0, [[0, 1, 0], [2, 1]]),
    )
    few, first, place = distinct_rows(rows, np.zeros(6, dtype=np.int32))
    assert place[0] == place[1]
    assert len(first) == 5 == len(set(place))
    for row, at in enumerate(place):
        part = few.labels[few.indptr[at] : few.indptr[at + 1]]
        whole = rows.labels[rows.indptr[row] : rows.indptr[row + 1]]
        assert sorted(part) == sorted(whole)
        assert few.own[at] == rows.own[row]


def test_kinds_keep_rows_apart():
    rows = rows_of((0, [[0, 1, 1]]), (0, [[0, 1, 1]]))
    assert len(distinct_rows(rows, np.zeros(2, dtype=np.int32))[1]) == 1
    assert len(distinct_rows(rows, np.arange(2, dtype=np.int32))[1]) == 2


@pytest.mark.parametrize("size", [1, 2, 31, 32, 33, 200])
def test_labels_are_sorted_within_their_group_only(size):
    rng = np.random.default_rng(size)
    groups = [rng.integers(0, 9, size).tolist() for _ in range(5)]
    rows = rows_of((0, groups), (1, groups[::-1]))
    distinct_rows(rows, np.zeros(2, dtype=np.int32))
    expected = [c for group in groups + groups[::-1] for c in sorted(group)]
    assert rows.labels.tolist() == expected


def test_rows_without_many_ties_are_left_alone():
    rows = rows_of((0, [[0], [1], [1]]), (0, [[0], [1], [1]]))
    few, _, place = distinct_rows(rows, np.zeros(2, dtype=np.int32))
    assert few is rows
    assert place == slice(None)
