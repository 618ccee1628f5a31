"""Questions out and answers in: rows with their numbers and a target to be filled in.

A row is found again by its number. What else the answers say of it must be what the file says, so
that answers are never put beside the wrong rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from allsplits.cli._prepare import find_column
from allsplits.cli._write import check_table_output, output_format
from allsplits.exceptions import InvalidInputError

if TYPE_CHECKING:
    import narwhals as nw
    import numpy as np
    from numpy.typing import NDArray

#: Names of the column of row numbers; the first that the file does not have.
_ROW_NAMES = ("row", "row_number", "allsplits_row")


def check_questions_output(name: str | None, *inputs: str | None) -> None:
    """Refuse a file that cannot be written, or cannot hold an empty column."""
    check_table_output("--output", name, *inputs)
    if name is not None and output_format("--output", name) in ("npz", "npy"):
        raise InvalidInputError(
            "--output must be CSV, TSV, Parquet or Feather: the target is empty, which NPZ and NPY "
            f"cannot hold; got {name}"
        )


def questions(frame: nw.DataFrame[Any], rows: NDArray[np.int64], target: str) -> nw.DataFrame[Any]:
    """The rows with their numbers in front and, if there is none, an empty target behind."""
    import narwhals as nw

    number = row_column(frame.columns, target)
    numbers = nw.new_series(number, rows.tolist(), nw.Int64, backend=frame.implementation)
    if target not in frame.columns:
        frame = with_empty_column(frame, target)
    return frame.with_columns(numbers).select([number, *frame.columns])


def with_empty_column(frame: nw.DataFrame[Any], name: str) -> nw.DataFrame[Any]:
    """The frame with a column of missing text."""
    import narwhals as nw

    return frame.with_columns(nw.lit(None, dtype=nw.String).alias(name))


def row_column(columns: Sequence[str], target: str) -> str:
    """What the column of row numbers is called beside these columns."""
    taken = {*columns, target}
    free = [name for name in _ROW_NAMES if name not in taken]
    if not free:
        raise InvalidInputError(
            f"one of the names {', '.join(_ROW_NAMES)} must be free for the row numbers: rename a "
            "column"
        )
    return free[0]


def read_answers(
    name: str, answers: nw.DataFrame[Any], frame: nw.DataFrame[Any], target: str
) -> dict[int, Any]:
    """The label of each answered row of `frame`; rows whose target is still empty have none."""
    number = find_column(answers, f"{name}: the row numbers", row_column(frame.columns, target))
    target = find_column(answers, f"{name}: --target", target)
    answered = answers.filter(~answers[target].is_null())
    if not answers[number].dtype.is_integer():
        raise InvalidInputError(
            f"{name}: column {number!r} must hold row numbers, counted from 0; got "
            f"{answers[number].dtype}"
        )
    found: dict[int, Any] = {}
    for row, label in zip(answered[number].to_list(), answered[target].to_list(), strict=True):
        if row is None or not 0 <= row < len(frame):
            raise InvalidInputError(
                f"{name}: column {number!r} must hold numbers from 0 to {len(frame) - 1}; got {row}"
            )
        if found.setdefault(row, label) != label:
            raise InvalidInputError(
                f"{name} must answer each row once; got {found[row]!r} and {label!r} for row {row}"
            )
    _check_same_rows(name, answered, answered[number].to_list(), frame, {number, target})
    return found


def _check_same_rows(
    name: str, answered: nw.DataFrame[Any], rows: list[int], frame: nw.DataFrame[Any],
    others: set[str],
) -> None:  # fmt: skip
    there = set(frame.columns)
    asked = frame[rows]
    for column in (c for c in answered.columns if c in there and c not in others):
        pairs = zip(rows, answered[column].to_list(), asked[column].to_list(), strict=True)
        for row, said, known in pairs:
            if not _same(said, known):
                raise InvalidInputError(
                    f"{name} must come from this file: in row {row} it has {said!r} for "
                    f"{column!r}, and the file {known!r}"
                )


def _same(said: Any, known: Any) -> bool:
    """Equal as far as a spreadsheet keeps it: 15 digits, and text without the quote in front."""
    if isinstance(said, float | int) and isinstance(known, float | int):
        return math.isclose(said, known, rel_tol=1e-12) or (said != said and known != known)
    if said is None or known is None:
        return said is known
    return str(said).removeprefix("'") == str(known).removeprefix("'")
