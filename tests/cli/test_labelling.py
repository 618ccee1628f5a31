"""From no label to all of them: ask, fill in, merge, ask again."""

import io
import json

import numpy as np
import polars as pl
import pytest

from cli.command import iris_frame, refused, run

TRUTH = iris_frame().with_columns(name=pl.Series([f"flower {i}" for i in range(150)]))


def fill_in(path, wanted=None):
    """Write the right species into a file of questions, for the first rows or all."""
    asked = pl.read_csv(path, schema_overrides={"species": pl.String})
    species = [TRUTH["species"][row] for row in asked["row"].to_list()]
    for i in range(wanted or len(species), len(species)):
        species[i] = None
    asked.with_columns(species=pl.Series(species, dtype=pl.String)).write_csv(path)
    return asked["row"].to_list()


def test_the_whole_way_from_no_label(tmp_path):
    """Every round's answers arrive at their rows, and the committee takes over from chance."""
    pool, ask = tmp_path / "pool-0.csv", tmp_path / "ask.csv"
    TRUTH.drop("species").write_csv(pool)
    options = ["-t", "species", "--id", "name", "-n", "8", "-o", ask]
    done = run("query", pool, *options, "--from-scratch")
    assert "0 rows are labelled" in done.err
    assert "drawn at random" in done.err
    assert f"allsplits merge {pool} {ask} --target species" in done.err
    rows = fill_in(ask)
    for step in range(1, 4):
        merged = tmp_path / f"pool-{step}.csv"
        done = run("merge", pool, ask, "-t", "species", "-o", merged)
        assert f"8 labels filled in: {8 * step} of 150 rows have a species now" in done.err
        written = pl.read_csv(merged)
        known = written["species"].is_not_null().to_numpy()
        assert sorted(np.flatnonzero(known).tolist()) == sorted(rows)
        assert written.filter(known)["species"].equals(TRUTH.filter(known)["species"])
        assert written.drop("species").equals(TRUTH.drop("species"))
        done = run("query", merged, *options)
        assert "at random" not in done.err
        pool, rows = merged, rows + fill_in(ask)
    assert len(set(rows)) == 32


def test_questions_have_numbers_names_and_an_empty_target(tmp_path):
    known = pl.int_range(pl.len()) % 3 == 0
    frame = TRUTH.with_columns(species=pl.when(known).then("species"))
    frame.write_parquet(tmp_path / "part.parquet")
    output = tmp_path / "ask.parquet"
    done = run(
        "query", tmp_path / "part.parquet", "-t", "species", "--id", "name", "-n", "5", "--json",
        "-o", output,
    )  # fmt: skip
    asked, said = pl.read_parquet(output), json.loads(done.out)["rows"]
    assert asked.columns == ["row", *frame.columns]
    assert asked["row"].to_list() == [row["row"] for row in said]
    assert asked["name"].to_list() == [f"flower {row}" for row in asked["row"].to_list()]
    assert [row["name"] for row in said] == asked["name"].to_list()
    assert asked["species"].null_count() == 5
    assert all(row % 3 for row in asked["row"].to_list())
    shown = run("query", tmp_path / "part.parquet", "-t", "species", "--id", "name", "-n", "5").out
    assert "flower" in shown
    assert "(C × largest share − 1) / (C − 1)" in shown


def test_the_second_file_has_a_way_back_too(tmp_path):
    """Answers go into the file that was asked about; its labelled rows then join the others."""
    first, rest, ask = tmp_path / "labelled.csv", tmp_path / "rest.csv", tmp_path / "ask.csv"
    order = np.random.default_rng(0).permutation(150)
    TRUTH[order[:30].tolist()].drop("name").write_csv(first)
    others = TRUTH[order[30:].tolist()].drop("name")
    others.drop("species").write_csv(rest)
    run("query", first, rest, "-t", "species", "-n", "20", "-o", ask)
    asked = pl.read_csv(ask, schema_overrides={"species": pl.String})
    answers = [others["species"][row] for row in asked["row"].to_list()]
    asked.with_columns(species=pl.Series(answers)).write_csv(ask)
    again = tmp_path / "rest-2.csv"
    run("merge", rest, ask, "-t", "species", "-o", again)
    done = run("query", first, again, "-t", "species", "-n", "100", "--json")
    said = json.loads(done.out)["rows"]
    assert len(said) == 100
    assert set(asked["row"].to_list()).isdisjoint(row["row"] for row in said)


