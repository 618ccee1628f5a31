"""What the target is: classes or numbers."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from allsplits.exceptions import InvalidInputError

if TYPE_CHECKING:
    import narwhals as nw
    from numpy.typing import NDArray

__all__ = ["Task", "class_labels", "read_target"]

#: Whole numbers with more values than this are probably a quantity.
_MANY_CLASSES = 20


class Task(StrEnum):
    """What is predicted."""

    AUTO = "auto"
    CLASSIFICATION = "classification"
    REGRESSION = "regression"


def read_target(series: nw.Series[Any], task: Task) -> tuple[NDArray[Any], bool, list[str]]:
    """The target as an array, whether it is a number to predict, and notes.

    Left to itself, a target with fractions is a number; everything else is a class.
    """
    import narwhals as nw
    import numpy as np

    numeric = series.dtype.is_numeric()
    whole = not series.dtype.is_float() or bool((series == series.round(0)).all())
    regression = task is Task.REGRESSION or (task is Task.AUTO and numeric and not whole)
    if regression:
        if not (numeric or series.dtype == nw.Boolean):
            raise InvalidInputError(
                f"--task regression needs a target of numbers; {series.name!r} holds "
                f"{str(series[0])!r}, …"
            )
        return series.cast(nw.Float64).to_numpy().astype(np.float64), True, []
    if numeric and not whole:
        raise InvalidInputError(
            f"--task classification needs classes; {series.name!r} holds fractions such as "
            f"{series[0]}: use --task regression"
        )
    n_classes = series.n_unique()
    notes = []
    if numeric and n_classes > _MANY_CLASSES:
        notes.append(
            f"{series.name}: {n_classes} whole numbers taken as classes (--task regression if they "
            "are a quantity)"
        )
    return class_labels(series), False, notes


def class_labels(series: nw.Series[Any]) -> NDArray[Any]:
    """Classes as an array of text, whole numbers or truth values."""
    import narwhals as nw
    import numpy as np

    if series.dtype.is_numeric():
        return series.cast(nw.Int64).to_numpy().astype(np.int64)
    if series.dtype == nw.Boolean:
        return series.to_numpy().astype(bool)
    return np.array([str(value) for value in series.to_list()])
