"""Compiled loop of local constant models: one pass over the neighbours of each query.

For the neighbours' targets y_1, y_2, … in order of distance, from μ_1 = y_1 on,

    μ_k   = μ_{k-1} + (y_k - μ_{k-1}) / k
    mse_k = k (k-2)² / (k-1)³ · mse_{k-1} + (y_k - μ_{k-1})² / (k-1),   k ≥ 2

are the mean and its leave-one-out mean squared error (equations 7 and 8 of Birattari & Bontempi
1999). Every term is positive, so nothing cancels; targets are taken less the first one, so that
a mean far from 0 costs no digits of the errors. Cost: O(1) per neighbour.
"""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy")
def constant_paths(values, start, stop, predictions, errors):
    """Fill predictions[q, k-1] and errors[q, k-1] for the rows start to stop of `values`."""
    depth = values.shape[1]
    for q in range(start, stop):
        base = values[q, 0]
        mean = 0.0
        error = 0.0
        predictions[q, 0] = base
        errors[q, 0] = np.nan
        for i in range(1, depth):
            k = i + 1.0
            step = (values[q, i] - base) - mean
            error *= k * ((k - 2.0) * (k - 2.0)) / (i * (i * float(i)))
            error += step * step / i
            mean += step / k
            predictions[q, i] = base + mean
            errors[q, i] = error
