"""Compiled recursion of local polynomial models: every size, validated, in one pass.

A model with coefficients β minimises Σ (y_i - z_i·β)² + ridge |β|² over the k nearest neighbours,
where z_i holds the terms of neighbour i centred at the query. As in recursive least squares from
V = I/ridge, one neighbour is absorbed at a time, but V itself is never formed: its digits are lost
when a large 1/ridge shrinks to the size of the data. What is carried along is, for every
neighbour and for the query, a column w_i = S'z_i with SS' = V, so that z_i'V z_j = w_i·w_j.
Absorbing neighbour k, with f = w_k, g_i = w_i·f, b = 1 + f·f and e its prediction error so far, is

    w_i ← L'w_i,  LL' = I - ff'/b,  L triangular (Carlson 1973)
    prediction of anybody i ← prediction + g_i e / b

Each row of columns is scaled as a whole and mixed with the rows above it, so that columns shrink
from the size of 1/√ridge to that of the data with their digits. The leave-one-out residual t_i
(the PRESS residual) and m_i = 1 - h_i of a neighbour absorbed earlier follow without subtraction
of nearly equal numbers: m_i starts at 1/b, t_i at e, and

    t_i ← (m_i b · t_i - g_i · e) / (m_i b + g_i²),    m_i ← m_i + g_i² / b,

a weighted mean of t_i and -e/g_i. The coefficients are linear functions like a prediction: one
more column each.

A free intercept (no penalty on the constant term) is the limit of an infinite prior variance. The
first neighbour then fixes the constant: columns start as (1, (z_i - z_1)/√ridge), errors as
y_i - y_1, and the recursion begins with the second neighbour.

Cost: O(k² terms) per query for all sizes up to k.
"""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy")
def polynomial_models(data, family, queries, neighbors, paths):
    """Fill the paths of these queries and their neighbours, sizes k_min to k_max.

    paths.values[q, first + k - k_min, j, o]: coefficient j < n_wanted of output o (the one of j = 0
    is the prediction). paths.errors[q, first + k - k_min, o]: the leave-one-out mean squared error.
    """
    points, targets, ridge, free = data
    scale = 1.0 / np.sqrt(ridge)
    degree, k_min, depth, first, n_wanted = family
    values, errors = paths
    n_features = points.shape[1]
    n_terms = 1 + n_features
    if degree == 2:
        n_terms += n_features * (n_features + 1) // 2
    n_outputs = targets.shape[1]
    columns = np.empty((n_terms, depth + n_wanted))
    state = np.empty((n_outputs, depth + n_wanted))
    gains = np.empty(depth + n_wanted)
    slack = np.empty(depth)
    keep = np.empty(depth)
    for q in range(len(queries)):
        near = neighbors[q, :depth]
        _lay_columns(points, queries[q], near, degree, scale, free, columns)
        _lay_state(targets, near, free, state, slack)
        for i in range(1 if free else 0, depth):
            b = _absorb(columns, gains, i)
            _revise(state, slack, gains, keep, i, b)
            if i + 1 < k_min:
                continue
            model = first + i + 1 - k_min
            for o in range(n_outputs):
                errors[q, model, o] = _mean_square(state[o], i + 1)
                for j in range(n_wanted):
                    values[q, model, j, o] = -state[o, depth + j]
                if free:
                    values[q, model, 0, o] += targets[near[0], o]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _lay_columns(points, query, neighbors, degree, scale, free, columns):
    """Columns of the neighbours, then of the coefficients, before anybody is absorbed."""
    n_features = points.shape[1]
    n_terms, width = columns.shape
    depth = len(neighbors)
    constant = 1.0 if free else scale
    for i in range(depth):
        item = neighbors[i]
        columns[0, i] = constant
        for f in range(n_features):
            columns[1 + f, i] = scale * (points[item, f] - query[f])
        if degree == 2:
            r = 1 + n_features
            for f in range(n_features):
                for h in range(f, n_features):
                    columns[r, i] = columns[1 + f, i] * (points[item, h] - query[h])
                    r += 1
    for r in range(n_terms):
        for i in range(depth, width):
            columns[r, i] = 0.0
    for j in range(width - depth):
        columns[j, depth + j] = scale if j > 0 else constant
    if free:
        # The constant term now lives at the first neighbour; the query is one point among others.
        for r in range(1, n_terms):
            base = columns[r, 0]
            for i in range(depth + 1):
                columns[r, i] -= base


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _lay_state(targets, neighbors, free, state, slack):
    """Prediction errors before anybody is absorbed; coefficients are errors of a target 0.

    With a free constant everything is less the first target, which keeps the digits of the rest.
    """
    n_outputs, width = state.shape
    depth = len(neighbors)
    slack[0] = 0.0
    for o in range(n_outputs):
        base = targets[neighbors[0], o] if free else 0.0
        for i in range(depth):
            state[o, i] = targets[neighbors[i], o] - base
        for i in range(depth, width):
            state[o, i] = 0.0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _absorb(columns, gains, k):
    """Condition all columns on column k; gains[i] = w_i·w_k before it. Returns b."""
    n_terms, width = columns.shape
    for i in range(width):
        gains[i] = 0.0
    b = 1.0
    for r in range(n_terms):
        row = columns[r]
        f = row[k]
        if f == 0.0:
            continue
        grown = b + f * f
        shrink = np.sqrt(b / grown)
        mix = shrink * f / b
        for i in range(width):
            w = row[i]
            row[i] = shrink * w - mix * gains[i]
            gains[i] += f * w
        # What is left of the column itself is known: f·shrink·(1 - (b - 1)/b), without the loss.
        row[k] = mix
        b = grown
    return b


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _revise(state, slack, gains, keep, k, b):
    """Leave-one-out residuals of those before k, prediction errors of those after it."""
    n_outputs, width = state.shape
    # One division for each neighbour: they take longer than all the rest.
    share = 1.0 / b
    for i in range(k):
        g = gains[i]
        weight = slack[i] * b
        total = weight + g * g
        slack[i] = total * share
        inverse = 1.0 / total
        # From here on the gain is what the new error is multiplied with.
        gains[i] = g * inverse
        keep[i] = weight * inverse
    slack[k] = share
    for o in range(n_outputs):
        row = state[o]
        e = row[k]
        for i in range(k):
            row[i] = row[i] * keep[i] - gains[i] * e
        step = e * share
        for i in range(k + 1, width):
            row[i] -= gains[i] * step


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _mean_square(residuals, k):
    """Four sums side by side, because additions to one would wait for each other."""
    a = b = c = d = 0.0
    for i in range(0, k - 3, 4):
        a += residuals[i] * residuals[i]
        b += residuals[i + 1] * residuals[i + 1]
        c += residuals[i + 2] * residuals[i + 2]
        d += residuals[i + 3] * residuals[i + 3]
    for i in range(k - k % 4, k):
        a += residuals[i] * residuals[i]
    return ((a + b) + (c + d)) / k
