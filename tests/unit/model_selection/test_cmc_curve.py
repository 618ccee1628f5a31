"""Retrieval curves: recall at every rank."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from allsplits import ClassCounts, Curve, FixedSize, cmc_curve, evaluate


def test_each_point_is_an_evaluation(iris):
    curve = cmc_curve(*iris, ranks=[1, 2, 3], cv=ClassCounts(2))
    assert isinstance(curve, Curve)
    for rank, score in zip(curve.x, curve.scores, strict=True):
        alone = evaluate(
            KNeighborsClassifier(1), *iris, cv=ClassCounts(2), scoring=f"recall@{rank}"
        )
        assert score == pytest.approx(alone.score, abs=1e-13)


def test_one_gallery_item_of_each_class_by_default(iris):
    curve = cmc_curve(*iris)
    assert curve.x[0] == 1
    expected = evaluate(KNeighborsClassifier(1), *iris, cv=ClassCounts(1))
    assert curve.scores[0] == pytest.approx(expected.score, abs=1e-13)
    assert curve.scores[2] == pytest.approx(1, abs=1e-13)
    assert (np.diff(curve.scores) >= -1e-15).all()


def test_galleries_of_any_law(iris):
    curve = cmc_curve(*iris, ranks=[1, 4], cv=FixedSize(30))
    alone = evaluate(KNeighborsClassifier(1), *iris, cv=FixedSize(30), scoring="recall@4")
    assert curve.scores[1] == pytest.approx(alone.score, abs=1e-13)


def test_any_metric(iris):
    X, y = iris
    curve = cmc_curve(X, y, ranks=[2], metric="manhattan")
    knn = KNeighborsClassifier(1, metric="manhattan")
    alone = evaluate(knn, X, y, cv=ClassCounts(1), scoring="recall@2")
    assert curve.scores[0] == pytest.approx(alone.score, abs=1e-13)
