"""A word before long runs: the estimate grows with the work, and comes before the search."""

import itertools
import sys
import warnings

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeaveOneGroupOut, LeavePGroupsOut
from sklearn.neighbors import KNeighborsClassifier

from allsplits import Bootstrap, ClassCounts, Episodes, evaluate, order_neighbors
from allsplits.exact import effort
from allsplits.exact.effort import (
    class_votes_seconds,
    episode_seconds,
    group_seconds,
    own_votes_seconds,
    right_seconds,
    warn_if_long,
    weighted_mean_seconds,
)
from allsplits.exceptions import LongRunWarning
from allsplits.orders import Metric, search_seconds


class SearchStartedError(Exception):
    pass


@pytest.fixture
def no_search(monkeypatch):
    def refuse(*args, **kwargs):
        raise SearchStartedError

    monkeypatch.setattr(sys.modules["allsplits.exact.neighbors"], "iter_parts", refuse)


def two_classes(n):
    return np.random.default_rng(0).random((n, 2)), np.arange(n) % 2


@pytest.mark.parametrize(
    ("cv", "k", "advice"),
    [
        (ClassCounts(5), 9, "fewer neighbours, more training samples of each class"),
        (Bootstrap(), 200, "fewer neighbours"),
        (Episodes(2, 1), 1, "fewer samples"),
    ],
)
def test_a_long_run_is_announced_before_the_search(no_search, cv, k, advice):
    X, y = two_classes(100_000)
    with (
        pytest.warns(LongRunWarning, match=f"this will take about .* on 1 threads.*{advice}"),
        pytest.raises(SearchStartedError),
    ):
        evaluate(KNeighborsClassifier(k), X, y, cv=cv, n_jobs=1)


def test_long_votes_of_fixed_size_and_with_weights_are_announced(no_search):
    X, y = np.random.default_rng(0).random((30_000, 2)), np.arange(30_000) % 20
    for knn, advice in (
        (KNeighborsClassifier(150), "fewer neighbours or fewer samples"),
        (KNeighborsClassifier(30, weights="distance"), "max_states"),
    ):
        with pytest.warns(LongRunWarning, match=advice), pytest.raises(SearchStartedError):
            evaluate(knn, X, y, cv=KFold(5), n_jobs=1)


def test_many_groups_left_out_are_announced(no_search):
    X, y = two_classes(600)
    groups = np.arange(600) // 5
    with pytest.warns(LongRunWarning, match="groups left out"), pytest.raises(SearchStartedError):
        evaluate(KNeighborsClassifier(9), X, y, cv=LeavePGroupsOut(60), groups=groups)


