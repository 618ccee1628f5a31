"""`allsplits condense`: the rows that the nearest neighbour needs."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from allsplits.cli import _options as options
from allsplits.cli._command import reads_table
from allsplits.cli._load import Source, load
from allsplits.cli._read import STDIN
from allsplits.cli._screen import Screen
from allsplits.cli._target import TargetKind
from allsplits.cli._write import check_table_output, write_table


class Method(StrEnum):
    """How rows are chosen."""

    HART = "hart"
    FAST = "fast"


class Reduction(StrEnum):
    """What is dropped afterwards."""

    CONSISTENT = "consistent"
    PAPER = "paper"
    NONE = "none"


@reads_table("row_names")
def condense(
    screen: Screen,
    source: Source,
    *,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="PATH", help="Where to write the rows; - prints."),
    ] = STDIN,
    method: Annotated[
        Method,
        typer.Option(
            metavar="|".join(Method),
            help="hart: passes over the rows in order; fast: FCNN, whatever the order.",
        ),
    ] = Method.HART,
    reduce: Annotated[
        Reduction,
        typer.Option(
            metavar="|".join(Reduction),
            help="Then drop rows: consistent keeps every row of FILE classified right; paper drops "
            "more and may not; none.",
        ),
    ] = Reduction.CONSISTENT,
    json: options.Json = False,
) -> None:
    """Write the few rows that the nearest neighbour needs.

    With these prototypes 1-NN still gets every row right (but for rows at the same place with
    different classes). Rows are written as they were read, with all their columns. --json prints
    the row numbers instead of rows (with --output: besides).

    \b
    Examples:
      allsplits condense flowers.csv --target species > small.csv
      allsplits condense flowers.csv -t species -o small.parquet --standardize
      allsplits condense big.parquet -t y -o small.parquet --method fast --reduce none
    """
    check_table_output("--output", output, source.file, source.labels)
    labelled = load(screen, source, TargetKind.CLASSIFICATION, metric="euclidean")
    with screen.noting(labelled.data.notes):
        from allsplits import CondensedReduced, FastCondensed

        kind = CondensedReduced if method is Method.HART else FastCondensed
        kept_right: Any = None if reduce is Reduction.NONE else reduce.value
        model = kind(reduce=kept_right, progress=screen.progress)
        model.fit(labelled.data.X, labelled.y)
    screen.note(*labelled.data.notes)
    kept = model.sample_indices_
    if output != STDIN or not json:
        write_table("--output", output, labelled.data.frame[kept.tolist()])
    if json:
        rows = labelled.data.rows[kept].tolist()
        screen.json(
            {"data": labelled.document(), "kept": len(rows), "rows": rows,
             "notes": labelled.data.notes}
        )  # fmt: skip
    where = "" if output == STDIN else f", written to {output}"
    screen.note(
        f"{len(kept):,} of {len(labelled.y):,} rows kept ({len(kept) / len(labelled.y):.1%}){where}"
    )
