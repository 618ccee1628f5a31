"""`allsplits suspects`: rows whose labels look wrong."""

from __future__ import annotations

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
    from allsplits.values import Suspects


@reads_table()
def suspects(
    screen: Screen,
    source: Source,
    *,
    metric: options.Metric = "minkowski",
    p: options.Power = 2.0,
    effects: Annotated[
        int,
        typer.Option(
            metavar="N", min=0,
            help="For the first N, what removing or relabelling the row would do to the score.",
        ),
    ] = 0,
    k: options.KNeighbors = 5,
    cv: options.Cv = None,
    scoring: options.Scoring = None,
    number: Annotated[
        int, typer.Option("--show", metavar="N", min=0, help="How many are shown.")
    ] = 10,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="PATH", help="Write all suspects."),
    ] = None,
    json: options.Json = False,
) -> None:  # fmt: skip
    """Find rows whose labels look wrong, by the labels of the rows around them.

    Says about how many labels are wrong, and lists as many, the most doubtful first, each with the
    label that its neighbours give and with its nearest neighbours. -k, --cv and --scoring are for
    --effects; rows of one group (--cv groups:COLUMN:2) do not judge each other.

    \b
    Examples:
      allsplits suspects flowers.csv --target species
      allsplits suspects flowers.csv -t species -o suspects.csv --effects 5
      allsplits suspects scans.parquet -t finding --cv groups:patient:2 --standardize
    """
    if output == STDIN and json:
        raise InvalidInputError("--output - and --json both print: name a file for one of them")
    way = parse_cv(cv)
    check_table_output("--output", output, source.file, source.labels)
    labelled = load(
        screen, source, TargetKind.CLASSIFICATION, metric=metric, groups=way.column if way else None
    )
    model = Model(metric, options.Weighting.UNIFORM, p, scoring).estimator(k, False)
    with screen.waiting(LOADING), screen.noting(labelled.data.notes):
        from allsplits.values import find_label_errors

        found = find_label_errors(
            labelled.data.X, labelled.y, estimator=model, scoring=scoring,
            cv=None if way is None else way.build(), groups=labelled.data.groups,
            progress=screen.progress,
        )  # fmt: skip
        lines = _lines(labelled, found, effects)
    screen.note(*labelled.data.notes)
    if output is not None:
        write_table("--output", output, _table(labelled, lines))
    if json:
        screen.json(_document(labelled, found, lines))
    elif output != STDIN:
        _show(screen, labelled, found, lines[:number])
    if output not in (None, STDIN):
        screen.note(f"{len(lines):,} suspects written to {output}")


def _lines(labelled: Labelled, found: Suspects, n_effects: int) -> list[dict[str, Any]]:
    """What is said of each suspect; rows count as in the file."""
    data = labelled.data
    changes = found.effects(n_effects) if n_effects else None
    lines = []
    for i, row in enumerate(found.rows.tolist()):
        near = found.neighbors(row)
        line: dict[str, Any] = {"row": int(data.rows[row])}
        if data.names is not None:
            line["name"] = data.names[row]
        line |= {
            "label": found.y[row].item(),
            "suggested": found.suggested[row].item(),
            "probability": round(float(found.probability[row]), 4),
            "own_probability": round(float(found.own_probability[row]), 4),
            "doubt": float(found.doubt[row]),
            "neighbors": " ".join(str(data.rows[other]) for other in near),
            "neighbor_labels": " ".join(str(label) for label in found.y[near]),
        }
        if changes is not None:
            for name in ("removed", "relabelled"):
                line[name] = float(changes[name][i]) if i < n_effects else None
        lines.append(line)
    return lines


def _show(screen: Screen, labelled: Labelled, found: Suspects, lines: list[dict[str, Any]]) -> None:
    screen.line(labelled.sentence())
    screen.print()
    screen.print(
        f"About {found.n_expected:.0f} of {len(found.y):,} labels are expected to be wrong, if "
        f"errors fall on all rows alike; {len(found):,} are doubted."
    )
    if not lines:
        return
    titles = {
        "row": "row", "name": "name", "label": "label", "suggested": "looks like",
        "probability": "how often", "neighbors": "nearest rows",
        "neighbor_labels": "their labels", "removed": "removed", "relabelled": "relabelled",
    }  # fmt: skip
    keys = [key for key in titles if key in lines[0]]
    table = Table("Suspects, the most doubtful first", [titles[key] for key in keys], right=(0,))
    for line in lines:
        table.add(*(_cell(key, line[key]) for key in keys))
    screen.print()
    screen.print(table)


def _cell(key: str, value: Any) -> str:
    if key == "probability":
        return f"{100 * value:.1f} %"
    if key in ("removed", "relabelled"):
        return "" if value is None else f"{value:+.2e}"
    return str(value)


def _table(labelled: Labelled, lines: list[dict[str, Any]]) -> Any:
    import narwhals as nw

    keys = list(lines[0]) if lines else ["row", "label", "suggested"]
    columns = {key: [line[key] for line in lines] for key in keys}
    return nw.from_dict(columns, backend=labelled.data.frame.implementation)


def _document(labelled: Labelled, found: Suspects, lines: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "data": labelled.document(),
        "n_expected": found.n_expected,
        "n_suspects": len(found),
        "suspects": lines,
        "notes": labelled.data.notes,
    }
