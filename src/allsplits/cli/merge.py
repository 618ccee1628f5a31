"""`allsplits merge`: labels that were filled in, back into the file they were asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from allsplits.cli import _options as options
from allsplits.cli._answers import read_answers, with_empty_column
from allsplits.cli._read import STDIN, read_table
from allsplits.cli._screen import Screen
from allsplits.cli._write import check_table_output, write_table
from allsplits.exceptions import InvalidInputError

if TYPE_CHECKING:
    import narwhals as nw


def merge(
    file: options.File,
    answers: Annotated[
        list[str],
        typer.Argument(
            metavar="ANSWERS...",
            help="Files that `allsplits query --output` wrote for FILE, with the target filled in.",
            show_default=False,
        ),
    ],
    target: Annotated[
        str, typer.Option("--target", "-t", metavar="COLUMN", help="The column with the labels.")
    ],
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="PATH", help="Where to write FILE; - prints CSV."),
    ] = STDIN,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace labels that FILE has and ANSWERS correct.")
    ] = False,
    file_format: options.Format = None,
    no_header: options.NoHeader = False,
    quiet: options.Quiet = False,
) -> None:
    """Put labels that were filled in back into their file.

    Rows are found by the row numbers that `allsplits query --output` wrote; the other columns of
    ANSWERS must be those of FILE. Rows whose target is still empty stay as they are. FILE itself is
    not changed.

    \b
    Examples:
      allsplits query flowers.csv -t species -o ask.csv
      allsplits merge flowers.csv ask.csv -t species -o flowers-2.csv
    """
    screen = Screen(quiet)
    check_table_output("--output", output, file, *answers)
    frame = read_table(file, None if file_format is None else file_format.value, not no_header)
    if target not in frame.columns:
        frame = with_empty_column(frame, target)
    labels = frame[target].to_list()
    empty = frame[target].is_null().to_list()
    filled = 0
    for name in answers:
        for row, label in read_answers(name, read_table(name), frame, target).items():
            if not (empty[row] or overwrite or _text(labels[row]) == _text(label)):
                raise InvalidInputError(
                    f"{name}: row {row} has the label {labels[row]!r} already, not {label!r}: "
                    "--overwrite replaces it"
                )
            filled += empty[row] or _text(labels[row]) != _text(label)
            labels[row], empty[row] = label, False
    kept = [None if missing else label for label, missing in zip(labels, empty, strict=True)]
    write_table("--output", output, frame.with_columns(_column(target, kept, frame)))
    screen.note(
        f"{filled:,} labels filled in: {len(frame) - sum(empty):,} of {len(frame):,} rows have a "
        f"{target} now"
    )


def _text(label: Any) -> str:
    """The label as text: 1 of one file and 1.0 of another are the same."""
    whole = isinstance(label, float) and label.is_integer()
    return str(int(label) if whole else label)


def _column(target: str, labels: list[Any], frame: nw.DataFrame[Any]) -> nw.Series[Any]:
    """The labels as one column of text, whole numbers, numbers or truth values."""
    import narwhals as nw

    kinds = {type(label) for label in labels if label is not None}
    for dtype, allowed in (
        (nw.String, {str}),
        (nw.Boolean, {bool}),
        (nw.Int64, {int}),
        (nw.Float64, {int, float}),
    ):
        if kinds <= allowed:
            return nw.new_series(target, labels, dtype, backend=frame.implementation)
    names = " and ".join(sorted(kind.__name__ for kind in kinds))
    raise InvalidInputError(f"--target must be text or numbers, not both; got {names}")
