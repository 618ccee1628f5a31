"""Candidates by scikit-learn: a tree where there are few features, brute force in float64 else."""

from contextlib import nullcontext
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from allsplits._threads import thread_count
from allsplits.orders.proposers.proposer import expanded_rounding

#: Up to this many features a k-d tree beats comparing with everybody (measured).
TREE_FEATURES = 5

Array = NDArray[np.float64]
Items = NDArray[np.int32]


class NearestProposer:
    """Proposes for the points themselves and for new ones."""

    def __init__(self, points: Array, n_threads: int) -> None:
        self.points = points
        self.n_threads = n_threads
        self.largest = max(points.max(), -points.min())
        tree = points.shape[1] <= TREE_FEATURES and len(points) > 2000
        # Centring keeps the norms, and with them the error of the expanded formula, small.
        self.centre = points.mean(axis=0)
        self.centred = points - self.centre
        self.search = NearestNeighbors(
            algorithm="kd_tree" if tree else "brute", n_jobs=n_threads
        ).fit(self.centred)

    def propose(self, start: int, stop: int, n_candidates: int) -> tuple[Items, Array]:
        """Candidates of the points start to stop and what all others exceed."""
        items, last = self._ask(self.centred[start:stop], n_candidates)
        return items, last - self._rounding[start:stop]

    def propose_to(self, queries: Array, n_candidates: int) -> tuple[Items, Array]:
        """Candidates of new points and what all others exceed."""
        centred = queries - self.centre
        items, last = self._ask(centred, n_candidates)
        largest = max(self.largest, np.abs(queries).max())
        return items, last - expanded_rounding(centred, self.centred, largest)

    @cached_property
    def _rounding(self) -> Array:
        return expanded_rounding(self.centred, self.centred, self.largest)

    def _ask(self, centred: Array, n_candidates: int) -> tuple[Items, Array]:
        # Looking up the thread pools takes milliseconds: only where it changes anything.
        limited = self.n_threads < thread_count(None)
        with threadpool_limits(self.n_threads) if limited else nullcontext():
            distances, found = self.search.kneighbors(centred, n_candidates)
        return found.astype(np.int32), distances[:, -1] ** 2
