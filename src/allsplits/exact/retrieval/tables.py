"""How many of the nearest items of a class are in the gallery: tables that hold what matters."""

from functools import lru_cache
from math import exp, log, sqrt
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import comb, logsumexp, roots_legendre

from allsplits.exact._kernels_eight import LANES
from allsplits.exact.kernel_types import TieRules
from allsplits.exact.retrieval._kernels_lines import fill_lines
from allsplits.exact.retrieval.kernel_types import CountTables, Floats, Integers, SmallGroups
from allsplits.exact.ties import tie_rules

#: Less likely numbers at the ends of a distribution are left out.
FAINT = 2.0**-80
#: What a rule may err by in a tie group.
UNLIKELY = 2.0**-56
#: More positions than this have rules of their own.
MANY_POSITIONS = 100
#: Rules of up to so many nodes, and up to so many tied members of a class, have tables.
_SMALL_RULE, _SMALL_CLASS = 16, 64


class TableKey(NamedTuple):
    """A table: `drawn` of `pool` candidates are in the gallery.

    `own` is 1 where one of them is the relevant item that is looked at, and lines are those of the
    others; `counting` says what they hold.
    """

    pool: int
    drawn: int
    own: int
    counting: int

    def room(self, size: int, n_lines: int) -> int:
        """How many values its lines take, roughly."""
        deviation = sqrt(self.drawn * max(self.pool - self.drawn, 0) / max(4 * self.pool, 1))
        return n_lines * min(size, self.drawn + 1, int(24 * deviation) + 24)


def make_tables(keys: list[TableKey], size: int, longest: int) -> CountTables:
    """Tables for rows of up to `longest` items, in which `size` positions matter."""
    heights = [min(key.pool - key.own, longest) + 1 for key in keys]
    starts = np.concatenate([[0], np.cumsum(heights)])
    offsets, lows = np.empty(starts[-1] + 1, np.int64), np.empty(starts[-1], np.int64)
    parts: list[Floats] = []
    used = 0
    for key, start, height in zip(keys, starts, heights, strict=False):
        lines = slice(start, start + height)
        values = _lines(key, size, offsets[start : start + height + 1], lows[lines])
        offsets[start : start + height + 1] += used
        used += len(values)
        parts.append(values)
    pools, drawn = (np.array([getattr(key, name) for key in keys]) for name in ("pool", "drawn"))
    shares = drawn / np.maximum(pools, 1)
    return CountTables(pools, drawn[:, None], shares, starts, offsets, lows, np.concatenate(parts))


def _lines(key: TableKey, size: int, offsets: Integers, lows: Integers) -> Floats:
    """Values of all lines of a table; where they are is written into `offsets` and `lows`."""
    room = key.room(size, len(lows))
    while True:
        values = np.empty(room)
        pool, drawn = key.pool - key.own, key.drawn - key.own
        used = fill_lines(pool, drawn, size, FAINT, key.counting, offsets, lows, values)
        if used >= 0:
            return values[:used].copy()
        room *= 2


def rules_for(size: int, largest: int) -> TieRules:
    """Rules for tie groups of up to `largest` items, of which the first `size` positions matter.

    Where many positions matter a group is a polynomial, which half as many nodes integrate.
    """
    return tie_rules(size) if size <= MANY_POSITIONS else _polynomial_rules(largest.bit_length())


