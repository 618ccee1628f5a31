"""Votes that end inside of tie groups: small groups beside large ones, and beside Fractions."""

from fractions import Fraction
from itertools import chain, product
from math import comb, prod

import numpy as np
import pytest

from allsplits.exact.kernel_types import Rows
from allsplits.exact.laws.fixed_size import _kernels_listed
from allsplits.exact.laws.fixed_size._kernels_listed import MOST_ITEMS
from allsplits.exact.laws.fixed_size._kernels_losses import new_beaten, right_tied
from allsplits.exact.laws.fixed_size.majority import MajorityVote
from allsplits.exact.masses import Column, prefixes_for
from allsplits.exact.question import Options
from allsplits.splits import SizeLaw


def vote_of(n, columns, n_classes, share):
    """Votes of these (k, training size) among n candidates."""
    laws = [Column(k, SizeLaw.of_size(n + 1, train)) for k, train in columns]
    options = Options(label_ties="share" if share else "first")
    return MajorityVote(prefixes_for(laws, 1e-15), n_classes, options)


def rows_of(owns, groups):
    """Rows with these tie groups of classes, one for each own class."""
    labels = list(chain(*groups))
    tied = [e > 0 for group in groups for e in range(len(group))]
    many = len(owns)
    return Rows(
        np.arange(many + 1) * len(labels), np.array(labels * many, dtype=np.int32),
        np.array(tied * many), np.array(owns, dtype=np.int32),
    )  # fmt: skip


def right(vote, rows, *, small=True):
    """P(right) of each row and column; `small` groups may be counted in pairs as large ones are."""
    work, losing = vote._loss_work(), vote._losing
    if not small:
        work = work._replace(listed=work.listed._replace(most_items=0))
    out = np.zeros((len(rows.own), len(losing.columns.ks)))
    right_tied(rows, 0, len(rows.own), losing, new_beaten(vote.n_classes, losing), work, out)
    return out


def compositions(group, n_classes, most):
    """(items of each class, ways to take them) for up to `most` items of a group."""
    counts = [group.count(c) for c in range(n_classes)]
    for taken in product(*(range(min(n, most) + 1) for n in counts)):
        if sum(taken) <= most:
            yield taken, prod(comb(n, t) for n, t in zip(counts, taken, strict=True))


def share_of(votes, own, share):
    """What the own class gets of a vote."""
    winners = [c for c, v in enumerate(votes) if v == max(votes)]
    if share:
        return Fraction(int(own in winners), len(winners))
    return Fraction(int(winners[0] == own))


def truth(groups, own, n_classes, k, train, share):
    """P(right) in Fractions: which voters come from which group, and who else is in training."""
    n, total, behind = sum(map(len, groups)), Fraction(0), 0
    before = {(0,) * n_classes: 1}
    for group in groups:
        behind += len(group)
        here = list(compositions(group, n_classes, k))
        for votes, ways in before.items():
            for taken, more in here:
                w = sum(taken)
                if w == 0 or sum(votes) + w != k:
                    continue
                got = share_of([a + b for a, b in zip(votes, taken, strict=True)], own, share)
                # x items of the group are in training and not among the k nearest.
                others = sum(
                    Fraction(comb(len(group) - w, x) * comb(n - behind, train - k - x))
                    / comb(w + x, w)
                    for x in range(min(len(group) - w, train - k) + 1)
                )
                total += got * ways * more * others
        after = {}
        for votes, ways in before.items():
            for taken, more in here:
                if sum(votes) + sum(taken) < k:
                    key = tuple(a + b for a, b in zip(votes, taken, strict=True))
                    after[key] = after.get(key, 0) + ways * more
        before = after
    return total / comb(n, train)


def made(rng, sizes, n_classes, evenness=1.0):
    """Tie groups of these sizes, with classes that are not equally frequent."""
    shares = rng.dirichlet(np.full(n_classes, evenness))
    return [rng.choice(n_classes, size=size, p=shares).tolist() for size in sizes]


def check_fractions(groups, n_classes, columns, share):
    n = sum(map(len, groups))
    vote, owns = vote_of(n, columns, n_classes, share), range(n_classes)
    rows = rows_of(owns, groups)
    expected = [
        [float(truth(groups, own, n_classes, k, a, share)) for k, a in columns] for own in owns
    ]
    bound = vote.rounding + 2e-15
    for small in (True, False):
        np.testing.assert_allclose(right(vote, rows, small=small), expected, rtol=0, atol=bound)


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize(
    "sizes",
    [
        (2, 2, 2, 2, 2, 2),
        (1, 3, 1, 4, 2),
        (5, 7),
        (1, 11),
        (2, MOST_ITEMS - 1, 3),
        (3, MOST_ITEMS, 2),
        (1, MOST_ITEMS + 1, 1),
        (4, MOST_ITEMS + 2),
    ],
    ids=str,
)
def test_groups_of_all_sizes_in_fractions(sizes, share):
    """The own class is first, in the middle and last in class order, and may not be there."""
    rng = np.random.default_rng(sum(sizes))
    train = sum(sizes) * 2 // 3
    columns = [(k, train) for k in range(1, min(7, train) + 1)]
    for n_classes in (2, 3, 4):
        check_fractions(made(rng, sizes, n_classes), n_classes, columns, share)


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("k_most", [1, 2, 7, 8, 9, 15, 16, 17])
def test_numbers_of_columns_on_both_sides_of_a_register(k_most, share):
    rng = np.random.default_rng(k_most)
    columns = [(k, 22) for k in range(1, k_most + 1)]
    check_fractions(made(rng, (1, 2, 4, 9, 6, 5), 3), 3, columns, share)


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize(
    "columns",
    [
        [(7, 20)],
        [(8, 20)],
        [(2, 20), (13, 20)],
        [(9, 20), (1, 20), (10, 20)],
        [(3, 20), (3, 15), (8, 20)],
        [(17, 25), (4, 12), (16, 25)],
    ],
    ids=str,
)
def test_columns_with_gaps_out_of_order_and_twice(columns, share):
    rng = np.random.default_rng(len(columns))
    check_fractions(made(rng, (2, 7, 1, 8, 3, 6), 3), 3, columns, share)


