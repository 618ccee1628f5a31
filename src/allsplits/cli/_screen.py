"""What users see: results on standard output, notes and progress on standard error.

Colours, bars and spinners are for terminals; a pipe or a file gets plain text.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from allsplits import __version__
from allsplits._progress import seconds_before_bar, shown_late

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["Screen", "bar", "make_table"]

_BAR_WIDTH = 30
_PLAIN_WIDTH = 100


class Screen:
    """Standard output and standard error, as loud as the user wants them."""

    def __init__(self, quiet: bool = False) -> None:
        import rich
        from rich.console import Console

        seconds_before_bar.set(1.0)
        rich.reconfigure(stderr=True)  # the library's progress bars must not mix with results
        self.quiet = quiet
        self.out: Console = Console(
            highlight=False, width=None if sys.stdout.isatty() else _PLAIN_WIDTH
        )
        self.err: Console = rich.get_console()

    @property
    def progress(self) -> bool:
        """Whether to show progress bars."""
        return not self.quiet and self.err.is_terminal

    def print(self, *things: Any) -> None:
        """Print a result."""
        if self.out.is_terminal:
            self.out.print(*things, markup=False)
            return
        with self.out.capture() as captured:
            self.out.print(*things, markup=False)
        lines = captured.get().splitlines()
        sys.stdout.write("".join(f"{line.rstrip()}\n" for line in lines))

    def line(self, text: str) -> None:
        """Print a line that must not be broken: a command, a path."""
        self.out.print(text, markup=False, soft_wrap=True)

    def note(self, text: str) -> None:
        """Print a note, unless quiet."""
        if not self.quiet:
            self.err.print(f"note: {text}", markup=False, highlight=False, soft_wrap=True)

    def json(self, document: dict[str, Any]) -> None:
        """Print a result as JSON."""
        sys.stdout.write(json.dumps({"allsplits": __version__, **document}, indent=2) + "\n")

    @contextmanager
    def waiting(self, what: str) -> Iterator[None]:
        """Show a spinner if this takes longer than a second."""
        if not self.progress:
            yield
            return
        status = self.err.status(what)
        with shown_late(status.start, status.stop):
            yield

    @contextmanager
    def noting(self, notes: list[str]) -> Iterator[None]:
        """Turn the library's warnings into notes."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            yield
        notes.extend(str(warning.message) for warning in caught)


def make_table(title: str, *columns: str, right: Sequence[int] = ()) -> Table:
    """A table; columns whose numbers are in `right` are aligned right."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text(title),
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
    )
    for i, column in enumerate(columns):
        table.add_column(Text(column), justify="right" if i in right else "left")
    return table


def bar(value: float, low: float, high: float) -> str:
    """A bar from `low` (a stub) to `high` (full)."""
    share = (value - low) / (high - low) if high > low else 1.0
    return "━" * max(1, round(_BAR_WIDTH * share))
