"""`allsplits values` on real files, against the library called on the same numbers."""

import json

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import LeavePGroupsOut, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier

from allsplits import sample_values
from cli.command import iris_frame, run

X, Y = load_iris(return_X_y=True)


def test_values_name_the_worst_and_the_best(iris):
    done = run("values", iris, "-t", "species", "-k", "3", "--show", "2")
    found = sample_values(KNeighborsClassifier(3), X, Y)
    assert "The most harmful rows" in done.out
    assert "The most helpful rows" in done.out
    for row in [*found.worst(2), *found.best(2)]:
        assert f"{found.values[row]:+.3e}" in done.out
    assert "±" in done.out


def test_values_of_every_row_are_written(iris, tmp_path):
    path = tmp_path / "values.csv"
    run("values", iris, "-t", "species", "--method", "shapley", "-o", path)
    table = pl.read_csv(path)
    found = sample_values(KNeighborsClassifier(5), X, Y, method="shapley")
    assert table.columns == ["row", "target", "value"]
    assert table["row"].to_list() == list(range(150))
    np.testing.assert_allclose(table["value"].to_numpy(), found.values, rtol=1e-9, atol=1e-15)
    printed = run("values", iris, "-t", "species", "--method", "shapley", "-o", "-", "-q").out
    assert printed.splitlines()[0] == "row,target,value"
    assert len(printed.splitlines()) == 151


def test_values_as_json(iris):
    done = run("values", iris, "-t", "species", "--method", "banzhaf", "--json")
    document = json.loads(done.out)
    found = sample_values(KNeighborsClassifier(5), X, Y, method="banzhaf")
    assert document["values"] == pytest.approx(found.values.tolist(), abs=1e-15)
    assert [line["row"] for line in document["worst"]] == found.worst(5).tolist()
    assert document["method"] == "banzhaf"


def test_values_of_weighted_votes(iris):
    arguments = ("-t", "species", "-k", "2", "--weights", "distance", "--cv", "holdout:0.1")
    document = json.loads(run("values", iris, *arguments, "--json").out)
    knn = KNeighborsClassifier(2, weights="distance")
    found = sample_values(knn, X, Y, cv=ShuffleSplit(test_size=0.1))
    assert document["values"] == pytest.approx(found.values.tolist(), abs=1e-12)
    assert document["error_bound"] == found.error_bound


def test_values_of_groups(tmp_path):
    path = tmp_path / "grouped.csv"
    groups = [f"g{i % 6}" for i in range(150)]
    iris_frame().with_columns(pl.Series("plot", groups)).write_csv(path)
    done = run("values", path, "-t", "species", "-k", "3", "--cv", "groups:plot:2", "--json")
    found = sample_values(
        KNeighborsClassifier(3), X, Y, cv=LeavePGroupsOut(2), groups=np.array(groups)
    )
    document = json.loads(done.out)
    assert document["values"] == pytest.approx(found.values.tolist(), abs=1e-13)
    assert document["worst"][0]["group"] == found.groups[found.worst(1)[0]]


def test_wrong_values_options_are_answered(iris):
    done = run("values", iris, "-t", "species", "--method", "shapley", "--cv", "5", code=2)
    assert "cv must be None" in done.err
    done = run("values", iris, "-t", "species", "-o", "-", "--json", code=2)
    assert "--output" in done.err
