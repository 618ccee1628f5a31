"""Scores of votes on given splits, and the exact means that replays show beside drawn ones."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import brier_score_loss, top_k_accuracy_score
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    RadiusNeighborsClassifier,
)

from allsplits import Bootstrap, ClassCounts, CostMatrix, Episodes, LogLoss, evaluate, replay
from allsplits.exceptions import InvalidInputError, InvalidTypeError, UnsupportedError

X, Y = make_classification(120, 4, n_informative=3, n_redundant=0, n_classes=4, random_state=1,
                           n_clusters_per_class=1, weights=[0.1, 0.3, 0.3, 0.3])  # fmt: skip
GROUPS = np.arange(120) % 12
KNN = KNeighborsClassifier(4)
COSTS = CostMatrix(np.arange(16.0).reshape(4, 4) % 5)
#: What replay is asked for -> what evaluate calls the same.
SAME = {
    "accuracy": "accuracy",
    "f1_micro": "accuracy",
    "precision_micro": "accuracy",
    "recall_micro": "accuracy",
    "neg_log_loss": "neg_log_loss",
    "neg_brier_score": "neg_brier_score",
    "neg_log_loss+0.5": LogLoss(0.5),
    "top_3_accuracy": "top_3_accuracy",
    "costs": COSTS,
}
BY_CLASS = {
    "balanced_accuracy": "balanced_accuracy",
    "recall_macro": "balanced_accuracy",
    "recall_of:2": "recall_of:2",
}
LAWS = [KFold(7), StratifiedKFold(5), ShuffleSplit(test_size=0.3), ClassCounts(3),
        StratifiedShuffleSplit(test_size=31), GroupShuffleSplit(test_size=3)]  # fmt: skip


def asked(names):
    return {name: COSTS if name == "costs" else name for name in names}


@pytest.mark.parametrize("label_ties", ["first", "share"])
@pytest.mark.parametrize("cv", LAWS, ids=lambda cv: type(cv).__name__)
def test_drawn_means_agree_with_the_exact_ones(cv, label_ties):
    """Rounded points: distances are tied, and a vote of four is often even."""
    points, classed = np.round(X, 0), isinstance(cv, (ClassCounts, StratifiedKFold))
    classed |= isinstance(cv, StratifiedShuffleSplit)
    names = {**SAME, **BY_CLASS}
    if not classed:
        del names["recall_of:2"]  # some test sets lack the class
    groups = GROUPS if "Group" in type(cv).__name__ else None
    options = {"cv": cv, "groups": groups, "label_ties": label_ties}
    found = replay(KNN, points, Y, scoring=asked(names), n_splits=3000, random_state=0, **options)
    for name, same in names.items():
        one = found[name]
        if name in BY_CLASS and not classed:
            assert one.exact_mean is None
            continue
        exact = evaluate(KNN, points, Y, scoring=same, **options)
        assert one.exact_mean == pytest.approx(exact.score, rel=1e-12), name
        assert one.error_bound <= 2 * exact.error_bound + 1e-12
        mean, error = one.sampled_mean
        assert abs(mean - exact.score) < 4.5 * error, name
        assert "exact, sampled" in repr(one)


def test_a_class_that_a_test_set_lacks_has_no_recall_to_average():
    """Seven folds of a class of five: some test sets lack it, and the macro recall with it."""
    y = np.r_[np.zeros(5, int), np.ones(50, int), np.full(65, 2)]
    points = np.random.default_rng(0).normal(size=(120, 2))
    with pytest.warns(UserWarning, match="least populated"):
        cv = list(StratifiedKFold(7).split(points, y))
    assert any(len(set(y[test])) < 3 for _, test in cv)
    for scoring in ("balanced_accuracy", "recall_macro"):
        found = replay(KNN, points, y, cv=ClassCounts({0: 5, 1: 20, 2: 20}), scoring=scoring)
        assert found.exact_mean is None
        assert found.control is not None


def test_top_k_is_counted_as_scikit_learn_does_and_has_no_exact_mean():
    """Of classes with as many votes scikit-learn has the last first, `evaluate` the first."""
    found = replay(KNN, np.round(X), Y, scoring="top_k_accuracy", n_splits=500, random_state=0)
    assert found.exact_mean is None
    assert found.control.name == "accuracy"


def test_weighted_votes_have_no_exact_mean_of_shares():
    weighted = KNeighborsClassifier(4, weights="distance")
    found = replay(weighted, X, Y, scoring=["neg_brier_score", COSTS], n_splits=50)
    assert found["neg_brier_score"].exact_mean is None
    with pytest.raises(UnsupportedError, match=r"'neg_log_loss\+1' needs equal votes"):
        replay(weighted, X, Y, scoring=LogLoss(1))


def by_hand(knn, train, test):
    shares = knn.fit(X[train], Y[train]).predict_proba(X[test])
    assert shares.shape[1] == 4
    return shares, knn.predict(X[test])


def test_scores_of_votes_on_given_splits():
    splits = list(StratifiedShuffleSplit(9, test_size=0.5, random_state=0).split(X, Y))
    names = ["neg_brier_score", "neg_log_loss+0.5", "top_3_accuracy", "costs", "recall_of:2"]
    found = replay(KNN, X, Y, cv=splits, scoring=asked(names))
    for number, (train, test) in enumerate(splits):
        shares, given = by_hand(KNN, train, test)
        own = shares[np.arange(len(test)), Y[test]]
        order = np.argsort(-shares, axis=1, kind="stable")
        wanted = {
            "neg_brier_score": -brier_score_loss(Y[test], shares, labels=range(4)),
            "neg_log_loss+0.5": np.log((4 * own + 0.5) / 6).mean(),
            "top_3_accuracy": (order[:, :3] == Y[test][:, None]).any(axis=1).mean(),
            "costs": -COSTS.costs[Y[test], given].mean(),
            "recall_of:2": (given == 2)[Y[test] == 2].mean(),
        }
        for name, value in wanted.items():
            assert found[name].split_scores[number, 0] == pytest.approx(value, abs=1e-13), name
    scikit = replay(KNN, X, Y, cv=splits, scoring="top_k_accuracy")
    shares, _ = by_hand(KNN, *splits[0])
    assert scikit.split_scores[0, 0] == top_k_accuracy_score(Y[splits[0][1]], shares)


def test_two_classes_have_half_the_brier_score():
    y, splits = Y // 2, list(StratifiedKFold(4).split(X, Y // 2))
    found = replay(KNN, X, y, cv=splits, scoring="neg_brier_score").split_scores[:, 0]
    assert found == pytest.approx(cross_val_score(KNN, X, y, cv=splits, scoring="neg_brier_score"))


#: What evaluate has no closed form for, and points to replay.
POINTED = {
    "later": (TimeSeriesSplit(4), COSTS),
    "groups": (GroupKFold(3), "neg_log_loss+1"),
    "episodes": (Episodes(3, 4), "top_2_accuracy"),
    "function": (5, lambda true, given: np.mean(true == given)),
}


@pytest.mark.parametrize("name", POINTED)
def test_what_evaluate_points_to_is_replayed(name):
    cv, scoring = POINTED[name]
    groups = GROUPS if name == "groups" else None
    with pytest.raises((InvalidInputError, InvalidTypeError), match=r"replay\(\.\.\.\) takes any"):
        evaluate(KNN, X, Y, cv=cv, scoring=scoring, groups=groups)
    found = replay(KNN, X, Y, cv=cv, scoring=scoring, groups=groups, n_splits=20, random_state=0)
    assert np.isfinite(found.mean)


def test_strata_of_weighted_means_are_replayed():
    knn, target = KNeighborsRegressor(3, weights="distance"), X[:, 0] + 0.1 * Y
    options = {"cv": ClassCounts(8), "strata": Y}
    with pytest.raises(UnsupportedError, match=r"replay\(\.\.\.\) takes any splitter"):
        evaluate(knn, X, target, **options)
    found = replay(knn, X, target, n_splits=200, random_state=0, **options)
    assert np.isfinite(found.mean)
    assert "8 samples of each of 4 classes" in repr(found)
    plain = replay(KNeighborsRegressor(3), X, target, n_splits=3000, random_state=0, **options)
    exact = evaluate(KNeighborsRegressor(3), X, target, **options).score
    assert plain.mean == pytest.approx(exact, rel=1e-12)
    assert abs(plain.sampled_mean.value - exact) < 4.5 * plain.sampled_mean.standard_error
    with pytest.raises(InvalidInputError, match="strata must be None for a classifier"):
        replay(KNN, X, Y, strata=Y)


@pytest.mark.parametrize(
    ("cv", "model", "scoring"),
    [
        (Bootstrap(), KNN, "map@r"),
        (TimeSeriesSplit(3), KNN, "map"),
        (TimeSeriesSplit(3), RadiusNeighborsClassifier(1.0), None),
    ],
    ids=str,
)
def test_what_is_refused_by_both_does_not_go_in_a_circle(cv, model, scoring):
    refused = (InvalidInputError, InvalidTypeError)
    with pytest.raises(refused) as one:
        evaluate(model, X, Y, cv=cv, scoring=scoring)
    with pytest.raises(refused) as other:
        replay(model, X, Y, cv=cv, scoring=scoring)
    assert "any score," not in str(one.value)
    assert "known" in str(other.value)
    assert "where cv is KFold" in str(other.value)


@pytest.mark.parametrize("until", [None, 0.1])
def test_no_run_is_left(until, recwarn):
    def none(true, given):
        return np.nan

    def fails(true, given):
        raise ValueError("never")

    words = r"no run was left: scoring='none' failed, or was NaN, in all \d+"
    with pytest.raises(InvalidInputError, match=words):
        replay(KNN, X, Y, scoring=none, error_score=np.nan, n_splits=700, until=until)
    with pytest.raises(InvalidInputError, match=r"no run was left.*: ValueError: never"):
        replay(KNN, X, Y, scoring=fails, error_score=np.nan, n_splits=10)
    assert not [one for one in recwarn if issubclass(one.category, RuntimeWarning)]


def test_given_splits_are_counted_not_printed():
    splits = list(KFold(5).split(X))
    for cv in (splits, iter(splits), KFold(5).split(X)):
        assert repr(replay(KNN, X, Y, cv=cv)).endswith("n_neighbors=4, 5 given splits)")
    late = replay(KNN, X, Y, cv=TimeSeriesSplit(3))
    assert late.cv == "3 given splits of TimeSeriesSplit"
    assert replay(KNN, X, Y, cv=splits[:1]).cv == "1 given split"


def test_top_k_of_an_episode_ranks_its_classes():
    """Nearest votes in reversed order of codes: classes that take no part are never ahead."""
    y = Y[np.argsort(Y, kind="stable")]
    points = np.repeat([0.0, 1.0, 3.0, 9.0], np.bincount(y))[:, None]
    found = replay(KNeighborsClassifier(4), points, y, cv=Episodes(3, 2), scoring="top_2_accuracy",
                   n_splits=50, random_state=0)  # fmt: skip
    assert found.mean == 1
    with pytest.raises(InvalidInputError, match="more than 2 classes in an episode"):
        replay(KNN, X, Y, cv=Episodes(2, 3), scoring="top_2_accuracy")


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("n_way", [2, 3])
def test_episodes_of_classes_of_one_size_have_exact_means(k, n_way):
    """Smoothing and the half of the Brier score count the classes of an episode."""
    y, cv = np.arange(120) % 4, Episodes(n_way, 3)
    points = np.round(np.random.default_rng(0).normal(size=(120, 2)) + 0.6 * y[:, None], 1)
    names = {**SAME, "balanced_accuracy": "balanced_accuracy", "recall_macro": "balanced_accuracy"}
    del names["top_3_accuracy"]
    knn = KNeighborsClassifier(k)
    options = {"cv": cv, "n_splits": 3000, "random_state": 0}
    found = replay(knn, points, y, scoring=asked(names), **options)
    for name, same in names.items():
        exact = evaluate(knn, points, y, cv=cv, scoring=same).score
        mean, error = found[name].sampled_mean
        assert found[name].exact_mean == pytest.approx(exact, rel=1e-12), name
        assert abs(mean - exact) < 4.5 * error, name
    uneven = replay(knn, X, Y, scoring=["accuracy", "balanced_accuracy"], **options)
    assert uneven["accuracy"].exact_mean is None
    mean, error = uneven["balanced_accuracy"].sampled_mean
    assert abs(mean - uneven["balanced_accuracy"].exact_mean) < 4.5 * error
