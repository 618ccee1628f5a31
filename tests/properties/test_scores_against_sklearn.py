"""scikit-learn's own metrics, fitted and scored on every split of tiny data, averaged."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss, top_k_accuracy_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import FixedSize, evaluate


def shares(k, X, y, train, test, n_classes):
    """predict_proba with a column for every class, those that were not met have none."""
    model = KNeighborsClassifier(k).fit(X[train], y[train])
    found = np.zeros((len(test), n_classes))
    found[:, model.classes_] = model.predict_proba(X[test])
    return found


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_mean_over_all_splits(k, n_classes):
    rng = np.random.default_rng(10 * k + n_classes)
    n, size = 9, 5
    X, y = rng.normal(size=(n, 2)), rng.permutation(np.arange(n) % n_classes)
    losses, briers, tops = [], [], []
    classes = np.arange(n_classes)
    for train in combinations(range(n), size):
        test = [i for i in range(n) if i not in train]
        proba = shares(k, X, y, list(train), test, n_classes)
        losses.append(-log_loss(y[test], proba, labels=classes))
        briers.append(-brier_score_loss(y[test], proba, labels=classes))
        if n_classes > 2:
            # It puts the last of tied classes first: turned around, the first.
            last = n_classes - 1
            tops.append(top_k_accuracy_score(last - y[test], proba[:, ::-1], k=2, labels=classes))
    scoring = ["neg_log_loss", "neg_brier_score", *(["top_k_accuracy"] if tops else [])]
    found = evaluate(KNeighborsClassifier(k), X, y, cv=FixedSize(size), scoring=scoring)
    assert abs(found["neg_log_loss"].score - np.mean(losses)) < 1e-11
    assert abs(found["neg_brier_score"].score - np.mean(briers)) < 1e-12
    if tops:
        assert abs(found["top_k_accuracy"].score - np.mean(tops)) < 1e-12


def test_bias_and_variance_of_drawn_training_sets():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = X[:, 0] ** 2 + rng.normal(size=40)
    parts = evaluate(KNeighborsRegressor(3), X, y, cv=FixedSize(20)).squared_error_parts()
    given = [[] for _ in range(40)]
    for _ in range(2000):
        train = rng.permutation(40)[:20]
        test = np.setdiff1d(np.arange(40), train)
        model = KNeighborsRegressor(3).fit(X[train], y[train])
        for i, value in zip(test, model.predict(X[test]), strict=True):
            given[i].append(value)
    for i, values in enumerate(given):
        error = np.std(values) / np.sqrt(len(values))
        assert abs(np.mean(values) - y[i] - parts.sample_bias[i]) < 5 * error
    drawn = np.mean([np.var(values) for values in given])
    assert abs(drawn / parts.variance - 1) < 0.05
