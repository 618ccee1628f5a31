"""`allsplits curve`: the learning curve, exact at every size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allsplits.cli import _options as options
from allsplits.cli._command import reads_table
from allsplits.cli._load import Labelled, Source
from allsplits.cli._model import Model
from allsplits.cli._parse import parse_cv, parse_sizes
from allsplits.cli._screen import Screen, Table, bar
from allsplits.cli._target import TargetKind
from allsplits.cli._test_file import TestFile, load_with_test
from allsplits.cli._write import check_table_output, write_table

if TYPE_CHECKING:
    from allsplits.model_selection import Curve

_MOST_LINES = 20


@dataclass(frozen=True)
class Wanted:
    """What is to be computed and shown, as users write it."""

    k: int = 1
    sizes: str | None = None
    per_class: bool = False
    kind: TargetKind = TargetKind.AUTO
    output: str | None = None
    json: bool = False
    test: TestFile | None = None


@reads_table("row_names")
def curve(
    screen: Screen,
    source: Source,
    *,
    k: options.KNeighbors = 1,
    sizes: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBERS",
            help="Sizes of the training set: 10,100,1000, 10-200:10, or fractions 0.1,0.5. "
            "Default: every size for k = 1, a grid otherwise.",
        ),
    ] = None,
    per_class: Annotated[
        bool, typer.Option("--per-class", help="Sizes count the rows of each class (shots).")
    ] = False,
    test: options.Test = None,
    test_labels: options.TestLabels = None,
    scoring: options.Scoring = None,
    weights: options.Weights = options.Weighting.UNIFORM,
    metric: options.Metric = "minkowski",
    p: options.Power = 2.0,
    task: options.Kind = TargetKind.AUTO,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="PATH", help="Also write all points to a table."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Show the score for every size of the training set.

    Each point is the average over all training sets of that size. Would more data help? See whether
    the curve still rises at its end.

    \b
    Examples:
      allsplits curve flowers.csv --target species
      allsplits curve flowers.csv -t species --k 5 --sizes 10-100:10
      allsplits curve faces.npz -t y --per-class --sizes 1,2,5,10
      allsplits curve flowers.csv -t species --output curve.csv
      allsplits curve train.npz -t y --test test.npz --per-class --sizes 8,16
    """
    tested = TestFile.given(source, test, test_labels)
    wanted = Wanted(k, sizes, per_class, task, output, json, tested)
    run_curve(screen, source, Model(metric, weights, p, scoring), wanted)


def run_curve(screen: Screen, source: Source, model: Model, wanted: Wanted) -> None:
    """Everything after the options are read."""
    k, output = wanted.k, wanted.output
    sizes = None if wanted.sizes is None else parse_sizes("--sizes", wanted.sizes)
    check_table_output("--output", output, source.file, source.labels)
    labelled = load_with_test(screen, source, wanted.kind, wanted.test, metric=model.metric)
    task = model.task(screen, labelled, parse_cv("loo"), k)
    with screen.noting(labelled.data.notes):
        found = task.over_sizes(sizes, stratify=wanted.per_class)
    screen.note(*labelled.data.notes)
    if output is not None:
        _write(found, output)
    if wanted.json:
        screen.json(_document(labelled, found, k))
    elif output != "-":
        screen.line(labelled.sentence())
        screen.print()
        screen.print(_table(found, k))
    if output not in (None, "-"):
        screen.note(f"{len(found.x):,} points written to {output}")


def _write(found: Curve, output: str) -> None:
    import narwhals as nw

    from allsplits.cli._read import frame_library

    frame = nw.from_native(found.frame(frame_library()), eager_only=True)
    write_table("--output", output, frame)


def _document(labelled: Labelled, found: Curve, k: int) -> dict[str, Any]:
    return {
        "data": labelled.document(),
        "scoring": found.scoring,
        "n_neighbors": k,
        "error_bound": found.error_bound,
        "curve": [
            {found.parameter: size, "score": score}
            for size, score in zip(found.x.tolist(), found.scores.tolist(), strict=True)
        ],
        "notes": labelled.data.notes,
    }


def _table(found: Curve, k: int) -> Table:
    """All sizes if they fit on a screen, else some at equal ratios."""
    import numpy as np

    shown = list(range(len(found.x)))
    if len(shown) > _MOST_LINES:
        wanted = np.geomspace(found.x[0], found.x[-1], _MOST_LINES)
        shown = sorted({int(np.abs(found.x - size).argmin()) for size in wanted})
    unit = "rows of each class" if found.parameter == "shots" else "training rows"
    title = f"Learning curve, k = {k}: {len(shown)} of {len(found.x):,} sizes"
    table = Table(title, (unit, found.scoring, ""), right=(0, 1))
    low, high = float(found.scores.min()), float(found.scores.max())
    for i in shown:
        score = float(found.scores[i])
        table.add(f"{found.x[i]:,}", f"{score:.6f}", bar(score, low, high))
    return table
