"""Compiled votes of classes whose numbers of voters are independent: products of capped rows.

Each class has a row: the probability of b voters, for many cases side by side (lanes, the last
axis). A class wins with v votes if no other has more; that caps the rows of the others.
"""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def multiply(poly, degree, row, top, limit, n_lanes):
    """Multiply poly by Σ_{b ≤ top} row[b] z^b in place, for all lanes at once (the last axis)."""
    new_degree = min(degree + top, limit)
    for e in range(new_degree, -1, -1):
        if e <= degree:
            for x in range(n_lanes):
                poly[e, x] *= row[0, x]
        else:
            for x in range(n_lanes):
                poly[e, x] = 0.0
        for b in range(max(1, e - degree), min(e, top) + 1):
            for x in range(n_lanes):
                poly[e, x] += row[b, x] * poly[e - b, x]
    return new_degree


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def add_wins(own, contenders, reach, share, quadrature, scale, n_lanes, work):
    """work.wins[k] += scale · P(exactly k votes, `own` wins), as far as reach asks.

    Classes that cannot reach v votes are multiplied into work.free once and stay there for larger
    v; returns the degree of that product. `own` is one of the classes that are present.
    """
    present, most, rows = contenders
    free, poly, is_free, wins = work
    v_low, v_high, k_low, k_high = reach
    for e in range(len(present)):
        is_free[e] = False
    for x in range(n_lanes):
        free[0, x] = 1.0
    free_degree = np.int64(0)
    most_others = k_high - v_low
    for v in range(max(v_low, 1), min(v_high, k_high) + 1):
        n_rivals = 0
        total = v
        for e in range(len(present)):
            d = present[e]
            if d == own:
                continue
            total += min(most[d], v)
            if is_free[e]:
                continue
            if most[d] < v or (most[d] == v and not share and d > own):
                top = min(most[d], most_others)
                free_degree = multiply(free, free_degree, rows[d], top, most_others, n_lanes)
                is_free[e] = True
            else:
                n_rivals += 1
        high = min(k_high, total)
        low = max(k_low, v)
        if high < low:
            continue
        if n_rivals == 0:
            for k in range(low, min(high, v + free_degree) + 1):
                for x in range(n_lanes):
                    wins[k, x] += scale * rows[own, v, x] * free[k - v, x]
            continue
        limit = high - v
        order = min(n_rivals, limit // v) // 2 + 1 if share else 1
        for q in range(order):
            y_share = quadrature.nodes[order, q] if share else 1.0
            weight = scale * (quadrature.weights[order, q] if share else 1.0)
            degree = min(free_degree, limit)
            for b in range(degree + 1):
                for x in range(n_lanes):
                    poly[b, x] = free[b, x]
            for e in range(len(present)):
                d = present[e]
                if d != own and not is_free[e]:
                    y = y_share if share or d > own else 0.0
                    # Up to v votes, of which v count y times.
                    for x in range(n_lanes):
                        wins[0, x] = rows[d, v, x]
                        rows[d, v, x] *= y
                    top = min(v if y > 0.0 else v - 1, limit)
                    degree = multiply(poly, degree, rows[d], top, limit, n_lanes)
                    for x in range(n_lanes):
                        rows[d, v, x] = wins[0, x]
            for k in range(low, min(high, v + degree) + 1):
                for x in range(n_lanes):
                    wins[k, x] += weight * rows[own, v, x] * poly[k - v, x]
    return free_degree


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def last_open_vote(own, contenders):
    """The most votes `own` may have and lose, and the largest k at which it can lose."""
    present, most, _ = contenders
    others, largest = 0, 0
    for d in present:
        if d != own:
            others += most[d]
            largest = max(largest, most[d])
    v_high = min(most[own], largest)
    return v_high, v_high + others


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def fewest_votes(row, n_lanes, v_high, tol):
    """The fewest votes that matter: P(fewer) ≤ tol in all lanes. row[votes · lanes + lane]."""
    least = v_high + 1
    for x in range(n_lanes):
        total = 0.0
        for v in range(least):
            total += row[v * n_lanes + x]
            if total > tol:
                least = v
                break
    return least


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def add_any(own, contenders, reach, degree, n_lanes, work):
    """work.wins[k] += P(exactly k votes), whoever wins, as far as reach asks.

    After `add_wins` with the same reach, of which `degree` came: its product goes on.
    """
    present, most, rows = contenders
    v_low, v_high, k_low, k_high = reach
    free, wins, limit = work.free, work.wins, k_high - v_low
    for e in range(len(present)):
        d = present[e]
        if d != own and not work.is_free[e]:
            degree = multiply(free, degree, rows[d], min(most[d], limit), limit, n_lanes)
    for v in range(v_low, min(v_high, k_high) + 1):
        for k in range(max(k_low, v), min(k_high, v + degree) + 1):
            for x in range(n_lanes):
                wins[k, x] += rows[own, v, x] * free[k - v, x]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def finished_votes(contenders, n_lanes, k_low, k_high, tol, poly):
    """The smallest k whose vote may still change: P(at most k training items so far) > tol."""
    present, most, rows = contenders
    for x in range(n_lanes):
        poly[0, x] = 1.0
    degree = np.int64(0)
    for d in present:
        degree = multiply(poly, degree, rows[d], min(most[d], k_high), k_high, n_lanes)
    smallest = k_high + 1
    for x in range(n_lanes):
        total = 0.0
        for k in range(degree + 1):
            total += poly[k, x]
            if total > tol:
                smallest = min(smallest, k)
                break
    return max(smallest, k_low)
