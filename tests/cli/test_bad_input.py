"""Every kind of bad input: exit code 2, a reason that helps, never a traceback."""

import gzip
import subprocess

import numpy as np
import pytest

from cli.command import COMMAND, TRACEBACK, environment, refused, run

GOOD = "a,b,y\n" + "".join(f"{i},{i * i % 7},{'pq'[i % 2]}\n" for i in range(12))
TEXT = "a,kind,y\n" + "".join(f"{i},{'rgb'[i % 3]},{i % 2}\n" for i in range(12))
NAMES = "a,id,y\n" + "".join(f"{i},row{i},{i % 2}\n" for i in range(12))
MISSING = "a,b,y\n1,2,p\n3,,q\n4,NA,p\n5,6,\n"

#: contents of the file, arguments, what the error must say
CASES = {
    "no target": (GOOD, [], ["--target", "a, b, y"]),
    "unknown target": (GOOD, ["-t", "z"], ["no 'z'", "columns are a, b, y"]),
    "nearly the target": ("length,species\n1,p\n", ["-t", "speces"], ["did you mean 'species'"]),
    "target at the end": ("".join(f"c{i:02}," for i in range(30)) + "kind\n" + "1," * 30 + "p\n",
                          ["-t", "z"], ["c00, c01", "…", "c29, kind (31 in all)"]),
    "no header": ("5.1,3.5,0\n4.9,3.0,1\n", ["-t", "y"], ["--no-header"]),
    "text column": (TEXT, ["-t", "y"], ["kind: 'r', 'g', 'b' (3 different)", "--one-hot"]),
    "decimal comma": ("a;y\n1,5;p\n2,5;q\n", ["-t", "y"], ["decimal point"]),
    "thousands": ('a,y\n"1,000",p\n"2,500",q\n', ["-t", "y"], ["without commas"]),
    "empty column": ("a,b,y\n1,,p\n2,,q\n", ["-t", "y"], ["b:", "no value at all: --drop"]),
    "column of names": (NAMES, ["-t", "y"], ["id: 'row0'", "--drop 'id'"]),
    "one-hot of names": (NAMES, ["-t", "y", "--one-hot", "id"], ["12 columns for 12 rows"]),
    "missing values": (MISSING, ["-t", "y"], ["b: 2 rows, first row 1", "y (the target): 1 row",
                                              "--drop-missing", "--drop 'b'"]),
    "all rows missing": ("a,y\n,p\n1,\n", ["-t", "y", "--drop-missing"], ["leaves no row"]),
    "infinity": ("a,y\n1,p\ninf,q\n", ["-t", "y"], ["'a' must be finite", "row 1"]),
    "drop unknown": (GOOD, ["-t", "y", "--drop", "a,zzz"], ["--drop", "'zzz'"]),
    "drop the target": (GOOD, ["-t", "y", "--drop", "y"], ["'y' is the target"]),
    "drop everything": (GOOD, ["-t", "y", "--drop", "a,b"], ["at least one column"]),
    "duplicate names": ("a,a,y\n1,2,p\n", ["-t", "y"], ["each column once", "'a'"]),
    "empty": ("", ["-t", "y"], ["is empty"]),
    "header only": ("a,b,y\n", ["-t", "y"], ["no rows"]),
    "ragged": ("a,b,y\n1,2,p\n3,4,q,5,6\n", ["-t", "y"], ["cannot read", "as CSV"]),
    "not utf-8": (b"a,b,y\n1,2,caf\xe9\n", ["-t", "y"], ["cannot read", "as CSV"]),
    "bad k": (GOOD, ["-t", "y", "-k", "5-1"], ["--k must be numbers", "'5-1'"]),
    "k of zero": (GOOD, ["-t", "y", "-k", "0"], ["--k must be numbers"]),
    "bad cv": (GOOD, ["-t", "y", "--cv", "folds:5"], ["--cv must be one of stratified:FOLDS"]),
    "one fold": (GOOD, ["-t", "y", "--cv", "kfold:1"], ["folds from 2", "'kfold:1'"]),
    "one stratified fold": (GOOD, ["-t", "y", "--cv", "stratified:1"], ["folds from 2"]),
    "one fold without a name": (GOOD, ["-t", "y", "--cv", "1"], ["folds from 2"]),
    "folds of 5,000 digits": (GOOD, ["-t", "y", "--cv", "kfold:" + "9" * 5000],
                              ["--cv must be one of", "(5,006 characters)"]),
    "k of 5,000 digits": (GOOD, ["-t", "y", "-k", "9" * 5000], ["--k must be numbers"]),
    "a number of 5,000 digits": (f"a,y\n1,p\n{'9' * 5000},q\n", ["-t", "y"], ["cannot read"]),
    "a fraction of 5,000 digits": (f"a,y\n1.5,p\n{'9' * 5000},q\n", ["-t", "y"],
                                   ["'a' must be finite"]),
    "a target of infinity": ("a,y\n1,0\n2,inf\n3,1\n", ["-t", "y"],
                             ["'y' must be between", "got inf in row 1"]),
    "targets of 1e300": ("a,y\n1,1e300\n2,-1e300\n3,1\n4,1\n5,2\n6,1\n", ["-t", "y"],
                         ["'y' must be between -1e+150 and 1e+150; got 1e+300 in row 0"]),
    "classes of 1e300": ("a,y\n1,1e300\n2,0\n", ["-t", "y", "--task", "classification"],
                         ["such as 1e+300", "--task regression"]),
    "haversine": ("a,b,c,y\n1,2,3,p\n2,3,5,q\n4,1,1,p\n2,2,1,q\n",
                  ["-t", "y", "--metric", "haversine"], ["latitude and longitude"]),
    "mahalanobis": ("a,b,y\n1,2,p\n2,4,q\n3,6,p\n4,8,q\n",
                    ["-t", "y", "--metric", "mahalanobis"], ["--metric mahalanobis needs"]),
    "mahalanobis, one constant": ("a,y\n1,p\n1,q\n1,p\n1,q\n",
                                  ["-t", "y", "--metric", "mahalanobis"], ["needs features"]),
    "a report on standard output": (GOOD, ["-t", "y", "--report", "-"], ["--report must name"]),
    "names that are the target": (GOOD, ["-t", "y", "--id", "y"], ["--id must not be"]),
    "cv without a number": (GOOD, ["-t", "y", "--cv", "lpo"], ["--cv must be one of"]),
    "cv with a wrong number": (GOOD, ["-t", "y", "--cv", "holdout:2"], ["--cv must be one of"]),
    "groups of no column": (GOOD, ["-t", "y", "--cv", "groups:site"], ["no 'site'"]),
    "strata of no column": (GOOD, ["-t", "y", "--strata", "site"], ["--strata", "no 'site'"]),
    "strata of classes": (GOOD, ["-t", "y", "--strata", "a"], ["strata must be None"]),
    "strata that are the target": (GOOD, ["-t", "y", "--strata", "y"], ["--strata must not be"]),
    "bad weights": (GOOD, ["-t", "y", "--weights", "none"], ["uniform"]),
    "bad task": (GOOD, ["-t", "y", "--task", "guess"], ["regression"]),
    "regression on text": (GOOD, ["-t", "y", "--task", "regression"], ["needs a target"]),
    "classes with fractions": ("a,y\n1,0.5\n2,1.5\n", ["-t", "y", "--task", "classification"],
                               ["--task regression"]),
    "unknown option": (GOOD, ["-t", "y", "--nonsense"], ["--nonsense"]),
    "report nowhere": (GOOD, ["-t", "y", "--report", "/no/such/folder/r.html"],
                       ["--report must be in a folder that exists"]),
    "bad image": (GOOD, ["-t", "y", "--report", "r.html", "--image", "8"], ["--image must be"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_bad_tables_and_options(name, table):
    text, arguments, words = CASES[name]
    error = refused("evaluate", table(text), *arguments)
    for word in words:
        assert word in error, error


def test_what_the_library_refuses(table):
    error = refused("evaluate", table("a,y\n1,p\n2,p\n3,p\n"), "-t", "y")
    assert "at least 2 classes" in error


def test_files_that_are_not_there_or_not_files(tmp_path):
    assert "there is no file" in refused("evaluate", tmp_path / "none.csv", "-t", "y")
    (tmp_path / "old.csv").write_text("")
    none, old = tmp_path / "none.csv", tmp_path / "old.csv"
    assert "there is no file" in refused("condense", none, "-t", "y", "-o", old)
    (tmp_path / "folder.csv").mkdir()
    assert "cannot read" in refused("evaluate", tmp_path / "folder.csv", "-t", "y")


@pytest.mark.parametrize("ending", ["parquet", "feather", "npz", "npy", "csv.gz"])
def test_damaged_files(ending, table):
    content = gzip.compress(GOOD.encode())[:-20] if ending == "csv.gz" else b"no such thing"
    error = refused("evaluate", table(content, f"bad.{ending}"), "-t", "y")
    assert "cannot read" in error


def test_arrays_of_different_lengths(tmp_path):
    np.savez(tmp_path / "bad.npz", X=np.zeros((3, 2)), y=np.zeros(4))
    error = refused("evaluate", tmp_path / "bad.npz", "-t", "y")
    assert "one entry for each row" in error


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.zeros((3, 2), dtype=complex), "got complex128"),
        (np.zeros(3, dtype=[("a", float), ("b", int)]), "real numbers"),
    ],
)
def test_arrays_that_are_not_numbers(array, words, tmp_path):
    np.savez(tmp_path / "bad.npz", X=array, y=np.arange(3))
    error = refused("evaluate", tmp_path / "bad.npz", "-t", "y")
    assert "array 'X' must hold" in error
    assert words in error


