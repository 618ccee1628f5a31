"""Checks of columns beside the samples: labels, targets, groups."""

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from allsplits._validation.points import (
    DATES_AS_NUMBERS,
    check_size,
    check_unmasked,
    collected,
    holds_dates,
)
from allsplits._validation.values import shown
from allsplits.exceptions import InvalidInputError


def check_labels(
    y: Any, n_samples: int, *, several: bool = True, name: str = "y"
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return (classes, codes): the sorted classes and each sample's position among them."""
    labels = check_column(name, y, n_samples)
    _refuse_missing(name, labels)
    _refuse_kinds(f"{name} must hold class labels of one kind", labels)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise InvalidInputError(f"{name} must hold class labels; got infinity among them")
    try:
        # Integers and strings are labels; looking at them costs more than a small search.
        if labels.dtype.kind not in "iubUS":
            check_classification_targets(labels)
        classes, codes = np.unique(labels, return_inverse=True)
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidInputError(
            f"{name} must hold class labels of one kind; got: {error}"
        ) from error
    if several and len(classes) < 2:
        raise InvalidInputError(
            f"y must have at least 2 classes; got 1 class: every one of the {n_samples} samples "
            f"is {shown(classes[0])}"
        )
    return classes, codes.astype(np.int32)


def check_targets(y: Any, n_samples: int, *, name: str = "y") -> NDArray[np.float64]:
    """Return y as a finite float64 column for regression."""
    values = check_column(name, y, n_samples)
    if holds_dates(values):
        raise InvalidInputError(
            f"{name} must be numeric for regression; got {values.dtype}: {DATES_AS_NUMBERS}"
        )
    _refuse_missing(name, values)
    try:
        targets = values.astype(np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidInputError(f"{name} must be numeric for regression; got: {error}") from error
    if not np.isfinite(targets).all():
        raise InvalidInputError(f"{name} must be finite for regression; got NaN or infinity")
    check_size(name, targets)
    return targets


def check_groups(groups: Any, n_samples: int) -> NDArray[np.int32]:
    """Return group numbers 0, 1, … for each sample."""
    return _group_numbers("groups", _group_column("groups", groups, n_samples))


def check_groups_with(
    groups: Any, n_samples: int, groups_test: Any, n_test: int
) -> NDArray[np.int32]:
    """Return group numbers of samples, then of questions from outside, equal where values are."""
    of_samples = _group_column("groups", groups, n_samples)
    of_tests = _group_column("groups_test", groups_test, n_test)
    check_same_kind("groups_test", of_tests, "groups", of_samples)
    return _group_numbers("groups_test", np.concatenate([of_samples, of_tests]))


def _group_column(name: str, groups: Any, n_samples: int) -> NDArray[Any]:
    column = check_column(name, groups, n_samples)
    _refuse_missing(name, column)
    _refuse_kinds(f"{name} must hold values of one kind", column)
    return column


def _group_numbers(name: str, column: NDArray[Any]) -> NDArray[np.int32]:
    try:
        return np.unique(column, return_inverse=True)[1].astype(np.int32)
    except TypeError as error:
        raise InvalidInputError(f"{name} must hold values of one kind; got: {error}") from error


def check_same_kind(name: str, values: NDArray[Any], of: str, others: NDArray[Any]) -> None:
    """Raise if one holds text and the other numbers: no value of one is one of the other."""
    one, other = values[:1].tolist()[0], others[:1].tolist()[0]
    if _kind(one) != _kind(other):
        raise InvalidInputError(
            f"{name} must hold values of the kind of {of}, {_kind(other)} such as {shown(other)}; "
            f"got {_kind(one)} such as {shown(one)}"
        )


def missing_values(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a column has no value: NaN, None, and pandas' own marks."""
    if column.dtype.kind == "f":
        return np.asarray(np.isnan(column))
    if column.dtype.kind in "mM":
        return np.asarray(np.isnat(column))
    if column.dtype.kind == "O":
        return np.array([_is_missing(value) for value in column.tolist()], dtype=bool)
    return np.zeros(len(column), dtype=bool)


def _refuse_missing(name: str, column: NDArray[Any]) -> None:
    rows = np.flatnonzero(missing_values(column))
    if len(rows):
        value = column[rows[0]]
        found = "NaN" if isinstance(value, (float, np.floating)) else value
        raise InvalidInputError(
            f"{name} must not hold missing values; got {found} in row {rows[0]} ({len(rows)} of "
            f"{len(column)} rows): drop these rows or fill them in"
        )


def _is_missing(value: Any) -> bool:
    # pandas' own marks of a missing value refuse to be compared.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (numbers.Number, np.datetime64)) and bool(value != value)


def _refuse_kinds(rule: str, column: NDArray[Any]) -> None:
    """Raise if text and numbers (or other kinds) stand side by side."""
    if column.dtype.kind != "O":
        return
    kinds = {_kind(value) for value in column.tolist()}
    if len(kinds) > 1:
        found = " and ".join(sorted(kinds))
        raise InvalidInputError(f"{rule}; got {found}: turn them into one kind, e.g. all text")


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "text"
    return "numbers" if isinstance(value, (numbers.Number, np.bool_)) else type(value).__name__


def _unmixed(values: Any) -> Any:
    """A list as an array, in which numpy must not turn numbers and NaN into text."""
    if not isinstance(values, (list, tuple)):
        return values
    array = np.asarray(values)
    text = array.dtype.kind in "US" and array.ndim == 1
    if text and not all(isinstance(value, (str, bytes)) for value in values):
        return np.array(values, dtype=object)
    return array


def check_column(name: str, values: Any, n_samples: int) -> NDArray[Any]:
    """Return one value for each sample as a one-dimensional array."""
    if values is None:
        raise InvalidInputError(f"{name} must be given, one value for each sample; got None")
    check_unmasked(name, values)
    try:
        column = column_or_1d(_unmixed(collected(values, name)))
    except (ValueError, TypeError) as error:
        raise InvalidInputError(f"{name} must be one column; got: {error}") from error
    if len(column) != n_samples:
        of = "X_test" if name.endswith("_test") else "X"
        raise InvalidInputError(
            f"{name} must have one value for each of the {n_samples} samples of {of}; "
            f"got {len(column)}"
        )
    return np.asarray(column)
