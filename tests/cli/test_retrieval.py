"""Scores of retrieval on the command line."""

import json

import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier

from allsplits import ClassCounts, FixedSize, cmc_curve, evaluate, learning_curve, retrieval_curve
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


# ------------------------------------------------------------ cameras

CAMERA = [f"camera {i * i % 7 % 3}" for i in range(len(Y))]


@pytest.fixture
def people(tmp_path):
    columns = {name: X[:, i] for i, name in enumerate("abcd")}
    frame = pl.DataFrame({**columns, "seen_by": CAMERA, "kind": [f"kind {c}" for c in Y]})
    frame.write_csv(tmp_path / "p.csv")
    return tmp_path / "p.csv"


@pytest.mark.parametrize(
    ("cv", "exclude"), [(None, None), ("loo", "identity"), ("size:40", "group"), ("shots:5", None)]
)
def test_evaluate_without_the_own_camera(people, cv, exclude):
    laws = {"loo": LeaveOneOut(), "size:40": FixedSize(40), "shots:5": ClassCounts(5)}
    options = ["-t", "kind", "--scoring", "map,recall@3", "--camera", "seen_by"]
    options += [] if cv is None else ["--cv", cv]
    options += [] if exclude is None else ["--exclude", exclude]
    found = json.loads(run("evaluate", people, *options, "--json").out)
    expected = evaluate(
        KNeighborsClassifier(1), X, Y, cv=laws.get(cv), scoring=["map", "recall@3"], groups=CAMERA,
        exclude=exclude,
    )  # fmt: skip
    for name, score in expected.scores.items():
        assert found["scores"][name]["score"] == pytest.approx(score, abs=1e-14)
    group = "group" if exclude == "group" else "class and group"
    words = f"without items of a query's own {group}, for 150 queries"
    assert words in found["law"]
    assert words in " ".join(run("evaluate", people, *options).out.split())


@pytest.mark.parametrize("scoring", ["precision@k", "recall@R"])
def test_curves_without_the_own_camera(people, scoring):
    options = ["-t", "kind", "--ranks", "1,4", "--scoring", scoring, "--camera", "seen_by"]
    curve = cmc_curve if scoring == "recall@R" else retrieval_curve
    for cv, law in ((["--cv", "shots:5"], ClassCounts(5)), ([], LeaveOneOut())):
        found = json.loads(run("curve", people, *options, *cv, "--json").out)
        expected = curve(X, Y, ranks=[1, 4], cv=law, groups=CAMERA).scores
        assert [point["score"] for point in found["curve"]] == pytest.approx(list(expected))


def test_queries_of_another_file_have_cameras(people, flowers):
    options = ["-t", "kind", "--scoring", "map", "--camera", "seen_by"]
    found = json.loads(run("evaluate", people, *options, "--test", people, "--json").out)
    asked = {"X_test": X, "y_test": Y, "groups_test": CAMERA}
    expected = evaluate(KNeighborsClassifier(1), X, Y, scoring="map", groups=CAMERA, **asked)
    assert found["score"] == pytest.approx(expected.score, abs=1e-14)
    message = refused("evaluate", people, *options, "--test", flowers)
    assert "--test" in message
    assert "--camera" in message


@pytest.mark.parametrize(
    ("command", "options", "words"),
    [
        ("evaluate", ["--camera", "seen_by"], ["--camera", "--scoring map", "accuracy"]),
        ("evaluate", ["--camera", "seen", "--scoring", "map"], ["--camera", "seen_by"]),
        ("evaluate", ["--camera", "kind", "--scoring", "map"], ["--camera", "target"]),
        ("evaluate", ["--exclude", "group", "--scoring", "map"], ["--exclude", "--camera"]),
        (
            "evaluate",
            ["--camera", "seen_by", "--cv", "groups:seen_by", "--scoring", "recall@1"],
            ["--camera", "--cv groups:"],
        ),
        (
            "evaluate",
            ["--camera", "seen_by", "--scoring", "recall@1", "--report", "page.html"],
            ["--report", "--camera"],
        ),
        ("curve", ["--camera", "seen_by", "--scoring", "map@r"], ["--camera", "--ranks"]),
    ],
)
def test_wrong_use_of_cameras(people, command, options, words):
    message = refused(command, people, "-t", "kind", *options)
    for word in words:
        assert word in message
