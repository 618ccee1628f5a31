"""Sorted rows that stay on the device: tie groups, where rows end, and who counts them there.

The same rules as `finish_sorted_rows` has for the host, in whole-tensor operations.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from allsplits.orders.kernel_types import Ties
from allsplits.orders.order import NeighborOrder

__all__ = ["DeviceCounts", "DevicePart", "DeviceRows", "mark_ties"]


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
    """Tallies that grow on the device."""

    def add(self, rows: DeviceRows) -> None:
        """Count the rows that are certain."""
        ...

    def counts(self) -> Any:
        """What was counted, on the host."""
        ...


class DevicePart(Protocol):
    """A part that can be counted on the device, and for rows with any numbers on the host.

    `by_groups` says that the order within tie groups plays no part, as it has to be.
    """

    @property
    def by_groups(self) -> bool:
        """Whether members of a tie group are alike."""
        ...

    def of_rows(self, order: NeighborOrder, numbers: NDArray[np.intp]) -> Any:
        """The part of rows with these sample numbers."""
        ...

    def on_device(self, torch: Any, device: str, numbers: NDArray[np.intp]) -> DeviceCounts:
        """Empty tallies for rows among these sample numbers."""
        ...


def mark_ties(torch: Any, keys: Any, depth: int, ties: Ties) -> tuple[Any, Any, Any]:
    """(tied, lengths, last keys) of sorted keys; a length of -1 where there are too few."""
    tied = torch.zeros_like(keys, dtype=torch.bool)
    steps = keys[:, 1:] - keys[:, :-1]
    same = steps <= keys[:, 1:] * ties.tolerance
    if ties.floor > 0:
        roots = keys.sqrt()
        same |= steps <= ties.floor * (roots[:, 1:] + roots[:, :-1])
    # Infinite keys are nobody.
    tied[:, 1:] = same & keys[:, 1:].isfinite()
    ends = torch.ones((len(keys), keys.shape[1] - depth + 1), dtype=torch.uint8, device=keys.device)
    ends[:, :-1] = ~tied[:, depth:]
    lengths = depth + ends.argmax(1)
    last = keys.gather(1, lengths[:, None] - 1)[:, 0]
    return tied, lengths.masked_fill(~last.isfinite(), -1), last
