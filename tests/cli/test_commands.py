"""Each command on real files, against the library called on the same numbers."""

import json
import re
import shlex
import textwrap
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold, LeavePOut, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import (
    CommitteeQuery,
    CondensedReduced,
    compare,
    evaluate,
    learning_curve,
    validation_curve,
)
from cli.command import iris_frame, run

X, Y = load_iris(return_X_y=True)


def test_evaluate_answers_in_words(iris):
    done = run("evaluate", iris, "-t", "species", "-k", "1-8", "--cv", "lpo:30")
    curve = validation_curve(
        KNeighborsClassifier(), X, Y, n_neighbors=range(1, 9), cv=LeavePOut(30)
    )  # fmt: skip
    assert "150 rows, 4 features, target species (3 classes)" in done.out
    assert f"Accuracy {curve.best_score:.4f} with k = {curve.best}" in done.out
    for score in curve.scores:
        assert f"{score:.6f}" in done.out
    assert "\x1b" not in done.out + done.err  # plain where there is no terminal
    assert "best of 8" in done.err


def test_evaluate_writes_the_report_and_says_what_it_did_to_the_data(tmp_path):
    """Text, missing values, scaling and regression at once; every step is told."""
    frame = iris_frame().with_columns(
        price=pl.Series(X[:, 0] * 1.5 + X[:, 3]),
        petal_width=pl.Series([None, *X[1:, 3].tolist()]),
    )
    frame.write_csv(tmp_path / "prices.csv")
    page = tmp_path / "page.html"
    done = run(
        "evaluate", tmp_path / "prices.csv", "-t", "price", "--one-hot", "species", "-k", "1-5",
        "--standardize", "--drop-missing", "--report", page, "--json",
    )  # fmt: skip
    kinds = (frame["species"].to_numpy()[1:, None] == np.unique(frame["species"])).astype(float)
    features = np.column_stack([X[1:], kinds])
    features = (features - features.mean(axis=0)) / features.std(axis=0)
    target = frame["price"].to_numpy()[1:]
    expected = validation_curve(
        KNeighborsRegressor(), features, target, n_neighbors=range(1, 6)
    )  # fmt: skip
    found = json.loads(done.out)
    assert found["data"]["task"] == "regression"
    assert [point["score"] for point in found["curve"]] == pytest.approx(expected.scores.tolist())
    assert 0 not in [row["row"] for row in found["hardest"]]  # row 0 was left out
    for words in ("1 of 150 rows left out", "before any split", "one column for each of 3"):
        assert words in done.err
        assert any(words in note for note in found["notes"])
    text = page.read_text(encoding="utf-8")
    assert text.lstrip().lower().startswith("<!doctype html")
    assert "price" in text
    assert "before any split" in text
    assert list(tmp_path.glob(".*")) == []


def test_evaluate_by_groups_and_by_rank(tmp_path):
    frame = iris_frame().with_columns(site=pl.Series([f"s{i % 5}" for i in range(150)]))
    frame.write_parquet(tmp_path / "sites.parquet")
    arguments = ("-t", "species", "--cv", "groups:site", "--scoring", "recall@3", "--json")
    found = json.loads(run("evaluate", tmp_path / "sites.parquet", *arguments).out)
    from sklearn.model_selection import LeaveOneGroupOut

    expected = evaluate(
        KNeighborsClassifier(), X, Y, cv=LeaveOneGroupOut(), groups=np.arange(150) % 5,
        scoring="recall@3",
    )  # fmt: skip
    assert found["score"] == pytest.approx(expected.score, abs=1e-12)
    assert found["n_splits"] == "5"
    assert found["data"]["n_features"] == 4


def test_strata_of_a_regressor(tmp_path):
    """The column is no feature; evaluate and curve draw from it, the library agrees."""
    sites, target = np.arange(150) % 4, X[:, 3] + 0.125
    frame = iris_frame().drop("species", iris_frame().columns[3])
    frame = frame.with_columns(site=pl.Series(sites), width=pl.Series(target))
    path, page = tmp_path / "widths.csv", tmp_path / "widths.html"
    frame.write_csv(path)
    knn, options = KNeighborsRegressor(3), {"strata": sites}
    given = ("-t", "width", "-k", "3", "--strata", "site")
    found = json.loads(run("evaluate", path, *given, "--json", "--report", page).out)
    expected = evaluate(knn, X[:, :3], target, cv=StratifiedKFold(5), **options)
    assert found["score"] == pytest.approx(float(expected.score), rel=1e-12)
    assert found["data"]["n_features"] == 3
    assert "3 nearest neighbours" in page.read_text(encoding="utf-8")
    sizes = ("--per-class", "--sizes", "2,5")
    found = json.loads(run("curve", path, *given, *sizes, "--json").out)
    expected = learning_curve(knn, X[:, :3], target, train_sizes=[2, 5], stratify=True, **options)
    assert [point["score"] for point in found["curve"]] == pytest.approx(expected.scores.tolist())


