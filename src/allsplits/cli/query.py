"""`allsplits query`: which rows to label next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allsplits.cli import _options as options
from allsplits.cli._answers import check_questions_output, questions, with_empty_column
from allsplits.cli._command import reads_table
from allsplits.cli._load import Source, read_source
from allsplits.cli._model import check_metric
from allsplits.cli._prepare import Data, find_column, listed, prepare
from allsplits.cli._read import STDIN, read_table
from allsplits.cli._screen import LOADING, Screen, Table
from allsplits.cli._target import class_labels
from allsplits.cli._write import write_table
from allsplits.exceptions import InvalidInputError

if TYPE_CHECKING:
    import narwhals as nw
    import numpy as np
    from numpy.typing import NDArray

_AGREEMENT = (
    "Agreement is 1 where the whole committee gives one class and 0 where all classes get equal "
    "shares:\nwith C classes, (C × largest share − 1) / (C − 1)."
)
_LARGEST_SEED = 2**32 - 1


class Utility(StrEnum):
    """What makes a row worth asking about."""

    AGREEMENT = "agreement"
    ENTROPY = "entropy"
    MARGIN = "margin"


_Unlabelled = Annotated[
    str | None,
    typer.Argument(
        metavar="UNLABELLED",
        help="More rows to choose from, with the same columns; those with a target are "
        "labelled. Without it: rows of FILE whose target is missing.",
    ),
]
_UtilityOption = Annotated[
    Utility,
    typer.Option(
        metavar="|".join(Utility),
        help="Ask where members agree least, by entropy, or by the margin.",
    ),
]
_Seed = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=0,
        max=_LARGEST_SEED,
        help="Decides between equally useful rows, and which are asked at the start.",
    ),
]
_Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="PATH",
        help="Write the chosen rows with their row numbers and an empty target, to be filled "
        "in for `allsplits merge`; - prints CSV.",
    ),
]
_FromScratch = Annotated[
    bool,
    typer.Option(
        "--from-scratch", help="FILE has no column for the target yet: no row is labelled."
    ),
]


@dataclass(frozen=True)
class Pool:
    """Labelled rows and candidates in one array; `frame` and `rows` are those of the candidates."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    candidates: NDArray[np.intp]
    frame: nw.DataFrame[Any]
    rows: NDArray[np.int64]
    names: list[str] | None
    name: str
    target: str
    notes: list[str]


@reads_table("labels")
def query(
    screen: Screen,
    source: Source,
    *,
    unlabelled: _Unlabelled = None,
    number: Annotated[
        int, typer.Option("--number", "-n", metavar="N", min=1, help="How many rows to choose.")
    ] = 10,
    k: options.KNeighbors = 5,
    leave_out: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="Labelled rows that each committee member leaves out."
        ),
    ] = 1,
    utility: _UtilityOption = Utility.AGREEMENT,
    diversity: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="Spread the choice over so many times as many useful rows."
        ),
    ] = 1,
    metric: options.Metric = "minkowski",
    seed: _Seed = 0,
    output: _Output = None,
    from_scratch: _FromScratch = False,
    json: options.Json = False,
) -> None:
    """Choose the rows to label next.

    Those on which a committee disagrees most. The committee is every nearest-neighbour classifier
    that leaves some labelled rows out: all of them, counted exactly. While there are fewer labels
    than --k and --leave-out together, or none, rows are drawn at random.

    \b
    Examples:
      allsplits query flowers.csv -t species -o ask.csv   (rows without a species)
      allsplits merge flowers.csv ask.csv -t species -o flowers-2.csv
      allsplits query labelled.csv unlabelled.csv --target species --number 20
      allsplits query cells.parquet -t type --id barcode --diversity 5 -o ask.csv
    """
    check_questions_output(output, source.file, unlabelled)
    pool = _read_pool(screen, source, unlabelled, metric, from_scratch)
    with screen.waiting(LOADING):
        from allsplits import CommitteeQuery

        strategy = CommitteeQuery(
            k, leave_out, utility=utility.value, diversity=diversity, metric=metric,
            random_state=seed, progress=screen.progress,
        )  # fmt: skip
    with screen.noting(pool.notes):
        rows = _ask(strategy, pool, min(number, len(pool.candidates)), k + leave_out)
    screen.note(*pool.notes)
    if len(pool.candidates) < number:
        screen.note(f"there are only {len(pool.candidates)} rows to choose from")
    _show(screen, pool, rows, output, json)


