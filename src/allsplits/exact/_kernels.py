"""Compiled loops shared by all votes: binomial weights, tie groups.

Everything is a sum of positive products: no cancellation, so relative errors stay at a few
roundings per step.
"""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def binomial_row(n, b_max, phi, row):
    """row[b] = C(n, b) φ^b (1-φ)^(n-b) for b ≤ b_max."""
    for b in range(b_max + 1):
        row[b] = 0.0
    value = (1.0 - phi) ** n
    odds = phi / (1.0 - phi)
    row[0] = value
    for b in range(min(n, b_max)):
        value *= odds * (n - b) / (b + 1.0)
        row[b + 1] = value


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def poisson_row(rate, b_max, row):
    """row[b] = e^(-rate) rate^b / b! for b ≤ b_max: the counterpart for draws with replacement."""
    row[0] = np.exp(-rate)
    for b in range(b_max):
        row[b + 1] = row[b] * rate / (b + 1.0)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def group_end(tied, position, stop, average):
    """Where the tie group that starts at `position` ends (one item if ties are not averaged)."""
    end = position + 1
    if average:
        while end < stop and tied[end]:
            end += 1
    return end


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def tie_weights(s, g, depth, k, masses, table, group_row, omega):
    """omega[i]: weight of i voters from a tie group of g items that follows s items.

    While the (k+1)-th training neighbour stands inside the group, the t group members before it are
    a random t-subset. Summed over t, a set of k-i voters from the prefix and i from the group has

        omega[i] = Σ_t m_{s+t} · T[t, i] / (T[s+t, k] · B[g, i]),

    with B the group's own binomial row. Returns whether any weight is positive.
    """
    any_weight = False
    for i in range(min(k, g) + 1):
        omega[i] = 0.0
    for t in range(1, min(g - 1, depth - s) + 1):
        mass = masses[s + t]
        if mass > 0.0:
            any_weight = True
            scale = mass / table[s + t, k]
            for i in range(max(0, k - s), min(t, k) + 1):
                omega[i] += scale * table[t, i]
    if any_weight:
        for i in range(min(k, g) + 1):
            if omega[i] > 0.0:
                omega[i] /= group_row[i]
    return any_weight


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def draw_one_more(share, t, g, g_own):
    """share[o]: weight of o own items among t - 1 drawn from a group of g; draw the t-th."""
    left = g - t + 1.0
    for o in range(min(t, g_own), -1, -1):
        stay = share[o] * (g - g_own - (t - 1 - o)) / left if t - 1 >= o else 0.0
        come = share[o - 1] * (g_own - o + 1) / left if o > 0 else 0.0
        share[o] = max(stay, 0.0) + come
