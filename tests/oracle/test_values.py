"""Values of samples against the enumeration of every training set, in Fractions."""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations
from math import factorial

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeavePOut, ShuffleSplit, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import Bernoulli, ClassCounts, FixedSize, sample_values
from oracle import enumerate as oracle
from oracle.checks import every_distance_tie, every_tie
from oracle.datasets import DATASETS, N, dataset

every_dataset = pytest.mark.parametrize("data", DATASETS, ids=str)
#: Sums of at most eight rows, none of which is worth more than 1.
TOLERANCE = 1e-13


# ------------------------------------------------------------------------------------ the truth


def right(labels, own, voters, share: bool) -> Fraction:
    """What the vote gives to the own class; nobody names no class."""
    if not voters:
        return Fraction(0)
    votes = Counter(labels[i] for i in voters)
    tied = [label for label, count in votes.items() if count == max(votes.values())]
    if share:
        return Fraction(own in tied, len(tied))
    return Fraction(min(tied) == own)


class Utility:
    """What a set of training samples is worth for a question, orders of the tied averaged."""

    def __init__(self, distances, labels, k, *, distance_ties="average", label_ties="first"):
        self.distances, self.labels, self.k = distances, labels, k
        self.distance_ties, self.share = distance_ties, label_ties == "share"
        self.cached = cache(self._worth)

    def __call__(self, question: int, train) -> Fraction:
        return self.cached(question, tuple(sorted(train)))

    def _worth(self, question, train):
        if not train:
            return self.of_voters(question, ())
        row = tuple(self.distances[question])
        sets = oracle.nearest(row, train, self.k, self.distance_ties)
        return oracle.mean([self.of_voters(question, voters) for voters in sets])

    def of_voters(self, question, voters):
        return right(self.labels, self.labels[question], voters, self.share)


class Recall(Utility):
    def of_voters(self, question, voters):
        return Fraction(any(self.labels[i] == self.labels[question] for i in voters))


class SoftVote(Utility):
    def of_voters(self, question, voters):
        return Fraction(sum(self.labels[i] == self.labels[question] for i in voters), self.k)


class SquaredError(Utility):
    """Nobody: the mean of all candidates is predicted."""

    def __init__(self, *args, candidates, **ties):
        super().__init__(*args, **ties)
        self.candidates = candidates

    def of_voters(self, question, voters):
        voters = voters or self.candidates(question)
        mean = Fraction(sum(self.labels[i] for i in voters)) / len(voters)
        return -((self.labels[question] - mean) ** 2)


def influences(law: oracle.Law, utility, n: int) -> list[Fraction]:
    """Σ_i (weight of i) · (P(right | r in) - P(right | r out)), over all splits with i tested."""
    of_question: dict[int, list] = {}
    for split in law:
        for i in split.test:
            weight = split.weight / len(split.test)
            of_question.setdefault(i, []).append((weight, set(split.train), split.train))
    values = [Fraction(0)] * n
    for i, splits in of_question.items():
        total = sum(weight for weight, _, _ in splits)
        for r in set(range(n)) - {i}:
            means = []
            for inside in (True, False):
                some = [(w, t) for w, members, t in splits if (r in members) == inside]
                assert some, "r must be both in training and out of it"
                chance = sum(w for w, _ in some)
                means.append(sum(w * utility(i, t) for w, t in some) / chance)
            values[r] += total * (means[0] - means[1])
    return values


def semivalues(utility, candidates_of, questions, n: int, share) -> list[Fraction]:
    """Mean over the questions of Σ_S share(|S|, N) · (worth of S with r - worth of S)."""
    values = [Fraction(0)] * n
    for i in questions:
        candidates = candidates_of(i)
        for r in candidates:
            others = [j for j in candidates if j != r]
            for size in range(len(others) + 1):
                for some in combinations(others, size):
                    gain = utility(i, (*some, r)) - utility(i, some)
                    values[r] += share(size, len(candidates)) * gain / len(questions)
    return values


