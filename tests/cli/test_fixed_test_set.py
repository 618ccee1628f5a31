"""--test: rows of a second file are asked, those of the first answer."""

import json

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import ClassCounts, FixedSize, compare, evaluate, learning_curve
from cli.command import refused, run

X, Y = load_iris(return_X_y=True)
TESTED = np.arange(150) % 3 == 0
KINDS = np.array(["setosa", "versicolor", "virginica"])
KNN = KNeighborsClassifier(3)


def frame(rows, **more):
    columns = {name: X[rows, i] for i, name in enumerate("abcd")}
    return pl.DataFrame({**columns, **more, "kind": KINDS[Y[rows]]})


@pytest.fixture
def files(tmp_path):
    """References, and a test file with its columns in another order."""
    frame(~TESTED).write_csv(tmp_path / "train.csv")
    test = frame(TESTED, name=[f"row {i}" for i in range(50)])
    test.select("kind", "d", "c", "b", "a", "name").write_csv(tmp_path / "test.csv")
    return tmp_path / "train.csv", tmp_path / "test.csv"


def library(knn=KNN, X=X, **options):
    return evaluate(knn, X[~TESTED], Y[~TESTED], X_test=X[TESTED], y_test=Y[TESTED], **options)


def test_evaluate(files):
    train, test = files
    options = ["-t", "kind", "-k", "3", "--test", test, "--cv", "shots:8"]
    found = json.loads(run("evaluate", train, *options, "--json").out)
    expected = library(cv=ClassCounts(8))
    assert found["score"] == expected.score
    assert found["data"]["test_rows"] == 50
    assert [row["row"] for row in found["hardest"]] == expected.hardest(5).tolist()
    words = run("evaluate", train, *options).out
    assert "50 rows of" in words
    assert "averaged over all training sets" in words
    assert "Sampling noise of the test rows" in words
    assert any("left out: name" in note for note in found["notes"])


def test_without_cv_all_rows_are_in_training(files):
    train, test = files
    options = ["-t", "kind", "-k", "3", "--test", test, "--json"]
    found = json.loads(run("evaluate", train, *options).out)
    score = KNN.fit(X[~TESTED], Y[~TESTED]).score(X[TESTED], Y[TESTED])
    assert found["score"] == pytest.approx(score, abs=1e-14)
    assert found["n_splits"] == "1"


def test_scales_are_those_of_the_first_file(files):
    train, test = files
    options = ["-t", "kind", "-k", "3", "--test", test, "--standardize"]
    found = json.loads(run("evaluate", train, *options, "--json").out)
    scaled = (X - X[~TESTED].mean(axis=0)) / X[~TESTED].std(axis=0)
    assert found["score"] == library(X=scaled).score
    assert any("standardized" in note and "train.csv" in note for note in found["notes"])


def test_names_of_the_test_rows_are_shown(tmp_path):
    frame(~TESTED, name=[str(i) for i in range(100)]).write_csv(tmp_path / "train.csv")
    frame(TESTED, name=[f"row {i}" for i in range(50)]).write_csv(tmp_path / "test.csv")
    page = tmp_path / "page.html"
    options = ["-t", "kind", "-k", "3", "--test", tmp_path / "test.csv", "--id", "name"]
    done = run("evaluate", tmp_path / "train.csv", *options, "--report", page)
    hardest = library().hardest(1)[0]
    assert f"row {hardest}" in done.out
    assert "100 references" in page.read_text()


def test_values_of_text_that_the_references_lack(tmp_path):
    place = np.array(["north", "south"])[np.arange(100) % 2]
    frame(~TESTED, place=place).write_csv(tmp_path / "train.csv")
    frame(TESTED, place=["south", "west"] * 25).write_csv(tmp_path / "test.csv")
    options = ["-t", "kind", "-k", "3", "--test", tmp_path / "test.csv", "--one-hot", "place"]
    found = json.loads(run("evaluate", tmp_path / "train.csv", *options, "--json").out)
    north = (place == "north").astype(float)
    train = np.column_stack([X[~TESTED], north, 1 - north])
    south = np.array([1.0, 0.0] * 25)
    test = np.column_stack([X[TESTED], np.zeros(50), south])
    expected = evaluate(KNN, train, Y[~TESTED], X_test=test, y_test=Y[TESTED])
    assert found["score"] == expected.score


