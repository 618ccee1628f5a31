"""Points in single precision, and how far distances between them may be from the true ones."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from allsplits.orders.proposers.proposer import expanded_rounding

#: Half the distance from 1 to the next float32.
_SINGLE_ROUNDOFF = 2.0**-24

Array = NDArray[np.float64]
Single = NDArray[np.float32]


class Rows(Protocol):
    """Points that are read block by block."""

    shape: tuple[int, int]

    def __len__(self) -> int: ...

    def __getitem__(self, numbers: slice | NDArray[np.intp]) -> Array:
        """Rows in float64."""
        ...

    def blocks(self) -> list[slice]:
        """Ranges of rows that can be read at a time."""
        ...


class SinglePoints:
    """Points centred, scaled to norms up to 1 and rounded to float32, made when they are asked for.

    Attributes
    ----------
    scale : float
        What they were multiplied by: a power of two, so scaling does not round, and nothing
        overflows in float32.
    halves : float64 array
        Half of the squared norm of each.
    rounding : float64 array
        For each sample, a bound on the error of squared distances by the expanded formula in
        float32, in terms of the points that were given.
    """

    def __init__(self, given: Rows) -> None:
        self.given, self.scale = given, 1.0
        blocks, n = given.blocks(), len(given)
        self.centre = sum(given[block].sum(axis=0) for block in blocks) / n
        norms, lost, self.halves = np.empty(n), np.empty(n), np.empty(n)
        largest = 0.0
        for block in blocks:
            rows = given[block]
            largest = max(largest, float(rows.max()), -float(rows.min()))
            norms[block] = np.linalg.norm(self._centred(rows), axis=1)
        farthest = float(norms.max())
        self.scale = float(2.0 ** -np.frexp(farthest)[1]) if farthest > 0 else 1.0
        for block in blocks:
            centred = self._centred(given[block])
            single = centred.astype(np.float32)
            self.halves[block] = np.einsum("ij,ij->i", single, single, dtype=np.float64) / 2
            centred -= single
            lost[block] = np.linalg.norm(centred, axis=1)
        norms *= self.scale
        farthest, largest = farthest * self.scale, largest * self.scale
        rounding = expanded_rounding(norms, given.shape[1], farthest, largest, _SINGLE_ROUNDOFF)
        # Both points move when they become float32.
        lost += lost.max()
        moved = 2 * (norms + farthest) * lost + lost**2
        self.rounding: Array = (rounding + moved) / self.scale**2

    def __getitem__(self, numbers: slice | NDArray[np.intp]) -> Single:
        """Rows in float32."""
        return self._centred(self.given[numbers]).astype(np.float32)

    def _centred(self, rows: Array) -> Array:
        centred: Array = rows - self.centre
        centred *= self.scale
        return centred
