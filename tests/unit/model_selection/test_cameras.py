"""Re-identification: what a query must not meet, beside the evaluation that Market-1501 has."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeaveOneOut, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from allsplits import (
    ClassCounts,
    FixedSize,
    cmc_curve,
    compare,
    evaluate,
    order_neighbors,
    report,
    retrieval_curve,
)
from allsplits.exceptions import NothingRelevantWarning
from unit.refused import refused

KNN = KNeighborsClassifier(1)
RNG = np.random.default_rng(0)
N = 120
Y = np.repeat(np.arange(15), 8)
X = RNG.standard_normal((15, 4))[Y] + RNG.standard_normal((N, 4))
CAMERA = RNG.integers(0, 4, N)
CAMERA[Y == 14] = 2  # seen by one camera alone
RATES = ["map", "recall@1", "recall@5", "recall@10"]


def market(X, y, camera, X_test, y_test, camera_test, *, everything=False):
    """mAP and match rates of a query set, as the evaluation of Market-1501 has them."""
    precisions, matches = [], []
    for point, identity, seen_by in zip(X_test, y_test, camera_test, strict=True):
        order = np.argsort(((X - point) ** 2).sum(axis=1))
        junk = camera[order] == seen_by
        if not everything:
            junk &= y[order] == identity
        good = y[order][~junk] == identity
        if good.any():
            hits = np.flatnonzero(good)
            precisions.append(np.mean(np.arange(1, len(hits) + 1) / (hits + 1)))
            matches.append(np.cumsum(good) > 0)
    rates = np.mean([line[:20] for line in matches], axis=0)
    return [np.mean(precisions), rates[0], rates[4], rates[9]], len(precisions)


@pytest.mark.parametrize("exclude", ["identity", "group"])
def test_a_query_set_and_the_full_gallery(exclude):
    asked = slice(0, N, 3)
    inside = np.setdiff1d(np.arange(N), np.arange(N)[asked])
    sets = (X[inside], Y[inside], CAMERA[inside], X[asked], Y[asked], CAMERA[asked])
    expected, n_queries = market(*sets, everything=exclude == "group")
    found = evaluate(
        KNN, X[inside], Y[inside], scoring=RATES, groups=CAMERA[inside], exclude=exclude,
        X_test=X[asked], y_test=Y[asked], groups_test=CAMERA[asked],
    )  # fmt: skip
    np.testing.assert_allclose([found.scores[name] for name in RATES], expected, atol=1e-13)
    assert np.sum(found.sample_weight > 0) == n_queries < 40
    assert np.isnan(found.sample_scores).sum() == 40 - n_queries


@pytest.mark.parametrize("exclude", ["identity", "group"])
def test_all_samples_ask_all_others(exclude):
    # A sample is of its own identity and camera: it is excluded as all of these are.
    expected, n_queries = market(X, Y, CAMERA, X, Y, CAMERA, everything=exclude == "group")
    options = {"groups": CAMERA, "exclude": exclude}
    found = evaluate(KNN, X, Y, cv=LeaveOneOut(), scoring=RATES, **options)
    np.testing.assert_allclose([found.scores[name] for name in RATES], expected, atol=1e-13)
    assert np.sum(found.sample_weight > 0) == n_queries
    curve = retrieval_curve(X, Y, ranks=[1], **options)
    assert curve.scores[0] == pytest.approx(expected[1], abs=1e-13)
    rates = cmc_curve(X, Y, ranks=[1, 5, 10], cv=LeaveOneOut(), **options)
    np.testing.assert_allclose(rates.scores, expected[1:], atol=1e-13)


LAWS = [ClassCounts(3), FixedSize(30), KFold(4), StratifiedKFold(3), LeaveOneOut()]


@pytest.mark.parametrize("cv", LAWS, ids=str)
@pytest.mark.parametrize("exclude", ["identity", "group"])
def test_points_of_curves_are_evaluations(cv, exclude):
    options = {"cv": cv, "groups": CAMERA, "exclude": exclude}
    for name in ("precision", "item_recall", "ndcg", "mrr"):
        curve = retrieval_curve(X, Y, scoring=f"{name}@k", ranks=[1, 7], **options)
        both = evaluate(KNN, X, Y, scoring=[f"{name}@1", f"{name}@7"], **options)
        np.testing.assert_allclose(curve.scores, list(both.scores.values()), atol=1e-13)
    rates = cmc_curve(X, Y, ranks=[1, 7], **options)
    both = evaluate(KNN, X, Y, scoring=["recall@1", "recall@7"], **options)
    np.testing.assert_allclose(rates.scores, list(both.scores.values()), atol=1e-13)
    assert rates.scores[0] == pytest.approx(
        evaluate(KNN, X, Y, scoring="precision@1", **options).score, abs=1e-13
    )


@pytest.mark.parametrize("cv", LAWS, ids=str)
@pytest.mark.parametrize("scoring", ["map", "precision@5", "recall@5"])
def test_cameras_of_one_sample_exclude_nobody(cv, scoring):
    """Then everything is as without groups, where all samples are tested alike."""
    options = {"cv": cv, "scoring": scoring}
    found = evaluate(KNN, X, Y, groups=np.arange(N), **options)
    expected = evaluate(KNN, X, Y, **options)
    assert found.score == pytest.approx(expected.score, abs=1e-13)
    np.testing.assert_allclose(found.sample_scores, expected.sample_scores, atol=1e-13)


@pytest.mark.parametrize("cv", LAWS, ids=str)
@pytest.mark.parametrize("ties", [False, True])
def test_threads_and_blocks_do_not_matter(cv, ties, monkeypatch):
    points = np.round(X) if ties else X
    options = {"cv": cv, "scoring": "map", "groups": CAMERA, "exclude": "group"}
    expected = evaluate(KNN, points, Y, n_jobs=1, **options)
    again = evaluate(KNN, points, Y, n_jobs=3, **options)
    np.testing.assert_array_equal(expected.sample_scores, again.sample_scores)
    stored = evaluate(KNN, order_neighbors(points), Y, **options)
    np.testing.assert_array_equal(expected.sample_scores, stored.sample_scores)
    asked = {"X_test": points[::2], "y_test": Y[::2], "groups_test": CAMERA[::2]}
    options["cv"] = None if isinstance(cv, LeaveOneOut) else cv
    expected = evaluate(KNN, points, Y, **asked, **options)
    monkeypatch.setattr("allsplits.orders.reference._ENTRIES_PER_PART", 1)
    blocks = evaluate(KNN, points, Y, **asked, **options)
    np.testing.assert_array_equal(expected.sample_scores, blocks.sample_scores)


@pytest.mark.parametrize("cv", [ClassCounts(3), FixedSize(12), StratifiedKFold(3)], ids=str)
@pytest.mark.parametrize("exclude", ["identity", "group"])
def test_rows_that_are_alike_but_for_their_camera(cv, exclude):
    """Many copies of few points: rows are alike in all but what they may meet."""
    rng = np.random.default_rng(3)
    points, labels = rng.integers(0, 2, (22, 1)), np.repeat([0, 1], 11)
    camera = rng.integers(0, 3, 22)
    options = {"cv": cv, "scoring": ["map", "recall@3"], "groups": camera, "exclude": exclude}
    found = evaluate(KNN, points, labels, **options)
    exact = evaluate(KNN, points, labels, exact=True, **options)
    for name in found.names:
        np.testing.assert_allclose(found[name].sample_scores, exact[name].sample_scores, atol=1e-13)
        off = abs(Fraction(found[name].score) - exact[name].fraction)
        assert off <= found[name].error_bound


def test_drawn_galleries_have_that_mean():
    """Galleries of a size, drawn, with what is excluded passed over."""
    rng, size, values = np.random.default_rng(1), 60, []
    found = evaluate(KNN, X, Y, cv=FixedSize(size), scoring="map", groups=CAMERA, exclude="group")
    queries = np.flatnonzero(found.sample_weight > 0)
    for _ in range(400):
        inside = np.zeros(N, bool)
        inside[rng.choice(N, size, replace=False)] = True
        for query in rng.choice(queries, 5):
            if not inside[query]:
                met = np.flatnonzero(inside & (CAMERA[query] != CAMERA))
                order = met[np.argsort(((X[met] - X[query]) ** 2).sum(axis=1))]
                hits = np.flatnonzero(Y[order] == Y[query])
                ranks = np.arange(1, len(hits) + 1) / (hits + 1)
                values.append(ranks.mean() if len(hits) else 0.0)
    error = np.std(values) / np.sqrt(len(values))
    assert abs(np.mean(values) - found.score) < 4 * error < 0.06


def test_samples_that_are_no_queries():
    found = evaluate(KNN, X, Y, cv=ClassCounts(3), scoring="map", groups=CAMERA)
    alone = Y == 14
    assert np.all(found.sample_weight[alone] == 0)
    assert np.isnan(found.sample_scores[alone]).all()
    assert np.ptp(found.sample_weight[~alone]) == 0
    assert found.sample_weight.sum() == pytest.approx(1)
    low, high = found.interval()
    assert low < found.score < high
    assert not np.isin(found.hardest(10), np.flatnonzero(alone)).any()


def test_a_class_of_which_nothing_is_drawn_scores_nothing():
    counts = dict.fromkeys(range(15), 2) | {3: 0}
    with pytest.warns(NothingRelevantWarning, match="8 of 120 queries"):
        found = evaluate(KNN, X, Y, cv=ClassCounts(counts), scoring="map", groups=CAMERA)
    assert np.all(found.sample_scores[Y == 3] == 0)
    assert np.all(found.sample_weight[Y == 3] > 0)


@pytest.mark.parametrize("cv", LAWS, ids=str)
def test_what_else_is_said_of_a_result(cv):
    """Spreads and variances know nothing of what is excluded, and say so."""
    for scoring in ("recall@5", "map"):
        found = evaluate(KNN, X, Y, cv=cv, scoring=scoring, groups=CAMERA)
        assert found.without_one is None
        assert found.interval().method == "sample scores"
        refused(found.split_spread, "split_spread")
        refused(found.unbiased_variance, "unbiased_variance")
    recalled = evaluate(KNN, X, Y, cv=cv, scoring="recall@5", groups=CAMERA)
    refused(lambda: report(recalled), "report", "groups")
    band = cmc_curve(X, Y, ranks=[1, 2], cv=cv, groups=CAMERA).interval()
    assert (band.low < band.high).all()


def test_comparisons_exclude_the_same():
    options = {"cv": FixedSize(40), "scoring": "map"}
    one = evaluate(KNN, X, Y, groups=CAMERA, **options)
    two = evaluate(KNN, X[:, :2], Y, groups=CAMERA, **options)
    assert compare(one, two).difference == pytest.approx(two.score - one.score, abs=0.5)
    for other in ({}, {"groups": CAMERA, "exclude": "group"}, {"groups": CAMERA[::-1].copy()}):
        refused(lambda o=other: compare(one, evaluate(KNN, X, Y, **o, **options)), "exclude")
