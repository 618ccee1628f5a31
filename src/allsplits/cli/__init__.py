"""The `allsplits` command: one file for each command, everything heavy imported when it is used.

Exit codes: 0 good, 2 wrong usage or bad input, 130 interrupted. Results go to standard output;
notes, progress and errors go to standard error.
"""

from __future__ import annotations

import sys

from allsplits._optional import import_optional
from allsplits.exceptions import AllSplitsError

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    try:
        import_optional("typer", extra="cli", purpose="the allsplits command")
        from allsplits.cli._app import app

        app(prog_name="allsplits")
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


def _fail(message: str, code: int) -> None:
    sys.stderr.write(f"{message}\n")
    raise SystemExit(code) from None
