"""`allsplits values`: which rows teach their neighbours, and which mislead them."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allsplits.cli import _options as options
from allsplits.cli._command import reads_table
from allsplits.cli._load import Labelled, Source, load
from allsplits.cli._model import Model
from allsplits.cli._parse import parse_cv
from allsplits.cli._read import STDIN
from allsplits.cli._screen import LOADING, Screen, Table
from allsplits.cli._target import TargetKind
from allsplits.cli._write import check_table_output, write_table
from allsplits.exceptions import InvalidInputError

if TYPE_CHECKING:
    from allsplits.values import SampleValues


class Method(StrEnum):
    """How rows are valued."""

    INFLUENCE = "influence"
    SHAPLEY = "shapley"
    BANZHAF = "banzhaf"
    SOFT_SHAPLEY = "soft_shapley"


@reads_table()
def values(
    screen: Screen,
    source: Source,
    *,
    k: options.KNeighbors = 5,
    method: Annotated[
        Method,
        typer.Option(
            metavar="|".join(Method),
            help="influence: in training or not, over the splits of --cv; banzhaf, shapley: added "
            "to other rows; soft_shapley: for the share of right votes.",
        ),
    ] = Method.INFLUENCE,
    cv: options.Cv = None,
    scoring: options.Scoring = None,
    metric: options.Metric = "minkowski",
    weights: options.Weights = options.Weighting.UNIFORM,
    p: options.Power = 2.0,
    task: options.Kind = TargetKind.AUTO,
    number: Annotated[
        int, typer.Option("--show", metavar="N", min=0, help="How many of the worst and the best.")
    ] = 5,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="PATH", help="Write the value of every row."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Say which rows teach their neighbours, and which mislead them.

    Every row is valued by what it does, as a neighbour, for all the others: no second file is
    needed. Values are averages over every training set, in units of the score. With --cv
    groups:COLUMN:2 whole groups are valued.

    \b
    Examples:
      allsplits values flowers.csv --target species
      allsplits values flowers.csv -t species --method shapley -o values.csv
      allsplits values scans.parquet -t finding --cv groups:patient:2 --standardize
    """
    if output == STDIN and json:
        raise InvalidInputError("--output - and --json both print: name a file for one of them")
    way = parse_cv(cv)
    check_table_output("--output", output, source.file, source.labels)
    labelled = load(screen, source, task, metric=metric, groups=way.column if way else None)
    model = Model(metric, weights, p, scoring).estimator(k, labelled.regression)
    with screen.waiting(LOADING), screen.noting(labelled.data.notes):
        from allsplits.values import sample_values

        found = sample_values(
            model, labelled.data.X, labelled.y, cv=None if way is None else way.build(),
            method=method.value, scoring=scoring, groups=labelled.data.groups,
            progress=screen.progress,
        )  # fmt: skip
    screen.note(*labelled.data.notes)
    if output is not None:
        write_table("--output", output, _table(labelled, found))
    if json:
        screen.json(_document(labelled, found, number))
    elif output != STDIN:
        _show(screen, labelled, found, number)
    if output not in (None, STDIN):
        screen.note(f"values of {len(found.values):,} {_units(found)} written to {output}")


def _units(found: SampleValues) -> str:
    return "rows" if found.groups is None else "groups"


def _lines(labelled: Labelled, found: SampleValues, numbers: list[int]) -> list[dict[str, Any]]:
    """What is said of these rows, or groups."""
    lines: list[dict[str, Any]] = []
    for i in numbers:
        value = float(found.values[i])
        if found.groups is not None:
            lines.append({"group": found.groups[i].item(), "value": value})
            continue
        line: dict[str, Any] = {"row": int(labelled.data.rows[i])}
        if labelled.data.names is not None:
            line["name"] = labelled.data.names[i]
        lines.append({**line, "target": found.y[i].item(), "value": value})
    return lines


def _show(screen: Screen, labelled: Labelled, found: SampleValues, number: int) -> None:
    screen.line(labelled.sentence())
    screen.print()
    bound = "Rounding" if found.error_bound < 1e-9 else "Weighted votes are enclosed, not counted"
    screen.print(
        f"{found.method.replace('_', ' ').capitalize()} of {len(found.values):,} {_units(found)} "
        f"on {found.scoring.replace('_', ' ')}, k = {found.n_neighbors}: {found.law}.\n"
        f"{bound}: ± {found.error_bound:.0e}."
    )
    for title, rows in (
        ("most harmful", found.worst(number)),
        ("most helpful", found.best(number)),
    ):
        lines = _lines(labelled, found, rows.tolist())
        if lines:
            keys = list(lines[0])
            table = Table(f"The {title} {_units(found)}", keys, right=(0, len(keys) - 1))
            for line in lines:
                table.add(*(line[key] for key in keys[:-1]), f"{line['value']:+.3e}")
            screen.print()
            screen.print(table)


def _table(labelled: Labelled, found: SampleValues) -> Any:
    """The value of every row, as they stand in the file."""
    import narwhals as nw

    lines = _lines(labelled, found, list(range(len(found.values))))
    columns = {key: [line[key] for line in lines] for key in lines[0]}
    return nw.from_dict(columns, backend=labelled.data.frame.implementation)


def _document(labelled: Labelled, found: SampleValues, number: int) -> dict[str, Any]:
    return {
        "data": labelled.document(),
        "method": found.method,
        "scoring": found.scoring,
        "n_neighbors": found.n_neighbors,
        "law": found.law,
        "error_bound": found.error_bound,
        "values": found.values.tolist(),
        "worst": _lines(labelled, found, found.worst(number).tolist()),
        "best": _lines(labelled, found, found.best(number).tolist()),
        "notes": labelled.data.notes,
    }
