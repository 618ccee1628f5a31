"""Scores by name, several at once, and what is refused before any work."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import make_scorer
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import allsplits
from allsplits import (
    Bootstrap,
    ClassCounts,
    CostMatrix,
    Episodes,
    FixedSize,
    KNeighborsClassifierCV,
    LogLoss,
    audit_split,
    evaluate,
    learning_curve,
    order_neighbors,
    sample_values,
    validation_curve,
)
from allsplits.exceptions import InvalidInputError, UnsupportedError
from unit.refused import refused

X, y = load_iris(return_X_y=True)
KNN = KNeighborsClassifier(5)
TEN = [
    "accuracy", "balanced_accuracy", "recall_of:1", "recall@2", "neg_log_loss", LogLoss(0.5),
    "neg_brier_score", "top_2_accuracy", CostMatrix(1 - np.eye(3)), "neg_log_loss+2",
]  # fmt: skip


class Unread:
    """Data that must not be looked at: wrong scores are refused before any work."""

    def __array__(self, *args, **kwargs):
        raise AssertionError("work was done")


@pytest.mark.parametrize(
    ("scoring", "words"),
    [
        ("f1_macro", ["ratio", "CostMatrix"]),
        ("precision", ["ratio"]),
        ("matthews_corrcoef", ["ratio", "balanced_accuracy"]),
        ("roc_auc", ["pairs", "neg_brier_score"]),
        ("recall", ["recall_of:CLASS", "balanced_accuracy"]),
        ("neg_log_loss+0", ["smoothing", "vote of zero", "infinite"]),
        (make_scorer(lambda a, b: 0.0), ["function", "closed form"]),
        ([], ["at least one"]),
        (["accuracy", "accuracy"], ["once", "accuracy"]),
        (["accuracy", "f1"], ["ratio"]),
        ("acuracy", ["must be", "neg_log_loss", "acuracy"]),
    ],
)
def test_wrong_scores_are_refused_before_any_work(scoring, words):
    refused(lambda: evaluate(KNN, Unread(), Unread(), scoring=scoring), *words)


@pytest.mark.parametrize(
    ("scoring", "words"),
    [
        ("r2", ["ratio", "neg_mean_squared_error"]),
        ("neg_root_mean_squared_error", ["root", "neg_mean_squared_error"]),
        ("neg_log_loss", ["neg_mean_squared_error"]),
        (LogLoss(1), ["neg_mean_squared_error"]),
    ],
)
def test_wrong_scores_of_a_regressor(scoring, words):
    refused(lambda: evaluate(KNeighborsRegressor(3), Unread(), Unread(), scoring=scoring), *words)


@pytest.mark.parametrize("smoothing", [0, -1, float("nan"), float("inf"), "1", True])
def test_log_loss_without_smoothing(smoothing):
    """The log of a vote of zero is infinite."""
    refused(lambda: LogLoss(smoothing), "smoothing", "infinite", "got")


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        (np.eye(2), ["3 by 3", "(2, 2)"]),
        (np.full((3, 3), np.nan), ["finite"]),
        ([["a"] * 3] * 3, ["numbers"]),
        ({(0, 7): 1.0}, ["pairs (true, predicted)", "7"]),
        ({(0, 1): "x"}, ["numbers"]),
        ({0: 1.0}, ["pairs"]),
    ],
)
def test_wrong_costs(costs, words):
    refused(lambda: evaluate(KNN, X, y, scoring=CostMatrix(costs)), "costs", *words)


def test_scores_that_do_not_fit_the_classes():
    refused(lambda: evaluate(KNN, X, y, scoring="recall_of:setosa"), "recall_of:setosa", "classes")
    refused(lambda: evaluate(KNN, X, y, scoring="top_3_accuracy"), "more than 3 classes", "3")
    two = y > 0
    refused(lambda: evaluate(KNN, X, two, scoring="top_k_accuracy"), "more than 2 classes")


def test_weighted_votes_are_known_by_who_wins():
    weighted = KNeighborsClassifier(3, weights="distance")
    with pytest.raises(UnsupportedError, match="neg_log_loss"):
        evaluate(weighted, X, y, scoring=["accuracy", "neg_log_loss"])
    both = evaluate(weighted, X, y, cv=KFold(5), scoring=["accuracy", "balanced_accuracy"])
    for name in both.names:
        alone = evaluate(weighted, X, y, cv=KFold(5), scoring=name)
        assert both[name].score == alone.score
    with pytest.raises(UnsupportedError, match="uniform"):
        both.calibration()
    chosen = KNeighborsClassifierCV([1, 3], weights=("uniform", "distance"), scoring="neg_log_loss")
    with pytest.raises(UnsupportedError, match="uniform"):
        chosen.fit(X, y)


def test_other_functions_take_one_plain_score():
    for ask in (
        lambda s: sample_values(KNN, X, y, scoring=s),
        lambda s: allsplits.report(X, y, estimator=KNN, scoring=s),
        lambda s: audit_split(KNN, X, y, np.arange(100), np.arange(100, 150), scoring=s),
    ):
        refused(lambda ask=ask: ask("neg_log_loss"), "neg_log_loss", "here")
        refused(lambda ask=ask: ask(["accuracy"]), "one score here")


def test_reports_are_about_how_often_samples_are_right():
    found = evaluate(KNN, X, y, scoring="neg_brier_score")
    refused(lambda: allsplits.report(found, X=X), "neg_brier_score", "here")


def test_episodes_know_no_most_voted():
    for k in (1, 2):
        with pytest.raises(UnsupportedError, match="top_K_accuracy"):
            evaluate(KNeighborsClassifier(k), X, y, cv=Episodes(2, 1), scoring="top_2_accuracy")


def test_what_is_not_known_of_scores_of_votes():
    found = evaluate(KNN, X, y, scoring="neg_brier_score")
    for ask in (found.split_spread, lambda: found.split_std, found.unbiased_variance):
        with pytest.raises(UnsupportedError, match="neg_brier_score"):
            ask()
    assert found.without_one is None
    assert found.interval().method == "sample scores"
    with pytest.raises(UnsupportedError, match="votes"):
        evaluate(KNN, X, y, scoring="recall@2").calibration()
    with pytest.raises(UnsupportedError, match="KNeighborsRegressor"):
        found.squared_error_parts()


@pytest.mark.parametrize("scoring", ["f1", "roc_auc", max, "nonsense"])
def test_what_has_no_average_points_to_replay(scoring):
    with pytest.raises(InvalidInputError, match=r"replay\(\.\.\.\)"):
        evaluate(KNN, X, y, scoring=scoring)


@pytest.mark.parametrize(
    "cv", [None, KFold(5), FixedSize(20), ClassCounts(2), Bootstrap()], ids=lambda cv: repr(cv)[:9]
)
def test_ten_at_once_are_ten_alone(cv):
    together = evaluate(KNN, X, y, cv=cv, scoring=TEN)
    assert list(together.scores) == [s if isinstance(s, str) else s.name for s in TEN]
    for score, name in zip(TEN, together.names, strict=True):
        alone, one = evaluate(KNN, X, y, cv=cv, scoring=score), together[name]
        bound = alone.error_bound + one.error_bound
        assert abs(alone.score - one.score) <= bound
        assert abs(one.score - np.sum(one.sample_scores * one.sample_weight)) <= 1e-13
        np.testing.assert_allclose(alone.sample_scores, one.sample_scores, rtol=0, atol=1e-12)
    right = together["accuracy"].score
    assert abs(together["neg_cost"].score - (right - 1)) <= 1e-12


def test_results_of_several_scores_read_well():
    found = evaluate(KNN, X, y, scoring={"right": "accuracy", "loss": LogLoss(1)})
    assert found.scoring == "accuracy"
    assert "loss=-0.35" in repr(found)
    assert list(found.score_frame()["scoring"]) == ["right", "loss"]
    assert {"low", "high", "method"} <= set(found.score_frame(confidence=0.9).columns)
    assert "loss" in found.frame().columns
    refused(lambda: found["brier"], "'right', 'loss'", "brier")
    curve = validation_curve(KNN, X, y, n_neighbors=[1, 5], scoring=["accuracy", "neg_log_loss+1"])
    assert "also neg_log_loss+1" in repr(curve)
    assert "neg_log_loss+1" in curve.frame().columns
    assert curve["neg_log_loss+1"].best == 5
    assert curve["neg_log_loss+1"].scores[1] == found["loss"].score
    refused(lambda: curve["f1"], "accuracy", "f1")
    sizes = learning_curve(KNN, X, y, train_sizes=[20, 60], scoring=["neg_brier_score", "recall@1"])
    assert sizes.scoring == "neg_brier_score"
    alone = learning_curve(KNN, X, y, train_sizes=[20, 60], scoring="recall@1")
    np.testing.assert_array_equal(sizes["recall@1"].scores, alone.scores)
    refused(lambda: validation_curve(KNN, X, y, scoring=["accuracy", "recall@1"]), "recall@1")


def test_the_first_score_chooses():
    model = KNeighborsClassifierCV([1, 5], scoring=["neg_log_loss+1", "accuracy"]).fit(X, y)
    other = KNeighborsClassifierCV([1, 5], scoring="accuracy").fit(X, y)
    assert model.best_params_["n_neighbors"] == 5
    np.testing.assert_allclose(
        model.cv_results_["mean_test_accuracy"], other.cv_results_["mean_test_score"], atol=1e-12
    )


def test_calibration():
    found = evaluate(KNN, X, y > 0, scoring=["accuracy", "neg_brier_score"])
    curve = found.calibration()
    assert abs(curve.predictions.sum() - 1) < 1e-12
    assert abs(curve.hits.sum() - found.score) < 1e-12
    assert "ECE=" in repr(curve)
    assert len(curve.frame()) == len(curve.confidence)
    assert found.calibration(n_bins=1).confidence.shape == (1,)
    ones = found.calibration(of_class=True)
    assert abs(ones.hits.sum() - 2 / 3) < 1e-12
    # In bins (a, b]: 2/5 and 1/5 fall together, as do 3/5, 4/5 and 1.
    assert len(found.calibration(n_bins=2, of_class=True).confidence) == 2
    refused(lambda: found.calibration(n_bins=0), "n_bins")
    refused(lambda: found.calibration(of_class="no"), "of_class", "two classes")
    three = evaluate(KNN, X, y)
    refused(lambda: three.calibration(of_class=1), "of_class", "two classes")
    ax = curve.plot()
    assert ax.get_xlabel().startswith("share of the votes")


@pytest.mark.parametrize("cv", [FixedSize(9), ClassCounts(3), Bootstrap()], ids=lambda cv: repr(cv))
@pytest.mark.parametrize("n", [32, 34, 67])
def test_rows_longer_than_the_lanes(cv, n):
    """Prefixes go side by side, 32 at a time: floats beside Fractions on both sides of that."""
    rng = np.random.default_rng(n)
    labels = np.arange(n) % 3
    points = rng.normal(size=(n, 2)) + labels[:, None] / 2
    if cv == Bootstrap():
        points, labels = points[:34], labels[:34]
    order = order_neighbors(points)
    options = {"cv": cv, "scoring": ["neg_brier_score", "top_2_accuracy"]}
    found = evaluate(KNeighborsClassifier(3), order, labels, **options)
    exact = evaluate(KNeighborsClassifier(3), order, labels, exact=True, **options)
    for name in found.names:
        assert abs(found[name].score - exact[name].score) <= found[name].error_bound
        assert found[name].error_bound < 1e-10


def test_too_many_ways_to_vote_for_fractions():
    labels = np.arange(150) % 15
    knn = KNeighborsClassifier(8)
    with pytest.raises(UnsupportedError, match="ways to share 8 votes among 15"):
        evaluate(knn, X, labels, cv=FixedSize(100), exact=True, scoring="neg_brier_score")


def test_invalid_input_is_one_kind_of_error():
    with pytest.raises(InvalidInputError):
        evaluate(KNN, X, y, scoring=3)
