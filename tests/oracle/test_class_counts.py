"""Laws that fix the number of training items of every class, against the enumeration."""

from collections import Counter
from math import comb, prod

import pytest
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold, StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier

from allsplits import ClassCounts, cmc_curve, evaluate, learning_curve
from allsplits.exceptions import InvalidInputError
from oracle import enumerate as oracle
from oracle.checks import (
    check_accuracy,
    check_balanced_accuracy,
    check_curve,
    check_recall,
    check_validation_curve,
    every_distance_tie,
    every_geometry,
    every_tie,
    ks_to_try,
)
from oracle.compare import assert_matches
from oracle.datasets import dataset
from oracle.laws import name_of


def counts_law(counts):
    def law(labels):
        wanted = counts if isinstance(counts, dict) else dict.fromkeys(labels, counts)
        return oracle.class_counts(labels, wanted)

    return law


def folds_law(n_folds):
    return lambda labels: oracle.stratified_folds(labels, n_folds)


def shuffles_law(train_size, test_size):
    return lambda labels: oracle.stratified_shuffles(labels, train_size, test_size)


# (labels, splitter, enumeration). The class sizes are 4/4, 2/3/3, 2/2/2/2, 6/2 and 4/2/2.
CASES = [
    ("2 classes", ClassCounts(1), counts_law(1)),
    ("2 classes", ClassCounts(2), counts_law(2)),
    ("2 classes", ClassCounts(3), counts_law(3)),
    ("2 classes", ClassCounts({0: 1, 1: 3}), counts_law({0: 1, 1: 3})),
    ("3 classes", ClassCounts(1), counts_law(1)),
    ("3 classes", ClassCounts({"c": 2, "a": 1, "b": 1}), counts_law({"a": 1, "b": 1, "c": 2})),
    ("4 classes", ClassCounts(1), counts_law(1)),
    ("2 classes, unbalanced", ClassCounts({5: 4, -2: 1}), counts_law({5: 4, -2: 1})),
    ("3 classes, unbalanced", ClassCounts(1), counts_law(1)),
    (
        "3 classes, unbalanced",
        ClassCounts({"z": 3, "x": 1, "y": 1}),
        counts_law({"z": 3, "x": 1, "y": 1}),
    ),
    ("2 classes", StratifiedKFold(2), folds_law(2)),
    ("2 classes", StratifiedKFold(3, shuffle=True), folds_law(3)),
    ("2 classes", RepeatedStratifiedKFold(n_splits=4, n_repeats=3), folds_law(4)),
    ("3 classes", StratifiedKFold(2, shuffle=True, random_state=0), folds_law(2)),
    ("4 classes", StratifiedKFold(2), folds_law(2)),
    ("2 classes, unbalanced", StratifiedKFold(2), folds_law(2)),
    ("3 classes, unbalanced", StratifiedKFold(2), folds_law(2)),
    ("2 classes", StratifiedShuffleSplit(test_size=2), shuffles_law(6, 2)),
    ("2 classes", StratifiedShuffleSplit(test_size=3), shuffles_law(5, 3)),
    ("2 classes", StratifiedShuffleSplit(train_size=3, test_size=2), shuffles_law(3, 2)),
    ("2 classes", StratifiedShuffleSplit(train_size=0.5), shuffles_law(4, 4)),
    ("3 classes", StratifiedShuffleSplit(test_size=3), shuffles_law(5, 3)),
    ("3 classes", StratifiedShuffleSplit(test_size=0.5), shuffles_law(4, 4)),
    ("4 classes", StratifiedShuffleSplit(test_size=4), shuffles_law(4, 4)),
    ("3 classes, unbalanced", StratifiedShuffleSplit(test_size=3), shuffles_law(5, 3)),
]

every_case = pytest.mark.parametrize(
    ("labels", "cv", "enumeration"),
    CASES,
    ids=[f"{name_of(cv)}-{labels}" for labels, cv, _ in CASES],
)


@every_tie
@every_case
@every_geometry
def test_every_field_for_every_k(points, labels, cv, enumeration, ties):
    data = dataset(points, labels)
    law = enumeration(data.labels)
    for k in ks_to_try(law):
        check_accuracy(data, cv, law, k, **ties)


@every_distance_tie
@every_case
@every_geometry
def test_recall_at_every_rank(points, labels, cv, enumeration, distance_ties):
    data = dataset(points, labels)
    law = enumeration(data.labels)
    for rank in (1, 2, 3, 4):
        check_recall(data, cv, law, rank, distance_ties=distance_ties)


@every_tie
@every_case
@pytest.mark.parametrize("points", ["no ties", "heavy ties"])
def test_balanced_accuracy(points, labels, cv, enumeration, ties):
    """Every split tests a fixed number of each class: the mean over splits, as in scikit-learn."""
    data = dataset(points, labels)
    law = oracle.classes_equally(enumeration(data.labels), data.labels)
    expected = oracle.classify(data.distances, data.labels, law, 2, **ties).score
    check_balanced_accuracy(data, cv, expected, 2, **ties)


@every_tie
@every_case
@pytest.mark.parametrize("points", ["no ties", "heavy ties"])
def test_validation_curve_gives_every_k_at_once(points, labels, cv, enumeration, ties):
    data = dataset(points, labels)
    check_validation_curve(data, cv, enumeration(data.labels), **ties)


