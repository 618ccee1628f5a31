"""Weighted votes on random problems: bounds hold, equal weights are equal votes, threads agree."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import KFold, LeavePOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import FixedSize, KNeighborsClassifierCV, evaluate, validation_curve
from allsplits.exact._kernels_weighted import two_class_vote
from oracle import enumerate as oracle
from properties.strategies import problems, ties


def ones(distances):
    return np.ones_like(distances)


def enumerated(n_candidates, train_size, k, ups, weights):
    """P(first class ahead, behind, tie) by listing every training set; one item per group."""
    totals = np.zeros(3)
    for train in combinations(range(n_candidates), train_size):
        total = sum(weights[i] if ups[i] else -weights[i] for i in train[:k])
        totals[0 if total > 0 else 1 if total < 0 else 2] += 1
    return totals / totals.sum()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_squeezed_lists_contain_the_enumerated_truth(data):
    n = data.draw(st.integers(2, 11))
    train_size = data.draw(st.integers(1, n))
    k = data.draw(st.integers(1, train_size))
    ups = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=np.int64)
    weights = np.array(data.draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))) << 40
    cap = data.draw(st.integers(4, 64)) * (k + 1)
    settled = np.zeros(3)
    two_class_vote(n, train_size, k, ups, 1 - ups, weights, n, 0, cap, 0.0, settled)
    truth = enumerated(n, train_size, k, ups, weights)
    assert np.all(settled <= truth + 1e-12)
    unknown = 1 - settled.sum()
    assert np.all(truth <= settled + max(unknown, 0) + 1e-12)


@settings(max_examples=25, deadline=None)
@given(problems(smallest=5), ties, st.integers(1, 4), st.data())
def test_few_states_give_an_interval_that_holds(problem, tie, k, data):
    size = data.draw(st.integers(min(k, problem.n - 1), problem.n - 1))
    k = min(k, size)
    knn = KNeighborsClassifier(k, weights="distance", metric="manhattan")
    matrix = np.abs(problem.X[:, None] - problem.X[None]).sum(axis=-1)
    expected = oracle.classify(
        oracle.given_distances(matrix),
        problem.labels,
        oracle.fixed_size(problem.n, size),
        k,
        weigh=oracle.one_over_distance,
        **tie,
    ).score
    found = evaluate(
        knn, problem.X, problem.y, cv=FixedSize(size), vote_tol=0.999, max_states=64, **tie
    )
    assert abs(found.score - float(expected)) <= found.error_bound


def noisy(n=120, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = (X[:, 0] > 0) + (X[:, 1] > 0.5) * (n_classes > 2)
    return X, np.where(rng.random(n) < 0.3, rng.integers(0, n_classes, n), y)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("label_ties", ["first", "share"])
def test_equal_weights_are_equal_votes_to_the_bit(n_classes, label_ties):
    X, y = noisy(n_classes=n_classes)
    options = {"cv": KFold(4), "label_ties": label_ties}
    equal = evaluate(KNeighborsClassifier(4, weights=ones), X, y, **options)
    plain = evaluate(KNeighborsClassifier(4), X, y, **options)
    assert equal.score == plain.score
    assert equal.error_bound == plain.error_bound
    np.testing.assert_array_equal(equal.prediction_proba, plain.prediction_proba)
    curves = [
        validation_curve(KNeighborsClassifier(weights=w), X, y, n_neighbors=range(1, 8), **options)
        for w in (ones, "uniform")
    ]
    np.testing.assert_array_equal(curves[0].scores, curves[1].scores)


def test_equal_weights_are_equal_means_to_the_bit():
    X, _ = noisy()
    equal = evaluate(KNeighborsRegressor(4, weights=ones), X, X[:, 1], cv=KFold(4))
    assert equal.score == evaluate(KNeighborsRegressor(4), X, X[:, 1], cv=KFold(4)).score


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scikit_learns_loop_over_leave_p_out(n_classes):
    X, y = noisy(14, n_classes, seed=3)
    for k in (1, 2, 5):
        knn = KNeighborsClassifier(k, weights="distance")
        loop = cross_val_score(knn, X, y, cv=LeavePOut(3)).mean()
        assert evaluate(knn, X, y, cv=LeavePOut(3)).score == pytest.approx(loop, abs=1e-13)
    for k in (1, 4):
        knn = KNeighborsRegressor(k, weights="distance")
        scoring = "neg_mean_squared_error"
        loop = cross_val_score(knn, X, X[:, 1], cv=LeavePOut(3), scoring=scoring).mean()
        assert evaluate(knn, X, X[:, 1], cv=LeavePOut(3)).score == pytest.approx(loop, abs=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_threads_and_row_order_do_not_matter(n_classes):
    X, y = noisy(n_classes=n_classes)
    knn = KNeighborsClassifier(9, weights="distance")
    one, two = (evaluate(knn, X, y, cv=LeavePOut(20), n_jobs=n) for n in (1, 2))
    assert one.score == two.score
    order = np.random.default_rng(1).permutation(len(y))
    other = evaluate(knn, X[order], y[order], cv=LeavePOut(20))
    assert other.score == pytest.approx(one.score, abs=one.error_bound + other.error_bound)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_an_interval_contains_the_exact_value(n_classes):
    X, y = noisy(150, n_classes)
    knn = KNeighborsClassifier(11 if n_classes == 2 else 5, weights="distance")
    exact = evaluate(knn, X, y, cv=LeavePOut(30), vote_tol=1e-12, max_states=1 << 20)
    assert exact.error_bound < 1e-11
    rough = evaluate(knn, X, y, cv=LeavePOut(30), vote_tol=0.9, max_states=256)
    assert rough.error_bound > 1e-9
    assert abs(rough.score - exact.score) <= rough.error_bound
    fine = evaluate(knn, X, y, cv=LeavePOut(30))
    assert fine.error_bound <= 1e-4
    assert abs(fine.score - exact.score) <= fine.error_bound + exact.error_bound


def test_the_estimator_chooses_among_weights():
    X, y = noisy(300)
    weights = ("uniform", "distance", lambda distances: np.exp(-distances))
    model = KNeighborsClassifierCV(range(1, 10), weights=weights, cv=KFold(5)).fit(X, y)
    scores = {w: model.curves_[w, "minkowski"].best_score for w in weights}
    assert model.best_params_["weights"] == max(scores, key=scores.get)
    assert model.best_estimator_.weights == model.best_params_["weights"]
    single = evaluate(KNeighborsClassifier(5, weights="distance"), X, y, cv=KFold(5))
    curve = model.curves_["distance", "minkowski"]
    assert curve.scores[4] == pytest.approx(single.score, abs=1e-12)
