"""Exact neighbour orders on the CPU: the default search.

Euclidean geometry (Euclidean, squared, cosine, correlation), shallow orders: products in float32
propose candidates, which are verified in float64 (see `products`, `candidates`); scikit-learn
proposes where a tree is faster, and in float64 where float32 is not precise enough. Deep orders and
all other metrics: full rows of distances, block by block; of long Euclidean ones only what is
within a limit is written (see `limits`).
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.orders.candidates import CandidateSearch
from allsplits.orders.full_rows import ENTRIES_PER_BLOCK, FullRowSearch
from allsplits.orders.limits import LONG_ROW, LimitedSearch
from allsplits.orders.metric import Metric
from allsplits.orders.metric_rows import metric_rows
from allsplits.orders.points import Points
from allsplits.orders.proposers.products import ProductProposer
from allsplits.orders.proposers.proposer import Proposer
from allsplits.orders.proposers.tree import TREE_FEATURES, NearestProposer
from allsplits.orders.protocol import Search

Array = NDArray[np.float64]


def exact_search(X: NDArray[Any], metric: Metric, depth: int, n_threads: int) -> Search:
    """Prepare the search that fits the metric and the depth."""
    if not metric.squares_fit(X):
        X = np.asarray(X, dtype=np.float64)
        return FullRowSearch(_metric_rows(X, metric, n_threads), len(X), depth, n_threads)
    points = Points(X, metric)
    full = full_euclidean_rows(points, depth, n_threads)
    if full_rows_are_cheaper(*points.shape, depth, mirrored=len(X) ** 2 <= ENTRIES_PER_BLOCK):
        return full
    proposers: list[Callable[[], Proposer]] = [lambda: NearestProposer(points[:], n_threads)]
    if points.shape[1] > TREE_FEATURES:
        proposers.insert(0, partial(ProductProposer, points, n_threads))
    return CandidateSearch(points, depth, n_threads, full, proposers)


def full_euclidean_rows(points: Points, depth: int, n_threads: int) -> FullRowSearch:
    """Complete rows of squared distances by differences."""
    rows = partial(points.squared_rows, n_threads=n_threads)
    metric = points.metric
    limited = LimitedSearch(points, n_threads) if len(points) > LONG_ROW else None
    return FullRowSearch(
        rows, len(points), depth, n_threads, metric.from_squared, metric.squared_ties, limited
    )


def full_rows_are_cheaper(
    n_samples: int, n_features: int, depth: int, *, mirrored: bool = False, new: bool = False
) -> bool:
    """Compare the work per row, in nanoseconds (measured; it decides speed only).

    Full rows: all differences, or one half of them if the other is `mirrored`, and the sort; where
    rows are long most of them is never written. Candidates: the product, one half of it unless
    points are `new`, and the selection, the differences of the candidates, and a start that takes
    milliseconds however small the data are, and more where it is compiled first.
    """
    if mirrored:
        pair = 3.2 + n_features / 50
    else:
        pair = (1.1 if n_samples > LONG_ROW else 2.2) + n_features / 24
    full = n_samples * pair + 15 * depth
    start = 5000 if new else 2500 + 1.5e7 / n_samples
    proposing = n_samples * (0.7 + n_features / 70) + start
    verifying = depth * (90 + 0.55 * n_features)
    return full < proposing + verifying


def _metric_rows(X: Array, metric: Metric, n_threads: int) -> Callable[[NDArray[np.intp]], Array]:
    fixed = metric.fixed_by_sample(X)

    def rows(numbers: NDArray[np.intp]) -> Array:
        if fixed.precomputed:
            return np.array(X[numbers], dtype=np.float64)
        return metric_rows(X[numbers], X, fixed, n_threads)

    return rows
