"""The work of the R package lazy per query, as compiled loops without R: a peer for small batches.

R is slow to start and seldom installed where this runs, so its algorithm is replayed, written anew
from what the package does: every distance, kept in a sorted list of the nearest; for constant
models the recursion of Birattari & Bontempi (1999); for linear ones recursive least squares from
V = λI, and for every size a pass over all its neighbours for their leave-one-out residuals; a
sorted list of the best models, combined with weights 1/error. What R adds to that (its call, the
data frame of the queries, the result) is not counted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

__all__ = ["Ranges", "replay_lazy"]

#: R's default of `lambda`.
LAMBDA = 1e6
#: Without a sign, an index needs no look at whether it counts from the end.
_ONE = np.uint64(1)


class Ranges(NamedTuple):
    """Smallest and largest size of constant and of linear models (0 and 0: none), and `cmbPar`."""

    constant: tuple[int, int]
    linear: tuple[int, int]
    n_combined: int

    @classmethod
    def of(cls, k_ranges: dict[int, tuple[int, int]], combine: int | str) -> Ranges:
        """Those of a fitted `LazyRegressor`."""
        constant, linear = (k_ranges.get(degree, (0, 0)) for degree in (0, 1))
        n_models = sum(high - low + 1 for low, high in k_ranges.values())
        return cls(constant, linear, 1 if combine == "best" else min(int(combine), n_models))


@njit(error_model="numpy")
def replay_lazy(columns, targets, queries, ranges, out):
    """Predictions of the queries; `columns` and `queries` hold a row for each feature."""
    n_features = len(columns)
    depth = max(ranges.constant[1], ranges.linear[1])
    differences = np.empty(columns.shape)
    # Lists begin with a 0 that nothing is below, and end with room for who drops out.
    distances, nearest = np.empty(depth + 2), np.empty(depth + 2, np.int32)
    errors, values = np.empty(ranges.n_combined + 2), np.empty(ranges.n_combined + 2)
    near = np.empty(depth)
    terms = np.empty((depth, n_features + 1))
    for q in range(queries.shape[1]):
        _search(columns, queries, q, differences, distances, nearest)
        for i in range(depth):
            near[i] = targets[nearest[i + 1]]
        errors[0], errors[1:] = 0.0, np.inf
        if ranges.constant[1] > 0:
            _constant_models(near, ranges.constant, errors, values)
        if ranges.linear[1] > 0:
            for i in range(ranges.linear[1]):
                terms[i, 0] = 1.0
                for f in range(n_features):
                    terms[i, f + 1] = differences[f, nearest[i + 1]]
            _linear_models(terms, near, ranges.linear, errors, values)
        total = weight = 0.0
        for r in range(1, ranges.n_combined + 1):
            inverse = 1.0 / max(errors[r], 1e-20)
            total += inverse * values[r]
            weight += inverse
        out[q] = total / weight


@njit(error_model="numpy")
def _search(columns, queries, q, differences, distances, nearest):
    n_features, n_points = columns.shape
    distances[0], distances[1:] = 0.0, np.inf
    for i in range(n_points):
        distance = 0.0
        for f in range(n_features):
            step = columns[f, i] - queries[f, q]
            differences[f, i] = step
            distance += step * step
        _insert(distance, i, distances, nearest)


@njit(error_model="numpy")
def _insert(key, value, keys, values):
    place = np.uint64(len(keys) - 2)
    while key < keys[place]:
        keys[place + _ONE] = keys[place]
        values[place + _ONE] = values[place]
        place -= _ONE
    keys[place + _ONE] = key
    values[place + _ONE] = value


@njit(error_model="numpy")
def _constant_models(near, sizes, errors, values):
    mean, error = near[0], 0.0
    for k in range(2, sizes[1] + 1):
        step = near[k - 1] - mean
        error = error * k * (k - 2) ** 2 / (k - 1) ** 3 + step * step / (k - 1)
        mean += step / k
        if k >= sizes[0]:
            _insert(error, mean, errors, values)


@njit(error_model="numpy")
def _linear_models(terms, near, sizes, errors, values):
    n_terms = terms.shape[1]
    V = LAMBDA * np.eye(n_terms)
    coefficients, gain = np.zeros(n_terms), np.empty(n_terms)
    for k in range(1, sizes[1] + 1):
        z = terms[k - 1]
        error = near[k - 1]
        scale = 1.0
        for r in range(n_terms):
            gain[r] = 0.0
            for c in range(n_terms):
                gain[r] += V[r, c] * z[c]
            scale += z[r] * gain[r]
            error -= z[r] * coefficients[r]
        for r in range(n_terms):
            for c in range(n_terms):
                V[r, c] -= gain[r] * gain[c] / scale
        for r in range(n_terms):
            coefficients[r] += error * gain[r] / scale
        if k >= sizes[0]:
            loo = _leave_one_out(terms, near, k, V, coefficients)
            _insert(loo, coefficients[0], errors, values)


@njit(error_model="numpy")
def _leave_one_out(terms, near, k, V, coefficients):
    total = 0.0
    for i in range(k):
        residual, slack = near[i], 1.0
        for r in range(len(coefficients)):
            product = 0.0
            for c in range(len(coefficients)):
                product += V[r, c] * terms[i, c]
            slack -= terms[i, r] * product
            residual -= terms[i, r] * coefficients[r]
        residual /= slack
        total += residual * residual
    return total / k
