"""Candidates of new points among points that are read a block at a time, by products in float64.

What a block may add to the candidates so far is compared with them, and the nearest are kept. So
memory is bounded however many points there are. Cost: a product for each pair, and reading all
points once for every batch of queries.
"""

from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from allsplits._threads import thread_count
from allsplits.orders.proposers.proposer import expanded_rounding, row_norms
from allsplits.orders.proposers.single import Rows

#: Queries that are asked at a time, and what a batch holds of candidates and of scores (16 MiB).
_MOST_QUERIES = 1024
_ENTRIES = 1 << 21

Array = NDArray[np.float64]
Items = NDArray[np.int32]


class StreamProposer:
    """Proposes for new points; nothing is kept of the points but a number for each."""

    def __init__(self, points: Rows, n_threads: int) -> None:
        self.points, self.n_threads = points, n_threads
        blocks, n = points.blocks(), len(points)
        # Centring keeps the norms, and with them the error of the expanded formula, small.
        self.centre = sum(points[block].sum(axis=0) for block in blocks) / n
        self.squares, self.largest = np.empty(n), 0.0
        for block in blocks:
            rows = points[block]
            self.largest = max(self.largest, float(rows.max()), -float(rows.min()))
            self.squares[block] = row_norms(rows - self.centre) ** 2
        self.farthest = float(np.sqrt(self.squares.max()))

    def propose_to(self, queries: Array, n_candidates: int) -> tuple[Items, Array]:
        """Candidates of new points and what all others exceed."""
        items = np.empty((len(queries), n_candidates), dtype=np.int32)
        beyond = np.empty(len(queries))
        step = max(1, min(_MOST_QUERIES, _ENTRIES // n_candidates))
        # Looking up the thread pools takes milliseconds: only where it changes anything.
        limited = self.n_threads < thread_count(None)
        with threadpool_limits(self.n_threads) if limited else nullcontext():
            for start in range(0, len(queries), step):
                part = slice(start, start + step)
                items[part], beyond[part] = self._nearest(queries[part], n_candidates)
        return items, beyond

    def _nearest(self, queries: Array, n_candidates: int) -> tuple[Items, Array]:
        centred = queries - self.centre
        norms = row_norms(centred)
        items = np.empty((len(queries), 0), dtype=np.int32)
        scores = np.empty((len(queries), 0))
        for block in self._blocks(len(queries)):
            found = centred @ (self.points[block] - self.centre).T
            found *= -2
            found += self.squares[block]
            numbers = np.arange(block.start, block.stop, dtype=np.int32)
            items, scores = _smallest(items, scores, numbers, found, n_candidates)
        largest = max(self.largest, float(np.abs(queries).max()))
        rounding = expanded_rounding(norms, centred.shape[1], self.farthest, largest)
        return items, scores.max(axis=1) + norms**2 - rounding

    def _blocks(self, n_queries: int) -> Any:
        """Ranges of points that are read at a time and scored together."""
        n, n_features = self.points.shape
        step = max(1, _ENTRIES // max(n_features, n_queries))
        for start in range(0, n, step):
            yield slice(start, min(start + step, n))


def _smallest(
    items: Items, scores: Array, numbers: Items, found: Array, wanted: int
) -> tuple[Items, Array]:
    """The wanted ones of those so far and of those with these numbers, in any order."""
    if scores.shape[1] >= wanted:
        # Most blocks have little to add: whoever is beyond all that are kept is left out.
        near = np.flatnonzero((found < scores.max(axis=1)[:, None]).any(axis=0))
        numbers, found = numbers[near], found[:, near]
    both = np.concatenate([scores, found], axis=1)
    names = np.concatenate([items, np.broadcast_to(numbers, found.shape)], axis=1)
    if both.shape[1] <= wanted:
        return names, both
    kept = np.argpartition(both, wanted - 1, axis=1)[:, :wanted]
    return np.take_along_axis(names, kept, axis=1), np.take_along_axis(both, kept, axis=1)
