"""`compare`: two and many, the formulas by hand, the data without each sample, bad input."""

from math import sqrt

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student
from sklearn.model_selection import GroupShuffleSplit, KFold, LeaveOneGroupOut
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import Bernoulli, FixedSize, Standings, compare, evaluate
from unit.refused import refused


@pytest.fixture(scope="module")
def three(iris):
    return evaluate(KNeighborsClassifier(3), *iris, cv=KFold(5))


@pytest.fixture(scope="module")
def twenty(iris):
    return evaluate(KNeighborsClassifier(20), *iris, cv=KFold(5))


@pytest.fixture(scope="module")
def many(iris, three, twenty):
    """Several that are close, and two that are far behind."""
    X, y = iris
    one = evaluate(KNeighborsClassifier(1), X, y, cv=KFold(5))
    sepals = evaluate(KNeighborsClassifier(5), X[:, :2], y, cv=KFold(5))
    shuffled = np.random.default_rng(0).permutation(X)
    lost = evaluate(KNeighborsClassifier(5), shuffled, y, cv=KFold(5))
    return {"lost": lost, "one": one, "three": three, "sepals": sepals, "twenty": twenty}


# ------------------------------------------------------------------ two


def test_a_comparison_pairs_the_samples(three, twenty):
    found = compare(three, twenty)
    differences = three.sample_scores - twenty.sample_scores
    assert found.difference == three.score - twenty.score
    assert found.interval.estimate == found.difference
    without = three.without_one - twenty.without_one
    safe = 149 / 150 * np.sum((without - without.mean()) ** 2)
    twice = three.paired_moves().less(twenty.paired_moves()).counted_twice
    expected = sqrt(max(safe - 0.9 * twice, np.var(differences) / 150))
    assert found.interval.standard_error == pytest.approx(expected, rel=1e-9)
    np.testing.assert_array_equal(found.sample_differences, differences)
    assert found.n_better == np.sum(differences > 1e-12)
    assert found.n_worse == np.sum(differences < -1e-12)


@pytest.mark.parametrize("k", [1, 4])
def test_the_scores_without_each_sample_are_those_of_smaller_data(k):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 24)
    tables = [rng.normal(size=(24, 2)) for _ in range(2)]
    knn = KNeighborsClassifier(k)
    found = compare(*(evaluate(knn, X, y, cv=FixedSize(16)) for X in tables))
    rows = np.full((2, 24, 24), np.nan)
    for t, X in enumerate(tables):
        for i in range(24):
            smaller = evaluate(knn, np.delete(X, i, 0), np.delete(y, i), cv=FixedSize(15))
            rows[t, i, np.arange(24) != i] = smaller.sample_scores / 23
    changes = rows[0] - rows[1]
    without = np.nansum(changes, axis=1)
    twice = 23 / 24 * np.nansum((changes - np.nanmean(changes, axis=0)) ** 2)
    safe = 23 / 24 * np.sum((without - without.mean()) ** 2)
    tight = np.var(found.sample_differences) / 24
    assert safe - 0.9 * twice > tight
    assert found.interval.standard_error == pytest.approx(sqrt(safe - 0.9 * twice), rel=1e-6)


def test_pairing_is_sharper_than_two_intervals(three, twenty):
    apart = sqrt(three.interval().standard_error ** 2 + twenty.interval().standard_error ** 2)
    assert compare(three, twenty).interval.standard_error < apart


def test_two_that_agree_on_every_sample_might_differ_on_others(iris, three):
    """The interval is that of one sample for either side, not of width 0."""
    same = compare(three, evaluate(KNeighborsClassifier(3), *iris, cv=KFold(5)))
    assert same.difference == 0
    assert same.interval.standard_error == pytest.approx(sqrt(2) / 150)
    assert same.interval.high == pytest.approx(student.ppf(0.975, 149) * sqrt(2) / 150)
    assert not same.decided
    assert (same.n_better, same.n_worse) == (0, 0)
    squares = [evaluate(KNeighborsRegressor(3), *iris) for _ in range(2)]
    assert compare(*squares).interval.standard_error == 0


def test_swapping_turns_the_sign(three, twenty):
    one, other = compare(three, twenty), compare(twenty, three)
    assert one.difference == -other.difference
    assert one.interval.low == pytest.approx(-other.interval.high)
    assert (one.n_better, one.n_worse) == (other.n_worse, other.n_better)


