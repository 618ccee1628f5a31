"""The score with each sample gone, against the enumeration of the smaller data set."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from sklearn.model_selection import (
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    LeavePGroupsOut,
    LeavePOut,
    StratifiedKFold,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import Bernoulli, Bootstrap, ClassCounts, FixedSize, evaluate
from oracle import enumerate as oracle
from oracle.checks import every_distance_tie, every_tie
from oracle.datasets import DATASETS, N, dataset

every_dataset = pytest.mark.parametrize("data", DATASETS, ids=str)
#: Nothing deeper is left out in such small data; values are sums of at most eight rows.
TOLERANCE = 1e-12


def fewer(train: int, size: int) -> int:
    """The rule: the smaller of training and test set stays as it is."""
    return train - 1 if 2 * train >= size else train


def without(data, sample: int):
    """Distances and labels of the other samples."""
    rest = oracle.all_but(data.n, [sample])
    distances = tuple(tuple(data.distances[i][j] for j in rest) for i in rest)
    return distances, tuple(data.labels[i] for i in rest)


def counted_twice(answers, scopes) -> Fraction:
    """What samples change in each other's rows, squared: rows set against their means.

    `answers` are those of the data without each unit; unit j changes what row i adds to the score.
    Means are over units of one scope.
    """
    n, total = len(answers), Fraction(0)
    for i in range(n):
        for scope in set(scopes):
            adds = []
            for j in range(n):
                if j != i and scopes[j] == scope:
                    row, answer = i - (j < i), answers[j]
                    adds.append(answer.sample_weight[row] * (answer.sample_scores[row] or 0))
            if adds:
                total += sum((one - oracle.mean(adds)) ** 2 for one in adds)
    return Fraction(n - 1, n) * total


def check_answers(found, answers, scopes=None):
    """Scores without each sample, and what these change in each other's rows."""
    check(found, [answer.score for answer in answers])
    twice = float(counted_twice(answers, scopes or [0] * len(answers)))
    assert found.moves.counted_twice == pytest.approx(twice, abs=1e-12, rel=1e-9)
    if found.n_neighbors == 2:
        assert found.paired_moves().changes.squares == pytest.approx(twice, abs=1e-12, rel=1e-9)


def check(found, expected, exact=None):
    assert found.without_one is not None
    np.testing.assert_allclose(
        found.without_one, [float(e) for e in expected], rtol=0, atol=TOLERANCE
    )
    n, mean = len(expected), oracle.mean(expected)
    variance = Fraction(n - 1, n) * sum((e - mean) ** 2 for e in expected)
    jackknife = found.interval(method="jackknife")
    assert jackknife.standard_error == pytest.approx(float(variance) ** 0.5, abs=1e-9)
    if exact is not None:
        assert list(exact.fractions_without_one) == list(expected)
        assert exact.jackknife_variance == variance


#: (cv, training sizes of the smaller data with their weights)
FIXED_SIZE_LAWS = [
    (FixedSize(3), [(1, fewer(3, N))]),
    (FixedSize(4), [(1, fewer(4, N))]),
    (LeavePOut(2), [(1, N - 3)]),
    (LeaveOneOut(), [(1, N - 2)]),
    (KFold(3), [(Fraction(2, 3), fewer(5, N)), (Fraction(1, 3), fewer(6, N))]),
]

every_fixed_size = pytest.mark.parametrize(
    ("cv", "sizes"), FIXED_SIZE_LAWS, ids=["3-of-8", "4-of-8", "leave-2", "leave-1", "3-folds"]
)


def mixture(n: int, sizes) -> oracle.Law:
    return [
        split._replace(weight=weight * split.weight)
        for weight, train in sizes
        for split in oracle.fixed_size(n, train)
    ]


@every_tie
@every_fixed_size
@every_dataset
def test_equal_votes_of_fixed_size(data, cv, sizes, ties):
    law = mixture(data.n - 1, sizes)
    for k in (1, 2, 3):
        answers = [oracle.classify(*without(data, j), law, k, **ties) for j in range(data.n)]
        found = evaluate(KNeighborsClassifier(k), data.X, data.y, cv=cv, **ties)
        check_answers(found, answers)