def test_unanswered_rows_stay_and_formats_may_differ(tmp_path):
    pool, ask, out = tmp_path / "pool.parquet", tmp_path / "ask.csv", tmp_path / "new.feather"
    TRUTH.with_columns(species=pl.lit(None, dtype=pl.String)).write_parquet(pool)
    run("query", pool, "-t", "species", "--id", "name", "-n", "6", "-o", ask)
    rows = fill_in(ask, wanted=2)
    run("merge", pool, ask, "-t", "species", "-o", out)
    known = pl.read_ipc(out)["species"].is_not_null().to_numpy()
    assert np.flatnonzero(known).tolist() == sorted(rows[:2])
    printed = run("merge", pool, ask, "-t", "species", "-q").stdout
    assert pl.read_csv(io.BytesIO(printed))["species"].is_not_null().sum() == 2


def test_numbers_stay_numbers(tmp_path, table):
    pool = table("a,y\n1,0\n2,1\n3,\n4,\n", "pool.csv")
    ask = table("row,a,y\n2,3,1\n3,4,\n", "ask.csv")
    merged = tmp_path / "new.csv"
    run("merge", pool, ask, "-t", "y", "-o", merged)
    assert merged.read_text() == "a,y\n1,0\n2,1\n3,1\n4,\n"


