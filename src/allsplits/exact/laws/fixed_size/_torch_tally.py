"""The integer tallies of `tally`, counted by torch where the neighbour lists are.

Whole-tensor operations on sorted rows: labels of the neighbours, how many of them have the row's
class up to each position, and where tie groups start and end. What leaves the device is the table
and the keys of mixed tie groups; the integers are those of the compiled loops.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.laws.fixed_size.tally import NearestCounter, PrefixCounter, TallyPart
from allsplits.orders.protocol import DeviceRows


class _Groups(NamedTuple):
    """For each entry of the rows, on the device.

    `own`: neighbours of the row's class up to here; `ends`: the last of its tie group; `mixed`: its
    group holds the row's class and others. Of the groups that end here: `start`, how many entries
    were before; `size`; `own_before` and `own_inside`, neighbours of the row's class.
    """

    same: Any
    own: Any
    ends: Any
    mixed: Any
    start: Any
    size: Any
    own_before: Any
    own_inside: Any


def _groups(torch: Any, rows: Any, codes: Any) -> _Groups:
    tied, width = rows.tied, rows.tied.shape[1]
    position = torch.arange(width, device=tied.device).expand(tied.shape)
    same = codes[rows.items.long()] == codes[rows.numbers][:, None]
    own = same.cumsum(1)
    start = torch.where(tied, 0, position).cummax(1).values
    ends = torch.ones_like(tied)
    ends[:, :-1] = ~tied[:, 1:]
    own_before = (own - same.long()).gather(1, start)
    own_inside = own - own_before
    size = position + 1 - start
    # What is known at the end of a group holds for all its members.
    end = torch.where(ends, position, width - 1).flip(1).cummin(1).values.flip(1)
    mixed = ((own_inside > 0) & (own_inside < size)).gather(1, end)
    return _Groups(same, own, ends, mixed, start, size, own_before, own_inside)


def _used(torch: Any, rows: Any) -> Any:
    """Which entries count: none of a row that is not certain."""
    position = torch.arange(rows.tied.shape[1], device=rows.tied.device)
    return position < rows.lengths[:, None]


class DevicePrefixes:
    """H[y, j, o] of two classes and the keys of mixed tie groups, on the device."""

    def __init__(self, torch: Any, device: str, counter: PrefixCounter) -> None:
        self.torch, self.depth = torch, counter.depth
        self.codes = torch.as_tensor(counter.codes, device=device).long()
        self.sizes = counter.sizes.tolist()
        shape = (2, counter.depth + 1, counter.depth + 1)
        self.table = torch.zeros(shape, dtype=torch.int64, device=device)
        self.keys: list[Any] = []

    def add(self, rows: DeviceRows) -> Any:
        """Count the rows that are certain; returns the numbers of the others."""
        groups, used, side = (
            _groups(self.torch, rows, self.codes),
            _used(self.torch, rows),
            self.depth,
        )
        y = self.codes[rows.numbers][:, None]
        near = slice(0, side)
        counted = used[:, near] & (groups.ends | ~groups.mixed)[:, near]
        j = self.torch.arange(1, side + 1, device=y.device)
        place = (y * (side + 1) + j) * (side + 1) + groups.own[:, near]
        self.table.view(-1).scatter_add_(0, place.flatten(), counted.long().flatten())
        described = used & groups.ends & groups.mixed & (groups.start < side)
        short, long = self.sizes
        keys = (y * short + groups.start) * short + groups.own_before
        keys = (keys * long + groups.size) * long + groups.own_inside
        self.keys.append(keys[described])
        return rows.numbers[rows.lengths < 0]

    def parts(self, numbers: NDArray[np.intp], found: TallyPart | None) -> tuple[TallyPart, ...]:
        """What was counted, and what the host counted."""
        keys, sums = self.torch.cat(self.keys).unique(return_counts=True)
        return _both(TallyPart(_host(self.table), np.arange(2), _host(keys), _host(sums)), found)


class DeviceNearest:
    """How often the neighbour of rank r has the class of the row, on the device."""

    def __init__(
        self, torch: Any, device: str, counter: NearestCounter, numbers: NDArray[np.intp]
    ) -> None:
        self.torch, self.base = torch, counter.n_candidates + 1
        self.codes = torch.as_tensor(counter.codes, device=device)
        self.kinds = torch.as_tensor(counter.kinds, device=device).long()
        self.present = np.unique(counter.kinds[numbers])
        self.line_of = torch.zeros(int(counter.kinds.max()) + 1, dtype=torch.int64, device=device)
        self.line_of[torch.as_tensor(self.present, device=device).long()] = torch.arange(
            len(self.present), device=device
        )
        shape = (len(self.present), self.base)
        self.hits = torch.zeros(shape, dtype=torch.int64, device=device)
        self.keys: list[Any] = []
        self.members: list[Any] = []

    def add(self, rows: DeviceRows) -> Any:
        """Count the rows that are certain; returns the numbers of the others."""
        groups, used = _groups(self.torch, rows, self.codes), _used(self.torch, rows)
        kind = self.kinds[rows.numbers][:, None]
        hit = used & groups.same & ~groups.mixed
        rank = self.torch.arange(1, hit.shape[1] + 1, device=hit.device)
        place = self.line_of[kind] * self.base + rank
        self.hits.view(-1).scatter_add_(0, place.flatten(), hit.long().flatten())
        described = used & groups.ends & groups.mixed
        keys = (kind * self.base + groups.start) * self.base + groups.size
        self.keys.append(keys[described])
        self.members.append(groups.own_inside[described])
        return rows.numbers[rows.lengths < 0]

    def parts(self, numbers: NDArray[np.intp], found: TallyPart | None) -> tuple[TallyPart, ...]:
        """What was counted, and what the host counted."""
        keys, place = self.torch.cat(self.keys).unique(return_inverse=True)
        sums = self.torch.zeros_like(keys).scatter_add_(0, place, self.torch.cat(self.members))
        return _both(TallyPart(_host(self.hits), self.present, _host(keys), _host(sums)), found)


def _both(counted: TallyPart, found: TallyPart | None) -> tuple[TallyPart, ...]:
    return (counted,) if found is None else (counted, found)


def _host(tensor: Any) -> NDArray[np.int64]:
    array: NDArray[np.int64] = tensor.cpu().numpy()
    return array
