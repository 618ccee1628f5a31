"""Independent draws and draws with replacement against the enumeration of every outcome."""

import pytest

from allsplits import Bernoulli, Bootstrap
from oracle import enumerate as oracle
from oracle.checks import (
    check_accuracy,
    check_recall,
    every_distance_tie,
    every_geometry,
    every_tie,
)
from oracle.datasets import BALANCED, Dataset, dataset

every_label = pytest.mark.parametrize("labels", [*BALANCED, "3 classes, one of one sample"])


def first(data: Dataset, n: int) -> Dataset:
    """The first rows only: outcomes with replacement are many."""
    return Dataset(data.name, data.X[:n], data.y[:n])


@every_tie
@pytest.mark.parametrize("q", [0.25, 0.875])
@every_label
@every_geometry
def test_bernoulli(points, labels, q, ties):
    data = first(dataset(points, labels), 7)
    for k in (1, 2, 3, 6):
        check_accuracy(data, Bernoulli(q), oracle.bernoulli(data.n, q, at_least=k), k, **ties)


@every_tie
@every_label
@every_geometry
def test_bootstrap(points, labels, ties):
    data = first(dataset(points, labels), 5)
    law = oracle.bootstrap(data.n)
    for k in (1, 2, 3, 5):
        check_accuracy(data, Bootstrap(), law, k, **ties)


@every_distance_tie
@every_geometry
def test_bernoulli_recall(points, distance_ties):
    """Given that there are `rank` training items, as with `rank` voters."""
    data = first(dataset(points, "3 classes"), 6)
    for rank in (1, 2, 3):
        law = oracle.bernoulli(data.n, 0.5, at_least=rank)
        check_recall(data, Bernoulli(0.5), law, rank, distance_ties=distance_ties)


@every_distance_tie
@every_geometry
def test_bootstrap_recall(points, distance_ties):
    data = first(dataset(points, "3 classes"), 5)
    law = oracle.bootstrap(data.n)
    for rank in (1, 2, 3):
        check_recall(data, Bootstrap(), law, rank, distance_ties=distance_ties)
