"""Numbers that local models can work with: what is too large for squares, or beside the penalty."""

import numbers
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from allsplits._validation import LARGEST_VALUE
from allsplits.exceptions import InvalidInputError, InvalidTypeError

Array = NDArray[np.float64]

#: Beside terms this many times larger than √ridge the rounding of X begins to outweigh the penalty
#: (from 1e16 on it would decide what the neighbours do not determine).
_LARGEST_RATIO = 1e13


def check_ridge(ridge: Any) -> None:
    """Raise unless the penalty is a positive number of reasonable size."""
    if isinstance(ridge, bool) or not isinstance(ridge, numbers.Real):
        raise InvalidTypeError(f"ridge must be a number greater than 0; got {ridge!r}")
    if not 1e-100 <= float(ridge) <= 1e100:
        raise InvalidInputError(
            f"ridge must lie between 1e-100 and 1e100 (1e-6 for hardly any); got {ridge!r}"
        )


def largest_spread(degree: int, ridge: float) -> float:
    """How far apart two values of a feature may be."""
    if degree == 0:
        return LARGEST_VALUE
    room = _LARGEST_RATIO * float(np.sqrt(ridge))
    # Products of two features are terms as well.
    return room if degree == 1 else min(room, float(np.sqrt(room)))


class Bounds(NamedTuple):
    """Smallest and largest value of each feature."""

    low: Array
    high: Array

    @classmethod
    def of(cls, points: Array) -> Self:
        """The bounds of these points."""
        return cls(points.min(axis=0), points.max(axis=0))


def check_spread(points: Bounds, queries: Bounds, degree: int, ridge: float) -> None:
    """Raise if some query may be too far from some point for the arithmetic."""
    reach = np.maximum(points.high - queries.low, queries.high - points.low)
    found, allowed = float(reach.max()), largest_spread(degree, ridge)
    if found > allowed:
        why = "squares overflow" if degree == 0 else f"ridge={ridge:g} has no effect any more"
        raise InvalidInputError(
            f"X must not spread over more than {allowed:.3g} in a feature, beyond which {why}; "
            f"got {found:.3g}: rescale X{'' if degree == 0 else ' or raise ridge'}"
        )
