"""Reading one split: which rows train and which test, as row numbers or masks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from allsplits._tensors import to_array
from allsplits._validation import shown
from allsplits.exceptions import InvalidInputError, InvalidTypeError
from allsplits.orders import NeighborOrder

Numbers = NDArray[np.intp]


class SplitRows(NamedTuple):
    """The rows of a split, and how many rows there are."""

    train: Numbers
    test: Numbers
    n_rows: int

    @property
    def used(self) -> Numbers:
        """The rows that train or test, in order."""
        return np.union1d(self.train, self.test)


def read_split(X: Any, train: Any, test: Any) -> SplitRows:
    """Check a split: row numbers from 0, or one True or False for each row of X."""
    n = X.n_samples if isinstance(X, NeighborOrder) else _n_rows(X)
    rows = SplitRows(_read("train", train, n), _read("test", test, n), n)
    both = np.intersect1d(rows.train, rows.test)
    if len(both):
        raise InvalidInputError(
            f"train and test must not share rows; got {len(both)} in both, the first is row "
            f"{both[0]}"
        )
    if len(rows.used) < 3:
        raise InvalidInputError(
            f"train and test must have at least 3 samples together; got {len(rows.used)}"
        )
    return rows


def _n_rows(X: Any) -> int:
    try:
        return int(_num_samples(X))
    except TypeError as error:
        raise InvalidTypeError(
            f"X must hold samples, one in each row; got {type(X).__name__}"
        ) from error


def _read(name: str, rows: Any, n: int) -> Numbers:
    values = np.asarray(to_array(rows, name))
    if values.ndim != 1 or (values.dtype.kind not in "biu" and values.size):
        raise InvalidTypeError(
            f"{name} must hold row numbers, or True and False for each row; got {shown(rows)}"
        )
    if values.dtype.kind == "b":
        if len(values) != n:
            raise InvalidInputError(
                f"{name} must have True or False for each of the {n} rows of X; got {len(values)}"
            )
        values = np.flatnonzero(values)
    if not len(values):
        raise InvalidInputError(f"{name} must have at least one sample; got none")
    outside = values[(values < 0) | (values >= n)]
    if len(outside):
        raise InvalidInputError(
            f"{name} must hold row numbers from 0 to {n - 1}; got {shown(outside[0])}"
        )
    found, times = np.unique(values, return_counts=True)
    if (times > 1).any():
        raise InvalidInputError(
            f"{name} must hold each row once; got row {found[times.argmax()]} {times.max()} times"
        )
    return values.astype(np.intp)


def only_rows(name: str, values: Any, rows: SplitRows, *, square: bool = False) -> Any:
    """What a table says of the rows that are used."""
    if values is None or len(rows.used) == rows.n_rows:
        return values
    if isinstance(values, NeighborOrder):
        raise InvalidInputError(
            f"{name} is a NeighborOrder of {rows.n_rows} samples, of which train and test use "
            f"{len(rows.used)}: pass the samples themselves"
        )
    if _n_rows(values) != rows.n_rows:
        raise InvalidInputError(
            f"{name} must have one value for each of the {rows.n_rows} samples of X; got "
            f"{_n_rows(values)}"
        )
    some = _safe_indexing(to_array(values, name), rows.used)
    return _safe_indexing(some, rows.used, axis=1) if square else some
