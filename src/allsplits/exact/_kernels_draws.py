"""Compiled tables of class counts: how many of the nearest items of a class are training items.

If a class has N candidates of which α are drawn, the number of training items among its n nearest
is hypergeometric, h[n, b], and classes are independent.
"""

from numba import njit


@njit(nogil=True, cache=True, error_model="numpy")
def hypergeometric_table(pool, drawn, n_max, b_max, out):
    """out[n, b] = P(b of the first n of `pool` items are among the `drawn`), for n ≤ n_max."""
    for b in range(b_max + 1):
        out[0, b] = 0.0
    out[0, 0] = 1.0
    for n in range(n_max):
        left = float(pool - n)
        for b in range(b_max + 1):
            value = out[n, b] * max(pool - n - drawn + b, 0) / left
            if b > 0:
                value += out[n, b - 1] * max(drawn - b + 1, 0) / left
            out[n + 1, b] = value
