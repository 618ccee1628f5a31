"""Every kernel of the fixed size beside all training sets of a tiny row, in Fractions."""

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest

from allsplits.exact.kernel_types import Rows
from allsplits.exact.laws.fixed_size._kernels_losses import new_beaten, right_tied, right_untied
from allsplits.exact.laws.fixed_size._kernels_mean import TargetRows, Windows, squared_errors
from allsplits.exact.laws.fixed_size._kernels_ranked import hit_columns
from allsplits.exact.laws.fixed_size._kernels_tally import (
    count_nearest,
    count_prefixes,
    majority_scores,
    nearest_curve,
    spread_ties,
)
from allsplits.exact.laws.fixed_size._kernels_two_classes import fill_win_table, sum_two_classes
from allsplits.exact.laws.fixed_size.majority import MajorityVote, VoteTable
from allsplits.exact.masses import Column, prefixes_for
from allsplits.exact.question import Options
from allsplits.splits import SizeLaw

TRAIN = 3


def prefixes(n, ks):
    return prefixes_for([Column(k, SizeLaw.of_size(n + 1, TRAIN)) for k in ks], 1e-15)


def options(share):
    return Options(label_ties="share" if share else "first")


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


def untied(neighbours):
    return type(neighbours)(neighbours.own, [[c] for c in neighbours.rows.labels.tolist()])


def win_of(row, k, win, c):
    return mean_over_training_sets(row, k, lambda voters, _: win(voters, c))


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("tied", [False, True])
def test_every_class_of_untied_and_tied_neighbours(neighbours, share, win, k, tied):
    row = neighbours if tied else untied(neighbours)
    vote = MajorityVote(prefixes(row.n, [k]), 3, options(share))
    out = np.zeros((1, 3))
    vote._score_wins(True, neighbours.rows, tied, out, 0, 1)
    close(out[0], [win_of(row, k, win, c) for c in range(3)])


@pytest.mark.parametrize("ks", [[1], [2], [1, 2, 3], [3, 1]])
@pytest.mark.parametrize("tied", [False, True])
def test_right_untied_and_right_tied(neighbours, share, win, ks, tied):
    row = neighbours if tied else untied(neighbours)
    vote = MajorityVote(prefixes(row.n, ks), 3, options(share))
    losing = vote._losing
    out, beaten = np.zeros((1, len(ks))), new_beaten(3, losing)
    if tied:
        work = vote._loss_work()
        right_tied(neighbours.rows, 0, 1, losing, beaten, work, out)
    else:
        right_untied(neighbours.rows, 0, 1, losing, beaten, out)
    close(out[0], [win_of(row, k, win, row.own) for k in ks])


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