def test_a_clear_winner_is_decided(many):
    found = compare(many["three"], many["lost"], names=["good", "bad"])
    assert found.decided
    assert found.tied_for_first == ("good",)
    assert compare(many["lost"], many["three"]).tied_for_first == ("2",)
    assert repr(found).startswith("Comparison(good less bad: accuracy +")
    assert ": decided" in repr(found)
    close = compare(many["three"], many["one"])
    assert close.tied_for_first == ("1", "2")
    assert "not decided" in repr(close)
    assert "less" not in repr(close)


def test_groups_are_what_is_drawn(iris):
    groups = np.arange(150) % 30
    options = {"cv": LeaveOneGroupOut(), "groups": groups}
    found = compare(*(evaluate(KNeighborsClassifier(k), *iris, **options) for k in (1, 3)))
    assert (found.interval.unit, found.interval.n_units) == ("groups", 30)
    three = compare(*(evaluate(KNeighborsClassifier(k), *iris, **options) for k in (1, 3, 9)))
    assert {(one.unit, one.n_units) for one in three.differences} == {("groups", 30)}


def test_the_frame_of_two_has_one_row_for_each_sample(three, twenty):
    frame = compare(three, twenty).frame("pandas")
    assert list(frame.columns) == ["label", "first", "second", "difference"]
    assert len(frame) == 150


# ------------------------------------------------------------------ many


def freedom_by_hand(one, two):
    """Those of the sample scores and of the larger votes, as each has a part in the variance."""
    n = len(one.y)
    moves = one.paired_moves().less(two.paired_moves())
    differences = one.sample_scores - two.sample_scores
    square, fourth = (np.sum(((differences - differences.mean()) / n) ** p) for p in (2, 4))
    part = square / max(square, np.sum(moves.jackknife**2) - 0.9 * moves.counted_twice)
    of_scores = 2 * square**2 / (fourth - square**2 / n)
    neighborhoods = one.law.smallest_training_set / max(one.n_neighbors, two.n_neighbors)
    return max(2, 1 / (part / of_scores + (1 - part) / neighborhoods))


def by_hand(evaluations, confidence, more=0.0, n_draws=1_000_000):
    """Multiple comparisons with the best, from the formulas, by plain random draws.

    With so much `more` than the normal quantile. Returns the ends of all intervals, and who is tied
    for first.
    """
    m, n = len(evaluations), len(evaluations[0].y)
    scores = np.array([one.score for one in evaluations])
    safe = np.array([one.without_one for one in evaluations])
    safe = sqrt((n - 1) / n) * (safe - safe.mean(axis=1, keepdims=True))
    tight = np.array([one.sample_scores for one in evaluations])
    tight = (tight - tight.mean(axis=1, keepdims=True)) / n
    both = np.concatenate([safe, tight], axis=1)
    covariance = both @ both.T
    drawn = np.random.default_rng(5).multivariate_normal(np.zeros(m), covariance, n_draws)
    reach = np.zeros((m, m))
    for i in range(m):
        others = [j for j in range(m) if j != i]
        apart = np.sqrt(
            [covariance[i, i] + covariance[j, j] - 2 * covariance[i, j] for j in others]
        )
        largest = np.max((drawn[:, others] - drawn[:, [i]]) / apart, axis=1)
        level = norm.cdf(np.quantile(largest, confidence) + more)
        for j in others:
            error = compare(evaluations[i], evaluations[j]).interval.standard_error
            freedom = freedom_by_hand(evaluations[i], evaluations[j])
            reach[i, j] = student.ppf(level, freedom) * error
    upper = [min(scores[i] - scores[j] + reach[i, j] for j in range(m) if j != i) for i in range(m)]
    tied = [u >= 0 for u in upper]
    lower = [
        min([0.0, *(scores[i] - scores[j] - reach[j, i] for j in range(m) if tied[j] and j != i)])
        for i in range(m)
    ]
    return np.array(lower), np.maximum(upper, 0), tied


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_the_intervals_to_the_best_by_hand(many, confidence):
    found = compare(*many.values(), names=many, confidence=confidence)
    # Both are drawn: the normal quantile is known to two digits.
    narrow, wide = (by_hand(list(many.values()), confidence, more) for more in (-0.01, 0.01))
    low, high = np.array([(one.low, one.high) for one in found.differences]).T
    assert ((wide[0] <= low) & (low <= narrow[0])).all()
    assert ((narrow[1] <= high) & (high <= wide[1])).all()
    assert found.is_tied.tolist() == narrow[2] == wide[2]


