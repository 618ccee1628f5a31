"""What every backend offers: the neighbour orders of a range of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod

from allsplits.orders._order import NeighborOrder

__all__ = ["Search"]


class Search(ABC):
    """A prepared search among a fixed set of samples.

    Attributes
    ----------
    n_samples : int
        Number of samples.
    rows_per_block : int
        How many rows at a time keep memory bounded.
    ahead : int
        How many blocks are worth searching while an earlier one is used: none where the search
        needs the same cores.
    """

    n_samples: int
    rows_per_block: int
    ahead: int = 0

    @abstractmethod
    def order(self, start: int, stop: int) -> NeighborOrder:
        """Neighbours of the samples start to stop, complete tie groups, own row excluded."""

    def close(self) -> None:  # noqa: B027 - most searches leave nothing running
        """Stop what is still running elsewhere; called once, also after an error or Ctrl-C."""
