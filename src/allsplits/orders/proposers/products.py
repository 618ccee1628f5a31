"""Candidates from products in single precision: one matrix product and a selection.

For the order of a row, |y|² - 2xy is as good as the distance, and both terms are one product of
vectors with one more entry. Products in float32 take half the time of float64, and selecting by
minima of groups (see `kernels_select`) takes less than the heaps that a general search keeps.
"""

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from allsplits._threads import map_row_ranges
from allsplits.orders.kernels_select import collect_below, group_minima
from allsplits.orders.proposers.single import SinglePoints

#: Scores that a thread holds at a time: rows of them should stay in its cache.
_SCORES_PER_THREAD = 1 << 21
#: Scores that all threads may hold together, whatever n is (1 GiB).
_MOST_SCORES = 1 << 28
#: Members of a group: more make fewer minima, and more places to look at afterwards (measured).
_MOST_STRIPES = 24
#: Farther than every sample: single-precision points have norms up to 1.
_FAR = np.float32(1e30)

Array = NDArray[np.float64]


class ProductProposer:
    """Proposes whoever is not certainly farther than the wanted candidates."""

    def __init__(self, points: Array, n_threads: int) -> None:
        self.n_threads = n_threads
        single = SinglePoints(points)
        self.rounding, self.scale = single.rounding, single.scale
        self.squares = np.einsum("ij,ij->i", single.points, single.points, dtype=np.float64)
        self.queries = np.ones((len(points), points.shape[1] + 1), dtype=np.float32)
        self.queries[:, :-1] = single.points
        self.stripes = 0

    def propose(self, start: int, stop: int, n_candidates: int) -> tuple[NDArray[np.int32], Array]:
        """Candidates of the rows start to stop, ended by -1, and what all others exceed."""
        n = len(self.queries)
        self._lay_out(max(1, min(_MOST_STRIPES, n // (6 * n_candidates))))
        words = np.empty((stop - start, 2 * n_candidates), dtype=np.int64)
        reach = np.empty(stop - start)
        step = max(32, min(256, _SCORES_PER_THREAD // n))
        step = max(1, min(step, _MOST_SCORES // (n * self.n_threads)))

        def search(first: int, last: int) -> None:
            for low in range(first, last, step):
                part = slice(low, min(low + step, last))
                numbers = slice(start + low, start + part.stop)
                reach[part] = self._nearest(numbers, n_candidates, words[part])

        # One product in each thread; many threads for one small product would wait for each other.
        with threadpool_limits(1, user_api="blas"):
            map_row_ranges(search, stop - start, self.n_threads, smallest=step)
        return words.astype(np.int32), reach - self.rounding[start:stop]

    def _lay_out(self, stripes: int) -> None:
        """Put the references in columns, filled up to whole stripes."""
        if stripes == self.stripes:
            return
        self.stripes = stripes
        self.n_groups = -(-len(self.queries) // stripes)
        n_features = self.queries.shape[1] - 1
        self.columns = np.zeros((n_features + 1, stripes * self.n_groups), dtype=np.float32)
        np.multiply(self.queries[:, :-1].T, -2, out=self.columns[:-1, : len(self.queries)])
        self.columns[-1] = _FAR
        self.columns[-1, : len(self.queries)] = self.squares

    def _nearest(self, rows: slice, n_candidates: int, words: NDArray[np.int64]) -> Array:
        """Fill in sorted words of some rows; how far they reach, nowhere if there was no room."""
        scores = self.queries[rows] @ self.columns
        minima = np.empty((len(scores), self.n_groups), dtype=np.float32)
        group_minima(scores, self.n_groups, minima)
        kth = np.partition(minima, n_candidates - 1, axis=1)[:, n_candidates - 1]
        # Whoever may be tied with the last is taken as well.
        slack = 2 * self.rounding[rows] * self.scale**2
        thresholds = (kth + slack).astype(np.float32)
        complete = np.empty(len(scores), dtype=bool)
        collect_below(scores, scores.view(np.int32), minima, thresholds, words, complete)
        words.sort(axis=1)
        reach = (thresholds + self.squares[rows]) / self.scale**2
        return np.where(complete, reach, -np.inf)
