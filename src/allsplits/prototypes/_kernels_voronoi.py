"""Compiled search for a proof that two Voronoi cells share a facet.

Around a point, the cell is {x : c_k·x ≤ |c_k|²/2} with c_k the vectors to the other points. The
cell of point j shares a facet with it exactly if some ray from the origin leaves the cell through
side j alone, that is, c_j·w / |c_j|² > 0 and larger than every other c_k·w / |c_k|². Such a w is a
witness. It is looked for on the bisector of the two points, starting in the middle between them (a
witness right away for Gabriel neighbours), by stepping across the most violated side again and
again (Motzkin). With the matrix of c_k·c_l a step costs O(n).
"""

import numpy as np
from numba import njit

#: How far beyond a violated side a step goes, as a multiple of the violation, and a bit more.
_STEP, _BEYOND = 1.9, 1e-3
_EPSILON = 2.0**-52


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _step_across(products, j, slacks, weights):
    """One step; False if no side is violated (or no step can help)."""
    n = products.shape[0]
    worst = -1
    most = 0.0
    for k in range(n):
        if k != j and slacks[k] <= 0.0 and products[k, k] > 0.0:
            share = products[k, j] / products[j, j]
            length = products[k, k] - share * products[k, j]
            if length <= 1e-12 * products[k, k]:
                return False
            violation = slacks[k] * slacks[k] / length
            if worst < 0 or violation > most:
                worst = k
                most = violation
    if worst < 0:
        return False
    share = products[worst, j] / products[j, j]
    length = products[worst, worst] - share * products[worst, j]
    size = (_BEYOND * np.sqrt(length * products[j, j]) - _STEP * slacks[worst]) / length
    for k in range(n):
        slacks[k] += size * (products[k, worst] - share * products[k, j])
    weights[worst] -= size
    weights[j] += size * share
    return True


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _is_witness(sides, products, j, ray):
    """Whether the ray leaves the cell through side j first, by more than rounding can be."""
    n, d = sides.shape
    size = 0.0
    for f in range(d):
        size += ray[f] * ray[f]
    # Each ratio c·w/|c|² is off by at most this times |w|/|c|, the rounding of c included.
    error = (4.0 * d + 20.0) * _EPSILON * np.sqrt(size)
    own = 0.0
    for f in range(d):
        own += sides[j, f] * ray[f]
    lowest = own / products[j, j] - error / np.sqrt(products[j, j])
    if not lowest > 0.0:
        return False
    for k in range(n):
        if k != j and products[k, k] > 0.0:
            reach = 0.0
            for f in range(d):
                reach += sides[k, f] * ray[f]
            if not reach / products[k, k] + error / np.sqrt(products[k, k]) < lowest:
                return False
    return True


@njit(nogil=True, cache=True, error_model="numpy")
def find_witnesses(sides, products, others, max_steps, found):
    """Look for a proof that the cell of each of the `others` shares a facet with ours.

    `sides` has a row of zeros for our own point.
    """
    n, d = sides.shape
    slacks = np.empty(n)
    weights = np.empty(n)
    ray = np.empty(d)
    for position in range(len(others)):
        j = others[position]
        for k in range(n):
            slacks[k] = 0.5 * (products[k, k] - products[k, j])
            weights[k] = 0.0
        weights[j] = 0.5
        steps = np.int64(0)
        while steps < max_steps and _step_across(products, j, slacks, weights):
            steps += 1
        for f in range(d):
            ray[f] = 0.0
        for k in range(n):
            if weights[k] != 0.0:
                for f in range(d):
                    ray[f] += weights[k] * sides[k, f]
        found[position] = _is_witness(sides, products, j, ray)
