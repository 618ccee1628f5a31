"""Integer tallies: one pass over the data, then every k and every training size for free.

Two classes, any k: H[y, j, o] counts the samples of class y that have o of their own class among
their j nearest. The score of any (k, law) is a sum over that table, whatever n is. 1-NN needs even
less: how often the neighbour of rank r has the sample's class (Mullin & Sukthankar 2000).

Prefixes inside a mixed tie group are not fractions in the tables: such groups are counted by their
description (start, size, members) and spread over the tables at the end. So tallies are
integers, and adding them up in any order, over blocks or threads, gives the same bits.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.laws.fixed_size._kernels_tally import (
    count_nearest,
    count_prefixes,
    majority_scores,
    nearest_curve,
    spread_ties,
)
from allsplits.exact.laws.fixed_size.majority import VoteTable, class_rows
from allsplits.exact.masses import Prefixes
from allsplits.orders import UNIT_ROUNDOFF, NeighborOrder

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]


class TallyPart(NamedTuple):
    """What a block of rows adds to a tally: entries of its table, and mixed tie groups by key.

    `kinds` says which lines of the whole table the lines of this one are.
    """

    table: NDArray[np.int64]
    kinds: NDArray[np.integer[Any]]
    keys: NDArray[np.int64]
    sums: NDArray[np.int64]


def sums_by_key(
    keys: NDArray[np.int64], amounts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct keys, and the integer sum of the amounts of each."""
    distinct, place = np.unique(keys, return_inverse=True)
    sums = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(sums, place, amounts)
    return distinct, sums


