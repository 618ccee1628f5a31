"""Nested scores: what choosing scores on samples that took no part in the choice."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold

from allsplits import Bootstrap, FixedSize, KNeighborsClassifierCV, KNeighborsRegressorCV
from allsplits.exceptions import InvalidInputError, UnsupportedError

X, Y = load_iris(return_X_y=True)


def test_all_splits_of_tiny_data():
    """Every outer split, chosen and tested by hand: the estimate agrees within its error."""
    rng = np.random.default_rng(0)
    points, labels = rng.normal(size=(10, 2)), np.arange(10) % 2
    points += 0.8 * labels[:, None]
    model = KNeighborsClassifierCV((1, 3), cv=FixedSize(4), n_jobs=1)
    scores, chosen = [], Counter()
    for train in combinations(range(10), 7):
        test = sorted(set(range(10)) - set(train))
        rows = list(train)
        if len(set(labels[rows])) < 2:
            continue
        fitted = KNeighborsClassifierCV((1, 3), cv=FixedSize(4), n_jobs=1).fit(
            points[rows], labels[rows]
        )
        chosen[fitted.best_params_["n_neighbors"]] += 1
        scores.append(np.mean(fitted.predict(points[test]) == labels[test]))
    found = model.nested_score(points, labels, cv=FixedSize(7), n_splits=600)
    assert found.standard_error < 0.015
    assert abs(found.mean - np.mean(scores)) < 4 * found.standard_error
    shares = dict(zip(*(found.frame("pandas")[c] for c in ("n_neighbors", "share")), strict=True))
    total = sum(chosen.values())
    assert all(abs(shares[k] - number / total) < 0.09 for k, number in chosen.items())


def test_the_best_of_many_is_too_good_on_noise():
    """Labels without any meaning: chance is the truth, and the best of fifty ks is above it."""
    rng = np.random.default_rng(4)
    points, labels = rng.normal(size=(60, 3)), rng.permutation(np.arange(60) % 2)
    model = KNeighborsClassifierCV(range(1, 31), metric=("euclidean", "manhattan", "chebyshev"))
    found = model.nested_score(points, labels, n_splits=30)
    assert found.optimism.value > 2 * found.optimism.standard_error
    assert found.mean < found.evaluation.score
    assert "is too good by" in repr(found)
    assert sum(found.frame("pandas")["share"]) == pytest.approx(1)


def test_seeds_threads_and_regressors():
    model = KNeighborsRegressorCV(range(1, 10), cv=KFold(4))
    one, two = (
        model.set_params(n_jobs=jobs).nested_score(X[:, 1:], X[:, 0], n_splits=6) for jobs in (1, 2)
    )
    assert one.scores.tolist() == two.scores.tolist()
    assert one.mean == pytest.approx(one.evaluation.score + one.differences.mixed.mean())


def test_bad_input():
    model = KNeighborsClassifierCV((1, 3), n_jobs=1)
    with pytest.raises(UnsupportedError, match="count all splits alike"):
        model.nested_score(X, Y, cv=Bootstrap())
    with pytest.raises(InvalidInputError, match="n_splits must be at least 2"):
        model.nested_score(X, Y, n_splits=1)
    with pytest.raises(InvalidInputError, match="the choice failed on outer split 0"):
        model.nested_score(X, Y, cv=FixedSize(4))