@pytest.mark.parametrize("share", [False, True])
def test_rivals_that_have_nothing_in_the_group_or_nothing_before_it(share):
    """Classes 0 and 3 win and lose ties; the group brings items of some of them only."""
    columns = [(k, 9) for k in range(1, 8)]
    for first, group in product(
        ([0, 0, 3, 3, 1], [1, 1, 2, 0], [3, 3, 3], [2]),
        ([0, 1], [1, 3], [2, 1, 1], [0, 3, 2], [0, 0, 3, 3, 1], [2, 2, 2, 1, 0, 3]),
    ):
        groups = [[c] for c in first] + [group, [1, 2, 0, 3], [0, 1]]
        check_fractions(groups, 4, columns, share)


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("evenness", [0.3, 3.0])
@pytest.mark.parametrize("n_classes", [3, 8, 26])
def test_small_groups_beside_pairs(n_classes, evenness, share):
    """Many rivals at once, groups on both sides of the limit, some of which run past the depth."""
    rng = np.random.default_rng(n_classes)
    n, passed = 240, 0
    for trial in range(12):
        ks = [[1], [15], [*range(1, 16)], [*range(3, 20)], [2, 11, 30]][trial % 5]
        vote = vote_of(n, [(k, 190) for k in ks], n_classes, share)
        depth, sizes = vote.prefixes.depth, []
        while sum(sizes) < depth:
            sizes.append(int(rng.choice([1, 2, 3, 5, 8, MOST_ITEMS, MOST_ITEMS + 1])))
        passed += sum(sizes) > depth
        rows = rows_of(range(n_classes), made(rng, sizes, n_classes, evenness))
        np.testing.assert_allclose(
            right(vote, rows), right(vote, rows, small=False), rtol=0, atol=vote.rounding
        )
    assert passed > 0


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("past", range(6))
def test_a_group_that_runs_past_the_depth(past, share):
    rng = np.random.default_rng(past)
    vote = vote_of(60, [(k, 50) for k in (1, 2, 3)], 3, share)
    depth = vote.prefixes.depth
    assert depth + 6 < 60
    groups = made(rng, [1] * (depth - 4) + [4 + past, 60 - depth - past], 3)
    # The row ends with a complete group; those behind it are not looked at.
    rows = rows_of(range(3), groups[:-1])
    expected = [[float(truth(groups, own, 3, k, 50, share)) for k in (1, 2, 3)] for own in range(3)]
    np.testing.assert_allclose(right(vote, rows), expected, rtol=0, atol=vote.rounding + 2e-15)


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("train", [20, 60, 99])
def test_chances_of_thirty_decades(train, share):
    """The own class is nearly everywhere, or nearly nowhere, when the group comes."""
    columns = [(k, train) for k in (1, 6, 13)]
    for own, few in ((0, 1), (1, 0), (2, 1)):
        before = [own] * 40 + [few]
        groups = [[c] for c in before] + [[0, 1, 2, few, few], [few] * 30, [own] * 24]
        check_fractions(groups, 3, columns, share)
        check_fractions(groups[::-1], 3, columns, share)


def test_long_lines_are_counted_in_pairs(monkeypatch):
    rng = np.random.default_rng(0)
    columns = [(k, 30) for k in range(1, 12)]
    rows = rows_of(range(4), made(rng, (3, 5, 8, 13, 8, 5, 3), 4))
    vote = vote_of(45, columns, 4, False)
    small, listed = right(vote, rows), vote._loss_work().listed
    assert listed.most_items == MOST_ITEMS
    monkeypatch.setattr(_kernels_listed, "MOST_NUMBERS", len(listed.space))
    assert vote._loss_work().listed.most_items == MOST_ITEMS
    monkeypatch.setattr(_kernels_listed, "MOST_NUMBERS", len(listed.space) - 1)
    work = vote._loss_work().listed
    assert work.most_items == len(work.space) == work.weights.size == 0
    np.testing.assert_allclose(right(vote, rows), small, rtol=0, atol=vote.rounding)


def test_the_same_bits_whichever_rows_come_before():
    rng = np.random.default_rng(1)
    vote = vote_of(60, [(k, 45) for k in range(1, 16)], 5, False)
    rows = rows_of(range(5), made(rng, (2, 9, 1, 7, 3, 16, 4, 18), 5))
    together = right(vote, rows)
    for own in range(5):
        alone = right(vote, rows_of([own], [*_groups(rows)]))
        np.testing.assert_array_equal(alone[0], together[own])


def _groups(rows):
    """The tie groups of the first row."""
    labels, tied = rows.labels[: rows.indptr[1]], rows.tied[: rows.indptr[1]]
    return [part.tolist() for part in np.split(labels, np.flatnonzero(~tied)[1:])]
