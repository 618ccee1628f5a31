"""What an evaluation holds, how it reads, and what it may be made from."""

from dataclasses import FrozenInstanceError
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold, LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier

from allsplits import ClassCounts, Evaluation, FixedSize, evaluate, order_neighbors

CV = KFold(5)


@pytest.fixture(scope="module")
def evaluation(iris):
    return evaluate(KNeighborsClassifier(5), *iris, cv=CV)


def test_fields(evaluation):
    assert isinstance(evaluation, Evaluation)
    assert isinstance(evaluation.score, float)
    assert isinstance(evaluation.n_splits, int)
    assert isinstance(evaluation.error_bound, float)
    assert evaluation.fraction is None
    assert evaluation.sample_scores.shape == (150,)
    assert evaluation.prediction_proba.shape == (150, 3)
    assert evaluation.confusion.shape == (3, 3)
    assert list(evaluation.classes) == [0, 1, 2]
    assert evaluation.law is not None
    assert 0.9 < evaluation.score < 1


def test_exact_fields(iris):
    exact = evaluate(KNeighborsClassifier(1), *iris, cv=FixedSize(140), exact=True)
    assert isinstance(exact.fraction, Fraction)
    assert exact.score == float(exact.fraction)
    assert len(exact.sample_fractions) == 150
    assert all(isinstance(value, Fraction) for value in exact.sample_fractions)
    assert sum(exact.sample_fractions) / 150 == exact.fraction
    assert exact.error_bound <= 2**-53


def test_the_hardest_samples_come_first(evaluation):
    hardest = evaluation.hardest(7)
    assert len(hardest) == 7
    easier = np.setdiff1d(np.arange(150), hardest)
    assert (np.diff(evaluation.sample_scores[hardest]) >= 0).all()
    assert evaluation.sample_scores[hardest].max() <= evaluation.sample_scores[easier].min()


@pytest.mark.parametrize("n_neighbors", [1, 2, 3, 10, 40])
def test_an_accuracy_is_never_above_one(n_neighbors):
    """Two far apart clusters: all is right, whatever the rounding."""
    X = np.concatenate([np.arange(41.0), 1000 + np.arange(41.0)]).reshape(-1, 1)
    found = evaluate(KNeighborsClassifier(n_neighbors), X, np.repeat([0, 1], 41), cv=LeaveOneOut())
    assert found.score == pytest.approx(1, abs=found.error_bound)
    assert found.score <= 1
    assert found.sample_scores.max() <= 1
    assert found.prediction_proba.max() <= 1


def test_the_expected_confusion_can_be_drawn(evaluation):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    axes = evaluation.plot()
    assert axes.get_xlabel()
    assert axes.get_ylabel()
    _, given = pyplot.subplots()
    assert evaluation.plot(ax=given) is given
    pyplot.close("all")


def test_it_cannot_be_changed(evaluation):
    with pytest.raises((FrozenInstanceError, AttributeError)):
        evaluation.score = 1.0


def test_repr_is_short_and_says_the_score(evaluation):
    text = repr(evaluation)
    assert "Evaluation" in text
    assert f"{evaluation.score:.3f}" in text
    assert len(text) < 300


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frame_has_a_row_for_each_sample(evaluation, library):
    frames = pytest.importorskip(library)
    frame = evaluation.frame(backend=library)
    assert isinstance(frame, frames.DataFrame)
    assert len(frame) == 150
    np.testing.assert_array_equal(frame["label"].to_numpy(), np.repeat([0, 1, 2], 50))
    np.testing.assert_array_equal(frame["score"].to_numpy(), evaluation.sample_scores)
    np.testing.assert_array_equal(frame["weight"].to_numpy(), evaluation.sample_weight)


def test_frame_without_probabilities(iris):
    found = evaluate(KNeighborsClassifier(1), *iris, cv=CV, scoring="recall@3")
    assert found.prediction_proba is None
    assert found.confusion is None
    assert len(found.frame()) == 150


def test_the_estimator_is_left_alone(iris):
    knn = KNeighborsClassifier(3)
    before = clone(knn).get_params()
    evaluate(knn, *iris, cv=CV)
    assert knn.get_params() == before
    assert not hasattr(knn, "classes_")


def test_the_data_are_left_alone(iris):
    X, y = (np.array(part) for part in iris)
    evaluate(KNeighborsClassifier(3), X, y, cv=CV)
    np.testing.assert_array_equal(X, iris[0])
    np.testing.assert_array_equal(y, iris[1])


