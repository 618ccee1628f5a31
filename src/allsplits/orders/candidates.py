"""Shallow Euclidean orders: propose quickly, verify exactly, redo the rows that fail.

Whoever proposes may use a formula that is fast and loses digits, such as |x|² + |y|² - 2xy, if its
error is bounded. The candidates get their true distances by differences, and a row is accepted only
if everybody who was not proposed is certainly farther away; the few rows where a tie group runs
past the candidates are computed in full. So the order does not depend on who proposed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.orders.full_rows import ENTRIES_PER_BLOCK, FullRowSearch
from allsplits.orders.kernels import rerank_candidates
from allsplits.orders.order import NeighborOrder, pack_rows, replace_rows
from allsplits.orders.protocol import Search
from allsplits.orders.ties import UNIT_ROUNDOFF

__all__ = ["CandidateSearch", "Proposer", "expanded_rounding"]

#: Query-reference pairs per block of a candidate search: a second or two of work.
_PAIRS_PER_BLOCK = 1 << 30

Array = NDArray[np.float64]


def expanded_rounding(
    queries: Array, reference: Array, largest: float, unit: float = UNIT_ROUNDOFF
) -> Array:
    """Bound, for each query, the error of squared distances by |x|² + |y|² - 2xy.

    Both are centred points; `largest` is the largest coordinate before centring; `unit` is the
    unit roundoff of the arithmetic that the centred points are given to.
    """
    n_features = reference.shape[1]
    norms = np.sqrt(np.einsum("ij,ij->i", queries, queries))
    farthest = np.sqrt(np.einsum("ij,ij->i", reference, reference).max())
    # Each of d products and sums rounds once, all below (|x| + |y|)².
    expanded = 4 * (n_features + 4) * unit * (norms + farthest) ** 2
    # Centring moves each coordinate by a rounding of its size.
    moved = 4 * UNIT_ROUNDOFF * np.sqrt(n_features) * largest
    bound: Array = expanded + 4 * moved * (norms + farthest) + 4 * moved**2
    return bound


class Proposer(Protocol):
    """Whoever knows the nearest by an approximate squared distance of bounded error."""

    rounding: Array

    def propose(self, start: int, stop: int, n_candidates: int) -> tuple[NDArray[np.int32], Array]:
        """Candidates of the rows start to stop (own row among them) and what all others exceed.

        Rows that end early are filled with -1.
        """
        ...


class CandidateSearch(Search):
    """A search that verifies what its proposer finds.

    Where the first of `proposers` is not precise enough for the data, the next one takes over.
    """

    def __init__(
        self,
        points: Array,
        depth: int,
        n_threads: int,
        full: FullRowSearch,
        proposers: Sequence[Callable[[], Proposer]],
        name: str = "exact",
    ) -> None:
        self.points = points
        self.depth = depth
        self.n_threads = n_threads
        self.full = full
        self.others = list(proposers)
        self.proposer = self.others.pop(0)()
        self.name = name
        self.n_samples = len(points)
        self.spare = 4 + depth // 8
        self.rows_per_block = max(
            256, min(ENTRIES_PER_BLOCK // (depth + self.spare), _PAIRS_PER_BLOCK // len(points))
        )

    def order(self, start: int, stop: int) -> NeighborOrder:
        """Neighbours of the samples start to stop."""
        n_candidates = min(self.depth + 1 + self.spare, self.n_samples)
        items, last = self.proposer.propose(start, stop, n_candidates)
        keys = np.empty(items.shape)
        tied = np.empty(items.shape, dtype=bool)
        lengths = np.empty(len(items), dtype=np.int64)
        map_row_ranges(
            lambda a, b: rerank_candidates(
                self.points, a, b, start, items, keys, tied, last,
                self.proposer.rounding[start:stop], self.depth, *self.full.ties, lengths,
            ),
            len(items),
            self.n_threads,
        )  # fmt: skip
        failed = np.flatnonzero(lengths < 0)
        if self.others and len(failed) > 0.1 * len(items):
            self.proposer = self.others.pop(0)()
            return self.order(start, stop)
        if len(failed) > 0.02 * len(items):
            # Heavy ties: ask for more from now on. What is found does not depend on it.
            self.spare = min(2 * self.spare, max(self.depth, 32))
        order = pack_rows(
            items, keys, tied, np.maximum(lengths, 0), self.full.transform, self.depth,
            self.n_samples - 1, start,
        )  # fmt: skip
        order = replace_rows(order, failed, self.full.orders_of(failed + start))
        return order.found_by(self.name, redone_rows=len(failed))
