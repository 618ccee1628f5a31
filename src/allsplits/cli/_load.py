"""Reading and preparing in one go: what every command does first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from allsplits.cli._model import check_metric
from allsplits.cli._prepare import Choices, Data, count_of, prepare, some_of
from allsplits.cli._read import STDIN, read_table
from allsplits.cli._target import TargetKind, read_target
from allsplits.exceptions import InvalidInputError

if TYPE_CHECKING:
    import narwhals as nw
    from numpy.typing import NDArray

    from allsplits.cli._screen import Screen


@dataclass(frozen=True)
class Source:
    """Which files to read, and how."""

    file: str
    target: str | None = None
    labels: str | None = None
    file_format: str | None = None
    header: bool = True
    drop: Sequence[str] | None = None
    one_hot: Sequence[str] | None = None
    standardize: bool = False
    drop_missing: bool = False
    row_names: str | None = None
    split: str | None = None
    strata: str | None = None
    camera: str | None = None

    def choices(self, metric: str = "minkowski") -> Choices:
        """How to turn columns into numbers."""
        if metric == "precomputed" and (self.standardize or self.one_hot):
            raise InvalidInputError(
                "--metric precomputed takes distances as they are: no --standardize, no --one-hot"
            )
        return Choices(
            drop=tuple(self.drop or ()),
            one_hot=tuple(self.one_hot or ()),
            standardize=self.standardize,
            drop_missing=self.drop_missing,
            allow_nan=metric == "nan_euclidean",
            names=self.row_names,
            split=self.split,
            strata=self.strata,
            camera=self.camera,
        )


@dataclass(frozen=True)
class Labelled:
    """Features with their target, ready for the library; `test` has those of a fixed test set."""

    data: Data
    y: NDArray[Any]
    regression: bool
    name: str
    target: str
    test: Labelled | None = None

    @property
    def asked(self) -> Labelled:
        """Whose rows are asked: those of a fixed test set, or these."""
        return self if self.test is None else self.test

    def sentence(self) -> str:
        """The data in one line."""
        import numpy as np

        kind = "numbers" if self.regression else count_of(len(np.unique(self.y)), "class")
        tested = ""
        if self.test is not None:
            tested = f"; {count_of(len(self.test.y), 'row')} of {self.test.name} are asked"
        return (
            f"{self.name}: {count_of(len(self.y), 'row')}, "
            f"{count_of(self.data.X.shape[1], 'feature')}, target {self.target} ({kind}){tested}"
        )

    def document(self) -> dict[str, Any]:
        """The data in a JSON document."""
        tested = {} if self.test is None else {
            "test_file": self.test.name, "test_rows": len(self.test.y)
        }  # fmt: skip
        return {
            "file": self.name,
            "rows": len(self.y),
            "n_features": len(self.data.features),
            "target": self.target,
            "task": "regression" if self.regression else "classification",
            **tested,
        }


def load(
    screen: Screen, source: Source, kind: TargetKind, *, metric: str, groups: str | None = None
) -> Labelled:
    """Read the file(s), make numbers of the columns and read the target."""
    frame, target = read_source(screen, source)
    if target is None:
        raise InvalidInputError(
            f"--target must name the column to predict; columns are {some_of(frame.columns)}"
        )
    data = prepare(frame, target, source.choices(metric), groups=groups)
    if data.target is None:
        raise InvalidInputError("--target must name the column to predict")
    check_metric(metric, data.X)
    y, regression, notes = read_target(data.target, kind)
    data.notes.extend(notes)
    return Labelled(data, y, regression, _name(source.file), target)


def read_source(screen: Screen, source: Source) -> tuple[nw.DataFrame[Any], str | None]:
    """The table with the labels beside it, and the name of the target."""
    with screen.waiting(f"reading {_name(source.file)}"):
        frame = read_table(source.file, source.file_format, source.header)
        if source.labels is None:
            return frame, source.target
        labels = read_table(source.labels, None, source.header)
    target = source.target
    if target is None and len(labels.columns) == 1:
        target = labels.columns[0]
    if target is None or target not in labels.columns:
        raise InvalidInputError(
            f"--target must name a column of {source.labels}; it has {some_of(labels.columns)}"
        )
    if len(labels) != len(frame):
        raise InvalidInputError(
            f"--labels must have one row for each row of {_name(source.file)}; got {len(labels):,} "
            f"rows for {len(frame):,}"
        )
    column = labels[target].alias("target" if target in frame.columns else target)
    if column.name in frame.columns:
        raise InvalidInputError(
            f"--labels: {_name(source.file)} already has a column {column.name!r}; drop the option"
        )
    return frame.with_columns(column), column.name


def _name(file: str) -> str:
    return "standard input" if file == STDIN else file
