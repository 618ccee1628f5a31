"""Replayed runs: each is scored as scikit-learn would, and their spread has an honest error."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import comb

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
from allsplits.replays._kernels_choices import hypergeometric, value_samples
from allsplits.replays.draw import RunDrawer, random_state_of
from allsplits.replays.kernel_types import ReplayRows, ReplayWork
from allsplits.replays.sample import choice_work, spread_of, vote_of
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
    work = ReplayWork.room_for(question.n_classes, np.zeros(1, dtype=np.uint64))
    room, values = choice_work(question), np.empty(len(run.folds))
    return run, value_samples(rows, vote_of(question), run, work, room, values)


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
    groups = groups if "groups" in law else None
    evaluation = evaluate(KNeighborsClassifier(3), X, y, cv=LAWS[law], groups=groups)
    for seed in range(5):
        run, once = replayed(evaluation, seed)
        expected = scored_by_sklearn(KNeighborsClassifier(3), X, y, run, accuracy)
        assert once == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("vote", ESTIMATORS)
def test_a_run_of_every_vote_is_scored_as_scikit_learn_does(vote):
    X, y, _ = data()
    estimator = ESTIMATORS[vote]
    score = negative_squared_error if "mean" in vote else accuracy
    evaluation = evaluate(estimator, X, y, cv=FixedSize(0.6))
    for seed in range(5):
        run, once = replayed(evaluation, seed)
        assert once == pytest.approx(scored_by_sklearn(estimator, X, y, run, score), abs=1e-12)


def test_episodes_count_their_classes_equally():
    X, y, _ = data()
    evaluation = evaluate(KNeighborsClassifier(1), X, y, cv=Episodes(2, 3))
    run, once = replayed(evaluation, 1)
    train, test = np.flatnonzero(run.copies), np.flatnonzero(run.folds == 0)
    right = KNeighborsClassifier(1).fit(X[train], y[train]).predict(X[test]) == y[test]
    assert len(set(y[test])) == 2
    assert once == pytest.approx(np.mean([right[y[test] == c].mean() for c in set(y[test])]))


def test_recall_looks_at_all_of_the_nearest():
    X, y, _ = data()
    evaluation = evaluate(KNeighborsClassifier(1), X, y, cv=FixedSize(0.4), scoring="recall@3")
    run, once = replayed(evaluation, 2)
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


@pytest.mark.parametrize("size", [1, 2, 7, 60, 3000])
def test_hypergeometric_chances(size):
    """Also where single factors would vanish, and where all or none are taken."""
    some = sorted({0, 1, size // 3, size // 2, size - 1, size})
    for marked, taken in product(some, some):
        chances = np.full(size + 1, np.nan)
        low, high = hypergeometric(size, marked, taken, chances)
        assert (low, high) == (max(0, marked + taken - size), min(marked, taken))
        ways = [comb(marked, e) * comb(size - marked, taken - e) for e in range(low, high + 1)]
        exact = [float(Fraction(number, sum(ways))) for number in ways]
        np.testing.assert_allclose(chances[low : high + 1], exact, rtol=1e-11, atol=1e-300)


def over_choices(distances, items, voters, judge):
    """The mean of what `judge` makes of the voters over all choices among the tied."""
    by_distance = sorted(items, key=lambda item: distances[item])
    last = distances[by_distance[voters - 1]]
    sure = [item for item in items if distances[item] < last]
    tied = [item for item in items if distances[item] == last]
    chosen = list(combinations(tied, voters - len(sure)))
    return sum((judge([*sure, *some]) for some in chosen), Fraction(0)) / len(chosen)


@pytest.mark.parametrize("k", [1, 2, 3, 5, 6])
@pytest.mark.parametrize("share", ["first", "share"])
@pytest.mark.parametrize("law", ["fixed size", "bootstrap", "folds"])
def test_choices_among_the_tied_in_fractions(law, share, k):
    """Four classes on a tiny grid; bags have copies, which are tied with each other."""
    rng = np.random.default_rng(k)
    X, y = rng.integers(2, size=(14, 2)).astype(float), np.arange(14) % 4
    evaluation = evaluate(KNeighborsClassifier(k), X, y, cv=LAWS[law], label_ties=share)
    distances = ((X[:, None] - X) ** 2).sum(axis=2).astype(int)
    for seed in range(4):
        run, found = replayed(evaluation, seed)
        folds = []
        for fold in range(run.folds.max() + 1):
            train = np.flatnonzero((run.folds != fold) & (run.copies > 0))
            items = np.repeat(train, run.copies[train]).tolist()

            def right(chosen, own):
                votes = Counter(y[item] for item in chosen)
                first = [c for c in sorted(votes) if votes[c] == max(votes.values())]
                if share == "share":
                    return Fraction(int(own in first), len(first))
                return Fraction(int(first[0] == own))

            tested = np.flatnonzero(run.folds == fold)
            folds.append(
                sum(
                    over_choices(distances[i], items, k, lambda chosen, i=i: right(chosen, y[i]))
                    for i in tested
                )
                / len(tested)
            )
        assert found == pytest.approx(float(sum(folds) / len(folds)), abs=1e-13)


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
    assert spread_of(np.array([0.25, 0.75, 0.5])).std == pytest.approx(float(Fraction(1, 4)))
    assert spread_of(np.array([0.3, 0.1 + 0.2, 0.3])) == (0.0, 0.0)


def test_seeds_and_threads():
    X, y, _ = data()
    one, two = (
        evaluate(KNeighborsClassifier(3), X, y, cv=5, n_jobs=jobs).split_spread(n_runs=100)
        for jobs in (1, 2)
    )
    assert one == two
    other = evaluate(KNeighborsClassifier(3), X, y, cv=5)
    assert other.split_spread(n_runs=100, random_state=1).std != one.std
