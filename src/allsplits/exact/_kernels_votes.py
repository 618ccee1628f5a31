"""Compiled votes of classes whose numbers of voters are independent: products of capped rows.

Each class has a row: the probability of b voters, for many cases side by side (lanes, the last
axis). A class wins with v votes if no other has more; that caps the rows of the others.
"""

import numpy as np
from numba import njit

__all__ = [
    "add_any",
    "add_wins",
    "fewest_votes",
    "finished_votes",
    "last_open_vote",
    "multiply",
]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
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


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def add_wins(
    own,
    present,
    n_present,
    most,
    rows,
    n_lanes,
    v_low,
    v_high,
    k_low,
    k_high,
    nodes,
    weights,
    share,
    scale,
    free,
    poly,
    is_free,
    wins,
):
    """wins[k] += scale · P(exactly k votes, `own` wins with v_low ≥ 1 to v_high of them).

    most[d] is the largest number of votes of class d. Classes that cannot reach v votes are
    multiplied into `free` once and stay there for larger v.
    """
    for e in range(n_present):
        is_free[e] = False
    for x in range(n_lanes):
        free[0, x] = 1.0
    free_degree = np.int64(0)
    n_capped = n_present - 1
    most_others = k_high - v_low
    for v in range(v_low, min(v_high, k_high) + 1):
        rivals = 0
        reach = v
        for e in range(n_present):
            d = present[e]
            if d == own:
                continue
            reach += min(most[d], v)
            if is_free[e]:
                continue
            if most[d] < v or (most[d] == v and not share and d > own):
                top = min(most[d], most_others)
                free_degree = multiply(free, free_degree, rows[d], top, most_others, n_lanes)
                is_free[e] = True
                n_capped -= 1
            elif most[d] >= v:
                rivals += 1
        high = min(k_high, reach)
        low = max(k_low, v)
        if high < low:
            continue
        if n_capped == 0:
            for k in range(low, min(high, v + free_degree) + 1):
                for x in range(n_lanes):
                    wins[k, x] += scale * rows[own, v, x] * free[k - v, x]
            continue
        limit = high - v
        order = min(rivals, limit // v) // 2 + 1 if share else 1
        for q in range(order):
            y_share = nodes[order, q] if share else 1.0
            weight = scale * (weights[order, q] if share else 1.0)
            degree = min(free_degree, limit)
            for b in range(degree + 1):
                for x in range(n_lanes):
                    poly[b, x] = free[b, x]
            for e in range(n_present):
                d = present[e]
                if d == own or is_free[e]:
                    continue
                y = y_share if share or d > own else 0.0
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


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def last_open_vote(own, present, n_present, most):
    """The most votes `own` may have and lose, and the largest k at which it can lose."""
    others, largest = 0, 0
    for e in range(n_present):
        d = present[e]
        if d != own:
            others += most[d]
            largest = max(largest, most[d])
    v_high = min(most[own], largest)
    return v_high, v_high + others


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def fewest_votes(row, n_parts, v_high, tol):
    """The fewest votes that matter: P(fewer) ≤ tol in all parts. row[votes · parts + part]."""
    least = v_high + 1
    for p in range(n_parts):
        total = 0.0
        for v in range(least):
            total += row[v * n_parts + p]
            if total > tol:
                least = v
                break
    return least


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def add_any(own, present, n_present, most, rows, n_lanes, v_low, v_high, k_low, k_high, poly, out):
    """out[k] += P(exactly k votes, v_low to v_high of them of `own`)."""
    for x in range(n_lanes):
        poly[0, x] = 1.0
    degree = np.int64(0)
    for e in range(n_present):
        d = present[e]
        if d != own:
            top = min(most[d], k_high - v_low)
            degree = multiply(poly, degree, rows[d], top, k_high - v_low, n_lanes)
    for v in range(v_low, min(v_high, k_high) + 1):
        for k in range(max(k_low, v), min(k_high, v + degree) + 1):
            for x in range(n_lanes):
                out[k, x] += rows[own, v, x] * poly[k - v, x]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def finished_votes(present, n_present, most, rows, n_parts, k_low, k_high, tol, poly):
    """The smallest k whose vote may still change: P(at most k training items so far) > tol."""
    for p in range(n_parts):
        poly[0, p] = 1.0
    degree = np.int64(0)
    for e in range(n_present):
        d = present[e]
        degree = multiply(poly, degree, rows[d], min(most[d], k_high), k_high, n_parts)
    smallest = k_high + 1
    for p in range(n_parts):
        total = 0.0
        for k in range(degree + 1):
            total += poly[k, p]
            if total > tol:
                smallest = min(smallest, k)
                break
    return max(smallest, k_low)
