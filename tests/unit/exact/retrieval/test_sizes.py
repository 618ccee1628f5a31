"""Galleries of a fixed size: tables over what stands before an item."""

from math import comb

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from allsplits import ClassCounts, FixedSize, evaluate, retrieval_curve
from allsplits.exact.retrieval import sizes
from allsplits.exact.retrieval.sizes import relevant_counts
from allsplits.exceptions import UnsupportedError

KNN = KNeighborsClassifier(1)


@pytest.mark.parametrize("scoring", ["map@r", "map", "mrr", "ndcg", "item_recall@7", "r_precision"])
@pytest.mark.parametrize("digits", [6, 0])
def test_a_size_is_a_mixture_of_class_counts(scoring, digits):
    """Another kernel: queries of one class under every number of relevant items."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [40, 260])
    X = np.round(2 * rng.normal(size=(300, 2)) + y[:, None], digits)
    size, queries = 60, slice(0, 40)
    expected = np.zeros(40)
    for m in range(1, 40):
        chance = comb(39, m) * comb(260, size - m) / comb(299, size)
        if chance > 1e-17:
            cv = ClassCounts({0: m, 1: size - m})
            found = evaluate(KNN, X, y, cv=cv, scoring=scoring)
            expected += chance * found.sample_scores[queries]
    found = evaluate(KNN, X, y, cv=FixedSize(size), scoring=scoring)
    np.testing.assert_allclose(found.sample_scores[queries], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n", [sizes._ROWS - 1, sizes._ROWS, sizes._ROWS + 1])
def test_tables_on_both_sides_of_a_block(n):
    """The other class has as many items as a block of the table has rows."""
    rng = np.random.default_rng(n)
    y = np.repeat([0, 1], [4, n])
    X = rng.normal(size=(n + 4, 1))
    found = evaluate(KNN, X, y, cv=FixedSize(6), scoring="map@r")
    exact = evaluate(KNN, X[:], y, cv=FixedSize(6), scoring="map@r", tol=0)
    assert abs(found.score - exact.score) < 1e-14
    # The gallery of all but one other sample, by hand: each one missing in turn.
    whole = evaluate(KNN, X, y, cv=FixedSize(n + 2), scoring="mrr").sample_scores[0]
    order = np.argsort(np.abs(X[1:, 0] - X[0, 0]))
    marks = (y[1:] == 0)[order]
    by_hand = [1 / (np.flatnonzero(np.delete(marks, gone))[0] + 1) for gone in range(n + 3)]
    assert whole == pytest.approx(np.mean(by_hand), abs=1e-13)


def test_the_full_gallery_takes_the_way_of_class_counts():
    """Both ways, around the largest size."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 50)
    X = np.round(rng.normal(size=(50, 2)), 1)
    for scoring in ("map@r", "map", "precision@5"):
        full = evaluate(KNN, X, y, cv=FixedSize(49), scoring=scoring)
        exact = evaluate(KNN, X, y, cv=FixedSize(49), scoring=scoring, exact=True)
        assert abs(full.score - exact.fraction) <= full.error_bound


def test_unlikely_numbers_of_relevant_items_are_left_out():
    chances = relevant_counts(2000, 500, 1000, 1e-15)
    assert 100 < len(chances) < 200
    assert 0 <= 1 - sum(chances.values()) < 1e-13
    assert set(relevant_counts(20, 5, 19, 0)) == {4, 5}


def test_tables_that_are_too_large_are_refused_before_any_work(monkeypatch):
    monkeypatch.setattr(sizes, "MOST_BYTES", 1000)
    X, y = np.arange(40.0)[:, None], np.arange(40) % 2
    with pytest.raises(UnsupportedError, match=r"tables of .* GiB .*ClassCounts"):
        evaluate(KNN, X, y, cv=FixedSize(10), scoring="map@r")
    with pytest.raises(UnsupportedError, match="fewer ranks"):
        retrieval_curve(X, y, cv=FixedSize(10), scoring="item_recall@k", ranks=range(1, 5))
    # One table for all classes, of one line for each rank.
    assert retrieval_curve(X, y, cv=FixedSize(10), ranks=[1, 2]).scores.shape == (2,)
