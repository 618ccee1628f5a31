"""What users get from `find_label_errors`, and what they are refused."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import average_precision_score
from sklearn.model_selection import GroupKFold, LeavePGroupsOut, LeavePOut
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import (
    FixedSize,
    NeighborOrder,
    SearchReport,
    evaluate,
    find_label_errors,
    order_neighbors,
)
from allsplits.exceptions import LongRunWarning
from allsplits.values import _effects
from unit.refused import refused

X, Y = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def digits():
    """Digits with one label in twenty changed, and where."""
    points, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    planted = rng.choice(len(y), 90, replace=False)
    wrong = y.copy()
    wrong[planted] = (y[planted] + rng.integers(1, 10, 90)) % 10
    return points, y, wrong, np.isin(np.arange(len(y)), planted)


def test_planted_errors_come_first_and_are_counted(digits):
    points, y, wrong, planted = digits
    found = find_label_errors(points, wrong)
    assert average_precision_score(planted, found.doubt) > 0.98
    assert found.n_expected == pytest.approx(90, abs=15)
    assert planted[found.rows].mean() > 0.95
    hits = found.rows[planted[found.rows]]
    assert np.mean(found.suggested[hits] == y[hits]) > 0.98
    assert (np.diff(found.doubt[found.rows]) <= 0).all()
    assert found.doubt[found.rows].min() > 0


def test_clean_data_have_few_suspects(digits):
    found = find_label_errors(digits[0], digits[1])
    assert len(found) <= 5  # of 1,797
    assert found.n_expected <= 5


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.1, 0.2])
def test_the_expected_number_follows_the_planted_one(rate):
    """Two classes far apart, errors anywhere: only chance is between the two numbers."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 1000)
    points = rng.normal(size=(2000, 2)) + 50 * y[:, None]
    flipped = rng.choice(2000, round(2000 * rate), replace=False)
    y[flipped] = 1 - y[flipped]
    expected = find_label_errors(points, y).n_expected
    # The purest half is a sample of 1,000; at 20 % purity itself depends a little on the errors.
    spread = 2 * np.sqrt(1000 * rate * (1 - rate))
    assert abs(expected - 2000 * rate) <= 3 * spread + 0.01 * 2000 * rate


def test_rounding_ranks_nothing():
    """All rows are equally doubtful: they stay in the order of the rows."""
    points = np.repeat(np.eye(20), 5, axis=0)
    y = np.tile([0, 0, 0, 0, 1], 20)
    found = find_label_errors(points, y)
    doubtful = np.flatnonzero(y == 1)
    assert len(set(found.doubt[doubtful])) == 1
    np.testing.assert_array_equal(found.first(20), doubtful)


def test_a_class_of_one_is_beyond_judging():
    points = np.arange(40.0).reshape(-1, 1)
    y = np.zeros(40, dtype=int)
    y[20], y[:2] = 2, 1
    found = find_label_errors(points, y)
    assert found.doubt[20] == -1
    assert found.probability[20] > 0.999
    assert 20 not in found.rows


def test_small_classes_are_not_doubted_for_being_small():
    """The sixth nearest is the only other sample of its class: more it cannot have near."""
    points = np.array([0.0, 1, 2, 3, 4, 5, 6, *range(100, 193)]).reshape(-1, 1)
    small = np.zeros(100, dtype=int)
    small[[0, 6]] = 1
    large = small.copy()
    large[60:] = 1  # the same neighbours, but a class that could be near
    assert find_label_errors(points, small).doubt[0] < find_label_errors(points, large).doubt[0]


def test_an_outlier_is_doubted_less_than_a_sample_that_others_hear():
    rng = np.random.default_rng(0)
    cloud = rng.normal(size=(60, 2))
    points = np.vstack([cloud, [[0.0, 0.0]], [[30.0, 0.0]], rng.normal(size=(60, 2)) - 100])
    y = np.r_[np.zeros(60, dtype=int), 1, 1, np.ones(60, dtype=int)]
    found = find_label_errors(points, y)
    assert found.doubt[60] > 0.8
    assert 0 < found.doubt[61] < 0.6
    np.testing.assert_array_equal(found.first(2), [60, 61])


