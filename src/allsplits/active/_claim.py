"""One writer at a time: the right to write a file, which a crash gives back.

A claim is a lock of the operating system on a small file beside the one to be written,
``.name.lock``. Processes that end, however they end, lose their locks; the lock file that a killed
one leaves is in nobody's way. Of two processes the second is told so at once. Within a process the
latest `Claim` counts, where it may take over from an older one (a notebook's cell that is run
again); holders of the older one are told when they next write.

POSIX record locks are used (`lockf`), not `flock`: a forked child does not inherit them, so that a
worker which outlives its parent keeps nobody out. They have one trap: closing any handle of the
file gives the lock up. So a process opens a lock file once, and keeps the handle in `_held`.
"""

import errno
import os
import re
import socket
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from allsplits.exceptions import InvalidInputError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

#: Windows keeps others from reading what is locked: a byte far behind the text.
_LOCKED_BYTE = 1 << 20
_OWNER = re.compile(r"process \d+ on [\w.-]+")


@dataclass(eq=False)
class _Held:
    """The lock this process has on one file, and the token of the claim that may use it."""

    handle: int
    token: object


_guard = threading.RLock()
_held: dict[Path, _Held] = {}


class Claim:
    """The right to write `path`, a path without links, until it is released or forgotten.

    Raises InvalidInputError, which names the caller's `parameter`, if another process has it; or
    another claim of this process, unless this one may take over.
    """

    def __init__(self, parameter: str, path: Path, *, take_over: bool = False) -> None:
        self.path = path
        self._token = object()
        with _guard:
            held = _held.get(path)
            if held is not None and not take_over:
                raise InvalidInputError(
                    f"{parameter} must be a file with one writer; {path} is open in another "
                    "learner of this process, which has to close() it first"
                )
            if held is not None:
                held.token = self._token
            # An older claim may have been forgotten, and have given the lock back, in between.
            if _held.get(path) is None:
                _held[path] = _Held(_lock(parameter, path), self._token)
        self._finalizer = weakref.finalize(self, _release, path, self._token)

    @contextmanager
    def writing(self) -> Iterator[bool]:
        """While inside, nobody can take over; whether the claim still counts."""
        with _guard:
            held = _held.get(self.path)
            yield held is not None and held.token is self._token

    def release(self) -> None:
        """Let others claim the file."""
        self._finalizer()


def _lock_file_of(path: Path) -> Path:
    """Where the lock is."""
    return path.with_name(f".{path.name}.lock")


def _lock(parameter: str, path: Path) -> int:
    """A handle with the lock; raises if another process has it."""
    name = _lock_file_of(path)
    while True:
        try:
            # A link that somebody put there is not followed.
            handle = os.open(name, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        except OSError as error:
            raise InvalidInputError(
                f"{parameter} must be a file in a folder that can be written; cannot open {name}: "
                f"{error.strerror}"
            ) from error
        try:
            _try_lock(handle)
            if _is_at(handle, name):
                _sign(handle)
                return handle
        except OSError as error:
            raise _refusal(parameter, path, handle, error) from error
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # its holder removed it before we had the lock


def _refusal(parameter: str, path: Path, handle: int, error: OSError) -> InvalidInputError:
    """Why there is no lock; closes the handle."""
    os.lseek(handle, 0, os.SEEK_SET)
    owner = _OWNER.match(os.read(handle, 200).decode(errors="replace"))
    os.close(handle)
    if error.errno not in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
        return InvalidInputError(
            f"{parameter} must be in a folder where files can be locked; {path}: {error.strerror}"
        )
    return InvalidInputError(
        f"{parameter} must be a file with one writer; {path} is being written by "
        f"{owner[0] if owner else 'another process'}: end that, or close() its learner. "
        "ActiveLearner.load(path, X, autosave=False) reads it without writing"
    )


def _try_lock(handle: int) -> None:
    if sys.platform == "win32":
        os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    else:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_at(handle: int, name: Path) -> bool:
    """Whether the open file still has its name."""
    try:
        return os.path.samestat(os.fstat(handle), name.lstat())
    except FileNotFoundError:
        return False


def _sign(handle: int) -> None:
    """Say who has the lock; a full disk is no reason not to have it."""
    with suppress(OSError):
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, f"process {os.getpid()} on {socket.gethostname()}\n".encode())


def _release(path: Path, token: object) -> None:
    """Give the lock back, if it is this token's."""
    with _guard:
        held = _held.get(path)
        if held is None or held.token is not token:
            return
        del _held[path]
        if sys.platform == "win32":  # an open file cannot be removed there
            os.close(held.handle)
            with suppress(OSError):
                _lock_file_of(path).unlink()
            return
        if _is_at(held.handle, _lock_file_of(path)):
            with suppress(OSError):
                _lock_file_of(path).unlink()
        os.close(held.handle)


def _forget() -> None:
    """A forked child has none of its parent's locks, and perhaps its guard in mid-use."""
    global _guard
    _guard = threading.RLock()
    for held in _held.values():
        os.close(held.handle)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
