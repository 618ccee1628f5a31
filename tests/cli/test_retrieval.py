"""Scores of retrieval on the command line."""

import json

import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from allsplits import ClassCounts, cmc_curve, evaluate, learning_curve, retrieval_curve
from cli.command import refused, run

X, Y = load_iris(return_X_y=True)


@pytest.fixture
def flowers(tmp_path):
    columns = {name: X[:, i] for i, name in enumerate("abcd")}
    pl.DataFrame({**columns, "kind": [f"kind {c}" for c in Y]}).write_csv(tmp_path / "f.csv")
    return tmp_path / "f.csv"


def test_evaluate(flowers):
    options = ["-t", "kind", "--cv", "shots:5", "--scoring", "map@r"]
    found = json.loads(run("evaluate", flowers, *options, "--json").out)
    expected = evaluate(KNeighborsClassifier(1), X, Y, cv=ClassCounts(5), scoring="map@r")
    assert found["score"] == pytest.approx(expected.score, abs=1e-14)
    words = run("evaluate", flowers, *options).out
    assert "MAP@R 0.7974, averaged over all splits" in words
    assert "with k" not in words


@pytest.mark.parametrize("scoring", ["precision@k", "item_recall@k", "recall@R"])
def test_curve_over_ranks(flowers, scoring):
    options = ["-t", "kind", "--ranks", "1-3,9", "--cv", "shots:5", "--scoring", scoring]
    found = json.loads(run("curve", flowers, *options, "--json").out)
    ranks = {"ranks": [1, 2, 3, 9], "cv": ClassCounts(5)}
    curve = cmc_curve if scoring == "recall@R" else retrieval_curve
    more = {} if scoring == "recall@R" else {"scoring": scoring}
    expected = curve(X, Y, **ranks, **more)
    assert [point["score"] for point in found["curve"]] == pytest.approx(list(expected.scores))
    assert [point["rank"] for point in found["curve"]] == [1, 2, 3, 9]
    assert "Retrieval over all galleries: 4 of 4 ranks" in run("curve", flowers, *options).out


def test_the_full_gallery_by_default(flowers):
    found = json.loads(run("curve", flowers, "-t", "kind", "--ranks", "5", "--json").out)
    assert found["scoring"] == "precision@k"
    expected = retrieval_curve(X, Y, ranks=[5]).scores[0]
    assert found["curve"][0]["score"] == pytest.approx(expected, abs=1e-14)


def test_curve_over_shots(flowers):
    options = ["-t", "kind", "--per-class", "--sizes", "2,4", "--scoring", "map@r"]
    found = json.loads(run("curve", flowers, *options, "--json").out)
    expected = learning_curve(
        KNeighborsClassifier(1), X, Y, train_sizes=[2, 4], stratify=True, scoring="map@r"
    )
    assert [point["score"] for point in found["curve"]] == pytest.approx(list(expected.scores))


def test_queries_of_another_file(flowers):
    options = ["-t", "kind", "--test", flowers, "--ranks", "3"]
    found = json.loads(run("curve", flowers, *options, "--json").out)
    expected = retrieval_curve(X, Y, ranks=[3], X_test=X, y_test=Y).scores[0]
    assert found["curve"][0]["score"] == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--ranks", "0"], ["--ranks"]),
        (["--ranks", "5", "--sizes", "10"], ["--ranks", "--sizes"]),
        (["--ranks", "5", "--scoring", "map@r"], ["--scoring", "precision@k", "map@r"]),
        (["--ranks", "5", "--cv", "shots:1"], ["ranks", "3", "5"]),
        (["--cv", "shots:1"], ["--cv", "--ranks"]),
    ],
)
def test_wrong_options(flowers, options, words):
    message = refused("curve", flowers, "-t", "kind", *options)
    assert all(word in message for word in words), message
