"""Row numbers of X, as users give them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.exceptions import InvalidInputError, InvalidTypeError


def read_rows(name: str, values: Any, n_samples: int) -> NDArray[np.intp]:
    """Distinct row numbers; one number stands for itself, an empty list for none."""
    rows = np.atleast_1d(np.asarray(values))
    if rows.size == 0:
        return np.empty(0, dtype=np.intp)
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise InvalidTypeError(f"{name} must be row numbers of X (integers); got {values!r}")
    if rows.min() < 0 or rows.max() >= n_samples:
        raise InvalidInputError(
            f"{name} must be row numbers of X from 0 to {n_samples - 1}; "
            f"got {rows.min()} to {rows.max()}"
        )
    if len(np.unique(rows)) < len(rows):
        raise InvalidInputError(f"{name} must hold each row number once; got repeats")
    return rows.astype(np.intp)
