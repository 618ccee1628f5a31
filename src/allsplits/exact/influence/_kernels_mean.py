"""Compiled influences on squared errors, in rows without ties.

With ρ the differences of the neighbours' targets from the row's own, L = Σ ρ and Q = Σ ρ² over a
prefix, its expected squared error is A_j Q + B_j L² (masses included, see the mean of neighbours).
Without the candidate of rank r the prefix of length j ≥ r has L_(j+1) - ρ and Q_(j+1) - ρ², so

    D_r = Σ_{j<r} (A_j Q_j + B_j L_j²)
          + Σ_{j≥r} (A_j Q_(j+1) + B_j L_(j+1)²) + ρ² Σ_{j≥r} (B_j - A_j) - 2 ρ Σ_{j≥r} B_j L_(j+1).
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class ErrorWeights(NamedTuple):
    """What Q and L² of the prefix of each length count: complete lists, and those that lack one."""

    squares: Floats
    products: Floats
    squares_less: Floats
    products_less: Floats


@njit(nogil=True, cache=True, error_model="numpy")
def struck_errors(rows, start, stop, weights, out, far):
    """out[entry] = how much smaller a candidate makes the error; far[i]: one beyond the row."""
    A, B, A_less, B_less = weights
    indptr, targets, own = rows.indptr, rows.targets, rows.own
    last = len(A) - 1
    # L and Q of each prefix: taken off backwards they would lose digits.
    sums, squares = np.zeros(last + 1), np.zeros(last + 1)
    for i in range(start, stop):
        first, n = indptr[i], indptr[i + 1] - indptr[i]
        L, Q, whole, less = 0.0, 0.0, 0.0, 0.0
        # Forwards: out[e] = the sum over the prefixes that end before the candidate.
        for r in range(1, n + 1):
            out[first + r - 1] = less
            if r <= last:
                rho = targets[first + r - 1] - own[i]
                L += rho
                Q += rho * rho
                sums[r], squares[r] = L, Q
                whole += A[r] * Q + B[r] * L * L
                less += A_less[r] * Q + B_less[r] * L * L
        # Backwards: the sums over the prefixes from the candidate on.
        behind, of_squares, of_products = 0.0, 0.0, 0.0
        for r in range(min(n, last), 0, -1):
            rho = targets[first + r - 1] - own[i]
            if r < min(n, last):
                L, Q = sums[r + 1], squares[r + 1]
                behind += A_less[r] * Q + B_less[r] * L * L
                of_squares += B_less[r] - A_less[r]
                of_products += B_less[r] * L
            struck = behind + rho * rho * of_squares - 2.0 * rho * of_products
            out[first + r - 1] = out[first + r - 1] + struck - whole
        for r in range(min(n, last) + 1, n + 1):
            out[first + r - 1] -= whole
        far[i] = less - whole
