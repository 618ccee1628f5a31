"""What the candidates of rows do for them: the common form, and the way that serves every vote.

Rows in which nothing shorter is known are valued once for every different list that is left when a
candidate is struck (`strikes`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.question import own_rows
from allsplits.exact.strikes import Strikes, batches, struck_rows
from allsplits.orders import NeighborOrder

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]


class RowInfluences(NamedTuple):
    """What candidates do for the rows of a block.

    Attributes
    ----------
    entries : array of shape (entries,)
        Of the candidates that are in the rows.
    far : array of shape (rows, scopes)
        Of any other candidate: all of them do the same, or all of a class.
    doubts : array of shape (rows,), or 0
        No influence on a row is off by more, besides what is known before.
    """

    entries: Floats
    far: Floats
    doubts: Floats | float = 0.0


class RowValues(NamedTuple):
    """What rows are worth, and how far each may be off, besides what is known before."""

    values: Floats
    doubts: Floats | float = 0.0


class InfluencePart(Protocol):
    """Rows of a block -> what their candidates do."""

    def __call__(self, order: NeighborOrder, n_threads: int) -> RowInfluences:
        """What the candidates of these rows do."""


@dataclass(frozen=True, eq=False)
class ListVotes:
    """Values of rows, complete and with a candidate gone.

    Attributes
    ----------
    whole : callable
        (order, n_threads) -> values of complete rows.
    less : callable
        (order, gone, n_threads) -> values of rows that lack a candidate of class `gone`.
    factors : array of shape (classes, classes)
        What the difference counts, by the row's own class and the candidate's; ones without
        `pools`.
    pools : array of shape (classes, classes) or None
        Candidates of each class (last) for a question of each, if it matters of which class a
        candidate is that is not in the row.
    """

    whole: Callable[[NeighborOrder, int], RowValues]
    less: Callable[[NeighborOrder, Codes, int], RowValues]
    factors: Floats
    pools: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False)
class ListByList:
    """Influences from the values of all different lists.

    Attributes
    ----------
    votes : ListVotes
    codes : array
        Classes of the samples and of further questions; zeros for targets.
    average : bool
        Whether tied neighbours are averaged over.
    runs : bool
        Whether neighbours of one class are all the same.
    """

    votes: ListVotes
    codes: Codes
    average: bool
    runs: bool = True

    def __call__(self, order: NeighborOrder, n_threads: int) -> RowInfluences:
        """Every list once."""
        own, gone = self.codes[own_rows(order)], self.codes[order.flat_indices]
        strikes = Strikes.of(order, gone if self.runs else None, self.average)
        lists, factors = gone[strikes.entries], self.votes.factors
        whole, doubts = self.votes.whole(order, n_threads)
        change, off = whole[strikes.rows], np.zeros(len(strikes.rows))
        for batch in batches(order, strikes.rows):
            struck = struck_rows(order, strikes.rows[batch], strikes.entries[batch])
            less = self.votes.less(struck, lists[batch], n_threads)
            change[batch] -= less.values
            off[batch] = less.doubts
        counted = factors[own[strikes.rows], lists]
        far, far_doubts = self._far(order, RowValues(whole, doubts), own, n_threads)
        doubts = np.zeros(len(own)) + doubts
        far_doubts = np.maximum.reduce(far_doubts, axis=1)
        np.maximum.at(far_doubts, strikes.rows, (doubts[strikes.rows] + off) * counted)
        return RowInfluences((change * counted)[strikes.of_entry], far, far_doubts)

    def _far(
        self, order: NeighborOrder, whole: RowValues, own: Codes, n_threads: int
    ) -> tuple[Floats, Floats]:
        """What candidates that are not in the rows do, and how far that may be off."""
        doubts = np.zeros((len(own), 1)) + np.reshape(whole.doubts, (-1, 1))
        if self.votes.pools is not None:
            factors = self.votes.factors[own]
            values, off = self._far_classes(order, self.votes.pools, whole, n_threads)
            return (whole.values[:, None] - values) * factors, (doubts + off) * factors
        every = struck_rows(order, np.arange(len(own)), np.full(len(own), -1))
        less = self.votes.less(every, np.zeros(len(own), dtype=np.int32), n_threads)
        return (whole.values - less.values)[:, None], doubts + np.reshape(less.doubts, (-1, 1))

    def _far_classes(
        self, order: NeighborOrder, pools: NDArray[np.int64], whole: RowValues, n_threads: int
    ) -> tuple[Floats, Floats]:
        """Values and doubts of rows that lack a candidate of a class that is not among them.

        Only classes are asked for that a row has met, and not completely: without any of its
        candidates near, it does not matter how many a class has.
        """
        n_classes = len(pools)
        rows = np.repeat(np.arange(order.n_samples), np.diff(order.indptr))
        pairs, met = np.unique(
            rows * n_classes + self.codes[order.flat_indices], return_counts=True
        )
        numbers, classes = pairs // n_classes, (pairs % n_classes).astype(np.int32)
        some = met < pools[self.codes[own_rows(order)][numbers], classes]
        numbers, classes = numbers[some], classes[some]
        far = np.repeat(whole.values[:, None], n_classes, axis=1)
        off = np.zeros(far.shape) + np.reshape(whole.doubts, (-1, 1))
        if len(numbers):
            near = struck_rows(order, numbers, np.full(len(numbers), -1))
            less = self.votes.less(near, classes, n_threads)
            far[numbers, classes], off[numbers, classes] = less
        return far, off


def redo_rows(
    found: RowInfluences,
    order: NeighborOrder,
    some: NDArray[np.bool_],
    part: ListByList,
    n_threads: int,
) -> RowInfluences:
    """What was found, with the rows `some` computed list by list instead."""
    numbers = np.flatnonzero(some)
    if len(numbers) == 0:
        return found
    rows = struck_rows(order, numbers, np.full(len(numbers), -1))
    again = part(replace(rows, n_candidates=order.n_candidates), n_threads)
    found.entries[np.repeat(some, np.diff(order.indptr))] = again.entries
    found.far[some] = again.far
    return found
