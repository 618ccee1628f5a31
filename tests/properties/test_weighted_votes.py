"""Weighted votes on random problems: bounds hold, equal weights are equal votes, threads agree."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import KFold, LeavePOut, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import ClassCounts, FixedSize, KNeighborsClassifierCV, evaluate, validation_curve
from allsplits.exact.weighted import votes as weighted_votes
from oracle import enumerate as oracle
from oracle.compare import assert_matches, assert_matches_exactly
from properties.strategies import ties


def ones(distances):
    return np.ones_like(distances)


@st.composite
def distance_matrices(draw, n, exponents):
    """Symmetric distances whose logarithms are uniform, some of them equal, some zero."""
    # Thousandths, so that distances are either equal or further apart than a tie group is wide.
    distance = st.integers(*(1000 * e for e in exponents)).map(lambda e: 10.0 ** (e / 1000))
    some = [0.0] * draw(st.integers(0, 1)) + draw(st.lists(distance, min_size=2, max_size=5))
    distance = st.one_of(distance, st.sampled_from(some))
    matrix = np.zeros((n, n))
    for i, j in combinations(range(n), 2):
        matrix[i, j] = matrix[j, i] = draw(distance)
    return matrix


@st.composite
def weighted_problems(draw, exponents=(-15, 15)):
    """Distances, labels, a law of either kind and its enumeration, and k."""
    n = draw(st.integers(4, 7))
    matrix = draw(distance_matrices(n, exponents))
    labels = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    labels = (0, 1, *labels[2:])
    if draw(st.booleans()):
        size = draw(st.integers(1, n - 1))
        cv, law = FixedSize(size), oracle.fixed_size(n, size)
    else:
        sizes = {label: labels.count(label) for label in sorted(set(labels))}
        counts = {label: draw(st.integers(0, number)) for label, number in sizes.items()}
        counts[0] = max(counts[0], 1) if sum(counts.values()) == 0 else counts[0]
        if counts == sizes:
            counts[1] -= 1
        cv, law = ClassCounts(counts), oracle.class_counts(labels, counts)
    k = draw(st.integers(1, len(law[0].train)))
    return matrix, labels, cv, law, k


def truth(problem, tie):
    matrix, labels, _, law, k = problem
    distances = oracle.given_distances(matrix)
    return oracle.classify(distances, labels, law, k, weigh=oracle.one_over_distance, **tie)


def found(problem, tie, **options):
    matrix, labels, cv, _, k = problem
    knn = KNeighborsClassifier(k, weights="distance", metric="precomputed")
    return evaluate(knn, matrix, np.array(labels), cv=cv, **tie, **options)


@settings(max_examples=150, deadline=None)
@given(weighted_problems(), ties)
def test_thirty_decades_of_distances_are_exact(problem, tie):
    answer = truth(problem, tie)
    assert_matches(found(problem, tie), answer)
    assert_matches_exactly(found(problem, tie, exact=True), answer)


@settings(max_examples=25, deadline=None)
@given(weighted_problems((-300, 149)), ties)
def test_all_distances_that_are_accepted(problem, tie):
    answer = truth(problem, tie)
    assert_matches(found(problem, tie), answer)
    assert_matches_exactly(found(problem, tie, exact=True), answer)


@settings(max_examples=60, deadline=None)
@given(weighted_problems(), ties, st.sampled_from([64, 512, 1 << 17]))
def test_a_grid_encloses_thirty_decades(problem, tie, max_states):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weighted_votes, "_EXACT_STEPS", 0.0)
        value = found(problem, tie, max_states=max_states)
    answer = truth(problem, tie)
    assert abs(value.score - float(answer.score)) <= value.error_bound
    for row, (label, share) in enumerate(zip(problem[1], answer.sample_scores, strict=True)):
        if share is not None:
            classes = answer.classes.index(label)
            assert value.prediction_proba[row, classes] == value.sample_scores[row]


def test_one_near_duplicate_leaves_the_others_their_weight():
    X, y = [[0.3], [0.1 + 0.2], [4.3], [-5.7]], [0, 0, 1, 0]
    nearest = evaluate(KNeighborsClassifier(1, weights="distance"), X, y, cv=LeavePOut(2))
    assert nearest.score == pytest.approx(7 / 12, abs=1e-14)
    X, y = [[0.0], [1e-12], [1.0], [-1.0001], [7.0]], [1, 1, 1, 0, 0]
    two = evaluate(KNeighborsClassifier(2, weights="distance"), X, y, cv=LeavePOut(3))
    assert two.score == pytest.approx(1 / 2, abs=1e-14)


def test_equal_heavy_votes_cancel_however_light_the_third_is():
    for light in (1.0, 1e16, 1e60, 1e149):
        matrix = np.full((4, 4), light)
        matrix[0, 1] = matrix[1, 0] = matrix[0, 2] = matrix[2, 0] = 1.0
        np.fill_diagonal(matrix, 0.0)
        knn = KNeighborsClassifier(3, weights="distance", metric="precomputed")
        result = evaluate(knn, matrix, [1, 0, 1, 1], cv=LeavePOut(1))
        assert result.sample_scores[0] == 1.0


@pytest.mark.parametrize("cv", [LeavePOut(2), ClassCounts({0: 3, 1: 2, 2: 2})], ids=str)
def test_rows_that_are_the_same_are_scored_once_and_alike(cv):
    """Few places, so that many samples have the same neighbours; against single evaluation."""
    X = np.array([[0], [0], [0], [3], [3], [3], [4], [4], [4], [9]])
    y = np.array([0, 1, 0, 1, 2, 1, 2, 0, 2, 0])
    knn = KNeighborsClassifier(3, weights="distance")
    result = evaluate(knn, X, y, cv=cv)
    assert result.score == pytest.approx(float(evaluate(knn, X, y, cv=cv, exact=True).fraction))
    assert result.error_bound < 1e-12
    assert result.sample_scores[0] == result.sample_scores[2] != result.sample_scores[1]
    order = np.random.default_rng(0).permutation(len(y))
    again = evaluate(knn, X[order], y[order], cv=cv)
    np.testing.assert_array_equal(again.sample_scores, result.sample_scores[order])


@pytest.mark.parametrize("exact", [False, True])
def test_sums_that_round_differently_tie(exact):
    """1/√2 for one class, three times 1/√18 for the other."""
    X, y = [[0, 0], [1, 1], [3, 3], [3, -3], [-3, 3]], [0, 1, 0, 0, 0]
    knn = KNeighborsClassifier(4, weights="distance")
    result = evaluate(knn, X, y, cv=LeavePOut(1), label_ties="share", exact=exact)
    assert result.score == pytest.approx(0.7, abs=1e-14)
    assert result.sample_scores[0] == pytest.approx(0.5, abs=1e-14)


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


@pytest.mark.parametrize("cv", [LeavePOut(12), StratifiedKFold(4)], ids=["size", "counts"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_interval_contains_the_exact_value(n_classes, cv, monkeypatch):
    X, y = noisy(60, n_classes)
    knn = KNeighborsClassifier(5 if n_classes == 2 else 4, weights="distance")
    monkeypatch.setattr(weighted_votes, "_EXACT_STEPS", 1e9)
    exact = evaluate(knn, X, y, cv=cv, max_states=1 << 20)
    assert exact.error_bound < 1e-11
    monkeypatch.setattr(weighted_votes, "_EXACT_STEPS", 0.0)
    rough = evaluate(knn, X, y, cv=cv, vote_tol=0.9, max_states=64)
    assert rough.error_bound > 1e-9
    assert abs(rough.score - exact.score) <= rough.error_bound
    fine = evaluate(knn, X, y, cv=cv)
    assert fine.error_bound < min(1e-3, rough.error_bound)
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
    bound = np.max(curve.error_bound) + single.error_bound
    assert curve.scores[4] == pytest.approx(single.score, abs=bound)
