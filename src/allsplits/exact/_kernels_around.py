"""Compiled votes of all classes at once: what the classes before and after one do, in products.

Each class has a row: the probability of b voters, for `LANES` cases side by side (the last axis).
A class wins with v votes of k if no other has more. With the classes in order, the others are a
product of those before it and a product of those after it, so the chances of all C classes take
3·C products instead of C². Of classes that share the top the first wins, which caps the rows
before the winner at v - 1 and those after it at v; shared votes are integrated over a weight of
the v-th entry as in `_kernels_votes`.
"""

from numba import njit

__all__ = ["LANES", "add_every_win"]

#: Cases side by side: some registers' worth, few enough that a dozen classes stay in the cache.
LANES = 32


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _times(poly, degree, row, top, limit, out):
    """`out` = poly · Σ_{b ≤ top} row[b] z^b up to `limit`; returns its degree."""
    new_degree = min(degree + top, limit)
    for e in range(new_degree + 1):
        low = max(0, e - degree)
        for x in range(LANES):
            out[e, x] = row[low, x] * poly[e - low, x]
        for b in range(low + 1, min(e, top) + 1):
            for x in range(LANES):
                out[e, x] += row[b, x] * poly[e - b, x]
    return new_degree


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _chain(present, n_present, most, rows, backwards, cap, limit, products, degrees):
    """products[m] = that of the first m classes (the last m if backwards), no votes above `cap`."""
    for x in range(LANES):
        products[0, 0, x] = 1.0
    degrees[0] = 0
    for m in range(n_present - 1):
        d = present[n_present - 1 - m if backwards else m]
        top = min(most[d], cap, limit)
        degrees[m + 1] = _times(products[m], degrees[m], rows[d], top, limit, products[m + 1])


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_votes(own_row, weight, rest, left, left_degree, right, right_degree, sums, win):
    """`win` += weight · own_row · P(the others have `rest` votes)."""
    low, high = max(0, rest - right_degree), min(rest, left_degree)
    if low > high:
        return
    for x in range(LANES):
        sums[x] = left[low, x] * right[rest - low, x]
    for a in range(low + 1, high + 1):
        for x in range(LANES):
            sums[x] += left[a, x] * right[rest - a, x]
    for x in range(LANES):
        win[x] += weight * own_row[x] * sums[x]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_shared_top(
    present, n_present, most, rows, k, v, y, weight, share, own, left, right, degrees, sums, wins
):
    """Classes that win with v votes where others may have as many: not more than half of k."""
    for m in range(n_present):
        d = present[m]
        if most[d] >= v:
            for x in range(LANES):
                own[m, x] = rows[d, v, x]
                rows[d, v, x] *= y
    cap = v if share else v - 1
    _chain(present, n_present, most, rows, False, cap, k - v, left, degrees[0])
    _chain(present, n_present, most, rows, True, v, k - v, right, degrees[1])
    for m in range(n_present):
        d, after = present[m], n_present - 1 - m
        if most[d] >= v:
            _add_votes(
                own[m], weight, k - v, left[m], degrees[0, m], right[after], degrees[1, after],
                sums, wins[d],
            )  # fmt: skip
            for x in range(LANES):
                rows[d, v, x] = own[m, x]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def add_every_win(
    present, n_present, most, rows, k, share, nodes, weights, own, left, right, degrees, sums, wins
):
    """wins[d] += P(exactly k votes, d wins) for the classes `present`, which are in order.

    most[d] ≤ k is the largest number of votes of class d. Work space: own[C, lanes], left and
    right[C, k + 1, lanes], degrees[2, C], sums[lanes].
    """
    for v in range(1, k // 2 + 1):
        order = min(n_present - 1, k // v - 1) // 2 + 1 if share else 1
        for q in range(order):
            y = nodes[order, q] if share else 1.0
            weight = weights[order, q] if share else 1.0
            _add_shared_top(
                present, n_present, most, rows, k, v, y, weight, share, own, left, right, degrees,
                sums, wins,
            )  # fmt: skip
    # Who has more than half of the votes has won, whatever the others do.
    limit = k - k // 2 - 1
    _chain(present, n_present, most, rows, False, limit, limit, left, degrees[0])
    _chain(present, n_present, most, rows, True, limit, limit, right, degrees[1])
    for m in range(n_present):
        d, after = present[m], n_present - 1 - m
        for v in range(k // 2 + 1, most[d] + 1):
            _add_votes(
                rows[d, v], 1.0, k - v, left[m], degrees[0, m], right[after], degrees[1, after],
                sums, wins[d],
            )  # fmt: skip
