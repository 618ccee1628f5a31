"""The counted spread on data that is not tiny: depth, threads, order of rows, what is refused."""

import pickle

import numpy as np
import pytest
from sklearn.model_selection import (
    KFold,
    LeaveOneGroupOut,
    LeavePOut,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import Bootstrap, ClassCounts, FixedSize, evaluate
from allsplits.exceptions import InvalidInputError, LongRunWarning, SampledWarning, UnsupportedError
from allsplits.replays.every_split import every_split
from allsplits.replays.sample import scores_of_splits
from allsplits.replays.spread import _SECONDS, _stored_order

CASES = {
    "nearest, fixed size": (FixedSize(0.6), 1, 3),
    "nearest, folds": (KFold(4), 1, 3),
    "nearest, stratified folds": (StratifiedKFold(4), 1, 3),
    "votes, fixed size": (FixedSize(0.7), 4, 2),
    "votes, class counts": (StratifiedShuffleSplit(test_size=0.3), 3, 2),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def data(n, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    return rng.normal(size=(n, 3)) + y[:, None] * 0.8, y


def spread(X, y, cv, k, **options):
    return evaluate(KNeighborsClassifier(k), X, y, cv=cv, **options).split_spread(method="exact")


@every_case
def test_rows_that_are_cut_early_are_within_their_bound(case):
    """A loose tolerance cuts rows; the bound must cover what that changes."""
    cv, k, n_classes = case
    X, y = data(60, n_classes)
    deep, cut = (spread(X, y, cv, k, tol=tol) for tol in (0.0, 1e-5))
    assert deep.std != cut.std
    assert abs(deep.std - cut.std) <= cut.error_bound
    assert deep.error_bound < 1e-8


@every_case
def test_threads_and_the_order_of_rows_do_not_matter(case):
    cv, k, n_classes = case
    X, y = data(71, n_classes)
    one, two = (spread(X, y, cv, k, n_jobs=n_jobs).std for n_jobs in (1, 2))
    assert one == two
    if isinstance(cv, FixedSize):
        shuffled = np.random.default_rng(1).permutation(len(y))
        assert spread(X[shuffled], y[shuffled], cv, k).std == pytest.approx(one, abs=1e-12)


@pytest.mark.parametrize("n", [40, 41])
@every_case
def test_counted_agrees_with_replayed(case, n):
    """Even and odd numbers of rows; 20,000 runs know the spread within 0.5 %."""
    cv, k, n_classes = case
    X, y = data(n, n_classes, seed=n)
    evaluation = evaluate(KNeighborsClassifier(k), X, y, cv=cv)
    sampled = evaluation.split_spread(method="sampled", n_runs=20_000)
    off = abs(sampled.std - evaluation.split_std)
    assert off < 4.5 * sampled.standard_error < 0.04 * sampled.std


@pytest.mark.parametrize("splitter", [KFold, StratifiedKFold])
def test_the_mean_of_folds_spreads_as_in_scikit_learn(splitter):
    """Unequal folds of unequal classes: 2,000 shuffles of scikit-learn, scored in plain numpy."""
    X, y = data(43, 3)
    y[:22] = 0
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    means = []
    for seed in range(2000):
        scores = []
        for train, test in splitter(4, shuffle=True, random_state=seed).split(X, y):
            nearest = train[np.argmin(distances[np.ix_(test, train)], axis=1)]
            scores.append(np.mean(y[nearest] == y[test]))
        means.append(np.mean(scores))
    away = (means - np.mean(means)) ** 2
    sampled = np.sqrt(away.sum() / 1999)
    error = away.std() / np.sqrt(2000) / (2 * sampled)
    assert abs(spread(X, y, splitter(4), 1).std - sampled) < 4.5 * error < 0.1 * sampled


def test_a_split_that_is_always_right_has_no_spread():
    X = np.array([[0.0], [1.0], [2.0], [100.0], [101.0], [102.5]])
    y = [0, 0, 0, 1, 1, 1]
    assert spread(X, y, ShuffleSplit(test_size=2), 1).std == 0


def test_results_say_whether_they_are_sampled():
    X, y = data(40, 3)
    knn = KNeighborsClassifier(3)
    evaluation = evaluate(knn, X, y, cv=5)
    with pytest.warns(SampledWarning, match=r"SAMPLED from 4,000 runs .* more than two classes"):
        sampled = evaluation.split_std
    assert sampled == evaluation.split_spread(method="sampled").std
    found = evaluation.split_spread(n_runs=50)
    assert "SAMPLED from 50 runs" in repr(found)
    assert "more than two classes" in repr(found)
    assert "the mean of 5 folds" in repr(found)
    counted = evaluate(KNeighborsClassifier(1), X, y, cv=FixedSize(0.5)).split_spread()
    assert "exact, of one split" in repr(counted)
    assert not counted.sampled


@pytest.mark.parametrize(
    ("estimator", "options", "reason"),
    [
        (KNeighborsClassifier(3, weights="distance"), {"cv": FixedSize(0.5)}, "equal votes"),
        (KNeighborsRegressor(3), {"cv": FixedSize(0.5)}, "equal votes"),
        (KNeighborsClassifier(1), {"cv": Bootstrap()}, "laws of fixed size"),
        (KNeighborsClassifier(3), {"cv": KFold(3)}, "two folds"),
        (
            KNeighborsClassifier(1),
            {"cv": FixedSize(0.5), "scoring": "balanced_accuracy"},
            "miss a class",
        ),
    ],
)
def test_what_is_not_counted_says_why(estimator, options, reason):
    X, y = data(30, 2)
    evaluation = evaluate(estimator, X, y, **options)
    with pytest.raises(UnsupportedError, match=reason):
        evaluation.split_spread(method="exact")
    assert reason in evaluation.split_spread(n_runs=20).reason


def test_ties_with_many_orders_are_sampled():
    X, y = np.zeros((20, 1)), np.arange(20) % 2
    evaluation = evaluate(KNeighborsClassifier(1), X, y, cv=FixedSize(0.5))
    with pytest.raises(UnsupportedError, match=r"too many orders .*distance_ties='index'"):
        evaluation.split_spread(method="exact")
    with pytest.warns(SampledWarning, match=r"standard error .*split_spread\(\)"):
        assert 0 < evaluation.split_std < 0.2
    in_row_order = evaluate(KNeighborsClassifier(1), X, y, cv=FixedSize(0.5), distance_ties="index")
    assert in_row_order.split_std > 0


def test_few_splits_are_scored_one_by_one():
    """Three groups, or leave-two-out of ten: there is nothing to draw."""
    X, y = data(10, 3)
    groups = np.arange(10) % 3
    for k, options in (
        (2, {"cv": LeaveOneGroupOut(), "groups": groups}),
        (3, {"cv": LeavePOut(2)}),
    ):
        knn = KNeighborsClassifier(k)
        found = evaluate(knn, X, y, **options)
        splits = options["cv"].split(X, y, options.get("groups"))
        scores = [knn.fit(X[a], y[a]).score(X[b], y[b]) for a, b in splits]
        assert found.split_std == pytest.approx(np.std(scores), abs=1e-12)
        spread = found.split_spread()
        assert not spread.sampled
        assert spread.error_bound < 1e-9
        drawn = found.split_spread(method="sampled", n_runs=2000)
        assert abs(drawn.std - spread.std) < 4.5 * drawn.standard_error


@pytest.mark.parametrize(("most", "sampled"), [(45, False), (44, True)])
def test_how_few_splits_are_few(most, sampled, monkeypatch):
    X, y = data(10, 3)
    monkeypatch.setattr("allsplits.replays.spread._MOST_SPLITS", most)
    found = evaluate(KNeighborsClassifier(3), X, y, cv=LeavePOut(2)).split_spread(n_runs=50)
    assert found.sampled == sampled


@pytest.mark.parametrize("cv", [ShuffleSplit(test_size=2, train_size=5), ClassCounts(2)], ids=str)
def test_splits_that_leave_samples_out_and_splits_by_class(cv):
    """Each split once, with the exact mean of the law; tied targets of a regressor, too."""
    X, y = np.round(data(9, 2)[0]), np.array([0, 1, 0, 1, 0, 1, 0, 1, 1])
    found = evaluate(KNeighborsClassifier(2, weights="distance"), X, y, cv=cv)
    question = found.task.samples_question()
    every = every_split(question)
    assert len(every.splits) == found.n_splits
    assert len({(*map(int, a), -1, *map(int, b)) for a, b in every.splits}) == found.n_splits
    scores = scores_of_splits(_stored_order(found.task.neighbors, question), question, every.splits)
    assert every.shares @ scores == pytest.approx(found.score, abs=1e-9)


@every_case
def test_what_would_take_too_long_is_sampled_by_name(case, monkeypatch):
    cv, k, n_classes = case
    X, y = data(40, n_classes)
    evaluation = evaluate(KNeighborsClassifier(k), X, y, cv=cv)
    monkeypatch.setitem(_SECONDS, "auto", 0.0)
    found = evaluation.split_spread(n_runs=20)
    assert found.sampled
    assert "counting all pairs would take" in found.reason
    assert not evaluation.split_spread(method="exact").sampled


def test_a_long_run_is_announced(monkeypatch):
    X, y = data(40, 2)
    evaluation = evaluate(KNeighborsClassifier(3), X, y, cv=FixedSize(0.5))
    monkeypatch.setattr("allsplits.exact.effort._ANNOUNCED", 0.0)
    with pytest.warns(LongRunWarning, match="method='sampled'"):
        evaluation.split_spread()
    with pytest.warns(LongRunWarning, match="a smaller n_runs"):
        evaluation.split_spread(method="sampled", n_runs=20)


@pytest.mark.parametrize(
    ("name", "value"), [("method", "guess"), ("n_runs", 1), ("random_state", -1)]
)
def test_bad_input_is_named(name, value):
    X, y = data(20, 2)
    evaluation = evaluate(KNeighborsClassifier(1), X, y, cv=FixedSize(0.5))
    with pytest.raises(InvalidInputError, match=name):
        evaluation.split_spread(**{name: value})


def test_an_evaluation_that_was_pickled_still_knows_its_spread():
    X, y = data(30, 2)
    evaluation = evaluate(KNeighborsClassifier(1), X, y, cv=FixedSize(0.5))
    again = pickle.loads(pickle.dumps(evaluation))
    assert again.split_std == evaluation.split_std


def test_the_frame_has_the_numbers_of_the_spread():
    X, y = data(40, 2)
    evaluation = evaluate(KNeighborsClassifier(3), X, y, cv=FixedSize(0.5))
    counted, sampled = evaluation.split_spread(), evaluation.split_spread(method="sampled")
    for library in ("pandas", "polars"):
        for found in (counted, sampled):
            frame = found.frame(library)
            assert len(frame) == 1
            for name in ("std", "n_folds", "error_bound", "n_runs", "standard_error", "sampled"):
                assert frame[name][0] == getattr(found, name)
