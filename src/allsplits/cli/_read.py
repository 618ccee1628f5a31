"""Files in: CSV, TSV, Parquet, Feather, NPZ and NPY become one kind of table.

polars reads them if it is there, pandas otherwise; narwhals makes both look alike. Whatever is
wrong with a file becomes one error that names the file.
"""

from __future__ import annotations

import csv
import errno
import gzip
import importlib
import io
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allsplits.exceptions import AllSplitsError, InvalidInputError, MissingExtraError

if TYPE_CHECKING:
    import narwhals as nw
    from numpy.typing import NDArray

STDIN = "-"
FORMATS = ("csv", "tsv", "parquet", "feather", "npz", "npy")
_ENDINGS = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet",
    ".feather": "feather", ".arrow": "feather", ".ipc": "feather", ".npz": "npz", ".npy": "npy",
}  # fmt: skip
_FIRST_BYTES = {
    b"PAR1": "parquet", b"ARROW1": "feather", b"PK\x03\x04": "npz", b"\x93NUMPY": "npy"
}  # fmt: skip
_MOST_SHOWN = 5
#: numpy's letters for truth values, numbers and text.
_ARRAY_KINDS = "biufUSM"
#: What stands for a missing value in text files.
_MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "?"]


def read_table(name: str, file_format: str | None = None, header: bool = True) -> nw.DataFrame[Any]:
    """Read a file (``-``: standard input) as a table."""
    content = _content(name)
    if not content:
        raise InvalidInputError(f"{_shown(name)} is empty")
    file_format = file_format or format_of(name, content)
    try:
        if file_format in ("csv", "tsv"):
            frame = _read_text(content, file_format, header)
        elif file_format in ("npz", "npy"):
            frame = _read_arrays(content)
        else:
            frame = _read_columns(content, file_format)
    except (AllSplitsError, MemoryError):
        raise
    except Exception as error:  # each reader has its own family of errors
        # polars adds advice for programmers below the first line
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise InvalidInputError(
            f"cannot read {_shown(name)} as {file_format.upper()}: {reason}"
        ) from error
    if len(frame) == 0:
        raise InvalidInputError(f"{_shown(name)} has no rows below its header")
    return frame


def format_of(name: str, content: bytes = b"") -> str:
    """The format by the file's ending, or of standard input by its first bytes."""
    if name == STDIN:
        for start, file_format in _FIRST_BYTES.items():
            if content.startswith(start):
                return file_format
        return "csv"
    path = Path(name)
    ending = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    if ending.lower() not in _ENDINGS:
        raise InvalidInputError(
            f"{name} must end in one of {', '.join(_ENDINGS)}; got {path.suffix or 'no ending'!r}: "
            f"say what it is with --format ({', '.join(FORMATS)})"
        )
    return _ENDINGS[ending.lower()]


def frame_library() -> str:
    """The library that holds tables: polars if it is there, else pandas."""
    for library in ("polars", "pandas"):
        try:
            importlib.import_module(library)
        except ImportError:
            continue
        return library
    raise MissingExtraError(
        "reading and writing files needs polars or pandas, and neither is installed: "
        "pip install 'allsplits[cli]'"
    )


def _shown(name: str) -> str:
    return "standard input" if name == STDIN else name


