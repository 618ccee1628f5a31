"""How long a neighbour search will take, roughly: from counts of operations, before it starts.

The constants were measured on one core of an ordinary server; they decide about a warning only.
"""

from typing import Any

import numpy as np

from allsplits.orders.backends import choose_backend
from allsplits.orders.metric import Metric
from allsplits.orders.order import NeighborOrder

#: Nanoseconds for a pair of samples: a fixed part and one for each feature.
_FULL_ROW = 1.2, 0.045
_PROPOSING = 4.0, 0.1
_OTHER_METRIC = 5.0, 1.0
_CALLABLE = 5000.0, 0.0
#: Nanoseconds for a neighbour of a sorted row, and for one that is proposed and verified.
_SORTING = 14.0
_VERIFYING = 90.0, 0.55


def search_seconds(X: Any, metric: Metric, depth: int, backend: str, queries: Any = None) -> float:
    """Seconds of one core that the search on this machine's processor takes; 0 for any other.

    The samples are searched for, or `queries` from outside.
    """
    if isinstance(X, NeighborOrder) or not isinstance(X, np.ndarray):
        return 0.0
    if (choose_backend(X, metric) if backend == "auto" else backend) != "exact":
        return 0.0
    n, n_features = float(len(X if queries is None else queries)), int(X.shape[1])

    def pairs(cost: tuple[float, float]) -> float:
        return n * len(X) * (cost[0] + cost[1] * n_features)

    sorting = n * depth * _SORTING
    if metric.precomputed:
        return 1e-9 * (pairs((1.0, 0.0)) + sorting)
    if not metric.is_euclidean:
        return 1e-9 * (pairs(_CALLABLE if callable(metric.name) else _OTHER_METRIC) + sorting)
    verifying = n * depth * (_VERIFYING[0] + _VERIFYING[1] * n_features)
    return 1e-9 * min(pairs(_FULL_ROW) + sorting, pairs(_PROPOSING) + verifying)
