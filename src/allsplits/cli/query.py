"""`allsplits query`: which rows to label next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allsplits.cli import _options as options
from allsplits.cli._load import Source, read_source
from allsplits.cli._prepare import Data, find_column, listed, prepare
from allsplits.cli._read import STDIN, read_table
from allsplits.cli._screen import Screen, make_table
from allsplits.cli._target import class_labels
from allsplits.cli._write import check_table_output, write_table
from allsplits.exceptions import InvalidInputError

if TYPE_CHECKING:
    import narwhals as nw
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Utility", "query"]


class Utility(StrEnum):
    """What makes a row worth asking about."""

    AGREEMENT = "agreement"
    ENTROPY = "entropy"
    MARGIN = "margin"


@dataclass(frozen=True)
class Pool:
    """Labelled rows and candidates in one array; `frame` and `rows` are those of the candidates."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    candidates: NDArray[np.intp]
    frame: nw.DataFrame[Any]
    rows: NDArray[np.int64]
    name: str
    notes: list[str]


def query(
    file: options.File,
    unlabelled: Annotated[
        str | None,
        typer.Argument(
            metavar="UNLABELLED",
            help="The rows to choose from, with the same columns. Without it: rows of FILE whose "
            "target is missing.",
        ),
    ] = None,
    target: options.Target = None,
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
    utility: Annotated[
        Utility,
        typer.Option(
            metavar="|".join(Utility),
            help="Ask where members agree least, by entropy, or by the margin.",
        ),
    ] = Utility.AGREEMENT,
    diversity: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="Spread the choice over so many times as many useful rows."
        ),
    ] = 1,
    metric: options.Metric = "minkowski",
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, help="Decides between equally useful rows.")
    ] = 0,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="PATH", help="Write the chosen rows; - prints CSV."),
    ] = None,
    drop: options.Drop = None,
    one_hot: options.OneHot = None,
    standardize: options.Standardize = False,
    drop_missing: options.DropMissing = False,
    file_format: options.Format = None,
    no_header: options.NoHeader = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Choose the rows to label next.

    Those on which a committee disagrees most. The committee is every nearest-neighbour classifier
    that leaves some labelled rows out: all of them, counted exactly.

    \b
    Examples:
      allsplits query labelled.csv unlabelled.csv --target species --number 20
      allsplits query flowers.csv -t species            (rows without a species)
      allsplits query labelled.csv unlabelled.csv -t y --diversity 5 -o ask.csv
    """
    screen = Screen(quiet)
    source = Source(
        file, target, None, file_format, not no_header, drop, one_hot, standardize, drop_missing
    )
    check_table_output("--output", output, file, unlabelled)
    pool = _read_pool(screen, source, unlabelled, metric)
    with screen.waiting("loading (the first run on a machine compiles for some seconds)"):
        from allsplits import CommitteeQuery

        strategy = CommitteeQuery(
            k, leave_out, utility=utility.value, diversity=diversity, metric=metric,
            random_state=seed, progress=screen.progress,
        )  # fmt: skip
    with screen.noting(pool.notes):
        batch = min(number, len(pool.candidates))
        chosen: Any = strategy.query(pool.X, pool.y, pool.candidates, batch)
        rows = _describe(strategy.shares, pool, chosen)
    for text in pool.notes:
        screen.note(text)
    if len(pool.candidates) < number:
        screen.note(f"there are only {len(pool.candidates)} rows to choose from")
    _show(screen, pool, rows, output, json)


def _show(
    screen: Screen, pool: Pool, rows: list[dict[str, Any]], output: str | None, as_json: bool
) -> None:
    if output is not None:
        write_table("--output", output, pool.frame[[row["position"] for row in rows]])
    if as_json:
        kept = [{key: row[key] for key in ("row", "agreement", "shares")} for row in rows]
        screen.json({"file": pool.name, "rows": kept, "notes": pool.notes})
    elif output != STDIN:
        title = f"Rows of {pool.name} to label next (counted from 0)"
        table = make_table(title, "row", "agreement", "the committee says", right=(0, 1))
        for row in rows:
            votes = sorted(row["shares"].items(), key=lambda pair: -pair[1])[:3]
            said = ", ".join(f"{name} {share:.1%}" for name, share in votes)
            table.add_row(str(row["row"]), f"{row['agreement']:.4f}", said)
        screen.print(table)
    if output not in (None, STDIN):
        screen.note(f"{len(rows)} rows written to {output}")


def _describe(
    shares_of: Callable[..., NDArray[np.float64]], pool: Pool, chosen: NDArray[np.intp]
) -> list[dict[str, Any]]:
    """Each chosen row with the votes on it."""
    import numpy as np

    shares = shares_of(pool.X, pool.y, chosen)
    classes = [str(name) for name in np.unique(pool.y[: pool.candidates[0]])]
    described = []
    for row, votes in zip(chosen.tolist(), shares, strict=True):
        position = row - int(pool.candidates[0])
        n = len(classes)
        described.append(
            {
                "position": position,
                "row": int(pool.rows[position]),
                "agreement": (n * float(votes.max()) - 1) / (n - 1) if n > 1 else 1.0,
                "shares": dict(zip(classes, votes.tolist(), strict=True)),
            }
        )
    return described


def _read_pool(screen: Screen, source: Source, unlabelled: str | None, metric: str) -> Pool:
    """Labelled rows first, candidates after them, prepared together so that they fit."""
    import numpy as np

    frame, target = read_source(screen, source)
    if target is None:
        raise InvalidInputError("--target must name the column with the labels")
    target = find_column(frame, "--target", target)
    known = ~np.asarray(frame[target].is_null().to_numpy(), dtype=bool)
    if unlabelled is None:
        name, asked = source.file, frame.filter((~known).tolist())
        asked_rows = np.flatnonzero(~known)
        if known.all():
            raise InvalidInputError(
                f"{source.file}: every row has a {target}; name a second file with rows to choose "
                "from, or leave the target of some rows empty"
            )
    else:
        name, asked = unlabelled, read_table(unlabelled, None, source.header)
        asked_rows = np.arange(len(asked))
    labelled = frame.filter(known.tolist())
    if not known.any():
        raise InvalidInputError(f"--target: no row of {source.file} has a {target} yet")
    both = _prepare_both(labelled, asked, target, source, metric, name)
    first = int((both.rows < len(labelled)).sum())
    kept = both.rows[first:] - len(labelled)
    if first == 0 or len(kept) == 0:
        raise InvalidInputError("--drop-missing leaves no labelled row or no row to choose from")
    y = np.empty(len(both.rows), dtype=object)
    y[:first] = class_labels(labelled[target])[both.rows[:first]].tolist()
    return Pool(
        X=both.X,
        y=y,
        candidates=np.arange(first, len(both.rows)),
        frame=asked[kept.tolist()],
        rows=asked_rows[kept],
        name=name,
        notes=both.notes,
    )


def _prepare_both(
    labelled: nw.DataFrame[Any], asked: nw.DataFrame[Any], target: str, source: Source,
    metric: str, name: str,
) -> Data:  # fmt: skip
    import narwhals as nw

    features = [column for column in labelled.columns if column != target]
    choices = source.choices(metric)
    dropped = listed(labelled, "--drop", choices.drop)
    lacking = [c for c in features if c not in asked.columns and c not in dropped]
    if lacking:
        raise InvalidInputError(
            f"{name} must have the columns of {source.file}; it lacks {', '.join(lacking[:8])}"
        )
    shared = [column for column in features if column in asked.columns]
    parts = []
    for frame in (labelled, asked):
        part = frame.select(shared)
        numeric = [c for c in shared if part.schema[c].is_numeric() or part.schema[c] == nw.Boolean]
        # columns of whole numbers in one file and of fractions in the other must fit together
        part = part.with_columns(nw.col(*numeric).cast(nw.Float64)) if numeric else part
        parts.append(part)
    for column in shared:
        if parts[0].schema[column] != parts[1].schema[column]:
            raise InvalidInputError(
                f"column {column!r} must hold the same in both files; got "
                f"{parts[0].schema[column]} and {parts[1].schema[column]}"
            )
    return prepare(nw.concat(parts, how="vertical"), None, replace(choices, lenient=True))
