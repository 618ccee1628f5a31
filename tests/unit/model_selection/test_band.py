"""Bands of curves: the interval of an evaluation at each value, from one pass."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import KFold, LeaveOneGroupOut, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import (
    Bernoulli,
    Bootstrap,
    ClassCounts,
    FixedSize,
    KNeighborsClassifierCV,
    NeighborOrder,
    cmc_curve,
    evaluate,
    learning_curve,
    validation_curve,
)
from allsplits.exact import Neighbors
from allsplits.exceptions import InvalidInputError

KS = [1, 2, 5, 4]
GROUPS = np.arange(60) // 6


def data(n_classes, tied):
    rng = np.random.default_rng(n_classes)
    X = rng.integers(0, 4, (60, 2)) if tied else rng.normal(size=(60, 2))
    return X.astype(float), np.where(rng.random(60) < 0.7, X[:, 0] > X[:, 1], False) + (
        rng.integers(0, 2, 60) if n_classes > 2 else 0
    )


def check(band, evaluations, method="combined"):
    """Scores without a sample may be off by 1e-7, so that their spread may be by √n times that."""
    for one, evaluation in zip(band.intervals, evaluations, strict=True):
        expected = evaluation.interval(method=method)
        assert one.method == expected.method
        np.testing.assert_allclose(
            [one.low, one.high, one.standard_error],
            [expected.low, expected.high, expected.standard_error],
            rtol=0,
            atol=1e-6,
        )


@pytest.mark.parametrize("method", ["combined", "jackknife", "sample scores"])
@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(
    "cv",
    [FixedSize(0.5), KFold(4), StratifiedKFold(3), ClassCounts(3), Bernoulli(0.5), Bootstrap()],
    ids=str,
)
def test_the_interval_of_each_k(cv, tied, n_classes, scoring, method):
    X, y = data(n_classes, tied)
    options = {"cv": cv, "scoring": scoring}
    curve = validation_curve(KNeighborsClassifier(), X, y, n_neighbors=KS, **options)
    band = curve.interval(method=method)
    assert band.x.tolist() == KS
    check(band, [evaluate(KNeighborsClassifier(k), X, y, **options) for k in KS], method)


def test_groups():
    X, y = data(2, False)
    options = {"cv": LeaveOneGroupOut(), "groups": GROUPS}
    band = validation_curve(KNeighborsClassifier(), X, y, n_neighbors=KS, **options).interval()
    assert band.intervals[0].unit == "groups"
    check(band, [evaluate(KNeighborsClassifier(k), X, y, **options) for k in KS])


@pytest.mark.parametrize("cv", [FixedSize(0.5), StratifiedKFold(3)], ids=str)
def test_weighted_votes(cv):
    X, y = data(2, False)
    model = KNeighborsClassifier(weights="distance")
    band = validation_curve(model, X, y, n_neighbors=[1, 3], cv=cv).interval()
    each = [KNeighborsClassifier(k, weights="distance") for k in (1, 3)]
    check(band, [evaluate(model, X, y, cv=cv) for model in each])


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_regression(weights):
    X, _ = data(2, False)
    y, cv = X[:, 0] + X[:, 1] ** 2, FixedSize(0.7)
    model = KNeighborsRegressor(weights=weights)
    band = validation_curve(model, X, y, n_neighbors=[1, 3], cv=cv).interval()
    each = [KNeighborsRegressor(k, weights=weights) for k in (1, 3)]
    check(band, [evaluate(model, X, y, cv=cv) for model in each])


def test_some_sizes_of_a_learning_curve():
    X, y = data(2, False)
    curve = learning_curve(KNeighborsClassifier(1), X, y)
    band = curve.interval(at=[40, 3])
    assert band.x.tolist() == [40, 3]
    check(band, [evaluate(KNeighborsClassifier(1), X, y, cv=FixedSize(size)) for size in band.x])
    low, high = band
    assert np.all(low < high)
    assert band.frame().columns.tolist() == ["train_size", "score", "low", "high", "standard_error"]
    assert "2 intervals" in repr(band)


def test_shots():
    X, y = data(2, False)
    curve = learning_curve(KNeighborsClassifier(1), X, y, stratify=True, train_sizes=[2, 5])
    each = [evaluate(KNeighborsClassifier(1), X, y, cv=ClassCounts(size)) for size in (2, 5)]
    check(curve.interval(), each)


def test_ranks():
    X, y = load_digits(return_X_y=True)
    X, y = X[:120], y[:120]
    curve = cmc_curve(X, y, ranks=[1, 3])
    each = [
        evaluate(KNeighborsClassifier(), X, y, cv=ClassCounts(1), scoring=f"recall@{rank}")
        for rank in (1, 3)
    ]
    check(curve.interval(), each)
    cameras = np.arange(120) % 2
    apart = cmc_curve(X, y, ranks=[1], groups=cameras).interval()
    assert apart.method == "sample scores"
    assert "by sample scores" in repr(apart)


def test_fractions():
    X, y = data(2, True)
    X, y = X[:9], y[:9]
    options = {"n_neighbors": [1, 2], "cv": FixedSize(5)}
    exact = validation_curve(KNeighborsClassifier(), X, y, exact=True, **options).interval()
    floats = validation_curve(KNeighborsClassifier(), X, y, **options).interval()
    np.testing.assert_allclose(exact.low, floats.low, rtol=0, atol=1e-6)


def test_one_search_serves_curve_and_band(monkeypatch):
    X, y = data(3, False)
    searches = []
    search = Neighbors._search
    monkeypatch.setattr(
        Neighbors, "_search", lambda self, *given: searches.append(1) or search(self, *given)
    )
    curve = validation_curve(KNeighborsClassifier(), X, y, n_neighbors=KS)
    curve.interval()
    curve.interval(0.5)
    assert len(searches) <= 2


def test_values_that_are_not_there():
    X, y = data(2, False)
    curve = validation_curve(KNeighborsClassifier(), X, y, n_neighbors=KS)
    with pytest.raises(InvalidInputError, match=r"at must hold values of the curve.*got 3"):
        curve.interval(at=[1, 3])
    with pytest.raises(InvalidInputError, match="confidence"):
        curve.interval(95)


def test_a_chosen_model_has_a_band_and_stays_small():
    X, y = data(2, False)
    model = KNeighborsClassifierCV([1, 3, 5]).fit(X, y)
    band = model.curve_.interval()
    assert len(band.x) == 3
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.curve_.interval().low, band.low)
    assert not any(isinstance(one, NeighborOrder) for one in again.curve_.task.neighbors._kept)


@pytest.mark.parametrize("n_neighbors", [range(1, 6), range(1, 50)])
def test_the_plot_shows_the_band(n_neighbors):
    X, y = data(2, False)
    curve = validation_curve(
        KNeighborsClassifier(), X, y, n_neighbors=n_neighbors, cv=FixedSize(50)
    )
    assert not curve.plot().collections
    ax = curve.plot(confidence=0.9)
    assert len(ax.collections) == 1
    assert "0.9 intervals" in ax.collections[0].get_label()


@pytest.mark.parametrize("grouped", [False, True])
def test_columns_without_a_jackknife_leave_the_others_theirs(grouped):
    """Leave-one-out of ten: without one of them nine voters are too many, three are not."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(10, 2)), np.arange(10) % 2
    options = {"cv": LeaveOneGroupOut(), "groups": np.arange(10) // 2} if grouped else {}
    ks = [8, 1, 3] if grouped else [9, 1, 3]
    options = options or {"cv": FixedSize(9)}
    curve = validation_curve(KNeighborsClassifier(), X, y, n_neighbors=ks, **options)
    band = curve.interval()
    assert [one.method for one in band.intervals] == ["sample scores", "combined", "combined"]
    assert band.frame("pandas")["method"].tolist() == [one.method for one in band.intervals]
    assert "1 of them by sample scores" in repr(band)
    evaluations = [evaluate(KNeighborsClassifier(k), X, y, **options) for k in ks]
    for one, found in zip(band.intervals, evaluations, strict=True):
        assert one.standard_error == pytest.approx(found.interval().standard_error, rel=1e-6)
    assert "method" not in curve.interval(at=[1, 3]).frame("pandas")
    with pytest.raises(InvalidInputError, match="too few voters"):
        curve.interval(method="jackknife")