def _ask(strategy: Any, pool: Pool, batch: int, needed: int) -> list[dict[str, Any]]:
    """The chosen rows with the votes on them; at random while there are too few labels."""
    import numpy as np

    n_labelled = len(pool.y) - len(pool.candidates)
    if n_labelled >= needed:
        chosen = strategy.query(pool.X, pool.y, pool.candidates, batch)
        return _describe(pool, chosen, strategy.shares(pool.X, pool.y, chosen))
    pool.notes.append(
        f"{n_labelled} rows are labelled, and the committee needs {needed} (--k and --leave-out "
        "together): these rows are drawn at random"
    )
    rng = np.random.default_rng(strategy.random_state)
    return _describe(pool, rng.permutation(pool.candidates)[:batch], None)


def _describe(
    pool: Pool, chosen: NDArray[np.intp], shares: NDArray[np.float64] | None
) -> list[dict[str, Any]]:
    import numpy as np

    first = int(pool.candidates[0])
    classes = [str(name) for name in np.unique(pool.y[:first])] if shares is not None else []
    n = len(classes)
    described = []
    for i, position in enumerate((chosen - first).tolist()):
        row: dict[str, Any] = {"position": position, "row": int(pool.rows[position])}
        if pool.names is not None:
            row["name"] = pool.names[position]
        row["agreement"], row["shares"] = None, {}
        if shares is not None:
            row["agreement"] = (n * float(shares[i].max()) - 1) / (n - 1) if n > 1 else 1.0
            row["shares"] = dict(zip(classes, shares[i].tolist(), strict=True))
        described.append(row)
    return described


def _show(
    screen: Screen, pool: Pool, rows: list[dict[str, Any]], output: str | None, as_json: bool
) -> None:
    if output is not None:
        positions = [row["position"] for row in rows]
        asked = questions(pool.frame[positions], pool.rows[positions], pool.target)
        write_table("--output", output, asked)
    if as_json:
        kept = [{key: row[key] for key in row if key != "position"} for row in rows]
        screen.json({"file": pool.name, "rows": kept, "notes": pool.notes})
    elif output != STDIN:
        screen.print(_table(pool, rows))
        if rows[0]["shares"]:
            screen.print()
            screen.print(_AGREEMENT)
    if output not in (None, STDIN):
        screen.note(
            f"{len(rows)} rows written to {output}: fill in {pool.target}, then "
            f"allsplits merge {pool.name} {output} --target {pool.target} --output NEW"
        )


def _table(pool: Pool, rows: list[dict[str, Any]]) -> Table:
    named = [] if pool.names is None else ["name"]
    columns = ["row", *named, "agreement", "the committee says"]
    title = f"Rows of {pool.name} to label next (counted from 0)"
    voted = bool(rows[0]["shares"])
    table = Table(title, columns if voted else columns[:-2], right=(0, 1 + len(named)))
    for row in rows:
        cells = [row["row"], *(row[key] for key in named)]
        if voted:
            votes = sorted(row["shares"].items(), key=lambda pair: -pair[1])[:3]
            said = ", ".join(f"{name} {share:.1%}" for name, share in votes)
            cells += [f"{row['agreement']:.4f}", said]
        table.add(*cells)
    return table