@every_tie
@pytest.mark.parametrize("points", ["no ties", "heavy ties"])
def test_fractions(points, ties):
    data = dataset(points, "3 classes")
    law = oracle.fixed_size(data.n - 1, 5)
    expected = [oracle.classify(*without(data, j), law, 2, **ties).score for j in range(data.n)]
    options = {"cv": LeavePOut(2), **ties}
    exact = evaluate(KNeighborsClassifier(2), data.X, data.y, exact=True, **options)
    check(exact, expected, exact)


@every_fixed_size
@every_dataset
def test_balanced_accuracy(data, cv, sizes):
    """Classes count equally; one that is gone with its only sample counts no longer."""
    law = mixture(data.n - 1, sizes)
    answers = []
    for j in range(data.n):
        distances, labels = without(data, j)
        answers.append(classes_equally(oracle.classify(distances, labels, law, 2), labels))
    found = evaluate(KNeighborsClassifier(2), data.X, data.y, cv=cv, scoring="balanced_accuracy")
    check_answers(found, answers, data.labels)


def classes_equally(answer, labels):
    """The mean over classes of the mean scores of their samples."""
    sizes = Counter(labels)
    weight = [Fraction(1, len(sizes) * sizes[label]) for label in labels]
    score = oracle.weighted_sum(weight, answer.sample_scores)
    return replace(answer, sample_weight=weight, score=score)


@every_distance_tie
@every_fixed_size
@every_dataset
def test_recall_at_rank(data, cv, sizes, distance_ties):
    law = mixture(data.n - 1, sizes)
    for rank in (1, 3):
        answers = [
            oracle.recall(*without(data, j), law, rank, distance_ties=distance_ties)
            for j in range(data.n)
        ]
        found = evaluate(
            KNeighborsClassifier(1), data.X, data.y, cv=cv, scoring=f"recall@{rank}",
            distance_ties=distance_ties,
        )  # fmt: skip
        check_answers(found, answers)


@every_distance_tie
@every_fixed_size
@pytest.mark.parametrize("points", ["no ties", "duplicates", "heavy ties", "all equally far"])
def test_regression(points, cv, sizes, distance_ties):
    data = dataset(points, "2 classes")
    targets = np.array([1, -3, 4, 4, 0, 10, -2, 7])
    law = mixture(data.n - 1, sizes)
    for k in (1, 2, 3):
        answers = []
        for j in range(data.n):
            distances, _ = without(data, j)
            rest = [int(targets[i]) for i in oracle.all_but(data.n, [j])]
            answers.append(oracle.regress(distances, rest, law, k, distance_ties=distance_ties))
        expected = [answer.score for answer in answers]
        found = evaluate(
            KNeighborsRegressor(k), data.X, targets, cv=cv, distance_ties=distance_ties
        )
        n, mean = len(expected), oracle.mean(expected)
        np.testing.assert_allclose(
            found.without_one, [float(e) for e in expected], rtol=1e-12, atol=1e-10
        )
        variance = Fraction(n - 1, n) * sum((e - mean) ** 2 for e in expected)
        jackknife = found.interval(method="jackknife")
        assert jackknife.standard_error == pytest.approx(float(variance) ** 0.5, rel=1e-9)
        twice = float(counted_twice(answers, [0] * n))
        assert found.moves.counted_twice == pytest.approx(twice, rel=1e-9, abs=1e-10)


def counts_without(labels, sample: int, components):
    """The law of class counts when a sample is gone: (weight, train, test) of each component."""
    rest = [label for i, label in enumerate(labels) if i != sample]
    gone, size = labels[sample], Counter(labels)[labels[sample]]
    law = []
    for weight, train, test in components:
        train, test = dict(train), dict(test)
        train[gone] = min(fewer(train[gone], size), size - 1)
        test[gone] = min(test[gone], size - 1 - train[gone])
        if size == 1:
            del train[gone], test[gone]
        law += oracle.class_counts(rest, train, test, weight=weight)
    return law


def check_class_counts(data, cv, components, ties, ks=(1, 2, 3), scoring="accuracy"):
    for k in ks:
        answers = []
        for j in range(data.n):
            law = counts_without(data.labels, j, components)
            distances, labels = without(data, j)
            if scoring == "balanced_accuracy":
                law = oracle.classes_equally(law, labels)
            answers.append(oracle.classify(distances, labels, law, k, **ties))
        found = evaluate(KNeighborsClassifier(k), data.X, data.y, cv=cv, scoring=scoring, **ties)
        check_answers(found, answers, data.labels)


