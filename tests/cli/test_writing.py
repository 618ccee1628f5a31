"""Files are written in one step, and Ctrl-C ends the command cleanly."""

import os
import signal
import subprocess
from pathlib import Path

import narwhals as nw
import polars as pl
import pytest

from allsplits.cli._write import write_table
from cli.command import COMMAND, TRACEBACK, environment, refused, run

#: Loaded by Python at its start: the moment before the new file takes its place goes wrong.
SABOTAGE = """
import os, pathlib
def replace(self, target):
    {deed}
pathlib.Path.replace = replace
"""


def sabotaged(tmp_path, deed):
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(SABOTAGE.format(deed=deed))
    return {"PYTHONPATH": str(folder)}


@pytest.mark.parametrize(
    ("deed", "code"),
    [
        ("raise KeyboardInterrupt", 130),
        ("os._exit(9)", 9),
    ],
)
def test_an_interrupted_write_leaves_the_old_file(deed, code, iris, tmp_path):
    output = tmp_path / "small.csv"
    output.write_text("old")
    extra = sabotaged(tmp_path, deed)
    run("condense", iris, "-t", "species", "-o", output, code=code, **extra)
    assert output.read_text() == "old"
    if code != 9:  # a process that is killed cannot clean up
        assert sorted(path.name for path in tmp_path.iterdir()) == ["site", "small.csv"]


def test_places_that_cannot_be_written_are_refused_before_any_work(iris, tmp_path):
    (tmp_path / "file").write_text("")
    inside = tmp_path / "file" / "small.csv"
    assert "folder that exists" in refused("condense", iris, "-t", "species", "-o", inside)
    assert "is a folder" in refused("condense", iris, "-t", "species", "-o", tmp_path)
    copy = tmp_path / "iris.csv"
    copy.write_bytes(iris.read_bytes())
    assert "file that is read" in refused("condense", copy, "-t", "species", "-o", copy)
    assert copy.read_bytes() == iris.read_bytes()
    assert "cannot write to folder" in refused("demo", inside)


def test_a_read_only_folder(iris, tmp_path):
    if os.geteuid() == 0:
        # root may write anywhere but where the kernel says no
        place = "/proc/small.csv"
        if not Path("/proc/self").is_dir():
            pytest.skip("root may write to every folder, and there is no /proc")
        error = refused("condense", iris, "-t", "species", "-o", place)
    else:
        tmp_path.chmod(0o500)
        error = refused("condense", iris, "-t", "species", "-o", tmp_path / "small.csv")
    assert "folder that can be written to" in error


def test_a_full_device(iris):
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    before = Path("/dev/full").stat()
    error = run("condense", iris, "-t", "species", "-o", "/dev/full", code=2).err
    assert "No space left" in error
    assert Path("/dev/full").stat().st_ino == before.st_ino  # the device itself is not replaced


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather", "npz"])
def test_a_disk_that_fills_up(ending, iris, tmp_path):
    """No file may grow: a full disk, as far as Python can tell."""
    output = tmp_path / f"small.{ending}"
    done = subprocess.run(
        [COMMAND, "condense", str(iris), "-t", "species", "-o", str(output)], capture_output=True,
        text=True, env=environment(PYTHONPATH=str(limited(tmp_path))),
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: --output must be a file that can be wri")
    assert TRACEBACK not in done.stderr
    assert not output.exists()


def limited(tmp_path):
    """Loaded by Python at its start: files cannot grow once rows are about to be written."""
    (tmp_path / "sitecustomize.py").write_text(
        "import resource, tempfile\n"
        "make = tempfile.mkstemp\n"
        "def mkstemp(*args, **options):\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        "    return make(*args, **options)\n"
        "tempfile.mkstemp = mkstemp\n"
    )
    return tmp_path


def test_no_spreadsheet_runs_what_is_written(tmp_path):
    """Text that looks like a formula gets a quote, numbers and everything else stay."""
    texts = ["=1+1", "@now", "+cmd", "-2+3", "\tx", "'=x", "-", "+", "-5", "+1.5e3", "a=b", "é"]
    written = ["'=1+1", "'@now", "'+cmd", "'-2+3", "'\tx", "'=x", "-", "+", "-5", "+1.5e3", "a=b",
               "é"]  # fmt: skip
    frame = pl.DataFrame({"=bad": texts, "n": [-1.5] * len(texts), "y": ["p"] * len(texts)})
    for name in ("out.csv", "out.tsv"):
        write_table("--output", str(tmp_path / name), nw.from_native(frame, eager_only=True))
        separator = "," if name.endswith("csv") else "\t"
        found = pl.read_csv(tmp_path / name, separator=separator, infer_schema=False)
        assert found.columns == ["'=bad", "n", "y"]
        assert found["'=bad"].to_list() == written
        assert set(found["n"].to_list()) == {"-1.5"}
    write_table("--output", str(tmp_path / "out.parquet"), nw.from_native(frame, eager_only=True))
    assert pl.read_parquet(tmp_path / "out.parquet").equals(frame)


@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_ctrl_c_while_reading():
    process = subprocess.Popen(
        [COMMAND, "evaluate", "-", "-t", "y"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=environment(),
    )  # fmt: skip
    # more than a pipe holds: when this returns, the command is reading
    process.stdin.write(b"a,y\n" + b"1,2\n" * 60_000)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    output, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert output == b""
    assert error.decode().strip() == "interrupted"


def test_a_closed_pipe_is_no_traceback(iris):
    process = subprocess.Popen(
        ["sh", "-c", '"$0" condense "$1" -t species -q | true', COMMAND, str(iris)],
        stderr=subprocess.PIPE, env=environment(),
    )  # fmt: skip
    _, error = process.communicate(timeout=120)
    assert error == b""
