"""Replays of the nearest class mean: scikit-learn's predictions, and the exact mean of one shot."""

import warnings
from itertools import combinations, product

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import accuracy_score
from sklearn.model_selection import (
    StratifiedShuffleSplit,
    TimeSeriesSplit,
    cross_val_score,
    cross_validate,
)
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

from allsplits import (
    Bootstrap,
    ClassCounts,
    CostMatrix,
    Episodes,
    FixedSize,
    LogLoss,
    evaluate,
    order_neighbors,
    replay,
)
from allsplits.exceptions import InvalidInputError, InvalidTypeError, UnsupportedError
from allsplits.model_selection._options import check_options
from allsplits.model_selection._task import Given, Task
from allsplits.replays.draw import RunDrawer, random_state_of
from allsplits.replays.kernel_types import Dealt

X, Y = make_classification(80, 5, n_informative=4, n_redundant=0, n_classes=4, random_state=3,
                           n_clusters_per_class=1, class_sep=0.7)  # fmt: skip
METRICS = pytest.mark.parametrize("metric", ["euclidean", "manhattan"])


@METRICS
@pytest.mark.parametrize("train_size", [4, 5, 9, 40, 71])
def test_given_splits_have_scikit_learns_scores(metric, train_size):
    """Odd and even numbers in a class: medians of both kinds."""
    names = np.array(["pear", "apple", "fig", "plum"])[Y]
    cv = StratifiedShuffleSplit(20, train_size=train_size, random_state=0)
    splits = list(cv.split(X, names))
    scores = ["accuracy", "balanced_accuracy", "f1_macro", "jaccard_weighted"]
    found = replay(NearestCentroid(metric=metric), X, names, cv=splits, scoring=scores)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of deviations within classes of one sample
        wanted = cross_validate(NearestCentroid(metric=metric), X, names, cv=splits, scoring=scores)
    for name in scores:
        assert found[name].split_scores[:, 0] == pytest.approx(wanted[f"test_{name}"], abs=1e-14)
        assert found[name].tied_share == 0


@METRICS
@pytest.mark.parametrize("n_features", [1, 3, 4, 5, 8, 9])
def test_any_number_of_coordinates(metric, n_features):
    """Squares are added four at a time."""
    points = np.random.default_rng(n_features).normal(size=(80, n_features)) + 0.4 * Y[:, None]
    splits = list(StratifiedShuffleSplit(10, train_size=30, random_state=0).split(points, Y))
    model = NearestCentroid(metric=metric)
    found = replay(model, points, Y, cv=splits).split_scores[:, 0]
    assert found == pytest.approx(cross_val_score(model, points, Y, cv=splits), abs=1e-14)


