"""What every backend offers: the neighbour orders of a range of rows, or what is made of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

from allsplits.orders.order import NeighborOrder, SearchReport

__all__ = ["Block", "Part", "Search", "whole_order"]


#: (order, n_threads) -> what these rows contribute to an answer: integer tallies, or values of the
#: rows. A pure function that `cloudpickle` can send: it is called where the neighbours are found,
#: in any thread or on another machine.
Part = Callable[[NeighborOrder, int], Any]


def whole_order(order: NeighborOrder, _: int) -> NeighborOrder:
    """The part of those who want the order itself."""
    return order


class Block(NamedTuple):
    """What a range of rows came to.

    `parts` holds one contribution, for all rows in turn; tallies, whose order does not matter,
    may come in several.
    """

    n_rows: int
    search: SearchReport
    parts: tuple[Any, ...]


class Search(ABC):
    """A prepared search among a fixed set of samples.

    Attributes
    ----------
    n_samples : int
        Number of samples.
    rows_per_block : int
        How many rows at a time keep memory bounded.
    ahead : int
        How many blocks are worth working on while an earlier one is waited for: none where the
        search needs the same cores.
    """

    n_samples: int
    rows_per_block: int
    ahead: int = 0

    @abstractmethod
    def order(self, start: int, stop: int) -> NeighborOrder:
        """Neighbours of the samples start to stop, complete tie groups, own row excluded."""

    def map(self, start: int, stop: int, part: Part, n_threads: int) -> Block:
        """What the samples start to stop contribute."""
        order = self.order(start, stop)
        return Block(order.n_samples, order.search, (part(order, n_threads),))

    def close(self) -> None:  # noqa: B027 - most searches leave nothing running
        """Stop what is still running elsewhere; called once, also after an error or Ctrl-C."""