def test_standard_errors_are_those_of_two(many):
    found = compare(*many.values(), names=many)
    names = list(many)
    for i, one in enumerate(found.differences):
        best = max((name for name in names if name != names[i]), key=lambda n: many[n].score)
        pair = compare(many[names[i]], many[best])
        assert one.estimate == pair.difference
        assert one.standard_error == pytest.approx(pair.interval.standard_error, rel=1e-12)


def test_who_is_tied_for_first(many):
    found = compare(*many.values(), names=many)
    assert isinstance(found, Standings)
    assert found.best == max(many, key=lambda name: many[name].score)
    assert set(found.tied_for_first) == {"one", "three", "twenty"}
    assert found.tied_for_first[0] == found.best
    assert not found.decided
    for name, one, tied in zip(found.names, found.differences, found.is_tied, strict=True):
        assert one.low <= 0 <= one.high
        assert (one.high > 0) == tied == (name in found.tied_for_first)
    alone = compare(*(many[name] for name in ("lost", "three", "sepals")))
    assert alone.decided
    assert alone.tied_for_first == ("2",)
    assert alone.differences[1].low == 0
    assert "; first with 0.95 confidence: 2 (0." in repr(alone)


def test_the_order_does_not_matter(many):
    forward = compare(*many.values(), names=many)
    turned = dict(reversed(many.items()))
    backward = compare(*turned.values(), names=turned)
    assert forward.tied_for_first == backward.tied_for_first
    for one, other in zip(forward.differences, reversed(backward.differences), strict=True):
        assert one.low == pytest.approx(other.low, abs=5e-4)
        assert one.high == pytest.approx(other.high, abs=5e-4)


def test_more_confidence_leaves_more_tied(many):
    reach = []
    for confidence in (0.5, 0.9, 0.999):
        found = compare(*many.values(), names=many, confidence=confidence)
        reach.append((found.is_tied.sum(), found.differences[2].high))
    assert reach == sorted(reach)


def test_equal_ones_are_tied(iris, many):
    """Nothing parts two of them: both have an interval with a width."""
    again = evaluate(KNeighborsClassifier(3), *iris, cv=KFold(5))
    found = compare(again, many["three"], many["lost"])
    assert found.tied_for_first == ("1", "2")
    assert found.differences[0].low < 0 < found.differences[0].high
    numbers = [evaluate(KNeighborsRegressor(3), *iris) for _ in range(3)]
    assert compare(*numbers).is_tied.all()


def test_without_a_jackknife_all_go_by_sample_scores(iris, monkeypatch):
    """Weighted votes are struck list by list, and are told that these are too many."""
    monkeypatch.setattr("allsplits.exact.jackknife._MOST_ENTRIES", 0)
    X, y = iris[0][::3], iris[1][::3]
    weights = ["uniform", "distance", "uniform"]
    found = compare(
        *(
            evaluate(KNeighborsClassifier(k, weights=w), X, y, cv=FixedSize(30))
            for k, w in zip((1, 3, 5), weights, strict=True)
        )
    )
    assert {one.method for one in found.differences} == {"sample scores"}
    assert "by sample scores" in repr(found)
    assert "by sample scores" in repr(compare(*found.evaluations[:2]))


def test_two_scores_of_votes_say_that_they_go_by_sample_scores(iris, three, twenty):
    votes = [evaluate(KNeighborsClassifier(k), *iris, scoring="neg_log_loss+1") for k in (1, 9)]
    assert ", by sample scores: decided" in repr(compare(*votes))
    assert ", by" not in repr(compare(three, twenty))


