"""What every backend offers: the neighbour orders of a range of rows."""

from __future__ import annotations

from typing import Protocol

from allsplits.orders._order import NeighborOrder

__all__ = ["Search"]


class Search(Protocol):
    """A prepared search among a fixed set of samples."""

    n_samples: int
    rows_per_block: int

    def order(self, start: int, stop: int) -> NeighborOrder:
        """Neighbours of the samples start to stop, complete tie groups, own row excluded."""
        ...
