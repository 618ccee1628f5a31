"""Integer tallies: one pass over the data, then every k and every training size for free.

Two classes, any k: H[y, j, o] counts the samples of class y that have o of their own class among
their j nearest. The score of any (k, law) is a sum over that table, whatever n is. 1-NN needs even
less: how often the neighbour of rank r has the sample's class (Mullin & Sukthankar 2000).

Prefixes inside a mixed tie group are not fractions in the tables: such groups are counted by their
description (start, size, members) and spread over the tables at the end. So tallies are
integers, and adding them up in any order, over blocks or threads, gives the same bits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allsplits.exact._kernels_tally import (
    count_nearest,
    count_prefixes,
    majority_scores,
    nearest_curve,
    spread_ties,
)
from allsplits.exact.masses import UNIT_ROUNDOFF, Prefixes
from allsplits.exact.uniform import VoteTable
from allsplits.orders import NeighborOrder

__all__ = ["NearestTally", "TwoClassTally"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]


class _KeyedSums:
    """Integer sums by integer key, merged as they come."""

    def __init__(self) -> None:
        self.keys = np.empty(0, dtype=np.int64)
        self.sums = np.empty(0, dtype=np.int64)

    def add(self, keys: NDArray[np.int64], amounts: NDArray[np.int64]) -> None:
        if len(keys) == 0:
            return
        together = np.concatenate([self.keys, keys])
        amounts = np.concatenate([self.sums, amounts])
        self.keys, place = np.unique(together, return_inverse=True)
        self.sums = np.zeros(len(self.keys), dtype=np.int64)
        np.add.at(self.sums, place, amounts)


class TwoClassTally:
    """H[y, j, o] for two classes."""

    def __init__(self, depth: int, n_candidates: int, *, average_distance_ties: bool) -> None:
        self.average = average_distance_ties
        self.table = np.zeros((2, depth + 1, depth + 1), dtype=np.int64)
        self.sizes = np.array([depth + 1, n_candidates + 1], dtype=np.int64)
        self.groups = _KeyedSums()

    @staticmethod
    def fits(depth: int, n_samples: int) -> bool:
        """Whether the table is smaller than what it summarises, and its keys are 64-bit."""
        return depth < n_samples and depth <= 4500 and 2 * depth**2 * n_samples**2 < 2**62

    def add(self, order: NeighborOrder, codes: Codes) -> None:
        """Count the rows of a block."""
        own = codes[order.first_row : order.first_row + order.n_samples]
        keys = np.empty(len(order.flat_indices) // 2 + 1, dtype=np.int64)
        labels = codes[order.flat_indices]
        n_keys = count_prefixes(
            order.indptr, labels, order.tied, own, self.average, self.table, keys, self.sizes
        )
        self.groups.add(keys[:n_keys], np.ones(n_keys, dtype=np.int64))

    def right(self, prefixes: Prefixes, share: bool) -> Floats:
        """Expected number of right predictions for each column and class."""
        table = self.table.astype(np.float64)
        spread_ties(self.groups.keys, self.groups.sums, self.sizes, table)
        votes = VoteTable(prefixes)
        out = np.zeros((len(prefixes.ks), 2))
        first, second = (0.5, 0.5) if share else (1.0, 0.0)
        majority_scores(
            table, first, second, prefixes.ks, prefixes.masses, votes.values, votes.theta, out
        )
        return out


class NearestTally:
    """How often the neighbour of rank r has the sample's class: all that 1-NN needs."""

    def __init__(
        self, n_candidates: int, kinds: NDArray[np.int32], *, average_distance_ties: bool
    ) -> None:
        self.average = average_distance_ties
        self.kinds = kinds
        self.n_candidates = n_candidates
        self.hits = np.zeros((int(kinds.max()) + 1, n_candidates + 1), dtype=np.int64)
        self.groups = _KeyedSums()

    def add(self, order: NeighborOrder, codes: Codes) -> None:
        """Count the rows of a block; their depth must be complete."""
        rows = slice(order.first_row, order.first_row + order.n_samples)
        keys = np.empty(len(order.flat_indices) // 2 + 1, dtype=np.int64)
        members = np.empty_like(keys)
        labels = codes[order.flat_indices]
        n_groups = count_nearest(
            order.indptr, labels, order.tied, codes[rows], self.kinds[rows], self.average,
            self.hits, keys, members,
        )  # fmt: skip
        self.groups.add(keys[:n_groups], members[:n_groups])

    def mixed_groups(self) -> list[tuple[int, int, int, int]]:
        """(kind, start, size, members of the right class) of all mixed tie groups."""
        base = self.hits.shape[1]
        keys, size = np.divmod(self.groups.keys, base)
        kind, start = np.divmod(keys, base)
        return list(
            zip(
                kind.tolist(), start.tolist(), size.tolist(), self.groups.sums.tolist(), strict=True
            )
        )

    def right(self, sizes: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Expected number right for each training size and kind, and the rounding per sample."""
        hits = self.hits.astype(np.float64)
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