def _read_pool(
    screen: Screen, source: Source, unlabelled: str | None, metric: str, from_scratch: bool
) -> Pool:
    """Labelled rows first, candidates after them, prepared together so that they fit."""
    import numpy as np

    frame, target = read_source(screen, source)
    if target is None:
        raise InvalidInputError("--target must name the column with the labels")
    if from_scratch and target not in frame.columns:
        frame = with_empty_column(frame, target)
    find_column(frame, "--target", target)
    name, asked = source.file, frame
    labelled = [frame.filter(_known(frame, target).tolist())]
    if unlabelled is not None:
        name, asked = unlabelled, read_table(unlabelled, None, source.header)
        labelled.append(asked.filter(_known(asked, target).tolist()))
    asked_rows = np.flatnonzero(~_known(asked, target))
    if len(asked_rows) == 0:
        raise InvalidInputError(
            f"{name}: every row has a {target}; name a second file with rows to choose from, or "
            "leave the target of some rows empty"
        )
    labelled = [part for part in labelled if len(part)]
    asked = asked[asked_rows.tolist()]
    n_labelled = sum(len(part) for part in labelled)
    both = _prepare_together(frame, [*labelled, asked], target, source, metric, name)
    first = int((both.rows < n_labelled).sum())
    kept = both.rows[first:] - n_labelled
    if len(kept) == 0 or first == 0 < n_labelled:
        raise InvalidInputError("--drop-missing leaves no labelled row or no row to choose from")
    y = np.empty(len(both.rows), dtype=object)
    y[:first] = _labels([part[target] for part in labelled], target)[both.rows[:first]]
    return Pool(
        X=both.X,
        y=y,
        candidates=np.arange(first, len(both.rows)),
        frame=asked[kept.tolist()],
        rows=asked_rows[kept],
        names=None if both.names is None else both.names[first:],
        name=name,
        target=target,
        notes=both.notes,
    )


def _known(frame: nw.DataFrame[Any], target: str) -> NDArray[np.bool_]:
    """Which rows have a label."""
    import numpy as np

    if target not in frame.columns:
        return np.zeros(len(frame), dtype=bool)
    return ~np.asarray(frame[target].is_null().to_numpy(), dtype=bool)


def _labels(columns: list[nw.Series[Any]], target: str) -> NDArray[Any]:
    """The labels of all files as one array of Python's objects."""
    import numpy as np

    found = [class_labels(column) for column in columns]
    if len({labels.dtype.kind for labels in found}) > 1:
        raise InvalidInputError(
            f"{target} must hold the same in both files; got "
            f"{' and '.join(str(column.dtype) for column in columns)}"
        )
    return np.array([label for labels in found for label in labels.tolist()], dtype=object)


def _prepare_together(
    first: nw.DataFrame[Any], frames: list[nw.DataFrame[Any]], target: str, source: Source,
    metric: str, name: str,
) -> Data:  # fmt: skip
    """The features of all frames, one below the other; the last frame may lack dropped ones."""
    import narwhals as nw

    choices = source.choices(metric)
    features = [column for column in first.columns if column != target]
    dropped = set(listed(first, "--drop", choices.drop))
    there = set(frames[-1].columns)
    lacking = [c for c in features if c not in there and c not in dropped]
    if lacking:
        raise InvalidInputError(
            f"{name} must have the columns of {source.file}; it lacks {', '.join(lacking[:8])}"
        )
    shared = [column for column in features if column in there]
    parts = []
    for frame in frames:
        part = frame.select(shared)
        numeric = [c for c, kind in part.schema.items() if kind.is_numeric() or kind == nw.Boolean]
        # columns of whole numbers in one file and of fractions in the other must fit together
        parts.append(part.with_columns(nw.col(*numeric).cast(nw.Float64)) if numeric else part)
    schemas = [part.schema for part in parts]
    for column in shared:
        kinds = {schema[column] for schema in schemas}
        if len(kinds) > 1:
            raise InvalidInputError(
                f"column {column!r} must hold the same in both files; got "
                f"{' and '.join(sorted(map(str, kinds)))}"
            )
    data = prepare(nw.concat(parts, how="vertical"), None, replace(choices, lenient=True))
    check_metric(metric, data.X)
    return data
