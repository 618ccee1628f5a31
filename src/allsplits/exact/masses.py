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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.kernel_types import Columns
from allsplits.splits import BernoulliLaw

Floats = NDArray[np.float64]

#: Products this far below the largest are left out; how many are made at once.
_SMALLEST, _STEPS = 1e-80, 1024


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
    least_share : float
        The smallest share of the candidates that is drawn; 0 if it is not known.
    """

    ks: NDArray[np.int64]
    masses: Floats
    missing: Floats
    depth: int
    least_share: float = 0.0

    @cached_property
    def columns(self) -> Columns:
        """The columns as the kernels see them."""
        active = self.masses > 0
        ks = self.ks[:, None]
        k_high = np.where(active, ks, 0).max(axis=0)
        k_low = np.where(active, ks, k_high.max()).min(axis=0)
        return Columns(self.ks, self.masses, k_low, k_high)


def rank_masses(n_candidates: int, train_size: int, k: int) -> tuple[int, Floats]:
    """Return (first, masses): masses[i] belongs to the prefix of length first + i."""
    if train_size == k:
        return n_candidates, np.ones(1)
    last = n_candidates - train_size + k
    mode = (k * n_candidates - train_size + 1) // (train_size - 1)
    mode = min(max(mode, k), last)

    def ratio(j: Floats) -> Floats:
        rise = (j + 1) * (n_candidates - j - train_size + k)
        return rise / ((j + 1 - k) * (n_candidates - 1 - j))

    def inverse(j: Floats) -> Floats:
        fall = (j + 1 - k) * (n_candidates - 1 - j)
        return fall / ((j + 1) * (n_candidates - j - train_size + k))

    first, masses = _outwards(mode, k, last, ratio, inverse)
    return first, masses / masses.sum()


def binomial_table(n_max: int, b_max: int, theta: float) -> Floats:
    """T[n, b] = C(n, b) θ^b (1-θ)^(n-b) for n ≤ n_max, b ≤ b_max, by Pascal's rule.

    Counting subsets needs ratios of binomial coefficients that overflow on their own. In every
    ratio Π C(n_d, b_d) / C(Σ n_d, Σ b_d) the powers of θ cancel, so these take their place.
    """
    table = np.zeros((n_max + 1, b_max + 1))
    table[0, 0] = 1.0
    for n in range(1, n_max + 1):
        table[n, 0] = (1 - theta) * table[n - 1, 0]
        table[n, 1:] = (1 - theta) * table[n - 1, 1:] + theta * table[n - 1, :-1]
    return table


def prefixes_for(columns: Sequence[Column], tol: float) -> Prefixes:
    """Masses of all columns, with no more than about `tol` of each left out.

    The depth is the smallest that all columns need. Prefixes so short that they carry less than
    tol / 8 together are left out as well, which saves their votes.
    """
    cut = [cut_masses(*mixed_masses(column), tol) for column in columns]
    depth = max(first + len(row) - 1 for first, row, _ in cut)
    masses = np.zeros((len(columns), depth + 1))
    for line, (first, row, _) in zip(masses, cut, strict=True):
        line[first : first + len(row)] = row
    missing = np.array([left_out for _, _, left_out in cut])
    least_share = min(_least_share(column.law) for column in columns)
    return Prefixes(np.array([c.k for c in columns]), masses, missing, depth, least_share)


def _least_share(law: Any) -> float:
    """The share of the candidates that the smallest training set has."""
    if isinstance(law, BernoulliLaw):
        return float(law.q)
    return float(min(component.train for component in law.components) / law.n_candidates)


def mixed_masses(column: Column) -> tuple[int, Floats]:
    """Masses averaged over the training sizes of the law."""
    n_candidates = column.law.n_candidates
    if isinstance(column.law, BernoulliLaw):
        return bernoulli_masses(n_candidates, float(column.law.q), column.k)
    windows = [
        (float(component.weight), *rank_masses(n_candidates, component.train, column.k))
        for component in column.law.components
    ]
    first = min(start for _, start, _ in windows)
    row = np.zeros(max(start + len(part) for _, start, part in windows) - first)
    for weight, start, part in windows:
        row[start - first : start - first + len(part)] += weight * part
    return first, row


def bernoulli_masses(n_candidates: int, q: float, k: int) -> tuple[int, Floats]:
    """Independent draws: m_j ∝ C(j, k) q^(k+1) (1-q)^(j-k), and C(N, k) q^k (1-q)^(N-k) for j = N.

    Their sum is the probability of at least k training samples, which is conditioned on.
    """
    N = n_candidates

    def ratio(j: Floats) -> Floats:
        return (j + 1) / (j + 1 - k) * (1 - q)

    def inverse(j: Floats) -> Floats:
        fall = (j + 1 - k) / ((j + 1) * (1 - q))
        return np.where(j + 1 == N, fall * q, fall)

    mode = min(max(int(k / q) - 1, k), N)
    first, masses = _outwards(mode, k, N, ratio, inverse)
    if mode < N == first + len(masses) - 1:
        masses[-1] /= q
    return first, masses / masses.sum()


def _outwards(
    mode: int,
    first: int,
    last: int,
    ratio: Callable[[Floats], Floats],
    inverse: Callable[[Floats], Floats],
) -> tuple[int, Floats]:
    """(first, masses) of the prefixes first to last, from mass(j + 1) / mass(j), which is ratio(j).

    What is less than 1e-80 of the mass at the mode is left out.
    """
    above = _products(ratio, np.arange(mode, last))
    below = _products(inverse, np.arange(mode - 1, first - 1, -1))
    return mode - len(below), np.concatenate([below[::-1], [1.0], above])


def _products(factor: Callable[[Floats], Floats], steps: NDArray[np.int64]) -> Floats:
    """Products of the first factors, one after the other, until they are below 1e-80."""
    found = np.ones(1)
    for start in range(0, len(steps), _STEPS):
        factors = factor(steps[start : start + _STEPS].astype(np.float64))
        found = np.append(found, np.multiply.accumulate(np.append(found[-1], factors))[1:])
        small = np.flatnonzero(found < _SMALLEST)
        if len(small):
            return found[1 : small[0]]
    return found[1:]


def cut_masses(first: int, row: Floats, tol: float) -> tuple[int, Floats, float]:
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


def size_shares(column: Column) -> dict[int, Fraction]:
    """{training size: its share of the splits}; independent draws are a mixture of sizes."""
    law, n = column.law, column.law.n_candidates
    shares: dict[int, Fraction] = {}
    if isinstance(law, BernoulliLaw):
        chances = {
            s: comb(n, s) * law.q**s * (1 - law.q) ** (n - s) for s in range(column.k, n + 1)
        }
        total = sum(chances.values(), Fraction(0))
        return {size: chance / total for size, chance in chances.items()}
    for component in law.components:
        shares[component.train] = shares.get(component.train, Fraction(0)) + component.weight
    return shares


def deepest_prefix(columns: Sequence[Column]) -> int:
    """The longest prefix with any mass at all."""
    n_candidates = columns[0].law.n_candidates
    if any(isinstance(column.law, BernoulliLaw) for column in columns):
        return int(n_candidates)
    return max(
        int(n_candidates if c.train == column.k else n_candidates - c.train + column.k)
        for column in columns
        for c in column.law.components
    )


def column_value(column: Column, by_prefix: dict[int, Any], *, per_subset: bool = True) -> Fraction:
    """Σ_j mass of prefix j · value of prefix j, exactly.

    With `per_subset` a prefix's value is a sum over its k-subsets, otherwise a mean over them.
    """
    n_candidates, k = column.law.n_candidates, column.k

    def total(masses: dict[int, Any]) -> Fraction:
        value: Any = 0
        for j, mass in masses.items():
            value += mass * by_prefix.get(j, 0) * (1 if per_subset else comb(j, k))
        return Fraction(value)

    if isinstance(column.law, BernoulliLaw):
        q, p = column.law.q, 1 - column.law.q
        masses = {j: q ** (k + 1) * p ** (j - k) for j in range(k, n_candidates)}
        masses[n_candidates] = q**k * p ** (n_candidates - k)
        return total(masses) / sum(mass * comb(j, k) for j, mass in masses.items())
    return sum(
        (
            component.weight
            * total(integer_masses(n_candidates, component.train, k))
            / comb(n_candidates, component.train)
            for component in column.law.components
        ),
        Fraction(0),
    )
