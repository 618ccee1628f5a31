"""Rows as directions, so that cosine and correlation distance are Euclidean geometry.

Half the squared distance of two vectors of length 1 is their cosine distance. A row of zeros has no
direction; it gets one of its own, a further axis at right angles to all others: its distance is 1
to everybody, and 0 to other rows of zeros. Correlation distance is that of rows less their means,
and a constant row is its row of zeros.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from allsplits.orders.kernel_types import UNIT_ROUNDOFF

#: How far two rounded directions may be apart that should be one. Means, lengths (both by pairwise
#: summation) and quotients are each right to a few dozen roundings at most.
DIRECTION_ERROR = 128 * UNIT_ROUNDOFF
#: Entries worked on at a time: temporary copies stay small beside X.
_ENTRIES_PER_BLOCK = 1 << 22

Array = NDArray[np.float64]


def directions(X: Array) -> Array:
    """Rows scaled to length 1, with one more column that is 1 for rows of zeros and 0 otherwise."""
    return _mapped(lambda rows: rows, X)


def correlation_directions(X: Array, weights: Array | None = None) -> Array:
    """Directions of the rows less their (weighted) means."""
    if weights is not None:
        # Who has no weight must not make a row seem to vary.
        X, weights = X[:, weights > 0], weights[weights > 0]
    return _mapped(lambda rows: _centred(rows, weights), X)


def _mapped(change: Callable[[Array], Array], X: Array) -> Array:
    """Directions of changed rows, block by block."""
    out = np.zeros((X.shape[0], X.shape[1] + 1))
    step = max(1, _ENTRIES_PER_BLOCK // max(1, X.shape[1]))
    for start in range(0, len(X), step):
        rows = slice(start, start + step)
        _scale_to_one(change(X[rows]), out[rows])
    return out


def _scale_to_one(X: Array, out: Array) -> None:
    unit = out[:, :-1]
    # Scaled by powers of two, which does not round: squares neither under- nor overflow.
    exponents = np.frexp(np.abs(X).max(axis=1, initial=0.0))[1]
    np.ldexp(X, -exponents[:, None], out=unit)
    lengths = np.sqrt(np.square(unit).sum(axis=1))
    nothing = lengths == 0
    out[:, -1] = nothing
    lengths[nothing] = 1.0
    unit /= lengths[:, None]


def _centred(X: Array, weights: Array | None) -> Array:
    """Rows less their means, times the roots of the weights."""
    # Rounding can make the mean of a constant row differ from its values.
    varies = X.max(axis=1, initial=-np.inf) > X.min(axis=1, initial=np.inf)
    centred = np.where(varies[:, None], X, 0.0)
    # The second mean is what rounding left of the first one: small variation beside a large mean.
    for _ in range(2):
        centred = centred - np.average(centred, axis=1, weights=weights)[:, None]
    return centred if weights is None else centred * np.sqrt(weights)
