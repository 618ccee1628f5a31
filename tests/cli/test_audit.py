"""`allsplits audit`: the numbers of the library, and every way to write the column."""

import json

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from allsplits import audit_split
from cli.command import iris_frame, refused, run, write

X, Y = load_iris(return_X_y=True)
TRAIN = np.random.default_rng(0).random(150) < 0.7


def with_split(path, values, name="part"):
    return write(iris_frame().with_columns(pl.Series(name, values)), path)


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    values = ["train" if one else "Test " for one in TRAIN]
    return with_split(tmp_path_factory.mktemp("audit") / "iris.csv", values)


def found(*arguments):
    return json.loads(run("audit", *arguments, "-t", "species", "--json", "--runs", "500").out)


def test_it_says_what_the_library_says(words):
    expected = audit_split(KNeighborsClassifier(3), X, Y, TRAIN, ~TRAIN, n_runs=500)
    document = found(words, "--split", "part", "-k", "3")
    for name in ("score", "mean", "split_std", "z", "luck", "luck_error", "test_mean", "verdict"):
        assert document[name] == pytest.approx(getattr(expected, name), abs=1e-12)
    assert document["law"] == str(expected.law)
    assert document["data"]["n_features"] == 4
    plain = run("audit", words, "-t", "species", "--split", "part", "-k", "3", "--runs", "500").out
    plain = " ".join(plain.split())
    for part in (f"accuracy {expected.score:.4f} on this split", f"{expected.mean:.4f} on average",
                 f"{TRAIN.sum()} rows train", "of 500 drawn splits score as", "split.",
                 "from which rows train"):  # fmt: skip
        assert part in plain


@pytest.mark.parametrize(
    ("name", "true_is", "values"),
    [
        ("is_train", "train", TRAIN),
        ("is_test", "test", ~TRAIN),
        ("fold", "train", [str(one) for one in TRAIN]),
    ],
)
def test_true_and_false(name, true_is, values, words, tmp_path):
    path = with_split(tmp_path / "iris.parquet", values, name)
    document = found(path, "--split", name)
    assert document["score"] == found(words, "--split", "part")["score"]
    assert f"{name}: true is read as {true_is}" in document["notes"]


@pytest.mark.parametrize(
    ("name", "one_is", "values"),
    [
        ("is_train", "train", TRAIN.astype(int)),
        ("is_test", "test", (~TRAIN).astype(float)),
        ("fold", "train", [str(int(one)) for one in TRAIN]),
    ],
)
def test_one_and_zero(name, one_is, values, words, tmp_path):
    path = with_split(tmp_path / "iris.csv", values, name)
    document = found(path, "--split", name)
    assert document["score"] == found(words, "--split", "part")["score"]
    assert f"{name}: 1 is read as {one_is}" in document["notes"]


def test_rows_without_a_value_are_left_out(tmp_path):
    kept = np.arange(150) % 10 > 0
    values = [("train" if one else "test") if keep else None
              for one, keep in zip(TRAIN, kept, strict=True)]  # fmt: skip
    path = with_split(tmp_path / "iris.csv", values)
    document = found(path, "--split", "part", "--like", "plain", "--seed", "3")
    expected = audit_split(
        KNeighborsClassifier(5), X, Y, TRAIN & kept, ~TRAIN & kept, stratify=False, n_runs=500,
        random_state=3,
    )  # fmt: skip
    assert document["mean"] == pytest.approx(expected.mean, abs=1e-12)
    assert document["luck"] == expected.luck
    assert document["n_train"] + document["n_test"] == 135
    assert "15 rows in neither part left out" in document["notes"]


def test_groups(tmp_path):
    groups = np.arange(150) // 5 % 10
    train = groups < 7
    frame = iris_frame().with_columns(patient=pl.Series(groups), part=pl.Series(train))
    path = write(frame, tmp_path / "iris.parquet")
    document = found(path, "--split", "part", "--groups", "patient")
    assert document["law"] == "every choice of 7 of 10 groups for training"
    assert document["data"]["n_features"] == 4
    assert "--groups must name" in refused(
        "audit", path, "-t", "species", "--split", "part", "--groups", "patent"
    )


def test_bad_columns_are_refused(words, tmp_path):
    error = refused("audit", words, "-t", "species", "--split", "sepal_width")
    assert "part" in error  # no number, and not said to be the split
    error = refused("audit", words, "-t", "species", "--split", "sepal_width", "--drop", "part")
    assert "must hold train and test, true and false, or 1 and 0" in error
    assert "3.0 (26 rows)" in error
    assert "more" in error
    assert "did you mean 'part'" in refused("audit", words, "-t", "species", "--split", "parts")
    assert "must not be the target" in refused(
        "audit", words, "-t", "species", "--split", "species"
    )
    three = with_split(tmp_path / "three.csv", (["train", "test", "val"] * 50))
    error = refused("audit", three, "-t", "species", "--split", "part")
    assert "train (50 rows), test (50 rows), val (50 rows)" in error
    one = with_split(tmp_path / "one.csv", ["train"] * 150)
    assert "rows to test; got train (150 rows)" in refused(
        "audit", one, "-t", "species", "--split", "part"
    )
    assert "--split" in refused("audit", words, "-t", "species")
