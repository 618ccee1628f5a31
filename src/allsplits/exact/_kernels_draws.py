"""Compiled tables of class counts: how many of the nearest items of a class are training items.

If a class has N candidates of which α are drawn, the number of training items among its n nearest
is hypergeometric, h[n, b], and classes are independent. Tied neighbours come in random order: give
each member of a tie group a uniform time λ. Before λ, a class with γ tied members has
Binomial(γ, λ) of them in the prefix, and classes stay independent given λ.
"""

from numba import njit

__all__ = ["hypergeometric_table", "row_before", "row_next", "table_of_class"]


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


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def table_of_class(kind, d, own, table_of, own_table_of):
    """The table of class d as seen from a held-out sample of class `own`."""
    return own_table_of[kind, d] if d == own else table_of[kind, d]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def row_before(table, n, tied, time, width, out):
    """Votes of a class with n items in the prefix and `tied` in the group, before the time.

    Rows of a table hold [votes, part] one after the other; `width` entries are wanted.
    """
    if tied == 0:
        for x in range(width):
            out[x] = table[n, x]
        return
    for x in range(width):
        out[x] = 0.0
    share = (1.0 - time) ** tied
    odds = time / (1.0 - time)
    for d in range(tied + 1):
        for x in range(width):
            out[x] += share * table[n + d, x]
        share *= odds * (tied - d) / (d + 1.0)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def row_next(table, remaining, pool, n, tied, time, width, out):
    """The same, and a tied member of the class is drawn at this very time.

    remaining[votes, part] is how many items are still to be drawn after those votes.
    """
    for x in range(width):
        out[x] = 0.0
    share = tied * (1.0 - time) ** (tied - 1)
    odds = time / (1.0 - time)
    for d in range(tied):
        scale = share / (pool - n - d)
        for x in range(width):
            out[x] += scale * table[n + d, x] * remaining[x]
        share *= odds * (tied - 1 - d) / (d + 1.0)
