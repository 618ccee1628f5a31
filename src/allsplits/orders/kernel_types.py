"""The one tie rule, which distances count as equal, and the named state of the kernels.

Rows are sorted by keys: distances, or their squares where the geometry is Euclidean. Neighbours in
a sorted row are tied if their keys agree to `tolerance`, relative to the key, or if the roots of
their keys differ by at most `floor`. Where points are rounded before they are compared (directions,
for cosine), a distance carries an error of the size of that rounding however small it is: that is
the floor.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

#: Half the distance from 1 to the next float64.
UNIT_ROUNDOFF = 2.0**-53
#: Distances that agree to this relative accuracy are one tie group: rounding of the inputs and of
#: the distance itself (0.3 - 0.2 against 0.2 - 0.1) must not decide who is nearer.
TIE_TOLERANCE = 1e-12


class Ties(NamedTuple):
    """What counts as equal, in terms of the keys that rows are sorted by."""

    tolerance: float = TIE_TOLERANCE
    floor: float = 0.0

    def reach(self, keys: Any, links: int = 1) -> Any:
        """What is beyond this is not tied with `keys` through a chain of `links` near ties."""
        return (keys**0.5 + links * self.floor) ** 2 * (1 + 2 * links * self.tolerance)


class Places(NamedTuple):
    """Points, and those whose neighbours are wanted.

    These are the points from `first_row` on, which are no neighbours of themselves, or new ones:
    then `first_row` is -1.
    """

    points: NDArray[np.float64]
    queries: NDArray[np.float64]
    first_row: int = -1


class SortedRows(NamedTuple):
    """Rows side by side, nearest first; what is past a row's length is padding.

    `items` are row numbers, `keys` what they are sorted by, `tied` says whether an entry is tied
    with the one before it. A negative length says that the row is not certain.
    """

    items: NDArray[np.int32]
    keys: NDArray[np.float64]
    tied: NDArray[np.bool_]
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, items: NDArray[np.int32], keys: NDArray[np.float64] | None = None) -> SortedRows:
        """Items, and keys if they are known, with room for the rest."""
        if keys is None:
            keys = np.empty(items.shape)
        return cls(items, keys, np.empty(items.shape, dtype=bool), np.empty(len(items), np.int64))

    def cuts(self, k: int) -> NDArray[np.bool_] | None:
        """Whether the first 1, 2, …, k of a row end inside of a tie group; None if nowhere."""
        last = self.lengths > k
        within = self.tied[:, 1:k] & (np.arange(1, k) < self.lengths[:, None])
        if not (last.any() or within.any()):
            return None
        return np.concatenate([within, last[:, None]], axis=1)

    def where(self, chosen: NDArray[np.bool_]) -> SortedRows:
        """Some of the rows."""
        items, keys, tied, lengths = self
        return SortedRows(items[chosen], keys[chosen], tied[chosen], lengths[chosen])

    def put(self, places: slice, others: SortedRows) -> None:
        """Write other rows of the same width in the places of some."""
        for name in self._fields:
            getattr(self, name)[places] = getattr(others, name)

    def replaced(self, numbers: NDArray[np.intp], others: SortedRows) -> SortedRows:
        """The rows with those of these numbers replaced by `others`, in turn."""
        width = max(self.items.shape[1], others.items.shape[1])
        found = SortedRows.of(np.empty((len(self.items), width), dtype=np.int32))
        for rows, places in ((self, slice(None)), (others, numbers)):
            end = rows.items.shape[1]
            found.items[places, :end] = rows.items
            found.keys[places, :end] = rows.keys
            found.tied[places, :end] = rows.tied
            found.lengths[places] = rows.lengths
        return found
