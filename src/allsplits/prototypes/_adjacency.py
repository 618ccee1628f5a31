"""Whether two Voronoi cells share a facet, in any dimension, decided for certain.

Three stages, each for the pairs that the one before could not decide:

1. a witness point, found by simple steps and checked with a bound on rounding (`_kernels_voronoi`);
2. a linear programme (HiGHS): how far does the cell of i without side j reach across the bisector?
   Its solution is only a hint: the point must pass the check for witnesses, or its multipliers
   must prove, by a verified solution of their linear system, that side j does nothing;
3. where both fail, as for points on one sphere, the programme in exact fractions (`_exact`).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from allsplits.prototypes._exact import as_integers, is_redundant
from allsplits.prototypes._kernels_voronoi import find_witnesses

#: Steps in search of a witness: beyond this the linear programme is quicker.
_MAX_STEPS = 300
_EPSILON = 2.0**-52


def decide_pairs(
    points: NDArray[np.float64],
    pairs: NDArray[np.intp],
    *,
    programmes: bool = True,
    advance: Callable[[int], None] = lambda done: None,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return (adjacent, undecided) for pairs of rows of distinct `points`.

    Without `programmes` only the first stage runs, and pairs may stay undecided. `advance` is told
    when a point's pairs are done.
    """
    adjacent = np.zeros(len(pairs), dtype=bool)
    undecided = np.zeros(len(pairs), dtype=bool)
    order = np.argsort(pairs[:, 0], kind="stable")
    starts = np.searchsorted(pairs[order, 0], np.arange(len(points) + 1))
    integers: list[list[int]] | None = None
    for i in range(len(points)):
        own = order[starts[i] : starts[i + 1]]
        if len(own):
            sides, products = _centre(points, i)
            others = pairs[own, 1].astype(np.int64)
            found = np.zeros(len(own), dtype=bool)
            floats_do = _squares_are_safe(products, i)
            if floats_do:
                find_witnesses(sides, products, others, _MAX_STEPS, found)
            adjacent[own] = found
            undecided[own] = ~found
        for pair in own[undecided[own]] if programmes else ():
            j = int(pairs[pair, 1])
            answer, near = _by_programme(sides, products, i, j) if floats_do else (None, [])
            if answer is None:
                integers = as_integers(points) if integers is None else integers
                answer = _in_fractions(integers, i, j, near)
            adjacent[pair] = answer
            undecided[pair] = False
        advance(1)
    return adjacent, undecided


def _centre(points: NDArray[np.float64], i: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Vectors from point i to all points, scaled so that squares are safe, and their products."""
    sides = points - points[i]
    # A power of two changes no digit.
    sides = np.ldexp(sides, -np.frexp(np.abs(sides).max())[1])
    products: NDArray[np.float64] = sides @ sides.T
    return sides, products


def _squares_are_safe(products: NDArray[np.float64], i: int) -> bool:
    """Whether no other point is so near that its squared distance has lost digits."""
    squares = np.diag(products)
    return bool(np.all(np.delete(squares, i) > 1e-250))


def _by_programme(
    sides: NDArray[np.float64], products: NDArray[np.float64], i: int, j: int
) -> tuple[bool | None, list[int]]:
    """Return the answer if HiGHS leads to a proof, and the sides its point lies on or near."""
    lengths = np.sqrt(np.diag(products))
    rest = np.flatnonzero((lengths > 0) & (np.arange(len(sides)) != j))
    rows = sides[rest] / lengths[rest, None]
    aim = sides[j] / lengths[j]
    solution = linprog(
        -aim,
        A_ub=np.vstack([rows, aim]),
        # The last row keeps the programme bounded: twice as far as the bisector is far enough.
        b_ub=np.append(lengths[rest] / 2, lengths[j]),
        bounds=(None, None),
        method="highs",
    )
    if solution.x is None:
        nearest = np.argsort(lengths[rest], kind="stable")[: 2 * sides.shape[1]]
        return None, [int(k) for k in rest[nearest]]
    if _leaves_through(sides, lengths, i, j, solution.x):
        return True, []
    multipliers = -solution.ineqlin.marginals[:-1]
    if _is_implied(sides, lengths, j, rest[multipliers > 0]):
        return False, []
    touched = rest[(solution.slack[:-1] <= 1e-6 * lengths[rest]) | (multipliers > 0)]
    return None, [int(k) for k in touched]


def _leaves_through(
    sides: NDArray[np.float64],
    lengths: NDArray[np.float64],
    i: int,
    j: int,
    ray: NDArray[np.float64],
) -> bool:
    """Whether the ray surely leaves the cell through side j alone."""
    others = (np.arange(len(sides)) != i) & (lengths > 0)
    ratios = np.full(len(sides), -np.inf)
    error = np.zeros(len(sides))
    ratios[others] = sides[others] @ ray / lengths[others] ** 2
    error[others] = (4 * sides.shape[1] + 20) * _EPSILON * np.linalg.norm(ray) / lengths[others]
    lowest = ratios[j] - error[j]
    others[j] = False
    return bool(lowest > 0 and np.all(ratios[others] + error[others] < lowest))


def _is_implied(
    sides: NDArray[np.float64], lengths: NDArray[np.float64], j: int, support: NDArray[np.intp]
) -> bool:
    """Whether Σ y_k c_k = c_j with y ≥ 0 and Σ y_k |c_k|² ≤ |c_j|² surely has a solution.

    Then side j follows from the `support`. The square system is solved with an approximate inverse
    R; if ‖I - R A‖ < 1, the true solution is within ‖R (c_j - A y)‖ / (1 - ‖I - R A‖) (Rump).
    """
    d = sides.shape[1]
    if len(support) != d:
        return False
    matrix = (sides[support] / lengths[support, None]).T
    target = sides[j] / lengths[j]
    try:
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return False
    y = inverse @ target
    rounding = (2 * d + 10) * _EPSILON
    size = np.abs(inverse).sum(axis=1).max()
    off = np.abs(np.eye(d) - inverse @ matrix).sum(axis=1).max() + rounding * d * size
    if not off < 0.5:
        return False
    residual = np.abs(target - matrix @ y).max() + rounding * (1 + np.abs(y).sum())
    error = 2 * size * residual
    reach = (y + error) @ lengths[support]
    return bool(np.all(y > error) and reach * (1 + rounding) < lengths[j] * (1 - rounding))


def _in_fractions(integers: list[list[int]], i: int, j: int, working: list[int]) -> bool:
    """The answer in exact arithmetic."""
    others = [k for k in range(len(integers)) if k != i]
    sides = [[a - b for a, b in zip(integers[k], integers[i], strict=True)] for k in others]
    position = {k: number for number, k in enumerate(others)}
    return not is_redundant(sides, position[j], [position[k] for k in working])
