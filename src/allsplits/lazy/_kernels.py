"""Compiled loop of local constant models: one pass over the neighbours of each query.

For the neighbours' targets y_1, y_2, … in order of distance, from μ_1 = y_1 on,

    μ_k   = μ_{k-1} + (y_k - μ_{k-1}) / k
    mse_k = k (k-2)² / (k-1)³ · mse_{k-1} + (y_k - μ_{k-1})² / (k-1),   k ≥ 2

are the mean and its leave-one-out mean squared error (equations 7 and 8 of Birattari & Bontempi
1999). What is carried along is the sum k μ_k and, by equation 4, the sum of squares around the mean
mse_k (k-1)² / k: each then grows by one addition, so that no division waits for the one before it.

    squares_k = squares_{k-1} + (y_k - μ_{k-1})² (k-1) / k

Every term is positive, so nothing cancels; targets are taken less the first one, so that a mean far
from 0 costs no digits of the errors. Cost: O(1) per neighbour.
"""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy")
def constant_paths(values, start, stop, predictions, errors):
    """Fill predictions[q, k-1] and errors[q, k-1] for the rows start to stop of `values`."""
    factors = _factors(values.shape[1])
    for q in range(start, stop):
        _fill_path(values[q], 1, factors, predictions[q], errors[q])


@njit(nogil=True, cache=True, error_model="numpy")
def constant_models(data, family, neighbors, paths):
    """Fill the paths of these neighbours, sizes k_min to k_max, as `polynomial_models` does."""
    targets = data.targets
    first, last = family.first, family.first + family.k_max - family.k_min + 1
    factors = _factors(family.k_max)
    near = np.empty(family.k_max)
    for q in range(len(neighbors)):
        for o in range(targets.shape[1]):
            for i in range(family.k_max):
                near[i] = targets[neighbors[q, i], o]
            means, errors = paths.values[q, first:last, 0, o], paths.errors[q, first:last, o]
            _fill_path(near, family.k_min, factors, means, errors)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _factors(depth):
    """For each k, at position k - 1: (k-1)/k and k/(k-1)²."""
    factors = np.zeros((2, depth))
    for i in range(1, depth):
        factors[0, i] = i / (i + 1.0)
        factors[1, i] = (i + 1.0) / (i * float(i))
    return factors


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _fill_path(near, k_min, factors, predictions, errors):
    """Fill predictions[k - k_min] and errors[k - k_min] from the targets, nearest first."""
    base = near[0]
    if k_min == 1:
        predictions[0] = base
        errors[0] = np.nan
    total = 0.0
    squares = 0.0
    mean = 0.0
    for i in range(1, len(near)):
        value = near[i] - base
        step = value - mean
        squares += step * step * factors[0, i]
        total += value
        mean = total / (i + 1.0)
        if i + 1 >= k_min:
            predictions[i + 1 - k_min] = base + mean
            errors[i + 1 - k_min] = squares * factors[1, i]
