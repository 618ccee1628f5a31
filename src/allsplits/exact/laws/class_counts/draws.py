"""What a law of class counts draws: candidates of each class, and the tables the kernels need."""

from collections.abc import Sequence
from fractions import Fraction
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits.exact._kernels_draws import hypergeometric_table
from allsplits.exact.laws.class_counts.kernel_types import Draws
from allsplits.exact.question import Question

Floats = NDArray[np.float64]


def class_pools(question: Question) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Candidates of each class for a query of another class, and of the class itself."""
    if question.exclusion is not None:
        pools, own_pools = question.exclusion.pools(question.sample_codes, question.n_classes)
        return pools, own_pools
    sizes = question.class_sizes[None, :]
    return sizes, sizes - (0 if question.outside else 1)


def query_kinds(question: Question) -> NDArray[np.int32]:
    """The kind of each sample as a query: which line of the pools holds for it."""
    if question.exclusion is not None:
        return question.exclusion.groups
    return np.zeros_like(question.codes)


def relevant_chances(n_candidates: int, relevant: int, drawn: int) -> dict[int, Fraction]:
    """How likely it is that so many relevant ones are among `drawn` of all candidates."""
    whole = comb(n_candidates, drawn)
    low, high = max(0, drawn - (n_candidates - relevant)), min(relevant, drawn)
    return {
        m: Fraction(comb(relevant, m) * comb(n_candidates - relevant, drawn - m), whole)
        for m in range(low, high + 1)
    }


def own_draws(question: Question, code: int, pool: int, drawn: int) -> dict[int, Fraction]:
    """How many of the `pool` items that a query may meet of its class are drawn, how likely."""
    if not question.passes_over:
        return {min(pool, drawn): Fraction(1)}
    candidates = int(question.class_sizes[code]) - (0 if question.outside else 1)
    return relevant_chances(candidates, pool, min(drawn, candidates))


class Pools(NamedTuple):
    """What queries of each kind draw from.

    Attributes
    ----------
    others, own : array of shape (kinds, classes)
        Candidates of each class, for a query of another class, and of the class itself.
    trains : array of shape (kinds, components, classes)
        How many are drawn.
    """

    others: NDArray[np.int64]
    own: NDArray[np.int64]
    trains: NDArray[np.int64]


def pools_of(question: Question, trains: Sequence[tuple[int, ...]]) -> Pools:
    """All queries draw alike; they may meet different candidates."""
    others, own = class_pools(question)
    shape = (len(others), len(trains), question.n_classes)
    return Pools(others, own, np.broadcast_to(np.array(trains), shape))


class DrawTables:
    """Hypergeometric tables of all kinds of queries and all components, for up to b_max votes."""

    def __init__(self, pools: Pools, b_max: int) -> None:
        both = np.stack([pools.others, pools.own])[..., None]
        n_components = pools.trains.shape[1]
        drawn = np.minimum(pools.trains.transpose(0, 2, 1), both)
        each = np.concatenate([both, drawn], axis=-1).reshape(-1, 1 + n_components)
        distinct, ids = np.unique(each, axis=0, return_inverse=True)
        self.pools = np.ascontiguousarray(distinct[:, 0])
        self.drawn = np.ascontiguousarray(distinct[:, 1:])
        self.table_of, self.own_table_of = ids.reshape(both.shape[:-1])
        left = self.drawn[:, None, :] - np.arange(b_max + 1)[:, None]
        width = (b_max + 1) * n_components
        self.remaining = np.zeros(len(distinct) * width + 7)[:-7].reshape(-1, width)
        self.remaining[:] = np.maximum(left, 0).reshape(len(distinct), -1)
        self.b_max = b_max
        # One tuple, replaced as a whole: several threads may look while one makes longer tables.
        self._made: tuple[int, NDArray[np.int64], Floats] | None = None

    def for_rows(self, kinds: NDArray[np.int32], longest: int) -> Draws:
        """What the kernels see of queries of these kinds, in rows of up to `longest` items."""
        made = self._made
        if made is None or longest > made[0]:
            made = self._made = (longest, *self._tables(longest))
        return Draws(
            kinds, self.table_of, self.own_table_of, self.pools, self.drawn, self.remaining,
            made[1], made[2],
        )  # fmt: skip

    def _tables(self, longest: int) -> tuple[NDArray[np.int64], Floats]:
        """Where each table starts, and their lines."""
        heights = np.minimum(self.pools, longest) + 1
        starts = np.concatenate([[0], np.cumsum(heights)])
        n_components = self.drawn.shape[1]
        width = (self.b_max + 1) * n_components
        # Kernels that take eight numbers at a time read up to seven beyond the last.
        lines = np.zeros(starts[-1] * width + 7)[:-7].reshape(-1, width)
        for t, pool in enumerate(self.pools):
            table = lines[starts[t] : starts[t + 1]]
            cube = table.reshape(len(table), self.b_max + 1, n_components)
            for component, drawn in enumerate(self.drawn[t]):
                hypergeometric_table(pool, drawn, len(table) - 1, self.b_max, cube[:, :, component])
        return starts, lines
