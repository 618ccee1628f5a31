"""Compiled votes of classes whose numbers of voters are independent: products of capped rows.

Each class has a row: the probability of b voters, for many cases side by side (lanes, the last
axis). A class wins with v votes if no other has more; that caps the rows of the others.
"""

import numpy as np
from numba import njit


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


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _free_beaten(own, v, voters, limit, share, n_lanes, degree, work):
    """Multiply the classes that cannot hinder a win with v votes into work.free, each once.

    Returns the degree of work.free, how many rivals are left, and the most votes of all classes.
    """
    n_rivals = 0
    total = v
    for e in range(len(voters.present)):
        d = voters.present[e]
        if d == own:
            continue
        most = voters.most[d]
        total += min(most, v)
        if work.is_free[e]:
            continue
        if most < v or (most == v and not share and d > own):
            degree = multiply(work.free, degree, voters.rows[d], min(most, limit), limit, n_lanes)
            work.is_free[e] = True
        else:
            n_rivals += 1
    return degree, n_rivals, total


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _multiply_rival(poly, degree, row, v, y, limit, n_lanes, saved):
    """Multiply poly by the row of a rival up to v votes, of which v count y times."""
    for x in range(n_lanes):
        saved[x] = row[v, x]
        row[v, x] *= y
    degree = multiply(poly, degree, row, min(v if y > 0.0 else v - 1, limit), limit, n_lanes)
    for x in range(n_lanes):
        row[v, x] = saved[x]
    return degree


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def add_wins(own, voters, reach, share, quadrature, scale, n_lanes, work):
    """work.wins[k] += scale · P(exactly k votes, `own` wins), as far as reach (v_low ≥ 1) asks.

    Classes that cannot reach v votes are multiplied into work.free once and stay there for larger
    v. `own` is one of the classes that are present.
    """
    free, poly, wins, own_rows = work.free, work.poly, work.wins, voters.rows[own]
    n_present = len(voters.present)
    for e in range(n_present):
        work.is_free[e] = False
    for x in range(n_lanes):
        free[0, x] = 1.0
    free_degree = np.int64(0)
    most_others = reach.k_high - reach.v_low
    for v in range(reach.v_low, min(reach.v_high, reach.k_high) + 1):
        free_degree, n_rivals, total = _free_beaten(
            own, v, voters, most_others, share, n_lanes, free_degree, work
        )
        high = min(reach.k_high, total)
        low = max(reach.k_low, v)
        if high < low:
            continue
        if n_rivals == 0:
            for k in range(low, min(high, v + free_degree) + 1):
                for x in range(n_lanes):
                    wins[k, x] += scale * own_rows[v, x] * free[k - v, x]
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
            for e in range(n_present):
                d = voters.present[e]
                if d != own and not work.is_free[e]:
                    y = y_share if share or d > own else 0.0
                    degree = _multiply_rival(
                        poly, degree, voters.rows[d], v, y, limit, n_lanes, wins[0]
                    )
            for k in range(low, min(high, v + degree) + 1):
                for x in range(n_lanes):
                    wins[k, x] += weight * own_rows[v, x] * poly[k - v, x]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def last_open_vote(own, voters):
    """The most votes `own` may have and lose, and the largest k at which it can lose."""
    others, largest = 0, 0
    for d in voters.present:
        if d != own:
            others += voters.most[d]
            largest = max(largest, voters.most[d])
    v_high = min(voters.most[own], largest)
    return v_high, v_high + others


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
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


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def add_any(own, voters, reach, n_lanes, work):
    """work.wins[k] += P(exactly k votes), whoever wins, as far as reach asks."""
    poly, limit = work.poly, reach.k_high - reach.v_low
    for x in range(n_lanes):
        poly[0, x] = 1.0
    degree = np.int64(0)
    for d in voters.present:
        if d != own:
            top = min(voters.most[d], limit)
            degree = multiply(poly, degree, voters.rows[d], top, limit, n_lanes)
    for v in range(reach.v_low, min(reach.v_high, reach.k_high) + 1):
        for k in range(max(reach.k_low, v), min(reach.k_high, v + degree) + 1):
            for x in range(n_lanes):
                work.wins[k, x] += voters.rows[own, v, x] * poly[k - v, x]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def finished_votes(voters, n_lanes, k_low, k_high, tol, poly):
    """The smallest k whose vote may still change: P(at most k training items so far) > tol."""
    for x in range(n_lanes):
        poly[0, x] = 1.0
    degree = np.int64(0)
    for d in voters.present:
        top = min(voters.most[d], k_high)
        degree = multiply(poly, degree, voters.rows[d], top, k_high, n_lanes)
    smallest = k_high + 1
    for x in range(n_lanes):
        total = 0.0
        for k in range(degree + 1):
            total += poly[k, x]
            if total > tol:
                smallest = min(smallest, k)
                break
    return max(smallest, k_low)
