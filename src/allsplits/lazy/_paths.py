"""Predictions and leave-one-out errors of all local models of a block of queries."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.lazy._kernels import constant_paths
from allsplits.lazy._kernels_polynomial import polynomial_paths
from allsplits.lazy._plan import Plan, SizeRange, count_terms

Array = NDArray[np.float64]


class LocalData(NamedTuple):
    """What local models are made of."""

    points: Array
    targets: Array
    ridge: float
    free_intercept: bool


class Family(NamedTuple):
    """Models of one degree: which sizes, and where they go among all models."""

    degree: int
    k_min: int
    #: Position of the smallest.
    first: int
    #: How many coefficients are kept.
    n_wanted: int


class Paths(NamedTuple):
    """values[query, model, coefficient, output] and errors[query, model, output].

    Coefficient 0 is the prediction, because terms are centred at the query; terms that a degree
    does not have are 0.
    """

    values: Array
    errors: Array


def compute_paths(
    data: LocalData,
    plan: Plan,
    queries: Array,
    neighbors: NDArray[np.int32],
    n_threads: int,
    *,
    coefficients: bool = False,
) -> Paths:
    """All models of the plan for these queries; only predictions unless `coefficients`."""
    n_models, n_outputs = len(plan.sizes), data.targets.shape[1]
    n_features = data.points.shape[1]
    most = max(count_terms(n_features, part.degree) for part in plan.ranges)
    n_wanted = most if coefficients else 1
    values = np.zeros((len(queries), n_models, n_wanted, n_outputs))
    errors = np.empty((len(queries), n_models, n_outputs))
    paths = Paths(values, errors)
    first = 0
    for part in plan.ranges:
        near = np.ascontiguousarray(neighbors[:, : part.k_max])
        if part.degree == 0:
            _fill_constant(data.targets, part, near, first, paths, n_threads)
        else:
            _fill_polynomial(data, part, queries, near, first, paths, n_threads)
        first += len(part.sizes)
    return paths


def _fill_polynomial(
    data: LocalData,
    part: SizeRange,
    queries: Array,
    near: NDArray[np.int32],
    first: int,
    paths: Paths,
    n_threads: int,
) -> None:
    """Fill in the models of degree 1 or 2, which begin at position `first`."""
    n_wanted = min(paths.values.shape[2], count_terms(data.points.shape[1], part.degree))
    family = Family(part.degree, part.k_min, first, n_wanted)
    map_row_ranges(
        lambda start, stop: polynomial_paths(data, family, queries, near, start, stop, paths),
        len(queries),
        n_threads,
        smallest=16,
    )


def _fill_constant(
    targets: Array,
    part: SizeRange,
    near: NDArray[np.int32],
    first: int,
    paths: Paths,
    n_threads: int,
) -> None:
    """Fill in the models of degree 0, which begin at position `first`."""
    means, mistakes = np.empty(near.shape), np.empty(near.shape)
    own = slice(first, first + len(part.sizes))
    for output in range(targets.shape[1]):
        _fill_means(targets[near, output], means, mistakes, n_threads)
        paths.values[:, own, 0, output] = means[:, part.k_min - 1 :]
        paths.errors[:, own, output] = mistakes[:, part.k_min - 1 :]


def _fill_means(y_sorted: Array, means: Array, mistakes: Array, n_threads: int) -> None:
    map_row_ranges(
        lambda start, stop: constant_paths(y_sorted, start, stop, means, mistakes),
        len(y_sorted),
        n_threads,
        smallest=1024,
    )
