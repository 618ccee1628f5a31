"""What the page said before: the figures of the run that a new one replaces, line by line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks._timing import Rows

__all__ = ["Before"]

#: Columns that say what was measured, not how long it took.
SETTINGS = ("n", "k ≤", "p", "classes", "copies", "depth")
#: What tables had before a column came.
USUAL = {"copies": "1"}


class Before:
    """The tables of an earlier page, by their titles."""

    def __init__(self, text: str) -> None:
        self.tables: dict[str, list[dict[str, str]]] = {}
        title, headings = "", []
        for line in text.splitlines():
            if line.startswith("## "):
                title, headings = line[3:].lower(), []
            elif line.startswith("| ") and not line.startswith("| --- "):
                cells = [
                    cell.replace("\\|", "|") for cell in re.split(r" ?(?<!\\)\| ?", line)[1:-1]
                ]
                if headings:
                    self.tables[title].append(dict(zip(headings, cells, strict=False)))
                else:
                    self.tables[title], headings = [], cells

    @classmethod
    def read(cls, path: Path) -> Before:
        """Of a page, or of none."""
        return cls(path.read_text(encoding="utf-8") if path.exists() else "")

    def of_goals(self, goals: Rows) -> Rows:
        """With the ratio, or the time, that stood in the same line."""
        known = {
            line["what"]: line["ratio"] or line["ours"] for line in self.tables.get("goals", [])
        }
        cells = [[*line, known.get(line[0], "")] for line in goals.cells]
        return Rows(goals.title, [*goals.headings, "before"], cells)

    def of_growth(self, table: Rows) -> Rows:
        """With the time of the evaluation that the same settings had."""
        timed = "evaluation, s"
        if timed not in table.headings:
            return table
        lines = self.tables.get(table.title.lower(), [])
        known = {_settings(line): line[timed] for line in lines if timed in line}
        cells = [[*line, known.get(_settings(_named(table, line)), "")] for line in table.cells]
        return Rows(table.title, [*table.headings, "before"], cells)


def _named(table: Rows, line: Sequence[str]) -> dict[str, str]:
    return dict(zip(table.headings, line, strict=True))


def _settings(line: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(line.get(name, USUAL.get(name, "")) for name in SETTINGS)
