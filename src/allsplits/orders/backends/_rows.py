"""Complete rows of distances, sorted as deep as needed, in threads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances

from allsplits._threads import map_row_ranges
from allsplits.exceptions import InvalidInputError
from allsplits.orders._kernels import (
    collect_near,
    direct_rows,
    finish_sorted_rows,
    mirror_rows,
)
from allsplits.orders._metric import Metric

__all__ = ["metric_rows", "sort_rows", "squared_rows"]

Array = NDArray[np.float64]


def squared_rows(
    queries: Array, transposed: Array, n_threads: int, *, symmetric: bool = False
) -> Array:
    """Squared Euclidean distances by differences; `transposed` has a column for each reference.

    `symmetric` says that the queries are the references.
    """
    out = np.empty((len(queries), transposed.shape[1]))
    # Mirroring one half costs as much as a few features.
    upper = symmetric and len(transposed) >= 8

    def fill(start: int, stop: int) -> None:
        direct_rows(transposed, queries, start, stop, upper, out)

    map_row_ranges(fill, len(queries), n_threads, smallest=8)
    if upper:
        map_row_ranges(lambda start, stop: mirror_rows(start, stop, out), len(out), n_threads)
    return out


def metric_rows(queries: Array, reference: Array, metric: Metric, n_threads: int) -> Array:
    """Distances by any metric whose scalings are fixed, checked for sense."""
    out = np.empty((len(queries), len(reference)))

    def fill(start: int, stop: int) -> None:
        out[start:stop] = pairwise_distances(
            queries[start:stop], reference, metric=metric.name, **metric.params
        )

    # A user's function may not be safe to call from several threads.
    map_row_ranges(fill, len(queries), 1 if callable(metric.name) else n_threads, smallest=8)
    if not (np.isfinite(out).all() and out.min() > -1e-12):
        raise InvalidInputError(
            f"metric {metric.name!r} must give finite distances that are not negative; "
            f"got {out.min()} to {out.max()}"
        )
    return np.maximum(out, 0.0)


def sort_rows(
    rows: Array,
    depth: int,
    n_candidates: int,
    n_threads: int,
    tolerance: float,
    floor: float,
) -> tuple[NDArray[np.int32], Array, NDArray[np.bool_], NDArray[np.int64]]:
    """Padded (items, keys, tied, lengths): the `depth` nearest and the tie group they end in.

    `rows` holds keys that grow with the distance, infinity for who is no candidate; no row has more
    than `n_candidates` others.
    """
    few = depth <= rows.shape[1] // 2
    thresholds, width = _near(rows, depth, n_threads, floor) if few else (rows, n_candidates)
    items = np.empty((len(rows), width), dtype=np.int32)
    keys = np.empty(items.shape)
    tied = np.empty(items.shape, dtype=bool)
    lengths = np.empty(len(rows), dtype=np.int64)

    def sort(start: int, stop: int) -> None:
        part = slice(start, stop)
        if few:
            collect_near(rows, thresholds, start, stop, items, keys)
            rank = np.argsort(keys[part], axis=1)
            items[part] = np.take_along_axis(items[part], rank, axis=1)
            keys[part] = np.take_along_axis(keys[part], rank, axis=1)
        else:
            rank = np.argsort(rows[part], axis=1)[:, :width]
            items[part] = rank
            keys[part] = np.take_along_axis(rows[part], rank, axis=1)
        finish_sorted_rows(items, keys, tied, lengths, start, stop, depth, tolerance, floor)

    map_row_ranges(sort, len(rows), n_threads, smallest=8)
    return items, keys, tied, lengths


def _near(rows: Array, depth: int, n_threads: int, floor: float) -> tuple[Array, int]:
    """How far the neighbours that are wanted reach in each row, and how many that are."""
    thresholds = np.empty(len(rows))
    counts = np.empty(len(rows), dtype=np.int64)

    def look(start: int, stop: int) -> None:
        part = slice(start, stop)
        kth = np.partition(rows[part], depth - 1, axis=1)[:, depth - 1]
        # A little past the last, so that a tie group is seen to end.
        thresholds[part] = kth * (1 + 1e-6) + rows.shape[1] * floor
        counts[part] = np.count_nonzero(rows[part] <= thresholds[part, None], axis=1)

    map_row_ranges(look, len(rows), n_threads, smallest=8)
    return thresholds, int(counts.max())
