"""What blocks of rows contribute: pure functions that travel light and run beside the search."""

import pickle
import threading
from fractions import Fraction

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeaveOneGroupOut, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import (
    Bernoulli,
    Bootstrap,
    ClassCounts,
    Episodes,
    cmc_curve,
    evaluate,
    learning_curve,
    order_neighbors,
    validation_curve,
)
from allsplits.exact import Neighbors
from allsplits.orders import search as search_file
from allsplits.orders.protocol import Search

cloudpickle = pytest.importorskip("cloudpickle")

RNG = np.random.default_rng(9)
N = 60
X = RNG.integers(0, 5, (N, 3)).astype(float)
Y2 = np.arange(N) % 2
Y3 = np.arange(N) % 3
T = RNG.standard_normal(N)
GROUPS = np.arange(N) // 6
CLASSIFIER = KNeighborsClassifier(3)
NEAREST = KNeighborsClassifier(1)


def ask(estimator, y, **options):
    return lambda: evaluate(estimator, X, y, **options)


QUESTIONS = {
    "two classes": lambda: validation_curve(CLASSIFIER, X, Y2, n_neighbors=[1, 2], cv=KFold(5)),
    "1-NN by rank": lambda: learning_curve(NEAREST, X, Y3, scoring="balanced_accuracy"),
    "majority": ask(CLASSIFIER, Y3, cv=KFold(5)),
    "majority, exact": ask(CLASSIFIER, Y3, cv=KFold(5), exact=True),
    "independent draws": ask(CLASSIFIER, Y3, cv=Bernoulli(0.7)),
    "class counts": ask(CLASSIFIER, Y3, cv=StratifiedKFold(5)),
    "class counts, exact": ask(CLASSIFIER, Y3, cv=StratifiedKFold(5), exact=True),
    "shots": lambda: learning_curve(CLASSIFIER, X, Y3, stratify=True, train_sizes=[2, 4]),
    "bootstrap": ask(CLASSIFIER, Y3, cv=Bootstrap()),
    "bootstrap, exact": ask(NEAREST, Y3, cv=Bootstrap(), exact=True),
    "episodes": ask(NEAREST, Y3, cv=Episodes(2, 3)),
    "episodes, exact": ask(NEAREST, Y3, cv=Episodes(2, 3), exact=True),
    "groups": ask(CLASSIFIER, Y3, cv=LeaveOneGroupOut(), groups=GROUPS),
    "groups, exact": ask(CLASSIFIER, Y3, cv=LeaveOneGroupOut(), groups=GROUPS, exact=True),
    "mean": ask(KNeighborsRegressor(3), T, cv=KFold(5)),
    "mean, exact": ask(KNeighborsRegressor(3), T, cv=KFold(5), exact=True),
    "weighted": ask(KNeighborsClassifier(3, weights="distance"), Y3, cv=KFold(5)),
    "weighted, exact": ask(
        KNeighborsClassifier(2, weights="distance"), Y3, cv=KFold(30), exact=True
    ),
    "weighted mean": ask(KNeighborsRegressor(3, weights="distance"), T, cv=KFold(10)),
    "ranks": lambda: cmc_curve(X, Y3, ranks=[1, 2]),
    "ranks without one's own group": lambda: cmc_curve(
        X, Y3, cv=ClassCounts(3), ranks=[1, 2], groups=GROUPS, exclude="group"
    ),
}


def assert_alike(one, other):
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other)
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_alike(a, b)
    else:
        assert isinstance(one, (Fraction, int, bool, type(None)))
        assert one == other


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_part_travels_light_and_changes_nothing(name, monkeypatch):
    seen = []

    blocks = Neighbors.blocks

    def listening(neighbors, depth, part):
        seen.append(part)
        return blocks(neighbors, depth, part)

    monkeypatch.setattr(Neighbors, "blocks", listening)
    QUESTIONS[name]()
    assert seen
    order = order_neighbors(X)
    for part in seen:
        sent = cloudpickle.dumps(part)
        # Neither the data nor compiled code, which would be compiled again wherever it arrives.
        assert b"numba" not in sent
        assert X.tobytes() not in sent
        there = pickle.loads(sent)
        for rows in (order.slice_rows(20, 45), order.slice_rows(0, 20)):
            found = part(rows, 1)
            assert_alike(there(rows, 1), found)
            assert_alike(part(rows, 2), found)


class TwoBlocks(Search):
    """A search that tells when it is asked for its second block."""

    n_samples = 6
    rows_per_block = 3
    ahead = 3

    def __init__(self):
        self.second_is_searched = threading.Event()
        self.whole = order_neighbors([[0.0], [1.0], [3.0], [7.0], [15.0], [31.0]])

    def order(self, start, stop):
        if start > 0:
            self.second_is_searched.set()
        return self.whole.slice_rows(start, stop)


def test_a_part_runs_beside_the_search_of_the_next_block(monkeypatch):
    search = TwoBlocks()
    monkeypatch.setattr(search_file, "prepare_search", lambda *_: search)

    def part(order, n_threads):
        if order.first_row == 0:
            assert search.second_is_searched.wait(20), "the next block waits for this part"
        return order.first_row

    blocks = list(search_file.iter_parts(None, None, 5, part))
    assert [block.parts for block in blocks] == [(0,), (3,)]


def test_parts_in_several_threads_give_the_same_bits(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr("allsplits.orders.proposers.torch._QUERIES", 20)
    points = RNG.integers(0, 4, (600, 3)).astype(float)
    labels = RNG.integers(0, 4, 600)
    found = evaluate(CLASSIFIER, points, labels, backend="torch:cpu")
    expected = evaluate(CLASSIFIER, points, labels, backend="exact")
    np.testing.assert_array_equal(found.sample_scores, expected.sample_scores)