POOL = "a,b,y\n1.5,x,p\n2.5,y,\n3.5,z,\n"
WRONG = {
    "another file": ("row,a,b,y\n1,9.5,y,q\n", ["must come from this file", "row 1", "9.5"]),
    "no row numbers": ("a,b,y\n2.5,y,q\n", ["the row numbers", "no 'row'"]),
    "no target": ("row,a,b\n1,2.5,y\n", ["no 'y'"]),
    "a row that is not there": ("row,a,b,y\n7,2.5,y,q\n", ["from 0 to 2", "got 7"]),
    "a row before the first": ("row,a,b,y\n-1,2.5,y,q\n", ["from 0 to 2", "got -1"]),
    "no number": ("row,a,b,y\none,2.5,y,q\n", ["'row' must hold row numbers"]),
    "two answers": ("row,a,b,y\n1,2.5,y,q\n1,2.5,y,p\n", ["each row once", "'q' and 'p'"]),
    "another label": ("row,a,b,y\n0,1.5,x,q\n", ["'p' already", "--overwrite"]),
    "another kind": ("row,a,b,y\n1,2.5,y,7\n", ["text or numbers, not both"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_answers_that_do_not_fit_are_refused(name, table, tmp_path):
    text, words = WRONG[name]
    output = tmp_path / "new.csv"
    error = refused("merge", table(POOL), table(text, "ask.csv"), "-t", "y", "-o", output)
    for word in words:
        assert word in error, error
    assert not output.exists()


def test_a_label_is_corrected_only_on_demand(table, tmp_path):
    ask, output = table("row,a,b,y\n0,1.5,x,q\n", "ask.csv"), tmp_path / "new.csv"
    run("merge", table(POOL), ask, "-t", "y", "-o", output, "--overwrite")
    assert pl.read_csv(output)["y"].to_list() == ["q", None, None]


def test_a_file_with_a_column_called_row(table, tmp_path):
    pool = table("row,a,y\n5,1,p\n6,2,q\n7,3,\n8,4,\n")
    ask = tmp_path / "ask.csv"
    run("query", pool, "-t", "y", "-k", "1", "-n", "2", "-o", ask)
    asked = pl.read_csv(ask, schema_overrides={"y": pl.String})
    assert asked.columns == ["row_number", "row", "a", "y"]
    asked.with_columns(y=pl.lit("p")).write_csv(ask)
    done = run("merge", pool, ask, "-t", "y", "-q")
    assert pl.read_csv(io.BytesIO(done.stdout))["y"].to_list() == ["p", "q", "p", "p"]


def test_questions_cannot_go_where_nothing_can_be_empty(table, tmp_path):
    part = table(POOL)
    error = refused("query", part, "-t", "y", "--drop", "b", "-o", tmp_path / "ask.npz")
    assert "the target is empty" in error


def test_names_of_a_pandas_index_are_kept(tmp_path):
    """Whichever library reads the file."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "y": ["p", "q", None, None]})
    frame.index = ["cell-a", "cell-b", "cell-c", "cell-d"]
    frame.to_parquet(tmp_path / "cells.parquet")
    (tmp_path / "polars.py").write_text("raise ImportError")
    for extra in ({}, {"PYTHONPATH": str(tmp_path)}):
        done = run(
            "query", tmp_path / "cells.parquet", "-t", "y", "--id", "__index_level_0__",
            "-k", "1", "-n", "2", "--json", **extra,
        )  # fmt: skip
        assert sorted(row["name"] for row in json.loads(done.out)["rows"]) == ["cell-c", "cell-d"]


def test_rows_left_out_and_files_without_names_keep_their_numbers(table, tmp_path):
    """Row numbers are those of the file, whatever was dropped before asking."""
    lines = [f"{i},{i * i % 7},{'pq'[i % 2] if i < 8 else ''}" for i in range(16)]
    lines[2], lines[9], lines[12] = "2,,p", "9,,", "12,,"
    pool, ask = table("\n".join(lines) + "\n"), tmp_path / "ask.csv"
    options = ["--no-header", "-t", "column_3"]
    run("query", pool, *options, "-k", "3", "-n", "9", "--drop-missing", "-o", ask)
    asked = pl.read_csv(ask, schema_overrides={"column_3": pl.String})
    assert sorted(asked["row"].to_list()) == [8, 10, 11, 13, 14, 15]
    answers = pl.Series([f"r{row}" for row in asked["row"].to_list()])
    asked.with_columns(column_3=answers).write_csv(ask)
    done = run("merge", pool, ask, *options, "-q")
    merged = pl.read_csv(io.BytesIO(done.stdout))["column_3"].to_list()
    assert merged[:8] == list("pqpqpqpq")
    assert merged[8:] == ["r8", None, "r10", "r11", None, "r13", "r14", "r15"]


def test_labels_of_both_files_vote(tmp_path):
    """The same rows in one file or in two: the same committee."""
    frame = TRUTH.drop("name").sample(fraction=1.0, shuffle=True, seed=1)
    first, second = frame[:20], frame[20:].with_columns(
        species=pl.when(pl.int_range(pl.len()) % 4 == 0).then("species")
    )  # fmt: skip
    first.write_csv(tmp_path / "first.csv")
    second.write_csv(tmp_path / "second.csv")
    pl.concat([first, second]).write_csv(tmp_path / "both.csv")
    options = ["-t", "species", "-n", "200", "--json"]
    two = run("query", tmp_path / "first.csv", tmp_path / "second.csv", *options)
    one = run("query", tmp_path / "both.csv", *options)
    apart = {row["row"]: row["shares"] for row in json.loads(two.out)["rows"]}
    together = {row["row"] - 20: row["shares"] for row in json.loads(one.out)["rows"]}
    assert len(apart) == len(second) - second["species"].count()
    assert apart.keys() == together.keys()
    for row, shares in apart.items():
        assert shares == pytest.approx(together[row], abs=1e-12)
