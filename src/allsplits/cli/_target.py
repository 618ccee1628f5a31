"""What the target is: classes or numbers."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from allsplits.exceptions import InvalidInputError

if TYPE_CHECKING:
    import narwhals as nw
    import numpy as np
    from numpy.typing import NDArray

#: Whole numbers with more values than this are probably a quantity.
_MANY_CLASSES = 20
#: Floats from here on are whole for want of digits.
_LARGEST_WHOLE = 2.0**53


class TargetKind(StrEnum):
    """What is predicted."""

    AUTO = "auto"
    CLASSIFICATION = "classification"
    REGRESSION = "regression"


def read_target(series: nw.Series[Any], kind: TargetKind) -> tuple[NDArray[Any], bool, list[str]]:
    """The target as an array, whether it is a number to predict, and notes.

    Left to itself, a target with fractions is a number; everything else is a class.
    """
    import narwhals as nw
    import numpy as np

    if series.dtype.is_decimal():
        series = series.cast(nw.Float64)
    numeric = series.dtype.is_numeric()
    whole = not series.dtype.is_float() or _is_whole(series)
    guessed = kind is TargetKind.AUTO and numeric and not whole
    regression = kind is TargetKind.REGRESSION or guessed
    if regression:
        if not (numeric or series.dtype == nw.Boolean):
            raise InvalidInputError(
                f"--task regression needs a target of numbers; {series.name!r} holds "
                f"{str(series[0])!r}, …"
            )
        numbers = series.cast(nw.Float64).to_numpy().astype(np.float64)
        _check_size(series.name, numbers)
        return numbers, True, []
    if numeric and not whole:
        raise InvalidInputError(
            f"--task classification needs classes; {series.name!r} holds fractions or numbers "
            f"beyond 2⁵³ such as {_not_whole(series)}: use --task regression"
        )
    n_classes = series.n_unique()
    notes = []
    if numeric and n_classes > _MANY_CLASSES:
        notes.append(
            f"{series.name}: {n_classes} whole numbers taken as classes (--task regression if they "
            "are a quantity)"
        )
    return class_labels(series), False, notes


def _check_size(name: str, numbers: NDArray[np.float64]) -> None:
    import numpy as np

    from allsplits._validation import LARGEST_VALUE

    wrong = ~(np.abs(numbers) < LARGEST_VALUE)
    if wrong.any():
        raise InvalidInputError(
            f"the target {name!r} must be between {-LARGEST_VALUE:g} and {LARGEST_VALUE:g}; "
            f"got {numbers[wrong][0]:g} in row {int(wrong.argmax())} of the rows used"
        )


def _is_whole(series: nw.Series[Any]) -> bool:
    """Whether all floats are whole numbers, small enough to be told from their neighbours."""
    import numpy as np

    values = series.to_numpy()
    return bool(((values == values.round()) & (np.abs(values) < _LARGEST_WHOLE)).all())


def _not_whole(series: nw.Series[Any]) -> float:
    values = series.to_numpy()
    return float(values[(values != values.round()) | (abs(values) >= _LARGEST_WHOLE)][0])


def class_labels(series: nw.Series[Any]) -> NDArray[Any]:
    """Classes as an array of text, whole numbers or truth values.

    Whole numbers beyond 64 bits, which no array holds, are text.
    """
    import narwhals as nw
    import numpy as np

    if series.dtype.is_numeric() and -(2**63) <= int(series.min()) <= int(series.max()) < 2**63:
        return series.cast(nw.Int64).to_numpy().astype(np.int64)
    if series.dtype == nw.Boolean:
        return series.to_numpy().astype(bool)
    return np.array([str(value) for value in series.to_list()])
