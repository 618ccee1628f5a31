"""Weighted votes and means of whole groups against the enumeration of every choice of groups."""

import numpy as np
import pytest
from sklearn.model_selection import GroupShuffleSplit, LeaveOneGroupOut, LeavePGroupsOut
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import evaluate, validation_curve
from allsplits.exceptions import UnsupportedError
from oracle import enumerate as oracle
from oracle.checks import check_curve, every_distance_tie, every_tie, smallest_train
from oracle.compare import assert_close, assert_matches, assert_matches_exactly, assert_within_bound
from oracle.datasets import dataset
from oracle.outside import asked, everybody, of_questions
from oracle.test_weighted import POSITIVE, TARGETS, WEIGHTS, city_block, classifier

EQUAL, UNEQUAL = [0, 1, 2, 3, 0, 1, 2, 3], ["p", "q", "q", "r", "s", "q", "r", "p"]
# groups, splitter, test groups, training groups (None: all others)
LAWS = [
    (UNEQUAL, LeaveOneGroupOut(), 1, None),
    (EQUAL, LeavePGroupsOut(2), 2, None),
    (UNEQUAL, LeavePGroupsOut(2), 2, None),
    (UNEQUAL, GroupShuffleSplit(train_size=2, test_size=1), 1, 2),
]
every_law = pytest.mark.parametrize(
    ("groups", "cv", "n_test", "n_train"), LAWS, ids=["one", "two equal", "two", "shuffled"]
)
every_weight = pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
every_place = pytest.mark.parametrize("points", ["no ties", "duplicates", "heavy ties"])


@every_tie
@every_law
@every_weight
@every_place
def test_every_field(points, weights, groups, cv, n_test, n_train, ties):
    given, weigh = weights
    data = dataset(points, "3 classes")
    law = oracle.group_subsets(groups, n_test, n_train)
    distances = oracle.given_distances(city_block(data.X))
    for k in sorted({1, 2, min(3, smallest_train(law))}):
        answer = oracle.classify(distances, data.labels, law, k, weigh=weigh, **ties)
        options = {"cv": cv, "groups": groups, **ties}
        found = evaluate(classifier(k, given), data.X, data.y, **options)
        assert_matches(found, answer, f"k={k}")
        exact = evaluate(classifier(k, given), data.X, data.y, exact=True, **options)
        assert_matches_exactly(exact, answer, f"k={k}")


@every_law
def test_every_k_at_once_and_balanced(groups, cv, n_test, n_train):
    data = dataset("heavy ties", "3 classes")
    law = oracle.group_subsets(groups, n_test, n_train)
    distances = oracle.given_distances(city_block(data.X))
    ks = range(1, smallest_train(law) + 1)
    answers = [
        oracle.classify(distances, data.labels, law, k, weigh=oracle.one_over_distance) for k in ks
    ]
    options = {"n_neighbors": ks, "cv": cv, "groups": groups}
    curve = validation_curve(classifier(1, "distance"), data.X, data.y, **options)
    check_curve(curve, ks, [answer.score for answer in answers])
    exact = validation_curve(classifier(1, "distance"), data.X, data.y, exact=True, **options)
    assert list(exact.fractions) == [answer.score for answer in answers]
    balanced = evaluate(
        classifier(1, "distance"), data.X, data.y, cv=cv, groups=groups, exact=True,
        scoring="balanced_accuracy",
    )  # fmt: skip
    assert balanced.fraction == answers[0].mean_recall


@every_distance_tie
@every_law
@pytest.mark.parametrize("weights", POSITIVE, ids=["distance", "growing"])
@every_place
def test_means(points, weights, groups, cv, n_test, n_train, distance_ties):
    given, weigh = weights
    data = dataset(points, "2 classes")
    law = oracle.group_subsets(groups, n_test, n_train)
    distances = oracle.given_distances(city_block(data.X))
    for k in sorted({1, 2, min(3, smallest_train(law))}):
        answer = oracle.regress(
            distances, TARGETS, law, k, weigh=weigh, distance_ties=distance_ties
        )
        model = KNeighborsRegressor(k, weights=given, metric="manhattan")
        options = {"cv": cv, "groups": groups, "distance_ties": distance_ties}
        found = evaluate(model, data.X, TARGETS, **options)
        assert_close(found.sample_scores, answer.sample_scores, "errors", 1e-9)
        assert_within_bound(found.score, answer.score, found.error_bound, "score", 1e-8)
        exact = evaluate(model, data.X, TARGETS, exact=True, **options)
        assert_matches_exactly(exact, answer, f"k={k}")


@pytest.mark.parametrize("points", ["no ties", "heavy ties"])
def test_questions_from_outside(points):
    data = asked(points, "3 classes")
    law = everybody(data, oracle.group_subsets(UNEQUAL, 2))
    distances = oracle.given_distances(city_block(data.points))
    answer = oracle.classify(distances, data.labels, law, 2, weigh=oracle.one_over_distance)
    options = {"cv": LeavePGroupsOut(2), "groups": UNEQUAL, **data.test_set()}
    model = classifier(2, "distance")
    found = evaluate(model, data.references.X, data.references.y, **options)
    assert_matches(found, of_questions(answer, data.n))
    exact = evaluate(model, data.references.X, data.references.y, exact=True, **options)
    assert_matches_exactly(exact, of_questions(answer, data.n))


def test_scikit_learn_leaves_each_group_out():
    """One training set for each sample: what cross_val_score shows, to the last digit."""
    from sklearn.model_selection import cross_val_score

    rng = np.random.default_rng(0)
    X, y, groups = rng.normal(size=(90, 3)), rng.integers(3, size=90), rng.integers(7, size=90)
    model = KNeighborsClassifier(5, weights="distance")
    shown = cross_val_score(model, X, y, cv=LeaveOneGroupOut(), groups=groups)
    found = evaluate(model, X, y, cv=LeaveOneGroupOut(), groups=groups)
    assert found.score == pytest.approx(shown.mean(), abs=1e-12)
    assert found.error_bound < 1e-11


def test_too_many_splits():
    X, y = np.arange(60.0)[:, None], np.arange(60) % 2
    with pytest.raises(UnsupportedError, match=r"vote of whole groups.*leave fewer groups"):
        evaluate(
            KNeighborsClassifier(3, weights="distance"), X, y, cv=LeavePGroupsOut(10),
            groups=np.arange(60) // 2,
        )  # fmt: skip
