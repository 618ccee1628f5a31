"""Compiled votes of all classes at once: what the classes before and after one do, in products.

Each class has a row: the probability of b voters, for `LANES` cases side by side (the last axis).
A class wins with v votes of k if no other has more. With the classes in order, the others are a
product of those before it and a product of those after it, so the chances of all C classes take
3·C products instead of C². Of classes that share the top the first wins, which caps the rows
before the winner at v - 1 and those after it at v; shared votes are integrated over a weight of
the v-th entry as in `_kernels_votes`.
"""

import numpy as np
from numba import njit

from allsplits.exact._kernels_eight import eight_times, load, plus, store, times

#: Cases side by side: some registers' worth, few enough that a dozen classes stay in the cache.
LANES = 32
#: The same in eights.
EIGHTS = LANES // 8


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _times(poly, degree, row, top, limit, out):
    """`out` = poly · Σ_{b ≤ top} row[b] z^b up to `limit`; returns its degree."""
    new_degree = min(degree + top, limit)
    for e in range(new_degree + 1):
        low, high = max(0, e - degree), min(e, top)
        for x in range(EIGHTS):
            total = times(load(row, low * EIGHTS + x), load(poly, (e - low) * EIGHTS + x))
            for b in range(low + 1, high + 1):
                part = times(load(row, b * EIGHTS + x), load(poly, (e - b) * EIGHTS + x))
                total = plus(total, part)
            store(out, e * EIGHTS + x, total)
    return new_degree


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _chain(contenders, backwards, cap, limit, products, degrees):
    """products[m] = that of the first m classes (the last m if backwards), no votes above `cap`."""
    present, most, rows = contenders
    n_present = len(present)
    for x in range(LANES):
        products[0, 0, x] = 1.0
    degrees[0] = 0
    for m in range(n_present - 1):
        d = present[n_present - 1 - m if backwards else m]
        top = min(most[d], cap, limit)
        degrees[m + 1] = _times(products[m], degrees[m], rows[d], top, limit, products[m + 1])


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_votes(m, after, own_row, weight, rest, work, win):
    """`win` += weight · own_row · P(m classes before and `after` behind have `rest` votes)."""
    left, right = work.left[m], work.right[after]
    low, high = max(0, rest - work.degrees[1, after]), min(rest, work.degrees[0, m])
    if low > high:
        return
    for x in range(EIGHTS):
        total = times(load(left, low * EIGHTS + x), load(right, (rest - low) * EIGHTS + x))
        for a in range(low + 1, high + 1):
            part = times(load(left, a * EIGHTS + x), load(right, (rest - a) * EIGHTS + x))
            total = plus(total, part)
        own = times(eight_times(weight), load(own_row, x))
        store(win, x, plus(load(win, x), times(own, total)))


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_shared_top(contenders, k, v, y, weight, share, work, wins):
    """Classes that win with v votes where others may have as many: not more than half of k."""
    present, most, rows = contenders
    for m in range(len(present)):
        d = present[m]
        if most[d] >= v:
            for x in range(LANES):
                work.own[m, x] = rows[d, v, x]
                rows[d, v, x] *= y
    cap = v if share else v - 1
    _chain(contenders, np.bool_(False), cap, k - v, work.left, work.degrees[0])
    _chain(contenders, np.bool_(True), v, k - v, work.right, work.degrees[1])
    for m in range(len(present)):
        d = present[m]
        if most[d] >= v:
            _add_votes(m, len(present) - 1 - m, work.own[m], weight, k - v, work, wins[d])
            for x in range(LANES):
                rows[d, v, x] = work.own[m, x]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _most_votes(contenders, v):
    """The most votes of all classes together, if none has more than v."""
    total = np.int64(0)
    for d in contenders.present:
        total += min(contenders.most[d], v)
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def add_every_win(contenders, k, share, quadrature, work, wins):
    """wins[d] += P(exactly k votes, d wins) for the classes that are present, which are in order.

    No class has more than k votes, and all have `LANES` lanes.
    """
    add_wins_by_votes(contenders, k, share, quadrature, work, wins.reshape((1, *wins.shape)))


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def add_wins_by_votes(contenders, k, share, quadrature, work, wins):
    """The same by the votes of the winner, wins[v, d], or all together in wins[0, d]."""
    n_present, last = len(contenders.present), len(wins) - 1
    for v in range(1, k // 2 + 1):
        if _most_votes(contenders, v) < k:
            continue
        order = min(n_present - 1, k // v - 1) // 2 + 1 if share else 1
        for q in range(order):
            y = quadrature.nodes[order, q] if share else 1.0
            weight = quadrature.weights[order, q] if share else 1.0
            _add_shared_top(contenders, k, v, y, weight, share, work, wins[min(v, last)])
    # Who has more than half of the votes has won, whatever the others do.
    limit = k - k // 2 - 1
    _chain(contenders, np.bool_(False), limit, limit, work.left, work.degrees[0])
    _chain(contenders, np.bool_(True), limit, limit, work.right, work.degrees[1])
    for m in range(n_present):
        d = contenders.present[m]
        for v in range(k // 2 + 1, contenders.most[d] + 1):
            win = wins[min(v, last), d]
            _add_votes(m, n_present - 1 - m, contenders.rows[d, v], 1.0, k - v, work, win)
