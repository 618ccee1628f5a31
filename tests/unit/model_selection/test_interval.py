"""`Evaluation.interval`: the formulas by hand, special cases, coverage, bad input."""

from math import sqrt

import numpy as np
import pytest
from scipy.stats import t as student
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold, LeaveOneGroupOut, LeaveOneOut, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import (
    Bernoulli,
    Bootstrap,
    ClassCounts,
    Episodes,
    FixedSize,
    Interval,
    compare,
    evaluate,
    validation_curve,
)
from allsplits.exceptions import LongRunWarning
from allsplits.model_selection._variance import METHODS
from unit.refused import refused


@pytest.fixture(scope="module")
def three(iris):
    return evaluate(KNeighborsClassifier(3), *iris, cv=KFold(5))


@pytest.fixture(scope="module")
def twenty(iris):
    return evaluate(KNeighborsClassifier(20), *iris, cv=KFold(5))


def test_three_methods_and_how_they_are_combined(three):
    tight = np.std(three.sample_scores) / sqrt(150)
    safe = sqrt(149 / 150 * np.sum((three.without_one - three.without_one.mean()) ** 2))
    assert three.interval(method="sample scores").standard_error == pytest.approx(tight, rel=1e-9)
    assert three.interval(method="jackknife").standard_error == pytest.approx(safe, rel=1e-9)
    twice = three.moves.counted_twice
    assert 0 < twice < safe**2 - tight**2
    combined = sqrt(safe**2 - 0.9 * twice)
    assert three.interval().standard_error == pytest.approx(combined, rel=1e-9)
    assert [three.interval(method=m).method for m in METHODS] == list(METHODS)
    refused(lambda: three.interval(method="bootstrap"), "method", "jackknife", "bootstrap")


def test_a_share_has_wilsons_interval_by_hand(three):
    """(p - c)² = t² c(1-c)/m at both ends c, with m draws of the same variance."""
    interval = three.interval()
    quantile = student.ppf(0.975, freedom_by_hand(three, 120 / 3))
    p = three.score
    draws = p * (1 - p) / interval.standard_error**2
    for end in interval:
        assert (p - end) ** 2 == pytest.approx(quantile**2 * end * (1 - end) / draws, rel=1e-6)


def freedom_by_hand(found, neighborhoods):
    """Those of the sample scores and the neighbourhoods, as each has a part in the variance."""
    alone = (found.sample_scores - found.score) / len(found.y)
    square, fourth = np.sum(alone**2), np.sum(alone**4)
    of_scores = 2 * square**2 / (fourth - square**2 / len(found.y))
    part = square / found.interval().standard_error ** 2
    assert 0 < part < 1
    return 1 / (part / of_scores + (1 - part) / neighborhoods)


def test_few_neighborhoods_leave_few_degrees_of_freedom(three, twenty):
    """Of a difference, those of the larger votes."""
    assert (three.moves.neighborhoods, twenty.moves.neighborhoods) == (40, 6)
    for between in (three.moves.less(twenty.moves), twenty.moves.less(three.moves)):
        assert between.neighborhoods == 6
    few = twenty.moves.variance("combined").freedom
    assert few == pytest.approx(freedom_by_hand(twenty, 6), rel=1e-9)
    assert few < twenty.moves._replace(neighborhoods=60).variance("combined").freedom
    # The other methods have their own: they do not tell neighbours from samples.
    for method in ("jackknife", "sample scores"):
        assert twenty.moves.variance(method) == twenty.moves._replace(neighborhoods=60).variance(
            method
        )


def test_there_are_two_degrees_of_freedom_at_least():
    """Half of six samples in training, all of them voting."""
    y = np.array([0, 0, 0, 0, 1, 1])
    found = evaluate(KNeighborsClassifier(3), np.arange(6.0)[:, None], y, cv=FixedSize(3))
    assert found.moves.neighborhoods == 1
    assert found.moves.variance("combined").freedom >= 2


def test_where_every_sample_is_always_right_the_interval_has_a_width():
    X = np.concatenate([np.arange(20.0), 100 + np.arange(20.0)])[:, None]
    sure = evaluate(KNeighborsClassifier(1), X, np.repeat([0, 1], 20), cv=KFold(5))
    assert sure.score == pytest.approx(1, abs=1e-12)
    quantile = student.ppf(0.975, 39)
    assert sure.interval().low == pytest.approx(40 / (40 + quantile**2), abs=1e-9)
    assert sure.interval().high == 1.0


def test_the_combined_variance_is_not_less_than_that_of_the_sample_scores(twenty):
    """Many voters: what is counted twice is most of the jackknife."""
    moves = twenty.moves._replace(counted_twice=2 * float(np.sum(twenty.moves.jackknife**2)))
    assert moves.variance("combined").value == np.sum(moves.sample_scores**2)


