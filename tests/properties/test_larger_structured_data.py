"""Laws with structure on data too large to enumerate: the routes through the code must agree."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.model_selection import (
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    LeavePGroupsOut,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import (
    Bernoulli,
    Bootstrap,
    ClassCounts,
    Episodes,
    FixedSize,
    evaluate,
    learning_curve,
    order_neighbors,
    validation_curve,
)

SIZES = [18, 12, 7]
GROUPS = np.random.default_rng(0).integers(0, 9, size=sum(SIZES))

LAWS = [
    ClassCounts(5),
    ClassCounts({0: 16, 1: 2, 2: 6}),
    StratifiedKFold(5),
    StratifiedShuffleSplit(test_size=0.5),
    LeavePGroupsOut(2),
    GroupShuffleSplit(train_size=4, test_size=3),
    Bernoulli(0.3),
    Bernoulli(0.9),
    Bootstrap(),
]

every_law = pytest.mark.parametrize("cv", LAWS, ids=lambda cv: "".join(repr(cv).split()))
with_and_without_ties = pytest.mark.parametrize("rounded", [False, True], ids=["no ties", "ties"])


def blobs(*, rounded: bool):
    """Overlapping classes of unequal size; rounded data have many tied distances."""
    X, y = make_blobs(SIZES, 3, cluster_std=6, random_state=1)
    return (np.round(X / 2), y) if rounded else (X, y)


def law(cv):
    """With groups where it keeps them together."""
    return {"cv": cv, "groups": GROUPS if "Group" in type(cv).__name__ else None}


@every_law
@with_and_without_ties
@pytest.mark.parametrize("label_ties", ["first", "share"])
def test_floats_are_within_their_bound_of_the_fraction(cv, rounded, label_ties):
    X, y = blobs(rounded=rounded)
    options = {**law(cv), "label_ties": label_ties}
    for k in (1, 4):
        knn = KNeighborsClassifier(k)
        found = evaluate(knn, X, y, **options)
        exact = evaluate(knn, X, y, exact=True, **options)
        assert found.error_bound < 1e-11
        assert abs(Fraction(found.score) - exact.fraction) <= Fraction(found.error_bound)
        np.testing.assert_allclose(found.sample_scores, exact.sample_scores, rtol=0, atol=1e-11)


@pytest.mark.parametrize("episodes", [Episodes(2, 1), Episodes(3, 5)], ids=str)
@with_and_without_ties
def test_floats_of_episodes_are_within_their_bound_of_the_fraction(episodes, rounded):
    X, y = blobs(rounded=rounded)
    found = evaluate(KNeighborsClassifier(1), X, y, cv=episodes)
    exact = evaluate(KNeighborsClassifier(1), X, y, cv=episodes, exact=True)
    assert abs(Fraction(found.score) - exact.fraction) <= Fraction(found.error_bound)


@every_law
def test_threads_agree_to_the_last_bit(cv):
    X, y = blobs(rounded=True)
    one, two = (
        evaluate(KNeighborsClassifier(3), X, y, **law(cv), n_jobs=n_jobs) for n_jobs in (1, 2)
    )
    assert one.score == two.score
    np.testing.assert_array_equal(one.sample_scores, two.sample_scores)


@every_law
def test_an_order_stands_in_for_the_data(cv):
    X, y = blobs(rounded=True)
    options = law(cv)
    knn = KNeighborsClassifier(3)
    from_order = evaluate(knn, order_neighbors(X, block_size=7), y, **options)
    assert from_order.score == evaluate(knn, X, y, **options).score


@every_law
def test_curves_agree_with_single_evaluations(cv):
    X, y = blobs(rounded=True)
    options = law(cv)
    curve = validation_curve(KNeighborsClassifier(), X, y, n_neighbors=[1, 2, 6], **options)
    for k, score in zip(curve.x, curve.scores, strict=True):
        alone = evaluate(KNeighborsClassifier(int(k)), X, y, **options)
        assert score == pytest.approx(alone.score, abs=1e-12)


@pytest.mark.parametrize("k", [1, 3])
def test_every_number_of_shots(k):
    X, y = blobs(rounded=True)
    curve = learning_curve(KNeighborsClassifier(k), X, y, stratify=True)
    assert list(curve.x) == list(range(1, min(SIZES)))
    for shots, score in zip(curve.x, curve.scores, strict=True):
        alone = evaluate(KNeighborsClassifier(k), X, y, cv=ClassCounts(int(shots)))
        assert score == pytest.approx(alone.score, abs=1e-12)


@with_and_without_ties
@pytest.mark.parametrize("cv", [FixedSize(10), FixedSize(33), KFold(7)], ids=str)
def test_floats_of_regression_are_within_their_bound_of_the_fraction(cv, rounded):
    X, _ = blobs(rounded=rounded)
    targets = np.round(X[:, 0] * 3 + X[:, 1])
    options = {"cv": cv, "n_neighbors": [1, 2, 7, 10]}
    found = validation_curve(KNeighborsRegressor(), X, targets, **options)
    exact = validation_curve(KNeighborsRegressor(), X, targets, exact=True, **options)
    for score, fraction in zip(found.scores, exact.fractions, strict=True):
        assert abs(Fraction(float(score)) - fraction) <= Fraction(float(found.error_bound))
        assert score == pytest.approx(float(fraction), rel=1e-12)


def test_targets_far_from_zero_keep_their_digits():
    """A variance as a difference of squares would lose them."""
    X, _ = blobs(rounded=False)
    targets = np.round(X[:, 0] * 3 + X[:, 1])
    near, far = (
        evaluate(KNeighborsRegressor(4), X, targets + shift, cv=KFold(5)).score
        for shift in (0, 1e7)
    )
    assert far == pytest.approx(near, rel=1e-8)


@pytest.mark.parametrize("n_groups", [1029, 1030, 1500])
def test_more_groups_than_binomials_fit_into_floats(n_groups):
    """C(1500, 750) is no float; leaving one group out must not need it."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2 * n_groups, 2)), rng.integers(0, 2, 2 * n_groups)
    groups = np.repeat(np.arange(n_groups), 2)
    knn = KNeighborsClassifier(3)
    found = evaluate(knn, X, y, cv=LeaveOneGroupOut(), groups=groups)
    order = order_neighbors(X, depth=4)
    right = [
        np.sum(y[[j for j in row if groups[j] != groups[i]][:3]] == y[i]) >= 2
        for i, row in enumerate(order.indices)
    ]
    assert found.score == pytest.approx(np.mean(right), abs=found.error_bound)
