"""What the studies share: a page of Markdown beside the script, printed and written."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

import allsplits

__all__ = [
    "DEMOS",
    "environment",
    "load",
    "markdown_table",
    "save_figure",
    "write_demo",
    "write_page",
]

FOLDER = Path(__file__).parent
#: Pages of the demonstrations, with their pictures.
DEMOS = FOLDER.parent / "docs" / "demos"


def environment() -> str:
    """Versions that the numbers were made with."""
    names = ("scikit-learn", "numpy", "scipy", "numba")
    packages = ", ".join(f"{name} {version(name)}" for name in names)
    own = f"allsplits {allsplits.__version__}"
    return f"Python {platform.python_version()}, {own}, {packages}, {os.cpu_count()} cores"


def load() -> str:
    """How busy the machine is, for pages with times."""
    return f"while {os.getloadavg()[0]:.1f} processes wanted to run on average"


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table, all but the first column to the right."""
    lines = [
        "| " + " | ".join(headings) + " |",
        "|---|" + "---:|" * (len(headings) - 1),
        *("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows),
    ]
    return "\n".join(lines)


def write_page(name: str, page: str) -> None:
    """Print the page and keep it beside the script."""
    print(page)
    (FOLDER / f"{name}.md").write_text(page.rstrip() + "\n", encoding="utf-8")


def write_demo(name: str, page: str) -> None:
    """The short page of a demonstration, beside its picture."""
    (DEMOS / f"{name}.md").write_text(page.rstrip() + "\n", encoding="utf-8")


def save_figure(figure, name: str, folder: Path = FOLDER) -> None:
    figure.savefig(folder / f"{name}.png", dpi=90, bbox_inches="tight")
