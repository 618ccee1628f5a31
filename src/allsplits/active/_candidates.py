"""Which points may be asked about: rows of X, or points of their own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.active._labels import PartialLabels
from allsplits.active._rows import read_rows
from allsplits.exceptions import InvalidInputError
from allsplits.orders import Metric, Reference, read_queries

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Candidates:
    """Points to choose from, fetched block by block.

    Attributes
    ----------
    X : ndarray or SparsePoints
        Where they are, or their distances.
    numbers : ndarray or None
        Their row numbers in X; None for points that are not rows of X.
    n_rows : int
        Number of rows of whatever the answers' indices count: X, or the candidates.
    """

    X: Any
    metric: Metric
    labelled: NDArray[np.intp]
    numbers: NDArray[np.intp] | None
    n_rows: int

    def __len__(self) -> int:
        return self.n_rows if self.numbers is None else len(self.numbers)

    @property
    def indices(self) -> NDArray[np.intp]:
        """What each candidate is called in answers."""
        return np.arange(self.n_rows) if self.numbers is None else self.numbers

    def block(self, start: int, stop: int) -> Any:
        """Points (precomputed: rows of distances to the labelled samples) of some candidates."""
        rows = self.X[start:stop] if self.numbers is None else self.X[self.numbers[start:stop]]
        return rows[:, self.labelled] if self.metric.precomputed else rows

    def distances(
        self, positions: NDArray[np.intp], rows: NDArray[np.intp], n_threads: int
    ) -> Array:
        """Distances of the candidates at `positions` (rows of X) to some rows of X."""
        own = self.indices[positions]
        if self.metric.precomputed:
            table: Array = self.X[np.ix_(own, rows)]
            return table
        keys = Reference(self.X[rows], self.metric, n_threads).keys(self.X[own])
        return keys.transform(keys.rows)

    def distances_to(self, positions: NDArray[np.intp]) -> Callable[[int], Array]:
        """A function: sort keys of the candidates at `positions` to one of them."""
        points = self.X[self.indices[positions]]

        def keys(i: int) -> Array:
            if self.metric.precomputed:
                column: Array = points[:, self.indices[positions[i]]]
                return column
            return Reference(points[i : i + 1], self.metric, 1).keys(points).rows.ravel()

        return keys


def read_candidates(candidates: Any, X: Any, labels: PartialLabels, metric: Metric) -> Candidates:
    """Read `candidates` as scikit-activeml does: None, row numbers, or points."""
    if candidates is not None and getattr(candidates, "ndim", np.ndim(candidates)) > 1:
        return _own_points(candidates, X, labels, metric)
    numbers = (
        labels.unlabelled if candidates is None else read_rows("candidates", candidates, len(X))
    )
    if len(numbers) == 0:
        raise InvalidInputError(
            "candidates must hold at least one sample; got none"
            + (": every sample in y has a label" if candidates is None else "")
        )
    return Candidates(X, metric, labels.rows, numbers, len(X))


def _own_points(candidates: Any, X: Any, labels: PartialLabels, metric: Metric) -> Candidates:
    if metric.precomputed:
        raise InvalidInputError(
            "candidates must be rows of X or None with metric='precomputed'; got points"
        )
    points = read_queries(candidates, X, metric, name="candidates")
    return Candidates(points, metric, labels.rows, None, len(points))
