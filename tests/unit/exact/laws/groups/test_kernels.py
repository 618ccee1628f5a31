"""The walk through groups beside all ways to draw them, in Fractions."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from allsplits.exact.laws.groups._kernels import GroupDraws, Groups, group_scores
from allsplits.exact.laws.groups._kernels_outcomes import Ballot, VoteRule, tie_work
from allsplits.exact.ties import legendre_rules

#: Groups of the five neighbours; the row is of group 0.
OF_NEIGHBOURS = [1, 2, 3, 1, 4]


def splits(n_groups, n_train, n_test):
    """(training groups, test groups) of all splits that test group 0."""
    for train in combinations(range(1, n_groups), n_train):
        rest = [g for g in range(1, n_groups) if g not in train]
        for test in combinations(rest, n_test - 1):
            yield train, (0, *test)


@pytest.mark.parametrize("every_class", [False, True])
@pytest.mark.parametrize("ranked", [False, True])
@pytest.mark.parametrize(
    ("sizes", "n_train", "n_test"),
    [
        ([1, 2, 1, 1, 1], 3, 1),
        ([2, 2, 2, 2, 2], 3, 2),
        ([3, 2, 1, 1, 4], 3, 2),
        ([3, 2, 1, 1, 4], 2, 2),
    ],
)
def test_group_scores(neighbours, share, win, sizes, n_train, n_test, ranked, every_class):
    if ranked and every_class:
        every_class = False
    ks = [2] if every_class else [1, 2]
    constant = n_test == 1 or len(set(sizes)) == 1
    three_ways = not constant and n_train + n_test < len(sizes)
    draws = GroupDraws(
        np.array(sizes), n_train, n_test, 5, True, constant, three_ways,
        sum(sorted(sizes)[-n_test:]),
    )  # fmt: skip
    ballot = Ballot(
        VoteRule(every_class, ranked, share, mean=False, places=None), np.array(ks), 2, 3
    )
    numbers = np.array(OF_NEIGHBOURS, dtype=np.int32)
    groups = Groups(numbers, np.zeros(1, dtype=np.int32), np.empty(0))
    out = np.zeros((1, 4 if every_class else 3))
    work = None
    if neighbours.rows.tied.any():
        work = tie_work(3, 2, legendre_rules(2 if share else 0), ballot.rule)
    group_scores(neighbours.rows, groups, 0, 1, draws, ballot, work, out)

    weighed = [
        (train, Fraction(1, sum(sizes[g] for g in test)))
        for train, test in splits(len(sizes), n_train, n_test)
    ]
    total = sum(weight for _, weight in weighed)

    def truth(k, c):
        def of_order(classes, places):
            value = Fraction(0)
            for train, weight in weighed:
                pairs = zip(classes, places, strict=True)
                voters = [d for d, place in pairs if OF_NEIGHBOURS[place] in train][:k]
                value += weight * (Fraction(c in voters) if ranked else win(voters, c))
            return value / total

        return neighbours.average(of_order)

    asked = [(2, c) for c in range(3)] if every_class else [(k, neighbours.own) for k in ks]
    expected = np.array([truth(k, c) for k, c in asked], dtype=float)
    np.testing.assert_allclose(out[0, :-1], expected, rtol=0, atol=1e-13)
    n_tests = sum(1 for _ in splits(len(sizes), n_train, n_test))
    mean = total / n_tests * Fraction(n_test, len(sizes))
    assert abs(out[0, -1] - float(mean)) < 1e-14
