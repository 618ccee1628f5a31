"""Exact Euclidean and cosine orders with FAISS's flat index on the CPU.

FAISS proposes in float32, which is fast and loses digits; its candidates are verified in float64
(see `candidates`), so that the order is the same as that of the default search.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._optional import import_optional
from allsplits.orders.candidates import CandidateSearch
from allsplits.orders.default import full_euclidean_rows
from allsplits.orders.metric import Metric
from allsplits.orders.points import Points
from allsplits.orders.proposers.single import SinglePoints
from allsplits.orders.protocol import Search

Array = NDArray[np.float64]


def faiss_search(X: NDArray[Any], metric: Metric, depth: int, n_threads: int) -> Search:
    """Prepare a search with a flat index."""
    faiss = import_optional("faiss", extra="faiss", purpose="backend 'faiss'")
    points = Points(X, metric)
    full = full_euclidean_rows(points, depth, n_threads)
    proposers = [partial(_FlatProposer, faiss, points, n_threads)]
    return CandidateSearch(points, depth, n_threads, full, proposers, "faiss")


class _FlatProposer:
    """Candidates from a flat index of float32 points, centred and scaled to norms up to 1."""

    def __init__(self, faiss: Any, points: Points, n_threads: int) -> None:
        self.faiss, self.n_threads = faiss, n_threads
        self.single = SinglePoints(points)
        self.index = faiss.IndexFlatL2(points.shape[1])
        for block in points.blocks():
            self.index.add(self.single[block])

    def propose(self, start: int, stop: int, n_candidates: int) -> tuple[NDArray[np.int32], Array]:
        before = self.faiss.omp_get_max_threads()
        self.faiss.omp_set_num_threads(self.n_threads)
        try:
            squared, items = self.index.search(self.single[start:stop], n_candidates)
        finally:
            self.faiss.omp_set_num_threads(before)
        last = squared[:, -1].astype(np.float64) / self.single.scale**2
        return items.astype(np.int32), last - self.single.rounding[start:stop]
