"""Few-shot episodes against the enumeration of every episode."""

from math import comb

import pytest
from sklearn.neighbors import KNeighborsClassifier

from allsplits import Episodes, evaluate
from oracle import enumerate as oracle
from oracle.checks import check_accuracy, every_geometry, every_tie
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
