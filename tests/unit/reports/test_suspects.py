"""Suspected labels on the page: those of `find_label_errors`, with their neighbours; values."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import LeaveOneGroupOut
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import (
    FixedSize,
    evaluate,
    find_label_errors,
    order_neighbors,
    report,
    sample_values,
)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    X, y = X[:400], y[:400].copy()
    y[:120:4] = (y[:120:4] + 1) % 10
    return X, y


def rows_of(made):
    return [one["row"] for one in made.summary["suspects"]["samples"]]


def test_suspects_are_those_of_find_label_errors(digits):
    X, y = digits
    made = report(X, y, n_neighbors=3, curves=(), image_shape=(8, 8), n_samples_shown=6)
    found = find_label_errors(X, y)
    shown = made.summary["suspects"]
    assert rows_of(made) == found.rows[:6].tolist()
    assert (shown["n"], shown["n_expected"]) == (len(found), found.n_expected)
    first, row = shown["samples"][0], int(found.rows[0])
    assert (first["label"], first["given"]) == (str(y[row]), str(found.suggested[row]))
    assert first["share"] == pytest.approx(found.probability[row])
    assert [one["row"] for one in first["neighbors"]] == found.neighbors(row).tolist()
    for one in first["neighbors"]:
        assert one["label"] == str(y[one["row"]])
        assert one["same"] == (y[one["row"]] == y[row])
        assert one["picture"].startswith("data:image/png")
    assert f"nearest neighbours of row {row}" in made.html()


def test_neighbours_stand_beside_suspects_in_tables(digits):
    made = report(*digits, n_neighbors=3, curves=())
    near = made.summary["suspects"]["samples"][0]["neighbors"]
    assert len(near) == 5
    page = made.html()
    assert "nearest neighbours (row)" in page
    assert f"<small>{near[0]['row']}</small>" in page


def test_features_without_names_are_not_shown(digits):
    X, y = load_iris(return_X_y=True, as_frame=True)
    plain = report(X.to_numpy(), y, n_neighbors=3, curves=())
    assert plain.summary["data"]["features"] == []
    assert plain.summary["hardest"][0]["values"] == []
    assert "x0" not in plain.html()
    assert report(X, y, n_neighbors=3, curves=()).summary["data"]["features"] == list(X.columns)
    named = report(X.to_numpy(), y, n_neighbors=3, curves=(), feature_names=["a", "b", "c", "d"])
    assert len(named.summary["hardest"][0]["values"]) == 4


def test_hard_samples_are_not_those_suspected(digits):
    summary = report(*digits, n_neighbors=3, curves=(), n_samples_shown=8).summary
    assert summary["suspects"]["n"] > 8
    assert len(summary["hardest"]) == len(summary["suspects"]["samples"]) == 8
    assert not set(find_label_errors(*digits).rows) & {one["row"] for one in summary["hardest"]}


def test_an_evaluation_is_judged_by_its_own_task(digits):
    X, y = digits
    model = KNeighborsClassifier(5, metric="manhattan")
    found = evaluate(model, X, y)
    expected = find_label_errors(X, y, estimator=model).rows[:12].tolist()
    assert rows_of(report(found)) == expected
    assert report(found, X=X).summary["model"] == {}
    again = report(found, X=X, estimator=model)
    assert rows_of(again) == expected
    assert again.summary["model"] == {"metric": "manhattan", "weights": "uniform"}
    from_elsewhere = report(replace(found, task=None))
    assert from_elsewhere.summary["suspects"] is None
    assert from_elsewhere.summary["values"] is None
    assert "Suspected" not in from_elsewhere.html()


def test_orders_are_judged_where_they_are_deep_enough(digits):
    X, y = digits
    deep = report(order_neighbors(X), y, n_neighbors=3, curves=())
    assert rows_of(deep) == find_label_errors(X, y).rows[:12].tolist()
    shallow = order_neighbors(X, depth=30)
    made = report(evaluate(KNeighborsClassifier(1), shallow, y, cv=FixedSize(320)))
    assert made.summary["suspects"] is None
    assert made.summary["values"] is None


def test_members_of_a_group_do_not_judge_each_other(digits):
    X, y = digits
    groups = np.arange(400) // 4
    made = report(X, y, n_neighbors=3, curves=(), cv=LeaveOneGroupOut(), groups=groups)
    assert rows_of(made) == find_label_errors(X, y, groups=groups).rows[:12].tolist()


def test_the_most_harmful_and_the_most_helpful(digits):
    X, y = digits
    made = report(X, y, estimator=KNeighborsClassifier(3), curves=(), n_samples_shown=4)
    found = sample_values(KNeighborsClassifier(3), X, y, method="banzhaf")
    shown = made.summary["values"]
    assert [one["row"] for one in shown["harmful"]] == found.worst(4).tolist()
    assert [one["row"] for one in shown["helpful"]] == found.best(4).tolist()
    assert shown["harmful"][0]["value"] == pytest.approx(found.values.min(), abs=1e-15)
    assert f"{found.values.min():+.3g}" in made.html()


def test_values_of_targets_and_none_for_weighted_votes():
    X, y = load_iris(return_X_y=True)
    regression = report(X[:, :3], X[:, 3], estimator=KNeighborsRegressor(3), curves=())
    assert regression.summary["suspects"] is None
    assert regression.summary["values"]["harmful"][0]["value"] < 0
    assert "Most harmful" in regression.html()
    weighted = report(X, y, estimator=KNeighborsClassifier(3, weights="distance"), curves=())
    assert weighted.summary["values"] is None
    assert weighted.summary["suspects"] is not None
