"""Files are written in one step, and Ctrl-C ends the command cleanly."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

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
        f"'{COMMAND}' condense '{iris}' -t species -q | true", shell=True, stderr=subprocess.PIPE,
        env=environment(),
    )  # fmt: skip
    _, error = process.communicate(timeout=120)
    assert TRACEBACK not in error.decode()
