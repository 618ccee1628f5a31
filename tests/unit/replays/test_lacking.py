"""Splits that lack a class: what scores of shares are there, and how many there are."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import Bernoulli, ClassCounts, Episodes, FixedSize, replay
from allsplits.exceptions import InvalidInputError

RNG = np.random.default_rng(0)
Y = np.concatenate([RNG.integers(0, 2, 30), RNG.integers(0, 3, 20), RNG.integers(1, 4, 25)])
X = RNG.normal(size=(75, 2)) + Y[:, None]
KNN = KNeighborsClassifier(5)
SCORES = ["neg_log_loss", "neg_brier_score", "roc_auc_ovr", "roc_auc_ovr_weighted"]


def shares_of(train, test):
    """Shares for all classes: those that do not train have none."""
    shares = np.zeros((len(test), 4))
    knn = KNN.fit(X[train], Y[train])
    shares[:, knn.classes_] = knn.predict_proba(X[test])
    return shares


def areas_of(shares, own):
    """The area and the number of each tested class."""
    tested = [c for c in range(4) if 0 < np.sum(own == c) < len(own)]
    areas = [roc_auc_score(own == c, shares[:, c]) for c in tested]
    return areas, [np.sum(own == c) for c in tested]


def lacks(train, test):
    return len(set(Y[train])) < 4 or len(set(Y[test])) < 4


def given_splits():
    splits = [*TimeSeriesSplit(9).split(X), *KFold(12).split(X), *StratifiedKFold(3).split(X, Y)]
    splits += [(train, test[:7]) for train, test in splits]
    return [(train, test) for train, test in splits if len(set(Y[test])) > 1]


def test_the_rule_on_given_splits():
    splits = given_splits()
    found = replay(KNN, X, Y, cv=splits, scoring=SCORES)
    for number, (train, test) in enumerate(splits):
        shares, own = shares_of(train, test), Y[test]
        areas, sizes = areas_of(shares, own)
        eps = np.finfo(float).eps
        picked = np.clip(shares[np.arange(len(own)), own], eps, 1 - eps)
        wanted = {
            "neg_log_loss": np.log(picked).mean(),
            "neg_brier_score": -((shares - np.eye(4)[own]) ** 2).sum(axis=1).mean(),
            "roc_auc_ovr": np.mean(areas),
            "roc_auc_ovr_weighted": np.average(areas, weights=sizes),
        }
        for name, value in wanted.items():
            assert found[name].split_scores[number, 0] == pytest.approx(value, abs=1e-12), name


@pytest.mark.parametrize("name", SCORES)
def test_where_scikit_learn_has_a_number_it_is_the_same(name):
    """It has one where training and test have the same classes; of some of them, too."""
    splits = given_splits()
    found = replay(KNN, X, Y, cv=splits, scoring=name).split_scores[:, 0]
    numbers, fewer = 0, 0
    for number, (train, test) in enumerate(splits):
        knn = KNN.fit(X[train], Y[train])
        if set(knn.classes_) != set(Y[test]):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = get_scorer(name)(knn, X[test], Y[test])
        if name == "neg_brier_score" and len(knn.classes_) == 2:
            wanted *= 2  # half of it for two classes, and here there are four
        if np.isfinite(wanted):
            assert found[number] == pytest.approx(wanted, abs=1e-12)
            numbers, fewer = numbers + 1, fewer + lacks(train, test)
    assert numbers > fewer > 0


def test_a_test_set_of_one_class_has_no_area():
    alone = np.flatnonzero(Y == 1)
    with pytest.raises(InvalidInputError, match="'roc_auc_ovr' is NaN"):
        replay(KNN, X, Y, cv=[(np.flatnonzero(Y != 1), alone)], scoring="roc_auc_ovr")


def test_they_are_counted():
    splits = given_splits()
    wanted = sum(lacks(train, test) for train, test in splits)
    found = replay(KNN, X, Y, cv=splits, scoring=["neg_log_loss", "accuracy"])
    assert found["neg_log_loss"].n_lacking == wanted > 0
    assert f"{wanted} splits lack a class" in repr(found["neg_log_loss"])
    assert found["accuracy"].n_lacking == 0  # is what it is without any rule
    late = replay(KNN, X, Y, cv=TimeSeriesSplit(9), scoring="neg_brier_score")
    assert late.n_lacking == sum(lacks(*split) for split in TimeSeriesSplit(9).split(X))


@pytest.mark.parametrize("cv", [FixedSize(60), KFold(5), Bernoulli(0.9)], ids=str)
def test_drawn_ones_are_counted(cv):
    """An own score on the same runs sees the classes of the test sets."""
    tested = []

    def classes(true, given):
        tested.append(len(set(true)) < 4)
        return 1.0

    scores = {"loss": "neg_log_loss", "seen": classes}
    found = replay(KNN, X, Y, cv=cv, scoring=scores, n_splits=300, random_state=0, n_jobs=1)
    assert sum(tested) <= found["loss"].n_lacking < 300
    assert found["loss"].n_lacking == found["seen"].n_lacking > 0


def test_laws_that_lack_none():
    for cv in (ClassCounts(5), Episodes(2, 3)):
        assert replay(KNN, X, Y, cv=cv, scoring="neg_log_loss", n_splits=20).n_lacking == 0
    large = np.arange(4000) % 4
    points = RNG.normal(size=(4000, 2))
    found = replay(KNN, points, large, cv=FixedSize(0.8), scoring="neg_log_loss", n_splits=5,
                   control=False)  # fmt: skip
    assert found.n_lacking == 0
    assert replay(KNeighborsRegressor(3), X, X[:, 0], scoring="r2", n_splits=5).n_lacking == 0