def test_arrays_whose_columns_have_one_name(tmp_path):
    np.savez(tmp_path / "bad.npz", X=np.zeros((3, 2)), X_1=np.ones(3), y=np.arange(3))
    assert "two arrays make a column 'X_1'" in refused("evaluate", tmp_path / "bad.npz", "-t", "y")


def test_a_seed_beyond_32_bits(table):
    part = table(GOOD.replace("q", ""))
    assert "4294967295" in refused("query", part, "-t", "y", "--seed", "4294967296")


def test_an_error_nobody_foresaw_is_one_line(table, tmp_path):
    """The traceback is for those who ask for it."""
    (tmp_path / "rich.py").write_text("raise ZeroDivisionError('on purpose')")
    arguments = ("evaluate", table(GOOD), "-t", "y")
    done = run(*arguments, code=1, PYTHONPATH=str(tmp_path))
    assert len(done.err.splitlines()) == 1
    assert "ZeroDivisionError: on purpose" in done.err
    assert "ALLSPLITS_TRACEBACK=1" in done.err
    asked = subprocess.run(
        [COMMAND, *map(str, arguments)], capture_output=True, text=True,
        env=environment(PYTHONPATH=str(tmp_path), ALLSPLITS_TRACEBACK="1"),
    )  # fmt: skip
    assert TRACEBACK in asked.stderr


