"""`audit_split` against enumeration: the split's own score, the mean, the spread, and its place."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import audit_split
from oracle import enumerate as oracle
from oracle import spread
from oracle.checks import every_tie
from oracle.datasets import GEOMETRIES, N, dataset

SPLITS = [((0, 1, 2, 3, 4), (5, 6, 7)), ((7, 2, 5), (0, 1, 3, 4, 6)), ((6, 3, 4, 1, 0, 5), (2, 7))]
TARGETS = [3, -1, 4, 1, -5, 9, 2, 6]


def manhattan(X):
    """Whole distances, so that one over them is a fraction."""
    return oracle.given_distances(np.abs(X[:, None] - X[None]).sum(axis=2))


def alone(train, test):
    """The law of one split."""
    return [oracle.Split(Fraction(1), tuple(sorted(train)), tuple(sorted(test)))]


def audited(estimator, X, y, split, **options):
    return audit_split(estimator, X, y, *split, n_runs=100, **options)


@every_tie
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("points", GEOMETRIES)
@pytest.mark.parametrize("labels", ["2 classes", "3 classes"])
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_the_score_of_a_split_averages_over_the_orders_of_the_tied(
    weights, labels, points, k, ties
):
    data = dataset(points, labels)
    distances, y = manhattan(data.X), data.labels
    knn = KNeighborsClassifier(k, weights=weights, metric="manhattan")
    weigh = None if weights == "uniform" else oracle.one_over_distance
    for train, test in SPLITS:
        if {y[i] for i in test} <= {y[i] for i in train}:
            found = audited(knn, data.X, data.y, (train, test), **ties)
            law = alone(train, test)
            expected = oracle.classify(distances, y, law, k, weigh=weigh, **ties)
            assert found.score == pytest.approx(float(expected.score), abs=1e-12)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("distance_ties", ["average", "index"])
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("points", GEOMETRIES)
def test_means_of_tied_neighbours_too(points, k, distance_ties, weights):
    X = dataset(points, "2 classes").X
    knn = KNeighborsRegressor(k, weights=weights, metric="manhattan")
    options = {"distance_ties": distance_ties}
    if weights == "distance":
        options["weigh"] = oracle.one_over_distance
    for split in SPLITS:
        found = audited(knn, X, TARGETS, split, distance_ties=distance_ties)
        expected = oracle.regress(manhattan(X), TARGETS, alone(*split), k, **options)
        assert found.score == pytest.approx(float(expected.score), rel=1e-12)


@pytest.mark.parametrize("rank", [1, 2, 7])
@pytest.mark.parametrize("points", GEOMETRIES)
def test_recall_of_tied_neighbours_too(points, rank):
    data = dataset(points, "2 classes")
    for split in SPLITS:
        knn = KNeighborsClassifier(1)
        found = audited(knn, data.X, data.y, split, scoring=f"recall@{rank}")
        expected = oracle.recall(data.distances, data.labels, alone(*split), rank)
        assert found.score == pytest.approx(float(expected.score), abs=1e-12)


LAWS = {
    "plain": ({"stratify": False}, lambda y, train: oracle.fixed_size(N, len(train))),
    "stratified": (
        {"stratify": True},
        lambda y, train: oracle.class_counts(y, {c: [y[i] for i in train].count(c) for c in y}),
    ),
}


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("points", ["no ties", "heavy ties"])
@pytest.mark.parametrize(
    ("law", "balanced"), [("plain", False), ("stratified", False), ("stratified", True)]
)
def test_mean_spread_and_place_are_those_of_all_splits(law, balanced, points, k):
    data = dataset(points, "2 classes")
    options, splits_of = LAWS[law]
    train, test = SPLITS[0]
    runs = spread.of_splits(splits_of(data.labels, train))
    scores = spread.run_scores(data, runs, k, balanced=balanced)
    mean, variance = spread.moments(scores)
    scoring = "balanced_accuracy" if balanced else "accuracy"
    found = audit_split(
        KNeighborsClassifier(k), data.X, data.y, train, test, scoring=scoring, n_runs=20_000,
        **options,
    )  # fmt: skip
    assert found.evaluation.n_splits == len(runs)
    assert found.mean == pytest.approx(float(mean), abs=1e-12)
    std = float(variance) ** 0.5
    near = 1e-9 if not found.spread.sampled else 5 * found.spread.standard_error
    assert found.split_std == pytest.approx(std, abs=near)
    assert found.z == pytest.approx((found.score - float(mean)) / found.split_std, abs=1e-9)
    (own,) = (
        score
        for run, (_, score) in zip(runs, scores, strict=True)
        if set(run.splits[0][0]) == set(train)
    )
    assert found.score == pytest.approx(float(own), abs=1e-12)
    # All splits are scored, since they are few: nothing is off by chance.
    assert not found.sampled
    assert found.luck_error == 0
    good = sum((w for w, score in scores if score >= own), Fraction(0))
    bad = sum((w for w, score in scores if score <= own), Fraction(0))
    assert found.at_least_as_good == pytest.approx(float(good), abs=1e-12)
    assert found.at_least_as_bad == pytest.approx(float(bad), abs=1e-12)
    expected = sorted(float(score) for _, score in scores)
    np.testing.assert_allclose(np.sort(found.run_scores), expected, atol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("points", ["one pair of twins", "heavy ties", "all identical"])
def test_drawn_splits_are_scored_as_all_are(points, k, monkeypatch):
    """Splits that score the same in Fractions count as the same, whatever their ties."""
    monkeypatch.setattr("allsplits.replays.spread._MOST_SPLITS", 0)
    data = dataset("no ties" if points == "one pair of twins" else points, "2 classes")
    X = data.X.copy()
    if points == "one pair of twins":
        X[6] = X[1]
        data = data._replace(X=X)
    runs = spread.of_splits(oracle.fixed_size(N, 5))
    scores = spread.run_scores(data, runs, k)
    values = [score for _, score in scores]
    for place in (0, 11, 55):
        train, test = runs[place].splits[0]
        if not {data.labels[i] for i in test} <= {data.labels[i] for i in train}:
            continue
        found = audit_split(KNeighborsClassifier(k), X, data.y, train, test, stratify=False)
        assert found.sampled
        good = sum(value >= values[place] for value in values) / len(values)
        bad = sum(value <= values[place] for value in values) / len(values)
        for drawn, share in ((found.at_least_as_good, good), (found.at_least_as_bad, bad)):
            assert abs(drawn - share) <= 4 * np.sqrt(share * (1 - share) / 4000)


def test_groups_stay_together():
    data = dataset("no ties", "2 classes")
    groups = [0, 0, 1, 2, 2, 1, 3, 3]
    train, test = (0, 1, 2, 5, 6, 7), (3, 4)
    law = oracle.group_subsets(groups, 1)
    found = audited(KNeighborsClassifier(1), data.X, data.y, (train, test), groups=groups)
    expected = oracle.classify(data.distances, data.labels, law, 1)
    assert found.mean == pytest.approx(float(expected.score), abs=1e-12)
    right = spread.judge(data, 1)
    own = oracle.mean(right(i, train) for i in test)
    assert found.score == pytest.approx(float(own), abs=1e-12)
    drawn = {round(float(oracle.mean(right(i, s.train) for i in s.test)), 9): s.weight for s in law}
    assert set(np.round(found.run_scores, 9)) <= set(drawn)


def test_what_the_test_samples_score_over_all_training_sets():
    """The split's distance to the mean is that of its test samples and that of its training set."""
    data = dataset("no ties", "3 classes")
    train, test = (0, 1, 2, 3, 4), (5, 6, 7)
    found = audited(KNeighborsClassifier(1), data.X, data.y, (train, test), stratify=False)
    right = spread.judge(data, 1)
    of_test = oracle.mean(
        oracle.mean(right(i, some) for some in combinations(oracle.all_but(N, [i]), 5))
        for i in test
    )
    assert found.test_mean == pytest.approx(float(of_test), abs=1e-12)


def test_rows_in_neither_part_play_no_part():
    data = dataset("heavy ties", "3 classes")
    train, test = (6, 0, 2, 5), (3, 1)
    rows = [0, 1, 2, 3, 5, 6]
    knn = KNeighborsClassifier(1)
    found = audit_split(knn, data.X, data.y, train, test, n_runs=500)
    small = audit_split(knn, data.X[rows], data.y[rows], [5, 0, 2, 4], [3, 1], n_runs=500)
    assert (found.score, found.mean, found.split_std) == (small.score, small.mean, small.split_std)
    np.testing.assert_array_equal(found.run_scores, small.run_scores)
    expected = oracle.classify(data.distances, data.labels, alone(train, test), 1)
    assert found.score == pytest.approx(float(expected.score), abs=1e-12)
