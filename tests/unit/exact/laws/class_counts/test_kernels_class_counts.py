"""Each kernel of class counts on a tiny row, beside all drawings counted one by one."""

from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest

from allsplits.exact._kernels_draws import hypergeometric_table
from allsplits.exact.kernel_types import Rows, Rule
from allsplits.exact.laws.class_counts._kernels_nearest import score_nearest
from allsplits.exact.laws.class_counts._kernels_own import own_work, score_own
from allsplits.exact.laws.class_counts._kernels_ranked import score_ranked
from allsplits.exact.laws.class_counts._kernels_tied import score_tied, tied_work
from allsplits.exact.laws.class_counts._kernels_untied import score_untied, work_space
from allsplits.exact.laws.class_counts.kernel_types import ClassVote, Draws
from allsplits.exact.ties import legendre_rules, tie_rules

OWN, DRAWN = 0, (2, 1, 2)
UNTIED = [[1], [0], [2], [0], [1], [2], [0], [2]]
TIED = [[1, 0], [2], [0, 1, 2], [0, 2]]


def every_ranking(groups):
    """The classes of the training items, nearest first, of each drawing and order of ties."""
    items = [(place, c) for place, group in enumerate(groups) for c in group]
    of_class = [[e for e, (_, c) in enumerate(items) if c == d] for d in range(3)]
    for chosen in product(*(combinations(of_class[d], DRAWN[d]) for d in range(3))):
        train = sorted(e for part in chosen for e in part)
        places = sorted({items[e][0] for e in train})
        tied = [[items[e][1] for e in train if items[e][0] == place] for place in places]
        orders = list(product(*(permutations(group) for group in tied)))
        for order in orders:
            yield [c for group in order for c in group], Fraction(1, len(orders))


def winners(voters, share):
    votes = [voters.count(d) for d in range(3)]
    best = [d for d in range(3) if votes[d] == max(votes)]
    return best if share else best[:1]


def expected(groups, value):
    """The average of value(ranking), a list of three chances, over all drawings."""
    total, weight = [Fraction(0)] * 3, Fraction(0)
    for ranking, w in every_ranking(groups):
        weight += w
        total = [t + w * v for t, v in zip(total, value(ranking), strict=True)]
    return [float(t / weight) for t in total]


def run(kernel, groups, ks, *, every_class, share=False, by_wins=False):
    labels = np.array([c for group in groups for c in group], dtype=np.int32)
    tied = np.array([e > 0 for group in groups for e in range(len(group))])
    rows = Rows(np.array([0, len(labels)]), labels, tied, np.array([OWN], dtype=np.int32))
    pools, size = np.bincount(labels), max(ks) + 1
    starts = np.concatenate([[0], np.cumsum(pools + 1)])
    lines = np.empty((starts[-1], size))
    for d in range(3):
        table = lines[starts[d] : starts[d + 1]]
        hypergeometric_table(pools[d], DRAWN[d], len(table) - 1, size - 1, table)
    drawn, numbers = np.array(DRAWN)[:, None], np.arange(3)[None, :]
    remaining = np.maximum(drawn - np.arange(size), 0).astype(float)
    kinds = np.zeros(1, dtype=np.int32)
    draws = Draws(kinds, numbers, numbers.copy(), pools, drawn, remaining, starts, lines)
    vote = ClassVote(
        Rule(every_class, True, share), np.array(ks), min(ks), max(ks), len(labels), 1e-16,
        tie_rules(max(ks)), legendre_rules(max(ks) // 2 + 1 if share else 0),
    )  # fmt: skip
    out = np.zeros((1, 1, 3 if every_class else len(ks)))
    works = ()
    if kernel is score_tied:
        works = (tied_work(3, size, 1),)
    elif kernel is score_untied:
        works = (work_space(3, size),)
    if kernel is score_own:
        works = (own_work(3, max(ks), share, by_wins),)
        kernel(rows, 0, 1, draws, lines.ravel(), vote, *works, out)
        return out[0, 0]
    kernel(rows, 0, 1, draws, vote, *works, out)
    return out[0, 0]


def shares(groups, k, share):
    """The chance of each class to win the vote of k."""

    def value(ranking):
        best = winners(ranking[:k], share)
        return [Fraction(int(d in best), len(best)) for d in range(3)]

    return expected(groups, value)


KS = [2, 3, 4]


def check_every_class(kernel, groups, share):
    for k in KS:
        found = run(kernel, groups, [k], every_class=True, share=share)
        np.testing.assert_allclose(found, shares(groups, k, share), rtol=0, atol=1e-13)


def check_own_class(kernel, groups, share, **options):
    found = run(kernel, groups, KS, every_class=False, share=share, **options)
    truth = [shares(groups, k, share)[OWN] for k in KS]
    np.testing.assert_allclose(found, truth, rtol=0, atol=1e-13)


@pytest.mark.parametrize("share", [False, True])
def test_score_untied(share):
    check_every_class(score_untied, UNTIED, share)


@pytest.mark.parametrize("by_wins", [False, True])
@pytest.mark.parametrize("share", [False, True])
def test_score_own(share, by_wins):
    check_own_class(score_own, UNTIED, share, by_wins=by_wins)


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("groups", [UNTIED, TIED])
def test_score_tied(groups, share):
    check_every_class(score_tied, groups, share)
    check_own_class(score_tied, groups, share)


@pytest.mark.parametrize("groups", [UNTIED, TIED])
def test_score_nearest(groups):
    truth = expected(groups, lambda ranking: [Fraction(int(ranking[0] == d)) for d in range(3)])
    found = run(score_nearest, groups, [1], every_class=True)
    np.testing.assert_allclose(found, truth, rtol=0, atol=1e-13)
    found = run(score_nearest, groups, [1], every_class=False)
    np.testing.assert_allclose(found, truth[:1], rtol=0, atol=1e-13)


@pytest.mark.parametrize("groups", [UNTIED, TIED])
def test_score_ranked(groups):
    ranks = [1, 2, 3]
    truth = expected(groups, lambda ranking: [Fraction(int(OWN in ranking[:r])) for r in ranks])
    found = run(score_ranked, groups, ranks, every_class=False)
    np.testing.assert_allclose(found, truth, rtol=0, atol=1e-13)
