"""Scores of retrieval against the enumeration of every gallery."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeaveOneOut, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from allsplits import ClassCounts, FixedSize, evaluate, retrieval_curve
from allsplits.exceptions import NothingRelevantWarning
from oracle import enumerate as oracle
from oracle.checks import every_distance_tie, every_geometry, smallest_train
from oracle.compare import assert_close, assert_matches, assert_matches_exactly, assert_within_bound
from oracle.datasets import dataset
from oracle.retrieval import orders, retrieve, score_of

UNCUT = ["map", "map@r", "r_precision", "mrr", "ndcg"]
CUT = ["precision@k", "item_recall@k", "ndcg@k", "mrr@k"]
KNN = KNeighborsClassifier(1)

COUNTED = [
    ("2 classes", ClassCounts(1), lambda y: counts(y, 1)),
    ("2 classes", ClassCounts(3), lambda y: counts(y, 3)),
    ("2 classes", ClassCounts({0: 1, 1: 3}), lambda y: oracle.class_counts(y, {0: 1, 1: 3})),
    ("3 classes", ClassCounts(1), lambda y: counts(y, 1)),
    (
        "3 classes, unbalanced",
        ClassCounts({"z": 3, "x": 1, "y": 1}),
        lambda y: oracle.class_counts(y, {"z": 3, "x": 1, "y": 1}),
    ),
    ("3 classes", StratifiedKFold(2), lambda y: oracle.stratified_folds(y, 2)),
]
SIZED = [
    ("2 classes", FixedSize(3), lambda y: oracle.fixed_size(len(y), 3)),
    ("3 classes", FixedSize(6), lambda y: oracle.fixed_size(len(y), 6)),
    ("3 classes, unbalanced", FixedSize(5), lambda y: oracle.fixed_size(len(y), 5)),
    ("4 classes", KFold(3), lambda y: oracle.folds(len(y), 3)),
    ("3 classes", LeaveOneOut(), lambda y: oracle.fixed_size(len(y), len(y) - 1)),
    ("2 classes, unbalanced", LeaveOneOut(), lambda y: oracle.fixed_size(len(y), len(y) - 1)),
]

every_law = pytest.mark.parametrize(
    ("labels", "cv", "enumeration"),
    COUNTED + SIZED,
    ids=[f"{type(cv).__name__}-{labels}" for labels, cv, _ in COUNTED + SIZED],
)


def counts(labels, number):
    return oracle.class_counts(labels, dict.fromkeys(labels, number))


def check(data, cv, law, scoring, **options):
    """Every field in floats and, where there are no logarithms, in fractions."""
    answer = retrieve(data.distances, data.labels, law, scoring, **options)
    assert_matches(evaluate(KNN, data.X, data.y, cv=cv, scoring=scoring, **options), answer)
    if not scoring.startswith("ndcg"):
        exact = evaluate(KNN, data.X, data.y, cv=cv, scoring=scoring, exact=True, **options)
        assert_matches_exactly(exact, answer)


@every_distance_tie
@pytest.mark.parametrize("scoring", UNCUT)
@every_law
@every_geometry
def test_scores_without_a_cut(points, labels, cv, enumeration, scoring, distance_ties):
    data = dataset(points, labels)
    check(data, cv, enumeration(data.labels), scoring, distance_ties=distance_ties)


@every_distance_tie
@pytest.mark.parametrize("scoring", CUT)
@every_law
@pytest.mark.parametrize("points", ["no ties", "duplicates", "all equally far"])
def test_all_cuts_at_once(points, labels, cv, enumeration, scoring, distance_ties):
    data = dataset(points, labels)
    law = enumeration(data.labels)
    ranks = range(1, smallest_train(law) + 1)
    options = {"distance_ties": distance_ties}
    expected = [
        retrieve(data.distances, data.labels, law, scoring.replace("@k", f"@{k}"), **options).score
        for k in ranks
    ]
    curve = retrieval_curve(data.X, data.y, scoring=scoring, ranks=ranks, cv=cv, **options)
    assert_close(curve.scores, expected, scoring)
    for score, fraction, bound in zip(curve.scores, expected, curve.error_bounds, strict=True):
        assert_within_bound(score, fraction, float(bound), scoring)
    if scoring != "ndcg@k":
        exact = retrieval_curve(
            data.X, data.y, scoring=scoring, ranks=ranks, cv=cv, exact=True, **options
        )
        assert list(exact.fractions) == expected


@every_distance_tie
@pytest.mark.parametrize("exclude", ["identity", "group"])
@pytest.mark.parametrize("per_class", [1, 2])
@pytest.mark.parametrize("points", ["no ties", "heavy ties", "duplicates"])
@pytest.mark.parametrize("scoring", ["precision@k", "item_recall@k", "ndcg@k", "mrr@k"])
def test_the_same_camera_is_excluded(points, per_class, exclude, distance_ties, scoring):
    """Galleries of queries differ in size then, and so does what is relevant."""
    data = dataset(points, "3 classes, unbalanced")
    cameras = [0, 0, 1, 1, 1, 0, 1, 0]
    law = oracle.galleries(data.labels, cameras, per_class, exclude)
    cv = ClassCounts({"z": per_class, "x": per_class, "y": per_class})
    ranks = range(1, 4)
    expected = [
        retrieve(
            data.distances, data.labels, law, scoring.replace("@k", f"@{k}"),
            distance_ties=distance_ties,
        ).score
        for k in ranks
    ]  # fmt: skip
    options = {"groups": cameras, "exclude": exclude, "distance_ties": distance_ties}
    found = retrieval_curve(data.X, data.y, scoring=scoring, ranks=ranks, cv=cv, **options)
    assert_close(found.scores, expected, scoring)
    if scoring != "ndcg@k":
        exact = retrieval_curve(
            data.X, data.y, scoring=scoring, ranks=ranks, cv=cv, exact=True, **options
        )
        assert list(exact.fractions) == expected


@every_distance_tie
@pytest.mark.parametrize("scoring", [*UNCUT, "precision@2", "item_recall@2"])
@pytest.mark.parametrize(
    "cv", [FixedSize(3), FixedSize(5), ClassCounts(1), ClassCounts({0: 2, 1: 1})], ids=str
)
@pytest.mark.parametrize("points", ["no ties", "heavy ties"])
def test_queries_from_outside(points, cv, scoring, distance_ties):
    """The last three samples ask, galleries are drawn from the first five."""
    data = dataset(points, "2 classes")
    labels, n = data.labels, 5
    if isinstance(cv, FixedSize):
        law = oracle.fixed_size(n, cv.train_size)
    else:
        wanted = cv.counts if isinstance(cv.counts, dict) else dict.fromkeys(labels, cv.counts)
        law = oracle.class_counts(labels[:n], wanted)
    law = [split._replace(test=(5, 6, 7)) for split in law]
    answer = retrieve(data.distances, labels, law, scoring, distance_ties=distance_ties)
    options = {"X_test": data.X[n:], "y_test": data.y[n:], "distance_ties": distance_ties}
    found = evaluate(KNN, data.X[:n], data.y[:n], cv=cv, scoring=scoring, **options)
    assert_close(found.score, answer.score, scoring)
    assert_close(found.sample_scores, answer.sample_scores[n:], scoring)
    assert_within_bound(found.score, answer.score, found.error_bound, scoring)
    if scoring != "ndcg":
        exact = evaluate(KNN, data.X[:n], data.y[:n], cv=cv, scoring=scoring, exact=True, **options)
        assert exact.fraction == answer.score


@every_distance_tie
@pytest.mark.parametrize("scoring", [*UNCUT, "precision@2", "item_recall@3"])
@pytest.mark.parametrize("points", ["no ties", "heavy ties"])
@pytest.mark.parametrize("cv", [FixedSize(4), LeaveOneOut()], ids=str)
def test_a_class_of_one_sample_scores_nothing(points, scoring, distance_ties, cv):
    data = dataset(points, "3 classes, one of one sample")
    size = 7 if isinstance(cv, LeaveOneOut) else 4
    law = oracle.fixed_size(data.n, size)
    with pytest.warns(NothingRelevantWarning, match="1 of 8 queries"):
        check(data, cv, law, scoring, distance_ties=distance_ties)


def test_the_oracle_itself():
    """Sequences by hand, and every order of a tie group once."""
    assert score_of((True, False, True, False), "map") == Fraction(5, 6)
    assert score_of((True, False, True, False), "map@r") == Fraction(1, 2)
    assert score_of((False, True, True), "mrr") == Fraction(1, 2)
    assert score_of((False, True, True), "mrr@1") == 0
    assert score_of((False, True, True), "item_recall@2") == Fraction(1, 2)
    assert score_of((False, True, True), "r_precision") == Fraction(1, 2)
    assert np.isclose(float(score_of((False, True), "ndcg")), 1 / np.log2(3))
    tied = [(1, True), (0, False), (1, False), (1, False)]
    assert len(orders(tied, "average")) == 3
    assert orders(tied, "index") == [(False, True, False, False)]


def test_a_wrong_score_is_seen():
    """The comparison fails where the score is another one."""
    data = dataset("no ties", "3 classes")
    answer = retrieve(data.distances, data.labels, counts(data.labels, 1), "mrr")
    found = evaluate(KNN, data.X, data.y, cv=ClassCounts(1), scoring="mrr@2")
    with pytest.raises(AssertionError):
        assert_matches(found, answer)