def test_a_score_in_the_middle_may_stand_for_more_draws_than_samples():
    """Half of the samples in training: sample scores are averages, and vary less than draws."""
    rng = np.random.default_rng(8)
    y = np.arange(80) % 2
    found = evaluate(KNeighborsClassifier(15), rng.normal(size=(80, 9)), y, cv=FixedSize(40))
    p, interval = found.score, found.interval()
    assert interval.standard_error**2 < p * (1 - p) / 80
    draws = p * (1 - p) / interval.standard_error**2
    quantile = student.ppf(0.975, freedom_by_hand(found, 40 / 15))
    for end in interval:
        assert (p - end) ** 2 == pytest.approx(quantile**2 * end * (1 - end) / draws, rel=1e-6)


def test_fractions_have_the_same_interval(iris):
    X, y = iris[0][::6], iris[1][::6]
    options = {"estimator": KNeighborsClassifier(2), "X": X, "y": y, "cv": KFold(5)}
    exact, inexact = (evaluate(**options, exact=e).interval() for e in (True, False))
    assert list(exact) == pytest.approx(list(inexact), abs=1e-12)


def test_the_order_of_the_samples_does_not_matter():
    """Ties and duplicates in both classes."""
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 4, size=(40, 2)), rng.integers(0, 3, 40)
    turned = rng.permutation(40)
    for cv in (FixedSize(20), StratifiedKFold(3)):
        one = evaluate(KNeighborsClassifier(3), X, y, cv=cv).interval()
        other = evaluate(KNeighborsClassifier(3), X[turned], y[turned], cv=cv).interval()
        assert list(one) == pytest.approx(list(other), abs=1e-9)


def test_more_confidence_is_wider(three):
    narrow, wide = three.interval(0.5), three.interval(0.95)
    assert narrow.standard_error == wide.standard_error
    assert wide.low < narrow.low < three.score < narrow.high < wide.high


def test_too_few_voters_without_a_sample_leave_the_sample_scores(iris):
    X, y = iris[0][::15], iris[1][::15]
    found = evaluate(KNeighborsClassifier(9), X, y, cv=LeaveOneOut())
    assert found.without_one is None
    assert found.interval().method == "sample scores"
    assert "by sample scores" in repr(found.interval())


@pytest.mark.parametrize("cv", [Bootstrap(), FixedSize(1), Bernoulli(0.5)], ids=repr)
@pytest.mark.parametrize("knn", [KNeighborsClassifier(1), KNeighborsRegressor(1)], ids=repr)
def test_two_samples_are_too_few(knn, cv):
    found = evaluate(knn, [[0.0], [1.0]], [0, 1], cv=cv)
    refused(found.interval, "an interval needs at least 3 samples; got 2")
    assert found.without_one is None


def test_a_jackknife_that_is_asked_for_is_no_other_method(iris):
    X, y = iris
    few = evaluate(KNeighborsClassifier(9), X[::15], y[::15], cv=LeaveOneOut())
    refused(lambda: few.interval(method="jackknife"), "method='jackknife'", "too few voters")
    votes = evaluate(KNeighborsClassifier(5), X, y, scoring="neg_log_loss+1")
    refused(lambda: votes.interval(method="jackknife"), "neg_log_loss+1", "'combined'")
    episodes = evaluate(KNeighborsClassifier(1), X, y, cv=Episodes(2, 1))
    refused(lambda: episodes.interval(method="jackknife"), "episodes")
    for found in (few, votes, episodes):
        assert found.interval() == found.interval(method="sample scores")


def test_weighted_votes_of_few_shots_are_announced_before_they_are_struck(monkeypatch, iris):
    X, y = iris[0][::10], iris[1][::10]
    knn = KNeighborsClassifier(2, weights="distance")
    monkeypatch.setattr("allsplits.exact.effort._ANNOUNCED_STRIKES", 1e-9)
    for cv in (FixedSize(4), ClassCounts(1)):
        found = evaluate(knn, X, y, cv=cv)
        with pytest.warns(LongRunWarning, match="method='sample scores'"):
            found.interval()


def test_sample_scores_take_nobody_out(monkeypatch, iris):
    X, y = iris[0][::10], iris[1][::10]
    found = evaluate(KNeighborsClassifier(2, weights="distance"), X, y, cv=FixedSize(4))
    curve = validation_curve(KNeighborsClassifier(weights="distance"), X, y, n_neighbors=[2, 3])
    monkeypatch.setattr("allsplits.exact.leaving_out.scores_without_one", None)
    assert found.interval(method="sample scores").method == "sample scores"
    assert curve.interval(method="sample scores").method == "sample scores"


