"""Rows without ties go through the votes in lanes: beside the walk that takes groups of ties.

Both sides of every size that matters: lanes, classes, votes, samples of a class.
"""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from allsplits import Bootstrap, ClassCounts, evaluate, order_neighbors, validation_curve
from allsplits.exact.laws.bootstrap import vote as bootstrap
from allsplits.exact.laws.class_counts import vote as classwise
from allsplits.exact.question import tie_runs


@pytest.fixture
def by_groups(monkeypatch):
    """A function that computes as if every row had ties to average over."""

    def all_tied(indptr, tied, average, start, stop):
        yield start, stop, True

    def compute(function):
        with monkeypatch.context() as patch:
            patch.setattr(classwise, "tie_runs", all_tied)
            patch.setattr(bootstrap, "tie_runs", all_tied)
            return function()

    return compute


def data(sizes, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    X = rng.normal(size=(len(y), 3)) + 0.7 * rng.normal(size=(len(sizes), 3))[y]
    return order_neighbors(X), y


def check(order, y, k, cv, by_groups, **options):
    def value():
        return evaluate(KNeighborsClassifier(k), order, y, cv=cv, **options)

    def curve():
        ks = list(range(1, k + 1))
        return validation_curve(KNeighborsClassifier(), order, y, n_neighbors=ks, cv=cv, **options)

    ours, walked = value(), by_groups(value)
    bound = ours.error_bound + walked.error_bound
    np.testing.assert_allclose(
        ours.prediction_proba, walked.prediction_proba, rtol=0, atol=len(y) * bound
    )
    tested = ~np.isnan(ours.sample_scores)
    np.testing.assert_allclose(ours.prediction_proba[tested].sum(axis=1), 1, rtol=0, atol=1e-9)
    assert abs(ours.score - walked.score) <= bound
    several, walked_curve = curve(), by_groups(curve)
    np.testing.assert_allclose(
        several.scores, walked_curve.scores, rtol=0, atol=2 * several.error_bound
    )
    assert abs(several.scores[-1] - ours.score) <= bound + several.error_bound


every_rule = pytest.mark.parametrize("label_ties", ["first", "share"])


@every_rule
@pytest.mark.parametrize("n_classes", [1 + 1, 3, 7, 8, 9, 16, 17, 33])
@pytest.mark.parametrize("k", [2, 5])
def test_numbers_of_classes(n_classes, k, label_ties, by_groups):
    order, y = data([6] * n_classes)
    check(order, y, k, ClassCounts(3), by_groups, label_ties=label_ties)


@every_rule
@pytest.mark.parametrize("n", [31, 32, 33, 34, 64, 65, 66, 97])
def test_rows_around_the_number_of_lanes(n, label_ties, by_groups):
    order, y = data([n // 3, n // 3, n - 2 * (n // 3)])
    check(order, y, 4, ClassCounts(2), by_groups, label_ties=label_ties)


@every_rule
@pytest.mark.parametrize(
    ("sizes", "counts", "k"),
    [
        ([8, 9, 10], {0: 1, 1: 1, 2: 1}, 2),
        ([8, 9, 10], {0: 1, 1: 1, 2: 1}, 3),  # everybody votes
        ([1, 20, 20], {0: 1, 1: 4, 2: 5}, 7),  # a class with one sample, never held out
        ([5, 20, 20], {0: 5, 1: 4, 2: 2}, 11),  # all of a class, everybody votes
        ([5, 20, 20], {0: 5, 1: 20, 2: 2}, 10),
        ([40, 3, 3], {0: 20, 1: 2, 2: 2}, 15),  # more voters than two of the classes have
        ([30, 30], {0: 29, 1: 1}, 8),
    ],
)
def test_voters_and_samples_of_a_class(sizes, counts, k, label_ties, by_groups):
    order, y = data(sizes)
    check(order, y, k, ClassCounts(counts), by_groups, label_ties=label_ties)


def test_unequal_folds_are_several_vectors_of_counts(by_groups):
    order, y = data([11, 13, 7])
    check(order, y, 4, StratifiedKFold(3, shuffle=True), by_groups)


@every_rule
@pytest.mark.parametrize("n", [8, 31, 33, 34, 65, 66])
@pytest.mark.parametrize("k", [1, 2, 6])
def test_draws_with_replacement(n, k, label_ties, by_groups):
    order, y = data([n // 4, n // 4, n // 4, n - 3 * (n // 4)])
    check(order, y, k, Bootstrap(), by_groups, label_ties=label_ties)


def test_rows_with_and_without_ties_in_one_order(by_groups):
    """Some rows take one way, some the other; index ties take the short way everywhere."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 2))
    X[[10, 11, 12]] = [[1.0, 1.0], [1.5, 1.25], [0.5, 0.75]]
    X[[30, 31, 32]] = [[3.0, 1.0], [3.0, 2.0], [4.0, 1.0]]
    y = rng.integers(0, 3, 50)
    order = order_neighbors(X)
    runs = list(tie_runs(order.indptr, order.tied, True, 0, 50))
    assert {has_ties for _, _, has_ties in runs} == {False, True}
    assert [first for first, _, _ in runs[1:]] == [last for _, last, _ in runs[:-1]]
    assert list(tie_runs(order.indptr, order.tied, False, 3, 9)) == [(3, 9, False)]
    for cv in (ClassCounts(4), Bootstrap()):
        for distance_ties in ("average", "index"):
            check(order, y, 5, cv, by_groups, distance_ties=distance_ties)