@pytest.mark.filterwarnings("ignore:The least populated class")
@every_tie
@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy"])
@every_dataset
def test_stratified_folds(data, ties, scoring):
    sizes = Counter(data.labels)
    components = [
        (Fraction(1, 2), {label: sizes[label] - test[label] for label in sizes}, test)
        for test in oracle.stratified_fold_counts(data.labels, 2)
    ]
    check_class_counts(data, StratifiedKFold(2), components, ties, (1, 2), scoring)


@every_tie
@every_dataset
def test_class_counts(data, ties):
    sizes = Counter(data.labels)
    train = {label: max(1, size // 2) for label, size in sizes.items()}
    test = {label: size - train[label] for label, size in sizes.items()}
    # A class of one sample, all of it in training, or the law has nothing left to test.
    check_class_counts(data, ClassCounts(train), [(Fraction(1), train, test)], ties, (1, 2))


@every_tie
@pytest.mark.parametrize("points", ["no ties", "duplicates", "heavy ties"])
def test_bernoulli(points, ties):
    data = dataset(points, "3 classes")
    rest = data.n - 1
    for k in (1, 2):
        law, cv = oracle.bernoulli(rest, Fraction(1, 3), k), Bernoulli(Fraction(1, 3))
        answers = [oracle.classify(*without(data, j), law, k, **ties) for j in range(data.n)]
        check_answers(evaluate(KNeighborsClassifier(k), data.X, data.y, cv=cv, **ties), answers)


@every_tie
def test_bootstrap(ties):
    data = dataset("heavy ties", "3 classes")
    small = data._replace(X=data.X[:6], y=data.y[:6])
    law = oracle.bootstrap(5)
    answers = [oracle.classify(*without(small, j), law, 2, **ties) for j in range(6)]
    found = evaluate(KNeighborsClassifier(2), small.X, small.y, cv=Bootstrap(), **ties)
    check_answers(found, answers)


@every_tie
@pytest.mark.parametrize("points", ["no ties", "duplicates", "heavy ties"])
@pytest.mark.parametrize(
    ("cv", "n_test"), [(LeaveOneGroupOut(), 1), (LeavePGroupsOut(2), 2)], ids=["one", "two"]
)
def test_whole_groups(points, cv, n_test, ties):
    data = dataset(points, "3 classes")
    groups = [0, 0, 1, 1, 1, 2, 3, 3]
    answers = []
    for group in range(4):
        rest = [i for i in range(data.n) if groups[i] != group]
        distances = tuple(tuple(data.distances[i][j] for j in rest) for i in rest)
        labels = tuple(data.labels[i] for i in rest)
        # Of four groups the test groups stay where they are the smaller part.
        law = oracle.group_subsets([groups[i] for i in rest], n_test)
        answers.append(oracle.classify(distances, labels, law, 1, **ties))
    found = evaluate(KNeighborsClassifier(1), data.X, data.y, cv=cv, groups=groups, **ties)
    expected = [answer.score for answer in answers]
    check(found, expected)
    assert found.interval().unit == "groups"
    assert found.interval().n_units == 4
    exact = evaluate(
        KNeighborsClassifier(1), data.X, data.y, cv=cv, groups=groups, exact=True, **ties
    )
    check(exact, expected, exact)
    twice = float(counted_twice_by_groups(answers, groups))
    assert found.moves.counted_twice == pytest.approx(twice, abs=1e-12, rel=1e-9)
    assert found.paired_moves().changes.squares == pytest.approx(twice, abs=1e-12, rel=1e-9)


def counted_twice_by_groups(answers, groups) -> Fraction:
    """The same for whole groups: what each adds, by the mean weights of its samples."""
    every = range(len(answers))
    adds = {}
    for own in every:
        total = {gone: Fraction(0) for gone in every if gone != own}
        for i in [i for i, group in enumerate(groups) if group == own]:
            places = {
                gone: sum(group != gone for group in groups[:i]) for gone in every if gone != own
            }
            weight = oracle.mean(answers[g].sample_weight[p] for g, p in places.items())
            for gone, place in places.items():
                total[gone] += weight * (answers[gone].sample_scores[place] or 0)
        adds[own] = list(total.values())
    centred = [one - oracle.mean(line) for line in adds.values() for one in line]
    return Fraction(len(answers) - 1, len(answers)) * sum(one**2 for one in centred)
