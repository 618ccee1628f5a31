"""Whether squares of differences can be told from 0: numbers so small that they underflow.

Two float64 numbers that differ, both 0 or at least `SMALLEST` in size, differ by at least 2⁻⁵³ of
that, whose square is a normal number. So where all values are like that, nothing is lost.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Values other than 0 that are smaller in size may have differences whose squares underflow.
SMALLEST = 2.0**-450
#: Differences from here on have squares that are normal numbers.
_SMALLEST_GAP = 2.0**-505
#: Values looked at a time.
_ENTRIES_PER_BLOCK = 1 << 20


def has_tiny_values(X: NDArray[Any]) -> bool:
    """Whether some value other than 0 is smaller in size than `SMALLEST`."""
    if X.dtype.kind != "f" or np.finfo(X.dtype).smallest_subnormal > SMALLEST:
        return False
    step = max(1, _ENTRIES_PER_BLOCK // max(1, X.shape[1]))
    return any(_tiny(X[start : start + step]).any() for start in range(0, len(X), step))


def squares_underflow(X: NDArray[Any]) -> bool:
    """Whether two rows may seem to be in one place because squares of differences underflow.

    Tiny values do no harm where rows differ elsewhere as well: such as probabilities, in which some
    are hardly above 0.
    """
    if not has_tiny_values(X) or _smallest_gap(X) >= _SMALLEST_GAP:
        return False
    return len(_distinct(X)) > len(_distinct(np.where(_tiny(X), 0.0, X)))


def _smallest_gap(X: NDArray[Any]) -> float:
    """The smallest difference of two values of a feature that are not the same."""
    gaps = np.diff(np.sort(X, axis=0), axis=0)
    return float(gaps.min(initial=np.inf, where=gaps > 0))


def _tiny(X: NDArray[Any]) -> NDArray[np.bool_]:
    tiny: NDArray[np.bool_] = (np.abs(X) < SMALLEST) & (X != 0)
    return tiny


def _distinct(X: NDArray[Any]) -> NDArray[Any]:
    # Adding 0 turns -0 into 0.
    rows: NDArray[Any] = np.unique(X + 0.0, axis=0)
    return rows
