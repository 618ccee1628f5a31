"""Files that are not ours, not whole, or made up: a clear error, and nothing is changed."""

import os
import sqlite3
import subprocess
import sys

import pytest

from allsplits.exceptions import InvalidInputError
from allsplits.labelling import LabelStore

SAMPLES = {"shape": [10, 2], "sha256": "0" * 64}


@pytest.fixture
def path(tmp_path):
    place = tmp_path / "labels.sqlite"
    with LabelStore(place, SAMPLES, classes=["cat", "dog"]) as store:
        for i in range(5):
            store.answer(i, "cat", who="Ann", session="a")
    return place


def refused(path, match, **options):
    before = path.read_bytes()
    with pytest.raises(InvalidInputError, match=match) as caught:
        LabelStore(path, SAMPLES, **options)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"a,b\n1,2\n", b"\0" * 4096, b"SQLite format 3\0" + b"x" * 200]
)
def test_other_files(path, content):
    path.write_bytes(content)
    for side in ("-wal", "-shm"):
        path.with_name(path.name + side).unlink(missing_ok=True)
    refused(path, "not a file of labels|cannot open|can be written")


def test_another_programs_database(tmp_path):
    path = tmp_path / "other.sqlite"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE notes (text)")
    other.commit()
    other.close()
    refused(path, "another program's")
    refused(path, "another program's", writable=False)


@pytest.mark.parametrize(
    ("statements", "match"),
    [
        (["PRAGMA user_version = 9"], "version 9"),
        (["DROP TRIGGER answers_stay"], "tables are not ours"),
        (["CREATE TRIGGER mine AFTER INSERT ON about BEGIN SELECT 1; END"], "tables are not ours"),
        (["CREATE VIEW more AS SELECT 1"], "tables are not ours"),
        (["UPDATE about SET value = 'x' WHERE key = 'samples'"], "damaged"),
        (["UPDATE about SET value = '[]' WHERE key = 'samples'"], "damaged"),
        (["UPDATE about SET value = 'x' WHERE key = 'seed'"], "damaged"),
        (["UPDATE about SET value = 'colour' WHERE key = 'kind'"], "damaged"),
        (["DELETE FROM about"], "damaged"),
        (["UPDATE classes SET label = '3' WHERE position = 1"], "damaged"),
        (["UPDATE classes SET label = 'cat' WHERE position = 1"], "damaged"),
        (["INSERT INTO answers VALUES (99, 10, 'skipped', NULL, '', '', '', 'chosen', NULL, NULL)"],
         "answer 99: sample"),
        (["INSERT INTO answers VALUES (99, 1, 'labelled', '7', '', '', '', 'chosen', NULL, NULL)"],
         "answer 99: a label must be a text"),
        (["INSERT INTO answers VALUES (99, 1, 'labelled', '[x', '', '', '', 'undo', NULL, NULL)"],
         "answer 99: a label must be JSON"),
        (["INSERT INTO answers VALUES (99, 1, 'skipped', NULL, '', '', '', 'magic', NULL, NULL)"],
         "answer 99: reason"),
        (["INSERT INTO answers VALUES (99, 1, 'skipped', NULL, x'00', '', '', 'undo', NULL, NULL)"],
         "answer 99: who"),
    ],
)  # fmt: skip
def test_what_was_tampered_with(path, statements, match):
    other = sqlite3.connect(path)
    for statement in statements:
        other.execute(statement)
    other.commit()
    other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    other.close()
    with pytest.raises(InvalidInputError, match=match):
        LabelStore(path, SAMPLES)
    with pytest.raises(InvalidInputError, match=match):
        LabelStore(path, SAMPLES, writable=False)


def test_a_file_that_was_cut_off(path):
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(InvalidInputError, match="is damaged"):
        LabelStore(path, SAMPLES)


def test_bits_that_fell_over_are_an_error_or_the_truth(path):
    """Never another answer: what can be read is what was said."""
    content = bytearray(path.read_bytes())
    for place in range(100, len(content), 997):
        broken = bytearray(content)
        broken[place : place + 8] = b"\xff" * 8
        path.write_bytes(broken)
        try:
            with LabelStore(path, SAMPLES, writable=False) as store:
                assert set(store.labels().values()) <= {"cat"}
        except (InvalidInputError, OSError):
            pass


def test_labels_of_other_samples(path):
    with pytest.raises(InvalidInputError, match="other samples"):
        LabelStore(path, {"shape": [10, 2], "sha256": "1" * 64})


def test_no_file(tmp_path):
    with pytest.raises(InvalidInputError, match="there is no file"):
        LabelStore(tmp_path / "none.sqlite", writable=False)
    with pytest.raises(InvalidInputError, match="folder that exists"):
        LabelStore(tmp_path / "nowhere" / "x.sqlite", SAMPLES)
    with pytest.raises(InvalidInputError, match="there is no file of labels"):
        LabelStore(tmp_path / "none.sqlite")


def test_an_empty_file_is_a_new_one(tmp_path):
    """A process that is killed while it makes the file leaves it so."""
    (tmp_path / "x.sqlite").touch()
    with LabelStore(tmp_path / "x.sqlite", SAMPLES, classes=["a"]) as store:
        assert store.labels() == {}


READ_ONLY = """
import os, sys
from allsplits.labelling import LabelStore
if os.getuid() == 0:  # root may write whatever the permissions are
    os.setgid(65534), os.setuid(65534)
path = sys.argv[1]
samples = {"shape": [10, 2], "sha256": "0" * 64}
try:
    LabelStore(path, samples)
except ValueError as error:
    print("refused:", error)
with LabelStore(path, samples, writable=False) as store:
    print(store.labels())
"""


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_a_file_that_may_only_be_read(path, tmp_path):
    """It can be exported, not gone on with; whoever wants to label is told at once."""
    path.chmod(0o444)
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(0o555 if folder == tmp_path else 0o755)
    try:
        done = subprocess.run(
            [sys.executable, "-c", READ_ONLY, str(path)], capture_output=True, text=True
        )
    finally:
        tmp_path.chmod(0o755)
    assert done.returncode == 0, done.stderr
    assert "refused:" in done.stdout
    assert "written" in done.stdout
    assert "{0: 'cat', 1: 'cat', 2: 'cat', 3: 'cat', 4: 'cat'}" in done.stdout