def shapley_share(size: int, n: int) -> Fraction:
    """The share of orders in which exactly such a set comes before a sample."""
    return Fraction(factorial(size) * factorial(n - 1 - size), factorial(n))


def banzhaf_share(size: int, n: int) -> Fraction:
    return Fraction(1, 2 ** (n - 1))


def others(i: int) -> list[int]:
    return [j for j in range(N) if j != i]


def test_shapley_shares_are_those_of_all_orders():
    """The oracle's own share of a set, by counting the orders of five samples."""
    orders = list(permutations(range(5)))
    for size in range(5):
        before = sum(set(order[: order.index(4)]) == set(range(size)) for order in orders)
        assert shapley_share(size, 5) == Fraction(before, len(orders))


# --------------------------------------------------------------------------------------- checks


def check(expected, estimator, X, y, **options):
    found = sample_values(estimator, X, y, **options)
    np.testing.assert_allclose(
        found.values, [float(e) for e in expected], rtol=0, atol=max(found.error_bound, TOLERANCE)
    )
    assert found.error_bound < 1e-11 * max(1.0, *(abs(float(e)) for e in expected))
    assert found.fractions is None
    exact = sample_values(estimator, X, y, exact=True, **options)
    assert list(exact.fractions) == list(expected)
    assert exact.error_bound == 0
    return found


FIXED = [
    (FixedSize(3), oracle.fixed_size(N, 3)),
    (LeavePOut(2), oracle.fixed_size(N, N - 2)),
    (KFold(3), oracle.folds(N, 3)),
    (ShuffleSplit(test_size=2, train_size=4), oracle.train_and_test_size(N, 4, 2)),
]


@every_dataset
@every_tie
def test_influence_under_fixed_sizes(data, ties):
    for k, (cv, law) in zip((1, 2, 3, 4), FIXED, strict=True):
        utility = Utility(data.distances, data.labels, k, **ties)
        expected = influences(law, utility, N)
        # One in means another out: everybody's influence on a question adds up to nothing.
        if len({len(split.train) for split in law}) == 1:
            assert sum(expected) == 0
        check(expected, KNeighborsClassifier(k), data.X, data.y, cv=cv, **ties)


@every_dataset
@every_tie
def test_influence_under_independent_draws(data, ties):
    for k, q in ((1, Fraction(1, 2)), (2, Fraction(2, 3)), (3, Fraction(1, 4))):
        utility = Utility(data.distances, data.labels, k, **ties)
        expected = influences(oracle.bernoulli(N, q, k), utility, N)
        check(expected, KNeighborsClassifier(k), data.X, data.y, cv=Bernoulli(q), **ties)


@pytest.mark.parametrize("points", ["no ties", "duplicates", "heavy ties", "all equally far"])
@every_tie
def test_influence_under_class_counts(points, ties):
    data = dataset(points, "2 classes")
    for counts in ({0: 2, 1: 2}, {0: 1, 1: 2}):
        law = oracle.class_counts(data.labels, counts)
        for k in (1, 2, 3):
            utility = Utility(data.distances, data.labels, k, **ties)
            expected = influences(law, utility, N)
            check(expected, KNeighborsClassifier(k), data.X, data.y, cv=ClassCounts(counts), **ties)


@pytest.mark.parametrize("points", ["no ties", "heavy ties"])
@every_tie
def test_influence_under_stratified_folds_of_unequal_counts(points, ties):
    data = dataset(points, "2 classes, unbalanced")
    y = np.array([5, 5, -2, 5, -2, -2, 5, 5])
    law = oracle.stratified_folds(tuple(y.tolist()), 2)
    for k in (1, 2, 3):
        utility = Utility(data.distances, tuple(y.tolist()), k, **ties)
        expected = influences(law, utility, N)
        check(expected, KNeighborsClassifier(k), data.X, y, cv=StratifiedKFold(2), **ties)


