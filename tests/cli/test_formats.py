"""Every format, read by the real command, gives what the library gives on the same numbers."""

import gzip
import json
import time
from decimal import Decimal

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from allsplits import evaluate
from allsplits.cli._prepare import Choices, prepare
from allsplits.cli._read import _check_header, format_of, read_table
from allsplits.exceptions import InvalidInputError
from cli.command import iris_frame, run, write


@pytest.fixture(scope="module")
def expected():
    return evaluate(KNeighborsClassifier(3), *load_iris(return_X_y=True))


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "feather", "npz", "npy"])
def test_every_format_gives_the_same_score(ending, tmp_path, expected):
    path = write(iris_frame(), tmp_path / f"iris.{ending}")
    target = ["--target", "species"]
    if ending == "npy":  # numbers alone: the labels are in a file of their own
        labels = tmp_path / "labels.csv"
        iris_frame().select("species").write_csv(labels)
        target = ["--labels", str(labels)]
    done = run("evaluate", path, *target, "--k", "3", "--json")
    found = json.loads(done.out)
    assert found["score"] == pytest.approx(expected.score, abs=1e-12)
    assert found["data"]["rows"] == 150
    assert found["data"]["n_features"] == 4
    assert done.err == ""


def test_standard_input_and_pandas_alone(tmp_path, expected):
    """A file through a pipe, on a machine without polars."""
    path = write(iris_frame(), tmp_path / "iris.csv")
    (tmp_path / "polars.py").write_text("raise ImportError('no polars here')")
    done = run(
        "evaluate", "-", "-t", "species", "-k", "3", "--json",
        stdin=path.read_bytes(), PYTHONPATH=str(tmp_path),
    )  # fmt: skip
    assert json.loads(done.out)["score"] == pytest.approx(expected.score, abs=1e-12)


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather", "npz", "npy"])
def test_the_format_of_standard_input_is_told_by_its_first_bytes(ending, tmp_path):
    content = write(iris_frame(), tmp_path / f"iris.{ending}").read_bytes()
    assert format_of("-", content) == ending


def test_pandas_without_pyarrow_says_what_parquet_needs(tmp_path, iris):
    for library in ("polars", "pyarrow"):
        (tmp_path / f"{library}.py").write_text("raise ImportError")
    path = write(iris_frame(), tmp_path / "iris.parquet")
    done = run("evaluate", path, "-t", "species", code=2, PYTHONPATH=str(tmp_path))
    assert "cannot read" in done.err


def test_without_polars_and_pandas_the_error_says_what_to_install(tmp_path, iris):
    for library in ("polars", "pandas"):
        (tmp_path / f"{library}.py").write_text("raise ImportError")
    done = run("evaluate", iris, "-t", "species", code=2, PYTHONPATH=str(tmp_path))
    assert "pip install 'allsplits[cli]'" in done.err


def test_without_typer_the_error_says_what_to_install(tmp_path):
    (tmp_path / "typer.py").write_text("raise ImportError")
    done = run("--help", code=2, PYTHONPATH=str(tmp_path))
    assert "pip install 'allsplits[cli]'" in done.err


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_of_a_csv_file_is_found(separator, table):
    path = table(separator.join("abc") + "\n" + separator.join("123") + "\n")
    assert read_table(str(path)).columns == ["a", "b", "c"]


def test_byte_order_marks_gzip_and_quotes_are_read(table):
    text = b'\xef\xbb\xbfa,"b, c"\n1,2.5\n3,4\n'
    for path in (table(text), table(gzip.compress(text), "table.csv.gz")):
        frame = read_table(str(path))
        assert frame.columns == ["a", "b, c"]
        assert frame["b, c"].to_list() == [2.5, 4.0]


def test_columns_without_a_header_are_numbered(table):
    assert read_table(str(table("1,2\n3,4\n")), header=False).columns == ["column_1", "column_2"]


