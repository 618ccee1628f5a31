"""Points in single precision, and how far distances between them may be from the true ones."""

import numpy as np
from numpy.typing import NDArray

from allsplits.orders.proposers.proposer import expanded_rounding, largest_norm

#: Half the distance from 1 to the next float32.
_SINGLE_ROUNDOFF = 2.0**-24


class SinglePoints:
    """Points centred, scaled to norms up to 1 and rounded to float32.

    Attributes
    ----------
    points : float32 array
        The points.
    scale : float
        What they were multiplied by: a power of two, so scaling does not round, and nothing
        overflows in float32.
    rounding : float64 array
        For each sample, a bound on the error of squared distances by the expanded formula in
        float32, in terms of the points that were given.
    """

    def __init__(self, given: NDArray[np.float64]) -> None:
        centred = given - given.mean(axis=0)
        farthest = largest_norm(centred)
        self.scale = float(2.0 ** -np.frexp(farthest)[1]) if farthest > 0 else 1.0
        centred *= self.scale
        self.points = centred.astype(np.float32)
        largest = max(given.max(), -given.min()) * self.scale
        rounding = expanded_rounding(centred, farthest * self.scale, largest, _SINGLE_ROUNDOFF)
        # Both points move when they become float32.
        reach = np.linalg.norm(centred, axis=1) + farthest * self.scale
        centred -= self.points
        lost = np.linalg.norm(centred, axis=1)
        lost += lost.max()
        self.rounding: NDArray[np.float64] = (rounding + 2 * reach * lost + lost**2) / self.scale**2
