"""What class queries are given: numbers, priors and flags, one for each class."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from allsplits.exceptions import InvalidInputError


def check_class_numbers(name: str, values: ArrayLike, at_least: int) -> NDArray[np.float64]:
    """Return one finite number for each class."""
    try:
        counts = np.asarray(values, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise InvalidInputError(
            f"{name} must hold one number for each class; got {values!r}"
        ) from error
    if counts.ndim != 1 or not len(counts) or not np.all(np.isfinite(counts)):
        raise InvalidInputError(f"{name} must hold one number for each class; got {values!r}")
    if counts.min() < at_least:
        raise InvalidInputError(f"{name} must be at least {at_least}; got {counts.min():g}")
    return counts


def check_priors(priors: Any, n_classes: int) -> NDArray[np.float64]:
    """Return priors that sum to one."""
    if priors is None:
        return np.full(n_classes, 1.0 / n_classes)
    values = check_class_numbers("priors", priors, at_least=0)
    if len(values) != n_classes or not values.sum() > 0:
        raise InvalidInputError(
            f"priors must hold one number for each of the {n_classes} classes, not all zero; "
            f"got {priors!r}"
        )
    shares: NDArray[np.float64] = values / values.sum()
    return shares


def check_available(available: ArrayLike | None, n_classes: int) -> NDArray[np.bool_]:
    """Return which classes may be asked for: all of them if nothing is said."""
    if available is None:
        return np.ones(n_classes, dtype=bool)
    allowed: NDArray[np.bool_] = np.asarray(available, dtype=bool)
    if allowed.shape != (n_classes,) or not allowed.any():
        raise InvalidInputError(
            f"available must hold a truth value for each of the {n_classes} classes, "
            f"at least one of them true; got {available!r}"
        )
    return allowed
