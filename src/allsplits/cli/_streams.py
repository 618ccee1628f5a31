"""The three standard streams: open whatever the shell did, and able to take any text.

A terminal or pipe that is not UTF-8 gets a likeness of each character it does not have. Text from
files reaches a terminal without control characters, which could move its cursor or change what it
shows.
"""

import codecs
import os
import sys
import unicodedata

_LIKENESS = {"━": "=", "─": "-", "±": "+/-", "×": "x", "…": "...", "−": "-", "→": "->"}
_ERRORS = "allsplits.likeness"


def printable(text: str, *, keep: str = "") -> str:
    """The text with everything that a terminal would obey written out, as in ``\\x1b[2J``."""
    return "".join(c if c in keep or _is_harmless(c) else _escaped(c) for c in text)


def _is_harmless(character: str) -> bool:
    return character.isprintable() or unicodedata.category(character) == "Zs"


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def open_streams() -> None:
    """Make standard output and error take any text, and let closed streams fail where used."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            _hold(name)
    codecs.register_error(_ERRORS, _likeness)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=_ERRORS)


def _hold(name: str) -> None:
    """Open a stream that was closed: a file opened later must not become it by its number.

    Standard input and output fail when they are used, as a closed stream does; errors have nowhere
    to go.
    """
    handle = os.open(os.devnull, os.O_RDONLY if name == "stdout" else os.O_WRONLY)
    stream = os.fdopen(handle, "r" if name == "stdin" else "w", encoding="utf-8", closefd=False)
    setattr(sys, name, stream)


def _likeness(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    wrong = error.object[error.start : error.end]
    return "".join(_LIKENESS.get(c) or _escaped(c) for c in wrong), error.end


def write_bytes(content: bytes) -> None:
    """Write a file's content to standard output, whatever the encoding of the terminal is."""
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def silence_output() -> None:
    """Throw away what could not be written, so that the end of the process does not try again."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