def test_a_number_alone_is_folds_as_in_scikit_learn(iris, tmp_path):
    found = json.loads(
        run("evaluate", iris, "-t", "species", "-k", "3", "--cv", "10", "--json").out
    )
    assert found["score"] == pytest.approx(
        evaluate(KNeighborsClassifier(3), X, Y, cv=StratifiedKFold(10)).score, abs=1e-12
    )
    np.savez(tmp_path / "numbers.npz", X=X[:, :3], y=X[:, 3])
    arguments = ("-t", "y", "-k", "3", "--cv", "10", "--json")
    found = json.loads(run("evaluate", tmp_path / "numbers.npz", *arguments).out)
    assert found["score"] == pytest.approx(
        evaluate(KNeighborsRegressor(3), X[:, :3], X[:, 3], cv=KFold(10)).score, abs=1e-12
    )


def test_weighted_votes_are_those_of_the_library_at_the_defaults(iris):
    arguments = ["-t", "species", "-k", "4", "--weights", "distance", "--json"]
    found = json.loads(run("evaluate", iris, *arguments).out)
    expected = evaluate(KNeighborsClassifier(4, weights="distance"), X, Y)
    assert found["score"] == expected.score
    assert found["error_bound"] == expected.error_bound


def test_names_of_rows_are_shown_beside_their_numbers(tmp_path):
    frame = iris_frame().with_columns(name=pl.Series([f"flower {i}" for i in range(150)]))
    frame.write_csv(tmp_path / "named.csv")
    arguments = ("evaluate", tmp_path / "named.csv", "-t", "species", "-k", "5", "--id", "name")
    found = json.loads(run(*arguments, "--json").out)
    assert found["data"]["n_features"] == 4
    assert [row["name"] for row in found["hardest"]] == [
        f"flower {row['row']}" for row in found["hardest"]
    ]
    shown = run(*arguments).out
    assert re.search(r"row +name +target +given most often", shown)
    assert f"flower {found['hardest'][0]['row']}" in shown


def test_a_warning_is_told_once(table, tmp_path):
    """The curve, the evaluation and the report each meet the class of three rows."""
    rows = "".join(f"{i % 17},{'pqr'[(i > 30) + (i > 56)]}\n" for i in range(60))
    path = table("a,y\n" + rows)
    done = run(
        "evaluate", path, "-t", "y", "--cv", "stratified:5", "-k", "1-12", "--report",
        tmp_path / "page.html", "--json",
    )  # fmt: skip
    assert done.err.count("least populated class") == 1, done.err
    assert "UserWarning" not in done.err
    notes = json.loads(done.out)["notes"]
    assert len(notes) == len(set(notes))


def test_curve_writes_every_point(iris, tmp_path):
    output = tmp_path / "curve.csv"
    done = run("curve", iris, "-t", "species", "--output", output)
    expected = learning_curve(KNeighborsClassifier(1), X, Y)
    written = pl.read_csv(output)
    assert written["train_size"].to_list() == list(range(1, 150))
    assert written["accuracy"].to_list() == pytest.approx(expected.scores.tolist())
    assert "149 points written" in done.err
    assert f"{expected.scores[-1]:.6f}" in done.out


def test_query_names_the_rows_of_the_second_file(tmp_path):
    frame = iris_frame().sample(fraction=1.0, shuffle=True, seed=3)
    labelled, rest = frame[:40], frame[40:].drop("species").with_row_index("id")
    labelled.write_csv(tmp_path / "labelled.csv")
    rest.drop("id").write_csv(tmp_path / "rest.csv")
    output = tmp_path / "ask.csv"
    done = run(
        "query", tmp_path / "labelled.csv", tmp_path / "rest.csv", "-t", "species", "-n", "6",
        "--json", "--output", output,
    )  # fmt: skip
    asked = json.loads(done.out)["rows"]
    points = np.vstack([labelled.drop("species").to_numpy(), rest.drop("id").to_numpy()])
    labels = [*labelled["species"].to_list(), *[None] * 110]
    agreement = CommitteeQuery(5).agreement(points, labels)
    assert [row["agreement"] for row in asked] == pytest.approx(sorted(agreement)[:6])
    assert [agreement[row["row"]] for row in asked] == pytest.approx(sorted(agreement)[:6])
    written = pl.read_csv(output)
    assert written.columns == ["row", *rest.drop("id").columns, "species"]
    assert written["row"].to_list() == [row["row"] for row in asked]
    assert written.drop("row", "species").equals(rest.drop("id")[written["row"].to_list()])


def test_query_takes_the_rows_without_a_label(tmp_path):
    frame = iris_frame().with_columns(
        species=pl.when(pl.int_range(pl.len()) % 3 == 0).then("species")
    )
    frame.write_csv(tmp_path / "part.csv")
    done = run("query", tmp_path / "part.csv", "-t", "species", "-n", "4", "-o", "-", "-q")
    asked = pl.read_csv(done.stdout)
    assert len(asked) == 4
    assert asked["species"].null_count() == 4
    assert done.err == ""


