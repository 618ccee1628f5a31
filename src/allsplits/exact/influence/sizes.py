"""What training sets of each size count in an influence, in Fractions and as masses of prefixes.

Let P_s be the chance that a question is answered right by a random set of s of its N candidates,
and D_s the same without candidate r. P_s mixes the sets that hold r and those that do not, so

    P_s(r in) = (P_s - (1 - s/N) D_s) · N/s,

and whatever is asked of r is a sum over sizes, Σ whole[s] P_s - Σ less[s] D_s + empty · (score of
nobody), with weights that depend on the method alone:

- the influence under a law of sizes a with shares w_a: (P - D)/q, q = Σ w_a a/N, where D is the
  mean of D_a given that r is out, with shares w_a (1 - a/N)/(1 - q);
- a semivalue, the mean of P_(a+1)(r in) - P_a(r out) with shares p_a of the sizes a = 0 … N - 1:
  whole[s] = p_(s-1) N/s, less[s] = p_s + p_(s-1) (N - s)/s, empty = -p_0. Shapley has p_a = 1/N,
  so that both are 1/s; Banzhaf has p_a = C(N-1, a)/2^(N-1).

Sets of fewer than k samples vote as a whole. Masses of prefixes as in `masses`: 1/s for all sizes
s > k comes to 1/(j + 1) for the prefix of length j.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import comb

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from allsplits.exact.masses import (
    Column,
    Prefixes,
    bernoulli_masses,
    cut_masses,
    rank_masses,
    size_shares,
)
from allsplits.splits import BernoulliLaw, SizeLaw

Floats = NDArray[np.float64]
#: Voters, the first prefix, and the masses from there on.
Window = tuple[int, int, Floats]


@dataclass(frozen=True)
class SizeWeights:
    """What sets of each size count; `less` are those of the candidates without the one valued."""

    whole: dict[int, Fraction]
    less: dict[int, Fraction]
    empty: Fraction = Fraction(0)


@dataclass(frozen=True)
class MassPair:
    """Masses of the prefixes of complete lists, and of lists without one candidate."""

    whole: Prefixes
    less: Prefixes
    empty: float = 0.0

    @property
    def depth(self) -> int:
        """How deep lists must be before one candidate is struck."""
        return max(self.whole.depth, self.less.depth + 1)

    @property
    def missing(self) -> float:
        """What may be lacking of a chance that was cut off."""
        return float(self.whole.missing.sum() + self.less.missing.sum())

    @property
    def total(self) -> float:
        """What all prefixes count together."""
        return float(self.whole.masses.sum() + self.less.masses.sum())


def shapley_weights(n_candidates: int) -> SizeWeights:
    """All sizes count alike."""
    return _semivalue(n_candidates, lambda a: Fraction(1, n_candidates))


def banzhaf_weights(n_candidates: int) -> SizeWeights:
    """All sets count alike."""
    sets = 2 ** (n_candidates - 1)
    return _semivalue(n_candidates, lambda a: Fraction(comb(n_candidates - 1, a), sets))


def _semivalue(N: int, share: Callable[[int], Fraction]) -> SizeWeights:
    whole = {s: share(s - 1) * Fraction(N, s) for s in range(1, N + 1)}
    less = {s: share(s) + share(s - 1) * Fraction(N - s, s) for s in range(1, N)}
    return SizeWeights(whole, less, -share(0))


def law_weights(law: SizeLaw | BernoulliLaw, n_candidates: int, k: int) -> SizeWeights | None:
    """The influence under a law; None if it leaves nobody out beside the one who asks."""
    shares = size_shares(Column(k, law))
    inside = sum((w * Fraction(a, n_candidates) for a, w in shares.items()), Fraction(0))
    if inside in (0, 1):
        return None
    out = {a: w * (1 - Fraction(a, n_candidates)) / (1 - inside) for a, w in shares.items()}
    return SizeWeights(
        {a: w / inside for a, w in shares.items()},
        {a: w / inside for a, w in out.items() if w},
    )


def shapley_masses(n_candidates: int, k: int) -> MassPair:
    """Shapley's weights as masses. They fall off slowly: nothing is cut."""

    def windows(N: int) -> Iterable[Window]:
        if k < N:
            yield k, k, 1 / np.arange(k + 1.0, N + 1)
        for s in range(1, min(k, N) + 1):
            yield s, N, np.array([1 / s])

    return _pair(windows, n_candidates, 0.0, -1 / n_candidates)


def banzhaf_masses(n_candidates: int, k: int, tol: float) -> MassPair:
    """Banzhaf's weights as masses: twice those of independent draws with probability ½."""

    def windows(N: int) -> Iterable[Window]:
        if k <= N:
            first, row = bernoulli_masses(N, 0.5, k)
            yield k, first, 2 * binom.sf(k - 1, N, 0.5) * row
        for s in range(1, min(k - 1, N) + 1):
            yield s, N, np.array([2 * binom.pmf(s, N, 0.5)])

    return _pair(windows, n_candidates, tol, -(0.5 ** (n_candidates - 1)))


def law_masses(law: SizeLaw | BernoulliLaw, n_candidates: int, k: int, tol: float) -> MassPair:
    """The influence under a law, as masses."""
    if isinstance(law, BernoulliLaw):
        q = float(law.q)
        inside = q * binom.sf(k - 2, n_candidates - 1, q) / binom.sf(k - 1, n_candidates, q)

        def draws(N: int) -> Iterable[Window]:
            first, row = bernoulli_masses(N, q, k)
            yield k, first, row / inside

        return _pair(draws, n_candidates, tol)
    weights = law_weights(law, n_candidates, k)
    if weights is None:
        raise AssertionError("a law that leaves nobody out is refused before")
    by_length = {n_candidates: weights.whole, n_candidates - 1: weights.less}

    def sizes(N: int) -> Iterable[Window]:
        return _of_sizes(N, by_length[N], k)

    return _pair(sizes, n_candidates, tol)


def _of_sizes(N: int, weights: Mapping[int, Fraction], k: int) -> Iterable[Window]:
    for size, weight in weights.items():
        voters = min(k, size)
        first, row = rank_masses(N, size, voters)
        yield voters, first, float(weight) * row


def _pair(
    windows: Callable[[int], Iterable[Window]], N: int, tol: float, empty: float = 0.0
) -> MassPair:
    return MassPair(_laid_out(windows(N), N, tol), _laid_out(windows(N - 1), N - 1, tol), empty)


def _laid_out(windows: Iterable[Window], N: int, tol: float) -> Prefixes:
    """One column for each number of voters."""
    rows: dict[int, Floats] = {}
    for voters, first, masses in windows:
        row = rows.setdefault(voters, np.zeros(N + 1))
        row[first : first + len(masses)] += masses
    missing, depth = [0.0], 1
    for voters, row in rows.items():
        first, kept, left_out = cut_masses(0, row, tol) if tol else (0, row, 0.0)
        row[:first] = row[first + len(kept) :] = 0.0
        missing.append(left_out)
        if row.any():
            depth = max(depth, int(np.flatnonzero(row)[-1]))
        rows[voters] = row
    rows = {voters: row for voters, row in rows.items() if row.any()} or {1: np.zeros(N + 1)}
    masses = np.array([row[: depth + 1] for row in rows.values()])
    return Prefixes(np.array(list(rows)), masses, np.array(missing), depth)
