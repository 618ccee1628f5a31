"""Orders of values that rounding cannot turn round."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: How far rounding moves values up to 1; larger ones by as much more.
ROUNDING = 1e-12


def smallest_first(values: Floats, tolerance: Any) -> NDArray[np.intp]:
    """Positions by value; neighbours in this order within the tolerance stay as they came.

    The tolerance is a number, or one for each value. What is not a number comes last.
    """
    order = np.argsort(values, kind="stable")
    allowed = np.broadcast_to(np.asarray(tolerance, dtype=np.float64), values.shape)[order]
    with np.errstate(invalid="ignore"):  # differences of infinite values
        near = np.diff(values[order]) <= allowed[1:]
    near |= values[order][1:] == values[order][:-1]
    run = np.empty(len(values), dtype=np.intp)
    run[order] = np.cumsum(np.append(False, ~near)[: len(values)])
    return np.argsort(run, kind="stable")


def rounding_of(values: Floats, error_bound: float) -> float:
    """How far values can lie apart by rounding alone; no farther than their bound says."""
    largest = float(np.max(np.abs(values[np.isfinite(values)]), initial=0.0))
    return min(error_bound, ROUNDING * max(1.0, largest))


def rounding_of_chances(chances: Floats, error_bound: float) -> Floats:
    """The same for chances, of which the faint ones are precise."""
    rounding = rounding_of(chances, error_bound)
    return np.where(np.abs(chances) > ROUNDING, rounding, 1e-9 * np.abs(chances))