def test_condense_writes_the_rows_that_the_library_keeps(iris, tmp_path):
    output = tmp_path / "small.parquet"
    done = run("condense", iris, "-t", "species", "--output", output, "--json")
    expected = CondensedReduced().fit(X, Y).sample_indices_.tolist()
    assert json.loads(done.out)["rows"] == expected
    assert pl.read_parquet(output).equals(iris_frame()[expected])
    assert f"{len(expected)} of 150 rows kept" in done.err


def test_compare_two_sets_of_features(iris, tmp_path):
    np.save(tmp_path / "other.npy", X[:, :2])
    done = run(
        "compare", iris, "-t", "species", "--other-features", tmp_path / "other.npy", "--json",
        "--k", "5", "--other-k", "9",
    )  # fmt: skip
    expected = compare(
        evaluate(KNeighborsClassifier(5), X, Y), evaluate(KNeighborsClassifier(9), X[:, :2], Y)
    )
    found = json.loads(done.out)
    assert found["difference"] == pytest.approx(expected.difference, abs=1e-12)
    assert found["interval"]["low"] == pytest.approx(expected.interval.low, abs=1e-12)
    assert found["decided"] is expected.decided


@pytest.fixture
def files(iris, tmp_path):
    """Features of the same rows; only the first file has the target."""
    tables = {"sepals.npy": X[:, :2], "petals.npy": X[:, 2:]}
    for name, table in tables.items():
        np.save(tmp_path / name, table)
    return [iris, *(tmp_path / name for name in tables)]


def test_compare_many_files(files):
    done = run("compare", *files, "-t", "species", "--json", "-k", "3", "--confidence", "0.9")
    evaluations = [evaluate(KNeighborsClassifier(3), Z, Y) for Z in (X, X[:, :2], X[:, 2:])]
    names = [str(file) for file in files]
    expected = compare(*evaluations, names=names, confidence=0.9)
    found = json.loads(done.out)
    assert found["best"] == expected.best
    assert found["tied_for_first"] == list(expected.tied_for_first)
    assert found["decided"] is expected.decided
    for row, i in zip(found["models"], expected.best_first, strict=True):
        assert row["model"] == names[i]
        assert row["score"] == pytest.approx(expected.scores[i], abs=1e-12)
        ends = row["difference_interval"]
        assert (ends["low"], ends["high"]) == pytest.approx(tuple(expected.differences[i]))
        assert row["tied_for_first"] == expected.is_tied[i]
    text = run("compare", *files, "-t", "species", "-k", "3").out
    assert text.count("behind") == 1
    assert text.count("tied ") == 2
    assert "Tied for first" in text


def test_compare_two_files_is_compare_with_other_features(files):
    named = run("compare", *files[:2], "-t", "species").out
    option = run("compare", files[0], "-t", "species", "--other-features", files[1]).out
    assert named == option
    both = run("compare", *files[:2], "-t", "species", "--other-features", files[2]).out
    assert "petals.npy" in both


def test_demo_writes_the_report_and_prints_where(tmp_path):
    done = run("demo", tmp_path / "here")
    page = tmp_path / "here" / "report.html"
    assert f"The report is in {page.resolve()}" in done.out
    assert "digits.csv: 1,797 rows, 64 features, target digit (10 classes)" in done.out
    assert len(pl.read_csv(tmp_path / "here" / "digits.csv")) == 1797
    assert page.stat().st_size > 10_000


def test_half_a_million_rows_in_a_parquet_file(tmp_path):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 500_000)
    points = rng.normal(size=(500_000, 2)) + 2.5 * labels[:, None]
    pl.DataFrame({"a": points[:, 0], "b": points[:, 1], "y": labels}).write_parquet(
        tmp_path / "big.parquet"
    )
    done = run(
        "evaluate", tmp_path / "big.parquet", "-t", "y", "-k", "1", "--cv", "loo", "--json"
    )  # fmt: skip
    found = json.loads(done.out)
    # a tree of our own: the nearest other row decides
    from scipy.spatial import cKDTree

    nearest = cKDTree(points).query(points, k=2, workers=-1)[1][:, 1]
    assert found["score"] == pytest.approx(np.mean(labels[nearest] == labels), abs=1e-12)
    assert found["n_splits"] == "500000"


def test_the_output_shown_in_the_docs_is_what_one_gets(iris, monkeypatch):
    text = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    shown = re.search(r"^    \$ (allsplits evaluate .*)\n((?:    .*\n|\n)+)", text, re.MULTILINE)
    monkeypatch.chdir(iris.parent)
    printed = run(*shlex.split(shown[1])[1:]).out
    expected = textwrap.dedent(shown[2])
    assert _without_rounding(printed) == _without_rounding(expected)


def _without_rounding(text):
    """The bound on rounding depends on the machine."""
    return re.sub(r"± \S+", "±", text).strip()
