"""Retrieval at every cut-off, and the scores of `evaluate` that have none."""

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier

from allsplits import ClassCounts, Curve, FixedSize, evaluate, learning_curve, retrieval_curve
from allsplits.plots import RetrievalCurveDisplay

KNN = KNeighborsClassifier(1)


@pytest.mark.parametrize("scoring", ["precision@k", "item_recall@k", "ndcg@k", "mrr@k"])
@pytest.mark.parametrize("cv", [ClassCounts(4), FixedSize(40), LeaveOneOut()], ids=str)
def test_each_point_is_an_evaluation(iris, scoring, cv):
    curve = retrieval_curve(*iris, scoring=scoring, ranks=[1, 3, 7], cv=cv)
    assert isinstance(curve, Curve)
    assert curve.scoring == scoring
    for rank, score in zip(curve.x, curve.scores, strict=True):
        alone = evaluate(KNN, *iris, cv=cv, scoring=scoring.replace("@k", f"@{rank}"))
        assert score == pytest.approx(alone.score, abs=1e-13)


def test_the_full_gallery_and_fifty_ranks_by_default(iris):
    curve = retrieval_curve(*iris)
    assert list(curve.x) == list(range(1, 51))
    alone = evaluate(KNN, *iris, cv=LeaveOneOut())
    assert curve.scores[0] == pytest.approx(alone.score, abs=1e-13)
    assert len(retrieval_curve(*iris, cv=ClassCounts(2)).x) == 6


def test_what_scores_have_in_common(iris):
    """The first place, and the whole gallery."""
    options = {"cv": ClassCounts(3), "ranks": [1, 9]}
    first = {
        name: retrieval_curve(*iris, scoring=name, **options).scores
        for name in ("precision@k", "item_recall@k", "ndcg@k", "mrr@k")
    }
    accuracy = evaluate(KNN, *iris, cv=ClassCounts(3)).score
    for name, share in (("precision@k", 1), ("item_recall@k", 1 / 3), ("ndcg@k", 1), ("mrr@k", 1)):
        assert first[name][0] == pytest.approx(share * accuracy, abs=1e-12)
    assert first["precision@k"][1] == pytest.approx(1 / 3, abs=1e-12)
    assert first["item_recall@k"][1] == pytest.approx(1, abs=1e-12)


def test_names_of_others_mean_the_same(iris):
    for theirs, ours in (
        ("mean_average_precision_at_r", "map@r"),
        ("precision_at_1", "precision@1"),
    ):
        found = evaluate(KNN, *iris, cv=ClassCounts(3), scoring=theirs)
        assert found.scoring == ours
        assert found.score == evaluate(KNN, *iris, cv=ClassCounts(3), scoring=ours).score


def test_several_scores_at_once(iris):
    """Beside a score of votes, each is what it is alone."""
    names = ["map@r", "accuracy", "ndcg@3", "recall@2"]
    found = evaluate(KNN, *iris, cv=ClassCounts(5), scoring=names)
    for name in names:
        alone = evaluate(KNN, *iris, cv=ClassCounts(5), scoring=name).score
        assert found.scores[name] == pytest.approx(alone, abs=1e-13)


@pytest.mark.parametrize("stratify", [False, True])
def test_a_learning_curve_is_one_of_galleries(iris, stratify):
    sizes = [2, 5]
    curve = learning_curve(KNN, *iris, train_sizes=sizes, stratify=stratify, scoring="map@r")
    law = ClassCounts if stratify else FixedSize
    alone = [evaluate(KNN, *iris, cv=law(size), scoring="map@r").score for size in sizes]
    np.testing.assert_allclose(curve.scores, alone, atol=1e-13)


def test_weights_do_not_matter(iris):
    weighted = KNeighborsClassifier(5, weights="distance")
    found = evaluate(weighted, *iris, cv=ClassCounts(3), scoring="map@r")
    assert found.score == evaluate(KNN, *iris, cv=ClassCounts(3), scoring="map@r").score
    assert "n_neighbors" not in repr(found)


def test_intervals_come_from_the_queries(iris):
    found = evaluate(KNN, *iris, cv=ClassCounts(3), scoring="map@r")
    assert found.without_one is None
    assert found.interval().method == "sample scores"
    assert found.interval().low < found.score < found.interval().high
    band = retrieval_curve(*iris, ranks=[1, 2], cv=ClassCounts(3)).interval()
    assert (band.low < band.high).all()


def test_the_picture(iris):
    pytest.importorskip("matplotlib", reason="the picture needs matplotlib")
    display = RetrievalCurveDisplay.from_estimator(KNN, *iris, ranks=range(1, 6))
    assert display.ax_.get_ylabel() == "precision@k"
    assert display.ax_.get_xlabel() == "rank"
    metric = KNeighborsClassifier(metric="manhattan")
    other = RetrievalCurveDisplay.from_estimator(metric, *iris, ranks=[2], cv=ClassCounts(4))
    expected = retrieval_curve(*iris, ranks=[2], cv=ClassCounts(4), metric="manhattan")
    assert other.curve.scores[0] == expected.scores[0]