def test_thousands_of_columns_take_no_time(tmp_path):
    """Each column is looked up once; it took minutes when all were listed for each."""
    rng = np.random.default_rng(0)
    frame = nw.from_dict(
        {f"c{i}": column for i, column in enumerate(rng.normal(size=(8000, 60)))}, backend="polars"
    )
    start = time.process_time()
    data = prepare(frame, "c0", Choices(drop=("c1",)))
    assert time.process_time() - start < 10
    assert data.X.shape == (60, 7998)


def test_one_name_twice_among_many_is_found_at_once():
    names = [f"c{i}" for i in range(100_000)] + ["c7"]
    start = time.process_time()
    with pytest.raises(InvalidInputError, match="got 'c7' more than once"):
        _check_header(names)
    assert time.process_time() - start < 5


def test_numbers_after_many_whole_numbers_are_still_numbers(table):
    path = table("a,b\n" + "1,2\n" * 5000 + "1.5,2\n")
    assert read_table(str(path))["a"].dtype.is_float()


def test_images_in_an_npz_file_become_columns(tmp_path):
    path = tmp_path / "images.npz"
    np.savez(path, X=np.arange(24).reshape(2, 3, 4), y=np.array([0, 1]))
    frame = read_table(str(path))
    assert frame.columns == [*(f"X_{i}" for i in range(1, 13)), "y"]
    assert frame["X_12"].to_list() == [11, 23]


def test_wide_and_narrow_floats_and_foreign_bytes_are_read(tmp_path):
    path = tmp_path / "floats.npz"
    values = np.array([0.5, 1.5, 2.5])
    np.savez(
        path, half=values.astype(np.float16), long=values.astype(np.longdouble),
        swapped=values.astype(values.dtype.newbyteorder()),
    )  # fmt: skip
    frame = read_table(str(path))
    for name in frame.columns:
        assert frame[name].to_list() == [0.5, 1.5, 2.5]


def test_decimals_are_numbers_with_fractions(tmp_path):
    """Not whole numbers, cut short."""
    prices = [Decimal("1.25"), Decimal("1.75"), Decimal("3.50")] * 10
    frame = pl.DataFrame({"a": list(range(30)), "y": prices})
    frame.write_parquet(tmp_path / "prices.parquet")
    found = json.loads(run("evaluate", tmp_path / "prices.parquet", "-t", "y", "--json").out)
    assert found["data"]["task"] == "regression"


def test_whole_numbers_beyond_64_bits_are_classes_and_features(table):
    big, bigger = 2**70, 2**70 + 1
    rows = [f"{i},{2**69 * i},{(big, bigger)[i % 2]}\n" for i in range(12)]
    path = table("a,b,y\n" + "".join(rows))
    found = json.loads(run("evaluate", path, "-t", "y", "-k", "1", "--json").out)
    assert found["classes"] == [str(big), str(bigger)]


def test_python_objects_in_an_npz_file_are_never_loaded(tmp_path):
    path = tmp_path / "objects.npz"
    np.savez(path, X=np.array([{}, {}], dtype=object))
    with pytest.raises(InvalidInputError, match=r"cannot read .* as NPZ"):
        read_table(str(path))


def test_a_format_can_be_named(table):
    path = table("a\tb\n1\t2\n", "table.dat")
    assert read_table(str(path), "tsv").columns == ["a", "b"]
    with pytest.raises(InvalidInputError, match="--format"):
        read_table(str(path))


def test_pandas_and_polars_read_the_same(table, monkeypatch):
    text = 'name,x,n,flag\nr1,1.5,2,true\nr2,NA,3,false\n"r,3",?,4,true\n'
    path = table(text)
    with_polars = read_table(str(path))
    monkeypatch.setattr("allsplits.cli._read.frame_library", lambda: "pandas")
    with_pandas = read_table(str(path))
    assert with_polars.columns == with_pandas.columns
    for column in with_polars.columns:
        nulls = [frame[column].is_null().to_list() for frame in (with_polars, with_pandas)]
        assert nulls[0] == nulls[1]
        kinds = [frame[column].dtype.is_numeric() for frame in (with_polars, with_pandas)]
        assert kinds[0] == kinds[1]
