"""Validation and learning curves: what they hold, their defaults, frames and plots."""

import sys

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeavePOut
from sklearn.neighbors import KNeighborsClassifier

from allsplits import (
    ClassCounts,
    Curve,
    FixedSize,
    evaluate,
    learning_curve,
    order_neighbors,
    validation_curve,
)
from allsplits.exceptions import MissingExtraError
from unit.refused import refused

CV = KFold(5)


@pytest.fixture(scope="module")
def curve(iris):
    return validation_curve(KNeighborsClassifier(), *iris, n_neighbors=range(1, 21), cv=CV)


def test_fields(curve):
    assert isinstance(curve, Curve)
    assert list(curve.x) == list(range(1, 21))
    assert curve.scores.shape == (20,)
    assert curve.fractions is None
    assert np.max(curve.error_bound) < 1e-12


def test_each_point_is_an_evaluation(iris, curve):
    for k in (1, 7, 20):
        alone = evaluate(KNeighborsClassifier(k), *iris, cv=CV)
        assert curve.scores[k - 1] == pytest.approx(alone.score, abs=1e-14)


def test_the_best_is_the_first_of_the_largest(curve):
    assert curve.best == curve.x[np.argmax(curve.scores)]
    assert curve.best_score == curve.scores.max()


def test_the_first_wins_among_equals():
    """Two far apart clusters: every k up to the cluster size is always right."""
    X = np.concatenate([np.arange(10.0), 1000 + np.arange(10.0)]).reshape(-1, 1)
    curve = validation_curve(
        KNeighborsClassifier(), X, np.repeat([0, 1], 10), n_neighbors=[3, 1, 5], cv=LeavePOut(1)
    )
    np.testing.assert_allclose(curve.scores, 1, rtol=0, atol=curve.error_bound)
    assert curve.best == curve.x[0]


def test_up_to_fifty_neighbours_by_default(iris):
    curve = validation_curve(KNeighborsClassifier(), *iris, cv=CV)
    assert list(curve.x) == list(range(1, 51))


def test_any_list_of_neighbours(iris, curve):
    some = validation_curve(KNeighborsClassifier(), *iris, n_neighbors=[2, 9], cv=CV)
    assert list(some.x) == [2, 9]
    np.testing.assert_allclose(some.scores, curve.scores[[1, 8]], rtol=0, atol=1e-14)


def test_a_neighbour_order_serves_many_curves(iris, curve):
    X, y = iris
    order = order_neighbors(X)
    again = validation_curve(KNeighborsClassifier(), order, y, n_neighbors=range(1, 21), cv=CV)
    np.testing.assert_array_equal(again.scores, curve.scores)


def test_balanced_accuracy_of_balanced_classes_is_accuracy(iris, curve):
    balanced = validation_curve(
        KNeighborsClassifier(),
        *iris,
        n_neighbors=range(1, 21),
        cv=CV,
        scoring="balanced_accuracy",
    )
    np.testing.assert_allclose(balanced.scores, curve.scores, rtol=0, atol=1e-13)


def test_every_training_size_of_one_neighbour(iris):
    curve = learning_curve(KNeighborsClassifier(1), *iris)
    assert list(curve.x) == list(range(1, 150))
    # one training item of a balanced three-class problem is right for 49 of 149 test items
    assert curve.scores[0] == pytest.approx(49 / 149, abs=1e-13)
    assert curve.scores[-1] > 0.9


def test_a_grid_of_training_sizes_for_more_neighbours(iris):
    curve = learning_curve(KNeighborsClassifier(5), *iris)
    sizes = curve.x
    assert sizes[0] >= 5
    assert sizes[-1] == 149
    assert 5 <= len(sizes) < 149
    assert (np.diff(sizes) > 0).all()


def test_any_list_of_training_sizes(iris):
    curve = learning_curve(KNeighborsClassifier(3), *iris, train_sizes=[10, 75, 120])
    assert list(curve.x) == [10, 75, 120]
    for size, score in zip(curve.x, curve.scores, strict=True):
        alone = evaluate(KNeighborsClassifier(3), *iris, cv=FixedSize(int(size)))
        assert score == pytest.approx(alone.score, abs=1e-13)


def test_fractions_of_the_data_as_training_sizes(iris):
    curve = learning_curve(KNeighborsClassifier(3), *iris, train_sizes=[0.1, 0.5])
    assert list(curve.x) == [15, 75]


def test_one_size_and_fractions_of_the_smallest_class(iris):
    X, y = iris[0][:130], iris[1][:130]
    knn = KNeighborsClassifier(3)
    assert list(learning_curve(knn, X, y, train_sizes=20).x) == [20]
    assert list(learning_curve(knn, X, y, train_sizes=0.5).x) == [65]
    assert list(learning_curve(knn, X, y, train_sizes=4, stratify=True).x) == [4]
    shots = learning_curve(knn, X, y, train_sizes=[0.1, 0.5, 20], stratify=True)
    assert list(shots.x) == [3, 15, 20]
    alone = evaluate(knn, X, y, cv=ClassCounts(15))
    assert shots.scores[1] == pytest.approx(alone.score, abs=1e-13)
    for sizes in (True, "half", None.__class__, 1.0, 0.0):
        refused(lambda s=sizes: learning_curve(knn, X, y, train_sizes=s, stratify=True), "train_si")


def test_scikit_learns_way_to_name_the_parameter(iris, curve):
    same = validation_curve(
        KNeighborsClassifier(), *iris, param_name="n_neighbors", param_range=np.arange(1, 21), cv=CV
    )
    np.testing.assert_array_equal(same.scores, curve.scores)
    np.testing.assert_array_equal(same.x, curve.x)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"param_name": "p", "param_range": [1, 2]}, ["param_name", "n_neighbors", "'p'"]),
        ({"param_name": ["n_neighbors"], "param_range": [1]}, ["param_name"]),
        ({"param_range": [1], "n_neighbors": [2]}, ["n_neighbors", "param_range"]),
        ({"param_range": [0]}, ["param_range", "1", "0"]),
        ({"param_range": 2.5}, ["param_range", "2.5"]),
    ],
    ids=str,
)
def test_parameters_that_do_not_vary(iris, options, words):
    refused(lambda: validation_curve(KNeighborsClassifier(), *iris, cv=CV, **options), *words)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frame_has_a_row_for_each_point(curve, library):
    frames = pytest.importorskip(library)
    frame = curve.frame(backend=library)
    assert isinstance(frame, frames.DataFrame)
    assert len(frame) == 20
    assert list(frame.columns) == ["n_neighbors", "accuracy", "error_bound"]
    np.testing.assert_array_equal(frame["n_neighbors"].to_numpy(), curve.x)
    np.testing.assert_array_equal(frame["accuracy"].to_numpy(), curve.scores)


def test_repr_is_short_and_says_the_best(curve):
    text = repr(curve)
    assert "Curve" in text
    assert str(curve.best) in text
    assert len(text) < 300


class TestPlot:
    @pytest.fixture(autouse=True)
    def close_figures(self):
        pyplot = pytest.importorskip("matplotlib.pyplot")
        yield
        pyplot.close("all")

    def test_on_new_axes(self, curve):
        axes = curve.plot()
        assert axes.get_xlabel()
        assert axes.get_ylabel()
        np.testing.assert_array_equal(axes.lines[0].get_ydata(), curve.scores)

    def test_on_given_axes(self, curve):
        import matplotlib.pyplot as plt

        _, axes = plt.subplots()
        assert curve.plot(ax=axes) is axes


def test_plot_without_matplotlib_names_the_extra(curve, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"allsplits\[plot\]"):
        curve.plot()
