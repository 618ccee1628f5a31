"""The file of a labelling effort: SQLite, in write-ahead mode, answers that are only ever added.

    about     what the samples are recognised by, what the labels are, the seed
    classes   what can be answered, in the order of the keys
    answers   every answer and every change: who, what, when; triggers refuse to alter or remove one
    leases    which sample is on whose screen, until when

A file may be foreign, damaged or made up: its application number, its version, its whole schema (so
that no trigger or view of somebody else's runs) and SQLite's own check come before anything is
read.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from allsplits.exceptions import InvalidInputError

#: What SQLite says of a file that is not whole; text that is none is not among its own errors.
BROKEN = (sqlite3.Error, UnicodeError)
#: "ASLB", in the header of the file.
APPLICATION = 0x41534C42
VERSION = 1
#: Seconds to wait for another process that is writing.
_PATIENCE = 10.0

_SCHEMA = (
    "CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE classes (position INTEGER PRIMARY KEY, label TEXT NOT NULL UNIQUE)",
    "CREATE TABLE answers (id INTEGER PRIMARY KEY AUTOINCREMENT, sample INTEGER NOT NULL, "
    "status TEXT NOT NULL, label TEXT, who TEXT NOT NULL, session TEXT NOT NULL, at TEXT NOT NULL, "
    "reason TEXT NOT NULL, undoes INTEGER UNIQUE REFERENCES answers (id), nonce TEXT UNIQUE, "
    "CHECK (status IN ('labelled', 'skipped', 'open') "
    "AND (status = 'labelled') = (label IS NOT NULL)))",
    "CREATE INDEX answers_of_sample ON answers (sample, id)",
    "CREATE INDEX answers_of_session ON answers (session, id)",
    "CREATE TRIGGER answers_stay BEFORE UPDATE ON answers BEGIN SELECT RAISE(ABORT, "
    "'answers are never changed'); END",
    "CREATE TRIGGER answers_remain BEFORE DELETE ON answers BEGIN SELECT RAISE(ABORT, "
    "'answers are never removed'); END",
    "CREATE TABLE leases (sample INTEGER PRIMARY KEY, session TEXT NOT NULL, until REAL NOT NULL)",
)


def connect(path: Path, *, writable: bool) -> sqlite3.Connection:
    """Open a file that is there, or make one (`writable`); nothing in it has been believed yet."""
    try:
        if writable:
            connection = _opened(path, "rwc")
        else:
            beside = path.with_name(f"{path.name}-wal")
            # A folder that cannot be written to has no place for SQLite's own files.
            connection = _opened(path, "ro" if beside.exists() else "ro&immutable=1")
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {pragma}")
    except (sqlite3.Error, OSError) as error:
        raise InvalidInputError(f"cannot open {path}: {error}") from error
    return connection


def _opened(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None,
        timeout=_PATIENCE, check_same_thread=False,
    )  # fmt: skip


def is_new(connection: sqlite3.Connection) -> bool:
    """Whether there is nothing in the file; a process that was killed may have left it so."""
    return connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None


def lay_out(connection: sqlite3.Connection) -> None:
    """Make the tables; within a transaction of the caller's."""
    for statement in _SCHEMA:
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def check_file(connection: sqlite3.Connection, path: Path) -> None:
    """Raise unless the file is one of ours, and whole."""
    try:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        found = connection.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL").fetchall()
    except BROKEN as error:
        raise damaged(path, error) from error
    if application != APPLICATION:
        raise InvalidInputError(
            f"{path} is not a file of labels: it is another program's SQLite file"
        )
    if version != VERSION:
        raise InvalidInputError(
            f"{path} is a file of labels of version {version}; this is version {VERSION}"
        )
    # SQLite keeps a table of its own for numbers that are never used twice.
    schema = {sql for (sql,) in found} - {"CREATE TABLE sqlite_sequence(name,seq)"}
    if schema != set(_SCHEMA):
        raise damaged(path, "its tables are not ours")
    try:
        verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except BROKEN as error:
        raise damaged(path, error) from error
    if verdict != "ok":
        raise damaged(path, verdict)


def damaged(path: Path, what: object) -> InvalidInputError:
    """The error for a file that cannot be right."""
    return InvalidInputError(f"{path} is not a file of labels, or is damaged: {str(what)[:300]}")
