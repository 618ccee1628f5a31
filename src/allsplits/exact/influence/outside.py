"""Questions that are not samples: their neighbours are among the samples, nobody is held out."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from allsplits._threads import thread_count
from allsplits.exact.neighbors import Neighbors
from allsplits.exact.question import Options
from allsplits.orders import Metric, Reference
from allsplits.orders.protocol import Block, Part

#: Entries of orders that are held at once.
_ENTRIES_PER_BLOCK = 1 << 22


class OutsideNeighbors(Neighbors):
    """The neighbours of points among checked samples; the points are numbered after these."""

    def __init__(self, X: Any, queries: Any, metric: Metric, options: Options) -> None:
        super().__init__(X, metric, options)
        self._queries = queries
        self._n_threads = thread_count(options.n_jobs)

    def seconds(self, depth: int) -> float:
        """Roughly how long the search takes on one core."""
        return 2e-9 * len(self._queries) * float(self.X.size)

    def blocks(self, depth: int, part: Part) -> Iterator[Block]:
        """What consecutive blocks of questions contribute, in turn."""
        reference = Reference(self.X, self.metric, self._n_threads)
        step = max(8, _ENTRIES_PER_BLOCK // max(depth, 1))
        for start in range(0, len(self._queries), step):
            queries = np.asarray(self._queries[start : start + step], dtype=np.float64)
            order = reference.of(queries, depth, len(self.X) + start)
            order = replace(order, n_candidates=len(self.X))
            yield Block(order.n_samples, order.search, (part(order, self._n_threads),))
