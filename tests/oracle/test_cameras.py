"""Scores of retrieval without the query's own camera, against every gallery written down."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeaveOneOut, StratifiedKFold, StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier

from allsplits import ClassCounts, FixedSize, cmc_curve, evaluate, retrieval_curve
from oracle import enumerate as oracle
from oracle.cameras import is_query, must_not_meet, passed_over
from oracle.checks import every_distance_tie
from oracle.compare import assert_close, assert_matches, assert_matches_exactly, assert_within_bound
from oracle.datasets import dataset
from oracle.retrieval import retrieve

KNN = KNeighborsClassifier(1)
SCORES = [
    "map", "map@r", "r_precision", "mrr", "ndcg",
    "precision@2", "item_recall@2", "mrr@2", "ndcg@2", "recall@1", "recall@3",
]  # fmt: skip
#: Two cameras; three, one of them of one item; classes that one camera alone has seen.
CAMERAS = {
    "two": [0, 0, 1, 1, 1, 0, 1, 0],
    "three": ["b", "a", "a", "b", "c", "b", "a", "a"],
    "alone": [0, 1, 1, 2, 0, 1, 2, 0],
}
LAWS = [
    ("2 classes", FixedSize(3), lambda y: oracle.fixed_size(len(y), 3)),
    ("3 classes, unbalanced", FixedSize(5), lambda y: oracle.fixed_size(len(y), 5)),
    ("3 classes", KFold(3), lambda y: oracle.folds(len(y), 3)),
    ("2 classes", StratifiedKFold(2), lambda y: oracle.stratified_folds(y, 2)),
    ("3 classes, unbalanced", StratifiedKFold(2), lambda y: oracle.stratified_folds(y, 2)),
    (
        "3 classes",
        StratifiedShuffleSplit(test_size=5),
        lambda y: oracle.stratified_shuffles(y, 3, 5),
    ),
    ("3 classes", LeaveOneOut(), lambda y: oracle.fixed_size(len(y), len(y) - 1)),
    ("2 classes, unbalanced", LeaveOneOut(), lambda y: oracle.fixed_size(len(y), len(y) - 1)),
]
every_law = pytest.mark.parametrize(
    ("labels", "cv", "enumeration"),
    LAWS,
    ids=[f"{type(cv).__name__}-{labels}" for labels, cv, _ in LAWS],
)
every_exclusion = pytest.mark.parametrize("exclude", ["identity", "group"])
every_score = pytest.mark.parametrize("scoring", SCORES)


def check(data, law, scoring, distance_ties, **options):
    """Every field in floats and, where there are no logarithms, in fractions."""
    options["distance_ties"] = distance_ties
    answer = retrieve(data.distances, data.labels, law, scoring, distance_ties=distance_ties)
    assert_matches(evaluate(KNN, data.X, data.y, scoring=scoring, **options), answer, scoring)
    if not scoring.startswith("ndcg"):
        exact = evaluate(KNN, data.X, data.y, scoring=scoring, exact=True, **options)
        assert_matches_exactly(exact, answer, scoring)


@every_distance_tie
@every_exclusion
@every_score
@every_law
@pytest.mark.parametrize(
    ("points", "cameras"), [("no ties", "two"), ("duplicates", "three"), ("heavy ties", "alone")]
)
def test_what_is_excluded_is_passed_over(
    points, cameras, labels, cv, enumeration, scoring, exclude, distance_ties
):
    data, groups = dataset(points, labels), CAMERAS[cameras]
    law = passed_over(enumeration(data.labels), data.n, data.labels, groups, exclude)
    check(data, law, scoring, distance_ties, cv=cv, groups=groups, exclude=exclude)


@every_distance_tie
@every_exclusion
@every_score
@pytest.mark.parametrize("per_class", [1, 2])
@pytest.mark.parametrize(
    ("points", "cameras"), [("no ties", "two"), ("duplicates", "three"), ("heavy ties", "alone")]
)
def test_class_counts_are_drawn_from_what_is_left(
    points, cameras, per_class, scoring, exclude, distance_ties
):
    data, groups = dataset(points, "3 classes, unbalanced"), CAMERAS[cameras]
    law = oracle.galleries(data.labels, groups, per_class, exclude)
    cv = ClassCounts(dict.fromkeys(data.labels, per_class))
    check(data, law, scoring, distance_ties, cv=cv, groups=groups, exclude=exclude)


def test_no_exclusion_is_the_default_of_none():
    """None is "identity", the one of Market-1501."""
    data, groups = dataset("no ties", "3 classes"), CAMERAS["two"]
    options = {"cv": LeaveOneOut(), "scoring": "map", "groups": groups, "exact": True}
    named = evaluate(KNN, data.X, data.y, exclude="identity", **options)
    other = evaluate(KNN, data.X, data.y, exclude="group", **options)
    found = evaluate(KNN, data.X, data.y, **options)
    assert found.fraction == named.fraction != other.fraction


@every_distance_tie
@every_exclusion
@every_score
@pytest.mark.parametrize("cv", [None, FixedSize(3), StratifiedKFold(2), ClassCounts(1)], ids=str)
@pytest.mark.parametrize("points", ["no ties", "duplicates"])
def test_queries_from_outside(points, cv, scoring, exclude, distance_ties):
    """The last three samples ask, galleries are drawn from the first five."""
    data, n = dataset(points, "2 classes"), 5
    groups, labels = [0, 1, 0, 1, 1, 0, 1, 1], data.labels
    if isinstance(cv, ClassCounts):
        law = of_what_is_left(n, labels, groups, exclude)
    else:
        law = {
            type(None): lambda: [oracle.Split(Fraction(1), tuple(range(n)), ())],
            FixedSize: lambda: oracle.fixed_size(n, 3),
            StratifiedKFold: lambda: oracle.stratified_folds(labels[:n], 2),
        }[type(cv)]()
        law = [split._replace(test=(5, 6, 7)) for split in law]
        law = passed_over(law, n, labels, groups, exclude)
    answer = retrieve(data.distances, labels, law, scoring, distance_ties=distance_ties)
    options = {
        "X_test": data.X[n:], "y_test": data.y[n:], "cv": cv, "scoring": scoring,
        "groups": groups[:n], "groups_test": groups[n:], "exclude": exclude,
        "distance_ties": distance_ties,
    }  # fmt: skip
    found = evaluate(KNN, data.X[:n], data.y[:n], **options)
    assert_close(found.score, answer.score, scoring)
    assert_close(found.sample_scores, answer.sample_scores[n:], scoring)
    assert_within_bound(found.score, answer.score, found.error_bound, scoring)
    if not scoring.startswith("ndcg"):
        exact = evaluate(KNN, data.X[:n], data.y[:n], exact=True, **options)
        assert exact.fraction == answer.score


def of_what_is_left(n, labels, groups, exclude):
    """One item of each class for each query, from what it may meet."""
    law = []
    for query in range(n, len(labels)):
        if not is_query(query, n, labels, groups, exclude):
            continue
        left = [i for i in range(n) if not must_not_meet(query, i, labels, groups, exclude)]
        pools = oracle.members_by([labels[i] for i in left]).values()
        choices = oracle.product(*([(left[i],) for i in pool] for pool in pools))
        law.append(oracle.equally_likely((sum(each, ()), (query,)) for each in choices))
    return [split._replace(weight=split.weight / len(law)) for line in law for split in line]


@every_distance_tie
@every_exclusion
@pytest.mark.parametrize("scoring", ["precision@k", "item_recall@k", "ndcg@k", "mrr@k", "recall@R"])
@every_law
def test_all_cuts_at_once(labels, cv, enumeration, scoring, exclude, distance_ties):
    data, groups = dataset("duplicates", labels), CAMERAS["three"]
    law = passed_over(enumeration(data.labels), data.n, data.labels, groups, exclude)
    name, ranks = scoring.partition("@")[0], [1, 2, 3]
    expected = [
        retrieve(data.distances, data.labels, law, f"{name}@{k}", distance_ties=distance_ties).score
        for k in ranks
    ]
    options = {
        "ranks": ranks, "cv": cv, "groups": groups, "exclude": exclude,
        "distance_ties": distance_ties,
    }  # fmt: skip
    curve = cmc_curve if name == "recall" else retrieval_curve
    more = {} if name == "recall" else {"scoring": scoring}
    found = curve(data.X, data.y, **options, **more)
    assert_close(found.scores, expected, scoring)
    for score, fraction, bound in zip(found.scores, expected, found.error_bounds, strict=True):
        assert_within_bound(score, fraction, float(bound), scoring)
    if name != "ndcg":
        exact = curve(data.X, data.y, exact=True, **options, **more)
        assert list(exact.fractions) == expected


def test_a_camera_that_is_met_is_seen():
    """The comparison fails where nobody is excluded."""
    data = dataset("no ties", "3 classes")
    law = oracle.fixed_size(data.n, 4)
    without = passed_over(law, data.n, data.labels, CAMERAS["two"], "identity")
    answer = retrieve(data.distances, data.labels, without, "map")
    found = evaluate(KNN, data.X, data.y, cv=FixedSize(4), scoring="map")
    with pytest.raises(AssertionError):
        assert_matches(found, answer)


def test_the_oracle_itself():
    """Three items of one class, two of them of one camera."""
    labels, groups = ("a", "a", "a", "b"), (0, 0, 1, 1)
    law = passed_over(oracle.fixed_size(4, 3), 4, labels, groups, "identity")
    assert {split.test[0]: split.train for split in law} == {0: (2, 3), 1: (2, 3), 2: (0, 1, 3)}
    law = passed_over(oracle.fixed_size(4, 3), 4, labels, groups, "group")
    assert {split.test[0]: split.train for split in law} == {0: (2, 3), 1: (2, 3), 2: (0, 1)}
    assert np.isclose(float(sum(split.weight for split in law)), 1)