@pytest.mark.parametrize("kind", ["list", "pandas", "polars", "float32", "fortran", "read only"])
def test_kinds_of_arrays(iris, evaluation, kind):
    X, y = (np.array(part) for part in iris)
    if kind == "list":
        X, y = X.tolist(), y.tolist()
    elif kind in ("pandas", "polars"):
        frames = pytest.importorskip(kind)
        X = frames.DataFrame({f"x{j}": X[:, j] for j in range(4)})
        y = frames.Series(y)
    elif kind == "float32":
        # twice the values of iris: tenths are then not representable, the ties are rounded alike
        X = np.round(X * 10).astype(np.float32)
    elif kind == "fortran":
        X = np.asfortranarray(X)
    else:
        X.setflags(write=False)
        y.setflags(write=False)
    found = evaluate(KNeighborsClassifier(5), X, y, cv=CV)
    assert found.score == pytest.approx(evaluation.score, abs=1e-13)


@pytest.mark.parametrize(
    "names",
    [
        np.array(["setosa", "versicolor", "virginica"]),
        np.array(["a", "b", "c"], dtype=object),
        np.array([-3, 5, 90]),
        np.array([0.0, 1.0, 2.0]),
    ],
    ids=["words", "objects", "integers", "whole floats"],
)
def test_kinds_of_labels(iris, evaluation, names):
    X, y = iris
    found = evaluate(KNeighborsClassifier(5), X, names[y], cv=CV)
    assert found.score == evaluation.score
    assert list(found.classes) == list(names)


def test_boolean_labels(iris):
    X, y = iris
    found = evaluate(KNeighborsClassifier(5), X, y == 1, cv=CV)
    assert list(found.classes) == [False, True]
    assert found.score == evaluate(KNeighborsClassifier(5), X, (y == 1) * 1, cv=CV).score


def test_a_neighbour_order_in_place_of_the_data(iris, evaluation):
    X, y = iris
    order = order_neighbors(X)
    assert evaluate(KNeighborsClassifier(5), order, y, cv=CV).score == evaluation.score


def test_an_order_that_is_just_deep_enough(iris):
    X, y = iris
    knn = KNeighborsClassifier(1)
    shallow = order_neighbors(X, depth=11)
    found = evaluate(knn, shallow, y, cv=FixedSize(140))
    assert found.score == pytest.approx(evaluate(knn, X, y, cv=FixedSize(140)).score, abs=1e-14)


def test_duplicates_and_constant_features(iris):
    X, y = iris
    X = np.repeat(np.column_stack([X, np.ones(150)]), 2, axis=0)
    found = evaluate(KNeighborsClassifier(1), X, np.repeat(y, 2), cv=FixedSize(299))
    assert found.score == pytest.approx(1, abs=found.error_bound)


def test_progress_is_shown_only_when_asked(iris, capsys):
    evaluate(KNeighborsClassifier(1), *iris, cv=CV)
    assert capsys.readouterr() == ("", "")
    evaluate(KNeighborsClassifier(1), *iris, cv=CV, progress=True)
    shown = capsys.readouterr()
    assert "samples" in shown.out + shown.err


def test_a_class_of_one_sample_is_never_predicted_for_itself():
    X = np.arange(10.0).reshape(-1, 1) ** 2
    y = np.array([1] + [0] * 9)
    found = evaluate(KNeighborsClassifier(1), X, y, cv=FixedSize(5))
    assert found.sample_scores[0] == 0
    assert found.confusion[1, 1] == 0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_small_chances_are_as_precise_as_large_ones(n_classes):
    """One less the chance to be wrong would be nothing but rounding; the hardest are told apart."""
    # 100 of the other class are nearer than any of its own: right if at most 4 of them are drawn.
    y = np.repeat([0, 1, 0, 1, 2], [1, 100, 60, 100, 60 * (n_classes - 2)])
    X = np.arange(len(y), dtype=float)[:, None]
    found = evaluate(KNeighborsClassifier(9), X, y, cv=ClassCounts(50))
    ways = sum(comb(100, x) * comb(100, 50 - x) for x in range(5))
    expected = ways / comb(200, 50)
    assert 0 < expected < 1e-12
    # Mass is left out at the end of a row; roundings of one less 1 would be off by 1e-4.
    np.testing.assert_allclose(found.sample_scores[0], expected, rtol=1e-6)
    np.testing.assert_allclose(found.prediction_proba[0, 0], expected, rtol=1e-6)
