"""Which candidate is best: rounding does not decide between equals, guesses do not win."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import KFold, LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier

from allsplits import Curve, KNeighborsClassifierCV, KNeighborsRegressorCV, evaluate
from allsplits.model_selection._choice import choose_best, ranks


def curve(scores, bounds, x=None):
    scores, bounds = np.array(scores), np.broadcast_to(bounds, len(scores)).astype(float)
    x = np.arange(1, len(scores) + 1) if x is None else np.array(x)
    return Curve("n_neighbors", x, scores, "accuracy", bounds)


def test_the_best_score_is_the_score_at_the_best():
    found = curve([0.9, 0.90005], 1e-4)
    assert (found.best, found.best_score) == (1, 0.9)
    assert "best 0.900000 ± 1e-04 at 1" in repr(found)


@pytest.mark.parametrize(
    ("scores", "bounds", "best", "could_be"),
    [
        ([0.9, 0.9 + 1e-16], [1e-15, 1e-15], 0, [0, 1]),
        ([0.9 - 8e-15, 0.9], [1e-14, 1e-16], 0, [0, 1]),
        ([0.9, 0.9 - 8e-15], [1e-16, 1e-14], 0, [0, 1]),
        ([0.9 - 3e-14, 0.9], [1e-14, 1e-14], 1, [1]),
        ([0.5, 0.9], [0.5, 1e-14], 1, [0, 1]),
        ([0.9, 0.5], [1e-14, 0.5], 0, [0, 1]),
        ([0.5, 0.9, 0.9], [0.5, 1e-14, 1e-14], 1, [0, 1, 2]),
        ([0.8, 0.95, 0.7], [1e-14, 0.1, 1e-14], 1, [1]),
        ([0.8, 0.85], [0.1, 0.1], 0, [0, 1]),
        ([-5e6, -5e6 * (1 - 1e-16)], [1e-8, 1e-8], 0, [0, 1]),
        ([0.0, 0.0], [0.0, 0.0], 0, [0, 1]),
    ],
)
def test_the_rule(scores, bounds, best, could_be):
    choice = choose_best(np.array(scores), np.array(bounds))
    assert choice.position == best
    assert np.flatnonzero(choice.could_be_best).tolist() == could_be
    found = ranks(np.array(scores), np.array(bounds))
    np.testing.assert_array_equal(found == 1, choice.could_be_best)


def test_ranks_count_those_that_are_certainly_better():
    scores, bounds = np.array([0.7, 0.9, 0.9, 0.5, 0.65]), np.array([0, 0, 0, 0, 0.06])
    assert ranks(scores, bounds).tolist() == [3, 1, 1, 5, 3]


def test_equal_candidates_are_chosen_in_the_order_given():
    """Two far apart clusters: everything is right, and rounding differs between the metrics."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(20, 3)), 1000 + rng.normal(size=(21, 3))])
    y = np.repeat([0, 1], [20, 21])
    metrics = ("chebyshev", "euclidean", "manhattan", "sqeuclidean")
    for order in (metrics, metrics[::-1]):
        model = KNeighborsClassifierCV((3, 1, 5), metric=order).fit(X, y)
        assert model.best_params_ == {"n_neighbors": 3, "weights": "uniform", "metric": order[0]}
        assert model.best_index_ == 0
        assert model.cv_results_["could_be_best"].all()
        assert (model.cv_results_["rank_test_score"] == 1).all()


def on_first(a, b):
    return abs(a[0] - b[0])


def on_second(a, b):
    return abs(a[1] - b[1])


def test_rounding_does_not_decide_between_equal_metrics():
    """The second feature is the first one with rows of a class exchanged: scores are the same."""
    rounded = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1, 2], 8)
        feature = rng.normal(size=24) + y
        exchanged = np.concatenate([rng.permutation(8) + 8 * c for c in range(3)])
        X = np.column_stack([feature, feature[exchanged]])
        for metrics in ((on_first, on_second), (on_second, on_first)):
            model = KNeighborsClassifierCV([3], metric=metrics).fit(X, y)
            assert model.best_params_["metric"] is metrics[0]
        rounded += len(set(model.cv_results_["mean_test_score"])) > 1
    assert rounded > 2


def test_the_same_metric_under_two_names_is_a_tie():
    X, y = load_wine(return_X_y=True)
    for names in (("minkowski", "euclidean"), ("euclidean", "minkowski")):
        model = KNeighborsClassifierCV(range(1, 8), metric=names).fit(X, y)
        assert model.best_params_["metric"] == names[0]


def test_results_of_all_candidates():
    X, y = load_iris(return_X_y=True)
    metrics = ("euclidean", "manhattan")
    model = KNeighborsClassifierCV([1, 4, 9], metric=metrics, cv=KFold(5)).fit(X, y)
    results = model.cv_results_
    assert len(pd.DataFrame(results)) == 6
    for i, params in enumerate(results["params"]):
        found = evaluate(KNeighborsClassifier(**params), X, y, cv=KFold(5))
        assert results["mean_test_score"][i] == pytest.approx(found.score, abs=1e-13)
        assert results["param_metric"][i] == params["metric"]
        assert results["param_n_neighbors"][i] == params["n_neighbors"]
        assert 0 <= results["error_bound"][i] < 1e-11
    best = model.best_index_
    assert results["params"][best] == model.best_params_
    assert results["mean_test_score"][best] == model.best_score_
    assert results["rank_test_score"][best] == 1
    assert model.curve_ is model.curves_["uniform", model.best_params_["metric"]]


def test_results_of_a_regressor():
    X = load_iris().data
    model = KNeighborsRegressorCV([1, 5], weights=("uniform",), cv=LeaveOneOut()).fit(
        X[:, :3], X[:, 3]
    )
    assert model.cv_results_["mean_test_score"].max() == model.best_score_
    assert sorted(model.cv_results_["rank_test_score"]) == [1, 2]


def test_wide_intervals_are_shown():
    wide = curve([0.8, 0.7, 0.75], [1e-14, 0.05, 0.2])
    assert wide.best == 1
    assert wide.could_be_best.tolist() == [True, False, True]
    assert wide.error_bound == 0.2
    assert "best 0.800000 ± 1e-14 at 1; 2 of 3 known only to ± 0.2" in repr(wide)
    assert wide.frame("pandas")["error_bound"].tolist() == [1e-14, 0.05, 0.2]
    assert "known only" not in repr(curve([0.8, 0.7], 1e-14))


def test_wide_intervals_are_drawn():
    wide = curve([0.8, 0.7, 0.75], [1e-14, 0.05, 0.2])
    (band,) = wide.plot().collections
    drawn = band.get_paths()[0].vertices
    assert drawn[:, 1].max() == 0.75 + 0.2
    assert drawn[:, 1].min() == 0.75 - 0.2
    assert not curve([0.8, 0.7], 1e-14).plot().collections
    plt.close("all")


def test_one_bound_is_a_bound_for_all():
    one = Curve("n_neighbors", np.array([1, 2]), np.array([0.5, 0.6]), "accuracy", 1e-3)
    assert one.error_bounds.tolist() == [1e-3, 1e-3]
    assert one.error_bound == 1e-3
