"""Questions from outside against the enumeration: every law, every vote, every rule for ties."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from sklearn.model_selection import (
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    LeavePGroupsOut,
    LeavePOut,
    ShuffleSplit,
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
    cmc_curve,
    evaluate,
    learning_curve,
    validation_curve,
)
from allsplits.exceptions import UnknownClassWarning
from oracle import enumerate as oracle
from oracle import outside
from oracle.checks import TIES, check_curve, every_distance_tie, every_tie, smallest_train
from oracle.compare import assert_matches, assert_matches_exactly
from oracle.outside import asked, everybody, of_questions
from oracle.test_weighted import LARGEST_BOUND, POSITIVE, TARGETS, WEIGHTS, city_block

GEOMETRIES = ["no ties", "duplicates", "heavy ties", "all equally far"]
GROUPS = ["p", "q", "q", "r", "s", "q", "r", "p"]


def counts_of(data, number):
    return dict.fromkeys(data.references.labels, number)


#: cv -> the law of the references, and the number of training sets.
SIZES = {
    "all": (None, lambda n: oracle.fixed_size(n, n)),
    "every size": (FixedSize(8), lambda n: oracle.fixed_size(n, n)),
    "few": (FixedSize(3), lambda n: oracle.fixed_size(n, 3)),
    "leave-one-out": (LeaveOneOut(), lambda n: oracle.fixed_size(n, n - 1)),
    "leave-three-out": (LeavePOut(3), lambda n: oracle.fixed_size(n, n - 3)),
    "shuffles": (ShuffleSplit(train_size=4, test_size=2), lambda n: oracle.fixed_size(n, 4)),
    "folds": (KFold(3), lambda n: oracle.folds(n, 3)),
}
LABELLED = ["2 classes", "3 classes", "4 classes, unbalanced"]


def check_every_field(data, cv, law, k, *, groups=None, **ties):
    """An evaluation in floats and in fractions; returns the float one."""
    answer = of_questions(oracle.classify(data.distances, data.labels, law, k, **ties), data.n)
    knn, options = KNeighborsClassifier(k), {"cv": cv, "groups": groups, **ties, **data.test_set()}
    found = evaluate(knn, data.references.X, data.references.y, **options)
    assert_matches(found, answer, f"k={k}")
    exact = evaluate(knn, data.references.X, data.references.y, exact=True, **options)
    assert_matches_exactly(exact, answer, f"k={k}")
    np.testing.assert_array_equal(found.y, data.y_test)
    return found


def check_all_ks(data, cv, law, *, groups=None, **ties):
    """Every k that the law allows, at once."""
    ks = range(1, smallest_train(law) + 1)
    expected = [oracle.classify(data.distances, data.labels, law, k, **ties).score for k in ks]
    options = {"n_neighbors": ks, "cv": cv, "groups": groups, **ties, **data.test_set()}
    given = KNeighborsClassifier(), data.references.X, data.references.y
    check_curve(validation_curve(*given, **options), ks, expected)
    assert list(validation_curve(*given, exact=True, **options).fractions) == expected


def check_recall(data, cv, law, rank, *, distance_ties, groups=None):
    answer = oracle.recall(data.distances, data.labels, law, rank, distance_ties=distance_ties)
    answer = of_questions(answer, data.n)
    options = {"cv": cv, "scoring": f"recall@{rank}", "distance_ties": distance_ties}
    options |= {"groups": groups, **data.test_set()}
    given = KNeighborsClassifier(1), data.references.X, data.references.y
    assert_matches(evaluate(*given, **options), answer, f"R={rank}")
    assert_matches_exactly(evaluate(*given, exact=True, **options), answer, f"R={rank}")


@every_tie
@pytest.mark.parametrize("case", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("labels", LABELLED[::2])
@pytest.mark.parametrize("points", GEOMETRIES)
def test_sizes(points, labels, case, ties):
    data = asked(points, labels)
    law = everybody(data, case[1](data.n))
    for k in {1, 2, min(4, smallest_train(law))}:
        found = check_every_field(data, case[0], law, k, **ties)
    assert found.n_splits == len({split.train for split in law})


@every_tie
@pytest.mark.parametrize("labels", LABELLED)
@pytest.mark.parametrize("points", ["no ties", "heavy ties"])
def test_all_ks_and_all_sizes(points, labels, ties):
    data = asked(points, labels)
    for cv, of_n in (SIZES["few"], SIZES["folds"], SIZES["all"]):
        check_all_ks(data, cv, everybody(data, of_n(data.n)), **ties)
    sizes = range(1, data.n + 1)
    laws = [everybody(data, oracle.fixed_size(data.n, size)) for size in sizes]
    for k in (1, 3):
        expected = [
            oracle.classify(data.distances, data.labels, law, k, **ties).score
            for law in laws[k - 1 :]
        ]
        options = {"train_sizes": sizes[k - 1 :], **ties, **data.test_set()}
        given = KNeighborsClassifier(k), data.references.X, data.references.y
        check_curve(learning_curve(*given, **options), sizes[k - 1 :], expected)
        assert list(learning_curve(*given, exact=True, **options).fractions) == expected


def class_laws(data):
    """Counts, stratified folds and shuffles, with their enumeration."""
    labels = data.references.labels
    smallest = min(labels.count(label) for label in labels)
    yield ClassCounts(1), oracle.class_counts(labels, counts_of(data, 1))
    yield ClassCounts(smallest), oracle.class_counts(labels, counts_of(data, smallest))
    every = {label: labels.count(label) for label in labels}
    yield ClassCounts(every), oracle.class_counts(labels, every)
    yield StratifiedKFold(2), oracle.stratified_folds(labels, 2)


@pytest.mark.filterwarnings("ignore:The least populated class")
@every_tie
@pytest.mark.parametrize("labels", ["2 classes", "4 classes, unbalanced"])
@pytest.mark.parametrize("points", GEOMETRIES)
def test_class_counts(points, labels, ties):
    data = asked(points, labels)
    for cv, of_references in class_laws(data):
        law = everybody(data, of_references)
        for k in {1, 2, min(4, smallest_train(law))}:
            check_every_field(data, cv, law, k, **ties)
        check_all_ks(data, cv, law, **ties)


def test_stratified_shuffles_that_round_at_random():
    data = asked("heavy ties", "4 classes")
    cv = StratifiedShuffleSplit(train_size=4, test_size=4)
    law = everybody(data, oracle.stratified_shuffles(data.references.labels, 4, 4))
    found = check_every_field(data, cv, law, 3)
    assert found.n_splits == len({split.train for split in law})


def test_shots():
    data = asked("heavy ties", "2 classes")
    shots = range(1, 5)
    laws = [oracle.class_counts(data.references.labels, counts_of(data, shot)) for shot in shots]
    expected = [
        oracle.classify(data.distances, data.labels, everybody(data, law), 2).score for law in laws
    ]
    given = KNeighborsClassifier(2), data.references.X, data.references.y
    found = learning_curve(*given, stratify=True, exact=True, **data.test_set())
    assert list(found.x) == list(shots)
    assert list(found.fractions) == expected


GROUP_LAWS = [
    (LeaveOneGroupOut(), 1, None),
    (LeavePGroupsOut(2), 2, None),
    (GroupShuffleSplit(train_size=1, test_size=2), 2, 1),
]


@every_tie
@pytest.mark.parametrize(("cv", "n_test", "n_train"), GROUP_LAWS)
@pytest.mark.parametrize("labels", ["2 classes", "3 classes, one of one sample"])
@pytest.mark.parametrize("points", GEOMETRIES)
def test_groups(points, labels, cv, n_test, n_train, ties):
    data = asked(points, labels)
    law = everybody(data, oracle.group_subsets(GROUPS, n_test, n_train))
    for k in range(1, min(3, smallest_train(law)) + 1):
        found = check_every_field(data, cv, law, k, groups=GROUPS, **ties)
    n_train = n_train or 4 - n_test
    assert found.n_splits == comb(4, n_train)


@every_tie
@pytest.mark.parametrize("labels", ["2 classes", "3 classes"])
@pytest.mark.parametrize("points", GEOMETRIES)
def test_random_sizes(points, labels, ties):
    data = asked(points, labels, n=6)
    for k in (1, 2, 4):
        law = everybody(data, outside.independent(data.n, Fraction(2, 3), k))
        found = check_every_field(data, Bernoulli(Fraction(2, 3)), law, k, **ties)
        assert found.n_splits == len(law)


@every_tie
@pytest.mark.parametrize("labels", ["2 classes", "3 classes"])
@pytest.mark.parametrize("points", GEOMETRIES)
def test_bags(points, labels, ties):
    data = asked(points, labels, n=5)
    law = everybody(data, outside.bags(data.n))
    for k in (1, 2, 5):
        check_every_field(data, Bootstrap(), law, k, **ties)


@every_tie
@pytest.mark.parametrize(
    ("labels", "n_way", "k_shot"),
    [("2 classes", 2, 4), ("3 classes", 2, 1), ("3 classes", 3, 2), ("2 classes", 2, 2)],
)
@pytest.mark.parametrize("points", GEOMETRIES)
def test_episodes(points, labels, n_way, k_shot, ties):
    data = asked(points, labels)
    law = outside.of_episodes(data, n_way, k_shot)
    for k in {1, 2, n_way * k_shot}:
        check_every_field(data, Episodes(n_way, k_shot), law, k, **ties)


@every_distance_tie
@pytest.mark.parametrize("points", GEOMETRIES)
def test_recall(points, distance_ties):
    data = asked(points, "3 classes")
    labels = data.references.labels
    cases = [
        (None, oracle.fixed_size(8, 8)),
        (FixedSize(3), oracle.fixed_size(8, 3)),
        (KFold(3), oracle.folds(8, 3)),
        (ClassCounts(2), oracle.class_counts(labels, counts_of(data, 2))),
        (StratifiedKFold(2), oracle.stratified_folds(labels, 2)),
    ]
    for cv, law in cases:
        for rank in (1, 2, 3, 8):
            check_recall(data, cv, everybody(data, law), rank, distance_ties=distance_ties)
    of_groups = everybody(data, oracle.group_subsets(GROUPS, 2))
    for rank in (1, 3, 5):
        check_recall(
            data, LeavePGroupsOut(2), of_groups, rank, distance_ties=distance_ties, groups=GROUPS
        )
    data = asked(points, "3 classes", n=5)
    for rank in (1, 3):
        bernoulli = everybody(data, outside.independent(5, Fraction(1, 3), rank))
        check_recall(data, Bernoulli(Fraction(1, 3)), bernoulli, rank, distance_ties=distance_ties)
        bags = everybody(data, outside.bags(5))
        check_recall(data, Bootstrap(), bags, rank, distance_ties=distance_ties)


@every_tie
@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("points", GEOMETRIES)
def test_weighted_votes(points, weights, ties):
    given, weigh = weights
    data = asked(points, "3 classes")
    distances = oracle.given_distances(city_block(data.points))
    labels = data.references.labels
    cases = [
        (None, oracle.fixed_size(8, 8)),
        (FixedSize(4), oracle.fixed_size(8, 4)),
        (KFold(3), oracle.folds(8, 3)),
        (ClassCounts(2), oracle.class_counts(labels, counts_of(data, 2))),
        (StratifiedKFold(2), oracle.stratified_folds(labels, 2)),
    ]
    for cv, of_references in cases:
        law = everybody(data, of_references)
        for k in (1, 3, 4):
            if k > smallest_train(law):
                continue
            answer = oracle.classify(distances, data.labels, law, k, weigh=weigh, **ties)
            answer = of_questions(answer, data.n)
            knn = KNeighborsClassifier(k, weights=given, metric="manhattan")
            options = {"cv": cv, **ties, **data.test_set()}
            of_data = knn, data.references.X, data.references.y
            assert_matches(evaluate(*of_data, **options), answer, f"k={k}")
            assert_matches_exactly(evaluate(*of_data, exact=True, **options), answer, f"k={k}")


# beyond the targets of the references on both sides
TEST_TARGETS = [-6, 3, 8, 10]


@every_distance_tie
@pytest.mark.parametrize("points", GEOMETRIES)
def test_regression(points, distance_ties):
    data = asked(points, "2 classes")
    targets = [*TARGETS, *TEST_TARGETS]
    cases = [case for name, case in SIZES.items() if name != "every size"]
    for cv, of_n in cases:
        law = everybody(data, of_n(data.n))
        for k in {1, 2, smallest_train(law)}:
            check_regression(data, targets, cv, law, k, distance_ties)
    for k in (1, 3):
        law = everybody(data, outside.independent(data.n, Fraction(2, 3), k))
        check_regression(data, targets, Bernoulli(Fraction(2, 3)), law, k, distance_ties)


@every_distance_tie
@pytest.mark.parametrize("points", GEOMETRIES)
def test_regression_on_bags(points, distance_ties):
    data = asked(points, "2 classes", n=5)
    law = everybody(data, outside.bags(5))
    for k in (1, 2, 5):
        targets = [*TARGETS[:5], *TEST_TARGETS]
        check_regression(data, targets, Bootstrap(), law, k, distance_ties)


def check_regression(data, targets, cv, law, k, distance_ties):
    answer = oracle.regress(data.distances, targets, law, k, distance_ties=distance_ties)
    answer = of_questions(answer, data.n)
    given = KNeighborsRegressor(k), data.references.X, TARGETS[: data.n]
    options = {"cv": cv, "distance_ties": distance_ties, "X_test": data.X_test}
    options["y_test"] = TEST_TARGETS
    assert_matches(evaluate(*given, **options), answer, f"k={k}", largest_bound=1e-8)
    assert_matches_exactly(evaluate(*given, exact=True, **options), answer, f"k={k}")


@every_distance_tie
@pytest.mark.parametrize("weights", POSITIVE, ids=["distance", "growing"])
@pytest.mark.parametrize("points", GEOMETRIES)
def test_weighted_regression(points, weights, distance_ties):
    given, weigh = weights
    data = asked(points, "2 classes")
    distances = oracle.given_distances(city_block(data.points))
    targets = [*TARGETS, *TEST_TARGETS]
    for cv, of_n in (SIZES["all"], SIZES["few"], SIZES["folds"]):
        law = everybody(data, of_n(data.n))
        for k in (1, 3):
            options = {"distance_ties": distance_ties}
            answer = oracle.regress(distances, targets, law, k, weigh=weigh, **options)
            answer = of_questions(answer, data.n)
            knn = KNeighborsRegressor(k, weights=given, metric="manhattan")
            options |= {"cv": cv, "X_test": data.X_test, "y_test": TEST_TARGETS}
            found = evaluate(knn, data.references.X, TARGETS, **options)
            assert_matches(found, answer, f"k={k}", largest_bound=1e4 * LARGEST_BOUND)
            exact = evaluate(knn, data.references.X, TARGETS, exact=True, **options)
            assert_matches_exactly(exact, answer, f"k={k}")


@pytest.mark.parametrize("ties", TIES[:2])
@pytest.mark.parametrize("points", ["no ties", "heavy ties"])
def test_balanced_accuracy(points, ties):
    data = asked(points, "3 classes, unbalanced")
    labels = data.references.labels
    cases = [
        (FixedSize(4), oracle.fixed_size(8, 4), None),
        (ClassCounts(2), oracle.class_counts(labels, counts_of(data, 2)), None),
        (LeavePGroupsOut(2), oracle.group_subsets(GROUPS, 2), GROUPS),
        (Bernoulli(Fraction(1, 2)), outside.independent(8, Fraction(1, 2), 2), None),
    ]
    for cv, of_references, groups in cases:
        law = oracle.classes_equally(everybody(data, of_references), data.labels)
        answer = of_questions(oracle.classify(data.distances, data.labels, law, 2, **ties), data.n)
        options = {"cv": cv, "groups": groups, "scoring": "balanced_accuracy", **ties}
        given = KNeighborsClassifier(2), data.references.X, data.references.y
        assert_matches(evaluate(*given, **options, **data.test_set()), answer)
        exact = evaluate(*given, exact=True, **options, **data.test_set())
        assert_matches_exactly(exact, answer)


@pytest.mark.filterwarnings("ignore:y_test has classes")
@every_tie
@pytest.mark.parametrize("unknown", ["A", "bb", "z"])
def test_classes_that_no_reference_has_are_wrong(unknown, ties):
    data = asked("heavy ties", "3 classes", unknown=unknown)
    labels = data.references.labels
    cases = [
        (None, oracle.fixed_size(8, 8), None),
        (FixedSize(4), oracle.fixed_size(8, 4), None),
        (ClassCounts(2), oracle.class_counts(labels, counts_of(data, 2)), None),
        (StratifiedKFold(2), oracle.stratified_folds(labels, 2), None),
        (LeavePGroupsOut(2), oracle.group_subsets(GROUPS, 2), GROUPS),
    ]
    for cv, law, groups in cases:
        for k in (1, 2):
            found = check_every_field(data, cv, everybody(data, law), k, groups=groups, **ties)
            assert found.sample_scores[1] == 0
        check_all_ks(data, cv, everybody(data, law), groups=groups, **ties)
    for rank in (1, 3):
        law = everybody(data, cases[2][1])
        check_recall(data, ClassCounts(2), law, rank, distance_ties=ties["distance_ties"])


def test_unknown_classes_are_said():
    data = asked("no ties", "3 classes", unknown="z")
    with pytest.warns(UnknownClassWarning, match="'z'.*1 of 4 test samples"):
        evaluate(KNeighborsClassifier(1), data.references.X, data.references.y, **data.test_set())


@every_distance_tie
@pytest.mark.parametrize("exclude", ["identity", "group"])
@pytest.mark.parametrize("per_class", [1, 2])
@pytest.mark.parametrize("points", ["no ties", "heavy ties", "all equally far"])
def test_galleries_without_the_camera_of_the_query(points, per_class, exclude, distance_ties):
    data = asked(points, "3 classes")
    cameras, of_questions_ = [0, 1, 2, 0, 1, 2, 0, 1], [0, 1, 5, 2]
    law = outside.of_galleries(data, cameras, of_questions_, per_class, exclude)
    ranks = [1, 2, 3, 5]
    options = {"distance_ties": distance_ties}
    expected = [
        oracle.recall(data.distances, data.labels, law, rank, **options).score for rank in ranks
    ]
    options |= {"ranks": ranks, "cv": ClassCounts(per_class), "groups": cameras}
    options |= {"groups_test": of_questions_, "exclude": exclude, **data.test_set()}
    check_curve(cmc_curve(data.references.X, data.references.y, **options), ranks, expected)
    exact = cmc_curve(data.references.X, data.references.y, exact=True, **options)
    assert list(exact.fractions) == expected
