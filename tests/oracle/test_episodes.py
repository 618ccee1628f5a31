"""Few-shot episodes against the enumeration of every episode."""

from math import comb

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from allsplits import Episodes, evaluate
from allsplits.exceptions import UnsupportedError
from oracle import enumerate as oracle
from oracle.checks import (
    check_accuracy,
    check_recall,
    check_validation_curve,
    every_distance_tie,
    every_geometry,
    every_tie,
)
from oracle.datasets import dataset

# class sizes 4/4, 2/3/3, 2/2/2/2 and 4/2/2
CASES = [
    ("2 classes", 2, 1),
    ("2 classes", 2, 2),
    ("2 classes", 2, 3),
    ("3 classes", 2, 1),
    ("3 classes", 3, 1),
    ("4 classes", 2, 1),
    ("4 classes", 3, 1),
    ("4 classes", 4, 1),
    ("3 classes, unbalanced", 2, 1),
    ("3 classes, unbalanced", 3, 1),
]

every_case = pytest.mark.parametrize(("labels", "n_way", "k_shot"), CASES)


@every_tie
@every_case
@every_geometry
def test_every_field(points, labels, n_way, k_shot, ties):
    data = dataset(points, labels)
    law = oracle.episodes(data.labels, n_way, k_shot)
    check_accuracy(data, Episodes(n_way, k_shot), law, 1, **ties)


def test_number_of_episodes():
    data = dataset("no ties", "4 classes")
    found = evaluate(KNeighborsClassifier(1), data.X, data.y, cv=Episodes(3, 1))
    assert found.n_splits == comb(4, 3) * 2**3


def test_all_classes_and_equal_sizes_are_class_counts():
    data = dataset("heavy ties", "4 classes")
    law = oracle.class_counts(data.labels, dict.fromkeys(data.labels, 1))
    check_accuracy(data, Episodes(4, 1), law, 1)


MORE_VOTERS = [
    ("2 classes", 2, 2),
    ("2 classes", 2, 3),
    ("3 classes", 2, 1),
    ("3 classes", 3, 1),
    ("4 classes", 3, 1),
    ("3 classes, unbalanced", 2, 1),
]


@every_tie
@pytest.mark.parametrize(("labels", "n_way", "k_shot"), MORE_VOTERS)
@every_geometry
def test_more_voters(points, labels, n_way, k_shot, ties):
    data = dataset(points, labels)
    law = oracle.episodes(data.labels, n_way, k_shot)
    for k in range(2, n_way * k_shot + 1):
        check_accuracy(data, Episodes(n_way, k_shot), law, k, **ties)
    check_validation_curve(data, Episodes(n_way, k_shot), law, **ties)


@every_distance_tie
@pytest.mark.parametrize(("labels", "n_way", "k_shot"), MORE_VOTERS)
@every_geometry
def test_recall(points, labels, n_way, k_shot, distance_ties):
    data = dataset(points, labels)
    law = oracle.episodes(data.labels, n_way, k_shot)
    for rank in range(1, n_way * k_shot + 2):
        check_recall(data, Episodes(n_way, k_shot), law, rank, distance_ties=distance_ties)


def test_many_sets_of_classes_are_refused_before_any_work():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 20
    with pytest.raises(UnsupportedError, match=r"15,504.*2,000"):
        evaluate(KNeighborsClassifier(3), X, y, cv=Episodes(5, 1))
    assert 0 < evaluate(KNeighborsClassifier(1), X, y, cv=Episodes(5, 1)).score < 1
