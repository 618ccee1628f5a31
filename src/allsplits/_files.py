"""Files out: written beside the place they belong and renamed, so that none is ever half there."""

import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from allsplits.exceptions import InvalidInputError


def write_file(parameter: str, name: Any, write: Callable[[BinaryIO], object]) -> Path:
    """Write a file in one step: at every moment the old one or the new one is there, complete.

    `parameter` is what the caller calls the path, for the error message.
    """
    try:
        path = Path(name).resolve()
    except TypeError as error:
        raise InvalidInputError(f"{parameter} must be a path; got {name!r}") from error
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            with path.open("wb") as file:  # a pipe or a device has no place to rename to
                write(file)
            return path
        replace_file(path, write)
    except OSError as error:
        raise InvalidInputError(
            f"{parameter} must be a file that can be written; {name}: {error.strerror}"
        ) from error
    return path


def replace_file(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write beside the file, flush, rename; return when it is on the disk, or raise OSError.

    Several may write at once: each writes under a name that is new, and the last one stays.
    """
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        beside.chmod(path.stat().st_mode if path.exists() else 0o666 & ~_umask())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    _flush_folder(path.parent)


def remove_leftovers(path: Path) -> None:
    """Remove what writers of this file left beside it when they were killed.

    For callers who know that nobody is writing it now.
    """
    unfinished = re.compile(rf"\.{re.escape(path.name)}\.[a-z0-9_]{{8}}\.part")
    for file in path.parent.iterdir():
        if unfinished.fullmatch(file.name):
            file.unlink(missing_ok=True)


def _flush_folder(folder: Path) -> None:
    """Put the new name on the disk as well, where folders can be opened (not on Windows)."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    """The process's mask for new files, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
