"""Where the (k+1)-th training neighbour stands: the masses that weigh prefixes.

Let the N candidates of a held-out sample be sorted by distance and a of them be in the training
set. If the (k+1)-th training neighbour has rank j+1, the k voters are a uniform k-subset of the
first j candidates. That rank is negative hypergeometric:

    m_j = C(j, k) · C(N-1-j, a-k-1) / C(N, a),        j = k … k + N - a        (a > k)

and if a = k the only prefix is j = N. All laws of fixed size differ in nothing but these masses, so
a mixture of sizes is the mixture of the masses. (Celisse & Mary-Huard 2011 condition on the k-th
neighbour; conditioning on the next one leaves no label that is special.)

Masses are computed by their ratio from the mode outwards and divided by their sum: no large
numbers, no differences, relative error of a few units in the last place per step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.exact._kernels import fill_masses

__all__ = ["Column", "Prefixes", "integer_masses", "prefixes_for"]

UNIT_ROUNDOFF = 2.0**-53


@dataclass(frozen=True)
class Column:
    """One question: k voters under one law."""

    k: int
    law: Any


@dataclass(frozen=True)
class Prefixes:
    """Masses of all columns, cut to a common depth.

    Attributes
    ----------
    ks : ndarray of shape (n_columns,)
    masses : ndarray of shape (n_columns, depth + 1)
        masses[c, j] is the mass of the prefix of length j; what is cut off is zero.
    missing : ndarray of shape (n_columns,)
        Mass that was cut off: no value can be off by more.
    depth : int
        Longest prefix that carries mass.
    """

    ks: NDArray[np.int64]
    masses: NDArray[np.float64]
    missing: NDArray[np.float64]
    depth: int


def rank_masses(n_candidates: int, train_size: int, k: int) -> tuple[int, NDArray[np.float64]]:
    """Return (first, masses): masses[i] belongs to the prefix of length first + i."""
    if train_size == k:
        return n_candidates, np.ones(1)
    last = n_candidates - train_size + k
    mode = (k * n_candidates - train_size + 1) // (train_size - 1)
    mode = min(max(mode, k), last)
    masses = np.zeros(last - k + 1)
    fill_masses(n_candidates, train_size, k, mode, masses)
    kept = np.flatnonzero(masses)
    masses = masses[kept[0] : kept[-1] + 1]
    return k + int(kept[0]), masses / masses.sum()


def prefixes_for(columns: Sequence[Column], tol: float) -> Prefixes:
    """Masses of all columns, with no more than about `tol` of each left out.

    The depth is the smallest that all columns need. Prefixes so short that they carry less than
    tol / 8 together are left out as well, which saves their votes.
    """
    cut = [_cut(*_mixed_masses(column), tol) for column in columns]
    depth = max(first + len(row) - 1 for first, row, _ in cut)
    masses = np.zeros((len(columns), depth + 1))
    for line, (first, row, _) in zip(masses, cut, strict=True):
        line[first : first + len(row)] = row
    missing = np.array([left_out for _, _, left_out in cut])
    return Prefixes(np.array([c.k for c in columns]), masses, missing, depth)


def _mixed_masses(column: Column) -> tuple[int, NDArray[np.float64]]:
    """Masses averaged over the training sizes of the law."""
    n_candidates = column.law.n_samples - 1
    windows = [
        (float(component.weight), *rank_masses(n_candidates, component.train, column.k))
        for component in column.law.components
    ]
    first = min(start for _, start, _ in windows)
    row = np.zeros(max(start + len(part) for _, start, part in windows) - first)
    for weight, start, part in windows:
        row[start - first : start - first + len(part)] += weight * part
    return first, row


def _cut(
    first: int, row: NDArray[np.float64], tol: float
) -> tuple[int, NDArray[np.float64], float]:
    """Drop what carries next to nothing at both ends; return also how much that was."""
    start = int(np.searchsorted(np.cumsum(row), tol / 8, side="right"))
    stop = len(row) - int(np.searchsorted(np.cumsum(row[::-1]), tol, side="right"))
    left_out = row[:start].sum() + row[stop:].sum()
    return first + start, row[start:stop], float(left_out) * (1 + 1e-9)


def integer_masses(n_candidates: int, train_size: int, k: int) -> dict[int, int]:
    """C(N-1-j, a-k-1) for every prefix length j: the exact mass is this · C(j, k) / C(N, a)."""
    if train_size == k:
        return {n_candidates: 1}
    last = n_candidates - train_size + k
    return {j: comb(n_candidates - 1 - j, train_size - k - 1) for j in range(k, last + 1)}
