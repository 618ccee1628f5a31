"""Regression where a fixed number of each stratum is drawn, against the enumeration."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsRegressor

from allsplits import ClassCounts, FixedSize, evaluate, learning_curve, validation_curve
from oracle import enumerate as oracle
from oracle.checks import check_curve, every_distance_tie, smallest_train
from oracle.compare import assert_close, assert_matches_exactly, assert_within_bound
from oracle.datasets import LABELS, dataset
from oracle.outside import asked, everybody, of_questions

TARGETS = [3, -1, 4, 1, -5, 9, 2.5, 6]
UNEVEN = {0: 1, 1: 2, 2: 1, 3: 1}
# (strata, splitter, enumeration)
LAWS = [
    ("2 classes", StratifiedKFold(2), lambda s: oracle.stratified_folds(s, 2)),
    ("3 classes, unbalanced", StratifiedKFold(2), lambda s: oracle.stratified_folds(s, 2)),
    ("2 classes, unbalanced", ClassCounts(1), lambda s: oracle.class_counts(s, {5: 1, -2: 1})),
    (
        "3 classes",
        StratifiedShuffleSplit(test_size=3),
        lambda s: oracle.stratified_shuffles(s, 5, 3),
    ),
    (
        "4 classes, one of one sample",
        ClassCounts(UNEVEN),
        lambda s: oracle.class_counts(s, UNEVEN),
    ),
]
every_law = pytest.mark.parametrize(
    ("strata", "cv", "enumeration"), LAWS, ids=[f"{type(cv).__name__}-{s}" for s, cv, _ in LAWS]
)


@every_distance_tie
@every_law
@pytest.mark.parametrize("points", ["no ties", "duplicates", "heavy ties", "all equally far"])
def test_every_k(points, strata, cv, enumeration, distance_ties):
    """Up to the mean of all training samples; a class of one sample may never be tested."""
    data = dataset(points, strata)
    law = enumeration(data.labels)
    ks = range(1, smallest_train(law) + 1)
    options = {"cv": cv, "strata": data.y, "distance_ties": distance_ties}
    answers = [
        oracle.regress(data.distances, TARGETS, law, k, distance_ties=distance_ties) for k in ks
    ]
    for k, answer in zip(ks, answers, strict=True):
        found = evaluate(KNeighborsRegressor(k), data.X, TARGETS, **options)
        assert_close(found.sample_scores, answer.sample_scores, "errors", 1e-11)
        assert_close(found.sample_weight, answer.sample_weight, "weights")
        assert_within_bound(found.score, answer.score, found.error_bound, "score", 1e-9)
        exact = evaluate(KNeighborsRegressor(k), data.X, TARGETS, exact=True, **options)
        assert_matches_exactly(exact, answer, f"k={k}")
    curve = validation_curve(KNeighborsRegressor(), data.X, TARGETS, n_neighbors=ks, **options)
    check_curve(curve, ks, [answer.score for answer in answers], 1e-9)


@pytest.mark.parametrize("points", ["no ties", "heavy ties"])
def test_questions_from_outside(points):
    data = asked(points, "3 classes")
    strata = data.references.labels
    law = everybody(data, oracle.class_counts(strata, {"a": 1, "b": 2, "c": 1}))
    targets = [*TARGETS, 1, -2, 0.5, 3]
    for k in (1, 2, 4):
        answer = of_questions(oracle.regress(data.distances, targets, law, k), data.n)
        options = {
            "cv": ClassCounts({"a": 1, "b": 2, "c": 1}), "strata": strata,
            "X_test": data.X_test, "y_test": targets[8:],
        }  # fmt: skip
        found = evaluate(KNeighborsRegressor(k), data.references.X, TARGETS, **options)
        assert_within_bound(found.score, answer.score, found.error_bound, "score", 1e-9)
        exact = evaluate(KNeighborsRegressor(k), data.references.X, TARGETS, exact=True, **options)
        assert_matches_exactly(exact, answer)


def test_shots_and_the_usual_folds():
    data = dataset("no ties", "2 classes")
    labels = LABELS["2 classes"]
    curve = learning_curve(
        KNeighborsRegressor(2), data.X, TARGETS, strata=labels, stratify=True, exact=True
    )
    for shots, fraction in zip(curve.x, curve.fractions, strict=True):
        law = oracle.class_counts(labels, dict.fromkeys(labels, int(shots)))
        assert fraction == oracle.regress(data.distances, TARGETS, law, 2).score
    two = evaluate(KNeighborsRegressor(2), data.X, TARGETS, strata=labels, cv=2, exact=True)
    law = oracle.stratified_folds(labels, 2)
    assert two.fraction == oracle.regress(data.distances, TARGETS, law, 2).score
    assert two.classes is None


def test_one_stratum_is_a_fixed_size():
    """On more data, with ties by the dozen, against a way that shares no formula."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(5, size=(80, 2)).astype(float), rng.normal(size=80)
    for k in (1, 4, 7):
        whole = evaluate(KNeighborsRegressor(k), X, y, cv=FixedSize(50))
        strata = evaluate(
            KNeighborsRegressor(k), X, y, cv=ClassCounts({"all": 50}), strata=["all"] * 80
        )
        np.testing.assert_allclose(strata.sample_scores, whole.sample_scores, rtol=1e-11)
        assert abs(strata.score - whole.score) <= strata.error_bound + whole.error_bound


def test_sampled_splits_of_scikit_learn_agree():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 3))
    y = X[:, 0] + 0.3 * rng.normal(size=120)
    strata = np.digitize(y, [-0.5, 0.5])
    exact = evaluate(KNeighborsRegressor(5), X, y, cv=StratifiedKFold(4), strata=strata)
    errors = []
    for seed in range(40):
        folds = StratifiedKFold(4, shuffle=True, random_state=seed)
        for train, test in folds.split(X, strata):
            said = KNeighborsRegressor(5).fit(X[train], y[train]).predict(X[test])
            errors.append(-np.mean((said - y[test]) ** 2))
    runs = np.array(errors).reshape(40, 4).mean(axis=1)
    assert abs(runs.mean() - exact.score) < 4 * runs.std() / np.sqrt(40)
