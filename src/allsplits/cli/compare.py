"""`allsplits compare`: whether one model is better than another on this data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allsplits.cli import _options as options
from allsplits.cli._command import reads_table
from allsplits.cli._load import Labelled, Source, load
from allsplits.cli._model import Model
from allsplits.cli._parse import Cv, parse_cv
from allsplits.cli._prepare import prepare
from allsplits.cli._read import read_table
from allsplits.cli._screen import Screen, Table
from allsplits.cli._target import TargetKind
from allsplits.cli.evaluate import evaluation_document
from allsplits.exceptions import InvalidInputError

if TYPE_CHECKING:
    from allsplits.model_selection import Comparison


@reads_table("row_names")
def compare(
    screen: Screen,
    source: Source,
    *,
    k: options.KNeighbors = 5,
    other_k: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Number of neighbours of the other model."),
    ] = None,
    metric: options.Metric = "minkowski",
    other_metric: Annotated[
        str | None, typer.Option(metavar="NAME", help="Distance of the other model.")
    ] = None,
    weights: options.Weights = options.Weighting.UNIFORM,
    other_weights: Annotated[
        options.Weighting | None,
        typer.Option(metavar="|".join(options.Weighting), help="Weights of the other model."),
    ] = None,
    other_features: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Features of the other model: the same rows, in order."),
    ] = None,
    cv: options.Cv = None,
    scoring: options.Scoring = None,
    p: options.Power = 2.0,
    task: options.Kind = TargetKind.AUTO,
    confidence: Annotated[
        float, typer.Option(metavar="SHARE", min=0.0, max=1.0, help="Confidence of the interval.")
    ] = 0.95,
    json: options.Json = False,
) -> None:
    """Compare two models on the same rows.

    The other model has what --other-… says and is the same as the first in all else. Both are
    averaged over all splits; the interval is the sampling noise of the paired difference.

    \b
    Examples:
      allsplits compare flowers.csv --target species --k 1 --other-k 15
      allsplits compare flowers.csv -t species --other-metric manhattan
      allsplits compare old.npy --labels labels.csv --other-features new.npy
    """
    first = Model(metric, weights, p, scoring)
    second = Model(other_metric or metric, other_weights or weights, p, scoring)
    way = parse_cv(cv)
    if (k, first) == (other_k or k, second) and other_features is None:
        raise InvalidInputError(
            "give the other model one of --other-k, --other-metric, --other-weights or "
            "--other-features that differs from the first"
        )
    labelled = load(screen, source, task, metric=metric, groups=way.column if way else None)
    other = labelled
    if other_features is not None:
        other = _other_features(screen, source, labelled, other_features, second.metric)
    models = (first, labelled, k), (second, other, other_k or k)
    found = _compared(screen, way, models, confidence)
    notes = list(dict.fromkeys([*labelled.data.notes, *other.data.notes]))
    screen.note(*notes)
    file = source.file
    names = _names(file, k, first), _names(other_features or file, other_k or k, second)
    if json:
        screen.json(_document(labelled, found, names, notes))
    else:
        _show(screen, labelled, found, names)


def _compared(
    screen: Screen, way: Cv | None, models: Sequence[tuple[Model, Labelled, int]], confidence: float
) -> Comparison:
    """Both evaluated, then compared."""
    evaluations = []
    for model, labelled, k in models:
        task = model.task(screen, labelled, way, k)
        with screen.noting(labelled.data.notes):
            evaluations.append(task.evaluate())
    from allsplits import compare as compare_evaluations

    return compare_evaluations(*evaluations, confidence=confidence)


def _other_features(
    screen: Screen, source: Source, labelled: Labelled, file: str, metric: str
) -> Labelled:
    """The same rows and target with the features of another file."""
    with screen.waiting(f"reading {file}"):
        frame = read_table(file, None, source.header)
    if len(frame) != labelled.data.n_rows:
        raise InvalidInputError(
            f"--other-features must have the rows of {source.file}, in order; got {len(frame):,} "
            f"rows for {labelled.data.n_rows:,}"
        )
    choices = source.choices(metric)
    # the second file may repeat the target; as a feature it would give everything away
    dropped = (labelled.target, *choices.drop)
    choices = replace(choices, drop=dropped, drop_missing=False, lenient=True)
    rows = labelled.data.rows
    data = prepare(frame[rows.tolist()], None, choices)
    return replace(labelled, data=replace(data, groups=labelled.data.groups, rows=rows))


def _names(file: str, k: int, model: Model) -> str:
    return f"{file}, k = {k}, {model.metric}, {model.weights} weights"


def _document(
    labelled: Labelled, found: Comparison, names: tuple[str, str], notes: list[str]
) -> dict[str, Any]:
    interval = found.interval
    return {
        "data": labelled.document(),
        "difference": found.difference,
        "error_bound": found.error_bound,
        "interval": {
            "low": interval.low, "high": interval.high, "confidence": interval.confidence
        },
        "decided": found.decided,
        "first": {"model": names[0], **evaluation_document(found.first)},
        "second": {"model": names[1], **evaluation_document(found.second)},
        "notes": notes,
    }  # fmt: skip


def _show(screen: Screen, labelled: Labelled, found: Comparison, names: tuple[str, str]) -> None:
    screen.line(labelled.sentence())
    screen.print()
    columns = ("", found.first.scoring, "model")
    table = Table("The same rows, the same splits", columns, right=(1,))
    table.add("first", f"{found.first.score:.6f}", names[0])
    table.add("other", f"{found.second.score:.6f}", names[1])
    screen.print(table)
    interval = found.interval
    better = "first" if found.difference > 0 else "other"
    verdict = (
        f"The {better} model is better: zero is outside."
        if found.decided
        else "These rows do not decide which is better: zero is inside."
    )
    screen.print(
        f"Difference, first less other: {found.difference:+.6f}; sampling noise of this data set: "
        f"{interval.low:+.4f} to {interval.high:+.4f} ({interval.confidence:.4g} interval).\n"
        f"{verdict}\n"
        f"The first is better on {found.n_better:,} rows, the other on {found.n_worse:,}."
    )
