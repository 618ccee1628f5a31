"""Candidates by scikit-learn: a tree where there are few features, brute force in float64 else."""

from contextlib import nullcontext
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KDTree, NearestNeighbors
from threadpoolctl import threadpool_limits

from allsplits._threads import map_row_ranges, thread_count
from allsplits.orders.proposers.proposer import expanded_rounding, row_norms

#: Up to this many features a k-d tree beats comparing with everybody (measured).
TREE_FEATURES = 5

Array = NDArray[np.float64]
Items = NDArray[np.int32]


class NearestProposer:
    """Proposes for the points themselves and for new ones."""

    def __init__(self, points: Array, n_threads: int) -> None:
        self.n_threads = n_threads
        self.largest = max(points.max(), -points.min())
        # Centring keeps the norms, and with them the error of the expanded formula, small.
        self.centre = points.mean(axis=0)
        self.centred = points - self.centre
        self.farthest = float(row_norms(self.centred).max())
        tree = points.shape[1] <= TREE_FEATURES and len(points) > 2000
        self.tree = KDTree(self.centred, leaf_size=30) if tree else None
        if not tree:
            self.brute = NearestNeighbors(algorithm="brute", n_jobs=n_threads).fit(self.centred)

    def propose(self, start: int, stop: int, n_candidates: int) -> tuple[Items, Array]:
        """Candidates of the points start to stop and what all others exceed."""
        items, last = self._ask(self.centred[start:stop], n_candidates)
        return items, last - self._rounding[start:stop]

    def propose_to(self, queries: Array, n_candidates: int) -> tuple[Items, Array]:
        """Candidates of new points and what all others exceed."""
        centred = queries - self.centre
        items, last = self._ask(centred, n_candidates)
        largest = max(self.largest, np.abs(queries).max())
        return items, last - self._bound(centred, largest)

    @cached_property
    def _rounding(self) -> Array:
        return self._bound(self.centred, self.largest)

    def _bound(self, centred: Array, largest: float) -> Array:
        n_features = centred.shape[1]
        return expanded_rounding(row_norms(centred), n_features, self.farthest, largest)

    def _ask(self, centred: Array, n_candidates: int) -> tuple[Items, Array]:
        """Candidates, and the squared distance of the last."""
        if self.tree is not None:
            return self._ask_tree(self.tree, centred, n_candidates)
        # Looking up the thread pools takes milliseconds: only where it changes anything.
        limited = self.n_threads < thread_count(None)
        with threadpool_limits(self.n_threads) if limited else nullcontext():
            distances, found = self.brute.kneighbors(centred, n_candidates)
        return found.astype(np.int32), distances[:, -1] ** 2

    def _ask_tree(self, tree: Any, centred: Array, n_candidates: int) -> tuple[Items, Array]:
        # By itself: within NearestNeighbors, starting and ending its threads takes milliseconds.
        found = np.empty((len(centred), n_candidates), dtype=np.int32)
        last = np.empty(len(centred))

        def query(start: int, stop: int) -> None:
            distances, items = tree.query(centred[start:stop], n_candidates)
            found[start:stop], last[start:stop] = items, distances[:, -1]

        map_row_ranges(query, len(centred), self.n_threads)
        return found, last**2
