"""Compiled loops shared by all votes: masses, binomial weights, tie groups.

Counting subsets needs ratios of binomial coefficients that overflow on their own. They are replaced
by binomial probabilities with one common parameter θ,

    T[n, b] = C(n, b) · θ^b · (1-θ)^(n-b),

because in every ratio Π C(n_d, b_d) / C(Σ n_d, Σ b_d) the powers of θ cancel. Everything is a sum
of positive products: no cancellation, so relative errors stay at a few roundings per step.
"""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy")
def fill_masses(n_candidates, train_size, k, mode, masses):
    """masses[j - k] ∝ C(j, k) C(N-1-j, a-k-1), 1 at the mode, by ratios outwards."""
    N, a = n_candidates, train_size
    masses[mode - k] = 1.0
    value = 1.0
    for j in range(mode, N - a + k):
        value *= ((j + 1.0) * (N - j - a + k)) / ((j + 1.0 - k) * (N - 1.0 - j))
        if value < 1e-80:
            break
        masses[j + 1 - k] = value
    value = 1.0
    for j in range(mode - 1, k - 1, -1):
        value *= ((j + 1.0 - k) * (N - 1.0 - j)) / ((j + 1.0) * (N - j - a + k))
        if value < 1e-80:
            break
        masses[j - k] = value


@njit(nogil=True, cache=True, error_model="numpy")
def fill_bernoulli_masses(n_candidates, q, k, mode, masses):
    """masses[j - k] ∝ C(j, k) q (1-q)^(j-k) for j < N, without the q for j = N; 1 at the mode."""
    N = n_candidates
    masses[mode - k] = 1.0
    value = 1.0
    for j in range(mode, N):
        value *= (j + 1.0) / (j + 1.0 - k) * (1.0 - q)
        if j + 1 == N:
            value /= q
        if value < 1e-80:
            break
        masses[j + 1 - k] = value
    value = 1.0
    for j in range(mode - 1, k - 1, -1):
        value *= (j + 1.0 - k) / ((j + 1.0) * (1.0 - q))
        if j + 1 == N:
            value *= q
        if value < 1e-80:
            break
        masses[j - k] = value


@njit(nogil=True, cache=True, error_model="numpy")
def binomial_table(n_max, b_max, theta):
    """T[n, b] for n ≤ n_max, b ≤ b_max by Pascal's rule."""
    table = np.empty((n_max + 1, b_max + 1))
    for b in range(b_max + 1):
        table[0, b] = 1.0 if b == 0 else 0.0
    for n in range(1, n_max + 1):
        table[n, 0] = (1.0 - theta) * table[n - 1, 0]
        for b in range(1, b_max + 1):
            table[n, b] = (1.0 - theta) * table[n - 1, b] + theta * table[n - 1, b - 1]
    return table


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
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


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def poisson_row(rate, b_max, row):
    """row[b] = e^(-rate) rate^b / b! for b ≤ b_max: the counterpart for draws with replacement."""
    row[0] = np.exp(-rate)
    for b in range(b_max):
        row[b + 1] = row[b] * rate / (b + 1.0)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def group_end(tied, position, stop, average):
    """Where the tie group that starts at `position` ends (one item if ties are not averaged)."""
    end = position + 1
    if average:
        while end < stop and tied[end]:
            end += 1
    return end


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
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


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def draw_one_more(share, t, g, g_own):
    """share[o]: weight of o own items among t - 1 drawn from a group of g; draw the t-th."""
    left = g - t + 1.0
    for o in range(min(t, g_own), -1, -1):
        stay = share[o] * (g - g_own - (t - 1 - o)) / left if t - 1 >= o else 0.0
        come = share[o - 1] * (g_own - o + 1) / left if o > 0 else 0.0
        share[o] = max(stay, 0.0) + come
