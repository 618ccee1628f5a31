"""Every kernel of the fixed size beside all training sets of a tiny row, in Fractions."""

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest

from allsplits.exact.kernel_types import Rows, Rule
from allsplits.exact.laws.fixed_size import _kernels_rivals
from allsplits.exact.laws.fixed_size._kernels_majority import (
    score_tied,
    score_untied,
    work_space,
)
from allsplits.exact.laws.fixed_size._kernels_mean import TargetRows, Windows, squared_errors
from allsplits.exact.laws.fixed_size._kernels_ranked import hit_columns
from allsplits.exact.laws.fixed_size._kernels_rivals import Votes, Ways
from allsplits.exact.laws.fixed_size._kernels_tally import (
    count_nearest,
    count_prefixes,
    majority_scores,
    nearest_curve,
    spread_ties,
)
from allsplits.exact.laws.fixed_size._kernels_two_classes import fill_win_table, sum_two_classes
from allsplits.exact.laws.fixed_size.majority import VoteTable
from allsplits.exact.masses import Column, integer_masses, prefixes_for
from allsplits.exact.ties import legendre_rules
from allsplits.splits import SizeLaw

TRAIN = 3


def prefixes(n, ks):
    return prefixes_for([Column(k, SizeLaw.of_size(n + 1, TRAIN)) for k in ks], 1e-15)


def mean_over_training_sets(neighbours, k, value):
    """Mean of value(classes of the k nearest, their places) over training sets and orders."""

    def of_order(classes, places):
        sets = list(combinations(range(len(classes)), TRAIN))
        voters = [chosen[:k] for chosen in sets]
        return sum(value([classes[r] for r in v], [places[r] for r in v]) for v in voters) / (
            Fraction(len(sets))
        )

    return neighbours.average(of_order)


def close(found, expected):
    np.testing.assert_allclose(found, np.array(expected, dtype=float), rtol=0, atol=1e-13)


