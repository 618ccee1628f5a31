"""Rows of an order with one candidate taken out: what is left if a sample is gone from the data.

Which candidate it is matters only through the list that is left. Neighbours of one class that
follow each other, or are tied, leave the same list, so few lists stand for many candidates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits.exact._kernels_strikes import add_changes, copy_struck, number_strikes
from allsplits.exact.kernel_types import Rows
from allsplits.orders import NeighborOrder

Floats = NDArray[np.float64]

#: Entries of struck rows that are held at once.
_MOST_ENTRIES = 1 << 22
#: Changes that are held at once, for entries and columns (32 MiB).
_MOST_CHANGES = 1 << 22


class Candidates(NamedTuple):
    """Rows whose candidates are struck.

    Attributes
    ----------
    rows : Rows
        The classes.
    numbers : array of shape (entries,)
        The samples that the entries are.
    weights : array of shape (classes, components, classes)
        What a row counts if a sample of a class (first) is gone, by its own class (last).
    sizes : array
        The number of samples; by class where laws are of class counts.
    keep : bool
        Whether what striking an entry changes is to be kept.
    """

    rows: Rows
    numbers: NDArray[np.int32]
    weights: Floats
    sizes: NDArray[np.int64]
    keep: bool = False

    @property
    def n_samples(self) -> int:
        """Of all classes."""
        return int(self.sizes.sum())

    def batches(self, n_columns: int) -> Iterator[Batch]:
        """Consecutive rows whose changes are held at once."""
        indptr, labels, tied, own = self.rows
        most = _MOST_CHANGES // n_columns
        first = 0
        while first < len(own):
            last = int(np.searchsorted(indptr, indptr[first] + most, side="right")) - 1
            last = max(last, first + 1)
            lines, entries = slice(first, last), slice(int(indptr[first]), int(indptr[last]))
            some = Rows(
                indptr[first : last + 1] - indptr[first], labels[entries], tied[entries], own[lines]
            )
            yield Batch(some, lines, entries, np.arange(len(some.labels), dtype=np.int32))
            first = last


class Batch(NamedTuple):
    """Some rows, where they and their entries are, and the numbers of the entries among them."""

    rows: Rows
    lines: slice
    entries: slice
    numbers: NDArray[np.int32]


class Changes:
    """What striking the entries of rows changes, as it is found: summed up, squared, kept.

    Attributes
    ----------
    hits : array of shape (samples, columns)
        Sums for each sample.
    squares : array of shape (columns,)
        Sums of the squares of all entries, centred within rows.
    kept : array of shape (entries, columns) or None
    """

    def __init__(self, given: Candidates, n_columns: int) -> None:
        self._given = given
        self.hits = np.zeros((given.n_samples, n_columns))
        self.squares = np.zeros(n_columns)
        self.kept = np.zeros((len(given.numbers), n_columns)) if given.keep else None

    def add(self, batch: Batch, columns: slice, changes: Floats) -> None:
        """Add what was found for a batch and columns; each thread has columns of its own."""
        # Columns side by side in memory.
        hits, squares = np.zeros((len(self.hits), changes.shape[1])), np.zeros(changes.shape[1])
        numbers = self._given.numbers[batch.entries]
        add_changes(batch.rows, self._given.sizes, numbers, changes, hits, squares)
        self.hits[:, columns] += hits
        self.squares[columns] += squares
        if self.kept is not None:
            self.kept[batch.entries, columns] = changes


class Struck(NamedTuple):
    """What rows are worth, and what striking samples changes.

    Attributes
    ----------
    sums : array of shape (classes, columns)
        What all rows add to the score together if a far sample of a class is gone.
    own : array of shape (rows, columns)
        What each row adds if a sample of its class is gone.
    changes : Changes
        What striking samples changes.
    """

    sums: Floats
    own: Floats
    changes: Changes

    @classmethod
    def of_one_law(cls, changes: Changes, bases: Floats, given: Candidates) -> Struck:
        """From what rows are worth if a sample is gone, whatever its class."""
        own, weights = given.rows.own, given.weights[:, 0]
        of_class = np.zeros((len(weights), bases.shape[1]))
        np.add.at(of_class, own, bases)
        return cls(weights @ of_class, bases * weights[own, own][:, None], changes)


@dataclass(frozen=True, eq=False)
class Strikes:
    """All different lists that are left when a candidate is taken out of a row.

    Attributes
    ----------
    order : NeighborOrder
        The rows.
    of_entry : ndarray of shape (entries,)
        The list that is left without each entry.
    rows, entries : ndarray of shape (lists,)
        The row that each list comes from, and an entry that it lacks.
    """

    order: NeighborOrder
    of_entry: NDArray[np.int64]
    rows: NDArray[np.int64]
    entries: NDArray[np.int64]

    @classmethod
    def of(cls, order: NeighborOrder, kinds: NDArray[np.int32] | None, average: bool) -> Strikes:
        """Of entries with these classes; None if each is different from all others."""
        n_entries = len(order.flat_indices)
        of_entry = np.arange(n_entries)
        n_lists = n_entries
        if kinds is not None:
            tied = order.tied if average else np.zeros(n_entries, dtype=bool)
            n_kinds = int(kinds.max(initial=0)) + 1
            n_lists = number_strikes(order.indptr, kinds, tied, n_kinds, of_entry)
        entries = np.empty(n_lists, dtype=np.int64)
        entries[of_entry[::-1]] = np.arange(n_entries)[::-1]
        rows = np.searchsorted(order.indptr, entries, side="right") - 1
        return cls(order, of_entry, rows, entries)


def struck_rows(
    order: NeighborOrder, rows: NDArray[np.int64], entries: NDArray[np.int64]
) -> NeighborOrder:
    """These rows, each without one entry (-1: complete), as an order of their own."""
    lengths = np.diff(order.indptr)[rows] - (entries >= 0)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    kept = np.empty(indptr[-1], dtype=np.int64)
    tied = np.empty(indptr[-1], dtype=bool)
    copy_struck(order.indptr, order.tied, rows, entries, indptr, kept, tied)
    numbers = rows + order.first_row if order.numbers is None else order.numbers[rows]
    return replace(
        order,
        indptr=indptr,
        flat_indices=order.flat_indices[kept],
        flat_distances=order.flat_distances[kept],
        tied=tied,
        depth=int(lengths.min(initial=order.depth)),
        n_candidates=order.n_candidates - 1,
        numbers=numbers,
    )


def batches(order: NeighborOrder, rows: NDArray[np.int64]) -> list[slice]:
    """Consecutive lists of these rows that are held at once."""
    ends = np.cumsum(np.diff(order.indptr)[rows])
    cuts = np.searchsorted(ends, np.arange(_MOST_ENTRIES, ends.max(initial=0), _MOST_ENTRIES))
    edges = np.unique([0, *cuts, len(rows)]).tolist()
    return [slice(*pair) for pair in pairwise(edges)]
