"""`allsplits label`: a page on which people label rows, and what they said as a table."""

from __future__ import annotations

import stat
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allsplits.cli import _options as options
from allsplits.cli._command import reads_table
from allsplits.cli._load import Source, read_source
from allsplits.cli._model import check_metric
from allsplits.cli._pictures import image_shape_of
from allsplits.cli._prepare import find_column, prepare
from allsplits.cli._read import STDIN
from allsplits.cli._screen import LOADING, Screen
from allsplits.cli._target import class_labels
from allsplits.cli._write import check_table_output, write_table
from allsplits.exceptions import InvalidInputError

if TYPE_CHECKING:
    import narwhals as nw
    import numpy as np
    from numpy.typing import NDArray

_Features = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Numbers to measure distances in (embeddings), row by row: NPY, NPZ or a table. "
        "Without it: the columns of FILE that are numbers.",
    ),
]
_Images = Annotated[
    str | None,
    typer.Option(metavar="FOLDER", help="Show pictures of this folder; nothing else is read."),
]
_ImageColumn = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="The column with their file names, below the folder."),
]
_Text = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The column with the text to be read.")
]
_Classes = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,C",
        help="What can be answered, in the order of the keys; more can be added on the page.",
    ),
]
_Store = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        help="The file of the answers; one that is there is gone on with. Default: "
        "FILE.labels.sqlite, beside FILE.",
    ),
]
_Export = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        help="Start no page: write FILE with the labels so far filled in, as CSV, Parquet, …; "
        "NAME.json is for ActiveLearner.load; - prints CSV.",
    ),
]
_History = Annotated[
    str | None,
    typer.Option(
        metavar="PATH", help="Start no page: write every answer and every change as a table."
    ),
]
_Import = Annotated[
    str | None,
    typer.Option(
        "--import", metavar="PATH", help="Take over the labels of a saved ActiveLearner (JSON)."
    ),
]
_Checks = Annotated[
    float,
    typer.Option(
        metavar="SHARE",
        min=0.0,
        max=0.9,
        help="The share of questions that are drawn at random, so that the accuracy on the page "
        "is honest.",
    ),
]
_Host = Annotated[
    str,
    typer.Option(
        metavar="HOST",
        help="Where to listen. Anything but this machine itself needs --token-file.",
    ),
]
_Port = Annotated[
    int, typer.Option(metavar="N", min=0, max=65535, help="The port; 0 takes a free one.")
]
_TokenFile = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        help="A file that only you can read, with a token of at least 24 letters and digits in it; "
        "without it, one is made up.",
    ),
]


_THIS_MACHINE = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Samples:
    """Rows with their features, and what is to be shown of them."""

    frame: nw.DataFrame[Any]
    X: NDArray[np.float64]
    y: NDArray[Any]
    rows: NDArray[np.int64]
    names: list[str] | None
    target: str
    shown: dict[str, Any]
    notes: list[str]


@reads_table("labels")
def label(
    screen: Screen,
    source: Source,
    *,
    features: _Features = None,
    images: _Images = None,
    image_column: _ImageColumn = None,
    text: _Text = None,
    classes: _Classes = None,
    store: _Store = None,
    export: _Export = None,
    history: _History = None,
    import_: _Import = None,
    checks: _Checks = 0.2,
    metric: options.Metric = "minkowski",
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, max=2**32 - 1, help="Of a new file of answers.")
    ] = 0,
    host: _Host = "127.0.0.1",
    port: _Port = 0,
    token_file: _TokenFile = None,
) -> None:
    """Label rows on a page in the browser: it asks, keeps every answer, says when it is enough.

    The page shows one row at a time (a picture, a text, or its columns), the one whose label tells
    most, and takes one key for an answer. Every answer is in an SQLite file before it is
    acknowledged; stop with Ctrl-C and start again whenever you like. Several people may label at
    once. Nobody else can reach the page: it is served to this machine alone, and its address holds
    a token.

    \b
    Examples:
      allsplits label flowers.csv --target species
      allsplits label photos.csv -t animal --features embeddings.npy --images photos --image-column file --classes cat,dog
      allsplits label reviews.csv -t mood --features embeddings.npy --text review --classes good,bad
      allsplits label digits.npz -t digit --classes 0,1,2,3,4,5,6,7,8,9   (small images)
      allsplits label flowers.csv -t species --export labelled.csv
    """  # noqa: E501 - commands are one line each
    if source.target is None:
        raise InvalidInputError("--target must name the column of the labels")
    if source.file == STDIN:
        raise InvalidInputError("FILE must be a file: the page is about the same rows tomorrow")
    if (images is None) != (image_column is None):
        raise InvalidInputError("--images and --image-column must be given together")
    check_table_output("--history", history, source.file)
    if export is not None and not export.endswith(".json"):
        check_table_output("--export", export, source.file)
    token = _read_token(host, token_file)
    path = Path(store) if store is not None else _beside(source.file)
    reading = export is not None or history is not None
    if reading and not path.exists():
        raise InvalidInputError(f"--store: there is no file of labels {path}: nothing to export")
    samples = _read_samples(screen, source, features, metric, images, image_column, text)
    with screen.waiting(LOADING):
        from allsplits import ActiveLearner

        learner = ActiveLearner(diversity=4, metric=metric, random_state=seed)
        if not reading:
            learner.fit(samples.X, samples.y)
    screen.note(*samples.notes)
    if reading:
        _write(screen, samples, learner, path, export, history)
        return
    shown = samples.shown
    if images is not None:
        shown = {**shown, "images": images}
    _serve(
        screen, learner, path, samples, import_,
        {**shown, "classes": _read_classes(classes, samples.y), "checks": checks, "host": host,
         "port": port, "token": token},
    )  # fmt: skip