class _Tally:
    """Sums of counts, merged as they come."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.table = np.zeros(shape, dtype=np.int64)
        self.keys = np.empty(0, dtype=np.int64)
        self.sums = np.empty(0, dtype=np.int64)

    def add(self, counts: TallyPart) -> None:
        """Add what a block counted."""
        self.table[counts.kinds] += counts.table
        if len(counts.keys):
            keys = np.concatenate([self.keys, counts.keys])
            self.keys, self.sums = sums_by_key(keys, np.concatenate([self.sums, counts.sums]))


@dataclass(frozen=True, eq=False)
class PrefixCounter:
    """TallyPart H[y, j, o] of the rows of a block, for two classes."""

    codes: Codes
    depth: int
    n_candidates: int
    average: bool

    @property
    def sizes(self) -> NDArray[np.int64]:
        """What keys of mixed tie groups are made with."""
        return np.array([self.depth + 1, self.n_candidates + 1], dtype=np.int64)

    def __call__(self, order: NeighborOrder, n_threads: int) -> TallyPart:
        """Count the rows of a block."""
        return self.of_rows(order, _numbers(order), n_threads)

    def of_rows(self, order: NeighborOrder, numbers: NDArray[np.intp], n_threads: int) -> TallyPart:
        """Count rows whose sample numbers are given."""
        table = np.zeros((2, self.depth + 1, self.depth + 1), dtype=np.int64)
        keys = np.empty(len(order.flat_indices) // 2 + 1, dtype=np.int64)
        rows = class_rows(order, self.codes, numbers)
        n_keys = count_prefixes(rows, self.average, table, keys, self.sizes)
        ones = np.ones(n_keys, dtype=np.int64)
        return TallyPart(table, np.arange(2), *sums_by_key(keys[:n_keys], ones))

    @property
    def by_groups(self) -> bool:
        """Whether the order within tie groups plays no part."""
        return self.average

    def on_device(self, torch: Any, device: str, numbers: NDArray[np.intp]) -> Any:
        """The same counts, made by torch."""
        from allsplits.exact.laws.fixed_size._torch_tally import DevicePrefixes

        return DevicePrefixes(torch, device, self)


class TwoClassTally(_Tally):
    """H[y, j, o] for two classes."""

    def __init__(self, count: PrefixCounter) -> None:
        super().__init__((2, count.depth + 1, count.depth + 1))
        self.sizes = count.sizes

    @staticmethod
    def fits(depth: int, n_samples: int, n_rows: int) -> bool:
        """Whether the table is smaller than what it summarises, and its keys are 64-bit."""
        small = depth < n_rows and depth < n_samples and depth <= 4500
        return small and 2 * depth**2 * n_samples**2 < 2**62

    def right(self, prefixes: Prefixes, share: bool) -> Floats:
        """Expected number of right predictions for each column and class."""
        table = self.table.astype(np.float64)
        spread_ties(self.keys, self.sums, self.sizes, table)
        votes = VoteTable(prefixes)
        out = np.zeros((len(prefixes.ks), 2))
        first_wins = 0.5 if share else 1.0
        majority_scores(table, first_wins, prefixes.columns, votes.values, votes.theta, out)
        return out


@dataclass(frozen=True, eq=False)
class NearestCounter:
    """TallyPart how often the neighbour of rank r has the class of a row, for each kind of row."""

    codes: Codes
    kinds: NDArray[np.int32]
    n_candidates: int
    average: bool

    def __call__(self, order: NeighborOrder, n_threads: int) -> TallyPart:
        """Count the rows of a block; their depth must be complete."""
        return self.of_rows(order, _numbers(order), n_threads)

    def of_rows(self, order: NeighborOrder, numbers: NDArray[np.intp], n_threads: int) -> TallyPart:
        """Count rows whose sample numbers are given."""
        # A block has few of many kinds: its table is no larger than its order.
        present, kind = np.unique(self.kinds[numbers], return_inverse=True)
        hits = np.zeros((len(present), self.n_candidates + 1), dtype=np.int64)
        keys = np.empty(len(order.flat_indices) // 2 + 1, dtype=np.int64)
        members = np.empty_like(keys)
        rows = class_rows(order, self.codes, numbers)
        n_groups = count_nearest(rows, kind, self.average, hits, keys, members)
        keys, sums = sums_by_key(keys[:n_groups], members[:n_groups])
        return TallyPart(hits, present, self.with_kinds(keys, present), sums)

    @property
    def by_groups(self) -> bool:
        """Whether the order within tie groups plays no part."""
        return self.average

    def on_device(self, torch: Any, device: str, numbers: NDArray[np.intp]) -> Any:
        """The same counts, made by torch."""
        from allsplits.exact.laws.fixed_size._torch_tally import DeviceNearest

        return DeviceNearest(torch, device, self, numbers)

    def with_kinds(self, keys: NDArray[np.int64], present: NDArray[np.int32]) -> NDArray[np.int64]:
        """Keys of a block, which know positions in `present`, as keys of the whole tally."""
        line, rest = np.divmod(keys, (self.n_candidates + 1) ** 2)
        return present[line] * np.int64(self.n_candidates + 1) ** 2 + rest


class NearestTally(_Tally):
    """How often the neighbour of rank r has the sample's class: all that 1-NN needs."""

    def __init__(self, count: NearestCounter) -> None:
        super().__init__((int(count.kinds.max()) + 1, count.n_candidates + 1))
        self.n_candidates = count.n_candidates

    def mixed_groups(self) -> list[tuple[int, int, int, int]]:
        """(kind, start, size, members of the right class) of all mixed tie groups."""
        base = self.table.shape[1]
        keys, size = np.divmod(self.keys, base)
        kind, start = np.divmod(keys, base)
        return list(
            zip(kind.tolist(), start.tolist(), size.tolist(), self.sums.tolist(), strict=True)
        )

    def right(self, sizes: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Expected number right for each training size and kind, and the rounding per sample."""
        hits = self.table.astype(np.float64)
        for kind, start, size, members in self.mixed_groups():
            hits[kind, start + 1 : start + size + 1] += members / size
        out = np.zeros((len(sizes), len(hits)))
        terms = np.zeros(len(sizes), dtype=np.int64)
        for kind, row in enumerate(hits):
            column = np.empty(len(sizes))
            nearest_curve(row, self.n_candidates, sizes, column, terms)
            out[:, kind] = column
        rounding: Floats = (5 * terms + 16).astype(np.float64) * UNIT_ROUNDOFF + 1e-18
        return out, rounding


def _numbers(order: NeighborOrder) -> NDArray[np.intp]:
    return np.arange(order.first_row, order.first_row + order.n_samples)