def test_duplicates_that_contradict():
    """Two of a place say 0, one says 1: the one is doubted, and more rows change nothing."""
    places = np.repeat(np.arange(30.0) * 10, 3).reshape(-1, 1)
    y = np.tile([0, 0, 1], 30)
    found = find_label_errors(places, y)
    assert (found.doubt[2::3] > found.doubt[:2].max()).all()
    assert (found.suggested[2::3] == 0).all()
    shuffled = np.random.default_rng(0).permutation(90)
    again = find_label_errors(places[shuffled], y[shuffled])
    np.testing.assert_array_equal(again.doubt, found.doubt[shuffled])


def test_blocks_and_orders_do_not_change_a_bit(monkeypatch, digits):
    points, _, wrong, _ = digits
    found = find_label_errors(points, wrong, n_jobs=1)
    order = order_neighbors(points)
    again = find_label_errors(order, wrong)
    for name in ("rows", "doubt", "probability", "own_probability", "nearest"):
        np.testing.assert_array_equal(getattr(again, name), getattr(found, name))
    refused(lambda: find_label_errors(order_neighbors(points, depth=20), wrong), "depth", "42")


def test_metric_and_names_are_honoured():
    table = pd.DataFrame(X, index=[f"flower {i}" for i in range(150)])
    y = np.array(["setosa", "versicolor", "virginica"])[Y]
    y[[5, 25, 70]] = "virginica"
    found = find_label_errors(table, y, estimator=KNeighborsClassifier(metric="manhattan"))
    plain = find_label_errors(order_neighbors(X, metric="manhattan"), y,
                              estimator=KNeighborsClassifier(metric="manhattan"))  # fmt: skip
    np.testing.assert_array_equal(found.doubt, plain.doubt)
    frame = found.frame("pandas")
    assert frame.index[0] == f"flower {found.rows[0]}"
    assert found.frame("polars")["row"][0] == frame.index[0]
    assert list(frame["label"]) == list(y[found.rows])
    assert list(frame.columns) == [
        "sample", "label", "suggested", "probability", "own_probability", "doubt", "neighbors",
        "neighbor_labels",
    ]  # fmt: skip
    row = int(found.rows[0])
    assert frame["neighbors"].iloc[0] == ", ".join(map(str, found.neighbors(row)))
    distances = np.abs(X - X[row]).sum(axis=1)
    near = distances[found.neighbors(row)]
    np.testing.assert_allclose(near, np.sort(distances)[1:6])


@pytest.mark.parametrize(
    ("cv", "options"),
    [
        (None, {}),
        (FixedSize(90), {}),
        (LeavePOut(2), {"scoring": "balanced_accuracy"}),
        (FixedSize(60), {"estimator": KNeighborsClassifier(3, weights="distance")}),
        (FixedSize(60), {"scoring": "recall@3"}),
    ],
    ids=["folds", "size", "balanced", "weighted", "recall"],
)
def test_effects_are_evaluations_of_the_changed_data(cv, options):
    y = Y.copy()
    y[[5, 25, 45, 65]] = 2
    found = find_label_errors(X, y, cv=cv, **options)
    model = options.get("estimator", KNeighborsClassifier())
    scoring = options.get("scoring")
    frame = found.effects(2, "pandas")
    before = evaluate(model, X, y, cv=cv, scoring=scoring)
    assert found.evaluation.score == before.score
    for line in frame.itertuples():
        row = line.sample
        keep = np.arange(150) != row
        removed = evaluate(model, X[keep], y[keep], cv=cv, scoring=scoring)
        again = y.copy()
        again[row] = found.suggested[row]
        relabelled = evaluate(model, X, again, cv=cv, scoring=scoring)
        assert line.removed == pytest.approx(removed.score - before.score, abs=1e-12)
        assert line.relabelled == pytest.approx(relabelled.score - before.score, abs=1e-12)
        change = removed.sample_scores - before.sample_scores[keep]
        assert line.others_removed == pytest.approx(removed.sample_weight @ change, abs=1e-12)
        weights = relabelled.sample_weight[keep]
        change = (relabelled.sample_scores - before.sample_scores)[keep]
        others = weights @ change / weights.sum()
        assert line.others_relabelled == pytest.approx(others, abs=1e-12)
        assert 0 <= line.error_bound < 1e-4


