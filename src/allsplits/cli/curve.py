"""`allsplits curve`: the learning curve, exact at every size, or retrieval at every cut-off."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allsplits.cli import _options as options
from allsplits.cli._command import reads_table
from allsplits.cli._load import Labelled, Source
from allsplits.cli._model import Model
from allsplits.cli._parse import parse_costs, parse_cv, parse_numbers, parse_sizes
from allsplits.cli._screen import Screen, Table, bar
from allsplits.cli._target import TargetKind
from allsplits.cli._test_file import TestFile, load_with_test
from allsplits.cli._write import check_table_output, write_table
from allsplits.exceptions import InvalidInputError

if TYPE_CHECKING:
    from allsplits.model_selection import Curve

_MOST_LINES = 20
#: Scores that have a cut-off, as users write them.
_WITH_RANKS = ("precision@k", "item_recall@k", "ndcg@k", "mrr@k", "recall@R")


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
    ranks: str | None = None
    cv: str | None = None


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
    ranks: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBERS",
            help="Cut-offs 1,5,10 or 1-50, in place of sizes: a score of retrieval at each "
            "(--scoring precision@k, item_recall@k, ndcg@k, mrr@k or recall@R).",
        ),
    ] = None,
    cv: Annotated[
        str | None,
        typer.Option(
            metavar="WAY",
            help="With --ranks, the galleries to average over: shots:5 (of each class), size:100, "
            "and all others of `evaluate`. Default: all other rows.",
        ),
    ] = None,
    strata: options.Strata = None,
    test: options.Test = None,
    test_labels: options.TestLabels = None,
    scoring: options.Scores = None,
    camera: options.Camera = None,
    exclude: options.Exclude = None,
    costs: options.Costs = None,
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
    """Show the score for every size of the training set, or retrieval at every cut-off.

    Each point is the average over all training sets of that size. Would more data help? See whether
    the curve still rises at its end. With --ranks each point is the average over all galleries.

    \b
    Examples:
      allsplits curve flowers.csv --target species
      allsplits curve flowers.csv -t species --k 5 --sizes 10-100:10
      allsplits curve faces.npz -t y --per-class --sizes 1,2,5,10
      allsplits curve flowers.csv -t species --scoring accuracy,neg_log_loss+1
      allsplits curve flowers.csv -t species --output curve.csv
      allsplits curve train.npz -t y --test test.npz --per-class --sizes 8,16
      allsplits curve faces.npz -t y --ranks 1-20 --scoring precision@k --cv shots:5
      allsplits curve people.npz -t who --ranks 1-20 --scoring recall@R --camera seen_by
    """
    tested = TestFile.given(source, test, test_labels)
    wanted = Wanted(k, sizes, per_class, task, output, json, tested, ranks, cv)
    model = Model(
        metric, weights, p, scoring, parse_costs(costs), camera=camera,
        exclude=None if exclude is None else exclude.value,
    )  # fmt: skip
    run_curve(screen, replace(source, strata=strata, camera=camera), model, wanted)


def run_curve(screen: Screen, source: Source, model: Model, wanted: Wanted) -> None:
    """Everything after the options are read."""
    k, output = wanted.k, wanted.output
    sizes = None if wanted.sizes is None else parse_sizes("--sizes", wanted.sizes)
    ranks = None if wanted.ranks is None else parse_numbers("--ranks", wanted.ranks)
    if ranks is not None:
        model = _at_ranks(model, wanted)
    elif wanted.cv is not None:
        raise InvalidInputError(
            "--cv goes with --ranks, as galleries; training sets of a learning curve are all of "
            "each size"
        )
    if model.camera is not None and ranks is None:
        raise InvalidInputError("--camera goes with --ranks: learning curves exclude nobody")
    check_table_output("--output", output, source.file, source.labels)
    way = parse_cv(wanted.cv)
    model.check_camera(way)
    labelled = load_with_test(
        screen, source, wanted.kind, wanted.test, metric=model.metric,
        groups=way.column if way else None,
    )  # fmt: skip
    if way is None:
        whole = ranks is not None and wanted.test is not None
        way = parse_cv(f"size:{len(labelled.y)}" if whole else "loo")
    task = model.task(screen, labelled, way, k, every_score=True, many_laws=ranks is None)
    with screen.noting(labelled.data.notes):
        if ranks is not None:
            found = task.over_ranks(ranks)
        else:
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


def _at_ranks(model: Model, wanted: Wanted) -> Model:
    """The model with a score that has cut-offs."""
    if wanted.sizes is not None or wanted.per_class:
        raise InvalidInputError("--ranks and --sizes (or --per-class) are two curves: choose one")
    scoring = model.scoring or _WITH_RANKS[0]
    if scoring not in _WITH_RANKS:
        raise InvalidInputError(
            f"--scoring must be one of {', '.join(_WITH_RANKS)} with --ranks, which are the k; got "
            f"{scoring!r}"
        )
    return replace(model, scoring=scoring.replace("@k", "@1").replace("@R", "@1"))


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
        "others": {name: found[name].scores.tolist() for name in found.names[1:]},
        "notes": labelled.data.notes,
    }


def _table(found: Curve, k: int) -> Table:
    """All sizes if they fit on a screen, else some at equal ratios."""
    import numpy as np

    shown = list(range(len(found.x)))
    if len(shown) > _MOST_LINES:
        wanted = np.geomspace(found.x[0], found.x[-1], _MOST_LINES)
        shown = sorted({int(np.abs(found.x - size).argmin()) for size in wanted})
    unit = {"shots": "rows of each class", "rank": "rank"}.get(found.parameter, "training rows")
    title = f"Learning curve, k = {k}: {len(shown)} of {len(found.x):,} sizes"
    if found.parameter == "rank":
        title = f"Retrieval over all galleries: {len(shown)} of {len(found.x):,} ranks"
    others = found.names[1:]
    numbers = range(1 + 1 + len(others))
    table = Table(title, (unit, found.scoring, *others, ""), right=tuple(numbers))
    low, high = float(found.scores.min()), float(found.scores.max())
    for i in shown:
        score = float(found.scores[i])
        more = (f"{found[name].scores[i]:.6f}" for name in others)
        table.add(f"{found.x[i]:,}", f"{score:.6f}", *more, bar(score, low, high))
    return table
