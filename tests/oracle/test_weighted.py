"""Weighted votes against the enumeration of every split."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import Bernoulli, ClassCounts, Episodes, evaluate, learning_curve, validation_curve
from allsplits.exact.weighted import votes as weighted_votes
from oracle import enumerate as oracle
from oracle.checks import check_curve, every_distance_tie, every_tie, ks_to_try, smallest_train
from oracle.compare import assert_close, assert_matches, assert_matches_exactly, assert_within_bound
from oracle.datasets import POINTS, dataset
from oracle.enumerate import Split
from oracle.laws import CORE_FIXED_SIZE_LAWS, OTHER_FIXED_SIZE_LAWS, name_of
from oracle.outside import asked, everybody, independent
from oracle.test_class_counts import CASES


def steps(distances):
    """Weights that are whole numbers, with many equal sums, and 0 from distance 6 on."""
    return np.maximum(3 - distances // 2, 0)


def growing(distances):
    """A farther neighbour may weigh more."""
    return distances + 0.5


# what the estimator is given, and the same for the oracle
WEIGHTS = {
    "distance": ("distance", oracle.one_over_distance),
    "steps": (steps, lambda distances: [max(3 - Fraction(d // 2), 0) for d in distances]),
    "growing": (growing, lambda distances: [d + Fraction(1, 2) for d in distances]),
}
POSITIVE = [WEIGHTS["distance"], WEIGHTS["growing"]]
TARGETS = [3, -1, 4, 1, -5, 9, 2, 6]
LARGEST_BOUND = 1e-11

DATA = [dataset(points, labels) for points in POINTS for labels in ("2 classes", "3 classes")] + [
    dataset("heavy ties", "4 classes, unbalanced"),
    dataset("no ties", "2 classes, one of one sample"),
]
every_dataset = pytest.mark.parametrize("data", DATA, ids=str)
every_weight = pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
core_laws = pytest.mark.parametrize("case", CORE_FIXED_SIZE_LAWS, ids=str)


def city_block(X) -> np.ndarray:
    """Whole distances, so that 1/d is rational."""
    X = np.asarray(X)
    return np.abs(X[:, None] - X[None]).sum(axis=-1)


def classifier(k, weights):
    return KNeighborsClassifier(k, weights=weights, metric="manhattan")


def check_every_field(data, case, k, weights, ties):
    given, weigh = weights
    distances = oracle.given_distances(city_block(data.X))
    answer = oracle.classify(distances, data.labels, case.law(data.n), k, weigh=weigh, **ties)
    knn, options = classifier(k, given), {"cv": case.cv, **ties}
    found = evaluate(knn, data.X, data.y, **options)
    assert_matches(found, answer, f"k={k}")
    assert found.n_splits == case.n_splits(data.n)
    exact = evaluate(knn, data.X, data.y, exact=True, **options)
    assert_matches_exactly(exact, answer, f"k={k}")


@every_tie
@pytest.mark.parametrize("case", [CORE_FIXED_SIZE_LAWS[0], CORE_FIXED_SIZE_LAWS[3]], ids=str)
@every_weight
@every_dataset
def test_all_data(data, weights, case, ties):
    for k in ks_to_try(case.law(data.n)):
        check_every_field(data, case, k, weights, ties)


@pytest.mark.parametrize("case", CORE_FIXED_SIZE_LAWS + OTHER_FIXED_SIZE_LAWS, ids=str)
@every_weight
def test_all_laws(weights, case):
    data = dataset("heavy ties", "3 classes")
    for k in ks_to_try(case.law(data.n)):
        check_every_field(data, case, k, weights, {"distance_ties": "average"})


@every_tie
@core_laws
@every_weight
def test_validation_curve(weights, case, ties):
    data = dataset("duplicates", "3 classes")
    given, weigh = weights
    law, distances = case.law(data.n), oracle.given_distances(city_block(data.X))
    ks = range(1, smallest_train(law) + 1)
    expected = [
        oracle.classify(distances, data.labels, law, k, weigh=weigh, **ties).score for k in ks
    ]
    options = {"n_neighbors": ks, "cv": case.cv, **ties}
    check_curve(validation_curve(classifier(1, given), data.X, data.y, **options), ks, expected)
    exact = validation_curve(classifier(1, given), data.X, data.y, exact=True, **options)
    assert list(exact.fractions) == expected


@every_weight
def test_learning_curve(weights):
    data = dataset("duplicates", "2 classes")
    given, weigh = weights
    distances, sizes = oracle.given_distances(city_block(data.X)), range(3, data.n)
    expected = [
        oracle.classify(distances, data.labels, oracle.fixed_size(data.n, a), 3, weigh=weigh).score
        for a in sizes
    ]
    curve = learning_curve(classifier(3, given), data.X, data.y, train_sizes=list(sizes))
    check_curve(curve, sizes, expected)


@every_weight
def test_balanced_accuracy(weights):
    data = dataset("heavy ties", "3 classes, unbalanced")
    given, weigh = weights
    case = CORE_FIXED_SIZE_LAWS[1]
    distances = oracle.given_distances(city_block(data.X))
    answer = oracle.classify(distances, data.labels, case.law(data.n), 3, weigh=weigh)
    found = evaluate(classifier(3, given), data.X, data.y, cv=case.cv, scoring="balanced_accuracy")
    assert_close(found.score, answer.mean_recall, "balanced accuracy")


every_count = pytest.mark.parametrize(
    ("labels", "cv", "law"), CASES, ids=[f"{labels}-{name_of(cv)}" for labels, cv, _ in CASES]
)


@every_weight
@every_count
def test_class_counts(labels, cv, law, weights):
    given, weigh = weights
    data = dataset("heavy ties", labels)
    distances, law = oracle.given_distances(city_block(data.X)), law(data.labels)
    for k in ks_to_try(law):
        answer = oracle.classify(distances, data.labels, law, k, weigh=weigh)
        knn = classifier(k, given)
        assert_matches(evaluate(knn, data.X, data.y, cv=cv), answer, f"k={k}")
        exact = evaluate(knn, data.X, data.y, cv=cv, exact=True)
        assert_matches_exactly(exact, answer, f"k={k}")


@every_tie
@pytest.mark.parametrize("points", POINTS)
def test_class_counts_and_every_tie(points, ties):
    for labels, counts in (("2 classes", {0: 2, 1: 3}), ("3 classes", {"a": 1, "b": 2, "c": 2})):
        data = dataset(points, labels)
        distances = oracle.given_distances(city_block(data.X))
        law = oracle.class_counts(data.labels, counts)
        for k in range(1, 6):
            answer = oracle.classify(
                distances, data.labels, law, k, weigh=oracle.one_over_distance, **ties
            )
            options = {"cv": ClassCounts(counts), **ties}
            knn = classifier(k, "distance")
            assert_matches(evaluate(knn, data.X, data.y, **options), answer, f"k={k}")
            exact = evaluate(knn, data.X, data.y, exact=True, **options)
            assert_matches_exactly(exact, answer, f"k={k}")


@every_count
def test_balanced_accuracy_of_class_counts(labels, cv, law):
    data = dataset("duplicates", labels)
    distances = oracle.given_distances(city_block(data.X))
    balanced = oracle.classes_equally(law(data.labels), data.labels)
    k = min(2, smallest_train(balanced))
    answer = oracle.classify(distances, data.labels, balanced, k, weigh=oracle.one_over_distance)
    options = {"cv": cv, "scoring": "balanced_accuracy"}
    found = evaluate(classifier(k, "distance"), data.X, data.y, **options)
    assert_close(found.score, answer.score, "balanced accuracy")
    exact = evaluate(classifier(k, "distance"), data.X, data.y, exact=True, **options)
    assert exact.fraction == answer.score


# how fine the grid may be: hardly a cell, many
@pytest.mark.parametrize("max_states", [64, 1 << 17])
@every_tie
@every_weight
@every_dataset
def test_a_grid_encloses_the_truth(data, weights, ties, max_states, monkeypatch):
    monkeypatch.setattr(weighted_votes, "_EXACT_STEPS", 0.0)
    given, weigh = weights
    distances = oracle.given_distances(city_block(data.X))
    train = {label: max(1, data.labels.count(label) - 1) for label in set(data.labels)}
    for cv, law in (
        (CORE_FIXED_SIZE_LAWS[1].cv, CORE_FIXED_SIZE_LAWS[1].law(data.n)),
        (ClassCounts(train), oracle.class_counts(data.labels, train)),
    ):
        ks = ks_to_try(law)
        options = {"cv": cv, "max_states": max_states, "vote_tol": 1e-9, **ties}
        curve = validation_curve(
            classifier(1, given), data.X, data.y, n_neighbors=ks, **options
        )  # fmt: skip
        for k, score in zip(ks, curve.scores, strict=True):
            answer = oracle.classify(distances, data.labels, law, k, weigh=weigh, **ties)
            bound = float(np.max(curve.error_bound))
            assert_within_bound(score, answer.score, bound, f"k={k}", 1.0)
        found = evaluate(classifier(k, given), data.X, data.y, **options)
        assert_within_bound(found.score, answer.score, found.error_bound, f"k={k}", 1.0)


@every_distance_tie
@core_laws
@pytest.mark.parametrize("weights", POSITIVE, ids=["distance", "growing"])
@pytest.mark.parametrize("points", POINTS)
def test_regression(points, weights, case, distance_ties):
    X, y = np.array(POINTS[points]), np.array(TARGETS)
    given, weigh = weights
    distances, law = oracle.given_distances(city_block(X)), case.law(len(y))
    for k in ks_to_try(law):
        ties = {"distance_ties": distance_ties}
        answer = oracle.regress(distances, y, law, k, weigh=weigh, **ties)
        knn = KNeighborsRegressor(k, weights=given, metric="manhattan")
        found = evaluate(knn, X, y, cv=case.cv, **ties)
        assert_matches(found, answer, f"k={k}", LARGEST_BOUND)
        exact = evaluate(knn, X, y, cv=case.cv, exact=True, **ties)
        assert_matches_exactly(exact, answer, f"k={k}")


def test_the_oracle_weighs_as_scikit_learn_does():
    X, y = np.array([[0.0], [0.0], [2.0], [3.0], [7.0]]), np.array([1, 0, 0, 1, 1])
    train, k = (1, 2, 3, 4), 3
    for sample, expected in ((0, [1, 0]), (4, None)):
        knn = classifier(k, "distance").fit(X[list(train)], y[list(train)])
        distances = oracle.given_distances(city_block(X))
        [voters] = oracle.nearest(distances[sample], train, k, "index")
        weights = oracle.one_over_distance([distances[sample][i] for i in voters])
        labels = tuple(y[i].item() for i in voters)
        won = oracle.heaviest(labels, weights, [0, 1], "first")
        assert won[0] == knn.predict(X[[sample]])[0]
        if expected:
            assert list(knn.predict_proba(X[[sample]])[0]) == expected


def test_the_comparison_fails_on_other_weights():
    data = dataset("no ties", "2 classes")
    distances = oracle.given_distances(city_block(data.X))
    law = oracle.fixed_size(data.n, 5)
    answer = oracle.classify(distances, data.labels, law, 3, weigh=oracle.one_over_distance)
    found = evaluate(classifier(3, growing), data.X, data.y, cv=CORE_FIXED_SIZE_LAWS[1].cv)
    with pytest.raises(AssertionError):
        assert_matches(found, answer)


@every_tie
@every_weight
@pytest.mark.parametrize("points", ["duplicates", "heavy ties"])
def test_independent_draws(points, weights, ties):
    given, weigh = weights
    for labels, k, q in (("3 classes", 2, Fraction(2, 3)), ("2 classes", 3, Fraction(1, 4))):
        data = dataset(points, labels)
        distances = oracle.given_distances(city_block(data.X))
        law = oracle.bernoulli(data.n, q, k)
        answer = oracle.classify(distances, data.labels, law, k, weigh=weigh, **ties)
        options = {"cv": Bernoulli(q), **ties}
        found = evaluate(classifier(k, given), data.X, data.y, **options)
        assert_matches(found, answer, f"k={k}")
        exact = evaluate(classifier(k, given), data.X, data.y, exact=True, **options)
        assert_matches_exactly(exact, answer, f"k={k}")


@every_weight
def test_a_curve_under_independent_draws(weights):
    """Training sets with fewer than k samples are left out, so every k has a law of its own."""
    given, weigh = weights
    data, ks, q = dataset("duplicates", "3 classes"), range(1, 8), Fraction(2, 5)
    distances = oracle.given_distances(city_block(data.X))
    expected = [
        oracle.classify(
            distances, data.labels, oracle.bernoulli(data.n, q, k), k, weigh=weigh
        ).score
        for k in ks
    ]  # fmt: skip
    options = {"n_neighbors": ks, "cv": Bernoulli(q)}
    check_curve(validation_curve(classifier(1, given), data.X, data.y, **options), ks, expected)
    exact = validation_curve(classifier(1, given), data.X, data.y, exact=True, **options)
    assert list(exact.fractions) == expected


@every_weight
def test_a_fixed_test_set_under_independent_draws(weights):
    given, weigh = weights
    data = asked("heavy ties", "3 classes", n=6)
    distances = oracle.given_distances(city_block(data.points))
    law = everybody(data, independent(data.n, Fraction(1, 3), 2))
    answer = oracle.classify(distances, data.labels, law, 2, weigh=weigh)
    X, y = data.references.X, data.references.y
    options = {"cv": Bernoulli(Fraction(1, 3)), **data.test_set()}
    found = evaluate(classifier(2, given), X, y, **options)
    assert_close(found.score, answer.score, "fixed test set")
    exact = evaluate(classifier(2, given), X, y, exact=True, **options)
    assert exact.fraction == answer.score


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_independent_draws_at_every_scale(scale):
    data, q = dataset("no ties", "3 classes"), Fraction(1, 2)
    distances = oracle.given_distances(city_block(data.X))
    law = oracle.bernoulli(data.n, q, 3)
    answer = oracle.classify(distances, data.labels, law, 3, weigh=oracle.one_over_distance)
    found = evaluate(classifier(3, "distance"), data.X * scale, data.y, cv=Bernoulli(q))
    assert_matches(found, answer, f"scale {scale}")


@every_tie
@every_weight
@pytest.mark.parametrize("points", ["duplicates", "heavy ties"])
def test_episodes(points, weights, ties):
    """Classes of an episode count equally; two shots need classes of three samples."""
    given, weigh = weights
    data = dataset(points, "3 classes, unbalanced")
    nine = data._replace(X=np.vstack([data.X, data.X[:1] + 1]), y=np.array(list("zxyzyxzyx")))
    for some, n_way, k_shot, k in ((data, 2, 1, 2), (nine, 2, 2, 3), (data, 3, 1, 1)):
        distances = oracle.given_distances(city_block(some.X))
        law = oracle.episodes(some.labels, n_way, k_shot)
        answer = oracle.classify(distances, some.labels, law, k, weigh=weigh, **ties)
        options = {"cv": Episodes(n_way, k_shot), **ties}
        found = evaluate(classifier(k, given), some.X, some.y, **options)
        assert_matches(found, answer, f"k={k}")
        exact = evaluate(classifier(k, given), some.X, some.y, exact=True, **options)
        assert_matches_exactly(exact, answer, f"k={k}")


@every_weight
def test_a_curve_over_episodes(weights):
    given, weigh = weights
    data, ks = dataset("heavy ties", "4 classes"), range(1, 4)
    distances = oracle.given_distances(city_block(data.X))
    law = oracle.episodes(data.labels, 3, 1)
    expected = [oracle.classify(distances, data.labels, law, k, weigh=weigh).score for k in ks]
    options = {"n_neighbors": ks, "cv": Episodes(3, 1)}
    check_curve(validation_curve(classifier(1, given), data.X, data.y, **options), ks, expected)


@every_weight
def test_a_fixed_test_set_of_episodes(weights):
    given, weigh = weights
    X, y = np.array([[0], [1], [4], [9], [3], [7]]), np.array(list("abcabc"))
    X_test, y_test = np.array([[2], [5], [8]]), np.array(list("bca"))
    labels, distances = (*y, *y_test), oracle.given_distances(city_block(np.vstack([X, X_test])))
    law = [
        Split(Fraction(1, 2 * 4 * 3), train, (question,))
        for question in range(6, 9)
        for train in combinations(range(6), 2)
        if labels[train[0]] != labels[train[1]] and labels[question] in [labels[i] for i in train]
    ]
    answer = oracle.classify(distances, labels, law, 2, weigh=weigh)
    options = {"cv": Episodes(2, 1), "X_test": X_test, "y_test": y_test}
    found = evaluate(classifier(2, given), X, y, **options)
    assert_close(found.score, answer.score, "fixed test set")
    assert evaluate(classifier(2, given), X, y, exact=True, **options).fraction == answer.score
