"""What every backend offers: the neighbour orders of a range of rows, or what is made of them."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from allsplits.orders.order import NeighborOrder, SearchReport

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


class DeviceRows(NamedTuple):
    """Neighbours of some samples as tensors.

    Attributes
    ----------
    numbers : tensor of shape (rows,)
        Sample numbers of the rows.
    items, tied : tensors of shape (rows, width)
        As in a NeighborOrder, but members of a tie group may stand in any order.
    lengths : tensor of shape (rows,)
        How many entries of a row count, always complete tie groups; -1 if the row is not certain.
    """

    numbers: Any
    items: Any
    tied: Any
    lengths: Any


class DeviceCounts(Protocol):
    """Tallies, or values of rows, that grow on the device."""

    def add(self, rows: DeviceRows) -> Any:
        """Count what can be counted; returns the numbers of the other rows.

        Rows that are not certain are always among these.
        """
        ...

    def parts(self, numbers: NDArray[np.intp], found: Any) -> tuple[Any, ...]:
        """What was counted, on the host, and what the host found for the rows with these numbers.

        `found` is None where there are none.
        """
        ...


@runtime_checkable
class DevicePart(Protocol):
    """A part that can be counted on the device, and for rows with any numbers on the host.

    `by_groups` says that it really can: the order within tie groups must play no part.
    """

    @property
    def by_groups(self) -> bool:
        """Whether members of a tie group are alike."""
        ...

    def of_rows(self, order: NeighborOrder, numbers: NDArray[np.intp], n_threads: int) -> Any:
        """The part of rows with these sample numbers."""
        ...

    def on_device(self, torch: Any, device: str, numbers: NDArray[np.intp]) -> DeviceCounts | None:
        """Nothing yet, for rows among these sample numbers; None where the host must count."""
        ...
