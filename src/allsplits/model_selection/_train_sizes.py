"""Sizes of training sets, as users give them: one or several, numbers or fractions."""

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._validation import check_counts, check_fraction, shown
from allsplits.exceptions import InvalidInputError, InvalidTypeError

#: Points of the default grid of sizes when k > 1.
_GRID_POINTS = 24


def read_shots(
    train_sizes: Any, voters: int, class_sizes: NDArray[np.int64], held_out: int
) -> list[int]:
    """Numbers of training samples of each class; None means all that leave `held_out` to test."""
    smallest, largest = -(-voters // len(class_sizes)), int(class_sizes.min()) - held_out
    left = ", one sample left to test" if held_out else ""
    if largest < smallest:
        raise InvalidInputError(
            f"stratify=True needs classes of at least {smallest + held_out} samples ({voters} "
            f"voters from {len(class_sizes)} classes{left}); got a class of "
            f"{largest + held_out}: drop it or use stratify=False"
        )
    if train_sizes is None:
        return list(range(smallest, largest + 1))
    why = " samples of each class"
    why += " (one of the smallest class must be left to test)" if held_out else ""
    counts = _as_counts(train_sizes, largest + held_out)
    return check_counts("train_sizes", counts, at_least=smallest, at_most=largest, why=why)


def read_sizes(train_sizes: Any, smallest: int, n: int, most: int) -> list[int]:
    """Numbers of training samples up to `most` of n; None: every size for one voter, or a grid."""
    if train_sizes is None:
        if smallest == 1:
            return list(range(1, most + 1))
        grid = np.geomspace(smallest, most, _GRID_POINTS)
        return sorted({round(size) for size in grid})
    counts = _as_counts(train_sizes, n)
    return check_counts(
        "train_sizes", counts, at_least=smallest, at_most=most, why=f" of {n} samples"
    )


def _as_counts(train_sizes: Any, whole: int) -> list[Any]:
    """One size or several; fractions of the whole become numbers, rounded down."""
    if isinstance(train_sizes, np.ndarray) and train_sizes.ndim == 0:
        train_sizes = train_sizes.item()
    if isinstance(train_sizes, Real):
        train_sizes = [train_sizes]
    if isinstance(train_sizes, (str, bytes)) or not isinstance(train_sizes, Iterable):
        raise InvalidTypeError(
            f"train_sizes must be a size, a list of sizes or None; got {shown(train_sizes)}"
        )
    return [
        size if isinstance(size, Integral) else int(check_fraction("train_sizes", size) * whole)
        for size in train_sizes
    ]