@pytest.mark.parametrize("every_class", [False, True])
@pytest.mark.parametrize("ks", [[1], [2], [1, 2, 3]])
def test_score_untied_takes_neighbours_as_they_come(neighbours, share, win, ks, every_class):
    row = type(neighbours)(neighbours.own, [[c] for c in neighbours.rows.labels.tolist()])
    if every_class:
        ks = ks[-1:]
    at = prefixes(row.n, ks)
    ways = Ways(VoteTable(at).values, legendre_rules(max(ks) // 2 + 1 if share else 0))
    votes = Votes(Rule(every_class, False, share), at.columns, ways, at.columns.masses.T.copy())
    out = np.zeros((1, 3 if every_class else len(ks)))
    met, work, _ = work_space(3, votes, False)
    score_untied(neighbours.rows, 0, 1, votes, met, work, out)
    asked = [(ks[0], c) for c in range(3)] if every_class else [(k, row.own) for k in ks]
    close(out[0], [mean_over_training_sets(row, k, lambda v, _, c=c: win(v, c)) for k, c in asked])


def ways_to_win(counts, target, share, k):
    """How many k-subsets the class wins, ties by class order or shared, in integers."""
    total = Fraction(0)
    for v in range(1, min(counts[target], k) + 1):
        # ways[votes, tied rivals]
        ways = {(0, 0): 1}
        for d, n in enumerate(counts):
            if d == target:
                continue
            after = {}
            for (votes, tied), many in ways.items():
                for b in range(min(n, v, k - v - votes) + 1):
                    if b < v or share or d > target:
                        key = votes + b, tied + (b == v)
                        after[key] = after.get(key, 0) + many * comb(n, b)
            ways = after
        own = comb(counts[target], v)
        total += sum(
            Fraction(own * many, tied + 1 if share else 1)
            for (votes, tied), many in ways.items()
            if votes == k - v
        )
    return total


LIKELY = ([0.8, 0.1, 0.05, 0.05], [0.3, 0.3, 0.25, 0.15], [0.45, 0.45, 0.05, 0.05])


@pytest.mark.parametrize("likely", LIKELY)
@pytest.mark.parametrize("kept", [True, False])
def test_what_hardly_ever_happens_is_left_out_without_loss(share, likely, kept, monkeypatch):
    """A long row: some numbers of votes are less likely than 1e-17, others are not."""
    if not kept:
        # Prefixes too long to keep spans: they are found again each time.
        monkeypatch.setattr(_kernels_rivals, "_DEEPEST", 0)
    n, train, ks = 60, 36, [1, 4, 17, 24]
    law = SizeLaw.of_size(n + 1, train)
    at = prefixes_for([Column(k, law) for k in ks], 1e-15)
    labels = np.random.default_rng(len(likely)).choice(4, size=n, p=likely).astype(np.int32)
    rows = Rows(np.array([0, n]), labels, np.zeros(n, bool), np.zeros(1, np.int32))
    ways = Ways(VoteTable(at).values, legendre_rules(max(ks) // 2 + 1 if share else 0))
    votes = Votes(Rule(False, False, share), at.columns, ways, at.columns.masses.T.copy())
    out = np.zeros((1, len(ks)))
    met, work, _ = work_space(4, votes, False)
    score_untied(rows, 0, 1, votes, met, work, out)
    expected = []
    for k in ks:
        masses = integer_masses(n, train, k)
        total = Fraction(0)
        for j, mass in masses.items():
            if at.masses[ks.index(k), min(j, at.depth)] > 0 and j <= at.depth:
                counts = np.bincount(labels[:j], minlength=4).tolist()
                total += mass * ways_to_win(counts, 0, share, k)
        expected.append(total / comb(n, train))
    np.testing.assert_allclose(out[0], np.array(expected, dtype=float), rtol=0, atol=1e-14)


@pytest.mark.parametrize("every_class", [False, True])
@pytest.mark.parametrize("ks", [[1], [2], [1, 2, 3]])
def test_score_tied(neighbours, share, win, ks, every_class):
    if every_class:
        ks = ks[-1:]
    at = prefixes(neighbours.n, ks)
    ways = Ways(VoteTable(at).values, legendre_rules(max(ks) // 2 + 1 if share else 0))
    out = np.zeros((1, 3 if every_class else len(ks)))
    rule = Rule(every_class, True, share)
    votes = Votes(rule, at.columns, ways, at.columns.masses.T.copy())
    score_tied(neighbours.rows, 0, 1, votes, *work_space(3, votes, True), out)
    asked = [(ks[0], c) for c in range(3)] if every_class else [(k, neighbours.own) for k in ks]
    close(
        out[0],
        [mean_over_training_sets(neighbours, k, lambda v, _, c=c: win(v, c)) for k, c in asked],
    )


def test_hit_columns(neighbours):
    at = prefixes(neighbours.n, [1, 2, 3])
    out = np.zeros((1, 3))
    hit_columns(neighbours.rows, 0, 1, True, at.columns, VoteTable(at).values, out)
    close(
        out[0],
        [
            mean_over_training_sets(neighbours, k, lambda v, _: Fraction(neighbours.own in v))
            for k in (1, 2, 3)
        ],
    )


def test_squared_errors(neighbours):
    targets = [3, -1, 4, 1, -5]
    at = prefixes(neighbours.n, [1, 2, 3])
    active = at.masses > 0
    last = at.depth - np.argmax(active[:, ::-1], axis=1)
    windows = Windows(at.ks, at.masses, np.argmax(active, axis=1), last)
    rows = TargetRows(
        neighbours.rows.indptr, np.array(targets, dtype=float), neighbours.rows.tied, np.ones(1)
    )
    out = np.zeros((1, 3))
    squared_errors(rows, 0, 1, True, windows, out)
    for c, k in enumerate((1, 2, 3)):

        def error(_, places, k=k):
            return (Fraction(sum(targets[p] for p in places), k) - 1) ** 2

        close(out[0, c] / 10, mean_over_training_sets(neighbours, k, error) / 10)


def two_classes(neighbours):
    rows = neighbours.rows
    first = rows._replace(labels=np.minimum(rows.labels, 1), own=np.minimum(rows.own, 1))
    assert isinstance(first, Rows)
    return first


def two_class_truth(neighbours, k, win, c):
    return mean_over_training_sets(neighbours, k, lambda v, _: win([min(d, 1) for d in v], c))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_fill_win_table_and_sum_two_classes(neighbours, share, win, k):
    at = prefixes(neighbours.n, [k])
    binomials = VoteTable(at)
    table = np.zeros((2, at.depth + 1, at.depth + 1))
    first_share = 0.5 if share else 1.0
    fill_win_table(k, first_share, at.masses[0], binomials.values, binomials.theta, table)
    out = np.zeros((1, 2))
    tables = np.ascontiguousarray(table.transpose(1, 2, 0))[None]
    sum_two_classes(
        two_classes(neighbours)._replace(own=np.zeros(1, np.int32)), 0, 1, True, tables, out
    )
    close(out[0], [two_class_truth(neighbours, k, win, c) for c in range(2)])


def test_count_prefixes_spread_ties_and_majority_scores(neighbours, share, win):
    at = prefixes(neighbours.n, [1, 2, 3])
    rows, binomials = two_classes(neighbours), VoteTable(at)
    counts = np.zeros((2, at.depth + 1, at.depth + 1), dtype=np.int64)
    keys = np.zeros(neighbours.n, dtype=np.int64)
    sizes = np.array([at.depth + 1, neighbours.n + 1])
    n_keys = count_prefixes(rows, True, counts, keys, sizes)
    table = counts.astype(float)
    spread_ties(keys[:n_keys], np.ones(n_keys, dtype=np.int64), sizes, table)
    own = int(rows.own[0])
    np.testing.assert_allclose(table[own].sum(axis=1)[1:], 1, rtol=0, atol=1e-14)
    out = np.zeros((3, 2))
    first_wins = 0.5 if share else 1.0
    majority_scores(table, first_wins, at.columns, binomials.values, binomials.theta, out)
    close(out[:, own], [two_class_truth(neighbours, k, win, own) for k in (1, 2, 3)])
    assert not out[:, 1 - own].any()


def test_count_nearest_and_nearest_curve(neighbours):
    n = neighbours.n
    counts = np.zeros((1, n + 1), dtype=np.int64)
    keys, members = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    kinds = np.zeros(1, dtype=np.int64)
    n_keys = count_nearest(neighbours.rows, kinds, True, counts, keys, members)
    hits = counts[0].astype(float)
    for key, own in zip(keys[:n_keys].tolist(), members.tolist(), strict=False):
        start, size = divmod(key, n + 1)
        hits[start + 1 : start + size + 1] += own / size
    sizes = np.array([1, TRAIN, n])
    out, terms = np.zeros(3), np.zeros(3, dtype=np.int64)
    nearest_curve(hits, n, sizes, out, terms)
    expected = [
        sum(
            neighbours.average(lambda classes, _, r=r: Fraction(classes[r] == neighbours.own))
            * Fraction(comb(n - 1 - r, a - 1), comb(n, a))
            for r in range(n)
        )
        for a in sizes.tolist()
    ]
    close(out, expected)
    assert terms.tolist() == [n, n - TRAIN + 1, 1]
