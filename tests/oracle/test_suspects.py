"""Doubts about labels against the enumeration of every training set, in Fractions."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from allsplits import Bernoulli, evaluate, find_label_errors
from allsplits.values import _doubt
from oracle import enumerate as oracle
from oracle.checks import every_distance_tie
from oracle.datasets import DATASETS, N

every_dataset = pytest.mark.parametrize("data", DATASETS, ids=str)
#: Shares are kept as whole numbers of 2^-40.
TOLERANCE = 1e-10


def answers(distances, q, distance_ties, groups):
    """P(r answers i) for all pairs: r is the nearest of those who learn, somebody does."""
    n = len(distances)
    chance = [[Fraction(0)] * n for _ in range(n)]
    for i in range(n):
        others = [r for r in range(n) if r != i and (groups is None or groups[r] != groups[i])]
        somebody = 1 - (1 - q) ** len(others)
        for size in range(1, len(others) + 1):
            each = q**size * (1 - q) ** (len(others) - size) / somebody
            for train in combinations(others, size):
                sets = oracle.nearest(tuple(distances[i]), train, 1, distance_ties)
                for voters in sets:
                    chance[i][voters[0]] += each / len(sets)
    return chance


def doubts(chance, labels, q, groups):
    """(doubt, suggested, its share, own share) of every label."""
    n, classes = len(labels), sorted(set(labels))
    found = []
    for i in range(n):
        hears = {c: sum(chance[i][r] for r in range(n) if labels[r] == c) for c in classes}
        heard = {c: sum(chance[r][i] for r in range(n) if labels[r] == c) for c in classes}
        said = {c: heard[c] / (sum(heard.values()) + Fraction(1, 4)) for c in classes}
        own = labels[i]
        peers = [
            r for r in range(n)
            if labels[r] == own and r != i and (groups is None or groups[r] != groups[i])
        ]  # fmt: skip
        others = [c for c in classes if c != own]
        best = max(others, key=lambda c: (hears[c] + said[c], -classes.index(c)))
        if not peers:
            found.append((Fraction(-1), best, hears[best], hears[own]))
            continue
        support = hears[own] / (1 - (1 - q) ** len(peers)) + said[own]
        doubt = (hears[best] + said[best] - support) / 2
        found.append((doubt, best, hears[best], hears[own]))
    return found


def check(points, labels, distance_ties, groups=None):
    q = Fraction(_doubt.chance_to_learn(len(labels)))
    chance = answers(oracle.squared_distances(points), q, distance_ties, groups)
    expected = doubts(chance, labels.tolist(), q, groups)
    found = find_label_errors(points, labels, distance_ties=distance_ties, groups=groups)
    for i, (doubt, best, share, own) in enumerate(expected):
        assert abs(found.doubt[i] - float(doubt)) <= 0.0005 + TOLERANCE
        assert found.own_probability[i] == pytest.approx(float(own), abs=TOLERANCE)
        if share:
            assert found.probability[i] == pytest.approx(float(share), abs=TOLERANCE)
            assert found.suggested[i] == best
    return found


@every_distance_tie
@every_dataset
def test_doubts_are_those_of_every_training_set(data, distance_ties):
    """Ties, duplicates that contradict, classes of one: whatever the data sets hold."""
    check(data.X, data.y, distance_ties)


@every_distance_tie
def test_members_of_a_group_have_no_say(distance_ties):
    points = np.array([[0.0], [0.0], [1.0], [1.0], [2.0], [5.0], [5.0], [7.0]])
    labels = np.array(["b", "a", "b", "a", "a", "b", "b", "b"])
    groups = np.array([0, 0, 1, 2, 2, 3, 4, 4])
    assert len(points) == N
    check(points, labels, distance_ties, groups)


def test_a_fifth_is_the_nearest_neighbour_under_independent_draws():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 6, size=(120, 2)).astype(float), rng.integers(0, 3, 120)
    found = find_label_errors(X, y)
    expected = evaluate(KNeighborsClassifier(1), X, y, cv=Bernoulli(0.2)).prediction_proba
    rows = np.arange(120)
    assert 1e-6 < found.error_bound < 1.1e-4
    for share, codes in (
        (found.own_probability, y),
        (found.probability, found.suggested),
    ):
        missing = expected[rows, codes] - share
        assert missing.min() > -1e-10
        assert missing.max() <= found.error_bound