def test_unknown_endings_name_the_known_ones(table):
    error = refused("evaluate", table(GOOD, "data.xlsx"), "-t", "y")
    assert ".parquet" in error
    assert "--format" in error


def test_empty_standard_input():
    assert "standard input is empty" in refused("evaluate", "-", "-t", "y")


def test_labels_must_fit(table):
    points, labels = table(GOOD), table("y\np\nq\n", "labels.csv")
    assert "2 rows for 12" in refused("evaluate", points, "--labels", labels, "-t", "y")


def test_other_commands_refuse_too(table):
    good = table(GOOD)
    assert "--sizes must be" in refused("curve", good, "-t", "y", "--sizes", "few")
    assert "--other-k" in refused("compare", good, "-t", "y")
    assert "every row has a y" in refused("query", good, "-t", "y")
    assert "it lacks b" in refused("query", good, table("a\n1\n2\n", "rest.csv"), "-t", "y")
    assert "must end in one of" in refused("condense", good, "-t", "y", "-o", "rows.xyz")
    short = table("a,b\n1,2\n", "short.csv")
    error = refused("compare", good, "-t", "y", "--other-features", short)
    assert "1 rows for 12" in error
    other = table(GOOD, "other.csv")
    error = refused("compare", good, other, short, "-t", "y")
    assert "short.csv must have the rows of" in error
    assert "1 rows for 12" in error
    assert "for two models; got 3 files" in refused(
        "compare", good, other, short, "-t", "y", "--other-k", "2"
    )
    assert "named once" in refused("compare", good, other, other, "-t", "y")
    assert "standard input" in refused("compare", good, "-", "-t", "y")


def test_files_of_shuffled_rows_are_not_compared(table):
    good = table(GOOD)
    first, *lines = GOOD.strip().splitlines()
    turned = table("\n".join([first, *reversed(lines)]), "turned.csv")
    error = refused("compare", good, turned, "-t", "y")
    assert "in order" in error
    assert "another y in row" in error


def test_no_command_shows_the_help_and_a_wrong_one_is_named():
    assert "nonsense" in refused("nonsense")
