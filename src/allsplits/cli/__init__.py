"""The `allsplits` command: one file for each command, everything heavy imported when it is used.

Exit codes: 0 good, 2 wrong usage or bad input, 130 interrupted; 1 an error of the program itself,
or the reader of the output went away. Results go to standard output; notes, progress and errors go
to standard error.
"""

import errno
import os
import sys

from allsplits._optional import import_optional
from allsplits.cli._streams import open_streams, printable, silence_output
from allsplits.exceptions import AllSplitsError

__all__ = ["main"]

_TRACEBACK = "ALLSPLITS_TRACEBACK"


def main() -> None:
    """Run the command line."""
    open_streams()
    try:
        try:
            import_optional("typer", extra="cli", purpose="the allsplits command")
            from allsplits.cli._app import app

            app(prog_name="allsplits")
        finally:
            sys.stdout.flush()  # a full disk must be told while it can be
    except AllSplitsError as error:
        _fail(f"error: {error}", 2)
    except MemoryError as error:
        _fail(f"error: not enough memory ({error})", 2)
    except KeyboardInterrupt:
        _fail("interrupted", 130)
    except SystemExit as done:
        if done.code == 130:
            _fail("interrupted", 130)
        raise
    except OSError as error:
        silence_output()
        if error.errno == errno.EPIPE:  # as in `allsplits ... | head`
            raise SystemExit(1) from None
        where = "cannot write to standard output" if error.filename is None else error.filename
        _fail(f"error: {where}: {error.strerror or error}", 2)
    except Exception as error:
        if os.environ.get(_TRACEBACK):
            raise
        reason = str(error).strip().partition("\n")[0]
        _fail(
            f"error: {type(error).__name__}: {reason}. This is a defect of allsplits, not of your "
            f"data: {_TRACEBACK}=1 shows where it happens",
            1,
        )


def _fail(message: str, code: int) -> None:
    sys.stderr.write(f"{printable(message, keep=chr(10))}\n")
    raise SystemExit(code) from None
