"""Rows without one candidate: which lists are left, and the shortcuts beside valuing each."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from allsplits import Bernoulli, ClassCounts, FixedSize, evaluate, order_neighbors
from allsplits.exact import strikes
from allsplits.exact.jackknife import _StruckPart
from allsplits.exact.strikes import Strikes, struck_rows


@pytest.fixture
def line():
    """Four points on a line, a tie in the second row."""
    return order_neighbors([[0.0], [1.0], [2.0], [10.0]], depth=3)


def as_lists(order):
    return [
        [
            (int(j), bool(tied))
            for j, tied in zip(order.flat_indices[a:b], order.tied[a:b], strict=True)
        ]
        for a, b in pairwise(order.indptr.tolist())
    ]


def test_an_entry_is_taken_out_and_the_tie_group_keeps_a_head(line):
    complete = as_lists(line)
    assert complete[1] == [(0, False), (2, True), (3, False)]
    second = int(line.indptr[1])
    found = struck_rows(line, np.array([1, 1, 1, 0]), np.array([second, second + 1, -1, 0]))
    assert as_lists(found) == [
        [(2, False), (3, False)],
        [(0, False), (3, False)],
        complete[1],
        complete[0][1:],
    ]
    assert found.numbers.tolist() == [1, 1, 1, 0]
    assert [found.sample_of(row) for row in range(4)] == [1, 1, 1, 0]


def test_neighbours_that_leave_the_same_list_share_a_number():
    """Seven points in a row: classes a a b b a; then b tied with a."""
    X = np.array([[0.0], [1.0], [2.5], [4.5], [7.0], [10.0], [-10.0]])
    codes = np.array([0, 0, 0, 1, 1, 0, 1], dtype=np.int32)
    order = order_neighbors(X, depth=6).slice_rows(0, 1)
    assert order.flat_indices.tolist() == [1, 2, 3, 4, 5, 6]
    kinds = codes[order.flat_indices]
    found = Strikes.of(order, kinds, average=True)
    # a a | b b | the tied a | the tied b
    assert found.of_entry.tolist() == [0, 0, 1, 1, 2, 3]
    assert found.entries.tolist() == [0, 2, 4, 5]
    assert found.rows.tolist() == [0, 0, 0, 0]
    by_index = Strikes.of(order, kinds, average=False)
    assert by_index.of_entry.tolist() == [0, 0, 1, 1, 2, 3]
    assert Strikes.of(order, None, average=True).of_entry.tolist() == [0, 1, 2, 3, 4, 5]


def test_tied_neighbours_of_a_class_share_a_number_wherever_they_stand():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [5.0, 5.0]])
    order = order_neighbors(X, depth=4).slice_rows(0, 1)
    kinds = np.array([0, 1, 0, 1], dtype=np.int32)
    assert Strikes.of(order, kinds, average=True).of_entry.tolist() == [0, 1, 0, 2]


@pytest.mark.parametrize("label_ties", ["first", "share"])
@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy"])
@pytest.mark.parametrize("n", [12, 130])
@pytest.mark.parametrize(
    ("cv", "classes"),
    [
        (FixedSize(0.5), [1, 0, 0]),
        (FixedSize(0.9), [1, 0, 0]),
        (ClassCounts(3), [1, 0, 0]),
        (FixedSize(0.5), [2, 0, 1, 3, 0]),
        (FixedSize(0.9), [2, 0, 1, 3, 0]),
        (Bernoulli(0.5), [2, 0, 1, 3, 0]),
    ],
    ids=str,
)
def test_rows_without_ties_need_no_lists(cv, classes, n, scoring, label_ties, monkeypatch):
    """`strike_two_classes`, `strike_classes`, `race_strikes`: as if every list were valued."""
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n, 2)), np.resize(classes, n)
    options = {"cv": cv, "scoring": scoring, "label_ties": label_ties}
    ks = (1, 2, 3, 4) if n == 12 else (1, 4, 6)

    def without_one():
        return [evaluate(KNeighborsClassifier(k), X, y, **options).without_one for k in ks]

    short = without_one()
    monkeypatch.setattr(_StruckPart, "__call__", _StruckPart._list_by_list)
    np.testing.assert_allclose(short, without_one(), rtol=0, atol=1e-7 if n > 12 else 1e-13)


@pytest.mark.parametrize("most", [1, 7, 100])
def test_batches_of_rows_join_seamlessly(most, monkeypatch):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(90, 2)), np.arange(90) % 4
    model, cv = KNeighborsClassifier(3), FixedSize(0.5)
    whole = evaluate(model, X, y, cv=cv).without_one
    monkeypatch.setattr(strikes, "_MOST_CHANGES", most)
    np.testing.assert_allclose(evaluate(model, X, y, cv=cv).without_one, whole, rtol=0, atol=1e-15)


def test_blocks_and_threads_change_next_to_nothing():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(400, 3)), rng.integers(0, 4, 400)
    one = evaluate(KNeighborsClassifier(3), X, y, n_jobs=1).without_one
    two = evaluate(KNeighborsClassifier(3), X, y, n_jobs=2).without_one
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-15)
