"""How samples look: a name, a text, columns, a picture. Plain text throughout; the page escapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from allsplits.exceptions import InvalidInputError
from allsplits.labelling._pictures import Pictures

#: Longer texts are cut on the page, and columns beyond this many are left out there.
_LONGEST_TEXT, _MOST_COLUMNS, _LONGEST_CELL = 20_000, 200, 300


@dataclass(frozen=True)
class Views:
    """What can be shown of each of the n samples.

    Attributes
    ----------
    names, texts : sequence of str or None
        What samples are called; what is to be read.
    columns : mapping of str to sequence, or None
        A table of what is known of each sample.
    pictures : Pictures or None
    """

    n_samples: int
    names: Sequence[str] | None = None
    texts: Sequence[Any] | None = None
    columns: Mapping[str, Sequence[Any]] | None = None
    pictures: Pictures | None = None

    def __post_init__(self) -> None:
        given = {"names": self.names, "texts": self.texts, **(self.columns or {})}
        for name, values in given.items():
            if values is not None and len(values) != self.n_samples:
                raise InvalidInputError(
                    f"{name} must have one entry for each of the {self.n_samples:,} samples; "
                    f"got {len(values):,}"
                )

    def name(self, row: int) -> str | None:
        """What a sample is called."""
        return None if self.names is None else readable(self.names[row], _LONGEST_CELL)

    def whole(self, row: int) -> dict[str, Any]:
        """Everything that the page shows of a sample."""
        columns = [] if self.columns is None else list(self.columns.items())
        return {
            **self.brief(row),
            "text": None if self.texts is None else readable(self.texts[row], _LONGEST_TEXT),
            "columns": [
                [readable(name, _LONGEST_CELL), _cell(values[row])]
                for name, values in columns[:_MOST_COLUMNS]
            ],
            "n_columns": len(columns),
        }

    def brief(self, row: int) -> dict[str, Any]:
        """What is shown of a sample in a list."""
        text = None if self.texts is None else readable(self.texts[row], 160)
        return {
            "row": row, "name": self.name(row), "excerpt": text,
            "picture": self.pictures is not None,
        }  # fmt: skip

    def search(self, wanted: str, most: int) -> list[int]:
        """Rows whose number, name, text or table holds the words, the first ones first."""
        wanted = wanted.strip().casefold()
        found = [int(wanted)] if wanted.isdecimal() and int(wanted) < self.n_samples else []
        searched = [values for values in (self.names, self.texts) if values is not None]
        if not searched and self.columns is not None:
            searched = list(self.columns.values())
        for row in range(self.n_samples if wanted else 0):
            if len(found) >= most:
                break
            if row not in found and any(wanted in str(v[row]).casefold() for v in searched):
                found.append(row)
        return found


def _cell(value: Any) -> str:
    if value is None or value != value:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else readable(value, _LONGEST_CELL)


def readable(value: Any, most: int) -> str:
    """Any value as text that JSON and a page can hold; lines stay lines."""
    text = str(value).encode("utf-8", "backslashreplace").decode("utf-8")
    text = "".join(
        c if c.isprintable() or c in " \n\t" else repr(c)[1:-1] for c in text[: most + 1]
    )
    return text if len(text) <= most else f"{text[:most]}…"
