"""Labels of which some are missing: NaN and None, as in scikit-activeml, or a value of choice."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from allsplits._tensors import to_array
from allsplits._validation import check_column, check_labels, missing_values
from allsplits.exceptions import InvalidInputError


@dataclass(frozen=True)
class PartialLabels:
    """The labelled rows of a sample, their classes in order and their class numbers."""

    n_samples: int
    rows: NDArray[np.intp]
    classes: NDArray[Any]
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, n_samples: int, rows: NDArray[np.intp], labels: NDArray[Any]) -> Self:
        """The labels of these rows; raises if they are not of one kind."""
        if len(rows) == 0:
            return cls(n_samples, rows, np.empty(0), np.empty(0, dtype=np.int32))
        return cls(n_samples, rows, *check_labels(labels, len(rows), several=False))

    def without(self, rows: NDArray[np.intp]) -> Self:
        """The same without the labels of some rows."""
        kept = ~np.isin(self.rows, rows)
        if kept.all():
            return self
        return self.of(self.n_samples, self.rows[kept], self.classes[self.codes[kept]])

    @property
    def unlabelled(self) -> NDArray[np.intp]:
        """The other rows."""
        free = np.ones(self.n_samples, dtype=bool)
        free[self.rows] = False
        return np.flatnonzero(free)


def read_labels(y: Any, n_samples: int, missing_label: Any = None) -> PartialLabels:
    """Read y, in which NaN, None and `missing_label` mean that a label is not known."""
    if isinstance(y, (list, tuple)):
        # numpy would turn ["a", nan] into strings.
        column = np.empty(len(y), dtype=object)
        column[:] = y
        y = column
    column = check_column("y", y, n_samples)
    missing = missing_values(column)
    if missing_label is not None:
        missing |= np.array([value == missing_label for value in column.tolist()], dtype=bool)
    labels = column[~missing]
    labels = plain_labels(labels.tolist()) if labels.dtype.kind == "O" else labels
    return PartialLabels.of(n_samples, np.flatnonzero(~missing), labels)


def read_start(y: Any, n_samples: int, missing_label: Any) -> PartialLabels:
    """Read the labels a learner starts with: None is no label at all, a column is unpacked."""
    if y is None:
        y = np.full(n_samples, np.nan)
    elif getattr(y, "ndim", 1) == 2:
        y = column_or_1d(y, warn=True)
    return read_labels(y, n_samples, missing_label)


def read_taught(labels: Any, n: int, missing_label: Any) -> list[Any]:
    """One label for each of n samples, None where it is missing; a single label may stand alone."""
    if isinstance(labels, str) or np.ndim(labels) == 0:
        labels = [labels]
    if len(labels) != n:
        raise InvalidInputError(
            f"labels must be one for each of the {n} indices; got {len(labels)}"
        )
    labels = to_array(labels, "labels")
    read = read_labels(labels if isinstance(labels, np.ndarray) else list(labels), n, missing_label)
    known = dict(zip(read.rows.tolist(), read.classes[read.codes].tolist(), strict=True))
    return [known.get(i) for i in range(n)]


def plain_labels(labels: Sequence[Any]) -> NDArray[Any]:
    """Labels of one kind, text or numbers, as an array of that kind."""
    kinds = {"text" if isinstance(x, str) else type(x).__name__ for x in labels}
    numbers = all(isinstance(x, (Number, np.bool_)) for x in labels)
    if not (numbers or kinds <= {"text"}):
        raise InvalidInputError(
            f"y must hold class labels of one kind, text or numbers; got {sorted(kinds)}"
        )
    return np.array(labels)