def test_few_shots_of_many_samples_have_too_many_lists(monkeypatch, iris):
    monkeypatch.setattr("allsplits.exact.jackknife._MOST_ENTRIES", 1000)
    found = evaluate(KNeighborsClassifier(1), *iris, cv=ClassCounts(1))
    assert found.interval().method == "sample scores"


def test_a_regressor_has_one_too():
    X, y = load_diabetes(return_X_y=True)
    found = evaluate(KNeighborsRegressor(7), X, y, cv=KFold(5))
    interval = found.interval()
    tight = found.interval(method="sample scores").standard_error
    assert tight == pytest.approx(np.std(found.sample_scores) / sqrt(len(y)), rel=1e-9)
    assert tight < interval.standard_error < found.interval(method="jackknife").standard_error
    assert interval.low < found.score < interval.high <= 0


def test_errors_have_wilsons_interval_of_a_scale_with_one_end_by_hand():
    """(s - c)² = t² V c/s at both ends c: a variance that grows with the mean."""
    X, y = load_diabetes(return_X_y=True)
    found = evaluate(KNeighborsRegressor(3), X[:40], y[:40], cv=KFold(5))
    interval, s = found.interval(), found.score
    quantile = student.ppf(0.975, freedom_by_hand(found, 32 / 3))
    for end in interval:
        reach = quantile**2 * interval.standard_error**2 * end / s
        assert (s - end) ** 2 == pytest.approx(reach, rel=1e-9)
    assert s - interval.low > interval.high - s
    # Most of the error may come from one sample; the interval stays on its side of 0.
    y = np.where(np.arange(40) == 7, 1e3, 0.0)
    low, high = evaluate(KNeighborsRegressor(1), X[:40], y, cv=KFold(5)).interval()
    assert -np.inf < low < high < 0


@pytest.mark.parametrize("scale", [1e-15, 1e-8, 1e15])
def test_units_of_the_target_do_not_matter(scale):
    X, y = load_diabetes(return_X_y=True)
    plain, scaled = (
        evaluate(KNeighborsRegressor(3), X[:50], factor * y[:50], cv=KFold(5)).interval()
        for factor in (1.0, scale)
    )
    ends = [end / scale**2 for end in scaled]
    assert ends == pytest.approx(list(plain), rel=1e-6)


def test_errors_of_zero_are_known():
    found = evaluate(KNeighborsRegressor(1), np.arange(9.0)[:, None], np.ones(9), cv=KFold(3))
    assert list(found.interval()) == pytest.approx([0, 0], abs=1e-12)


def test_it_stays_within_what_the_score_can_be(iris):
    easy = evaluate(KNeighborsClassifier(1), iris[0][:110], iris[1][:110], cv=KFold(5))
    assert easy.score > 0.95
    assert 0.99 < easy.interval(0.9999).high <= 1.0


def test_classes_that_count_equally_are_compared_with_themselves(iris):
    X, y = iris[0][:120], iris[1][:120]
    found = evaluate(KNeighborsClassifier(3), X, y, cv=KFold(5), scoring="balanced_accuracy")
    variances = [np.var(found.sample_scores[y == c]) / np.sum(y == c) for c in range(3)]
    interval = found.interval(method="sample scores")
    assert interval.standard_error == pytest.approx(sqrt(sum(variances)) / 3, rel=1e-9)


def test_episodes_count_classes_equally_too(iris):
    X, y = iris[0][:120], iris[1][:120]
    found = evaluate(KNeighborsClassifier(1), X, y, cv=Episodes(2, 1))
    variances = [np.var(found.sample_scores[y == c]) / np.sum(y == c) for c in range(3)]
    assert found.interval().standard_error == pytest.approx(sqrt(sum(variances)) / 3, rel=1e-9)


def test_groups_are_one_draw_each(iris):
    """Every sample ten times, each copy kept with the others: ten times fewer draws."""
    X, y = iris[0][::5], iris[1][::5]
    copies = np.repeat(np.arange(len(y)), 10)
    found = evaluate(
        KNeighborsClassifier(1), X[copies], y[copies], cv=LeaveOneGroupOut(), groups=copies,
        distance_ties="index",
    )  # fmt: skip
    interval = found.interval(method="sample scores")
    assert (interval.n_units, interval.unit) == (len(y), "groups")
    of_groups = found.sample_scores.reshape(-1, 10).mean(axis=1)
    assert interval.standard_error == pytest.approx(np.std(of_groups) / sqrt(len(y)), rel=1e-9)
    assert "groups" in repr(interval)
    assert found.moves.neighborhoods == len(y)


