"""Laws of fixed training size against the enumeration of every split."""

import numpy as np
import pytest
from sklearn.model_selection import LeavePOut
from sklearn.neighbors import KNeighborsClassifier

from allsplits import FixedSize, evaluate, learning_curve
from oracle import checks
from oracle import enumerate as oracle
from oracle.checks import every_distance_tie, every_tie, ks_to_try
from oracle.compare import assert_matches, assert_matches_exactly
from oracle.datasets import DATASETS, POINTS, dataset
from oracle.laws import CORE_FIXED_SIZE_LAWS, OTHER_FIXED_SIZE_LAWS

every_dataset = pytest.mark.parametrize("data", DATASETS, ids=str)
some_datasets = pytest.mark.parametrize(
    "data", [dataset(points, "3 classes") for points in POINTS], ids=str
)
core_laws = pytest.mark.parametrize("case", CORE_FIXED_SIZE_LAWS, ids=str)
other_laws = pytest.mark.parametrize("case", OTHER_FIXED_SIZE_LAWS, ids=str)


def check_every_field_for_every_k(data, case, ties):
    law = case.law(data.n)
    for k in ks_to_try(law):
        found = checks.check_accuracy(data, case.cv, law, k, **ties)
        assert found.n_splits == case.n_splits(data.n)


@every_tie
@core_laws
@every_dataset
def test_all_data(data, case, ties):
    check_every_field_for_every_k(data, case, ties)


@every_tie
@other_laws
@some_datasets
def test_all_laws(data, case, ties):
    check_every_field_for_every_k(data, case, ties)


@every_distance_tie
@core_laws
@every_dataset
def test_recall_at_every_rank(data, case, distance_ties):
    law = case.law(data.n)
    for rank in (1, 2, 3, 4):
        checks.check_recall(data, case.cv, law, rank, distance_ties=distance_ties)


@every_tie
@core_laws
@every_dataset
def test_balanced_accuracy(data, case, ties):
    """Training sets do not know the classes: the mean over classes of their samples' scores."""
    law = case.law(data.n)
    expected = oracle.classify(data.distances, data.labels, law, 2, **ties).mean_recall
    checks.check_balanced_accuracy(data, case.cv, expected, 2, **ties)


@every_tie
@core_laws
@every_dataset
def test_validation_curve_gives_every_k_at_once(data, case, ties):
    checks.check_validation_curve(data, case.cv, case.law(data.n), **ties)


@every_tie
@pytest.mark.parametrize("k", [1, 2, 3])
@some_datasets
def test_learning_curve_gives_every_size_at_once(data, k, ties):
    sizes = range(k, data.n)
    expected = [
        oracle.classify(data.distances, data.labels, oracle.fixed_size(data.n, a), k, **ties).score
        for a in sizes
    ]
    knn = KNeighborsClassifier(k)
    options = {"train_sizes": None if k == 1 else list(sizes), **ties}
    checks.check_curve(learning_curve(knn, data.X, data.y, **options), sizes, expected)
    exact = learning_curve(knn, data.X, data.y, exact=True, **options)
    assert list(exact.fractions) == expected


@every_distance_tie
@some_datasets
def test_learning_curve_of_recall(data, distance_ties):
    sizes = range(1, data.n)
    ties = {"distance_ties": distance_ties}
    expected = [
        oracle.recall(data.distances, data.labels, oracle.fixed_size(data.n, a), 3, **ties).score
        for a in sizes
    ]
    options = {"train_sizes": list(sizes), "scoring": "recall@3", **ties}
    curve = learning_curve(KNeighborsClassifier(1), data.X, data.y, **options)
    checks.check_curve(curve, sizes, expected)


@every_distance_tie
@pytest.mark.parametrize(
    ("metric", "distance"),
    [
        ("manhattan", lambda a, b: np.abs(a - b).sum()),
        ("chebyshev", lambda a, b: np.abs(a - b).max()),
        (lambda a, b: float(np.abs(a - b).sum()), lambda a, b: np.abs(a - b).sum()),
        ("precomputed", lambda a, b: np.abs(a - b).sum()),
    ],
    ids=["manhattan", "chebyshev", "callable", "precomputed"],
)
@some_datasets
def test_other_distances(data, metric, distance, distance_ties):
    matrix = np.array([[distance(a, b) for b in data.X] for a in data.X])
    X = matrix.astype(float) if metric == "precomputed" else data.X
    answer = oracle.classify(
        oracle.given_distances(matrix),
        data.labels,
        oracle.fixed_size(data.n, 5),
        3,
        distance_ties=distance_ties,
    )
    knn = KNeighborsClassifier(3, metric=metric)
    options = {"cv": LeavePOut(3), "distance_ties": distance_ties}
    assert_matches(evaluate(knn, X, data.y, **options), answer)
    assert_matches_exactly(evaluate(knn, X, data.y, exact=True, **options), answer)


def test_the_comparison_fails_on_the_wrong_k():
    data = dataset("no ties", "3 classes")
    answer = oracle.classify(data.distances, data.labels, oracle.fixed_size(data.n, 5), 3)
    right = evaluate(KNeighborsClassifier(3), data.X, data.y, cv=FixedSize(5))
    wrong = evaluate(KNeighborsClassifier(2), data.X, data.y, cv=FixedSize(5))
    assert_matches(right, answer)
    with pytest.raises(AssertionError):
        assert_matches(wrong, answer)


def test_the_comparison_fails_on_the_wrong_law():
    data = dataset("no ties", "3 classes")
    with pytest.raises(AssertionError):
        checks.check_accuracy(data, FixedSize(5), oracle.fixed_size(data.n, 4), 3)


def test_the_treatment_of_ties_shows_on_tied_data():
    data = dataset("heavy ties", "3 classes")
    average, index = (
        evaluate(KNeighborsClassifier(3), data.X, data.y, cv=FixedSize(5), distance_ties=ties).score
        for ties in ("average", "index")
    )
    assert abs(average - index) > 1e-3