@pytest.mark.parametrize(
    ("cv", "k"), [(None, 5), (ClassCounts(5), 5), (Episodes(2, 1), 1), (Bootstrap(), 15)]
)
def test_ordinary_runs_start_without_a_word(no_search, cv, k):
    X, y = two_classes(2000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(SearchStartedError):
            evaluate(KNeighborsClassifier(k), X, y, cv=cv, n_jobs=1)


def test_leaving_one_group_out_is_cheap_however_many_neighbours(no_search):
    X, y = two_classes(600)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(SearchStartedError):
            evaluate(
                KNeighborsClassifier(40), X, y, cv=LeaveOneGroupOut(), groups=np.arange(600) // 5
            )


def test_a_given_order_needs_no_search():
    X, _ = two_classes(50)
    metric = Metric.resolve("minkowski", 2, None)
    assert search_seconds(order_neighbors(X), metric, 49, "auto") == 0
    assert search_seconds(X, metric, 49, "auto") > 0


def test_a_thousand_small_classes_are_no_more_work_than_ten():
    """Nobody has more votes than samples: all k ≤ 51 of 20,000 samples took a second, not ten."""
    assert right_seconds(20_000, 115, 20, 51) < right_seconds(20_000, 115, 2000, 51)
    assert right_seconds(20_000, 115, 20, 51) < 10


def test_the_estimates_grow_with_the_work():
    """In every argument by itself, over both sides of every branch."""
    classes = {
        "n_rows": 100,
        "depth": 50,
        "n_classes": 4,
        "ks": [5],
        "most": 5,
        "every_class": False,
    }
    for change in (
        {"n_rows": 101}, {"depth": 51}, {"n_classes": 5}, {"ks": [6]}, {"ks": [1, 6]},
        {"ks": [5], "every_class": True},
    ):  # fmt: skip
        assert class_votes_seconds(**classes | change) > class_votes_seconds(**classes)
    assert class_votes_seconds(**classes) > class_votes_seconds(**classes | {"ks": [1]})
    assert class_votes_seconds(**classes) > class_votes_seconds(**classes | {"most": 2})
    own = {"n_rows": 100, "depth": 99, "n_classes": 4, "k": 5}
    for name in own:
        assert own_votes_seconds(**own | {name: own[name] + 1}) > own_votes_seconds(**own)
    assert own_votes_seconds(**own) > own_votes_seconds(**own | {"k": 1})
    right = {"n_rows": 100, "depth": 99, "most": 4, "k": 5}
    for name in right:
        assert right_seconds(**right | {name: right[name] + 1}) > right_seconds(**right)
    episodes = {"n_rows": 100, "depth": 99, "n_classes": 10, "n_way": 5}
    for name in episodes:
        more = episodes | {name: episodes[name] + 1}
        assert episode_seconds(**more) > episode_seconds(**episodes)
    assert weighted_mean_seconds(100, 50, 5) < weighted_mean_seconds(100, 50, 6)
    assert weighted_mean_seconds(100, 50, 5) < weighted_mean_seconds(100, 51, 5)
    seconds = [group_seconds(300, 39, 39 - left_out, 0, 5) for left_out in range(25)]
    assert all(a < b for a, b in itertools.pairwise(seconds))
    assert group_seconds(300, 39, 20, 0, 6) > group_seconds(300, 39, 20, 0, 5)
    assert group_seconds(300, 39, 20, 5, 5) > group_seconds(300, 39, 20, 0, 5)
    assert group_seconds(300, 4000, 2000, 0, 100) == float("inf")


def test_the_search_estimate_grows_with_samples_features_and_depth():
    metric = Metric.resolve("minkowski", 2, None)

    def seconds(n, n_features, depth, name="minkowski"):
        return search_seconds(
            np.ones((n, n_features)), Metric.resolve(name, 2, None), depth, "exact"
        )

    assert seconds(300, 5, 20) < seconds(301, 5, 20)
    assert seconds(300, 5, 20) < seconds(300, 6, 20) < seconds(300, 6, 21)
    assert seconds(300, 5, 20) < seconds(300, 5, 20, "manhattan")
    assert search_seconds(np.ones((300, 5)), metric, 20, "torch") == 0


def test_the_warning_names_minutes_hours_or_days():
    for seconds, words in ((70, "1 minutes"), (1000, "17 minutes"), (1e4, "2.78 hours"),
                           (1e6, "11.6 days")):  # fmt: skip
        with pytest.warns(LongRunWarning, match=f"about {words} on 2 threads .the search for 9 "):
            warn_if_long(seconds, seconds, 2, 9, "")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_long(59.0, 60.0, 2, 9, "")


def bits(n, n_classes=3):
    rng = np.random.default_rng(0)
    return rng.integers(0, 2, (n, 4)).astype(float), rng.integers(0, n_classes, n)


@pytest.mark.parametrize(
    ("cv", "weights"),
    [
        (None, "uniform"),
        (None, "distance"),
        (KFold(5), "uniform"),
        (KFold(5), "distance"),
        (Bootstrap(), "uniform"),
    ],
    ids=str,
)
def test_what_ties_cost_is_seen_from_the_first_rows(monkeypatch, cv, weights):
    X, y = bits(120)
    knn = KNeighborsClassifier(3, weights=weights)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        silent = evaluate(knn, X, y, cv=cv)
        shares = silent.prediction_proba
    # As if a minute were a millionth of a second, and no estimate were made.
    monkeypatch.setattr(effort, "_ANNOUNCED", 1e-6)
    for room in ("fixed_size.vote", "class_counts.vote", "bootstrap.vote"):
        monkeypatch.setattr(f"allsplits.exact.laws.{room}.is_long", lambda *_: False)
    monkeypatch.setattr("allsplits.exact.weighted.votes.is_long", lambda *_: False)
    monkeypatch.setattr(effort, "is_long", lambda *_: False)
    with pytest.warns(LongRunWarning, match="as long as the first rows go; cheaper: fewer"):
        announced = evaluate(knn, X, y, cv=cv)
    assert announced.score == silent.score
    warnings.simplefilter("ignore", LongRunWarning)
    np.testing.assert_array_equal(announced.prediction_proba, shares)


def test_data_without_ties_are_not_timed(monkeypatch):
    X, y = two_classes(60)
    monkeypatch.setattr(effort, "_ANNOUNCED", 1e-6)
    monkeypatch.setattr(effort, "is_long", lambda *_: False)
    monkeypatch.setattr("allsplits.exact.laws.class_counts.vote.is_long", lambda *_: False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate(KNeighborsClassifier(3), X, y)


@pytest.mark.parametrize("cv", [None, KFold(5), Bootstrap(), ClassCounts(2)], ids=str)
def test_long_fractions_are_announced_after_two_seconds(monkeypatch, cv):
    clock = itertools.count()
    monkeypatch.setattr(effort, "perf_counter", lambda: float(next(clock)))
    X, y = two_classes(12)
    knn = KNeighborsClassifier(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate(knn, X, y, cv=cv, exact=True)  # a second a row: 12 seconds in all
    monkeypatch.setattr(effort, "_ANNOUNCED", 10.0)
    with pytest.warns(LongRunWarning, match="cheaper: exact=False") as told:
        evaluate(knn, X, y, cv=cv, exact=True)
    assert len(told) == 1


def test_a_compilation_is_not_taken_for_the_pace(monkeypatch):
    ticks = iter([0.0, 100.0, 100.0, 100.1])
    monkeypatch.setattr(effort, "perf_counter", lambda: next(ticks))
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        effort.map_timed_rows(
            lambda a, b: rows.extend(range(a, b)), 100, 1, scale=1.0, cheaper="nothing"
        )
    assert rows == list(range(100))


def test_slow_rows_are_announced_and_none_is_left_out_or_done_twice(monkeypatch):
    ticks = itertools.count()
    monkeypatch.setattr(effort, "perf_counter", lambda: float(next(ticks)))
    rows = []
    with pytest.warns(LongRunWarning, match="about 2 minutes on 2 threads"):
        effort.map_timed_rows(
            lambda a, b: rows.extend(range(a, b)), 40, 2, scale=6.0, cheaper="nothing"
        )
    assert sorted(rows) == list(range(40))
