"""Compiled loops of distances whose powers of tiny or large differences would get lost.

`norm_rows` gives (Σ (c_f |x_f - y_f|)^p)^(1/p): Minkowski with weights c^p, standardised
Euclidean (p = 2, c = 1/deviation) and plain Euclidean distance. Where the sum under- or overflows,
differences are divided by the largest first. Features that are NaN in one of the two are left out,
and the sum is scaled up in proportion, as in scikit-learn's nan_euclidean_distances.
"""

import numpy as np
from numba import njit

#: Sums within these bounds have lost nothing that counts.
_SMALL = 1e-250
_LARGE = 1e250


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _power_sum(x, y, scales, p, unit):
    """Sum of the p-th powers of scaled differences in units of `unit`, and how many there are."""
    total = 0.0
    present = 0
    for f in range(len(x)):
        difference = abs(x[f] - y[f])
        if difference == difference:
            present += 1
            if difference > 0.0:
                part = difference * scales[f] / unit
                total += part * part if p == 2.0 else part**p
    return total, present


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _largest(x, y, scales):
    largest = 0.0
    for f in range(len(x)):
        difference = abs(x[f] - y[f]) * scales[f]
        if difference > largest:
            largest = difference
    return largest


@njit(nogil=True, cache=True, error_model="numpy")
def norm_rows(queries, reference, scales, p, start, stop, out):
    """out[i, j] = distance of query i and reference j; NaN if they have no feature in common."""
    n_features = queries.shape[1]
    for i in range(start, stop):
        for j in range(len(reference)):
            unit = 1.0
            total, present = _power_sum(queries[i], reference[j], scales, p, unit)
            if not _SMALL < total < _LARGE:
                unit = _largest(queries[i], reference[j], scales)
                if unit > 0.0:
                    total, present = _power_sum(queries[i], reference[j], scales, p, unit)
            if present == 0:
                out[i, j] = np.nan
                continue
            if present < n_features:
                total *= n_features / present
            root = np.sqrt(total) if p == 2.0 else total ** (1.0 / p)
            out[i, j] = unit * root


@njit(nogil=True, cache=True, error_model="numpy")
def form_rows(queries, reference, form, start, stop, out):
    """out[i, j] = √(δ'Aδ) for the difference δ of query i and reference j; A is `form`."""
    n_features = queries.shape[1]
    difference = np.empty(n_features)
    for i in range(start, stop):
        for j in range(len(reference)):
            largest = 0.0
            for f in range(n_features):
                difference[f] = queries[i, f] - reference[j, f]
                largest = max(largest, abs(difference[f]))
            out[i, j] = 0.0
            if largest == 0.0:
                continue
            total = 0.0
            for f in range(n_features):
                inner = 0.0
                for g in range(n_features):
                    inner += form[f, g] * (difference[g] / largest)
                total += difference[f] / largest * inner
            out[i, j] = largest * np.sqrt(max(total, 0.0))
