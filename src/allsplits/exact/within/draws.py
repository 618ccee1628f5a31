"""What a law draws from those within a radius: class by class, and all together.

Of the m candidates within the radius T are in training. Given T, they are a uniform T-subset (laws
of fixed size, independent draws) or T draws with replacement (the bootstrap), so the chance of a
vote is that of independent classes, binomial or Poisson, times a factor of T alone:

    P(v) = Π_c p_c(v_c) · q(s)/g(s),      s = Σ v_c,

q the law of T and g what independent classes would make of it. Under class counts classes are
independent, and there is no factor. The factors of one m are written as a sum of powers by a
discrete Fourier transform over the numbers of voters that g can have.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb, expm1, log1p, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.laws.class_counts.draws import class_pools
from allsplits.exact.question import Question
from allsplits.exact.within._kernels_draws import voters_of_class
from allsplits.exact.within.kernel_types import BINOMIAL, HYPERGEOMETRIC, POISSON, Drawn, Totals
from allsplits.splits import BernoulliLaw, BootstrapLaw, CountsComponent, SizeLaw

Floats = NDArray[np.float64]


def longest_chances(law: Any, most: int) -> int:
    """How many numbers of voters `most` candidates can have."""
    if not isinstance(law, BootstrapLaw):
        return most + 1
    # Beyond that a Poisson chance is below 1e-25 of the largest.
    mean = most * law.n_samples / law.n_candidates
    return int(mean + 12 * sqrt(mean)) + 80


def drawn_of(question: Question, component: CountsComponent | None) -> Drawn:
    """How voters of each class are drawn, in a component of class counts or under another law."""
    law, nothing = question.columns[0].law, np.zeros(question.n_classes, dtype=np.int64)
    if component is not None:
        others, own = class_pools(question)
        train = np.array(component.train, dtype=np.int64)
        return Drawn(HYPERGEOMETRIC, others[0], train, int((others - own).max()), 0.0)
    if isinstance(law, BootstrapLaw):
        return Drawn(POISSON, nothing, nothing, 0, law.n_samples / law.n_candidates)
    return Drawn(BINOMIAL, nothing, nothing, 0, _rate(law))


def _rate(law: SizeLaw | BernoulliLaw) -> float:
    """P(a candidate is in training)."""
    if isinstance(law, BernoulliLaw):
        return float(law.q)
    return float(sum((c.weight * c.train for c in law.components), Fraction(0)) / law.n_candidates)


def totals_of(law: Any, sizes: NDArray[np.int64]) -> Totals:
    """The factors for all numbers of candidates within the radius that occur."""
    if law.kind in ("class counts", "episodes"):
        return _untied(int(sizes.max()), 1.0, np.full(int(sizes.max()) + 1, np.nan))
    if isinstance(law, BernoulliLaw):
        return _independent(law, int(sizes.max()))
    distinct = np.unique(sizes)
    place = np.zeros(int(distinct[-1]) + 1, dtype=np.int64)
    place[distinct] = np.arange(len(distinct))
    lines = [_factors(law, int(m)) for m in distinct]
    first = np.array([line[0] for line in lines])
    size = np.array([len(line[1]) for line in lines])
    empty = np.array([factor[0] * chance if start == 0 else 0.0 for start, factor, chance in lines])
    weights = []
    for start, factor, _ in lines:
        J = len(factor)
        turned = np.exp(-2j * np.pi * ((start * np.arange(J)) % J) / J)
        weights.append(np.fft.fft(factor) / J * turned)
    return Totals(
        place, np.concatenate([[0], np.cumsum(size)[:-1]]), first, size,
        np.concatenate([line[1] for line in lines]), np.concatenate(weights), empty,
    )  # fmt: skip


def _factors(law: SizeLaw | BootstrapLaw, m: int) -> tuple[int, Floats, float]:
    """(fewest voters, q/g from there on, g of the fewest) for m candidates."""
    if m == 0:
        return 0, np.ones(1), 1.0
    room = np.empty(longest_chances(law, m))
    if isinstance(law, BootstrapLaw):
        rate = law.n_samples / law.n_candidates
        first, size = voters_of_class(POISSON, m, 0, 0, rate, room)
    else:
        first, size = voters_of_class(BINOMIAL, m, 0, 0, _rate(law), room)
    masses = voter_masses(law, m)[first : first + size]
    factor = np.zeros(size)
    factor[: len(masses)] = masses / room[: len(masses)]
    return first, factor, float(room[0])


def _untied(most: int, factor: float, empty: Floats) -> Totals:
    """One factor, whatever the number of voters."""
    lines = np.arange(most + 1)
    ones = np.ones(most + 1, dtype=np.int64)
    factors = np.full(most + 1, factor)
    return Totals(lines, lines, 0 * lines, ones, factors, factors.astype(np.complex128), empty)


def _independent(law: BernoulliLaw, most: int) -> Totals:
    """Independent draws, given at least one training sample."""
    log_out, N = log1p(-float(law.q)), law.n_candidates
    some = -expm1(N * log_out)
    m = np.arange(most + 1)
    empty = np.exp(m * log_out) * -np.expm1((N - m) * log_out) / some
    return _untied(most, 1 / some, empty)


# ------------------------------------------------------------ how many vote, for means


def voter_masses(law: Any, m: int) -> Floats:
    """P(T = s) for s = 0, 1, …, of m candidates within the radius."""
    N = law.n_candidates
    if isinstance(law, BernoulliLaw):
        masses = _masses(BINOMIAL, m, N, 0, float(law.q)) * _independent(law, m).factor[m]
        masses[0] = _independent(law, m).empty[m]
        return np.asarray(masses)
    if isinstance(law, BootstrapLaw):
        return _masses(BINOMIAL, law.n_samples, N, 0, m / N)
    found = np.zeros(m + 1)
    for c in law.components:
        found += float(c.weight) * _masses(HYPERGEOMETRIC, m, N, c.train, 0.0)
    return found


def _masses(kind: int, n: int, pool: int, train: int, rate: float) -> Floats:
    """Chances of 0 to n."""
    room, found = np.empty(n + 1), np.zeros(n + 1)
    first, size = voters_of_class(kind, n, pool, train, rate, room)
    found[first : first + size] = room[:size]
    return found


def exact_masses(law: Any, m: int) -> dict[int, Fraction]:
    """P(T = s) in Fractions, where T is not that of class counts."""
    N = law.n_candidates
    if isinstance(law, BernoulliLaw):
        p = 1 - law.q
        found = {s: comb(m, s) * law.q**s * p ** (m - s) for s in range(m + 1)}
        found[0] -= p**N
        return {s: chance / (1 - p**N) for s, chance in found.items()}
    if isinstance(law, BootstrapLaw):
        n, share = law.n_samples, Fraction(m, N)
        return {s: comb(n, s) * share**s * (1 - share) ** (n - s) for s in range(n + 1)}
    totals: dict[int, Fraction] = {}
    for c in law.components:
        for s in range(max(0, c.train - (N - m)), min(m, c.train) + 1):
            ways = Fraction(comb(m, s) * comb(N - m, c.train - s), comb(N, c.train))
            totals[s] = totals.get(s, Fraction(0)) + c.weight * ways
    return totals
