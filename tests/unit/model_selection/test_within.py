"""Estimators within a radius: beside scikit-learn, large neighbourhoods, and what is refused."""

import warnings
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import KFold, LeaveOneOut, LeavePOut, StratifiedKFold
from sklearn.neighbors import (
    KNeighborsClassifier,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
)

from allsplits import (
    Bernoulli,
    Bootstrap,
    ClassCounts,
    CostMatrix,
    Episodes,
    FixedSize,
    compare,
    evaluate,
    learning_curve,
    order_neighbors,
    report,
    sample_values,
    validation_curve,
)
from allsplits.exact.within._kernels_draws import voters_of_class
from allsplits.exact.within.kernel_types import BINOMIAL, HYPERGEOMETRIC, POISSON
from unit.refused import refused


def two_classes(n):
    X = np.random.default_rng(1).normal(size=(n, 2))
    return X, (X[:, 0] + np.random.default_rng(2).normal(size=n) > 0.3).astype(int)


# ------------------------------------------------------------ beside scikit-learn


@pytest.mark.parametrize("outlier", ["b", "most_frequent", "?"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_every_split_by_scikit_learn(metric, outlier):
    """Fitted and asked on all splits; a radius that leaves some alone."""
    y = np.array(list("abbabcbb"))
    X = np.random.default_rng(3).normal(size=(8, 3))
    model = RadiusNeighborsClassifier(
        0.4 if metric == "cosine" else 1.6, metric=metric, outlier_label=outlier
    )
    rights = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of outlier labels that are no class
        for test in combinations(range(8), 2):
            train = np.setdiff1d(np.arange(8), test)
            fitted = model.fit(X[train], y[train])
            rights.append(np.mean(fitted.predict(X[list(test)]) == y[list(test)]))
    found = evaluate(model, X, y, cv=LeavePOut(2))
    assert found.score == pytest.approx(np.mean(rights), abs=1e-13)
    assert (found.radius, "radius=" in repr(found)) == (model.radius, True)


def test_probabilities_by_scikit_learn():
    """Brier and log-loss of predict_proba on all splits, clipped as log_loss does."""
    X, y = two_classes(9)
    model = RadiusNeighborsClassifier(0.9, outlier_label=1)
    losses = []
    for test in combinations(range(9), 3):
        train = np.setdiff1d(np.arange(9), test)
        shares = model.fit(X[train], y[train]).predict_proba(X[list(test)])
        own = shares[np.arange(3), y[list(test)]]
        eps = np.finfo(float).eps
        losses.append([np.mean((1 - own) ** 2), -np.mean(np.log(np.clip(own, eps, 1 - eps)))])
    scoring = ["neg_brier_score", "neg_log_loss"]
    found = evaluate(model, X, y, cv=LeavePOut(3), scoring=scoring)
    expected = -np.mean(losses, axis=0)
    np.testing.assert_allclose(list(found.scores.values()), expected, atol=1e-12)


def test_regression_by_scikit_learn():
    X, y = two_classes(9)[0], np.random.default_rng(5).normal(size=9)
    model, errors = RadiusNeighborsRegressor(100.0), []
    for test in combinations(range(9), 4):
        train = np.setdiff1d(np.arange(9), test)
        said = model.fit(X[train], y[train]).predict(X[list(test)])
        errors.append(np.mean((said - y[list(test)]) ** 2))
    # Everybody is within the radius: nobody is ever alone.
    found = evaluate(model, X, y, cv=LeavePOut(4))
    assert found.score == pytest.approx(-np.mean(errors), rel=1e-13)


# ------------------------------------------------------------ large neighbourhoods


@pytest.mark.parametrize("n", [300, 900])
@pytest.mark.parametrize("share", [0.02, 0.5, 0.97])
def test_large_neighbourhoods_against_integers(n, share):
    """More within the radius than is searched at first, and windows of chances that are cut."""
    X, y = two_classes(n)
    a, radius = int(n * share), 1.2
    found = evaluate(RadiusNeighborsClassifier(radius, outlier_label=0), X, y, cv=FixedSize(a))
    inside = ((X[:, None] - X[None]) ** 2).sum(axis=2) <= radius**2
    np.fill_diagonal(inside, False)
    assert inside.sum(axis=1).max() > (64 if n == 300 else 256)
    for i in (0, int(inside.sum(axis=1).argmax()), int(inside.sum(axis=1).argmin())):
        m, ones = int(inside[i].sum()), int(inside[i, y == 1].sum())
        total = comb(n - 1 - m, a) * int(1 - y[i])
        for s in range(max(1, a - (n - 1 - m)), min(m, a) + 1):
            least = s // 2 + 1
            won = sum(comb(ones, v) * comb(m - ones, s - v) for v in range(least, s + 1))
            total += comb(n - 1 - m, a - s) * (won if y[i] else comb(m, s) - won)
        right = Fraction(total, comb(n - 1, a))
        off = abs(Fraction(float(found.sample_scores[i])) - right)
        assert off <= Fraction(found.error_bound) < Fraction(1, 10**10)


@pytest.mark.parametrize(
    ("kind", "n", "pool", "drawn", "rate"),
    [
        (HYPERGEOMETRIC, 40, 100, 35, 0.0),
        (HYPERGEOMETRIC, 5, 5, 3, 0.0),
        (HYPERGEOMETRIC, 60, 80, 70, 0.0),
        (BINOMIAL, 50, 0, 0, 0.3),
        (BINOMIAL, 7, 0, 0, 1.0),
        (POISSON, 12, 0, 0, 0.8),
    ],
)
def test_chances_of_voters(kind, n, pool, drawn, rate):
    from scipy import stats

    room = np.empty(400)
    first, size = voters_of_class(kind, n, pool, drawn, rate, room)
    law = {
        HYPERGEOMETRIC: stats.hypergeom(pool, n, drawn),
        BINOMIAL: stats.binom(n, rate),
        POISSON: stats.poisson(n * rate),
    }[kind]
    np.testing.assert_allclose(room[:size], law.pmf(np.arange(first, first + size)), rtol=1e-9)
    assert law.cdf(first + size - 1) - law.cdf(first - 1) == pytest.approx(1, abs=1e-14)


def test_a_radius_that_meets_decimals():
    """0.3 - 0.2, 0.9 - 0.8, … are 0.1: who is tied with the radius is within it."""
    X = np.arange(10)[:, None] / 10
    y = np.arange(10) % 2
    found = evaluate(RadiusNeighborsClassifier(0.1), X, y, cv=LeaveOneOut())
    # Both neighbours are of the other class.
    assert found.score == 0.0
    whole = evaluate(RadiusNeighborsClassifier(1), np.arange(10)[:, None], y, cv=LeaveOneOut())
    assert whole.score == found.score


@pytest.mark.parametrize("cv", [KFold(4), StratifiedKFold(3), Bernoulli(0.3), Bootstrap()], ids=str)
def test_units_rows_threads_and_given_orders_do_not_matter(cv):
    X, y = two_classes(200)
    model = RadiusNeighborsClassifier(0.5, outlier_label=1)
    scoring = ["accuracy", "neg_log_loss+1"]
    found = evaluate(model, X, y, cv=cv, scoring=scoring, n_jobs=1)
    threads = evaluate(model, X, y, cv=cv, scoring=scoring, n_jobs=3)
    given = evaluate(model, order_neighbors(X), y, cv=cv, scoring=scoring)
    assert found.scores == threads.scores == given.scores
    for scale in (1e-15, 1e15):
        scaled = RadiusNeighborsClassifier(0.5 * scale, outlier_label=1)
        other = evaluate(scaled, X * scale, y, cv=cv, scoring=scoring)
        assert other.score == pytest.approx(found.score, abs=1e-12)
    order = np.random.default_rng(0).permutation(200)
    if not isinstance(cv, StratifiedKFold):
        turned = evaluate(model, X[order], y[order], cv=cv, scoring=scoring)
        assert turned.score == pytest.approx(found.score, abs=1e-12)


def test_all_kinds_of_points():
    """Sparse rows, single precision and distances have the neighbours of the array."""
    X = np.random.default_rng(0).integers(4, size=(90, 5)).astype(float)
    y = np.arange(90) % 3
    plain = evaluate(RadiusNeighborsClassifier(2.5, outlier_label=0), X, y, cv=KFold(3))
    for points in (csr_matrix(X), X.astype(np.float32), pd.DataFrame(X, index=range(90, 180))):
        found = evaluate(RadiusNeighborsClassifier(2.5, outlier_label=0), points, y, cv=KFold(3))
        assert found.score == plain.score
    model = RadiusNeighborsClassifier(2.5, metric="precomputed", outlier_label=0)
    assert evaluate(model, pairwise_distances(X), y, cv=KFold(3)).score == plain.score


def test_everybody_within_is_the_vote_of_all():
    X, y = two_classes(40)
    model = RadiusNeighborsClassifier(np.inf)
    for a in (1, 7, 20):
        within = evaluate(model, X, y, cv=FixedSize(a), scoring=["accuracy", "neg_brier_score"])
        nearest = evaluate(
            KNeighborsClassifier(a), X, y, cv=FixedSize(a), scoring=["accuracy", "neg_brier_score"]
        )
        for name, score in nearest.scores.items():
            assert within.scores[name] == pytest.approx(score, abs=1e-12)


# ------------------------------------------------------------ results


def test_what_a_result_has():
    X, y = two_classes(60)
    found = evaluate(RadiusNeighborsClassifier(0.8, outlier_label=1), X, y, cv=5)
    assert found.interval().low < found.score < found.interval().high
    assert list(found.frame()["score"]) == list(found.sample_scores)
    assert found.without_one is None
    assert found.confusion.sum() == pytest.approx(1)
    for method in (found.split_spread, found.unbiased_variance, found.calibration):
        refused(method, "radius")
    curve = validation_curve(
        RadiusNeighborsClassifier(outlier_label=1), X, y, radius=[0.5, 0.8, 1.5], cv=5
    )
    assert curve.scores[1] == found.score
    assert isinstance(curve.best, float)
    assert "radius = 0.5 … 1.5" in repr(curve)
    assert list(curve.frame().columns)[:2] == ["radius", "accuracy"]
    refused(curve.interval, "radius")
    sizes = learning_curve(RadiusNeighborsClassifier(0.8, outlier_label=1), X, y)
    assert (sizes.parameter, sizes.x[-1]) == ("train_size", 59)
    target = X[:, 1]
    curve = learning_curve(
        RadiusNeighborsRegressor(0.8), X, target, train_sizes=[5, 30], outlier_target=0.0
    )
    assert np.all(np.diff(curve.scores) > 0)


def test_comparisons_and_reports():
    """Beside k neighbours; a page that speaks of the radius, and of no number of neighbours."""
    X, y = two_classes(60)
    model = RadiusNeighborsClassifier(0.8, outlier_label="most_frequent")
    found, other = evaluate(model, X, y), evaluate(KNeighborsClassifier(5), X, y)
    difference = compare(found, other)
    assert difference.difference == pytest.approx(float(found.score - other.score))
    for page in (report(X, y, estimator=model), report(found), report(found, estimator=model, X=X)):
        assert "all neighbours within 0.8" in page.summary["answer"]
        assert (page.summary["score"]["n_neighbors"], page.summary["score"]["radius"]) == (
            None,
            0.8,
        )
        # What samples are worth is known of k nearest neighbours.
        assert page.summary["values"] is None
        assert "1 nearest neighbour" not in page.html()
    assert report(other).summary["score"]["radius"] is None
    wide = RadiusNeighborsRegressor(np.inf)
    assert "within inf" in report(X, X[:, 1], estimator=wide).summary["answer"]
    alone = RadiusNeighborsRegressor(0.2)
    refused(lambda: report(X, X[:, 1], estimator=alone), "outlier_target", "larger radius")
    refused(lambda: report(X, y, estimator=model, n_neighbors=[1, 3]), "n_neighbors", "radius")
    refused(lambda: report(found, estimator=KNeighborsClassifier(1)), "estimator", "radius=0.8")


# ------------------------------------------------------------ what is refused


def test_bad_input():
    X, y = two_classes(30)
    classifier, regressor = RadiusNeighborsClassifier, RadiusNeighborsRegressor

    def ask(model, *names, target=y, **options):
        refused(lambda: evaluate(model, X, target, **options), *names, "must", "got")

    ask(classifier(0.05), "outlier_label", "30 samples", "'most_frequent'", cv=5)
    ask(regressor(0.05), "outlier_target", "30 samples", "NaN", target=X[:, 0])
    ask(regressor(1.0), "outlier_target", target=X[:, 0], outlier_target="x")
    ask(regressor(1.0), "outlier_target", target=X[:, 0], outlier_target=np.nan)
    ask(classifier(1.0), "outlier_target", outlier_target=1.0)
    ask(KNeighborsClassifier(1), "outlier_target", outlier_target=1.0)
    ask(classifier(-1.0), "radius")
    ask(classifier("1"), "radius")
    ask(classifier(np.nan), "radius")
    ask(classifier(1.0, weights="distance"), "weights", "'uniform'")
    ask(regressor(1.0, weights=lambda d: d), "weights", "'uniform'", target=X[:, 0])
    ask(classifier(1.0, outlier_label="x"), "outlier_label")
    ask(classifier(1.0, outlier_label=7), "outlier_label", scoring="neg_brier_score")
    ask(classifier(1.0, outlier_label=7), "outlier_label", scoring=CostMatrix({(0, 1): 1}))
    ask(classifier(0.3, outlier_label="most_frequent"), "outlier_label", cv=FixedSize(4))


def test_what_has_no_formula():
    X, y = two_classes(30)
    model = RadiusNeighborsClassifier(1.0, outlier_label=0)
    for options in ({"scoring": "recall@2"}, {"scoring": "map@r"}):
        refused(lambda options=options: evaluate(model, X, y, **options))
    episodes = {"cv": Episodes(2, 1), "scoring": "top_2_accuracy"}
    refused(lambda: evaluate(model, X, np.arange(30) % 3, **episodes), "Episodes")
    classes = {"cv": Episodes(5, 1)}
    refused(lambda: evaluate(model, X, np.arange(30) % 15, **classes), "n_way", "3,003")
    many = RadiusNeighborsClassifier(np.inf)
    refused(lambda: evaluate(many, X, np.arange(30) % 6, exact=True), "exact=True", "20,000")
    regressor = RadiusNeighborsRegressor(1.0)
    refused(lambda: evaluate(regressor, X, X[:, 0], outlier_target=0, cv=ClassCounts(1)))
    refused(lambda: sample_values(model, X, y), "estimator", "radii")


def test_which_values_a_curve_takes():
    X, y = two_classes(30)
    model = RadiusNeighborsClassifier(1.0, outlier_label=0)

    def ask(model, *names, **options):
        refused(lambda: validation_curve(model, X, y, **options), *names)

    ask(model, "radius", "must be given")
    ask(model, "n_neighbors", "radius", n_neighbors=[1])
    ask(KNeighborsClassifier(), "radius", "n_neighbors", radius=[1.0])
    ask(model, "param_name", "'radius'", param_name="n_neighbors", param_range=[1])
    ask(model, "radius", "param_range", radius=[1.0], param_range=[1.0])
    ask(model, "radius", "once", radius=[1.0, 1.0])
    ask(model, "radius", "at least one", radius=[])
    ask(model, "radius", "number", radius="12")
    ask(model, "radius", "at least 0", radius=[1.0, -2.0])


def test_a_given_order_that_is_too_short():
    X, y = two_classes(50)
    model = RadiusNeighborsClassifier(1.0, outlier_label=0)
    refused(lambda: evaluate(model, order_neighbors(X, depth=5), y), "depth")