def _serve(
    screen: Screen, learner: Any, path: Path, samples: Samples, saved: str | None,
    given: dict[str, Any],
) -> None:  # fmt: skip
    """Run the page until Ctrl-C."""
    from allsplits.labelling._transfer import read_saved

    if saved is not None:
        known = read_saved(saved, samples.X)
        fresh = [i for i in known if i not in set(learner.labelled_.tolist())]
        if fresh:
            learner.teach(fresh, [known[i] for i in fresh])
    with screen.waiting("preparing the first questions"):
        page = learner.serve(path, target=samples.target, names=samples.names, **given)
    try:
        screen.line(page.address)
        screen.note(
            f"answers are kept in {path}; Ctrl-C ends the page, the same command goes on",
            *(["the page is not encrypted: who listens to this network can read it"]
              if given["host"] not in _THIS_MACHINE else []),
        )  # fmt: skip
        page.wait()
    except KeyboardInterrupt:
        pass
    finally:
        n = len(page.store.labels())
        page.stop()
    screen.note(f"{n:,} labels in {path}; --export FILE writes them")


def _write(
    screen: Screen, samples: Samples, learner: Any, path: Path, export: str | None,
    history: str | None,
) -> None:  # fmt: skip
    import narwhals as nw

    from allsplits.active._store import fingerprint
    from allsplits.labelling import LabelStore
    from allsplits.labelling._transfer import labelled_learner

    with LabelStore(path, fingerprint(samples.X), writable=False) as store:
        if history is not None:
            frame = nw.from_native(store.frame("polars" if _has_polars() else None))
            write_table("--history", history, frame)
        if export is not None and export.endswith(".json"):
            labelled_learner(learner, samples.X, store).save(export)
        elif export is not None:
            write_table("--export", export, _filled(samples, store))
        n, skipped = len(store.labels()), len(store.skipped())
    screen.note(f"{n:,} labels and {skipped:,} skipped samples in {path}")


def _filled(samples: Samples, store: Any) -> nw.DataFrame[Any]:
    """The rows with their labels, by whom and when."""
    import narwhals as nw

    current = store.current()
    frame = samples.frame
    found: dict[str, list[Any]] = {samples.target: [], "labelled_by": [], "labelled_at": []}
    position = {int(row): i for i, row in enumerate(samples.rows)}
    for row in range(len(frame)):
        answer = current.get(position.get(row, -1))
        known = answer is not None and answer.label is not None
        found[samples.target].append(answer.label if known else None)
        found["labelled_by"].append(answer.who if known else None)
        found["labelled_at"].append(answer.at if known else None)
    numbers = nw.Float64 if any(isinstance(v, float) for v in found[samples.target]) else nw.Int64
    kinds = {samples.target: nw.String if store.kind == "text" else numbers}
    columns = [
        nw.new_series(name, values, kinds.get(name, nw.String), backend=frame.implementation)
        for name, values in found.items()
        if name == samples.target or name not in frame.columns
    ]
    return frame.with_columns(*columns)