@every_dataset
@every_tie
@pytest.mark.parametrize("method", ["shapley", "banzhaf"])
def test_semivalues_of_the_vote(data, ties, method):
    share = shapley_share if method == "shapley" else banzhaf_share
    for k in (2, 3, 7) if method == "shapley" else (1, 3):
        utility = Utility(data.distances, data.labels, k, **ties)
        expected = semivalues(utility, others, range(N), N, share)
        found = check(expected, KNeighborsClassifier(k), data.X, data.y, method=method, **ties)
        if method == "shapley":
            # Efficiency: leave-one-out accuracy, minus 0 for nobody.
            of_all = oracle.mean([utility(i, others(i)) for i in range(N)])
            assert sum(expected) == of_all
            assert found.values.sum() == pytest.approx(float(of_all), abs=1e-12)


@every_dataset
@every_distance_tie
def test_soft_shapley(data, distance_ties):
    for k in (1, 2, 3, 7):
        utility = SoftVote(data.distances, data.labels, k, distance_ties=distance_ties)
        expected = semivalues(utility, others, range(N), N, shapley_share)
        options = {"method": "soft_shapley", "distance_ties": distance_ties}
        check(expected, KNeighborsClassifier(k), data.X, data.y, **options)


@every_dataset
@every_distance_tie
def test_values_on_recall(data, distance_ties):
    for rank in (1, 2, 4):
        utility = Recall(data.distances, data.labels, rank, distance_ties=distance_ties)
        options = {"scoring": f"recall@{rank}", "distance_ties": distance_ties}
        knn = KNeighborsClassifier(1)
        expected = influences(oracle.fixed_size(N, 4), utility, N)
        check(expected, knn, data.X, data.y, cv=FixedSize(4), **options)
        # A training set smaller than R is looked at whole.
        expected = influences(oracle.folds(N, 3), utility, N)
        check(expected, knn, data.X, data.y, cv=KFold(3), **options)
        for method, share in (("shapley", shapley_share), ("banzhaf", banzhaf_share)):
            expected = semivalues(utility, others, range(N), N, share)
            check(expected, knn, data.X, data.y, method=method, **options)


@pytest.mark.parametrize("points", ["no ties", "duplicates", "heavy ties", "all equally far"])
@every_distance_tie
@pytest.mark.parametrize("scale", [1, 2**40, Fraction(1, 2**40)], ids=["plain", "large", "small"])
def test_values_on_squared_errors(points, distance_ties, scale):
    data = dataset(points, "2 classes")
    targets = [scale * t for t in (3, -1, 4, 1, -5, 9, 2, 6)]
    y = [float(t) for t in targets]
    for k in (1, 2, 4):
        utility = SquaredError(
            data.distances, targets, k, candidates=others, distance_ties=distance_ties
        )
        knn, options = KNeighborsRegressor(k), {"distance_ties": distance_ties}
        unit = float(scale) ** 2
        cases = [
            (influences(oracle.fixed_size(N, 5), utility, N), {"cv": FixedSize(5)}),
            (influences(oracle.folds(N, 3), utility, N), {"cv": KFold(3)}),
            (semivalues(utility, others, range(N), N, shapley_share), {"method": "shapley"}),
            (semivalues(utility, others, range(N), N, banzhaf_share), {"method": "banzhaf"}),
        ]
        for expected, how in cases:
            found = sample_values(knn, data.X, y, **how, **options)
            np.testing.assert_allclose(
                found.values / unit, [float(e / scale**2) for e in expected], rtol=0, atol=1e-12
            )
            exact = sample_values(knn, data.X, y, exact=True, **how, **options)
            assert list(exact.fractions) == expected


@pytest.mark.parametrize("points", ["no ties", "heavy ties"])
@every_tie
def test_questions_from_outside(points, ties):
    """The last three samples ask, the first five answer."""
    data = dataset(points, "3 classes")
    n = 5
    X, y = data.X[:n], data.y[:n]
    tests = {"X_test": data.X[n:], "y_test": data.y[n:]}
    questions, candidates = range(n, N), list(range(n))
    for k in (1, 2, 3):
        utility = Utility(data.distances, data.labels, k, **ties)
        knn = KNeighborsClassifier(k)
        for method, share in (("shapley", shapley_share), ("banzhaf", banzhaf_share)):
            expected = semivalues(utility, lambda i: candidates, questions, n, share)
            check(expected, knn, X, y, method=method, **tests, **ties)
        law = [
            oracle.Split(Fraction(1, 5), train, tuple(questions))
            for train in combinations(candidates, 4)
        ]
        expected = influences(law, utility, n)
        check(expected, knn, X, y, cv=LeavePOut(1), **tests, **ties)


