"""What a neighbour's vote weighs: a function of its distance, read as scikit-learn reads it.

``"distance"`` is 1/d, and as soon as one voter is at distance 0 only voters at distance 0 count:
they have infinite weight here. A callable must look at each distance on its own; a weight that
depends on who else votes (a bandwidth taken from the k-th distance) belongs to no neighbour.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.exceptions import InvalidInputError
from allsplits.orders import NeighborOrder

__all__ = ["VoteWeights"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class VoteWeights:
    """``"distance"`` or a callable on distances."""

    function: str | Callable[[Floats], Any]
    positive: bool = False

    def of(self, order: NeighborOrder) -> Floats:
        """One weight for each entry of the order; infinite at distance 0 for ``"distance"``."""
        distances = order.flat_distances
        if not callable(self.function):
            with np.errstate(divide="ignore"):
                return 1.0 / distances
        weights = self._call(distances[:, None])[:, 0]
        rows = order.slice_rows(0, min(8, order.n_samples))
        together, alone = self._call(rows.distances), weights[rows._rectangle()]
        if not np.allclose(together, alone, rtol=1e-9, atol=0):
            raise InvalidInputError(
                "weights must be a function of each distance on its own; the weights that "
                f"{self.function!r} gives to a neighbour change with the other neighbours"
            )
        return weights

    def rational(self, order: NeighborOrder) -> list[Fraction | None]:
        """The same as Fractions, None at distance 0 for ``"distance"``."""
        if callable(self.function):
            return [Fraction(weight) for weight in self.of(order).tolist()]
        distances = [Fraction(distance) for distance in order.flat_distances.tolist()]
        return [1 / distance if distance else None for distance in distances]

    def _call(self, distances: Floats) -> Floats:
        if not callable(self.function):
            raise TypeError("only a callable can be called")
        weights = np.asarray(self.function(distances.copy()))
        if weights.shape != distances.shape:
            raise InvalidInputError(
                f"weights must return one weight for each distance, shape {distances.shape}; "
                f"{self.function!r} returned shape {weights.shape}"
            )
        try:
            weights = weights.astype(np.float64)
        except (TypeError, ValueError):
            raise InvalidInputError(
                f"weights must return numbers; {self.function!r} returned {weights.dtype}"
            ) from None
        low = weights.min(initial=np.inf)
        if not np.isfinite(weights).all() or low < 0 or (self.positive and low == 0):
            wanted = "positive" if self.positive else "not negative"
            raise InvalidInputError(
                f"weights must return finite numbers that are {wanted}; {self.function!r} returned "
                f"{low} to {weights.max()}"
            )
        return weights
