"""Votes as values on a circle: sums and products of numbers instead of polynomials.

P(own class wins with k voters of a prefix) is the coefficient of z^k in a sum of products of the
classes' rows (`_kernels_majority`). On the unit circle one more class is one multiplication,

    H(z) = Σ_v own[v] z^v Π_d Σ_{b ≤ v} row_d[b] z^b,          all of whose terms are positive,

and the coefficients follow from M of its values: c_k = 1/M Σ_m H(z_m) z_m^-k, up to c_{k ± M}, …

Rows are probabilities, so |H| ≤ H(1) ≤ 1 and every error is a multiple of a rounding, absolute, not
relative to c_k. Half of the points are enough, because H(z̄) is the conjugate of H(z); they lie
between the M-th roots of 1, so that none is real.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits.orders import UNIT_ROUNDOFF

Floats = NDArray[np.float64]

#: The fewest and the most points of a half circle: those of a warp, and what stays in registers.
FEWEST, MOST = 32, 256
#: Votes of the own class less probable than this together are left out.
RARE = 2.0**-60


class ClassTables(NamedTuple):
    """What a class with n items adds to a vote, for each kind of class; on the device as tensors.

    There are two versions of everything where the next item is drawn as well (`laws` of class
    counts): without it, and with it. Lines are (version · kinds + kind) · (depth + 1) + n.

    Attributes
    ----------
    sums : array of shape (lines, votes + 2, 2, points)
        Σ_{b ≤ v} row[b] z^b for v = 0 … votes, then for all b: real parts, imaginary parts.
    rows : array of shape (lines, votes + 1)
        The probability of b voters.
    fewest : array of shape (lines,)
        The fewest votes that matter.
    """

    sums: Floats
    rows: Floats
    fewest: NDArray[np.int32]


def angles(n_points: int) -> NDArray[np.longdouble]:
    """Where the points of the half circle are."""
    quarter = np.arctan(np.longdouble(1))
    found: NDArray[np.longdouble] = (np.arange(n_points) + np.longdouble(0.5)) * 4 * quarter
    return found / n_points


def powers(n_points: int, most: int) -> Floats:
    """z^b for b = 0 … most, shape (most + 1, 2, points)."""
    turned = np.arange(most + 1)[:, None] * angles(n_points)
    return np.stack([np.cos(turned), np.sin(turned)], axis=1).astype(np.float64)


def coefficients(n_points: int, ks: NDArray[np.int64]) -> Floats:
    """The matrix, of shape (2 · points, columns), that makes c_k of real and imaginary parts."""
    turned = ks * angles(n_points)[:, None]
    both = np.concatenate([np.cos(turned), np.sin(turned)])
    return (both / n_points).astype(np.float64)


def class_tables(rows: Floats, n_points: int, votes: int) -> ClassTables:
    """Tables of rows[line, b], b = 0 … as many as a class can have items."""
    wide = rows.astype(np.longdouble)
    turned = np.arange(rows.shape[1])[:, None] * angles(n_points)
    sums = np.empty((len(rows), votes + 2, 2, n_points))
    for part, values in enumerate((np.cos(turned), np.sin(turned))):
        few = wide[:, : votes + 1, None] * values[: votes + 1]
        sums[:, : few.shape[1], part] = np.cumsum(few, axis=1)
        # Who has fewer items than there are votes has all of them.
        sums[:, few.shape[1] :, part] = (wide @ values)[:, None]
    kept = np.zeros((len(rows), votes + 1))
    width = min(rows.shape[1], votes + 1)
    kept[:, :width] = rows[:, :width]
    fewer = np.cumsum(wide, axis=1) <= RARE
    return ClassTables(sums, kept, np.argmin(fewer, axis=1).astype(np.int32))


def rounding(depth: int, n_classes: int, votes: int, n_points: int) -> float:
    """How far a coefficient may be off, tables aside: per class a product, then sums.

    A product of complex numbers is off by less than 3 roundings, an entry of a table by 2.
    """
    factors = min(n_classes, depth) + 4
    return (5 * factors + 2 * votes + 2 * n_points + 16) * UNIT_ROUNDOFF + RARE
