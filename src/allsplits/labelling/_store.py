"""`LabelStore`: the answers of a labelling effort in one SQLite file.

Every answer is a transaction of its own, on the disk before it is acknowledged. Nothing is ever
changed or removed: a correction, and an undo, is one more answer. Who answers says which answer
they saw (`seen`); if another one came in between, theirs is refused instead of covering it. An
answer that is sent again (its acknowledgement was lost) carries the same `nonce` and counts once.

While a sample is on somebody's screen it is leased to their session: nobody else is asked about it
until the lease ends. Several servers may have one file open.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from allsplits._validation import check_count
from allsplits.exceptions import ConflictError, InvalidInputError, InvalidTypeError
from allsplits.labelling._answer import REASONS, Answer
from allsplits.labelling._file import COLUMNS, AnswerFile, now
from allsplits.labelling._labels import (
    Label,
    encode_label,
    kind_of,
    label_text,
    plain_label,
    read_label,
)

#: Seconds that a sample stays on a screen which does not say that it is still there.
LEASE = 120.0
#: Longer names of people and sessions are refused.
_LONGEST_NAME = 80


class LabelStore(AnswerFile):
    """All answers of a labelling effort, in one SQLite file.

    Parameters
    ----------
    path : path
        The file; made if it is not there.
    fingerprint : mapping, default=None
        What the samples are recognised by, `{"shape": [n, d], "sha256": ...}`. Needed for a new
        file; for one that is there it must be the same. None reads whatever is there.
    classes : iterable of labels, default=()
        What can be answered, in the order of the keys; more can be added while labelling.
    start : mapping of int to label, default=None
        Labels that are known when a new file is made.
    target : str, default="label"
        What the labels are called, of a new file.
    seed : int, default=0
        Decides which samples are drawn at random, of a new file.
    writable : bool, default=True
        False reads a file that is there, and writes nothing.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from allsplits.labelling import LabelStore
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "pets.sqlite"
    ...     store = LabelStore(path, {"shape": [3, 2], "sha256": "…"}, classes=["cat", "dog"])
    ...     first = store.answer(2, "cat", who="Ann", session="a")
    ...     second = store.answer(2, "dog", who="Bob", session="b", seen=first.id)
    ...     store.close()
    ...     again = LabelStore(path, writable=False)
    ...     print(again.labels(), [answer.who for answer in again.history()])
    ...     again.close()
    {2: 'dog'} ['Ann', 'Bob']
    """

    def __init__(
        self,
        path: str | Path,
        fingerprint: Mapping[str, Any] | None = None,
        *,
        classes: Iterable[Any] = (),
        start: Mapping[int, Any] | None = None,
        target: str = "label",
        seed: int = 0,
        writable: bool = True,
    ) -> None:
        known = [plain_label("classes", label) for label in classes]
        begun = {int(i): plain_label("labels", label) for i, label in (start or {}).items()}
        kind = kind_of([*known, *begun.values()]) or "text"
        super().__init__(
            path, fingerprint, kind=kind, target=target, seed=seed, start=begun, writable=writable
        )
        if writable:
            try:
                for label in dict.fromkeys([*known, *self._labels_in_order()]):
                    self.add_class(label)
            except BaseException:
                self.close()
                raise

    def _labels_in_order(self) -> list[Label]:
        labels = self.labels().values()
        return sorted(set(labels), key=lambda x: (isinstance(x, str), x))

    def answer(
        self,
        sample: int,
        label: Any,
        *,
        who: str,
        session: str,
        seen: int = 0,
        reason: str = "chosen",
        nonce: str | None = None,
    ) -> Answer:
        """Keep one answer; it is on the disk when this returns.

        Parameters
        ----------
        sample : int
            The row of X.
        label : label or None
            One of `classes`; None skips the sample.
        who, session : str
            The person's name; what tells their browser from others (undo takes back its answers).
        seen : int, default=0
            The number of the sample's latest answer when it was shown, 0 if it had none. If
            another one came since, a ConflictError says whose.
        reason : str, default="chosen"
            Why the sample was asked.
        nonce : str, default=None
            What tells this answer from others: one that is sent twice is kept once.
        """
        check_count("sample", sample, at_most=self.n_samples - 1)
        self._check_names(who, session)
        if reason not in REASONS:
            raise InvalidInputError(f"reason must be one of {tuple(REASONS)}; got {reason!r}")
        value = None if label is None else plain_label("label", label)
        if value is not None and value not in self.classes:
            raise InvalidInputError(f"label must be one of the classes; got {value!r}")
        with self._writing():
            before = self._sent_before(nonce, session)
            if before is not None:
                return before
            self._check_seen(sample, seen)
            status = "skipped" if value is None else "labelled"
            self._insert(sample, status, value, who, session, reason, nonce=nonce)
            self._connection.execute("DELETE FROM leases WHERE sample = ?", (sample,))
        return self.get(sample)  # type: ignore[return-value]

    def undo(self, *, who: str, session: str) -> Answer:
        """Take back the last answer of a session; the sample is as it was before it.

        Raises ConflictError if somebody has answered the sample since, InvalidInputError if there
        is nothing to take back.
        """
        self._check_names(who, session)
        with self._writing():
            row = self._connection.execute(
                f"SELECT {COLUMNS} FROM answers a WHERE session = ? AND undoes IS NULL AND NOT "
                "EXISTS (SELECT 1 FROM answers b WHERE b.undoes = a.id) ORDER BY id DESC LIMIT 1",
                (session,),
            ).fetchone()
            if row is None:
                raise InvalidInputError("there is nothing to take back: you have not answered yet")
            last = self._read(row)
            if self._standing(last.sample) != last.id:
                raise self._conflict(last.sample)
            before = self._before(last)
            status, label = ("open", None) if before is None else (before.status, before.label)
            self._insert(last.sample, status, label, who, session, "undo", undoes=last.id)
        return self.get(last.sample)  # type: ignore[return-value]

    def add_class(self, label: Any) -> Label:
        """Add a class; one that is there already stays where it is."""
        value = plain_label("a class", label)
        if kind_of([value]) != self.kind:
            raise InvalidInputError(
                f"a class must be a {self.kind}, as the others are; got {value!r}"
            )
        if value not in self.classes:
            with self._writing():
                self._connection.execute(
                    "INSERT OR IGNORE INTO classes (label) VALUES (?)", (encode_label(value),)
                )
                self._classes = self._read_classes()
        return value

    def read_label(self, text: Any) -> Label:
        """A label that somebody typed; one of the classes if it looks like it."""
        for label in self.classes:
            if label_text(label) == text:
                return label
        return read_label("a class", text, self.kind)

    def _insert(
        self, sample: int, status: str, label: Label | None, who: str, session: str, reason: str,
        *, undoes: int | None = None, nonce: str | None = None,
    ) -> None:  # fmt: skip
        self._connection.execute(
            "INSERT INTO answers (sample, status, label, who, session, at, reason, undoes, nonce) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (sample, status, None if label is None else encode_label(label), who, session, now(),
             reason, undoes, nonce),
        )  # fmt: skip

    def _sent_before(self, nonce: str | None, session: str) -> Answer | None:
        if nonce is None:
            return None
        query = f"SELECT {COLUMNS} FROM answers WHERE nonce = ? AND session = ?"
        row = self._connection.execute(query, (nonce, session)).fetchone()
        return None if row is None else self._read(row)

    def _before(self, answer: Answer) -> Answer | None:
        """The answer to the same sample before one."""
        row = self._connection.execute(
            f"SELECT {COLUMNS} FROM answers WHERE sample = ? AND id < ? ORDER BY id DESC LIMIT 1",
            (answer.sample, answer.id),
        ).fetchone()
        return None if row is None else self._read(row)

    def _standing(self, sample: int) -> int:
        """The number of the answer that stands; what was taken back is passed over."""
        answer = self._current.get(sample)
        while answer is not None and answer.undoes is not None:
            answer = self._before(replace(answer, id=answer.undoes))
        return 0 if answer is None else answer.id

    def _check_seen(self, sample: int, seen: int) -> None:
        there = self._current.get(sample)
        if (0 if there is None else there.id) != seen:
            raise self._conflict(sample)

    def _conflict(self, sample: int) -> ConflictError:
        there = self._current.get(sample)
        said = "was changed"
        if there is not None:
            given = "no answer" if there.label is None else repr(label_text(there.label))
            said = f"has {given} by {there.who or 'the file'} since"
        return ConflictError(f"sample {sample} {said}: look at it again")

    def _check_names(self, who: str, session: str) -> None:
        for name, value in (("who", who), ("session", session)):
            if not isinstance(value, str):
                raise InvalidTypeError(f"{name} must be text; got {value!r}")
            if len(value) > _LONGEST_NAME or not value.isprintable():
                raise InvalidInputError(
                    f"{name} must be at most {_LONGEST_NAME} readable characters; "
                    f"got {value!r:.100}"
                )

    def import_labels(self, labels: Mapping[int, Any], *, who: str = "ActiveLearner") -> int:
        """Take labels (None: skipped) of samples that have no answer yet; how many there were."""
        read = {
            check_count("sample", int(i), at_most=self.n_samples - 1): (
                None if label is None else plain_label("labels", label)
            )
            for i, label in labels.items()
        }
        for label in dict.fromkeys(v for v in read.values() if v is not None):
            self.add_class(label)
        with self._writing():
            taken = [(i, v) for i, v in read.items() if i not in self._current]
            for i, value in taken:
                status = "skipped" if value is None else "labelled"
                self._insert(i, status, value, who, "", "import")
        return len(taken)

    # ---------------------------------------------------------------- leases

    def lease(self, session: str, candidates: Iterable[int], seconds: float = LEASE) -> int | None:
        """The first candidate that nobody else has and that has no answer; it is yours for a while.

        Samples that the session had before are let go.
        """
        with self._writing(durable=False):
            now = time.time()
            self._connection.execute(
                "DELETE FROM leases WHERE until < ? OR session = ?", (now, session)
            )
            taken = {i for (i,) in self._connection.execute("SELECT sample FROM leases")}
            for sample in candidates:
                answer = self._current.get(sample)
                if sample not in taken and (answer is None or not answer.decided):
                    self._connection.execute(
                        "INSERT INTO leases VALUES (?, ?, ?)", (sample, session, now + seconds)
                    )
                    return sample
        return None

    def leased(self, session: str) -> int | None:
        """The sample that a session has, if it has one that is not answered."""
        with self._reading():
            self._catch_up()
            row = self._connection.execute(
                "SELECT sample FROM leases WHERE session = ? AND until >= ?", (session, time.time())
            ).fetchone()
            answer = None if row is None else self._current.get(row[0])
            return None if row is None or (answer is not None and answer.decided) else row[0]

    def keep(self, session: str, seconds: float = LEASE) -> None:
        """Say that the sample is still on the screen."""
        with self._writing(durable=False):
            self._connection.execute(
                "UPDATE leases SET until = ? WHERE session = ?", (time.time() + seconds, session)
            )
