"""Frames: the row names of those that come in, and results as pandas or polars data frames."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from allsplits.exceptions import InvalidInputError, MissingExtraError

if TYPE_CHECKING:
    import pandas
    import polars

    DataFrame: TypeAlias = pandas.DataFrame | polars.DataFrame
else:
    DataFrame = Any

_LIBRARIES = ("pandas", "polars")


def pandas_index(values: Any) -> Any:
    """The index of a pandas frame or series; None for anything else."""
    from_pandas = nw.dependencies.is_pandas_dataframe(values)
    return values.index if from_pandas or nw.dependencies.is_pandas_series(values) else None


def column_names(values: Any) -> list[Any] | None:
    """The columns of a data frame; None for anything else."""
    columns = getattr(values, "columns", None)
    return None if columns is None else list(columns)


def row_names(*tables: Any) -> NDArray[Any] | None:
    """The index of the first pandas table that has more to say than 0, 1, 2 and so on."""
    for table in tables:
        index = pandas_index(table)
        if index is None:
            continue
        names: NDArray[Any] = index.to_numpy()
        if names.dtype.kind != "i" or not np.array_equal(names, np.arange(len(names))):
            return names
    return None


def make_frame(
    columns: Mapping[str, Any], backend: str | None = None, names: NDArray[Any] | None = None
) -> DataFrame:
    """Build a data frame with `backend` ("pandas", "polars"), or the first one installed.

    Row names become the index of a pandas frame and a first column "row" of a polars one.
    """
    if backend is not None and backend not in _LIBRARIES:
        raise InvalidInputError(f"backend must be one of {_LIBRARIES} or None; got {backend!r}")
    candidates = _LIBRARIES if backend is None else (backend,)
    for library in candidates:
        if importlib.util.find_spec(library) is not None:
            return _made_by(library, columns, names)
    raise MissingExtraError(
        f"frame() needs {' or '.join(candidates)}, which is not installed: "
        f"pip install {candidates[0]}"
    )


def _made_by(library: str, columns: Mapping[str, Any], names: NDArray[Any] | None) -> DataFrame:
    if names is not None and library == "polars":
        plain = names.dtype.kind != "O" or all(isinstance(name, str) for name in names)
        columns = {"row": names if plain else [str(name) for name in names], **columns}
    implementation = nw.Implementation.from_string(library)
    frame = nw.from_dict(dict(columns), backend=implementation).to_native()  # type: ignore[arg-type]
    if names is not None and library == "pandas":
        frame.index = names
    return frame