def _has_polars() -> bool:
    from allsplits.cli._read import frame_library

    return frame_library() == "polars"


def _read_samples(
    screen: Screen, source: Source, features: str | None, metric: str, images: str | None,
    image_column: str | None, text: str | None,
) -> Samples:  # fmt: skip
    """The table, the numbers that distances are measured in, and the labels that are there."""
    import numpy as np

    frame, target = read_source(screen, source)
    target = str(target)
    notes: list[str] = []
    if target not in frame.columns:
        near = get_close_matches(target, frame.columns, n=1, cutoff=0.8)
        if near:
            find_column(frame, "--target", target)
        notes.append(f"there is no column {target!r}: nothing is labelled yet")
    aside = [c for c in (target, image_column, text) if c is not None and c in frame.columns]
    for option, name in (("--image-column", image_column), ("--text", text)):
        if name is not None:
            find_column(frame, option, name)
    rest = frame.drop(aside)
    shape = None
    if features is not None:
        data = prepare(
            read_source(screen, replace(source, file=features, target=None, row_names=None))[0],
            None, replace(source.choices(metric), drop=(), one_hot=(), names=None),
        )  # fmt: skip
        if data.n_rows != len(frame):
            raise InvalidInputError(
                f"--features must have one row for each row of {source.file}; got "
                f"{data.n_rows:,} rows for {len(frame):,}"
            )
        names = None
        if source.row_names is not None:
            column = find_column(frame, "--id", source.row_names)
            names = [str(name) for name in frame[column].to_list()]
    else:
        data = prepare(rest, None, source.choices(metric))
        names = data.names
        shape = image_shape_of(source.file, data.X.shape[1])
    check_metric(metric, data.X)
    rows = data.rows
    kept = frame[rows.tolist()]
    names = names if features is None or names is None else [names[i] for i in rows.tolist()]
    y = np.full(len(rows), None, dtype=object)
    if target in frame.columns:
        known = ~np.asarray(kept[target].is_null().to_numpy(), dtype=bool)
        if known.any():
            found = class_labels(kept[target].filter(known.tolist()))
            y[known] = [str(v) if isinstance(v, bool) else v for v in found.tolist()]
    shown = _shown(kept, target, image_column, text, shape)
    return Samples(frame, data.X, y, rows, names, target, shown, [*notes, *data.notes])


def _shown(
    frame: nw.DataFrame[Any], target: str, image_column: str | None, text: str | None, shape: Any
) -> dict[str, Any]:
    """What the page shows of each row."""
    found: dict[str, Any] = {}
    if image_column is not None:
        found["files"] = [str(name) for name in frame[image_column].to_list()]
    if text is not None:
        found["texts"] = ["" if t is None else str(t) for t in frame[text].to_list()]
    if shape is not None:
        return {**found, "image_shape": shape}
    others = [c for c in frame.columns if c not in (target, text)]
    return {**found, "columns": {column: frame[column].to_list() for column in others}}


def _read_classes(text: str | None, y: NDArray[Any]) -> list[Any]:
    """Classes of --classes, as numbers where the labels are, or all of them look like it."""
    if text is None:
        return []
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise InvalidInputError(f"--classes must be names with commas between them; got {text!r}")
    known = [label for label in y.tolist() if label is not None]
    numbers = all(part.lstrip("+-").isdecimal() for part in parts)
    if numbers and not any(isinstance(label, str) for label in known):
        return [int(part) for part in parts]
    return parts


def _beside(file: str) -> Path:
    path = Path(file)
    return path.with_name(f"{path.name}.labels.sqlite")


def _read_token(host: str, name: str | None) -> str | None:
    """The token of a file that nobody else can read."""
    if name is None:
        if host not in _THIS_MACHINE:
            raise InvalidInputError(
                f"--host {host} can be reached by others: give --token-file, a file with a token "
                "of your own that only you can read. (An SSH tunnel to 127.0.0.1 is safer: the "
                "page is not encrypted.)"
            )
        return None
    try:
        path = Path(name)
        if path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH | stat.S_IWGRP | stat.S_IWOTH):
            raise InvalidInputError(
                f"--token-file must be readable by you alone (chmod 600 {name}); others can read "
                "or write it"
            )
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"--token-file must be a file of text: {error}") from error
