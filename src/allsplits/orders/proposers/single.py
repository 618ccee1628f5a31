"""Points in single precision, and how far distances between them may be from the true ones."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from allsplits.orders.proposers.proposer import expanded_rounding

#: Half the distance from 1 to the next float32.
_SINGLE_ROUNDOFF = 2.0**-24
#: So many times as far away as the farthest point single precision tells nothing.
_FAR = 2.0**50

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
            largest = max(largest, _largest(rows, 1.0))
            norms[block] = np.linalg.norm(self._centred(rows), axis=1)
        farthest = float(norms.max())
        self.scale = float(2.0 ** -np.frexp(farthest)[1]) if farthest > 0 else 1.0
        for block in blocks:
            _, self.halves[block], lost[block] = _rounded(self._centred(given[block]))
        # In scaled units, for bounds of questions as well.
        self._farthest, self._largest = farthest * self.scale, largest * self.scale
        self._lost = float(lost.max())
        self.rounding: Array = self._bound(norms * self.scale, lost, self._largest)

    def __getitem__(self, numbers: slice | NDArray[np.intp]) -> Single:
        """Rows in float32."""
        return self._centred(self.given[numbers]).astype(np.float32)

    def of_questions(self, queries: Array) -> tuple[Single, Array, Array]:
        """New points in the same way: rows in float32, halves of their squares, rounding.

        Who is too far away for float32 has an infinite rounding.
        """
        with np.errstate(over="ignore"):
            centred = self._centred(queries)
            norms = np.linalg.norm(centred, axis=1)
        far = ~(norms < _FAR)
        centred[far], norms[far] = 0.0, 0.0
        rows, halves, lost = _rounded(centred)
        largest = max(self._largest, _largest(queries[~far], self.scale))
        rounding = self._bound(norms, lost, largest)
        rounding[far] = np.inf
        return rows, halves, rounding

    def _centred(self, rows: Array) -> Array:
        centred: Array = rows - self.centre
        centred *= self.scale
        return centred

    def _bound(self, norms: Array, lost: Array, largest: float) -> Array:
        """For points of these norms that have moved by so much, all but the result scaled."""
        n_features = self.given.shape[1]
        rounding = expanded_rounding(norms, n_features, self._farthest, largest, _SINGLE_ROUNDOFF)
        # Both points move when they become float32.
        lost = lost + self._lost
        moved = 2 * (norms + self._farthest) * lost + lost**2
        bound: Array = (rounding + moved) / self.scale**2
        return bound


def _largest(rows: Array, scale: float) -> float:
    return scale * max(float(rows.max(initial=0.0)), -float(rows.min(initial=0.0)))


def _rounded(centred: Array) -> tuple[Single, Array, Array]:
    """Rows in float32, halves of their squares, and how far they have moved."""
    single = centred.astype(np.float32)
    halves = np.einsum("ij,ij->i", single, single, dtype=np.float64) / 2
    lost = np.linalg.norm(centred - single, axis=1)
    return single, halves, lost
