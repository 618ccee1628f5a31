"""Wrong input to retrieval and to nearest class means: what is wrong, and what would work."""

import warnings

import numpy as np
import pytest
from sklearn import model_selection as splitters
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from allsplits import (
    Bernoulli,
    Bootstrap,
    ClassCounts,
    Episodes,
    FixedSize,
    audit_split,
    evaluate,
    learning_curve,
    report,
    retrieval_curve,
    sample_values,
    validation_curve,
)
from allsplits.exceptions import NothingRelevantWarning, UnknownClassWarning, UnsupportedError
from unit.refused import refused

N = 12
X = np.random.default_rng(0).normal(size=(N, 3))
y = np.array([0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2])
KNN = KNeighborsClassifier(1)


@pytest.mark.parametrize(
    ("cv", "groups", "words"),
    [
        (Bernoulli(0.5), None, ["cv", "Bernoulli", "map@r", "ClassCounts", "FixedSize"]),
        (Bootstrap(), None, ["cv", "Bootstrap", "map@r", "ClassCounts"]),
        (Episodes(2, 1), None, ["cv", "Episodes", "map@r", "ClassCounts"]),
        (splitters.LeaveOneGroupOut(), np.arange(N) % 3, ["cv", "LeavePGroupsOut", "ClassCounts"]),
    ],
)
def test_laws_without_a_formula(cv, groups, words):
    with pytest.raises(UnsupportedError):
        evaluate(KNN, X, y, cv=cv, scoring="map@r", groups=groups)
    refused(lambda: evaluate(KNN, X, y, cv=cv, scoring="map@r", groups=groups), *words)


@pytest.mark.parametrize(
    "scoring",
    ["precision@0", "item_recall@k", "item_recall@-1", "map@5", "ndcg@1.5", "MAP"],
)
def test_names_of_scores(scoring):
    refused(lambda: evaluate(KNN, X, y, scoring=scoring), "scoring", "'precision@k'", scoring)


def test_names_that_a_regressor_does_not_have():
    refused(lambda: evaluate(KNeighborsRegressor(), X, y, scoring="map@r"), "scoring", "regressor")


@pytest.mark.parametrize("scoring", ["map@r", "recall@k", "precision@3", "accuracy", None, 3])
def test_curves_need_a_cut(scoring):
    refused(lambda: retrieval_curve(X, y, scoring=scoring), "scoring", "precision@k", "item_recall")


def test_cuts_beyond_the_gallery():
    refused(lambda: retrieval_curve(X, y, ranks=[1, 12]), "ranks", "11", "12", "gallery")
    call = lambda: retrieval_curve(X, y, ranks=[4], cv=ClassCounts(1))  # noqa: E731
    refused(call, "ranks", "3", "4", "gallery")
    refused(lambda: evaluate(KNN, X, y, cv=FixedSize(5), scoring="ndcg@6"), "ranks", "5", "6")
    refused(lambda: retrieval_curve(X, y, ranks=[0]), "ranks", "1", "0")
    refused(lambda: retrieval_curve(X, y, ranks=[]), "ranks")


def test_empty_galleries_and_classes_with_too_few():
    refused(lambda: retrieval_curve(X, y, cv=FixedSize(0)), "train_size", "1", "0")
    refused(lambda: retrieval_curve(X, y, cv=ClassCounts(0)), "counts", "0")
    refused(lambda: retrieval_curve(X, y, cv=ClassCounts(3)), "counts", "class 0", "3 samples")
    refused(lambda: retrieval_curve([], []), "X")


def test_nothing_is_relevant_in_any_gallery():
    alone = np.arange(N)
    refused(lambda: evaluate(KNN, X, alone, cv=FixedSize(5), scoring="map"), "relevant", "12")
    cv = ClassCounts({0: 1, 1: 0, 2: 0})
    with pytest.warns(NothingRelevantWarning, match="9 of 12 queries"):
        evaluate(KNN, X, y, cv=cv, scoring="map")


