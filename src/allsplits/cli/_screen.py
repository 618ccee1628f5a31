"""What users see: results on standard output, notes and progress on standard error.

Colours, bars and spinners are for terminals; a pipe or a file gets plain text.
"""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from allsplits import __version__
from allsplits._progress import seconds_before_bar, shown_late
from allsplits.cli._streams import printable

if TYPE_CHECKING:
    from rich.console import Console

LOADING = "loading (the first run on a machine compiles for some seconds)"

_BAR_WIDTH = 30
_PLAIN_WIDTH = 100
#: Of rich: text is shown as it is, without tags, `:smile:` or coloured numbers.
_AS_IT_IS: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False}


@dataclass
class Table:
    """A table; columns whose numbers are in `right` are aligned right."""

    title: str
    columns: Sequence[str]
    right: Sequence[int] = ()
    rows: list[tuple[list[str], bool]] = field(default_factory=list)

    def add(self, *cells: object, best: bool = False) -> None:
        """Add a row; the best one stands out."""
        self.rows.append(([str(cell) for cell in cells], best))

    def drawn(self) -> Any:
        """The table for rich, its text made printable."""
        from rich.box import SIMPLE_HEAD
        from rich.table import Table as RichTable
        from rich.text import Text

        drawn = RichTable(
            title=Text(printable(self.title)), title_justify="left", title_style="bold",
            box=SIMPLE_HEAD, show_edge=False, pad_edge=False, safe_box=False,
        )  # fmt: skip
        for i, column in enumerate(self.columns):
            drawn.add_column(
                Text(printable(column)), justify="right" if i in self.right else "left",
                overflow="fold",
            )  # fmt: skip
        for cells, best in self.rows:
            texts = [Text(printable(cell)) for cell in cells]
            drawn.add_row(*texts, style="bold green" if best else None)
        return drawn


class Screen:
    """Standard output and standard error, as loud as the user wants them."""

    def __init__(self, quiet: bool = False) -> None:
        import rich
        from rich.console import Console

        seconds_before_bar.set(1.0)
        # the library's progress bars must not mix with results
        rich.reconfigure(stderr=True, **_AS_IT_IS)
        self.quiet = quiet
        self.out: Console = Console(
            width=None if sys.stdout.isatty() else _PLAIN_WIDTH, **_AS_IT_IS
        )
        self.err: Console = rich.get_console()

    @property
    def progress(self) -> bool:
        """Whether to show progress bars."""
        return not self.quiet and sys.stderr.isatty()

    def print(self, thing: str | Table = "") -> None:
        """Print a result."""
        shown = thing.drawn() if isinstance(thing, Table) else printable(thing, keep="\n")
        if self.out.is_terminal:
            self.out.print(shown)
            return
        with self.out.capture() as captured:
            self.out.print(shown)
        lines = captured.get().splitlines()
        sys.stdout.write("".join(f"{line.rstrip()}\n" for line in lines))

    def line(self, text: str) -> None:
        """Print a line that must not be broken: a command, a path."""
        self.out.print(printable(text, keep="\n"), soft_wrap=True)

    def note(self, *texts: str) -> None:
        """Print notes, unless quiet."""
        for text in () if self.quiet else texts:
            self.err.print(f"note: {printable(text, keep=chr(10))}", soft_wrap=True)

    def json(self, document: dict[str, Any]) -> None:
        """Print a result as JSON, in ASCII alone; what is not a number is null."""
        plain = _finite({"allsplits": __version__, **document})
        sys.stdout.write(json.dumps(plain, indent=2, allow_nan=False) + "\n")

    @contextmanager
    def waiting(self, what: str) -> Iterator[None]:
        """Show a spinner if this takes longer than a second."""
        if not self.progress:
            yield
            return
        from rich.text import Text

        status = self.err.status(Text(printable(what)))
        with shown_late(status.start, status.stop):
            yield

    @contextmanager
    def noting(self, notes: list[str]) -> Iterator[None]:
        """Turn the library's warnings into notes, each of them once."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            yield
        for text in dict.fromkeys(str(warning.message) for warning in caught):
            if text not in notes:
                notes.append(text)


def _finite(value: Any) -> Any:
    """The document with null for infinities and NaN, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def bar(value: float, low: float, high: float) -> str:
    """A bar from `low` (a stub) to `high` (full)."""
    share = (value - low) / (high - low) if high > low else 1.0
    return "━" * max(1, round(_BAR_WIDTH * share))
