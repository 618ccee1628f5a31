"""Data that dask holds or reads: arrays, data frames, files on disk, checked block by block.

Nothing here brings all rows together. A memory-mapped NPY file is not sent: every task reads its
own rows, so workers must see the file under the same path.
"""

from __future__ import annotations

import math
import mmap
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits._optional import import_optional
from allsplits._validation import LARGEST_VALUE
from allsplits.exceptions import InvalidInputError, UnsupportedError
from allsplits.orders.metric import Metric
from allsplits.orders.squares import has_tiny_values

#: Rows of a block that is read from a file, and entries at most.
_ROWS_PER_READ = 1 << 13
_ENTRIES_PER_READ = 1 << 22
#: What dask raises, by name, when its Client is closed or its data are gone.
_GONE = ("FutureCancelledError", "CancelledError", "CommClosedError", "ClosedClientError")


def is_dask(X: Any) -> bool:
    """Whether X is a dask array or data frame (without importing dask)."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(X, "dask")


@dataclass(frozen=True)
class DaskPoints:
    """A checked dask array: blocks of complete rows, finite numbers.

    Blocks of a `mapped` file cost nothing to read again, so nobody needs to hold them.
    """

    array: Any
    has_tiny_values: bool
    mapped: bool = False

    def __len__(self) -> int:
        return int(self.array.shape[0])


def check_dask_points(X: Any, metric: Metric) -> DaskPoints:
    """Check a dask array or data frame block by block, where its blocks are."""
    if hasattr(X, "to_dask_array"):
        X = X.to_dask_array(lengths=True)
    if getattr(X, "ndim", 0) != 2:
        raise InvalidInputError(f"X must have shape (n_samples, n_features); got {X!r}")
    if any(math.isnan(size) for size in X.shape):
        raise InvalidInputError(
            f"X must know how long its chunks are; got {X!r}: call X.compute_chunk_sizes() first"
        )
    if metric.precomputed or metric.allows_nan or metric.needs_sample:
        raise UnsupportedError(
            f"metric={metric.name!r} is not available for dask collections: its parameters must "
            "be given, and X must hold points without NaN"
        )
    if len(X) < 2:
        raise InvalidInputError(f"X must have at least 2 samples; got {len(X)}")
    metric.check_features(X.shape[1])
    X = X.rechunk({1: -1})
    dask = import_optional("dask", extra="dask", purpose="backend 'dask'")
    blocks = X.to_delayed().ravel()
    found = _compute(dask, [dask.delayed(_describe)(block) for block in blocks])
    for number, (kind, finite, largest, _) in enumerate(found):
        where = f"in chunk {number} of {len(found)}"
        if kind not in "fiub":
            raise InvalidInputError(f"X must be numeric; got dtype kind {kind!r} {where}")
        if not finite:
            raise InvalidInputError(f"X must not hold NaN or infinity; got one {where}")
        if largest > LARGEST_VALUE:
            raise InvalidInputError(
                f"X must hold values below {LARGEST_VALUE:g} in size; got {largest:g} {where}"
            )
    return DaskPoints(X, any(tiny for *_, tiny in found))


def _describe(block: Any) -> tuple[str, bool, float, bool]:
    """(kind of dtype, all finite, largest size, has tiny values) of one block."""
    values = np.asarray(block)
    if values.dtype.kind not in "fiub" or values.size == 0:
        return values.dtype.kind, True, 0.0, False
    finite = bool(np.isfinite(values).all())
    return values.dtype.kind, finite, float(np.abs(values).max()), has_tiny_values(values)


def _compute(dask: Any, tasks: list[Any]) -> Any:
    try:
        return dask.compute(*tasks)
    except Exception as error:
        if is_gone(error):
            raise InvalidInputError(
                "X is held by a dask Client that has gone: connect again and load X anew"
            ) from error
        raise


def is_gone(error: BaseException) -> bool:
    """Whether an error says that the Client, or what it held, is no longer there."""
    return type(error).__name__ in _GONE


def dask_points(X: NDArray[Any], metric: Metric) -> DaskPoints:
    """An array in memory or in a mapped file as points of dask."""
    array = import_optional("dask.array", extra="dask", purpose="backend 'dask'")
    mapped = MappedRows.of(X)
    if mapped is None:
        return check_dask_points(array.from_array(np.asarray(X), chunks=("auto", -1)), metric)
    dask = import_optional("dask", extra="dask", purpose="backend 'dask'")
    n_samples, n_features = X.shape
    step = max(1, min(_ROWS_PER_READ, _ENTRIES_PER_READ // n_features))
    blocks = [
        array.from_delayed(
            dask.delayed(read_rows)(mapped, start, min(start + step, n_samples)),
            (min(step, n_samples - start), n_features),
            X.dtype,
        )
        for start in range(0, n_samples, step)
    ]
    return replace(check_dask_points(array.concatenate(blocks), metric), mapped=True)


class MappedRows(NamedTuple):
    """Where the rows of a memory-mapped array lie in its file."""

    filename: str
    offset: int
    dtype: str
    shape: tuple[int, int]

    @classmethod
    def of(cls, X: NDArray[Any]) -> MappedRows | None:
        """The place of X in a file, or None if it is not read row by row from one."""
        root: Any = X
        while isinstance(root, np.ndarray) and not isinstance(root.base, mmap.mmap):
            root = root.base
        # With mode "c" the memory may differ from the file.
        if not isinstance(root, np.memmap) or root.mode == "c" or root.filename is None:
            return None
        if not X.flags.c_contiguous or X.ndim != 2:
            return None
        offset = root.offset + X.ctypes.data - root.ctypes.data
        return cls(str(root.filename), offset, X.dtype.str, X.shape)


def read_rows(rows: MappedRows, start: int, stop: int) -> NDArray[Any]:
    """Rows start to stop, mapped by whoever runs the task."""
    dtype, width = np.dtype(rows.dtype), rows.shape[1]
    offset = rows.offset + start * width * dtype.itemsize
    return np.memmap(rows.filename, dtype, "r", offset, (stop - start, width))
