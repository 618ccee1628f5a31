"""Decisions without rounding: determinants of integers and a linear programme in Fractions.

A float is an integer times a power of two, so a set of points times one power of two is a set of
integer points. Signs of determinants and adjacency of Voronoi cells do not change with scale.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Vector = list[int]


def as_integers(points: NDArray[np.float64]) -> list[Vector]:
    """The points times one power of two, as integers."""
    ratios = [[float(value).as_integer_ratio() for value in row] for row in points]
    largest = max((low for row in ratios for _, low in row), default=1)
    return [[top * (largest // low) for top, low in row] for row in ratios]


def determinant_sign(rows: Sequence[Sequence[int]]) -> int:
    """Sign of a determinant of integers (Bareiss: every division is exact)."""
    matrix = [list(row) for row in rows]
    sign, previous = 1, 1
    for k in range(len(matrix) - 1):
        pivot = next((r for r in range(k, len(matrix)) if matrix[r][k]), None)
        if pivot is None:
            return 0
        if pivot != k:
            matrix[k], matrix[pivot] = matrix[pivot], matrix[k]
            sign = -sign
        for r in range(k + 1, len(matrix)):
            for c in range(k + 1, len(matrix)):
                matrix[r][c] = (
                    matrix[r][c] * matrix[k][k] - matrix[r][k] * matrix[k][c]
                ) // previous
        previous = matrix[k][k]
    last = matrix[-1][-1]
    return sign * ((last > 0) - (last < 0))


def affine_rank_is_one(points: NDArray[np.float64]) -> bool:
    """Whether all points, at least two of them and distinct, lie on one line."""
    few = 4
    if len(points) > few and not affine_rank_is_one(points[:few]):
        return False
    rows = as_integers(points)
    origin = rows[0]
    shifted = [[a - b for a, b in zip(row, origin, strict=True)] for row in rows]
    direction = max(shifted, key=lambda row: max(map(abs, row)))
    f = max(range(len(direction)), key=lambda column: abs(direction[column]))
    return direction[f] != 0 and all(
        row[f] * direction[g] == row[g] * direction[f]
        for row in shifted
        for g in range(len(direction))
    )


def is_redundant(sides: Sequence[Vector], j: int, working: Sequence[int]) -> bool:
    """Whether side j of the cell around the origin touches it in less than a facet.

    ``sides[k]`` is the vector c_k from the cell's own point to the k-th other one: the cell is
    {x : c_k·x ≤ |c_k|²/2 for all k}. Sides are added to the `working` ones as they turn out to
    matter, so the linear programmes stay small.
    """
    squares = [sum(value * value for value in side) for side in sides]
    active = [k for k in working if k != j]
    while True:
        # The cap, c_j·x ≤ |c_j|², keeps the programme bounded.
        rows = [sides[k] for k in active] + [sides[j]]
        bounds = [Fraction(squares[k], 2) for k in active] + [Fraction(squares[j])]
        point = _maximise(sides[j], rows, bounds)
        reach = _dot(sides[j], point)
        if 2 * reach <= squares[j]:
            return True
        # The ray to the point leaves the cell through side j unless another side comes first.
        target = reach / squares[j]
        missing = {
            k: ratio
            for k, side in enumerate(sides)
            if k != j and (ratio := _dot(side, point) / squares[k]) >= target
        }
        if not missing:
            return False
        active.append(max(missing, key=lambda k: missing[k]))


def _dot(side: Vector, point: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(side, point, strict=True)), Fraction(0))


def _maximise(
    objective: Vector, rows: Sequence[Vector], bounds: Sequence[Fraction]
) -> list[Fraction]:
    """Maximise objective·x under rows·x ≤ bounds, bounds > 0 and the maximum finite.

    The simplex method with Bland's rule. Variables 0 … d-1 are x (free: once in the basis they
    stay), d … are the slacks. ``table[r]`` writes a basic variable as a constant (its first entry)
    plus multiples of the nonbasic ones; the last row is the objective.
    """
    d = len(objective)
    outside = list(range(d))
    basis = list(range(d, d + len(rows)))
    table = [
        [bound, *(Fraction(-value) for value in row)]
        for row, bound in zip(rows, bounds, strict=True)
    ]
    table.append([Fraction(0), *(Fraction(value) for value in objective)])
    while (entering := _entering(table[-1], outside, d)) is not None:
        direction = 1 if table[-1][entering] > 0 else -1
        leaving = min(
            (r for r in range(len(rows)) if basis[r] >= d and table[r][entering] * direction < 0),
            key=lambda r: (table[r][0] / abs(table[r][entering]), basis[r]),
        )
        _pivot(table, leaving, entering)
        basis[leaving], outside[entering - 1] = outside[entering - 1], basis[leaving]
    values = {variable: table[r][0] for r, variable in enumerate(basis)}
    return [values.get(f, Fraction(0)) for f in range(d)]


def _entering(objective: Sequence[Fraction], outside: Sequence[int], d: int) -> int | None:
    """Column of the first variable that improves the objective: up, or down if it is free."""
    improving = [
        (variable, column)
        for column, variable in enumerate(outside, start=1)
        if objective[column] > 0 or (variable < d and objective[column] != 0)
    ]
    return min(improving)[1] if improving else None


def _pivot(table: list[list[Fraction]], leaving: int, entering: int) -> None:
    """Exchange a basic and a nonbasic variable."""
    old = table[leaving]
    scale = -1 / old[entering]
    solved = [value * scale for value in old]
    solved[entering] = -scale
    for r, row in enumerate(table):
        factor = row[entering]
        if r != leaving and factor:
            table[r] = [a + factor * b for a, b in zip(row, solved, strict=True)]
            table[r][entering] = factor * solved[entering]
    table[leaving] = solved
