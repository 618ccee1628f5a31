"""Shallow Euclidean orders: propose quickly, verify exactly, redo the rows that fail.

Whoever proposes may use a formula that is fast and loses digits, such as |x|² + |y|² - 2xy, if its
error is bounded. The candidates get their true distances by differences, and a row is accepted only
if everybody who was not proposed is certainly farther away; the few rows where a tie group runs
past the candidates are computed in full. So the order does not depend on who proposed.
"""

from collections.abc import Callable, Sequence

import numpy as np

from allsplits.orders.full_rows import ENTRIES_PER_BLOCK, FullRowSearch
from allsplits.orders.order import NeighborOrder, pack_rows, replace_rows
from allsplits.orders.points import Points
from allsplits.orders.proposers.proposer import Proposer
from allsplits.orders.protocol import Search

#: Query-reference pairs per block of a candidate search: a second or two of work.
_PAIRS_PER_BLOCK = 1 << 30


class CandidateSearch(Search):
    """A search that verifies what its proposer finds.

    Where the first of `proposers` is not precise enough for the data, the next one takes over.
    """

    def __init__(
        self,
        points: Points,
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
        items, beyond = self.proposer.propose(start, stop, n_candidates)
        rows = self.points.rerank(start, items, beyond, self.depth, self.full.ties, self.n_threads)
        failed = np.flatnonzero(rows.lengths < 0)
        if self.others and len(failed) > 0.1 * len(items):
            self.proposer = self.others.pop(0)()
            return self.order(start, stop)
        if len(failed) > 0.02 * len(items):
            # Heavy ties: ask for more from now on. What is found does not depend on it.
            self.spare = max(self.depth, 32)
        order = pack_rows(rows, self.full.transform, self.depth, self.n_samples - 1, start)
        order = replace_rows(order, failed, self.full.orders_of(failed + start))
        return order.found_by(self.name, redone_rows=len(failed))
