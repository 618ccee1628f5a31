"""What a neighbour's vote weighs: a function of its distance, read as scikit-learn reads it.

``"distance"`` is 1/d, and as soon as one voter is at distance 0 only voters at distance 0 count:
they have infinite weight here. A callable must look at each distance on its own; a weight that
depends on who else votes (a bandwidth taken from the k-th distance) belongs to no neighbour.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.exceptions import InvalidInputError
from allsplits.orders import TIE_TOLERANCE, NeighborOrder

Floats = NDArray[np.float64]
#: Sums of weights that differ by no more than this share of the lightest vote are a tie: as much as
#: distances may differ and still be one tie group.
VOTE_TOLERANCE = TIE_TOLERANCE


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
        together, alone = self._call(rows.distances), weights[rows.rectangle()]
        if not np.allclose(together, alone, rtol=1e-9, atol=0):
            raise InvalidInputError(
                "weights must be a function of each distance on its own; the weights that "
                f"{self.function!r} gives to a neighbour change with the other neighbours"
            )
        return weights

    def scaled(self, order: NeighborOrder) -> tuple[Floats, NDArray[np.int64]]:
        """The same as mantissa · 2^exponent, mantissa from 1/2 to 1, where 1/d would overflow, too.

        Infinite at distance 0 for ``"distance"``; a weight of 0 has mantissa 0.
        """
        if callable(self.function):
            mantissa, exponent = np.frexp(self.of(order))
            return mantissa, exponent.astype(np.int64)
        mantissa, exponent = np.frexp(order.flat_distances)
        with np.errstate(divide="ignore"):
            # 1/m lies from 1 to 2 (excluded), so it is halved to be a mantissa again.
            inverse, more = np.frexp(1.0 / mantissa)
        return inverse, np.where(mantissa > 0, more - exponent.astype(np.int64), 0)

    def fractions(self, order: NeighborOrder) -> list[Fraction | None]:
        """The very numbers of `scaled` as Fractions, None at distance 0 for ``"distance"``."""
        mantissa, exponent = self.scaled(order)
        return [
            None if m == np.inf else Fraction(m) * Fraction(2) ** e
            for m, e in zip(mantissa.tolist(), exponent.tolist(), strict=True)
        ]

    def unrounded_fractions(self, order: NeighborOrder) -> list[Fraction | None]:
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
                f"weights must return one weight for each distance; {self._name} was given "
                f"distances of the shape {distances.shape} and returned the shape {weights.shape}"
            )
        try:
            weights = weights.astype(np.float64)
        except (TypeError, ValueError):
            raise InvalidInputError(
                f"weights must return numbers; {self._name} returned {weights.dtype}"
            ) from None
        low = weights.min(initial=np.inf)
        if not np.isfinite(weights).all() or low < 0 or (self.positive and low == 0):
            wanted = "positive" if self.positive else "not negative"
            fails = ~np.isfinite(weights) | (weights < 0) | (self.positive & (weights == 0))
            at = tuple(np.argwhere(fails)[0])
            raise InvalidInputError(
                f"weights must return finite numbers that are {wanted}; {self._name} returned "
                f"{weights[at]:.6g} for a distance of {distances[at]:.6g}"
            )
        return weights

    @property
    def _name(self) -> str:
        return str(getattr(self.function, "__name__", type(self.function).__name__))
