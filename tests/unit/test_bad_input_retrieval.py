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
    cmc_curve,
    evaluate,
    learning_curve,
    report,
    retrieval_curve,
    sample_values,
    validation_curve,
)
from allsplits.exceptions import (
    InvalidInputError,
    NothingRelevantWarning,
    UnknownClassWarning,
    UnsupportedError,
)
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


CAMERAS = np.arange(N) % 2


def test_what_is_excluded_must_be_said():
    call = lambda: retrieval_curve(X, y, cv=ClassCounts(1), groups=y)  # noqa: E731
    refused(call, "groups", "candidate of its own class", "identity")
    one_camera = lambda: evaluate(KNN, X, y, cv=3, scoring="map", groups=np.zeros(N))  # noqa: E731
    refused(one_camera, "groups", "candidate of its own class")
    refused(lambda: retrieval_curve(X, y, groups=CAMERAS, exclude="all"), "exclude", "identity")
    for exclude in ("identity", "group"):
        for curve in (retrieval_curve, cmc_curve):
            refused(lambda c=curve, e=exclude: c(X, y, exclude=e), "exclude", "groups", exclude)
        call = lambda e=exclude: evaluate(KNN, X, y, cv=3, scoring="map", exclude=e)  # noqa: E731
        refused(call, "exclude", "groups", exclude)


def test_cameras_of_queries_go_with_queries():
    for curve in (retrieval_curve, cmc_curve):
        refused(lambda c=curve: c(X, y, groups=CAMERAS, groups_test=[1]), "groups_test", "X_test")
    asked = {"X_test": X[:2], "y_test": y[:2], "scoring": "map"}
    refused(lambda: evaluate(KNN, X, y, groups=CAMERAS, **asked), "groups_test", "groups")
    refused(lambda: evaluate(KNN, X, y, groups_test=[0, 1], **asked), "groups", "groups_test")
    call = lambda: evaluate(KNN, X, y, groups=CAMERAS, groups_test=[1], **asked)  # noqa: E731
    refused(call, "groups_test")


@pytest.mark.parametrize("cv", [3, ClassCounts(1), FixedSize(5), Bootstrap()], ids=str)
@pytest.mark.parametrize("scoring", [None, "neg_log_loss", ["map", "accuracy"]], ids=str)
def test_groups_that_would_be_ignored(cv, scoring):
    call = lambda: evaluate(KNN, X, y, cv=cv, scoring=scoring, groups=CAMERAS)  # noqa: E731
    refused(call, "groups must be None", "LeaveOneGroupOut", "retrieval")
    pipeline = make_pipeline(StandardScaler(), KNN)
    for given in ({"groups": CAMERAS}, {"exclude": "group"}, {"groups_test": CAMERAS}):
        call = lambda g=given: evaluate(pipeline, X, y, cv=cv, **g)  # noqa: E731
        refused(call, *given, "Pipeline")


def test_groups_of_a_law_exclude_nobody():
    cv, groups = splitters.LeaveOneGroupOut(), np.arange(N) % 3
    found = evaluate(KNN, X, y, cv=cv, scoring="recall@2", groups=groups)
    assert found.task.exclusion is None
    # Groups of one sample are a law of sizes, and still the groups of the law.
    alone = evaluate(KNN, X, y, cv=cv, scoring="map", groups=np.arange(N))
    assert alone.task.exclusion is None
    assert alone.score == evaluate(KNN, X, y, cv=splitters.LeaveOneOut(), scoring="map").score
    call = lambda: evaluate(KNN, X, y, cv=cv, groups=groups, exclude="group")  # noqa: E731
    refused(call, "exclude", "keeps groups together")


@pytest.mark.parametrize("cv", [Bernoulli(0.5), Bootstrap(), Episodes(2, 1)], ids=str)
def test_laws_that_exclude_nobody(cv):
    call = lambda: evaluate(KNN, X, y, cv=cv, scoring="recall@1", groups=CAMERAS)  # noqa: E731
    refused(call, "groups", "ClassCounts", "FixedSize")


def test_ranks_say_where_they_start():
    with pytest.raises(InvalidInputError, match="each value of ranks must be at least 1; got 0"):
        retrieval_curve(X, y, ranks=[0])
    refused(lambda: cmc_curve(X, y, ranks=[10**30]), "ranks", "at most", str(10**30))


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