@pytest.mark.parametrize("points", ["no ties", "duplicates", "heavy ties"])
@every_distance_tie
def test_soft_shapley_of_questions_from_outside(points, distance_ties):
    data = dataset(points, "3 classes")
    n = 5
    tests = {"X_test": data.X[n:], "y_test": data.y[n:]}
    for k in (1, 2, 3):
        utility = SoftVote(data.distances, data.labels, k, distance_ties=distance_ties)
        expected = semivalues(utility, lambda i: list(range(n)), range(n, N), n, shapley_share)
        options = {"method": "soft_shapley", "distance_ties": distance_ties, **tests}
        check(expected, KNeighborsClassifier(k), data.X[:n], data.y[:n], **options)


@every_distance_tie
def test_squared_errors_of_questions_from_outside(distance_ties):
    """Without neighbours the mean of the five who answer is predicted."""
    data, n = dataset("heavy ties", "3 classes"), 5
    targets, candidates = (3, -1, 4, 1, -5, 9, 2, 6), list(range(5))
    tests = {"X_test": data.X[n:], "y_test": targets[n:], "distance_ties": distance_ties}
    utility = SquaredError(
        data.distances, targets, 2, candidates=lambda i: candidates, distance_ties=distance_ties
    )
    for method, share in (("shapley", shapley_share), ("banzhaf", banzhaf_share)):
        expected = semivalues(utility, lambda i: candidates, range(n, N), n, share)
        check(expected, KNeighborsRegressor(2), data.X[:n], targets[:n], method=method, **tests)


def test_questions_from_outside_under_class_counts():
    X, y = [[0], [1], [2], [3], [5]], [0, 1, 0, 1, 1]
    X_test, y_test = [[1], [4]], [1, 0]
    labels = (*y, *y_test)
    distances = oracle.squared_distances([*X, *X_test])
    trains = [t for t in combinations(range(5), 2) if {y[i] for i in t} == {0, 1}]
    law = oracle.equally_likely((train, (5, 6)) for train in trains)
    for k in (1, 2):
        expected = influences(law, Utility(distances, labels, k), 5)
        options = {"cv": ClassCounts(1), "X_test": X_test, "y_test": y_test}
        check(expected, KNeighborsClassifier(k), X, y, **options)


def test_balanced_accuracy_counts_classes_equally():
    data = dataset("duplicates", "3 classes, unbalanced")
    utility = Utility(data.distances, data.labels, 2)
    sizes = Counter(data.labels)
    # Samples of each class count equally, over all splits.
    weights = {i: Fraction(1, 3 * sizes[data.labels[i]]) for i in range(N)}
    law = [
        oracle.Split(weights[i] / 21, train, (i,))
        for i in range(N)
        for train in combinations(others(i), 5)
    ]
    expected = influences(law, utility, N)
    options = {"cv": FixedSize(5), "scoring": "balanced_accuracy"}
    check(expected, KNeighborsClassifier(2), data.X, data.y, **options)


def test_twins_are_worth_the_same():
    """Symmetry: samples in one place, of one class, that ask alike."""
    X = [[0.0], [0.0], [1.0], [2.0], [2.0], [5.0]]
    y = [0, 0, 1, 1, 1, 0]
    for method in ("influence", "shapley", "banzhaf", "soft_shapley"):
        cv = FixedSize(3) if method == "influence" else None
        found = sample_values(KNeighborsClassifier(2), X, y, cv=cv, method=method, exact=True)
        assert found.fractions[0] == found.fractions[1]
        assert found.fractions[3] == found.fractions[4]
