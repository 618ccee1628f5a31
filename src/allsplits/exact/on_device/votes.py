"""Values of rows where their neighbour lists are: what is asked of the circle, and its answers.

A row with a tie group of several classes, and one whose neighbours are not certain, is left to the
host; so is everything where a circle of few points is not enough.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.kernel_types import Quadrature
from allsplits.exact.on_device.circle import ClassTables, coefficients, powers
from allsplits.exact.on_device.kernels_circle import (
    VoteRows,
    VoteTables,
    values_on_circle,
    votes_are_there,
)
from allsplits.orders import NeighborOrder
from allsplits.orders.protocol import DeviceRows

Floats = NDArray[np.float64]

#: Deepest orders that a row's registers hold, and bytes of values on the circle at a time.
DEEPEST, _BYTES = 1024, 1 << 29
#: Bytes of the values of a block of rows.
_MOST_VALUES = 1 << 31


@dataclass(frozen=True, eq=False)
class CircleVote:
    """A vote as the device sees it.

    Attributes
    ----------
    tables : ClassTables
    kind_of, own_kind_of : arrays of shape (classes,)
        The kind of each class, and in rows of that class.
    ks : array of shape (columns,)
    weights : array of shape (depth + 1, columns)
        What the coefficient of z^k counts in each prefix.
    quadrature : Quadrature
        Of shared votes; empty where the first of the classes wins.
    next_is_drawn : bool
        Whether the item after a prefix must be drawn.
    error_bound : array of shape (columns,)
        No value is off by more than this.
    """

    tables: ClassTables
    kind_of: NDArray[np.int32]
    own_kind_of: NDArray[np.int32]
    ks: NDArray[np.int64]
    weights: Floats
    quadrature: Quadrature
    next_is_drawn: bool
    error_bound: Floats

    @property
    def depth(self) -> int:
        """How many items of a row matter."""
        return len(self.weights) - 1

    @cached_property
    def _prefixes(self) -> NDArray[np.intp]:
        """The prefixes that count."""
        return np.flatnonzero(self.weights.any(axis=1))

    def on_device(self, torch: Any, device: str) -> tuple[VoteTables, Any, Any]:
        """The tables, what makes coefficients of values, and what those count."""
        first, last = int(self._prefixes[0]), int(self._prefixes[-1])
        k_low = np.where(self.weights > 0, self.ks, self.ks.max()).min(axis=1)
        n_points, votes = self.tables.sums.shape[-1], self.tables.rows.shape[1] - 1
        versions = 2 if self.next_is_drawn else 1
        arrays = [
            *self.tables, powers(n_points, votes), k_low.astype(np.int32), self.kind_of,
            self.own_kind_of, *self.quadrature,
        ]  # fmt: skip
        n_kinds = len(self.tables.rows) // versions // (self.depth + 1)
        share = len(self.quadrature.nodes) > 1
        tables = VoteTables._make(
            [torch.as_tensor(array, device=device) for array in arrays]
            + [n_kinds, self.depth, first, last, self.next_is_drawn, share]
        )
        matrix = torch.as_tensor(coefficients(n_points, self.ks), device=device)
        return tables, matrix, torch.as_tensor(self.weights[first : last + 1], device=device)


class CircleVotes:
    """The votes of all components of a law, and their tables on the device."""

    def __init__(self, votes: list[CircleVote], shares: Floats | None, every_class: bool) -> None:
        #: What each component counts for each sample; None if there is one that is all.
        self.votes, self.shares, self.every_class = votes, shares, every_class
        self._lock = threading.Lock()
        self._tables: dict[str, list[Any]] = {}

    def tables(self, torch: Any, device: str) -> list[tuple[VoteTables, Any, Any]]:
        """What the device needs of each component, made once."""
        with self._lock:
            if device not in self._tables:
                self._tables[device] = [vote.on_device(torch, device) for vote in self.votes]
            return self._tables[device]

    @property
    def width(self) -> int:
        """Values of a row."""
        return len(self.votes[0].kind_of if self.every_class else self.votes[0].ks)

    @property
    def error_bound(self) -> Floats:
        """No value is off by more than this."""
        bound: Floats = np.max([vote.error_bound for vote in self.votes], axis=0)
        return bound


#: Tables are made once, whichever block needs them first.
_MAKING = threading.Lock()


class RowVotes:
    """The part of those who want values of rows: counted by the host, or where the lists are.

    Parameters
    ----------
    of_rows : callable
        (order, numbers of the rows or None where the order tells, n_threads) -> values.
    codes : array of shape (samples,)
        Their classes.
    bound : array or float
        No value of the host's is off by more than this.
    average : bool
        Whether the order within tie groups plays no part.
    circle : callable
        Makes the votes as the device sees them; None where it cannot count them.
    """

    def __init__(
        self,
        of_rows: Callable[[NeighborOrder, NDArray[np.intp] | None, int], Floats],
        codes: NDArray[np.int32],
        bound: Floats | float,
        average: bool,
        circle: Callable[[], CircleVotes | None],
    ) -> None:
        self.of_rows, self.codes = of_rows, codes
        self._bound, self._average, self._make = bound, average, circle
        self._circle: list[CircleVotes | None] = []

    def __call__(self, order: NeighborOrder, n_threads: int) -> Floats:
        """Values of the rows of a block."""
        return self.of_rows(order, None, n_threads)

    @property
    def by_groups(self) -> bool:
        """Whether a device can count it, and members of a tie group are alike."""
        return self._average and self._on_circle() is not None

    def _on_circle(self) -> CircleVotes | None:
        with _MAKING:
            if not self._circle:
                self._circle.append(self._make() if votes_are_there() else None)
            return self._circle[0]

    def on_device(self, torch: Any, device: str, numbers: NDArray[np.intp]) -> "DeviceVotes | None":
        """The same values, made by the device."""
        circle = self._on_circle() if device.startswith("cuda") else None
        if circle is None or 8 * circle.width * len(numbers) > _MOST_VALUES:
            return None
        return DeviceVotes(torch, device, circle, self.codes, numbers)

    @property
    def error_bound(self) -> Floats | float:
        """No value is off by more than this, wherever it was counted."""
        made = [circle.error_bound for circle in self._circle if circle is not None]
        return np.maximum(self._bound, made[0]) if made else self._bound


class DeviceVotes:
    """Values of the rows of a block, on the device."""

    def __init__(
        self, torch: Any, device: str, votes: CircleVotes, codes: NDArray[np.int32],
        numbers: NDArray[np.intp],
    ) -> None:  # fmt: skip
        self.torch, self.votes = torch, votes
        self.codes = torch.as_tensor(codes, device=device)
        self.tables = votes.tables(torch, device)
        self.first = int(numbers[0])
        shape = (len(numbers), votes.width)
        self.values = torch.zeros(shape, dtype=torch.float64, device=device)
        self.shares = None
        if votes.shares is not None:
            self.shares = torch.as_tensor(votes.shares[:, numbers], device=device)

    def add(self, rows: DeviceRows) -> Any:
        """Count the rows that are certain and have no tie group of several classes.

        Returns the numbers of the others.
        """
        torch = self.torch
        labels = self.codes[rows.items.long()]
        position = torch.arange(labels.shape[1], device=labels.device)
        tied = rows.tied & (position < rows.lengths[:, None])
        mixed = (tied[:, 1:] & (labels[:, 1:] != labels[:, :-1])).any(1)
        left = (rows.lengths < 0) | mixed
        chosen = torch.nonzero(~left)[:, 0]
        if self.votes.every_class:
            near = labels[chosen, : self.votes.votes[0].depth].sort(1).values
            new = torch.ones_like(near, dtype=torch.bool)
            new[:, 1:] = near[:, 1:] != near[:, :-1]
            chosen, targets = chosen[torch.nonzero(new)[:, 0]], near[new]
        else:
            targets = self.codes[rows.numbers[chosen]]
        own = self.codes[rows.numbers[chosen]]
        self._add(VoteRows(labels, chosen.int(), targets, own), rows.numbers - self.first)
        return rows.numbers[left]

    def _add(self, pairs: VoteRows, places: Any) -> None:
        """Add the values of pairs of a row and a class, a bounded number at a time."""
        torch = self.torch
        if len(pairs.targets) == 0:
            return
        for component, (tables, matrix, weights) in enumerate(self.tables):
            each = 8 * len(weights) * len(matrix)
            size = max(1, _BYTES // each)
            for some in zip(*(one.split(size) for one in pairs[1:]), strict=True):
                rows = VoteRows(pairs.labels, *some)
                found = values_on_circle(torch, rows, tables)
                values = ((found @ matrix) * weights).sum(1).clamp_(0.0, 1.0)
                where = places[rows.numbers.long()]
                if self.shares is not None:
                    values *= self.shares[component, where][:, None]
                if self.votes.every_class:
                    self.values[where, rows.targets.long()] += values[:, 0]
                else:
                    self.values[where] += values

    def parts(self, numbers: NDArray[np.intp], found: Floats | None) -> tuple[Floats]:
        """All values, on the host, with what the host found for the rows that were left."""
        from allsplits.orders.proposers.torch_distances import to_host

        (values,) = to_host(self.torch, [self.values])
        if found is not None:
            values[numbers - self.first] = found
        return (values,)
