"""The file that a learner saves itself to: whose turn it is to write, and what is in it."""

import hashlib
from pathlib import Path
from typing import Any, Self

from allsplits._files import remove_leftovers, replace_file
from allsplits.active._claim import Claim
from allsplits.active._saved import SavedLearner
from allsplits.exceptions import InvalidInputError, InvalidTypeError


class Autosave:
    """A file with one writer, who never writes over what somebody else wrote.

    It is claimed by the first write, or by `take`. A copy (deepcopy, pickle, fork) has no claim: it
    may write when the original's has ended and the file is as it was.

    Parameters
    ----------
    given : path
        The user's name of the file. A relative one is taken from the folder that is current now,
        a link is followed now.
    """

    def __init__(self, given: Any) -> None:
        self.given = given
        self.path = _place("autosave", given)
        self._claim: Claim | None = None
        # Digests of what may be in the file: two while it is being replaced, none before.
        self._ours: tuple[str, ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_claim": None}

    @classmethod
    def take(cls, given: Any) -> tuple[Self, SavedLearner]:
        """Claim a file that is there, from an older learner of this process if need be; read it."""
        file = cls(given)
        file._claim = Claim("path (with autosave=True)", file.path, take_over=True)
        try:
            remove_leftovers(file.path)
            data = file.path.read_bytes()
            file._ours = (_digest(data),)
            return file, SavedLearner.decode(data, file.path)
        except BaseException:
            file.close()
            raise

    def write(self, saved: SavedLearner) -> None:
        """Replace the file in one step; return when it is on the disk."""
        data = saved.encode()
        while True:
            if self._claim is None:
                self._claim = Claim("autosave", self.path)
                remove_leftovers(self.path)
            with self._claim.writing() as allowed:
                if allowed:
                    try:
                        self._replace(data)
                    except InvalidInputError:
                        self.close()  # the file is somebody else's: they may have it
                        raise
                    return
            self._claim = None

    def _replace(self, data: bytes) -> None:
        # An interruption leaves the one or the other: both are ours.
        self._ours = (*self.check_unchanged(), _digest(data))
        replace_file(self.path, lambda file: file.write(data))
        self._ours = self._ours[-1:]

    def check_unchanged(self) -> tuple[str, ...]:
        """The digest of the file, if it is there; raise if this learner did not make it so."""
        try:
            found = _digest(self.path.read_bytes())
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise InvalidInputError(
                f"autosave must be a file that can be read; {self.path}: {error.strerror}"
            ) from error
        if not self._ours:
            raise InvalidInputError(
                "autosave must not be an existing file, so that no labels are overwritten: "
                f"{self.path} is there; continue with ActiveLearner.load({str(self.path)!r}, X) "
                "or choose another name"
            )
        if found not in self._ours:
            raise InvalidInputError(
                f"autosave must be a file that nobody else writes; {self.path} was changed since "
                "this learner last saved: continue from it with ActiveLearner.load, or keep what "
                "is here with save() under another name"
            )
        return (found,)

    def close(self) -> None:
        """Let others write the file."""
        if self._claim is not None:
            self._claim.release()
            self._claim = None


def save_once(given: Any, saved: SavedLearner) -> None:
    """Write a file that nobody else is writing, over an older one if there is one."""
    path = _place("path", given)
    data = saved.encode()
    claim = Claim("path", path)
    try:
        replace_file(path, lambda file: file.write(data))
    finally:
        claim.release()


def resolve(parameter: str, given: Any) -> Path:
    """The absolute path of the file itself, all links followed."""
    try:
        return Path(given).resolve()
    except TypeError:
        raise InvalidTypeError(f"{parameter} must be a path; got {given!r}") from None


def _place(parameter: str, given: Any) -> Path:
    """The same for a file to be written."""
    path = resolve(parameter, given)
    if path.is_dir() or not path.parent.is_dir():
        raise InvalidInputError(
            f"{parameter} must be a file in a folder that exists; got {str(given)!r}"
        )
    return path


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
