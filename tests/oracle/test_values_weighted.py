"""Influences of weighted votes and means against the enumeration of every training set."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeavePOut, ShuffleSplit, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import Bernoulli, ClassCounts, FixedSize, sample_values
from oracle import enumerate as oracle
from oracle.checks import every_distance_tie, every_tie
from oracle.datasets import N, dataset
from oracle.test_values import (
    Utility,
    banzhaf_share,
    influences,
    others,
    semivalues,
    shapley_share,
)
from oracle.test_weighted import POSITIVE, TARGETS, city_block, every_weight

POINTS = ["no ties", "heavy ties", "duplicates"]
FIXED = [
    (FixedSize(4), oracle.fixed_size(N, 4)),
    (LeavePOut(2), oracle.fixed_size(N, N - 2)),
    (KFold(3), oracle.folds(N, 3)),
    (ShuffleSplit(test_size=2, train_size=4), oracle.train_and_test_size(N, 4, 2)),
]


SEMIVALUES = {"shapley": shapley_share, "banzhaf": banzhaf_share}


class WeightedVote(Utility):
    def __init__(self, *args, weigh, **ties):
        super().__init__(*args, **ties)
        self.weigh, self.classes = weigh, sorted(set(self.labels))
        self.label_ties = "share" if self.share else "first"

    def of_voters(self, question, voters):
        if not voters:
            return Fraction(0)
        weights = self.weigh([self.distances[question][i] for i in voters])
        labels = tuple(self.labels[i] for i in voters)
        won = oracle.heaviest(labels, weights, self.classes, self.label_ties)
        return Fraction(self.labels[question] in won, len(won))


class WeightedMean(Utility):
    def __init__(self, *args, weigh, **ties):
        super().__init__(*args, **ties)
        self.weigh, self.candidates = weigh, others

    def of_voters(self, question, voters):
        if not voters:
            voters = self.candidates(question)
            mean = Fraction(sum(self.labels[i] for i in voters), len(voters))
            return -((self.labels[question] - mean) ** 2)
        weights = self.weigh([self.distances[question][i] for i in voters])
        total = sum(w * self.labels[i] for w, i in zip(weights, voters, strict=True))
        return -((self.labels[question] - total / sum(weights)) ** 2)


def check(expected, largest: float, estimator, X, y, **options) -> None:
    """Floats within their bound, and Fractions to the digit."""
    found = sample_values(estimator, X, y, **options)
    np.testing.assert_allclose(
        found.values, [float(e) for e in expected], rtol=0, atol=found.error_bound
    )
    assert found.error_bound < largest
    exact = sample_values(estimator, X, y, exact=True, **options)
    assert list(exact.fractions) == list(expected)
    assert exact.error_bound == 0


def classifier(k, weights):
    return KNeighborsClassifier(k, weights=weights, metric="manhattan")


def regressor(k, weights):
    return KNeighborsRegressor(k, weights=weights, metric="manhattan")


def vote_of(data, k, weights, ties):
    distances = oracle.given_distances(city_block(data.X))
    return WeightedVote(distances, data.labels, k, weigh=weights[1], **ties)


@every_tie
@every_weight
@pytest.mark.parametrize("points", POINTS)
def test_votes_under_fixed_sizes(points, weights, ties):
    data = dataset(points, "3 classes")
    for k, (cv, law) in zip((2, 3, 4, 1), FIXED, strict=True):
        expected = influences(law, vote_of(data, k, weights, ties), N)
        check(expected, 1e-10, classifier(k, weights[0]), data.X, data.y, cv=cv, **ties)


@every_tie
@every_weight
@pytest.mark.parametrize("points", ["duplicates", "heavy ties"])
def test_votes_under_independent_draws(points, weights, ties):
    data = dataset(points, "3 classes, unbalanced")
    k, q = (3, Fraction(1, 4)) if points == "duplicates" else (2, Fraction(2, 3))
    expected = influences(oracle.bernoulli(N, q, k), vote_of(data, k, weights, ties), N)
    knn = classifier(k, weights[0])
    check(expected, 1e-10, knn, data.X, data.y, cv=Bernoulli(q), **ties)


@every_tie
@every_weight
@pytest.mark.parametrize("points", ["duplicates", "heavy ties"])
def test_votes_under_class_counts(points, weights, ties):
    data = dataset(points, "2 classes")
    # Nine samples: others of each of three classes must be in training, and out of it.
    nine = data._replace(X=np.vstack([data.X, data.X[:1] + 1]), y=np.array(list("zxyzyxzyx")))
    for some, counts, k in ((data, {0: 2, 1: 1}, 2), (nine, {"x": 1, "y": 1, "z": 1}, 3)):
        law = oracle.class_counts(some.labels, counts)
        expected = influences(law, vote_of(some, k, weights, ties), some.n)
        knn = classifier(k, weights[0])
        check(expected, 1e-10, knn, some.X, some.y, cv=ClassCounts(counts), **ties)


@every_tie
@every_weight
def test_votes_under_stratified_folds_of_unequal_counts(weights, ties):
    data = dataset("heavy ties", "2 classes, unbalanced")
    data = data._replace(y=np.array([5, 5, -2, 5, -2, -2, 5, 5]))
    law = oracle.stratified_folds(data.labels, 2)
    expected = influences(law, vote_of(data, 3, weights, ties), N)
    knn = classifier(3, weights[0])
    check(expected, 1e-10, knn, data.X, data.y, cv=StratifiedKFold(2), **ties)


@every_tie
@every_weight
@pytest.mark.parametrize("method", SEMIVALUES)
def test_semivalues_of_votes(method, weights, ties):
    """Small sets vote as a whole; a class of one sample vanishes from most sets."""
    for points, labels, k in (
        ("duplicates", "3 classes, one of one sample", 3),
        ("heavy ties", "2 classes", 2 if method == "shapley" else 7),
    ):
        data = dataset(points, labels)
        utility = vote_of(data, k, weights, ties)
        expected = semivalues(utility, others, range(N), N, SEMIVALUES[method])
        knn = classifier(k, weights[0])
        check(expected, 1e-10, knn, data.X, data.y, method=method, **ties)


@every_distance_tie
@pytest.mark.parametrize("weights", POSITIVE)
@pytest.mark.parametrize("points", POINTS)
def test_means(points, weights, distance_ties):
    given, weigh = weights
    X = dataset(points, "3 classes").X
    distances = oracle.given_distances(city_block(X))
    largest = 1e-6 * float(np.ptp(TARGETS)) ** 2

    def utility(k):
        ties = {"distance_ties": distance_ties}
        return WeightedMean(distances, tuple(TARGETS), k, weigh=weigh, **ties)

    cases = [
        (k, {"cv": cv}, influences(law, utility(k), N))
        for k, (cv, law) in zip((2, 3, 4, 1), FIXED, strict=True)
    ]
    draws = oracle.bernoulli(N, Fraction(1, 3), 2)
    cases.append((2, {"cv": Bernoulli(Fraction(1, 3))}, influences(draws, utility(2), N)))
    for method, share in SEMIVALUES.items():
        expected = semivalues(utility(3), others, range(N), N, share)
        cases.append((3, {"method": method}, expected))
    for k, how, expected in cases:
        knn, how = regressor(k, given), {"distance_ties": distance_ties, **how}
        check(expected, largest, knn, X, TARGETS, **how)


@every_tie
@every_weight
def test_questions_from_outside(weights, ties):
    """The last three samples ask, the first five answer."""
    data, n = dataset("heavy ties", "3 classes"), 5
    X, y = data.X[:n], data.y[:n]
    tests = {"X_test": data.X[n:], "y_test": data.y[n:]}
    questions, candidates = tuple(range(n, N)), list(range(n))
    utility, knn = vote_of(data, 2, weights, ties), classifier(2, weights[0])
    for method, share in SEMIVALUES.items():
        expected = semivalues(utility, lambda i: candidates, questions, n, share)
        check(expected, 1e-10, knn, X, y, method=method, **tests, **ties)
    trains = list(combinations(candidates, 3))
    law = oracle.equally_likely((train, questions) for train in trains)
    check(influences(law, utility, n), 1e-10, knn, X, y, cv=FixedSize(3), **tests, **ties)
    two = data._replace(y=np.array(list("ababaabb")))
    y, tests["y_test"] = two.y[:n], two.y[n:]
    utility = vote_of(two, 2, weights, ties)
    counted = [t for t in trains if sum(y[i] == "a" for i in t) == 2]
    law = oracle.equally_likely((train, questions) for train in counted)
    cv = ClassCounts({"a": 2, "b": 1})
    check(influences(law, utility, n), 1e-10, knn, X, y, cv=cv, **tests, **ties)


@pytest.mark.parametrize("weights", POSITIVE)
def test_means_of_questions_from_outside(weights):
    given, weigh = weights
    X, n = dataset("heavy ties", "3 classes").X, 5
    distances = oracle.given_distances(city_block(X))
    utility = WeightedMean(distances, tuple(TARGETS), 2, weigh=weigh)
    utility.candidates = lambda i: list(range(n))
    tests = {"X_test": X[n:], "y_test": TARGETS[n:]}
    for method, share in SEMIVALUES.items():
        expected = semivalues(utility, lambda i: list(range(n)), range(n, N), n, share)
        largest = 1e-6 * float(np.ptp(TARGETS)) ** 2
        check(
            expected, largest, regressor(2, given), X[:n], TARGETS[:n], method=method, **tests
        )  # fmt: skip


@every_tie
@every_weight
def test_scores_as_samples_leave(weights, ties):
    """Every sample asks, those that have left as well; nobody asks itself."""
    data = dataset("heavy ties", "3 classes")
    utility = vote_of(data, 3, weights, ties)
    values = sample_values(classifier(3, weights[0]), data.X, data.y, cv=FixedSize(5), **ties)
    curve = values.removal_curve(shares=[0, 0.25, 0.5])
    ranked = values.worst(N).tolist()
    for removed, score, bound in zip(curve.x, curve.scores, curve.error_bounds, strict=True):
        left = ranked[removed:]
        truth = oracle.mean([utility(i, [j for j in left if j != i]) for i in range(N)])
        assert score == pytest.approx(float(truth), abs=bound + 1e-12)
        assert bound < 1e-10


def test_scores_of_means_as_samples_leave():
    X = dataset("heavy ties", "3 classes").X
    distances = oracle.given_distances(city_block(X))
    utility = WeightedMean(distances, tuple(TARGETS), 3, weigh=oracle.one_over_distance)
    values = sample_values(regressor(3, "distance"), X, TARGETS, cv=FixedSize(5))
    curve = values.removal_curve(X[:3], TARGETS[:3], shares=[0, 0.5])
    for removed, score in zip(curve.x, curve.scores, strict=True):
        # Questions from outside: a sample may answer the question that stands in its place.
        left = values.worst(N).tolist()[removed:]
        truth = oracle.mean([utility(i, left) for i in range(3)])
        assert score == pytest.approx(float(truth), abs=1e-12)