def _content(name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
    except FileNotFoundError:
        raise InvalidInputError(f"there is no file {name}") from None
    except OSError as error:
        closed = name == STDIN and error.errno == errno.EBADF
        reason = "it is closed" if closed else error.strerror
        raise InvalidInputError(f"cannot read {_shown(name)}: {reason}") from error
    except ValueError as error:  # a null character
        raise InvalidInputError(f"cannot read {name}: {error}") from error


def _wrap(frame: Any) -> nw.DataFrame[Any]:
    import narwhals as nw

    return nw.from_native(frame, eager_only=True)


def _read_text(content: bytes, file_format: str, header: bool) -> nw.DataFrame[Any]:
    if content.startswith(b"\x1f\x8b"):
        content = gzip.decompress(content)
    content = content.removeprefix(b"\xef\xbb\xbf")
    first = content.partition(b"\n")[0].decode("utf-8").rstrip("\r")
    separator = "\t" if file_format == "tsv" else max(",;\t|", key=first.count)
    if header:
        _check_header(next(csv.reader([first], delimiter=separator)))
    library = frame_library()
    module = importlib.import_module(library)
    buffer = io.BytesIO(content)
    if library == "polars":
        frame = module.read_csv(
            buffer, separator=separator, has_header=header, null_values=_MISSING,
            infer_schema_length=None,
        )  # fmt: skip
    else:
        frame = module.read_csv(
            buffer, sep=separator, header=0 if header else None, na_values=_MISSING,
            keep_default_na=False, encoding="utf-8",
        )  # fmt: skip
    table = _wrap(frame)
    if header:
        return table
    names = {old: f"column_{i}" for i, old in enumerate(table.columns, 1)}
    if library == "pandas":
        frame.columns = list(names.values())
        return _wrap(frame)
    return table.rename(names)


def _check_header(names: list[str]) -> None:
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        more = ", …" if len(twice) > _MOST_SHOWN else ""
        shown = ", ".join(map(repr, twice[:_MOST_SHOWN])) + more
        raise InvalidInputError(
            f"the first line must name each column once; got {shown} more than once "
            "(--no-header if it is not a line of names)"
        )


def _read_columns(content: bytes, file_format: str) -> nw.DataFrame[Any]:
    library = frame_library()
    module = importlib.import_module(library)
    if file_format == "parquet":
        frame = module.read_parquet(io.BytesIO(content))
    else:
        reader = module.read_ipc if library == "polars" else module.read_feather
        frame = reader(io.BytesIO(content))
    if library == "pandas" and not isinstance(frame.index, module.RangeIndex):
        # names of rows, which polars reads as a column under these names, too
        levels = enumerate(frame.index.names)
        frame = frame.reset_index(names=[name or f"__index_level_{i}__" for i, name in levels])
    return _wrap(frame)


def _read_arrays(content: bytes) -> nw.DataFrame[Any]:
    """Arrays become columns: one for each 1-D array, one for each entry of a row otherwise."""
    import narwhals as nw
    import numpy as np

    loaded = np.load(io.BytesIO(content), allow_pickle=False)
    arrays = {"column": loaded} if isinstance(loaded, np.ndarray) else dict(loaded)
    lengths = {name: len(array) if array.ndim else 0 for name, array in arrays.items()}
    if len(set(lengths.values())) != 1:
        raise InvalidInputError(
            f"every array must have one entry for each row; got lengths {lengths or 'of nothing'}"
        )
    columns: dict[str, Any] = {}
    for name, array in arrays.items():
        for column, values in _columns_of(name, _plain(name, array)).items():
            if column in columns:
                raise InvalidInputError(
                    f"two arrays make a column {column!r} (entries of an array X are X_1, X_2, …): "
                    "rename one"
                )
            columns[column] = values
    return nw.from_dict(columns, backend=frame_library())  # type: ignore[arg-type]


def _plain(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """The array in a type that tables hold."""
    import numpy as np

    if array.dtype.kind not in _ARRAY_KINDS:
        raise InvalidInputError(
            f"array {name!r} must hold real numbers, truth values or text; got {array.dtype}"
        )
    if array.dtype.kind == "S":
        return array.astype(str)
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):  # half and long double
        return array.astype(np.float32 if array.dtype.itemsize == 2 else np.float64)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _columns_of(name: str, array: NDArray[Any]) -> dict[str, NDArray[Any]]:
    import numpy as np

    if array.ndim == 1 and name != "column":
        return {name: array}
    flat = np.ascontiguousarray(array.reshape(len(array), -1).T)
    return {f"{name}_{i}": values for i, values in enumerate(flat, 1)}
