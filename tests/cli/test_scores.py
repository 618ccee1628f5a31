"""--scoring: any score, and several with commas."""

import json

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from allsplits import evaluate
from cli.command import refused, run

X, Y = load_iris(return_X_y=True)
KINDS = np.array(["setosa", "versicolor", "virginica"])[Y]
SCORES = "neg_log_loss+1,accuracy,recall_of:virginica,recall@2"


@pytest.fixture
def flowers(tmp_path):
    path = tmp_path / "flowers.csv"
    pl.DataFrame({**{name: X[:, i] for i, name in enumerate("abcd")}, "kind": KINDS}).write_csv(
        path
    )
    return path


def test_several_scores(flowers):
    options = ["-t", "kind", "-k", "3,5", "--scoring", SCORES]
    found = json.loads(run("evaluate", flowers, *options, "--json").out)
    expected = evaluate(KNeighborsClassifier(5), X, KINDS, scoring=SCORES.split(","))
    assert found["n_neighbors"] == 5
    assert {name: of["score"] for name, of in found["scores"].items()} == expected.scores
    shown = run("evaluate", flowers, *options).out
    assert "All scores" in shown
    assert "recall_of:virginica" in shown


def test_a_curve_of_several_scores(flowers):
    options = ["-t", "kind", "-k", "3", "--sizes", "10,20", "--scoring", "accuracy,neg_brier_score"]
    found = json.loads(run("curve", flowers, *options, "--json").out)
    assert len(found["others"]["neg_brier_score"]) == len(found["curve"]) == 2
    assert "neg_brier_score" in run("curve", flowers, *options).out


def test_wrong_scores(flowers, tmp_path):
    assert "ratio" in refused("evaluate", flowers, "-t", "kind", "--scoring", "accuracy,f1")
    report = tmp_path / "report.html"
    message = refused(
        "evaluate", flowers, "-t", "kind", "--scoring", "neg_log_loss", "--report", report
    )
    assert "--report" in message
    assert not report.exists()
