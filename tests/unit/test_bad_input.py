"""Every wrong input is refused at once: the parameter, what is allowed and what came are named."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import (
    KFold,
    LeavePOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from allsplits import FixedSize, evaluate, learning_curve, order_neighbors, validation_curve
from unit.refused import refused

N = 12
GOOD_X = np.random.default_rng(0).normal(size=(N, 3))
GOOD_Y = np.arange(N) % 3
KNN = KNeighborsClassifier(3)
PRECOMPUTED = KNeighborsClassifier(3, metric="precomputed")
DISTANCES = np.abs(GOOD_X[:, :1] - GOOD_X[:, 0])


def changed(array, where, value):
    copy = np.array(array, dtype=float)
    copy[where] = value
    return copy


BAD_POINTS = {
    "NaN": (changed(GOOD_X, (2, 1), np.nan), ["X", "NaN"]),
    "infinity": (changed(GOOD_X, (2, 1), np.inf), ["X", "infinity"]),
    "strings": (np.array([["red", "blue", "red"]] * N), ["X", "numeric", "red"]),
    "no rows": (np.empty((0, 3)), ["X", "sample", "0"]),
    "no columns": (np.empty((N, 0)), ["X", "feature", "0"]),
    "one row": (GOOD_X[:1], ["X", "2", "1"]),
    "one dimension": (GOOD_X[:, 0], ["X", "1D"]),
    "three dimensions": (GOOD_X[:, :, None], ["X", "3"]),
    "None": (None, ["X", "None"]),
    "complex": (GOOD_X + 1j, ["X", "omplex"]),
    "huge": (changed(GOOD_X, (2, 1), 1e300), ["X", "1e+300"]),
}

BAD_MATRICES = {
    "not square": (DISTANCES[:, :-1], ["X", "square", "precomputed", "(12, 11)"]),
    "negative": (changed(DISTANCES, [(0, 1), (1, 0)], -1), ["X", "precomputed", "-1"]),
    "not symmetric": (changed(DISTANCES, (0, 1), 9.0), ["X", "symmetric", "precomputed", "9"]),
    "diagonal": (changed(DISTANCES, (4, 4), 0.5), ["X", "diagonal", "precomputed", "0.5"]),
    "NaN": (changed(DISTANCES, (4, 5), np.nan), ["X", "NaN"]),
}

BAD_LABELS = {
    "one class": (np.full(N, 7), ["y", "2 classes", "7"]),
    "too short": (GOOD_Y[:-1], ["y", "12", "11"]),
    "too long": (np.append(GOOD_Y, 1), ["y", "12", "13"]),
    "empty": ([], ["y", "12", "0"]),
    "None": (None, ["y", "None"]),
    "two columns": (np.column_stack([GOOD_Y, GOOD_Y]), ["y", "(12, 2)"]),
    "real numbers": (GOOD_X[:, 0], ["y", "label", "continuous"]),
    "NaN": (changed(GOOD_Y, 3, np.nan), ["y", "NaN"]),
    "mixed": (np.array([1, "a"] * 6, dtype=object), ["y"]),
}

BAD_SPLITTERS = {
    "p = n": (LeavePOut(12), ["p", "11", "12"]),
    "p > n": (LeavePOut(40), ["p", "11", "40"]),
    "p = 0": (LeavePOut(0), ["p", "1", "0"]),
    "all in training": (FixedSize(12), ["train_size", "11", "12"]),
    "none in training": (FixedSize(0), ["train_size", "1", "0"]),
    "test too large": (ShuffleSplit(test_size=12), ["cv", "12"]),
    "too many folds": (KFold(13), ["n_splits", "12", "13"]),
    "too many repeated folds": (RepeatedKFold(n_splits=13), ["n_splits", "12", "13"]),
    "time series": (TimeSeriesSplit(3), ["cv", "KFold", "TimeSeriesSplit"]),
    "predefined": (PredefinedSplit(GOOD_Y), ["cv", "KFold", "PredefinedSplit"]),
    "list of splits": ([([0, 1], [2])], ["cv", "KFold"]),
    "a word": ("loo", ["cv", "KFold", "loo"]),
    "a fraction": (0.5, ["cv", "KFold", "0.5"]),
    "a class": (KFold, ["cv", "KFold"]),
}

FUNCTIONS = [evaluate, validation_curve, learning_curve]


def arguments_for(function) -> dict:
    """Arguments with which the function works."""
    return {
        evaluate: {"cv": FixedSize(8)},
        validation_curve: {"cv": FixedSize(8), "n_neighbors": [1, 2, 3]},
        learning_curve: {"train_sizes": [5, 8]},
    }[function]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_good_input_is_good(function):
    function(KNN, GOOD_X, GOOD_Y, **arguments_for(function))
    function(PRECOMPUTED, DISTANCES, GOOD_Y, **arguments_for(function))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(("X", "words"), BAD_POINTS.values(), ids=BAD_POINTS.keys())
def test_points(function, X, words):
    refused(lambda: function(KNN, X, GOOD_Y, **arguments_for(function)), *words)


@pytest.mark.parametrize(("X", "words"), BAD_POINTS.values(), ids=BAD_POINTS.keys())
def test_points_to_order(X, words):
    refused(lambda: order_neighbors(X), *words)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_text_columns_of_frames(function, library):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({"size": GOOD_X[:, 0], "colour": ["red"] * N})
    refused(lambda: function(KNN, frame, GOOD_Y, **arguments_for(function)), "X", "colour")


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(("X", "words"), BAD_MATRICES.values(), ids=BAD_MATRICES.keys())
def test_precomputed_distances(function, X, words):
    refused(lambda: function(PRECOMPUTED, X, GOOD_Y, **arguments_for(function)), *words)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(("y", "words"), BAD_LABELS.values(), ids=BAD_LABELS.keys())
def test_labels(function, y, words):
    refused(lambda: function(KNN, GOOD_X, y, **arguments_for(function)), *words)


@pytest.mark.parametrize("function", [evaluate, validation_curve])
@pytest.mark.parametrize(("cv", "words"), BAD_SPLITTERS.values(), ids=BAD_SPLITTERS.keys())
def test_splitters(function, cv, words):
    refused(lambda: function(KNN, GOOD_X, GOOD_Y, **arguments_for(function) | {"cv": cv}), *words)


@pytest.mark.parametrize("function", [one for one in FUNCTIONS if one is not evaluate])
def test_a_pipeline_has_no_fixed_distances(function):
    pipeline = make_pipeline(StandardScaler(), KNN)
    refused(
        lambda: function(pipeline, GOOD_X, GOOD_Y, **arguments_for(function)),
        "estimator",
        "Pipeline",
        "transform",
        "X",
    )


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    "estimator",
    [RandomForestClassifier(), NearestNeighbors(), KNeighborsClassifier, None, "knn"],
    ids=lambda estimator: getattr(estimator, "__name__", str(estimator)),
)
def test_other_estimators(function, estimator):
    refused(
        lambda: function(estimator, GOOD_X, GOOD_Y, **arguments_for(function)),
        "estimator",
        "KNeighborsClassifier",
    )


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("parameter", "allowed", "given"),
    [("weights", "uniform", "heavy"), ("metric", "euclidean", "euclidian")],
)
def test_unknown_words(function, parameter, allowed, given):
    knn = KNeighborsClassifier(3, **{parameter: given})
    options = arguments_for(function)
    refused(lambda: function(knn, GOOD_X, GOOD_Y, **options), parameter, allowed, given)


@pytest.mark.parametrize("k", [0, -2])
@pytest.mark.parametrize("function", [evaluate, learning_curve])
def test_too_few_neighbours(function, k):
    refused(
        lambda: function(KNeighborsClassifier(k), GOOD_X, GOOD_Y, **arguments_for(function)),
        "n_neighbors",
        "1",
        str(k),
    )


@pytest.mark.parametrize("k", [2.5, "three", None])
@pytest.mark.parametrize("function", [evaluate, learning_curve])
def test_neighbours_of_the_wrong_kind(function, k):
    refused(
        lambda: function(KNeighborsClassifier(k), GOOD_X, GOOD_Y, **arguments_for(function)),
        "n_neighbors",
        str(k),
    )


@pytest.mark.parametrize(
    ("cv", "largest"), [(FixedSize(4), 4), (LeavePOut(7), 5), (KFold(2), 6), (KFold(5), 9)]
)
def test_more_neighbours_than_training_samples(cv, largest):
    k = largest + 1
    evaluate(KNeighborsClassifier(largest), GOOD_X, GOOD_Y, cv=cv)
    refused(
        lambda: evaluate(KNeighborsClassifier(k), GOOD_X, GOOD_Y, cv=cv),
        "n_neighbors",
        str(largest),
        str(k),
    )
    refused(
        lambda: validation_curve(KNN, GOOD_X, GOOD_Y, n_neighbors=range(1, k + 1), cv=cv),
        "n_neighbors",
        str(largest),
        str(k),
    )


def test_more_neighbours_than_a_training_size():
    refused(
        lambda: learning_curve(KNN, GOOD_X, GOOD_Y, train_sizes=[2, 5]), "train_sizes", "3", "2"
    )


@pytest.mark.parametrize("ks", [[], [0, 1], [1.5], "123", [1, 1], None], ids=lambda ks: repr(ks))
def test_lists_of_neighbours(ks):
    refused(
        lambda: validation_curve(KNN, GOOD_X, GOOD_Y, n_neighbors=ks, cv=KFold(3)), "n_neighbors"
    )


@pytest.mark.parametrize(
    "sizes", [[], [0, 5], [12], [1.5], "all", [0.5, 2.0]], ids=lambda sizes: repr(sizes)
)
def test_lists_of_training_sizes(sizes):
    refused(
        lambda: learning_curve(KNeighborsClassifier(1), GOOD_X, GOOD_Y, train_sizes=sizes),
        "train_sizes",
    )


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("distance_ties", "random", ["average", "index", "random"]),
        ("distance_ties", None, ["average", "index", "None"]),
        ("label_ties", "last", ["first", "share", "last"]),
        ("scoring", "f1", ["accuracy", "f1"]),
        ("scoring", "recall@0", ["recall@", "recall@0"]),
        ("scoring", "recall@many", ["recall@", "many"]),
        ("scoring", "recall@-1", ["recall@", "-1"]),
        ("scoring", max, ["accuracy"]),
        ("backend", "abacus", ["auto", "abacus"]),
        ("n_jobs", 0, ["0"]),
        ("n_jobs", "many", ["many"]),
        ("tol", -1.0, ["-1"]),
        ("tol", float("nan"), ["nan"]),
        ("tol", "small", ["small"]),
    ],
    ids=str,
)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_options(function, option, value, words):
    refused(
        lambda: function(KNN, GOOD_X, GOOD_Y, **arguments_for(function) | {option: value}),
        option,
        *words,
    )


def test_an_order_of_other_data():
    order = order_neighbors(GOOD_X[:-1])
    refused(lambda: evaluate(KNN, order, GOOD_Y, cv=FixedSize(8)), "y", "11", "12")


def test_an_order_that_is_too_shallow():
    order = order_neighbors(GOOD_X, depth=4)
    refused(
        lambda: evaluate(KNN, order, GOOD_Y, cv=FixedSize(5)), "X", "depth", "4", "order_neighbors"
    )


def test_nothing_is_searched_before_everything_is_checked():
    """A metric that must not be called shows that errors come before any work."""

    def forbidden(a, b):
        raise RuntimeError("distances are computed before the input is checked")

    knn = KNeighborsClassifier(3, metric=forbidden)
    refused(lambda: evaluate(knn, GOOD_X, GOOD_Y[:-1], cv=FixedSize(8)), "y")
    refused(lambda: evaluate(knn, GOOD_X, GOOD_Y * 0, cv=FixedSize(8)), "y")
    refused(lambda: evaluate(knn, GOOD_X, GOOD_Y, cv=FixedSize(12)), "train_size")
    refused(lambda: evaluate(knn, GOOD_X, GOOD_Y, cv=FixedSize(2)), "n_neighbors")
    refused(lambda: evaluate(knn, GOOD_X, GOOD_Y, cv=FixedSize(8), scoring="f1"), "scoring")
    refused(lambda: evaluate(knn, GOOD_X, GOOD_Y, cv=TimeSeriesSplit(3)), "cv")
