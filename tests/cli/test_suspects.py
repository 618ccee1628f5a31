"""`allsplits suspects` on real files, against the library called on the same numbers."""

import json

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_iris

from allsplits import evaluate, find_label_errors
from cli.command import iris_frame, run

X = load_iris().data
WRONG = [5, 25, 45, 70]


@pytest.fixture(scope="module")
def flowers(tmp_path_factory):
    """Iris with four labels made wrong, and the labels."""
    frame = iris_frame()
    names = np.array(frame["species"].to_list())
    names[WRONG] = "virginica" if "virginica" in names else names[-1]
    path = tmp_path_factory.mktemp("suspects") / "flowers.csv"
    frame.with_columns(pl.Series("species", names.tolist())).write_csv(path)
    return path, names


def test_suspects_are_listed_with_their_neighbours(flowers):
    path, names = flowers
    found = find_label_errors(X, names)
    assert len(found)
    done = run("suspects", path, "-t", "species", "--show", "1")
    row = int(found.rows[0])
    assert f"About {found.n_expected:.0f} of 150 labels" in done.out
    assert "looks like" in done.out
    assert f"{100 * found.probability[row]:.1f} %" in done.out
    assert str(found.neighbors(row)[0]) in done.out


def test_suspects_are_written(flowers, tmp_path):
    path, names = flowers
    found = find_label_errors(X, names)
    run("suspects", path, "-t", "species", "-o", tmp_path / "out.csv")
    table = pl.read_csv(tmp_path / "out.csv")
    assert table.columns == [
        "row", "label", "suggested", "probability", "own_probability", "doubt", "neighbors",
        "neighbor_labels",
    ]  # fmt: skip
    assert table["row"].to_list() == found.rows.tolist()
    assert table["suggested"].to_list() == found.suggested[found.rows].tolist()
    row = int(found.rows[0])
    assert table["neighbors"][0] == " ".join(map(str, found.neighbors(row)))
    assert table["neighbor_labels"][0] == " ".join(names[found.neighbors(row)])
    printed = run("suspects", path, "-t", "species", "-o", "-", "-q").out
    assert len(printed.splitlines()) == len(found) + 1


def test_effects_as_json(flowers):
    path, names = flowers
    done = run("suspects", path, "-t", "species", "-k", "3", "--effects", "1", "--json")
    document = json.loads(done.out)
    from sklearn.neighbors import KNeighborsClassifier

    found = find_label_errors(X, names, estimator=KNeighborsClassifier(3))
    assert document["n_expected"] == found.n_expected
    assert [line["row"] for line in document["suspects"]] == found.rows.tolist()
    keep = np.arange(150) != found.rows[0]
    before = evaluate(KNeighborsClassifier(3), X, names).score
    after = evaluate(KNeighborsClassifier(3), X[keep], names[keep]).score
    assert document["suspects"][0]["removed"] == pytest.approx(after - before, abs=1e-12)
    assert document["suspects"][1]["removed"] is None


def test_clean_files_have_none(tmp_path):
    path = tmp_path / "clean.csv"
    frame = pl.DataFrame({"x": [*range(20), *range(100, 120)], "y": ["a"] * 20 + ["b"] * 20})
    frame.write_csv(path)
    done = run("suspects", path, "-t", "y", "-o", tmp_path / "none.csv")
    assert "About 0 of 40 labels" in done.out
    assert pl.read_csv(tmp_path / "none.csv").columns == ["row", "label", "suggested"]


def test_wrong_options_are_answered(flowers, tmp_path):
    done = run("suspects", flowers[0], "-t", "species", "-o", "-", "--json", code=2)
    assert "--output" in done.err
    path = tmp_path / "one.csv"
    pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "y": ["a"] * 4}).write_csv(path)
    assert "class" in run("suspects", path, "-t", "y", code=2).err
