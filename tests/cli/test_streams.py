"""Standard streams: any encoding, full, closed; and nothing that a terminal obeys."""

import errno
import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from allsplits.cli._streams import printable
from cli.command import COMMAND, TRACEBACK, environment, iris_frame, run

#: Moves the cursor, clears the screen, rings, is a C1 control, turns the direction of text.
NASTY = "\x1b[2J\x07\x9b31m\u202e"


@pytest.fixture
def nasty(tmp_path):
    """Labels, names of rows, a column and a file that want to control the terminal."""
    frame = iris_frame().with_columns(
        (pl.col("species") + NASTY + ":smile:[bold]").alias(f"kind{NASTY}"),
        name=pl.lit("row" + NASTY),
    )
    path = tmp_path / f"iris{NASTY}.csv"
    frame.drop("species").write_csv(path)
    return path


def on_a_terminal(*arguments, **extra):
    """What the command sends to a terminal, results and notes together."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [COMMAND, *map(str, arguments)], stdin=theirs, stdout=theirs, stderr=theirs,
        env=environment(TERM="xterm", COLUMNS="100", **extra),
    )  # fmt: skip
    os.close(theirs)
    received = b""
    try:
        while part := os.read(ours, 65536):
            received += part
    except OSError as error:  # Linux: the other side is closed
        if error.errno != errno.EIO:
            raise
    finally:
        os.close(ours)
    assert process.wait(timeout=300) == 0, received
    return received.decode()


COMMANDS = [
    ("evaluate", "-k", "1-3", "--id", "name", "--hardest", "3"),
    ("curve", "--drop", "name", "--sizes", "10,20"),
    ("compare", "--drop", "name", "--other-k", "3"),
    ("condense", "--drop", "name"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=[command[0] for command in COMMANDS])
def test_nothing_in_the_data_controls_the_terminal(command, nasty):
    name, *options = command
    shown = on_a_terminal(name, nasty, "-t", f"kind{NASTY}", *options)
    for piece in ("\x1b[2J", "\x07", "\x9b", "\u202e"):
        assert piece not in shown
    assert "\\x1b[2J" in shown


def test_labels_are_shown_as_they_are(tmp_path):
    """Neither an emoji nor a tag, on a terminal and elsewhere."""
    frame = iris_frame().with_columns(species=":smile:[bold]" + pl.col("species"))
    frame.write_csv(tmp_path / "[red]iris.csv")
    arguments = ("evaluate", tmp_path / "[red]iris.csv", "-t", "species", "-k", "3")
    for shown in (run(*arguments).out, on_a_terminal(*arguments)):
        assert ":smile:[bold]virginica" in shown
        assert "[red]iris.csv" in shown


def test_json_has_no_control_character_and_all_the_data(nasty):
    done = run("evaluate", nasty, "-t", f"kind{NASTY}", "-k", "3", "--id", "name", "--json")
    assert "\x1b" not in done.out
    assert NASTY in json.loads(done.out)["hardest"][0]["target"]


def test_errors_do_not_control_the_terminal_either(nasty):
    for arguments in ((nasty, "-t", "none"), (nasty, "-t", f"kind{NASTY}"), (NASTY, "-t", "y")):
        done = run("evaluate", *arguments, code=2)
        assert "\\x1b[2J" in done.err
        assert "\x1b" not in done.err


def test_a_table_in_a_pipe_keeps_the_data(nasty):
    """A file is not a terminal: what is written is what was read."""
    done = run("condense", nasty, "-t", f"kind{NASTY}", "--drop", "name", "-q")
    assert pl.read_csv(io.BytesIO(done.stdout))[f"kind{NASTY}"][0].endswith(NASTY + ":smile:[bold]")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_other_encodings_get_a_likeness(encoding, tmp_path):
    frame = iris_frame().with_columns(species=pl.col("species") + "é中")
    frame.write_csv(tmp_path / "iris.csv")
    arguments = ("evaluate", tmp_path / "iris.csv", "-t", "species", "-k", "1-3")
    done = subprocess.run(
        [COMMAND, *map(str, arguments)], capture_output=True,
        env=environment(PYTHONUTF8="0", PYTHONIOENCODING=encoding),
    )  # fmt: skip
    text = done.stdout.decode(encoding)
    assert done.returncode == 0, done.stderr
    assert "Rounding: ± " in text if encoding != "ascii" else "Rounding: +/- " in text
    assert ("virginicaé\\u4e2d" if encoding != "ascii" else "virginica\\xe9\\u4e2d") in text
    assert "==== best" in text
    assert subprocess.run(
        [COMMAND, "evaluate", "--help"], capture_output=True,
        env=environment(PYTHONUTF8="0", PYTHONIOENCODING=encoding),
    ).returncode == 0  # fmt: skip


def test_a_printed_table_is_utf_8_whatever_the_terminal(tmp_path):
    frame = iris_frame().with_columns(species=pl.col("species") + "é中")
    frame.write_csv(tmp_path / "iris.csv")
    done = subprocess.run(
        [COMMAND, "condense", str(tmp_path / "iris.csv"), "-t", "species"], capture_output=True,
        env=environment(PYTHONUTF8="0", PYTHONIOENCODING="ascii"),
    )  # fmt: skip
    assert "setosaé中" in pl.read_csv(io.BytesIO(done.stdout))["species"].to_list()


@pytest.mark.parametrize("command", ["evaluate", "condense"])
def test_standard_output_that_is_full(command, iris):
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [COMMAND, command, str(iris), "-t", "species"], stdout=full, stderr=subprocess.PIPE,
            text=True, env=environment(),
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        "error: cannot write to standard output: No space left on device"
    )
    assert TRACEBACK not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize(
    ("closed", "arguments", "code", "words"),
    [
        (">&-", "evaluate '{iris}' -t species -k 3", 2, "cannot write to standard output"),
        (">&-", "condense '{iris}' -t species -q -o '{output}'", 0, ""),
        ("<&-", "evaluate - -t species", 2, "cannot read standard input: it is closed"),
        ("<&- 2>&-", "evaluate '{iris}' -t species -k 3", 0, ""),
        ("2>&-", "evaluate none.csv -t species", 2, ""),
    ],
)
def test_closed_streams(closed, arguments, code, words, iris, tmp_path):
    output = tmp_path / "small.csv"
    line = arguments.format(iris=iris, output=output)
    done = subprocess.run(
        ["sh", "-c", f'"$0" {line} {closed}', COMMAND], capture_output=True, text=True,
        env=environment(),
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert TRACEBACK not in done.stderr
    if "{output}" in arguments:
        assert output.read_text().startswith("sepal_length,")


def test_colours_asked_for_by_the_environment_do_not_break_pipes(iris):
    done = run("evaluate", iris, "-t", "species", "-k", "1-3", FORCE_COLOR="1", COLUMNS="40")
    assert "\x1b[1;32m" in done.out
    assert "█" not in done.err
    assert "━" not in done.err  # no bars where nobody watches


def test_what_is_printable():
    assert printable("a\tb\n") == "a\\tb\\n"
    assert printable("a\nb", keep="\n") == "a\nb"
    assert printable("é 中 \u00a0😀") == "é 中 \u00a0😀"
    assert printable("\udcff\u2028\u200b") == "\\udcff\\u2028\\u200b"


def test_python_itself_starts_with_these_streams():
    """The streams are opened before anything else can take their numbers."""
    program = (
        "import sys; from allsplits.cli._streams import open_streams; open_streams();"
        "print(sys.stdout.fileno(), file=sys.stderr)"
    )
    done = subprocess.run(
        ["sh", "-c", '"$0" -c "$1" >&-', sys.executable, program],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.stderr.strip() == "1"