def test_regression_and_labels_in_files_of_their_own(tmp_path):
    np.save(tmp_path / "train.npy", X[~TESTED, :3])
    np.save(tmp_path / "test.npy", X[TESTED, :3])
    pl.DataFrame({"width": X[~TESTED, 3]}).write_csv(tmp_path / "train_y.csv")
    pl.DataFrame({"width": X[TESTED, 3]}).write_csv(tmp_path / "test_y.csv")
    options = ["--labels", tmp_path / "train_y.csv", "--test", tmp_path / "test.npy"]
    options += ["--test-labels", tmp_path / "test_y.csv", "-k", "4", "--cv", "size:40", "--json"]
    found = json.loads(run("evaluate", tmp_path / "train.npy", *options).out)
    expected = evaluate(
        KNeighborsRegressor(4), X[~TESTED, :3], X[~TESTED, 3], cv=FixedSize(40),
        X_test=X[TESTED, :3], y_test=X[TESTED, 3],
    )  # fmt: skip
    assert found["score"] == expected.score


def test_curve(files):
    train, test = files
    options = ["-t", "kind", "-k", "1", "--test", test, "--per-class", "--json"]
    found = json.loads(run("curve", train, *options).out)
    expected = learning_curve(
        KNeighborsClassifier(1), X[~TESTED], Y[~TESTED], stratify=True, X_test=X[TESTED],
        y_test=Y[TESTED],
    )  # fmt: skip
    assert [point["shots"] for point in found["curve"]] == expected.x.tolist()
    assert [point["score"] for point in found["curve"]] == expected.scores.tolist()


def test_compare_two_models(files):
    train, test = files
    options = ["-t", "kind", "-k", "1", "--other-k", "9", "--test", test]
    found = json.loads(run("compare", train, *options, "--cv", "shots:8", "--json").out)
    one, nine = (library(KNeighborsClassifier(k), cv=ClassCounts(8)) for k in (1, 9))
    assert found["difference"] == compare(one, nine).difference


def test_compare_two_embeddings_scaled(tmp_path):
    for name, columns in (("first", slice(0, 2)), ("second", slice(2, 4))):
        np.save(tmp_path / f"{name}.npy", X[~TESTED, columns])
        np.save(tmp_path / f"{name}_test.npy", X[TESTED, columns])
    pl.DataFrame({"kind": KINDS[Y[~TESTED]]}).write_csv(tmp_path / "y.csv")
    pl.DataFrame({"kind": KINDS[Y[TESTED]]}).write_csv(tmp_path / "y_test.csv")
    options = ["--labels", tmp_path / "y.csv", "--test-labels", tmp_path / "y_test.csv", "-k", "3"]
    tests = ["--test", tmp_path / "first_test.npy", "--test", tmp_path / "second_test.npy"]
    files = tmp_path / "first.npy", tmp_path / "second.npy"
    found = json.loads(run("compare", *files, *options, *tests, "--standardize", "--json").out)
    scaled = (X - X[~TESTED].mean(axis=0)) / X[~TESTED].std(axis=0)
    first, second = library(X=scaled[:, :2]), library(X=scaled[:, 2:])
    assert found["difference"] == pytest.approx(first.score - second.score, abs=1e-15)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--test", "{short}"], ["--test", "lacks d"]),
        (["--test", "{bare}"], ["--test", "target 'kind'"]),
        (["--test", "-"], ["--test", "standard input"]),
        (["--test-labels", "{test}"], ["--test-labels", "--test"]),
        (["--test", "{test}", "--cv", "shots:40"], ["counts", "33"]),
    ],
)
def test_bad_input(files, tmp_path, options, words):
    train, test = files
    frame(TESTED).drop("d").write_csv(tmp_path / "short.csv")
    frame(TESTED).drop("kind").write_csv(tmp_path / "bare.csv")
    names = {"test": test, "short": tmp_path / "short.csv", "bare": tmp_path / "bare.csv"}
    given = [option.format(**names) for option in options]
    error = refused("evaluate", train, "-t", "kind", "-k", "1", *given)
    for word in words:
        assert word in error
