"""Compiled weighted votes on one small row, beside every training set and every order of ties."""

from fractions import Fraction
from itertools import combinations, permutations, product
from math import comb

import numpy as np
import pytest

from allsplits.exact.weighted._kernels_rows import bound_rows, count_rows
from allsplits.exact.weighted.kernel_types import (
    Effort,
    FoundRows,
    LawTables,
    WeightedRows,
    WeightedRule,
)

LABELS = [0, 1, 1, 0, 2, 1]
#: Weights (None at distance 0) and which candidates are tied with the one before.
ROWS = {
    "falling": ([8, 5, 4, 3, 2, 1], [0, 0, 0, 0, 0, 0]),
    "tied": ([4, 3, 3, 3, 1, 1], [0, 0, 1, 1, 0, 1]),
    "growing": ([1, 2, 2, 5, 7, 7], [0, 0, 1, 0, 0, 1]),
    "at zero": ([None, None, 4, 2, 2, 1], [0, 1, 0, 0, 1, 0]),
}
KS = [1, 2, 3, 4]


def by_counts(counts):
    """(tables, training sets) where counts[c] of each class are drawn."""
    pools = [LABELS.count(c) for c in range(3)]
    rows, nexts = np.zeros((2, 1, 3, len(LABELS) + 1, max(KS)))
    for c, (pool, drawn) in enumerate(zip(pools, counts, strict=True)):
        for n, b in product(range(pool + 1), range(max(KS))):
            if b <= min(n, drawn):
                rows[0, c, n, b] = comb(n, b) * comb(pool - n, drawn - b) / comb(pool, drawn)
                nexts[0, c, n, b] = rows[0, c, n, b] * (drawn - b) / max(pool - n, 1)
    of_class = [[i for i, label in enumerate(LABELS) if label == c] for c in range(3)]
    chosen = product(*(combinations(of_class[c], counts[c]) for c in range(3)))
    none = np.empty((0, 0, 0))
    tables = LawTables(rows, nexts, np.arange(3), np.arange(3), none, none, len(LABELS))
    return tables, [sorted(sum(train, ())) for train in chosen]


def by_size(size):
    """(tables, training sets) where `size` of all are drawn."""
    n_all, width = len(LABELS), max(KS)
    rows, ends, lasts = np.zeros((3, 1, n_all + 1, width))
    for n, b in product(range(n_all + 1), range(width)):
        if b <= n:
            rows[0, n, b] = comb(n, b) * 0.5**n
        if b <= min(n, size):
            drawn = comb(n, b) * comb(n_all - n, size - b) / comb(n_all, size)
            ends[0, n, b] = drawn / rows[0, n, b]
            lasts[0, n, b] = ends[0, n, b] * (size - b) / max(n_all - n, 1)
    one = np.zeros(3, dtype=np.int64)
    tables = LawTables(rows[None], rows[None], one, one, ends, lasts, n_all)
    return tables, list(combinations(range(n_all), size))


LAWS = {"class counts": by_counts([1, 2, 1]), "fixed size": by_size(4)}


def winners(voters, weights):
    """Classes with the largest sum; voters at distance 0 decide alone."""
    nearest = [i for i in voters if weights[i] is None]
    sums = [Fraction(0)] * 3
    for i in nearest or voters:
        sums[LABELS[i]] += 1 if nearest else weights[i]
    return [c for c in range(3) if sums[c] == max(sums)]


def orders_of(tied):
    """All orders of the candidates, tied ones in every order."""
    groups = []
    for i, joins in enumerate(tied):
        groups[-1:] = [[*groups[-1], i]] if joins else [*groups[-1:], [i]]
    for order in product(*(permutations(group) for group in groups)):
        yield sum(order, ())