def test_what_standings_show(many):
    found = compare(*many.values(), names=many)
    for library in ("pandas", "polars"):
        frame = found.frame(library)
        assert next(iter(frame["name"])) == found.best
        assert list(frame["accuracy"]) == sorted(found.scores, reverse=True)
        assert list(frame["tied_for_first"]) == [True, True, True, False, False]
    frame = found.frame("pandas").set_index("name")
    low, high = many["one"].interval()
    assert (frame.low["one"], frame.high["one"]) == (low, high)
    assert frame.difference["lost"] == many["lost"].score - found.scores.max()
    assert frame.difference_high["lost"] == 0
    text = repr(found)
    assert text.startswith("Standings(accuracy of 5 on 150 samples; tied for first with 0.95")
    assert "behind: sepals (0.7" in text
    every = {str(k): evaluate(KNeighborsClassifier(k), *load(12)) for k in range(1, 13)}
    assert "and 4 more" in repr(compare(*every.values(), names=every))


def load(n_features):
    rng = np.random.default_rng(3)
    return rng.normal(size=(60, n_features)), rng.integers(0, 2, 60)


def test_the_best_one_is_tied_for_first_as_often_as_it_says():
    """Six embeddings of equal worth: a given one is as good as any, and seldom left out."""
    rng = np.random.default_rng(7)
    kept, runs = 0, 120
    for _ in range(runs):
        y = rng.integers(0, 2, 40)
        X = rng.normal(size=(40, 2)) + 1.5 * y[:, None]
        found = compare(
            *(
                evaluate(KNeighborsClassifier(3), X + rng.normal(size=(40, 2)), y, cv=FixedSize(30))
                for _ in range(6)
            )
        )
        kept += bool(found.is_tied[0])
    assert kept / runs > 0.93


# ------------------------------------------------------------------ what is refused


def test_what_is_no_evaluation_is_refused(three, twenty):
    refused(lambda: compare(three, 0.9), "evaluation 2", "Evaluation", "float")
    refused(lambda: compare(None, three), "evaluation 1", "NoneType")
    refused(lambda: compare([three, twenty]), "evaluation 1", "list", "compare(*evaluations")
    refused(lambda: compare({"a": three}), "dict", "names=")
    refused(lambda: compare(three), "at least 2", "1")
    refused(lambda: compare(), "at least 2", "0")
    refused(lambda: compare(three, twenty, three), "same object", "evaluation 1", "evaluation 3")
    both = {"names": ["a", "b", "c"]}
    refused(lambda: compare(three, twenty, three, **both), "same object", "'a'", "'c'")


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["a"], ["names", "each of the 2", "1"]),
        (["a", "b", "c"], ["names", "each of the 2", "3"]),
        (["a", "a"], ["names", "differ", "'a'"]),
        (["a", 3], ["names", "text", "3"]),
        (["a", " "], ["names", "empty"]),
        ("ab", ["names", "list of text", "ab"]),
        (3, ["names", "list of text", "3"]),
    ],
)
def test_bad_names_are_refused(three, twenty, names, words):
    refused(lambda: compare(three, twenty, names=names), *words)


def test_what_does_not_belong_together_is_refused(iris, three, twenty):
    X, y = iris
    knn = KNeighborsClassifier(3)
    named = {"names": ["x", "y", "z"]}
    fewer = evaluate(knn, X[:149], y[:149], cv=KFold(5))
    refused(lambda: compare(three, twenty, fewer, **named), "'x' and 'z'", "150", "149")
    other = evaluate(knn, X, np.roll(y, 1), cv=KFold(5))
    refused(lambda: compare(three, other), "same samples", "different labels")
    recall = evaluate(knn, X, y, cv=KFold(5), scoring="recall@2")
    refused(lambda: compare(three, recall), "scoring", "accuracy", "recall@2")
    small = evaluate(knn, X, y, cv=FixedSize(10))
    refused(lambda: compare(three, twenty, small), "same splits", "evaluation 3", "10 of 150")
    groups = np.arange(150) % 30
    whole, others = (
        evaluate(knn, X, y, cv=GroupShuffleSplit(test_size=5), groups=each)
        for each in (groups, groups // 2)
    )
    refused(lambda: compare(whole, others), "same splits", "groups")
    refused(lambda: compare(three, whole), "same splits")


def test_laws_that_leave_out_small_training_sets_are_the_same(iris):
    one, five = (evaluate(KNeighborsClassifier(k), *iris, cv=Bernoulli(0.5)) for k in (1, 5))
    assert one.law != five.law
    assert compare(one, five).interval.n_units == 150
    other = evaluate(KNeighborsClassifier(1), *iris, cv=Bernoulli(0.6))
    refused(lambda: compare(one, other), "same splits")
