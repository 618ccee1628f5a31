"""Replayed runs: each is scored as scikit-learn would, and their spread has an honest error."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.model_selection import GroupShuffleSplit, KFold, LeavePGroupsOut, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import (
    Bernoulli,
    Bootstrap,
    ClassCounts,
    Episodes,
    FixedSize,
    evaluate,
    order_neighbors,
)
from allsplits.exact import Column
from allsplits.replays._kernels_replay import replay_run
from allsplits.replays.draw import RunDrawer, random_state_of
from allsplits.replays.kernel_types import ReplayRows, ReplayWork
from allsplits.replays.sample import spread_of, vote_of
from oracle import enumerate as oracle
from oracle import spread
from oracle.datasets import dataset

LAWS = {
    "fixed size": FixedSize(0.6),
    "class counts": ClassCounts(4),
    "folds": KFold(4),
    "stratified folds": StratifiedKFold(3),
    "independent draws": Bernoulli(0.5),
    "bootstrap": Bootstrap(),
    "leave groups out": LeavePGroupsOut(2),
    "shuffled groups": GroupShuffleSplit(test_size=2, train_size=4),
}
ESTIMATORS = {
    "majority": KNeighborsClassifier(3),
    "weighted": KNeighborsClassifier(3, weights="distance"),
    "mean": KNeighborsRegressor(3),
    "weighted mean": KNeighborsRegressor(3, weights="distance"),
}


def data(n=37):
    rng = np.random.default_rng(5)
    y = rng.integers(3, size=n)
    return rng.normal(size=(n, 2)) + y[:, None], y, np.arange(n) % 7


def replayed(evaluation, seed):
    """One run, and its score."""
    task = evaluation.task
    question = task.ask([Column(task.n_neighbors, task.law)], want_samples=True)
    run = RunDrawer(question)(random_state_of(seed, 0))
    order = order_neighbors(task.points, depth=len(task.y) - 1)
    weights = np.empty(0) if question.weights is None else question.weights.of(order)
    rows = ReplayRows(order.indptr, order.flat_indices, order.tied, weights)
    work = ReplayWork(np.zeros((2, 5)), np.zeros(3), np.zeros(1, dtype=np.uint64))
    return run, replay_run(rows, vote_of(question), run, work)


def scored_by_sklearn(estimator, X, y, run, score):
    """The mean over folds of the score of a fitted estimator; copies are fitted as copies."""
    scores = []
    for fold in range(run.folds.max() + 1):
        test = np.flatnonzero(run.folds == fold)
        train = np.flatnonzero((run.folds != fold) & (run.copies > 0))
        train = np.repeat(train, run.copies[train])
        scores.append(score(y[test], estimator.fit(X[train], y[train]).predict(X[test])))
    return np.mean(scores)


def accuracy(true, predicted):
    return np.mean(true == predicted)


def negative_squared_error(true, predicted):
    return -np.mean((true - predicted) ** 2)


@pytest.mark.parametrize("law", LAWS)
def test_a_run_of_every_law_is_scored_as_scikit_learn_does(law):
    X, y, groups = data()
    evaluation = evaluate(KNeighborsClassifier(3), X, y, cv=LAWS[law], groups=groups)
    for seed in range(5):
        run, (once, again) = replayed(evaluation, seed)
        expected = scored_by_sklearn(KNeighborsClassifier(3), X, y, run, accuracy)
        assert once == again == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("vote", ESTIMATORS)
def test_a_run_of_every_vote_is_scored_as_scikit_learn_does(vote):
    X, y, _ = data()
    estimator = ESTIMATORS[vote]
    score = negative_squared_error if "mean" in vote else accuracy
    evaluation = evaluate(estimator, X, y, cv=FixedSize(0.6))
    for seed in range(5):
        run, (once, _) = replayed(evaluation, seed)
        assert once == pytest.approx(scored_by_sklearn(estimator, X, y, run, score), abs=1e-12)


def test_episodes_count_their_classes_equally():
    X, y, _ = data()
    evaluation = evaluate(KNeighborsClassifier(1), X, y, cv=Episodes(2, 3))
    run, (once, _) = replayed(evaluation, 1)
    train, test = np.flatnonzero(run.copies), np.flatnonzero(run.folds == 0)
    right = KNeighborsClassifier(1).fit(X[train], y[train]).predict(X[test]) == y[test]
    assert len(set(y[test])) == 2
    assert once == pytest.approx(np.mean([right[y[test] == c].mean() for c in set(y[test])]))


def test_recall_looks_at_all_of_the_nearest():
    X, y, _ = data()
    evaluation = evaluate(KNeighborsClassifier(1), X, y, cv=FixedSize(0.4), scoring="recall@3")
    run, (once, _) = replayed(evaluation, 2)
    train, test = np.flatnonzero(run.copies), np.flatnonzero(run.folds == 0)
    found = KNeighborsClassifier(3).fit(X[train], y[train]).kneighbors(X[test])[1]
    assert once == pytest.approx(np.mean((y[train][found] == y[test][:, None]).any(axis=1)))


@pytest.mark.parametrize("ties", [("average", "share"), ("average", "first"), ("index", "first")])
@pytest.mark.parametrize("points", ["heavy ties", "all identical"])
def test_tied_votes_of_three_classes_against_enumeration(points, ties):
    """The spread of scores that average over tied orders, not of one order."""
    names = dict(zip(("distance_ties", "label_ties"), ties, strict=True))
    sample = dataset(points, "3 classes")
    runs = spread.of_splits(oracle.fixed_size(8, 5))
    _, variance = spread.moments(spread.run_scores(sample, runs, 2, **names))
    evaluation = evaluate(KNeighborsClassifier(2), sample.X, sample.y, cv=FixedSize(5), **names)
    found = evaluation.split_spread(method="sampled", n_runs=20_000)
    assert abs(found.std - float(variance) ** 0.5) < 4.5 * found.standard_error
    assert found.standard_error < 0.03


def test_the_standard_error_is_that_of_many_seeds():
    """200 runs each, 300 seeds: mean, spread and coverage of what is claimed."""
    X, y, _ = data()
    evaluation = evaluate(KNeighborsClassifier(1), X, y, cv=FixedSize(0.6))
    exact = evaluation.split_std
    found = [
        evaluation.split_spread(method="sampled", n_runs=200, random_state=seed)
        for seed in range(300)
    ]
    stds = np.array([one.std for one in found])
    errors = np.array([one.standard_error for one in found])
    assert stds.mean() == pytest.approx(exact, rel=0.012)
    assert errors.mean() == pytest.approx(stds.std(ddof=1), rel=0.15)
    assert 0.91 < np.mean(np.abs(stds - exact) < 1.96 * errors) < 0.98


def test_the_spread_of_given_scores():
    scores = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    assert spread_of(scores).std == 0
    same = np.repeat(np.array([[0.25], [0.75], [0.5]]), 2, axis=1)
    assert spread_of(same).std == pytest.approx(float(Fraction(1, 4)))


def test_seeds_and_threads():
    X, y, _ = data()
    one, two = (
        evaluate(KNeighborsClassifier(3), X, y, cv=5, n_jobs=jobs).split_spread(n_runs=100)
        for jobs in (1, 2)
    )
    assert one == two
    other = evaluate(KNeighborsClassifier(3), X, y, cv=5)
    assert other.split_spread(n_runs=100, random_state=1).std != one.std