def every_share(weights, tied, trains, k, share):
    """P(every class wins the vote of k), in Fractions."""
    shares, orders = [Fraction(0)] * 3, list(orders_of(tied))
    for order, train in product(orders, trains):
        found = winners([i for i in order if i in train][:k], weights)
        for c in found if share else found[:1]:
            each = len(found) if share else 1
            shares[c] += Fraction(1, each * len(orders) * len(trains))
    return [float(value) for value in shares]


def vote_on(kernels, row, tables, share, target=-1, exact_work=1e9):
    """won[bound, class, k] of one row, and whether it was left open."""
    weights, tied = ROWS[row]
    mantissa, exponent = np.frexp([np.inf if w is None else float(w) for w in weights])
    rows = WeightedRows(
        np.array([0, len(LABELS)]), np.array(LABELS, dtype=np.int32), np.array(tied, dtype=bool),
        mantissa, exponent.astype(np.int64), np.array([max(target, 0)], dtype=np.int32),
    )  # fmt: skip
    slots = np.array([-1, *range(len(KS))])
    nodes, node_weights = np.polynomial.legendre.leggauss(2)
    if not share:
        nodes, node_weights = np.ones(1), np.full(1, 2.0)
    rule = WeightedRule(
        slots, True, share, target, (nodes + 1) / 2, node_weights / 2, 1e-9
    )  # fmt: skip
    effort = Effort(
        tol=1e-15, near=1e-7, cap=4096, exact_work=exact_work, grid_work=1e8, coarse=64,
        most_cells=1 << 20, left_out=len(LABELS), wanted_width=1e-6, most_prefixes=1e4,
    )  # fmt: skip
    n_lines = 1 if target >= 0 else 3
    found = FoundRows(
        np.zeros((1, 2, n_lines, 1, len(KS))), np.zeros((1, 1, len(KS))), np.zeros(1, dtype=bool)
    )
    is_open = False
    for kernel in kernels:
        kernel(rows, 0, 1, tables, rule, effort, found)
        is_open = is_open or bool(found.is_open[0])
    won = found.won[0, :, :, 0]
    won[1] += np.maximum(1 - found.visited[0, 0], 0)
    return won, is_open


every_row = pytest.mark.parametrize("row", ROWS)
every_law = pytest.mark.parametrize("law", LAWS)
every_share_rule = pytest.mark.parametrize("share", [False, True], ids=["first", "share"])


@every_share_rule
@every_law
@every_row
def test_count_rows(row, law, share):
    tables, trains = LAWS[law]
    won, is_open = vote_on([count_rows], row, tables, share)
    assert not is_open
    for slot, k in enumerate(KS):
        expected = every_share(*ROWS[row], trains, k, share)
        np.testing.assert_allclose(won[0, :, slot], expected, rtol=0, atol=1e-14)
        np.testing.assert_allclose(won[1, :, slot], expected, rtol=0, atol=1e-14)


@every_law
@every_row
def test_count_rows_of_the_own_class(row, law):
    tables, _ = LAWS[law]
    every, _ = vote_on([count_rows], row, tables, False)
    for own in range(3):
        won, _ = vote_on([count_rows], row, tables, False, target=own)
        np.testing.assert_array_equal(won[:, 0], every[:, own])


@every_law
@every_row
def test_bound_rows(row, law):
    """Bounds enclose the truth, and are close to it where no sums tie."""
    tables, trains = LAWS[law]
    won, is_open = vote_on([count_rows, bound_rows], row, tables, False, exact_work=0.0)
    assert is_open
    for slot, k in enumerate(KS):
        expected = np.array(every_share(*ROWS[row], trains, k, False))
        assert np.all(won[0, :, slot] <= expected + 1e-12)
        assert np.all(won[1, :, slot] >= expected - 1e-12)
        may_tie = any(len(winners(voters, ROWS[row][0])) > 1
                      for voters in combinations(range(len(LABELS)), k))  # fmt: skip
        if not may_tie:
            assert np.max(won[1, :, slot] - won[0, :, slot]) < 1e-5
