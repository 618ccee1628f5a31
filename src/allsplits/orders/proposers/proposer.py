"""What every proposer promises, and how far the expanded formula may be wrong."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from allsplits.orders.kernel_types import UNIT_ROUNDOFF

Array = NDArray[np.float64]


class Proposer(Protocol):
    """Whoever knows the nearest by an approximate squared distance of bounded error."""

    def propose(self, start: int, stop: int, n_candidates: int) -> tuple[NDArray[np.int32], Array]:
        """Candidates of the rows start to stop (own row among them), ended by -1 if they end early.

        Whoever is not among them is at least the second, squared, away.
        """
        ...


def row_norms(points: Array) -> Array:
    """The length of each row."""
    norms: Array = np.sqrt(np.einsum("ij,ij->i", points, points))
    return norms


def expanded_rounding(
    norms: Array, n_features: int, farthest: float, largest: float, unit: float = UNIT_ROUNDOFF
) -> Array:
    """Bound, for queries of these norms, the error of squared distances by |x|² + |y|² - 2xy.

    Queries and references are centred points, and no reference is farther from the centre than
    `farthest`; `largest` is the largest coordinate before centring; `unit` is the unit roundoff of
    the arithmetic that the centred points are given to.
    """
    # Each of d products and sums rounds once, all below (|x| + |y|)².
    expanded = 4 * (n_features + 4) * unit * (norms + farthest) ** 2
    # Centring moves each coordinate by a rounding of its size.
    moved = 4 * UNIT_ROUNDOFF * np.sqrt(n_features) * largest
    bound: Array = expanded + 4 * moved * (norms + farthest) + 4 * moved**2
    return bound
