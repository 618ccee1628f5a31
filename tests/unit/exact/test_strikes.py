"""Rows without one candidate: which lists are left, and the two shortcuts beside valuing each."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from allsplits import ClassCounts, FixedSize, evaluate, order_neighbors
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
    strikes = Strikes.of(order, kinds, average=True)
    # a a | b b | the tied a | the tied b
    assert strikes.of_entry.tolist() == [0, 0, 1, 1, 2, 3]
    assert strikes.entries.tolist() == [0, 2, 4, 5]
    assert strikes.rows.tolist() == [0, 0, 0, 0]
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
@pytest.mark.parametrize("cv", [FixedSize(0.5), FixedSize(0.9), ClassCounts(3)], ids=str)
def test_two_classes_need_no_lists(cv, n, scoring, label_ties, monkeypatch):
    """`strike_two_classes` and `race_strikes` give what valuing every list gives."""
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n, 2)), np.arange(n) % 3 == 0
    options = {"cv": cv, "scoring": scoring, "label_ties": label_ties}

    def without_one():
        return [
            evaluate(KNeighborsClassifier(k), X, y, **options).without_one for k in (1, 2, 3, 4)
        ]

    short = without_one()
    monkeypatch.setattr(_StruckPart, "__call__", _StruckPart._list_by_list)
    np.testing.assert_allclose(short, without_one(), rtol=0, atol=1e-7 if n > 12 else 1e-13)


def test_blocks_and_threads_change_next_to_nothing():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(400, 3)), rng.integers(0, 4, 400)
    one = evaluate(KNeighborsClassifier(3), X, y, n_jobs=1).without_one
    two = evaluate(KNeighborsClassifier(3), X, y, n_jobs=2).without_one
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-15)
