"""Orders from complete rows of distances, block by block: right for every metric and depth."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from allsplits.orders.kernel_types import SortedRows, Ties
from allsplits.orders.limits import FEWEST_QUERIES, LimitedSearch
from allsplits.orders.order import NeighborOrder, concatenate, pack_rows
from allsplits.orders.protocol import Search
from allsplits.orders.verify import sort_rows

#: Full rows of distances are held for this many entries at a time (32 MiB).
ENTRIES_PER_BLOCK = 1 << 22

Array = NDArray[np.float64]
Transform = Callable[[Array], Array]


@dataclass(eq=False)
class FullRowSearch(Search):
    """Orders from complete rows of distances.

    `rows` gives the keys of the samples whose numbers it gets; `transform` turns keys into
    distances; `ties` say which keys are tied. Where rows are long, `limited` is asked first.
    """

    rows: Callable[[NDArray[np.intp]], Array]
    n_samples: int
    depth: int
    n_threads: int
    transform: Transform = lambda keys: keys
    ties: Ties = Ties()  # noqa: RUF009 - it cannot change
    limited: LimitedSearch | None = None

    def __post_init__(self) -> None:
        self.rows_per_block = max(4, ENTRIES_PER_BLOCK // self.n_samples)

    def order(self, start: int, stop: int) -> NeighborOrder:
        """Neighbours of the samples start to stop."""
        return replace(concatenate(self.orders_of(np.arange(start, stop))), first_row=start)

    def sorted_rows(self, numbers: NDArray[np.intp]) -> SortedRows:
        """Rows of the given samples, as many as there are in a block."""
        if self.limited is None or len(numbers) < FEWEST_QUERIES:
            return self._complete(numbers)
        queries = self.limited.places[numbers]
        (rows,) = self.limited.nearest(queries, self.depth, self.ties, numbers)
        failed = np.flatnonzero(rows.lengths < 0)
        if len(failed) == 0:
            return rows
        return rows.replaced(failed, self._complete(numbers[failed]))

    def _complete(self, numbers: NDArray[np.intp]) -> SortedRows:
        rows = self.rows(numbers)
        rows[np.arange(len(numbers)), numbers] = np.inf
        return sort_rows(rows, self.depth, self.n_samples - 1, self.n_threads, self.ties)

    def orders_of(self, numbers: NDArray[np.intp]) -> list[NeighborOrder]:
        """Orders of any samples, a bounded number at a time."""
        found = []
        for low in range(0, len(numbers), self.rows_per_block):
            part = self.sorted_rows(numbers[low : low + self.rows_per_block])
            found.append(pack_rows(part, self.transform, self.depth, self.n_samples - 1, 0))
        return found
