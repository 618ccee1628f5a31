"""Complete rows of distances by any metric, in threads.

By differences wherever there are any, so that identical rows are at distance 0 whatever else is in
the data and however it is cut into blocks. scikit-learn's own functions for Euclidean distances
with NaN, cosine and correlation expand the square and lose that.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import DistanceMetric, pairwise_distances

from allsplits._threads import map_row_ranges
from allsplits.exceptions import InvalidInputError
from allsplits.orders.kernels_distances import form_rows, norm_rows
from allsplits.orders.metric import Metric
from allsplits.orders.squares import SMALLEST, has_tiny_values

Array = NDArray[np.float64]
#: Fills the rows start to stop of the distances.
Fill = Callable[[int, int], None]


def metric_rows(queries: Array, reference: Array, metric: Metric, n_threads: int) -> Array:
    """Distances by any metric whose scalings are fixed, checked for sense."""
    out = np.empty((len(queries), len(reference)))
    fill = _filler(queries, reference, metric, out)
    # A user's function may not be safe to call from several threads.
    map_row_ranges(fill, len(queries), 1 if callable(metric.name) else n_threads, smallest=8)
    if metric.name == "sqeuclidean":
        np.square(out, out=out)
    if metric.allows_nan and np.isnan(out).any():
        raise InvalidInputError(
            "X must hold, for every two samples, a feature that neither of them lacks "
            f"(metric {metric.name!r}); got two that have none in common"
        )
    if not (np.isfinite(out).all() and out.min() > -1e-12):
        raise InvalidInputError(
            f"metric {metric.name!r} must give finite distances that are not negative; "
            f"got {out.min()} to {out.max()}"
        )
    return np.maximum(out, 0.0, out=out)


def _filler(queries: Array, reference: Array, metric: Metric, out: Array) -> Fill:
    """Whoever computes the distances of a range of queries."""
    name, params = metric.name, metric.params
    if name in ("euclidean", "sqeuclidean", "nan_euclidean", "minkowski", "seuclidean"):
        scales, p = _norm(metric, queries.shape[1])
        here, there = np.ascontiguousarray(queries), np.ascontiguousarray(reference)
        return lambda start, stop: norm_rows(here, there, scales, p, start, stop, out)
    if name == "mahalanobis":
        form = np.ascontiguousarray(params["VI"])
        here, there = np.ascontiguousarray(queries), np.ascontiguousarray(reference)
        return lambda start, stop: form_rows(here, there, form, start, stop, out)
    if name == "haversine" and (has_tiny_values(queries) or has_tiny_values(reference)):
        raise InvalidInputError(
            f"X must hold angles that are 0 or at least {SMALLEST:.0e} for metric 'haversine', so "
            "that squares do not underflow; got a smaller one"
        )
    between = _pairwise(metric, queries, reference)

    def fill(start: int, stop: int) -> None:
        out[start:stop] = between(start, stop)

    return fill


def _norm(metric: Metric, n_features: int) -> tuple[Array, float]:
    """(factor of each feature, exponent) of a metric that is a norm of the difference."""
    p = float(metric.params.get("p", 2))
    if metric.name == "seuclidean":
        return 1 / np.sqrt(metric.params["V"]), p
    weights = metric.params.get("w")
    if weights is None:
        return np.ones(n_features), p
    # An infinite exponent asks only who has a weight.
    return (weights > 0).astype(np.float64) if np.isinf(p) else weights ** (1 / p), p


def _pairwise(metric: Metric, queries: Array, reference: Array) -> Callable[[int, int], Any]:
    """Distances of a range of queries, as scikit-learn computes them."""
    if metric.name == "braycurtis":
        # The estimators' value: pairwise_distances has another one for negative numbers.
        by_trees = DistanceMetric.get_metric("braycurtis")
        here, there = np.ascontiguousarray(queries), np.ascontiguousarray(reference)
        return lambda start, stop: by_trees.pairwise(here[start:stop], there)
    if not metric.boolean:
        return lambda start, stop: pairwise_distances(
            queries[start:stop], reference, metric=metric.name, **metric.params
        )
    some, others = queries != 0, reference != 0
    none, none_there = ~some.any(axis=1), ~others.any(axis=1)

    def between(start: int, stop: int) -> Any:
        found = pairwise_distances(some[start:stop], others, metric=metric.name, **metric.params)
        # Nothing is true in either row: they are the same, though their ratio is 0 / 0.
        found[np.isnan(found) & none[start:stop, None] & none_there] = 0.0
        return found

    return between
