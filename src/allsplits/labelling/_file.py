"""The file behind a `LabelStore`: opened and checked, read along, written in transactions."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from allsplits._frames import make_frame
from allsplits._validation import check_count
from allsplits.exceptions import AllSplitsError, InvalidInputError, InvalidTypeError, StorageError
from allsplits.labelling._answer import GIVEN, REASONS, Answer
from allsplits.labelling._labels import KINDS, Label, decode_label, encode_label
from allsplits.labelling._schema import BROKEN, check_file, connect, damaged, is_new, lay_out

COLUMNS = "id, sample, status, label, who, session, at, reason, undoes"


class AnswerFile:
    """A file of answers, and the latest answer to each sample in memory.

    What another process adds to the file is read along with the next question. The parameters are
    those of `LabelStore`, checked.
    """

    def __init__(
        self, path: str | Path, fingerprint: Mapping[str, Any] | None, *, kind: str, target: str,
        seed: int, start: Mapping[int, Label], writable: bool,
    ) -> None:  # fmt: skip
        self.path = _place(path, writable)
        self._guard = threading.RLock()
        self._connection = connect(self.path, writable=writable)
        try:
            if writable:
                self._make(fingerprint, kind, target, seed, start)
            check_file(self._connection, self.path)
            self._read_about(fingerprint)
            self._current: dict[int, Answer] = {}
            self._given: set[int] = set()
            self._last = 0
            self._classes = self._read_classes()
            self._catch_up()
            if writable:
                # On the disk before it is acknowledged, in write-ahead mode as in any other.
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = FULL")
        except BaseException as error:
            self._connection.close()
            if isinstance(error, BROKEN):
                raise damaged(self.path, error) from error
            raise

    # ---------------------------------------------------------------- opening

    def _make(
        self, fingerprint: Mapping[str, Any] | None, kind: str, target: str, seed: int,
        start: Mapping[int, Label],
    ) -> None:  # fmt: skip
        """Lay out a new file, in one transaction; leave one that is there as it is."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            raise InvalidInputError(
                f"{self.path} must be a file that can be written: {error}"
            ) from error
        try:
            if is_new(self._connection):
                if fingerprint is None:
                    raise InvalidInputError(f"there is no file of labels {self.path}")
                lay_out(self._connection)
                about = {
                    "samples": json.dumps(dict(fingerprint)), "kind": kind, "target": target,
                    "seed": str(seed), "made": now(),
                }  # fmt: skip
                self._connection.executemany("INSERT INTO about VALUES (?, ?)", about.items())
                self._connection.executemany(
                    "INSERT INTO answers (sample, status, label, who, session, at, reason) "
                    "VALUES (?, 'labelled', ?, '', '', ?, 'start')",
                    [(i, encode_label(label), about["made"]) for i, label in start.items()],
                )
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def _read_about(self, fingerprint: Mapping[str, Any] | None) -> None:
        about = dict(self._connection.execute("SELECT key, value FROM about"))
        try:
            samples = json.loads(about["samples"])
            self.kind, self.target, self.seed = about["kind"], about["target"], int(about["seed"])
            self.n_samples = check_count("samples.shape", samples["shape"][0], at_least=1)
            if self.kind not in KINDS:
                raise InvalidInputError(f"kind must be one of {KINDS}; got {self.kind!r}")
        except (AllSplitsError, KeyError, IndexError, TypeError, ValueError) as error:
            raise damaged(self.path, error) from error
        self.fingerprint: dict[str, Any] = samples
        if fingerprint is not None and samples != dict(fingerprint):
            raise InvalidInputError(
                f"{self.path} holds labels of other samples, {samples['shape']} numbers; these are "
                f"{fingerprint['shape']}: give the same data with the same options, or another file"
            )

    def _read_classes(self) -> list[Label]:
        rows = self._connection.execute("SELECT label FROM classes ORDER BY position").fetchall()
        try:
            return [decode_label(text, self.kind) for (text,) in rows]
        except InvalidInputError as error:
            raise damaged(self.path, error) from error

    def close(self) -> None:
        """Close the file; what was answered is in it."""
        with self._guard:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---------------------------------------------------------------- reading

    @property
    def classes(self) -> list[Label]:
        """What can be answered, in the order of the keys."""
        with self._guard:
            return list(self._classes)

    @property
    def last(self) -> int:
        """The number of the last answer."""
        with self._reading():
            self._catch_up()
            return self._last

    def current(self) -> dict[int, Answer]:
        """The latest answer to each sample that was ever answered."""
        with self._reading():
            self._catch_up()
            return dict(self._current)

    def get(self, sample: int) -> Answer | None:
        """The latest answer to one sample."""
        with self._reading():
            self._catch_up()
            return self._current.get(sample)

    def labels(self) -> dict[int, Label]:
        """The label of each labelled sample, by row."""
        found = sorted(self.current().items())
        return {i: a.label for i, a in found if a.label is not None}

    def skipped(self) -> set[int]:
        """Samples that somebody could not label."""
        return {i for i, answer in self.current().items() if answer.status == "skipped"}

    def n_asked(self) -> int:
        """Samples with a decision that was not there from the start."""
        with self._reading():
            self._catch_up()
            return sum(a.decided and i not in self._given for i, a in self._current.items())

    def history(self) -> list[Answer]:
        """Every answer and every change, the first one first."""
        with self._reading():
            rows = self._connection.execute(f"SELECT {COLUMNS} FROM answers ORDER BY id").fetchall()
            return [self._read(row) for row in rows]

    def frame(self, backend: str | None = None) -> Any:
        """Every answer and every change as a pandas or polars data frame."""
        rows = self.history()
        names = ("id", "sample", "status", "label", "who", "at", "reason", "undoes")
        columns = {name: [getattr(row, name) for row in rows] for name in names}
        return make_frame(columns, backend)

    def _read(self, row: Sequence[Any]) -> Answer:
        """One row of the file, checked."""
        number, sample, status, label, *rest = row
        try:
            check_count("sample", sample, at_most=self.n_samples - 1)
            if rest[3] not in REASONS:
                raise InvalidInputError(f"reason must be one of {tuple(REASONS)}; got {rest[3]!r}")
            if not all(isinstance(text, str) for text in rest[:3]):
                raise InvalidInputError("who, session and at must be text")
            value = None if label is None else decode_label(label, self.kind)
        except AllSplitsError as error:
            raise damaged(self.path, f"answer {number}: {error}") from error
        return Answer(number, sample, status, value, *rest)

    def _catch_up(self) -> None:
        """Read what this process, or another one, has added since."""
        query = f"SELECT {COLUMNS} FROM answers WHERE id > ? ORDER BY id"
        for row in self._connection.execute(query, (self._last,)).fetchall():
            answer = self._read(row)
            self._current[answer.sample] = answer
            if answer.reason in GIVEN:
                self._given.add(answer.sample)
            self._last = answer.id

    # ---------------------------------------------------------------- transactions

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._guard:
            try:
                yield
            except BROKEN as error:
                raise StorageError(f"cannot read {self.path}: {error}") from error

    @contextmanager
    def _writing(self, *, durable: bool = True) -> Iterator[None]:
        """A transaction: all of it or nothing; if `durable`, on the disk when it ends."""
        with self._guard:
            try:
                self._connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
                self._connection.execute("BEGIN IMMEDIATE")
                try:
                    self._catch_up()
                    yield
                    self._connection.execute("COMMIT")
                except BaseException:
                    if self._connection.in_transaction:
                        self._connection.execute("ROLLBACK")
                    raise
            except sqlite3.Error as error:
                raise StorageError(f"cannot write {self.path}: {error}") from error


def now() -> str:
    """The time, as files keep it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _place(path: str | Path, writable: bool) -> Path:
    try:
        place = Path(path).resolve()
    except TypeError:
        raise InvalidTypeError(f"path must be a path; got {path!r}") from None
    if place.is_dir() or not place.parent.is_dir():
        raise InvalidInputError(f"path must be a file in a folder that exists; got {str(path)!r}")
    if not writable and not place.exists():
        raise InvalidInputError(f"there is no file of labels {place}")
    return place
