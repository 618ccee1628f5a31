"""RESULTS.md: what was measured, with versions and machine, as one Markdown page.

It names neither the host nor any path. The page is written beside its place and renamed.
"""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from allsplits._files import write_file
from benchmarks._before import Before
from benchmarks._memory import GIB
from benchmarks._r import r_versions
from benchmarks._timing import Result, Rows, goal_table, summary

__all__ = ["Measured", "machine", "page", "versions", "write_page"]

#: Ourselves, what we stand on, and the packages that some topic compares with.
PACKAGES = (
    "allsplits", "numpy", "scipy", "scikit-learn", "numba", "joblib", "faiss-cpu", "torch",
    "scikit-activeml",
)  # fmt: skip


def _load() -> float:
    return os.getloadavg()[0]


@dataclass
class Measured:
    """What a run has measured so far."""

    results: list[Result] = field(default_factory=list)
    tables: list[Rows] = field(default_factory=list)
    seconds: float = 0.0
    load: float = field(default_factory=_load)


def _first_value(path: str, key: str) -> str | None:
    """The first value of a key in a file of lines ``key : value`` that Linux keeps."""
    try:
        with Path(path).open(encoding="utf-8") as lines:
            for line in lines:
                name, _, value = line.partition(":")
                if name.strip() == key:
                    return value.strip()
    except OSError:
        return None
    return None


def machine() -> str:
    """Processor, cores and memory."""
    processor = _first_value("/proc/cpuinfo", "model name") or platform.machine()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIB
    return f"{processor}, {cores} cores, {memory:.0f} GiB of memory, {platform.system()}"


def versions() -> list[tuple[str, str]]:
    """Python, packages and R, those that are installed."""
    found = [("Python", platform.python_version())]
    for package in PACKAGES:
        try:
            found.append((package, version(package)))
        except PackageNotFoundError:
            found.append((package, "not installed"))
    return found + (r_versions() or [("R", "not installed")])


def markdown_table(rows: Rows) -> str:
    """A table whose first column stands on the left, the others on the right."""
    lines = [rows.headings, ["---", *["---:"] * (len(rows.headings) - 1)], *rows.cells]
    text = "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)
    return f"## {rows.title[0].upper()}{rows.title[1:]}\n\n{text}" if rows.title else text


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def page(measured: Measured, *, before: Before, unfinished: str = "") -> str:
    """The whole page; `unfinished` says why a run is not complete."""
    parts = ["# Benchmarks"]
    if unfinished:
        parts.append(f"**Incomplete: {unfinished}.**")
    parts += [
        f"Measured {date.today().isoformat()} with `python -m benchmarks` in "
        f"{measured.seconds:.0f} s. At the start {measured.load:.1f} processes were running or "
        "waiting.",
        f"Machine: {machine()}.",
        "Versions: " + ", ".join(f"{name} {number}" for name, number in versions()) + ".",
        "Rivals take turns in one process and each keeps its fastest turn; a ratio is our time "
        "over the peer's. *Before* is what stood in the same line of the page that this one "
        "replaced.",
    ]
    if measured.results:
        parts += ["## Goals", _capital(summary(measured.results)) + "."]
        parts.append(markdown_table(before.of_goals(goal_table(measured.results))))
    if measured.tables:
        parts.append(
            "An exponent e says that a time grew as the quantity to the power of e since the line "
            "above."
        )
    parts += [markdown_table(before.of_growth(table)) for table in measured.tables]
    return "\n\n".join(parts) + "\n"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def write_page(path: Path, measured: Measured, *, unfinished: str = "") -> Path:
    """Replace the page in one step."""
    text = page(measured, before=Before.read(path), unfinished=unfinished)
    return write_file("output", path, lambda file: file.write(text.encode()))
