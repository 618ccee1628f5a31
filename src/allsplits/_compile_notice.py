"""A word to whoever waits while kernels are compiled: on a first run that takes some seconds.

Said once, on standard error, and only where somebody looks: in a terminal, a notebook or an
interactive session. The command line has its own words for it.
"""

import sys
from time import perf_counter
from typing import Any

from numba.core import event

from allsplits._progress import seconds_before_bar

#: Compiling for longer than this is announced.
_SILENT = 1.0
_WORDS = "allsplits compiles what it needs: some seconds, once for an installation\n"


class CompileNotice(event.Listener):  # type: ignore[misc]
    """Adds up how long kernels of this package were compiled, those they call included."""

    def __init__(self) -> None:
        self._depth, self._start, self._before = 0, 0.0, 0.0
        self._said = False

    def on_start(self, found: Any) -> None:
        """A kernel, or one that it calls, is about to be compiled."""
        if not _is_ours(found):
            return
        if self._depth == 0:
            self._start = perf_counter()
        self._depth += 1
        spent = self._before + perf_counter() - self._start
        if spent > _SILENT and not self._said and _somebody_looks():
            self._said = True
            sys.stderr.write(_WORDS)
            sys.stderr.flush()

    def on_end(self, found: Any) -> None:
        """It is compiled."""
        if not _is_ours(found):
            return
        self._depth -= 1
        if self._depth == 0:
            self._before += perf_counter() - self._start


def _is_ours(found: Any) -> bool:
    return str(found.data["dispatcher"].py_func.__module__).startswith("allsplits.")


def _somebody_looks() -> bool:
    if seconds_before_bar.get() > 0 or sys.stderr is None:
        return False
    return hasattr(sys, "ps1") or sys.stderr.isatty()


event.register("numba:compile", CompileNotice())