@METRICS
def test_ties_go_to_the_first_class_or_are_drawn(metric):
    """Whole numbers, four or one in a class: means and distances without rounding."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (48, 2)).astype(float), np.arange(48) % 3
    splits = []
    for _ in range(30):
        train = np.concatenate([rng.choice(np.flatnonzero(y == c), 4, False) for c in range(3)])
        splits.append((train, np.setdiff1d(np.arange(48), train)))
    model = NearestCentroid(metric=metric)
    found = replay(model, X, y, cv=splits, distance_ties="index")
    wanted = []
    for train, test in splits:
        middle = np.median if metric == "manhattan" else np.mean
        means = np.array([middle(X[train][y[train] == c], axis=0) for c in range(3)])
        off = np.abs(X[test][:, None] - means)
        keys = off.sum(axis=2) if metric == "manhattan" else (off**2).sum(axis=2)
        wanted.append(np.mean(keys.argmin(axis=1) == y[test]))
    assert found.split_scores[:, 0].tolist() == wanted
    assert found.tied_share == 0
    drawn = replay(model, X, y, cv=splits, random_state=0)
    assert drawn.tied_share > 0.05
    assert drawn.split_scores.tolist() != found.split_scores.tolist()


@pytest.mark.parametrize("ties", [False, True])
@METRICS
def test_one_shot_has_the_exact_mean(metric, ties):
    points = np.round(X) if ties else X
    model = NearestCentroid(metric=metric)
    found = replay(model, points, Y, cv=ClassCounts(1), n_splits=4000, random_state=0)
    exact = evaluate(model, points, Y, cv=ClassCounts(1)).score
    assert found.mean == found.exact_mean == pytest.approx(exact, abs=1e-13)
    assert abs(found.sampled_mean.value - exact) < 4 * found.sampled_mean.standard_error < 0.02
    assert (found.tied_share > 0.01) is ties
    sharper = replay(model, points, Y, cv=ClassCounts(1), scoring="f1_macro", random_state=0)
    assert sharper.standard_error < 0.8 * sharper.sampled_mean.standard_error
    first = replay(model, points, Y, cv=ClassCounts(1), random_state=0, distance_ties="index")
    assert first.exact_mean is None  # the exact average has the lower row, not the lower class


def test_one_shot_episodes_have_the_exact_mean():
    y = np.arange(80) % 4
    found = replay(NearestCentroid(), X, y, cv=Episodes(3, 1), n_splits=3000, random_state=0)
    assert found.exact_mean == evaluate(NearestCentroid(), X, y, cv=Episodes(3, 1)).score
    mean, error = found.sampled_mean
    assert abs(mean - found.exact_mean) < 4.5 * error


def test_two_shots_of_all_training_sets():
    """Every training set of tiny data, fitted by scikit-learn, against drawn ones."""
    y = np.array([0, 1, 1, 0, 1, 0, 1])
    points = X[:7, :2]
    pairs = [combinations(np.flatnonzero(y == c), 2) for c in (0, 1)]
    scores = []
    for chosen in product(*pairs):
        train = np.concatenate(chosen)
        test = np.setdiff1d(np.arange(7), train)
        model = NearestCentroid().fit(points[train], y[train])
        scores.append(accuracy_score(y[test], model.predict(points[test])))
    found = replay(NearestCentroid(), points, y, cv=ClassCounts(2), n_splits=20_000, random_state=0)
    assert found.exact_mean is None
    assert abs(found.mean - np.mean(scores)) < 4 * found.standard_error < 0.01
    assert found.std.value == pytest.approx(np.std(scores), abs=4 * found.std.standard_error)
    assert "nearest class mean" in repr(found)


@METRICS
@pytest.mark.parametrize(
    "cv", [ClassCounts(3), Episodes(3, 2), FixedSize(20), 5, Bootstrap(), TimeSeriesSplit(4)],
    ids=str,
)  # fmt: skip
def test_threads_do_not_change_a_bit(metric, cv, monkeypatch):
    monkeypatch.setattr("allsplits.replays.batch._LONG_RUN", 0.0)
    kind = {"cv": cv, "n_splits": 300, "random_state": 3}
    points = np.round(X, 1)
    one, three = (
        replay(NearestCentroid(metric=metric), points, Y, n_jobs=jobs, **kind) for jobs in (1, 3)
    )
    assert one.split_scores.tolist() == three.split_scores.tolist()


@METRICS
def test_draws_with_replacement_count_copies(metric):
    """The splits of a bootstrap, written out with their copies."""
    found = replay(NearestCentroid(metric=metric), X, Y, cv=Bootstrap(), n_splits=5, random_state=1)
    task = Task.read(KNeighborsClassifier(1), Given(X, Y, Bootstrap()), check_options())
    drawer, dealt = RunDrawer(task.question()), Dealt.room_for(len(X))
    for run in range(5):
        drawer.deal(random_state_of(1, run), dealt)
        train, test = np.repeat(np.arange(80), dealt.copies), dealt.folds >= 0
        model = NearestCentroid(metric=metric).fit(X[train], Y[train])
        assert found.split_scores[run, 0] == pytest.approx(model.score(X[test], Y[test]), abs=1e-14)


def test_until_and_other_scores():
    found = replay(NearestCentroid(), X, Y, cv=ClassCounts(5), until=3e-3, random_state=0)
    assert found.reached
    assert found.standard_error <= 3e-3
    costs = np.arange(16).reshape(4, 4)
    scores = {
        "right": lambda t, p: np.mean(t == p),
        "costs": CostMatrix(costs),
        "one": "recall_of:1",
    }
    several = replay(NearestCentroid(), X, Y, cv=ClassCounts(5), scoring=scores, random_state=0)
    plain = replay(NearestCentroid(), X, Y, cv=ClassCounts(5), random_state=0)
    assert several["right"].split_scores.tolist() == plain.split_scores.tolist()
    assert several["costs"].mean < 0 < several["one"].mean < 1


def test_a_class_that_does_not_train_is_never_given():
    y = np.repeat([0, 1, 2, 3], 20)
    found = replay(NearestCentroid(), X, y, cv=[(range(40), range(40, 80))])
    assert found.mean == 0
    alone = replay(NearestCentroid(), X, y, cv=[(range(20), range(20, 80))])
    assert alone.mean == 0


@pytest.mark.parametrize(
    "scoring",
    ["neg_log_loss", "roc_auc_ovr", "average_precision", "neg_brier_score", "top_2_accuracy",
     LogLoss(1)],
    ids=str,
)  # fmt: skip
def test_scores_of_shares_are_refused(scoring):
    with pytest.raises(InvalidInputError, match="needs shares of the classes"):
        replay(NearestCentroid(), X, Y, cv=ClassCounts(2), scoring=scoring)


def test_what_is_refused():
    with pytest.raises(UnsupportedError, match=r"priors .* must be 'uniform' unless"):
        replay(NearestCentroid(priors="empirical"), X, Y, cv=FixedSize(30))
    same = replay(NearestCentroid(priors="empirical"), X, Y, cv=ClassCounts(3), random_state=0)
    assert same.mean == replay(NearestCentroid(), X, Y, cv=ClassCounts(3), random_state=0).mean
    with pytest.raises(InvalidInputError, match="shrink_threshold"):
        replay(NearestCentroid(shrink_threshold=0.1), X, Y, cv=5)
    with pytest.raises(InvalidTypeError, match="dense array of samples"):
        replay(NearestCentroid(), order_neighbors(X, metric="euclidean"), Y, cv=5)
    with pytest.raises(UnsupportedError, match="label_ties must be 'first'"):
        replay(NearestCentroid(), X, Y, cv=5, label_ties="share")
    with pytest.raises(InvalidInputError, match="'recall@2'"):
        replay(NearestCentroid(), X, Y, cv=5, scoring="recall@2")
    with pytest.raises(UnsupportedError, match=r"replay\(NearestCentroid\(\), X, y, cv="):
        evaluate(NearestCentroid(), X, Y, cv=ClassCounts(5))