def test_samples_that_are_never_held_out_do_not_count():
    X = np.arange(12.0).reshape(-1, 1)
    y = np.array([0, 1] * 5 + [2, 2])
    found = evaluate(KNeighborsClassifier(1), X, y, cv=ClassCounts({0: 2, 1: 2, 2: 2}))
    assert np.isnan(found.sample_scores[-1])
    held = found.sample_scores[:10]
    interval = found.interval(method="sample scores")
    assert interval.standard_error == pytest.approx(np.std(held) / sqrt(10), rel=1e-9)


def test_it_unpacks_contains_and_reads_well(three):
    interval = three.interval()
    assert isinstance(interval, Interval)
    assert list(interval) == [interval.low, interval.high]
    assert three.score in interval
    assert 0.5 not in interval
    assert "sampling noise of 150 samples" in repr(interval)


@pytest.mark.parametrize("confidence", [0, 1, -0.1, 95, "0.95", None, True, float("nan")])
def test_bad_confidence_is_refused(three, twenty, confidence):
    refused(lambda: three.interval(confidence), "confidence", "0 and 1")
    refused(lambda: compare(three, twenty, confidence=confidence), "confidence", "0 and 1")


def test_the_interval_covers_as_often_as_it_says_for_a_stable_vote():
    """All training sets vote alike, so that sample scores are independent draws.

    What it covers where votes are less stable is measured in studies/interval_coverage.py.
    """
    rng = np.random.default_rng(5)
    model, n, runs = KNeighborsClassifier(61), 100, 400
    drawn = [
        evaluate(model, rng.normal(size=(n, 1)), rng.random(n) < 0.2, cv=LeaveOneOut())
        for _ in range(runs)
    ]
    covered = np.mean([0.8 in one.interval(0.9, method="sample scores") for one in drawn])
    assert abs(covered - 0.9) < 4 * sqrt(0.9 * 0.1 / runs)


# ------------------------------------------------------------------ too little of something


def test_fewer_than_three_samples_or_groups_are_refused():
    X, y = [[0.0], [1.0]], [0, 1]
    two = [evaluate(KNeighborsClassifier(1), X, y, cv=LeaveOneOut()) for _ in range(2)]
    refused(two[0].interval, "at least 3 samples", "got 2")
    refused(lambda: compare(*two), "at least 3 samples", "got 2")
    X, y, groups = np.arange(6.0)[:, None], [0, 1] * 3, [0, 0, 0, 1, 1, 1]
    two_groups = evaluate(
        KNeighborsClassifier(1), X, y, cv=LeaveOneGroupOut(), groups=groups
    )  # fmt: skip
    refused(two_groups.interval, "at least 3 groups", "got 2")


def test_groups_of_one_are_samples():
    rng = np.random.default_rng(4)
    X, y = rng.integers(0, 5, size=(20, 2)), rng.integers(0, 3, 20)
    options = {"estimator": KNeighborsClassifier(3), "X": X, "y": y}
    groups = evaluate(**options, cv=LeaveOneGroupOut(), groups=np.arange(20))
    samples = evaluate(**options, cv=LeaveOneOut())
    np.testing.assert_allclose(groups.without_one, samples.without_one, rtol=0, atol=1e-12)
    assert list(groups.interval()) == pytest.approx(list(samples.interval()), abs=1e-9)
    assert groups.interval().unit == "samples"


@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy"])
@pytest.mark.parametrize("cv", [FixedSize(8), ClassCounts({0: 4, 1: 4, 2: 1})], ids=str)
def test_a_class_that_vanishes_with_its_only_sample(cv, scoring):
    """Its sample is taken out like any other; what is left has one class less."""
    X, y = np.arange(13.0)[:, None], np.array([0, 1] * 6 + [2])
    found = evaluate(KNeighborsClassifier(3), X, y, cv=cv, scoring=scoring)
    assert np.isfinite(found.without_one).all()
    assert found.interval().method == "combined"
    assert found.interval().low < found.score < found.interval().high


def test_too_many_changes_to_be_kept_leave_the_difference_of_the_norms(monkeypatch, three, twenty):
    """Less is taken off, so that the interval of a difference is wider."""
    kept = compare(three, twenty).interval
    monkeypatch.setattr("allsplits.exact.jackknife._MOST_KEPT", 0)
    bound = compare(three, twenty).interval
    moves = three.paired_moves().less(twenty.paired_moves())
    norms = sqrt(three.moves.counted_twice), sqrt(twenty.moves.counted_twice)
    assert moves.counted_twice == pytest.approx((norms[0] - norms[1]) ** 2)
    assert bound.standard_error > kept.standard_error