@lru_cache(maxsize=8)
def _polynomial_rules(bits: int) -> TieRules:
    """Rules for fewer than 2^bits gallery items."""
    sizes = [*range(1, 25)]
    while 2 * sizes[-1] < 1 << bits:
        sizes.append(sizes[-1] + sizes[-1] // 4)
    made = [_precise_rule(size) for size in sizes]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    nodes, weights = (np.concatenate(part) for part in zip(*made, strict=True))
    return TieRules(np.array(sizes), starts, np.zeros(len(sizes)), nodes, weights, np.inf, 1.0)


def _precise_rule(n: int) -> tuple[Floats, Floats]:
    """Gauss-Legendre on [0, 1], the first nodes as precise as the others: O(n) roundings each.

    With x = cos θ, differences of Legendre polynomials have
    (m+1) d_(m+1) = (2m+1)(x-1) P_m + m d_m, and x - 1 = -2 sin²(θ/2) is known well near x = 1.
    """
    x, _ = roots_legendre(n)
    angles = np.arccos(x[n // 2 :])[::-1].copy()
    for _ in range(3):
        below = -2 * np.sin(angles / 2) ** 2
        value, step = np.ones_like(angles), np.zeros_like(angles)
        for m in range(n):
            step = ((2 * m + 1) * below * value + m * step) / (m + 1)
            value = value + step
        # P' sin² θ = n (P_(n-1) - x P_n), and P_(n-1) = P_n - step.
        slope = -n * (-step - below * value) / np.sin(angles)
        weights = (np.sin(angles) / (n * step)) ** 2
        angles -= value / slope
    nodes = np.sin(angles / 2) ** 2
    mirrored = slice(None, None, -1) if n % 2 == 0 else slice(-2, None, -1)
    return np.append(nodes, 1 - nodes[mirrored]), np.append(weights, weights[mirrored])


@lru_cache(maxsize=1)
def small_groups() -> SmallGroups:
    """Nodes of small rules, the first of all `rules_for`, and powers of their times."""
    rules = tie_rules(1)
    limits = np.array([_most_expected(int(n)) for n in rules.sizes[:_SMALL_RULE]])
    n_chunks = -(-_SMALL_RULE // LANES)
    before, after = np.full((2, _SMALL_RULE, n_chunks * LANES), 0.5)
    weights = np.zeros_like(before)
    for rule, (start, n) in enumerate(zip(rules.starts, rules.sizes[:_SMALL_RULE], strict=False)):
        nodes = rules.nodes[start : start + n]
        # Nodes lie symmetrically, and small ones have all their digits: 1 - λ is another node.
        before[rule, :n], after[rule, :n] = nodes, nodes[::-1]
        weights[rule, :n] = rules.weights[start : start + n]
    shape = (_SMALL_RULE, n_chunks, 1, LANES)
    members = np.arange(_SMALL_CLASS + 1)
    return SmallGroups(
        limits,
        weights.reshape(_SMALL_RULE, n_chunks, LANES),
        before.reshape(shape) ** members[:, None],
        after.reshape(shape) ** members[:, None],
        comb(members[:, None], members),
    )


@lru_cache(maxsize=128)
def _most_expected(n_nodes: int) -> float:
    """The most gallery items that may be expected in a tie group that a rule serves.

    A rule of N nodes is right for up to 2N gallery items. For t of them it errs by what is computed
    here, and if e are expected, t or more have the chance e^-e (e E/t)^t at most, E = 2.718…
    (Chernoff). Chance times error, t items counting 1 each, are UNLIKELY in sum.
    """
    x, w = roots_legendre(n_nodes)
    nodes, weights = (x[:, None] + 1) / 2, w / 2
    numbers = np.arange(2 * n_nodes + 1, 2 * n_nodes + 21)
    # t C(t-1, r) λ^r (1-λ)^(t-1-r) integrates to 1 for every r; beyond, a rule may be off by t.
    errors = []
    for t in numbers[:-1]:
        r = np.arange(t)
        densities = t * comb(t - 1, r) * nodes**r * (1 - nodes) ** (t - 1 - r)
        errors.append(np.abs(weights @ densities - 1).max() + 1e-13)
    costs = np.log(numbers * np.append(errors, 2.0 * numbers[-1]))

    def log_cost(log_mean: float) -> float:
        chances = numbers - exp(log_mean) + numbers * (log_mean - np.log(numbers))
        return float(logsumexp(chances + costs)) - log(UNLIKELY)

    return float(np.exp(brentq(log_cost, -100.0, log(2 * n_nodes + 1))))
