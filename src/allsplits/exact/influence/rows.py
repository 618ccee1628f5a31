"""What the candidates of rows do for them: the common form, and the way that serves every vote.

Rows in which nothing shorter is known are valued once for every different list that is left when a
candidate is struck (`strikes`).
"""

from collections.abc import Callable
from dataclasses import dataclass
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
    """

    entries: Floats
    far: Floats


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
        What the difference counts, by the row's own class and the candidate's; ones unless
        `by_class`.
    by_class : bool
        Whether it matters of which class a candidate is that is not in the row.
    """

    whole: Callable[[NeighborOrder, int], Floats]
    less: Callable[[NeighborOrder, Codes, int], Floats]
    factors: Floats
    by_class: bool = False


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
        whole = self.votes.whole(order, n_threads)
        change = whole[strikes.rows]
        for batch in batches(order, strikes.rows):
            struck = struck_rows(order, strikes.rows[batch], strikes.entries[batch])
            change[batch] -= self.votes.less(struck, lists[batch], n_threads)
        change *= factors[own[strikes.rows], lists]
        far = whole[:, None] - self._far(order, whole, gone, n_threads)
        if self.votes.by_class:
            far *= factors[own]
        return RowInfluences(change[strikes.of_entry], far)

    def _far(self, order: NeighborOrder, whole: Floats, gone: Codes, n_threads: int) -> Floats:
        """Values of rows that lack a candidate that is not among them, by its class.

        Only classes that the row has met are asked for; without any of its candidates near, it does
        not matter how many a class has.
        """
        n_rows, n_classes = order.n_samples, len(self.votes.factors)
        if not self.votes.by_class:
            every = struck_rows(order, np.arange(n_rows), np.full(n_rows, -1))
            return self.votes.less(every, np.zeros(n_rows, dtype=np.int32), n_threads)[:, None]
        rows = np.repeat(np.arange(n_rows), np.diff(order.indptr))
        pairs = np.unique(rows * n_classes + gone)
        numbers, classes = pairs // n_classes, (pairs % n_classes).astype(np.int32)
        some = struck_rows(order, numbers, np.full(len(numbers), -1))
        far = np.repeat(whole[:, None], n_classes, axis=1)
        far[numbers, classes] = self.votes.less(some, classes, n_threads)
        return far