def test_a_class_of_one_sample_counts_nothing_and_is_counted():
    labels = y.copy()
    labels[0] = 7
    with pytest.warns(NothingRelevantWarning, match="1 of 12 queries"):
        found = evaluate(KNN, X, labels, cv=FixedSize(6), scoring="map@r")
    assert found.sample_scores[0] == 0
    assert found.sample_weight[0] == pytest.approx(1 / N)


def test_no_warning_without_a_reason():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate(KNN, X, y, cv=ClassCounts(1), scoring="map@r")
        # A query that may not meet its class is no query.
        cameras = [0, 0, 0, *([0, 1] * 4), 1]
        retrieval_curve(X, y, ranks=[1], cv=ClassCounts(1), groups=cameras)


def test_a_query_of_a_class_that_no_gallery_has():
    with pytest.warns(UnknownClassWarning, match="1 of 2"):
        found = evaluate(KNN, X, y, cv=ClassCounts(1), scoring="map@r", X_test=X[:2], y_test=[0, 9])
    assert found.sample_scores[1] == 0


def test_logarithms_are_no_fractions():
    refused(
        lambda: evaluate(KNN, X, y, cv=3, scoring="ndcg", exact=True), "exact", "ndcg", "logarithm"
    )
    refused(lambda: retrieval_curve(X, y, scoring="ndcg@k", exact=True), "exact", "ndcg")


def test_groups_need_class_counts():
    refused(lambda: retrieval_curve(X, y, groups=np.arange(N) % 2), "groups", "ClassCounts")
    call = lambda: retrieval_curve(X, y, cv=ClassCounts(1), groups=y)  # noqa: E731
    refused(call, "groups", "candidate of its own class")
    refused(lambda: retrieval_curve(X, y, cv=ClassCounts(1), exclude="all"), "exclude", "identity")


def test_what_does_not_depend_on_neighbours():
    refused(
        lambda: validation_curve(KNN, X, y, cv=3, scoring="map@r"),
        "scoring",
        "n_neighbors",
        "map@r",
    )


def test_functions_that_know_other_scores():
    refused(lambda: sample_values(KNN, X, y, scoring="map@r"), "scoring", "map@r")
    train, test = np.arange(6), np.arange(6, N)
    refused(lambda: audit_split(KNN, X, y, train, test, scoring="map@r"), "scoring", "map@r")

    refused(lambda: report(X, y=y, scoring="map@r"), "scoring", "map@r")
    found = evaluate(KNN, X, y, cv=FixedSize(5), scoring="map@r")
    refused(lambda: report(found), "scoring", "map@r")
    refused(found.split_spread, "split_spread", "map@r")
    refused(found.unbiased_variance, "unbiased_variance", "map@r")


# ------------------------------------------------------------ nearest class means


@pytest.mark.parametrize(
    "cv", [3, FixedSize(3), ClassCounts(2), Episodes(2, 2), ClassCounts({0: 1, 1: 2, 2: 1})]
)
def test_means_of_several_samples(cv):
    refused(
        lambda: evaluate(NearestCentroid(), X, y, cv=cv), "cv", "NearestCentroid", "closed form"
    )


def test_means_that_are_no_samples():
    one = ClassCounts(1)
    shrunken = NearestCentroid(shrink_threshold=0.1)
    refused(lambda: evaluate(shrunken, X, y, cv=one), "shrink_threshold", "None", "0.1")
    unequal = NearestCentroid(priors=[0.2, 0.3, 0.5])
    refused(lambda: evaluate(unequal, X, y, cv=one), "priors", "uniform")
    refused(lambda: evaluate(NearestCentroid(metric="cosine"), X, y, cv=one), "metric", "manhattan")

    class Own(NearestCentroid):
        def predict(self, X):
            return super().predict(X)

    refused(lambda: evaluate(Own(), X, y, cv=one), "NearestCentroid", "predict")
    refused(lambda: learning_curve(NearestCentroid(), X, y), "NearestCentroid", "one training")
    refused(lambda: validation_curve(NearestCentroid(), X, y, cv=one), "n_neighbors")
    pipeline = make_pipeline(StandardScaler(), NearestCentroid())
    refused(lambda: evaluate(pipeline, X, y, cv=one), "estimator")
