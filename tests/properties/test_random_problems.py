"""Random small problems: exact fractions, probabilities and invariances."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier

from allsplits import FixedSize, evaluate, learning_curve, order_neighbors, validation_curve
from oracle import enumerate as oracle
from oracle.compare import assert_matches, assert_matches_exactly
from properties.strategies import fixed_size_laws, problems, ties

SCORINGS = ["accuracy", "balanced_accuracy", "recall@1", "recall@2", "recall@3"]


@st.composite
def evaluations(draw, **sizes):
    """A problem with a law, a k that fits it and a way to treat ties."""
    problem = draw(problems(**sizes))
    cv, smallest = draw(fixed_size_laws(problem.n))
    k = draw(st.integers(1, smallest))
    return problem, KNeighborsClassifier(k), {"cv": cv, **draw(ties)}


@given(evaluations(largest=14), st.sampled_from(SCORINGS))
def test_floats_are_within_their_bound_of_the_fraction(case, scoring):
    problem, knn, options = case
    options["scoring"] = scoring
    found = evaluate(knn, problem.X, problem.y, **options)
    exact = evaluate(knn, problem.X, problem.y, exact=True, **options)
    assert abs(Fraction(found.score) - exact.fraction) <= Fraction(found.error_bound)
    assert found.error_bound < 1e-12
    np.testing.assert_allclose(
        found.sample_scores, [float(f) for f in exact.sample_fractions], rtol=0, atol=1e-12
    )
    assert found.n_splits == exact.n_splits


@given(problems(largest=6), st.data())
def test_fixed_size_is_every_split(problem, data):
    size = data.draw(st.integers(1, problem.n - 1))
    k = data.draw(st.integers(1, size))
    options = data.draw(ties)
    law = oracle.fixed_size(problem.n, size)
    answer = oracle.classify(problem.distances, problem.labels, law, k, **options)
    knn = KNeighborsClassifier(k)
    found = evaluate(knn, problem.X, problem.y, cv=FixedSize(size), **options)
    assert_matches(found, answer)
    exact = evaluate(knn, problem.X, problem.y, cv=FixedSize(size), exact=True, **options)
    assert_matches_exactly(exact, answer)


@given(evaluations(largest=20))
def test_probabilities(case):
    problem, knn, options = case
    found = evaluate(knn, problem.X, problem.y, **options)
    n_classes = len(set(problem.labels))
    assert found.prediction_proba.shape == (problem.n, n_classes)
    assert found.prediction_proba.min() >= 0
    np.testing.assert_allclose(found.prediction_proba.sum(axis=1), 1, atol=1e-12)
    assert found.confusion.shape == (n_classes, n_classes)
    assert found.confusion.sum() == pytest.approx(1, abs=1e-12)
    assert np.trace(found.confusion) == pytest.approx(found.score, abs=1e-12)
    assert found.sample_scores.mean() == pytest.approx(found.score, abs=1e-12)
    own = np.searchsorted(found.classes, problem.y)
    np.testing.assert_allclose(
        found.prediction_proba[np.arange(problem.n), own], found.sample_scores, atol=1e-12
    )


@given(evaluations(largest=12), st.randoms(use_true_random=False))
def test_the_order_of_rows_means_nothing_when_ties_are_averaged(case, random):
    problem, knn, options = case
    options["distance_ties"] = "average"
    shuffled = random.sample(range(problem.n), problem.n)
    one = evaluate(knn, problem.X, problem.y, exact=True, **options)
    other = evaluate(knn, problem.X[shuffled], problem.y[shuffled], exact=True, **options)
    assert other.fraction == one.fraction
    assert other.sample_fractions == tuple(one.sample_fractions[i] for i in shuffled)


@given(evaluations(largest=12))
def test_only_the_order_of_labels_matters(case):
    problem, knn, options = case
    names = np.array(["ant", "bee", "cow", "dog"])
    numbers = evaluate(knn, problem.X, problem.y, **options)
    words = evaluate(knn, problem.X, names[problem.y], **options)
    assert words.score == numbers.score
    np.testing.assert_array_equal(words.prediction_proba, numbers.prediction_proba)
    assert list(words.classes) == [names[label] for label in numbers.classes]


@given(evaluations(largest=12), st.integers(-50, 50), st.sampled_from([2.0, 0.25, 1024.0]))
def test_shifting_and_scaling_changes_nothing(case, shift, scale):
    problem, knn, options = case
    one = evaluate(knn, problem.X, problem.y, **options)
    other = evaluate(knn, (problem.X + shift) * scale, problem.y, **options)
    assert other.score == one.score


@given(evaluations(largest=12))
def test_one_thread_and_two_agree_to_the_last_bit(case):
    problem, knn, options = case
    one, two = (evaluate(knn, problem.X, problem.y, n_jobs=n_jobs, **options) for n_jobs in (1, 2))
    assert one.score == two.score
    np.testing.assert_array_equal(one.sample_scores, two.sample_scores)
    np.testing.assert_array_equal(one.prediction_proba, two.prediction_proba)


@given(evaluations(largest=12), st.integers(1, 12))
def test_an_order_stands_in_for_the_data(case, block_size):
    problem, knn, options = case
    order = order_neighbors(problem.X, block_size=block_size)
    from_data = evaluate(knn, problem.X, problem.y, **options)
    from_order = evaluate(knn, order, problem.y, **options)
    assert from_order.score == from_data.score
    np.testing.assert_array_equal(from_order.sample_scores, from_data.sample_scores)


@given(evaluations(largest=12))
def test_curves_agree_with_single_evaluations(case):
    problem, knn, options = case
    k = knn.n_neighbors
    alone = evaluate(knn, problem.X, problem.y, exact=True, **options).fraction
    curve = validation_curve(
        knn, problem.X, problem.y, n_neighbors=range(1, k + 1), exact=True, **options
    )
    assert curve.fractions[-1] == alone


@given(problems(largest=12), ties, st.integers(1, 3))
def test_learning_curves_agree_with_single_evaluations(problem, options, k):
    knn = KNeighborsClassifier(min(k, problem.n - 1))
    sizes = list(range(knn.n_neighbors, problem.n))
    curve = learning_curve(knn, problem.X, problem.y, train_sizes=sizes, exact=True, **options)
    assert list(curve.fractions) == [
        evaluate(knn, problem.X, problem.y, cv=FixedSize(a), exact=True, **options).fraction
        for a in sizes
    ]


@given(problems(largest=14))
def test_more_ranks_find_more(problem):
    size = problem.n // 2
    recalls = [
        evaluate(
            KNeighborsClassifier(1),
            problem.X,
            problem.y,
            cv=FixedSize(size),
            scoring=f"recall@{rank}",
            exact=True,
        ).fraction
        for rank in range(1, 6)
    ]
    assert recalls == sorted(recalls)
    nearest = evaluate(
        KNeighborsClassifier(1), problem.X, problem.y, cv=FixedSize(size), exact=True
    )
    assert recalls[0] == nearest.fraction
