"""From a table to numbers: features, target and groups, or an error that says which option helps.

Whatever is done here is done on all rows at once, before any split; each step leaves a note that is
shown with the result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from allsplits.exceptions import InvalidInputError

if TYPE_CHECKING:
    import narwhals as nw
    import numpy as np
    from numpy.typing import NDArray

_MOST_SHOWN = 5
#: Names are compared with so many columns at most: more would take seconds.
_MOST_COMPARED = 20_000
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+\s*")
_THOUSANDS = re.compile(r"\s*[+-]?\d{1,3}(,\d{3})+(\.\d*)?\s*")


@dataclass(frozen=True)
class Choices:
    """How the user wants columns turned into numbers."""

    drop: tuple[str, ...] = ()
    one_hot: tuple[str, ...] = ()
    standardize: bool = False
    drop_missing: bool = False
    allow_nan: bool = False
    names: str | None = None  # the column that names rows
    split: str | None = None  # the column that says who trains and who tests
    strata: str | None = None  # the column that a law draws from, of a regressor
    camera: str | None = None  # the column of the groups, where queries must not meet their own
    lenient: bool = False  # of a second file: columns it does not have need not be dropped


@dataclass(frozen=True)
class Data:
    """Numbers, and where they came from.

    `rows` are the row numbers in the file of `n_rows`, from 0; `frame` holds these rows as they
    were read.
    """

    X: NDArray[np.float64]
    target: nw.Series[Any] | None
    groups: NDArray[Any] | None
    features: list[str]
    rows: NDArray[np.int64]
    n_rows: int
    frame: nw.DataFrame[Any]
    names: list[str] | None = None
    strata: NDArray[Any] | None = None
    notes: list[str] = field(default_factory=list)


def prepare(
    frame: nw.DataFrame[Any], target: str | None, choices: Choices, *, groups: str | None = None
) -> Data:
    """Turn a table into features, target, groups and names of rows."""
    import numpy as np

    notes: list[str] = []
    target = None if target is None else find_column(frame, "--target", target)
    option = "--groups" if choices.split is not None else "--cv groups:"
    if choices.camera is not None:
        option, groups = "--camera", choices.camera
    groups = None if groups is None else find_column(frame, option, groups)
    names = None if choices.names is None else find_column(frame, "--id", choices.names)
    if choices.split is not None:
        find_column(frame, "--split", choices.split)
    strata = None if choices.strata is None else find_column(frame, "--strata", choices.strata)
    one_hot = listed(frame, "--one-hot", choices.one_hot, lenient=choices.lenient)
    features = _features(frame, target, groups, choices, one_hot)
    needed = [c for c in features if not choices.allow_nan or c in one_hot]
    needed += [c for c in (target, groups, strata) if c is not None]
    n_rows = len(frame)
    rows = np.arange(n_rows)
    missing = _missing(frame, needed)
    if missing and not choices.drop_missing:
        raise _refuse_missing(missing, target)
    if missing:
        whole = ~np.logical_or.reduce(list(missing.values()))
        if not whole.any():
            raise InvalidInputError("--drop-missing leaves no row: each has a missing value")
        notes.append(f"{int((~whole).sum()):,} of {len(frame):,} rows left out (missing values)")
        rows, frame = rows[whole], frame.filter(whole.tolist())
    X, columns = _matrix(frame, features, one_hot, notes)
    if choices.standardize:
        X = standardized(X)[0]
        notes.append(
            "features standardized with mean and deviation of all rows, before any split: "
            "test rows were seen"
        )
    return Data(
        X=X,
        target=None if target is None else frame[target],
        groups=None if groups is None else np.array(frame[groups].to_list()),
        features=columns,
        rows=rows,
        n_rows=n_rows,
        frame=frame,
        names=None if names is None else [str(name) for name in frame[names].to_list()],
        strata=None if strata is None else np.array(frame[strata].to_list()),
        notes=notes,
    )


def _features(
    frame: nw.DataFrame[Any], target: str | None, groups: str | None, choices: Choices,
    one_hot: list[str],
) -> list[str]:  # fmt: skip
    """The columns that distances are measured in, all of them numbers or to be made numbers."""
    drop = listed(frame, "--drop", choices.drop, lenient=choices.lenient)
    if target in drop or target in one_hot:
        raise InvalidInputError(f"--drop and --one-hot are for features; {target!r} is the target")
    if target is not None and target == choices.names:
        raise InvalidInputError(f"--id must not be the target; got {target!r} for both")
    if target is not None and target == choices.split:
        raise InvalidInputError(f"--split must not be the target; got {target!r} for both")
    if target is not None and target == choices.strata:
        raise InvalidInputError(f"--strata must not be the target; got {target!r} for both")
    if target is not None and target == choices.camera:
        raise InvalidInputError(f"--camera must not be the target; got {target!r} for both")
    others = {target, groups, choices.names, choices.split, choices.strata, *drop}
    features = [column for column in frame.columns if column not in others]
    if not features:
        raise InvalidInputError("there must be at least one column of features; none is left")
    _refuse_text(frame, [column for column in features if column not in set(one_hot)])
    return features


def find_column(frame: nw.DataFrame[Any], option: str, name: str) -> str:
    """The column of that name, or an error with the nearest names."""
    columns = frame.columns
    if name in columns:
        return name
    hint = f"columns are {some_of(columns)}"
    if len(columns) <= _MOST_COMPARED:
        near = get_close_matches(name, columns, n=3)
        if near:
            hint = f"did you mean {' or '.join(map(repr, near))}? ({hint})"
    if all(_is_number(column) for column in columns):
        hint += " (if the first line is data, add --no-header)"
    raise InvalidInputError(f"{option} must name a column; there is no {name!r}: {hint}")


def some_of(columns: Sequence[str]) -> str:
    """The first columns and the last, where the target often stands."""
    if len(columns) <= 12:
        return ", ".join(columns)
    return f"{', '.join(columns[:8])}, …, {', '.join(columns[-4:])} ({len(columns):,} in all)"


def count_of(number: int, noun: str) -> str:
    """A number with its noun: 1 class, 3 classes."""
    plural = noun + ("es" if noun.endswith("s") else "s")
    return f"{number:,} {noun if number == 1 else plural}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def listed(
    frame: nw.DataFrame[Any], option: str, names: Iterable[str], *, lenient: bool = False
) -> list[str]:
    """Columns given one by one or with commas."""
    found: list[str] = []
    columns = set(frame.columns)
    for name in names:
        parts = [name] if name in columns else [part.strip() for part in name.split(",")]
        if lenient:
            parts = [part for part in parts if part in columns]
        found.extend(
            part if part in columns else find_column(frame, option, part) for part in parts
        )
    return found


def _refuse_text(frame: nw.DataFrame[Any], columns: list[str]) -> None:
    import narwhals as nw

    schema = frame.schema
    text = [
        column
        for column in columns
        if not (schema[column].is_numeric() or schema[column] == nw.Boolean)
    ]
    if not text:
        return
    lines = []
    for column in text[:_MOST_SHOWN]:
        values = frame[column].drop_nulls().unique(maintain_order=True)
        shown = ", ".join(repr(str(value)) for value in values.head(3).to_list())
        more = ", …" if len(values) > 3 else ""
        advice = _advice([str(value) for value in values.head(50).to_list()])
        if advice is None:
            # as many values as rows: a name or a number of the row, nothing to measure
            advice = "--drop" if 2 * len(values) > len(frame) else "--one-hot or --drop"
        lines.append(f"  {column}: {shown}{more} ({len(values):,} different): {advice}")
    if len(text) > _MOST_SHOWN:
        lines.append(f"  and {len(text) - _MOST_SHOWN:,} more: {some_of(text[_MOST_SHOWN:])}")
    raise InvalidInputError(
        "distances need numbers; columns with something else:\n"
        + "\n".join(lines)
        + f"\nLeave them out with --drop '{','.join(text[:_MOST_SHOWN])}'; --one-hot makes a "
        "column of 0 and 1 for each value"
    )


def _advice(values: list[str]) -> str | None:
    """What to do about text that is nearly numbers."""
    if not values:
        return "no value at all: --drop"
    if all(_THOUSANDS.fullmatch(value) for value in values):
        return "write numbers without commas (1000 for 1,000)"
    if all(_DECIMAL_COMMA.fullmatch(value) for value in values):
        return "write numbers with a decimal point"
    return None


def _missing(frame: nw.DataFrame[Any], columns: list[str]) -> dict[str, NDArray[np.bool_]]:
    """Which rows lack a value, for the columns in which some do."""
    import numpy as np

    found = {}
    for column in columns:
        series = frame[column]
        lacks = series.is_null()
        if series.dtype.is_float():
            lacks = lacks | series.is_nan().fill_null(False)
        if lacks.any():
            found[column] = np.asarray(lacks.to_numpy(), dtype=bool)
    return found


def _refuse_missing(missing: dict[str, NDArray[np.bool_]], target: str | None) -> InvalidInputError:
    lines = [
        f"  {column}{' (the target)' if column == target else ''}: "
        f"{count_of(int(lacks.sum()), 'row')}, first row {int(lacks.argmax())}"
        for column, lacks in list(missing.items())[:_MOST_SHOWN]
    ]
    if len(missing) > _MOST_SHOWN:
        lines.append(f"  and {len(missing) - _MOST_SHOWN} more columns")
    only_features = [column for column in missing if column != target]
    few = 0 < len(only_features) <= 4 * _MOST_SHOWN
    drop = f", or the columns with --drop '{','.join(only_features)}'" if few else ""
    return InvalidInputError(
        "columns with missing values (rows are counted from 0):\n"
        + "\n".join(lines)
        + f"\nLeave the rows out with --drop-missing{drop}"
    )


def _matrix(
    frame: nw.DataFrame[Any], features: list[str], one_hot: list[str], notes: list[str]
) -> tuple[NDArray[np.float64], list[str]]:
    import narwhals as nw
    import numpy as np

    columns: list[NDArray[np.float64]] = []
    names: list[str] = []
    kinds = set(one_hot)
    for feature in features:
        series = frame[feature]
        if feature in kinds:
            values = sorted(series.unique().to_list(), key=str)
            if len(values) > max(2, len(frame) // 2):
                raise InvalidInputError(
                    f"--one-hot {feature} would make {len(values):,} columns for {len(frame):,} "
                    f"rows: it names rows rather than kinds; leave it out with --drop '{feature}'"
                )
            columns.extend((series == v).to_numpy().astype(np.float64) for v in values)
            names.extend(f"{feature}={value}" for value in values)
            notes.append(f"{feature}: one column for each of {len(values)} values, from all rows")
            continue
        numbers = series.cast(nw.Float64).to_numpy().astype(np.float64)
        if np.isinf(numbers).any():
            raise InvalidInputError(
                f"column {feature!r} must be finite; got infinity in row "
                f"{int(np.isinf(numbers).argmax())} (counted from 0)"
            )
        columns.append(numbers)
        names.append(feature)
    return np.column_stack(columns), names


def standardized(*tables: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Tables less the mean of the first, divided by its deviation."""
    import numpy as np

    mean, deviation = np.nanmean(tables[0], axis=0), np.nanstd(tables[0], axis=0)
    return [(X - mean) / np.where(deviation, deviation, 1.0) for X in tables]
