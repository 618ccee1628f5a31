"""How many of the nearest items of a class are in the gallery: tables that hold what matters."""

from functools import lru_cache
from math import exp, log, sqrt
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom

from allsplits.exact.retrieval._kernels_lines import fill_lines
from allsplits.exact.retrieval._kernels_positions import LANES
from allsplits.exact.retrieval.kernel_types import CountTables, Floats, Integers, SmallGroups
from allsplits.exact.ties import tie_rules

#: Less likely numbers at the ends of a distribution are left out.
FAINT = 2.0**-80
#: More gallery items in a tie group than a rule serves are less likely than this.
UNLIKELY = 2.0**-56
#: Rules of up to so many nodes, and up to so many tied members of a class, have tables.
_SMALL_RULE, _SMALL_CLASS = 16, 16


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
    return CountTables(
        np.array([key.pool for key in keys]), np.array([[key.drawn] for key in keys]), starts,
        offsets, lows, np.concatenate(parts),
    )  # fmt: skip


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


@lru_cache(maxsize=8)
def small_groups(size: int) -> SmallGroups:
    """Nodes, and members before them, of the rules for so many positions.

    A rule of N nodes is right for up to 2N gallery items. If e are expected, more than that have
    the chance e^-e (e E/T)^T at most, T = 2N + 1 and E = 2.718… (Chernoff).
    """
    rules = tie_rules(size)
    limits = np.array([_most_expected(2 * int(n) + 1) for n in rules.sizes])
    n_chunks = -(-_SMALL_RULE // LANES)
    times = np.full((_SMALL_RULE, n_chunks * LANES), 0.5)
    weights = np.zeros_like(times)
    for rule in range(_SMALL_RULE):
        nodes = slice(rules.starts[rule], rules.starts[rule] + rules.sizes[rule])
        times[rule, : rules.sizes[rule]] = rules.nodes[nodes]
        weights[rule, : rules.sizes[rule]] = rules.weights[nodes]
    shape = (_SMALL_RULE, n_chunks, LANES)
    members = np.arange(_SMALL_CLASS + 1)
    shares = binom.pmf(
        members[None, None, None, :, None], members[None, None, :, None, None],
        times.reshape(shape)[:, :, None, None, :],
    )  # fmt: skip
    return SmallGroups(limits, times.reshape(shape), weights.reshape(shape), shares)


def _most_expected(more: int) -> float:
    """The mean at which `more` items have a chance of UNLIKELY at most."""

    def log_chance(log_mean: float) -> float:
        return more - exp(log_mean) + more * (log_mean - log(more)) - log(UNLIKELY)

    return float(np.exp(brentq(log_chance, -100.0, log(more))))