@pytest.mark.parametrize("points", ["no ties", "heavy ties"])
def test_a_class_that_is_always_in_training_is_not_tested(points):
    data = dataset(points, "3 classes, unbalanced")
    counts = {"z": 2, "x": 2, "y": 1}
    law = oracle.class_counts(data.labels, counts)
    answer = oracle.classify(data.distances, data.labels, law, 2)
    found = evaluate(KNeighborsClassifier(2), data.X, data.y, cv=ClassCounts(counts))
    assert_matches(found, answer)


@pytest.mark.parametrize("points", ["no ties", "heavy ties"])
@pytest.mark.parametrize("labels", ["2 classes", "3 classes", "2 classes, unbalanced"])
def test_an_integer_or_none_means_stratified_folds(points, labels):
    data = dataset(points, labels)
    law = oracle.stratified_folds(data.labels, 2)
    check_accuracy(data, 2, law, 3)


def test_none_means_five_stratified_folds():
    data = dataset("no ties", "2 classes")
    twice = data._replace(X=[*data.X, *(data.X + 1000)], y=[*data.y, *data.y])
    five = evaluate(KNeighborsClassifier(2), twice.X, twice.y, cv=StratifiedKFold(5)).score
    assert evaluate(KNeighborsClassifier(2), twice.X, twice.y).score == five
    assert evaluate(KNeighborsClassifier(2), twice.X, twice.y, cv=5).score == five


@pytest.mark.parametrize(
    ("labels", "cv", "test_counts"),
    [
        ("3 classes", ClassCounts(1), [{"a": 1, "b": 2, "c": 2}]),
        ("2 classes", StratifiedKFold(2), [{0: 2, 1: 2}]),
        # 4 and 4 samples in 3 folds: one fold has 2 of the first class, another 2 of the second
        ("2 classes", StratifiedKFold(3), [{0: 1, 1: 2}, {0: 2, 1: 1}, {0: 1, 1: 1}]),
    ],
    ids=str,
)
def test_number_of_splits(labels, cv, test_counts):
    data = dataset("no ties", labels)
    sizes = Counter(data.labels)
    expected = sum(
        prod(comb(sizes[label], count) for label, count in counts.items()) for counts in test_counts
    )
    assert evaluate(KNeighborsClassifier(1), data.X, data.y, cv=cv).n_splits == expected


@every_tie
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("labels", ["2 classes", "3 classes", "4 classes", "3 classes, unbalanced"])
@every_geometry
def test_learning_curve_gives_every_number_of_shots_at_once(points, labels, k, ties):
    data = dataset(points, labels)
    shots = range(1, min(Counter(data.labels).values()))
    expected = [
        oracle.classify(data.distances, data.labels, counts_law(s)(data.labels), k, **ties).score
        for s in shots
    ]
    options = {"stratify": True, **ties}
    knn = KNeighborsClassifier(k)
    check_curve(learning_curve(knn, data.X, data.y, **options), shots, expected)
    exact = learning_curve(knn, data.X, data.y, exact=True, **options)
    assert list(exact.fractions) == expected


@every_distance_tie
@pytest.mark.parametrize("labels", ["2 classes", "3 classes", "4 classes", "3 classes, unbalanced"])
@every_geometry
def test_cmc_curve_gives_every_rank_at_once(points, labels, distance_ties):
    data = dataset(points, labels)
    law = counts_law(1)(data.labels)
    ranks = range(1, len(set(data.labels)) + 1)
    expected = [
        oracle.recall(data.distances, data.labels, law, rank, distance_ties=distance_ties).score
        for rank in ranks
    ]
    options = {"ranks": ranks, "distance_ties": distance_ties}
    check_curve(cmc_curve(data.X, data.y, **options), ranks, expected)
    exact = cmc_curve(data.X, data.y, exact=True, **options)
    assert list(exact.fractions) == expected
    assert expected[-1] == 1, "one gallery item of each class: the last rank finds it"


@every_distance_tie
@pytest.mark.parametrize("exclude", ["identity", "group"])
@pytest.mark.parametrize("cameras", ["xyxyyxyx", "xxyxzyzy", "xxxxxxxy"])
@pytest.mark.parametrize(
    ("labels", "per_class"),
    [("2 classes", 1), ("2 classes", 2), ("2 classes", 3), ("3 classes", 1), ("4 classes", 1)],
)
@every_geometry
def test_cmc_curve_across_cameras(points, labels, cameras, exclude, per_class, distance_ties):
    data = dataset(points, labels)
    law = oracle.galleries(data.labels, cameras, per_class, exclude)
    ranks = [1, 2, 3]
    options = {
        "cv": ClassCounts(per_class),
        "groups": list(cameras),
        "exclude": exclude,
        "ranks": ranks,
        "distance_ties": distance_ties,
    }
    if not law:  # no class is seen by two cameras
        with pytest.raises(InvalidInputError, match="groups"):
            cmc_curve(data.X, data.y, **options)
        return
    expected = [
        oracle.recall(data.distances, data.labels, law, rank, distance_ties=distance_ties).score
        for rank in ranks
    ]
    check_curve(cmc_curve(data.X, data.y, **options), ranks, expected)
    exact = cmc_curve(data.X, data.y, exact=True, **options)
    assert list(exact.fractions) == expected


@pytest.mark.parametrize("cv", [ClassCounts(2), StratifiedKFold(2)], ids=str)
def test_cmc_curve_of_other_galleries(cv):
    data = dataset("heavy ties", "2 classes")
    law = counts_law(2)(data.labels)
    expected = [oracle.recall(data.distances, data.labels, law, rank).score for rank in (1, 2, 3)]
    check_curve(cmc_curve(data.X, data.y, cv=cv, ranks=[1, 2, 3]), [1, 2, 3], expected)
