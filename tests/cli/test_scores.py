"""--scoring: any score, and several with commas."""

import json

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsClassifier

from allsplits import evaluate, report
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


def test_costs_of_mistakes(flowers):
    """Named first, they choose k; not named, they come last."""
    from allsplits import CostMatrix

    costs = CostMatrix({("virginica", "versicolor"): 5.0, ("versicolor", "virginica"): 1.0})
    given = ["--costs", "virginica>versicolor=5", "--costs", " versicolor>virginica=1"]
    options = ["-t", "kind", "-k", "3"]
    found = json.loads(run("evaluate", flowers, *options, *given, "--json").out)
    expected = evaluate(KNeighborsClassifier(3), X, KINDS, scoring=costs)
    assert (found["scoring"], found["score"]) == ("neg_cost", expected.score)
    together = "virginica>versicolor=5,versicolor>virginica=1"
    both = run(
        "evaluate", flowers, *options, "--costs", together, "--scoring", "accuracy", "--json"
    )
    assert json.loads(both.out)["scores"]["neg_cost"]["score"] == expected.score
    sizes = ["--sizes", "10,20", "--costs", together, "--json"]
    assert json.loads(run("curve", flowers, *options, *sizes).out)["scoring"] == "neg_cost"


def test_wrong_costs(flowers):
    def answer(*options):
        return refused("evaluate", flowers, "-t", "kind", *options)

    assert "TRUE>PREDICTED=COST" in answer("--costs", "virginica=5")
    assert "TRUE>PREDICTED=COST" in answer("--costs", "a>b=1.2.3")
    assert "one of the classes" in answer("--costs", "virginica>rose=5")
    assert "--costs" in answer("--scoring", "neg_cost")
    assert "a number" in refused(
        "evaluate", flowers, "-t", "a", "--drop", "kind", "--costs", "1>2=3"
    )


def test_within_a_radius(flowers):
    options = ["-t", "kind", "--outlier", "most_frequent"]
    found = json.loads(run("evaluate", flowers, *options, "--radius", "0.5,1,2", "--json").out)
    model = RadiusNeighborsClassifier(1, outlier_label="most_frequent")
    assert found["radius"] == 1
    assert found["score"] == evaluate(model, X, KINDS).score
    assert [point["radius"] for point in found["curve"]] == [0.5, 1, 2]
    assert "within radius 0.5" in run("evaluate", flowers, *options, "--radius", "0.5").out
    numbers = ["-t", "a", "--drop", "kind", "--radius", "0.7", "--outlier", "5.8"]
    assert "mean squared error" in run("evaluate", flowers, *numbers).out


def test_the_report_within_a_radius(flowers, tmp_path):
    """As of the Python function: the radius named, the curve that chose it, no curve of sizes."""
    page = tmp_path / "page.html"
    options = ["-t", "kind", "--outlier", "most_frequent", "--report"]
    done = run("evaluate", flowers, *options, page, "--radius", "0.5,0.8,1.2")
    assert f"report written to {page}" in done.err
    text = page.read_text()
    assert "all neighbours within 0.8" in text
    assert "is the best of 3" in text
    assert "nearest neighbour" not in text

    summary = tmp_path / "page.json"
    run("evaluate", flowers, *options, summary, "--radius", "0.5,0.8,1.2")
    found = json.loads(summary.read_text())
    model = RadiusNeighborsClassifier(0.8, outlier_label="most_frequent")
    expected = report(X, KINDS, estimator=model).summary
    assert found["answer"] == expected["answer"]
    assert found["score"] == expected["score"]
    assert found["score"]["radius"] == 0.8
    assert [(curve["parameter"], curve["x"]) for curve in found["curves"]] == [
        ("radius", [0.5, 0.8, 1.2])
    ]

    run("evaluate", flowers, *options, summary, "--radius", "0.8")
    assert json.loads(summary.read_text())["curves"] == expected["curves"] == []


def test_the_report_of_numbers_and_of_a_test_file_within_a_radius(flowers, tmp_path):
    summary = tmp_path / "page.json"
    numbers = ["-t", "a", "--drop", "kind", "--radius", "0.7", "--outlier", "5.8"]
    run("evaluate", flowers, *numbers, "--report", summary)
    found = json.loads(summary.read_text())
    assert "all neighbours within 0.7 the mean squared error" in found["answer"]
    options = ["-t", "kind", "--radius", "0.7", "--outlier", "setosa", "--cv", "shots:10"]
    run("evaluate", flowers, "--test", flowers, *options, "--report", summary)
    assert "of test samples are given their class" in json.loads(summary.read_text())["answer"]


def test_wrong_radii(flowers):
    def answer(*options):
        return refused("evaluate", flowers, "-t", "kind", *options)

    assert "--radius" in answer("--radius", "near")
    assert "--radius" in answer("--radius", "-1")
    assert "--k" in answer("--radius", "1", "-k", "3")
    assert "--outlier" in answer("--outlier", "setosa")
    assert "one of the classes" in answer("--radius", "1", "--outlier", "rose")
    assert "outlier_label" in answer("--radius", "0.5")
    assert "number" in refused(
        "evaluate", flowers, "-t", "a", "--drop", "kind", "--radius", "1", "--outlier", "x"
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--scoring", "neg_log_loss+1"], "is not known of neg_log_loss+1"),
        (["--cv", "loo"], "leaving out one row after the other is all splits"),
        (["--cv", "5"], "A single shuffled 5-fold cross-validation varies by"),
    ],
)
def test_the_noise_of_splitting_is_told_or_why_not(flowers, options, words):
    shown = run("evaluate", flowers, "-t", "kind", "-k", "3", *options).out
    assert words in " ".join(shown.split())


def test_a_confidence_in_percent_is_refused_with_the_range(flowers):
    error = refused("compare", flowers, "-t", "kind", "--other-k", "3", "--confidence", "95")
    assert "--confidence must lie strictly between 0 and 1; got 95" in error
