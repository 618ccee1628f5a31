"""Every set of classes that an episode may have, gone through one by one: each is class counts.

A query meets the sets that hold its own class, all of them alike.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.question import Question, own_rows
from allsplits.exact.strikes import struck_rows
from allsplits.exceptions import UnsupportedError
from allsplits.orders import NeighborOrder
from allsplits.splits import EpisodeLaw

#: Sets of classes that are gone through for more than one neighbour.
_MOST_CLASS_SETS = 2000


@dataclass(frozen=True, eq=False)
class ClassSets:
    """The sets of classes of all episodes.

    Attributes
    ----------
    there : array of shape (sets, classes)
        1 for the classes of a set.
    trains : list of tuple
        Support items of each class.
    share : float
        What a set counts for a query whose class it holds.
    """

    there: NDArray[np.int64]
    trains: list[tuple[int, ...]]
    share: float

    @classmethod
    def of(
        cls, question: Question, law: EpisodeLaw, fewer: str = "n_neighbors (or R) must be 1"
    ) -> "ClassSets":
        """Raise if there are too many; `fewer` says what would need none."""
        n_classes = question.n_classes
        n_sets = comb(n_classes, law.n_way)
        if n_sets > _MOST_CLASS_SETS:
            raise UnsupportedError(
                f"{fewer} for {law} of {n_classes} classes: more goes "
                f"through every set of classes, {n_sets:,} of them here, and at most "
                f"{_MOST_CLASS_SETS:,} are supported. Use fewer classes, or ClassCounts, which has "
                "all of them in every training set"
            )
        there = np.zeros((n_sets, n_classes), dtype=np.int64)
        for line, chosen in zip(there, combinations(range(n_classes), law.n_way), strict=True):
            line[list(chosen)] = 1
        trains = [tuple(line) for line in (law.k_shot * there).tolist()]
        return cls(there, trains, 1 / comb(n_classes - 1, law.n_way - 1))

    def rows(
        self, order: NeighborOrder, codes: NDArray[np.int32]
    ) -> Iterator[tuple[int, NDArray[np.intp], NeighborOrder]]:
        """(number of a set, the rows whose class it holds, these rows)."""
        own = codes[own_rows(order)]
        for number, line in enumerate(self.there):
            rows = np.flatnonzero(line[own])
            if len(rows):
                yield number, rows, struck_rows(order, rows, np.full(len(rows), -1))
