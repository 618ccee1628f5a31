"""Tables out, in the formats that are read, each written in one step.

Text that a spreadsheet would take for a formula (``=…``, ``@…``, ``+…``, ``-…``) gets a quote in
front of it in CSV and TSV files, since opening a file must not run what somebody put into it.
"""

from __future__ import annotations

import importlib.util
import io
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from allsplits._files import write_file
from allsplits.cli._read import STDIN, format_of, frame_library
from allsplits.cli._streams import printable, write_bytes
from allsplits.exceptions import InvalidInputError, MissingExtraError

if TYPE_CHECKING:
    import narwhals as nw

_FORMULA = r"^([=@\t\r]|[+\-].)"
#: Text that a spreadsheet reads as a number is none.
_NUMBER = r"^[+\-]?\d*[.,]?\d+([eE][+\-]?\d+)?$"


def check_output(option: str, name: str | None, *inputs: str | None) -> None:
    """Refuse a place that cannot be written to before any work is done."""
    if name is None or name == STDIN:
        return
    path = Path(name)
    if path.is_dir():
        raise InvalidInputError(f"{option} must be a file; {name} is a folder")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise InvalidInputError(f"{option} must be in a folder that exists; {folder} is not one")
    try:
        # permissions do not tell all: a read-only file system lets its owner down, too
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        if not path.exists() or path.is_file():  # a device is not written beside
            raise InvalidInputError(
                f"{option} must be in a folder that can be written to; {folder}: {error.strerror}"
            ) from error
    for other in inputs:
        if other is None or other == STDIN or not (path.exists() and Path(other).exists()):
            continue
        if path.samefile(other):
            raise InvalidInputError(f"{option} must not be the file that is read; got {name}")


def check_table_output(option: str, name: str | None, *inputs: str | None) -> None:
    """As above, for a table: its ending must say what it is."""
    check_output(option, name, *inputs)
    if name is None:
        return
    columnar = output_format(option, name) in ("parquet", "feather")
    if columnar and frame_library() == "pandas" and importlib.util.find_spec("pyarrow") is None:
        raise MissingExtraError(
            f"{option}: Parquet and Feather need polars, or pandas with pyarrow: pip install polars"
        )


def output_format(option: str, name: str) -> str:
    """The format by the file's ending; CSV for standard output, pipes and devices."""
    path = Path(name)
    if name == STDIN or (path.exists() and not path.is_file()):
        return "csv"
    try:
        return format_of(name)
    except InvalidInputError as error:
        raise InvalidInputError(f"{option}: {str(error).partition(': say')[0]}") from None


def write_table(option: str, name: str, frame: nw.DataFrame[Any]) -> None:
    """Write a table in the format of the file's ending; ``-`` is CSV on standard output."""
    if name == STDIN:
        text = _as_text(_without_formulas(frame), ",")
        if sys.stdout.isatty():
            sys.stdout.write(printable(text, keep="\n"))
        else:
            write_bytes(text.encode("utf-8"))
        return
    file_format = output_format(option, name)
    content = _content(frame, file_format)  # all of it: a writer's own errors do not name the disk
    write_file(option, name, lambda file: file.write(content))


def _without_formulas(frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
    import narwhals as nw

    schema = frame.schema
    kinds = (nw.String, nw.Categorical, nw.Enum)
    quoted = []
    for column in (column for column, kind in schema.items() if kind in kinds):
        text = nw.col(column).cast(nw.String)
        risky = text.str.contains(_FORMULA) & ~text.str.contains(_NUMBER)
        if frame.select(risky.any())[column][0]:
            with_quote = nw.concat_str(nw.lit("'"), text)
            quoted.append(nw.when(risky).then(with_quote).otherwise(text).alias(column))
    frame = frame.with_columns(*quoted) if quoted else frame
    names = [c for c in frame.columns if re.match(_FORMULA, c) and not re.match(_NUMBER, c)]
    return frame.rename({name: f"'{name}" for name in names})


def _as_text(frame: nw.DataFrame[Any], separator: str) -> str:
    native = frame.to_native()
    if frame_library() == "polars":
        return str(native.write_csv(separator=separator))
    return str(native.to_csv(sep=separator, index=False))


def _content(frame: nw.DataFrame[Any], file_format: str) -> bytes:
    native = frame.to_native()
    library = frame_library()
    if file_format in ("csv", "tsv"):
        separator = "," if file_format == "csv" else "\t"
        return _as_text(_without_formulas(frame), separator).encode("utf-8")
    file = io.BytesIO()
    if file_format in ("npz", "npy"):
        _write_arrays(frame, file_format, file)
    elif library == "polars":
        writer = native.write_parquet if file_format == "parquet" else native.write_ipc
        writer(file)
    else:
        writer = native.to_parquet if file_format == "parquet" else native.to_feather
        writer(file)
    return file.getvalue()


def _write_arrays(frame: nw.DataFrame[Any], file_format: str, file: BinaryIO) -> None:
    import numpy as np

    columns = {name: np.array(frame[name].to_list()) for name in frame.columns}
    if any(values.dtype.kind == "O" for values in columns.values()):
        raise InvalidInputError("NPZ and NPY hold no missing or mixed values: write CSV or Parquet")
    if file_format == "npz":
        # names of columns become keywords of savez, which has two of its own
        taken = {"file", "allow_pickle"} & set(columns)
        if taken:
            raise InvalidInputError(f"NPZ cannot hold columns called {taken}: write CSV or Parquet")
        np.savez_compressed(file, **columns)  # type: ignore[arg-type]
        return
    if any(values.dtype.kind in "US" for values in columns.values()):
        raise InvalidInputError("NPY holds numbers only: write CSV, Parquet or NPZ")
    np.save(file, np.column_stack(list(columns.values())))