def test_effects_where_a_class_vanishes():
    """Its only other sample is relabelled: one class is left, and nothing to score."""
    points = np.r_[np.zeros(10), 0.1, 0.2].reshape(-1, 1) + np.arange(12).reshape(-1, 1) / 1000
    y = np.r_[np.zeros(10, dtype=int), 1, 1]
    y[[3, 10]] = [1, 0]
    found = replace(find_label_errors(points, y, cv=FixedSize(6)), rows=np.array([3]))
    frame = found.effects(backend="pandas")
    assert np.isfinite(frame["removed"][0])
    y[11] = 0
    alone = replace(find_label_errors(points, y, cv=FixedSize(6)), rows=np.array([3]))
    assert np.isnan(alone.effects(backend="pandas")["relabelled"][0])


def test_groups_do_not_judge_each_other_and_leave_together():
    groups = np.arange(150) // 3
    y = Y.copy()
    y[[6, 7, 8]] = 2  # a whole group is wrong: within it, all agree
    apart = find_label_errors(X, y, groups=groups, cv=LeavePGroupsOut(2))
    assert apart.doubt[[6, 7, 8]].min() > find_label_errors(X, y).doubt[[6, 7, 8]].min()
    row = int(apart.rows[0])
    assert not set(apart.neighbors(row)) & set(np.flatnonzero(groups == groups[row]))
    first = replace(apart, rows=apart.rows[:1]).effects(backend="pandas")
    keep = np.arange(150) != row
    model = KNeighborsClassifier()
    law = {"cv": LeavePGroupsOut(2)}
    before = evaluate(model, X, y, groups=groups, **law)
    after = evaluate(model, X[keep], y[keep], groups=groups[keep], **law)
    assert first["removed"][0] == pytest.approx(after.score - before.score, abs=1e-12)


def test_approximate_neighbours_are_flagged():
    order = order_neighbors(X)
    assert isinstance(order, NeighborOrder)
    missed = replace(order, search=SearchReport("index", approximate=True))
    y = Y.copy()
    y[7] = 2
    found = find_label_errors(missed, y)
    assert found.search.approximate
    assert "APPROXIMATE" in repr(found)


def test_plot_and_repr():
    y = Y.copy()
    y[[5, 25, 45]] = 2
    found = find_label_errors(X, y)
    text = repr(found)
    assert text.startswith(f"Suspects({len(found)} of 150 labels, about ")
    assert "looks like 0" in text
    ax = found.plot()
    assert str(len(found)) in ax.get_title()
    assert repr(find_label_errors(X[:100], Y[:100])).endswith("expected to be wrong)")


def test_long_effects_are_announced(monkeypatch):
    y = Y.copy()
    y[[5, 25, 45]] = 2
    found = find_label_errors(X, y)
    real = _effects.solver_for
    monkeypatch.setattr(_effects, "solver_for", lambda asked: real(asked)._replace(seconds=1000.0))
    with pytest.warns(LongRunWarning):
        found.effects(1)


def test_bad_input():
    refused(lambda: find_label_errors(X, np.zeros(150)), "y", "class")
    refused(lambda: find_label_errors(X[:3], [0, 1, 0]), "X", "4", "3")
    refused(lambda: find_label_errors(X, Y, estimator=KNeighborsRegressor()), "estimator")
    refused(lambda: find_label_errors(X, Y, estimator="knn"), "estimator")
    refused(lambda: find_label_errors(X, Y[:-1]), "y")
    refused(lambda: find_label_errors(X, Y, cv=GroupKFold(3)), "cv")
    refused(lambda: find_label_errors(X, Y, cv="five"), "cv")
    refused(lambda: find_label_errors(X, Y, groups=[1, 2]), "groups")
    refused(lambda: find_label_errors(X, Y, scoring="roc_auc"), "scoring")
    refused(lambda: find_label_errors(np.where(X > 7, np.nan, X), Y), "X", "NaN")
    found = find_label_errors(X, Y)
    refused(lambda: found.first(-1), "n")
    refused(lambda: found.effects(-1), "n")
    refused(lambda: found.neighbors(150), "row", "149")
    refused(lambda: replace(found, changes=None).effects(), "effects", "find_label_errors")
