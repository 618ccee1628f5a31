"""Signs of determinants of points: floats where rounding cannot matter, integers elsewhere."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from allsplits.prototypes._exact import as_integers, determinant_sign

#: Rows of points, one simplex each.
Simplices = NDArray[np.intp]

#: Determinants below this times the product of the rows' lengths are computed in integers: with
#: up to six rows, elimination in floats is off by less than 3e-12 of it.
_UNSURE = 1e-11


class Signs:
    """Signs of determinants of points."""

    def __init__(self, points: NDArray[np.float64]) -> None:
        self._points = points
        self.n_points = len(points)

    @cached_property
    def _integers(self) -> list[list[int]]:
        return as_integers(self._points)

    def orientation(self, rows: Simplices) -> NDArray[np.int8]:
        """Which way each simplex is turned, seen from its last vertex; 0 if it is flat."""
        return self._signs(rows, lifted=False)

    def insphere(self, rows: Simplices) -> NDArray[np.int8]:
        """Sign of the lifted determinant seen from the last point of each row.

        Times the orientation of the others it is 1 if that point is inside their sphere, 0 on it.
        """
        return self._signs(rows, lifted=True)

    def _signs(self, rows: Simplices, lifted: bool) -> NDArray[np.int8]:
        differences = self._points[rows[:, :-1]] - self._points[rows[:, -1:]]
        scale = np.abs(differences).max(axis=(1, 2), keepdims=True)
        matrices = differences / np.where(scale > 0, scale, 1.0)
        if lifted:
            squares = (matrices**2).sum(axis=2, keepdims=True)
            matrices = np.concatenate([matrices, squares], axis=2)
        determinants = np.linalg.det(matrices)
        bounds = _UNSURE * np.linalg.norm(matrices, axis=2).prod(axis=1)
        signs: NDArray[np.int8] = np.sign(determinants).astype(np.int8)
        for r in np.flatnonzero((np.abs(determinants) <= bounds) | (bounds < 1e-250)):
            signs[r] = self._exact_sign(rows[r], lifted)
        return signs

    def _exact_sign(self, row: NDArray[np.intp], lifted: bool) -> int:
        *vertices, origin = (self._integers[i] for i in row)
        matrix = [[a - b for a, b in zip(v, origin, strict=True)] for v in vertices]
        if lifted:
            matrix = [[*v, sum(a * a for a in v)] for v in matrix]
        return determinant_sign(matrix)
