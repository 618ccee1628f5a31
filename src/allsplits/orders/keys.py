"""What references are sorted by for queries that are not among them: rows of keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits.orders.metric import Metric
from allsplits.orders.metric_rows import metric_rows
from allsplits.orders.squares import has_tiny_values
from allsplits.orders.ties import Ties
from allsplits.orders.verify import squared_rows

__all__ = ["Keys", "ReferenceKeys"]

Array = NDArray[np.float64]


class Keys(NamedTuple):
    """Rows of keys, which of them are tied, and how they become distances."""

    rows: Array
    ties: Ties
    transform: Callable[[Array], Array]


class ReferenceKeys:
    """Prepares a reference set once; with ``metric="precomputed"`` queries are their distances.

    Attributes
    ----------
    points : ndarray or None
        Points whose squared Euclidean distances are the keys, where the metric allows it.
    """

    def __init__(self, reference: Array, metric: Metric, n_threads: int) -> None:
        self.reference = reference
        self.metric = metric
        self.n_threads = n_threads
        self.points: Array | None = None
        if self._squares_fit(reference):
            self.points = np.ascontiguousarray(metric.euclidean_points(reference), np.float64)
            self.transposed = np.ascontiguousarray(self.points.T)

    def of(self, queries: Array) -> Keys:
        """Keys of each query."""
        at = self.query_points(queries)
        if at is not None:
            rows = squared_rows(at, self.transposed, self.n_threads)
            return Keys(rows, self.metric.squared_ties, self.metric.from_squared)
        if self.metric.precomputed:
            rows = np.array(queries, dtype=np.float64)
        else:
            rows = metric_rows(queries, self.reference, self.metric, self.n_threads)
        return Keys(rows, Ties(), np.asarray)

    def query_points(self, queries: Array) -> Array | None:
        """Queries in the geometry of `points`, or None where squared distances do not serve."""
        if self.points is None or not self._squares_fit(queries):
            return None
        return np.ascontiguousarray(self.metric.euclidean_points(queries), np.float64)

    def _squares_fit(self, points: Array) -> bool:
        # A query and a reference may be close where neither set holds two that are.
        return self.metric.is_euclidean and (
            self.metric.of_directions or not has_tiny_values(points)
        )
