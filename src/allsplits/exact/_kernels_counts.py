"""Compiled loops for a fixed number of training items from each class.

If a class has N candidates of which α are drawn, the number of training items among its n nearest
is hypergeometric, h[n, b], and classes are independent. The vote is over when the (k+1)-th
training item comes: an item of class e is drawn with probability (α_e - b_e)/(N_e - n_e).

Tied neighbours come in random order: give each member of a tie group a uniform time λ. Before λ, a
class with γ tied members has Binomial(γ, λ) of them in the prefix, and classes stay independent
given λ. The integrand is a polynomial in λ of degree below the size of the group, so
Gauss-Legendre nodes integrate it exactly. A group of one item is the untied case.
"""

import numpy as np
from numba import njit

from allsplits.exact._kernels import group_end

__all__ = ["hit_counts", "hypergeometric_table", "nearest_counts", "score_counts"]


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
def _table(kind, d, own, table_of, own_table_of):
    """The table of class d as seen from a held-out sample of class `own`."""
    return own_table_of[kind, d] if d == own else table_of[kind, d]


@njit(nogil=True, cache=True)
def _row_before(table, n, tied, time, b_max, out):
    """Votes of a class with n items in the prefix and `tied` in the group, before the time."""
    if tied == 0:
        for b in range(b_max + 1):
            out[b] = table[n, b]
        return
    for b in range(b_max + 1):
        out[b] = 0.0
    share = (1.0 - time) ** tied
    odds = time / (1.0 - time)
    for d in range(tied + 1):
        for b in range(b_max + 1):
            out[b] += share * table[n + d, b]
        share *= odds * (tied - d) / (d + 1.0)


@njit(nogil=True, cache=True)
def _row_next(table, pool, drawn, n, tied, time, b_max, out):
    """The same, and a tied member of the class is drawn at this very time."""
    for b in range(b_max + 1):
        out[b] = 0.0
    share = tied * (1.0 - time) ** (tied - 1)
    odds = time / (1.0 - time)
    for d in range(tied):
        left = float(pool - n - d)
        for b in range(b_max + 1):
            if b < drawn:
                out[b] += share * table[n + d, b] * (drawn - b) / left
        share *= odds * (tied - 1 - d) / (d + 1.0)


@njit(nogil=True, cache=True)
def _multiply(poly, degree, row, top, limit, temp):
    """Poly ← poly · Σ_{b ≤ top} row[b] z^b, truncated at `limit`; returns the new degree."""
    new_degree = min(degree + top, limit)
    for e in range(new_degree, -1, -1):
        total = 0.0
        for b in range(max(0, e - degree), min(e, top) + 1):
            total += row[b] * poly[e - b]
        temp[e] = total
    for e in range(new_degree + 1):
        poly[e] = temp[e]
    return new_degree


@njit(nogil=True, cache=True)
def _add_wins(
    own,
    present,
    n_present,
    most,
    rows,
    k_low,
    k_high,
    nodes,
    weights,
    share,
    scale,
    free,
    poly,
    temp,
    is_free,
    wins,
):
    """wins[k] += scale · P(exactly k votes, `own` wins) for the classes' vote rows.

    most[d] is the largest number of votes of class d. Classes that cannot reach v votes are
    multiplied into `free` once and stay there for larger v.
    """
    for e in range(n_present):
        is_free[e] = False
    free[0] = 1.0
    free_degree = 0
    n_capped = n_present - 1
    for v in range(1, min(most[own], k_high) + 1):
        rivals = 0
        for e in range(n_present):
            d = present[e]
            if d == own or is_free[e]:
                continue
            if most[d] < v or (most[d] == v and not share and d > own):
                free_degree = _multiply(
                    free, free_degree, rows[d], min(most[d], k_high), k_high, temp
                )
                is_free[e] = True
                n_capped -= 1
            elif most[d] >= v:
                rivals += 1
        if n_capped == 0:
            for k in range(max(k_low, v), min(k_high, v + free_degree) + 1):
                wins[k] += scale * rows[own, v] * free[k - v]
            continue
        limit = k_high - v
        order = min(rivals, limit // v) // 2 + 1 if share else 1
        for q in range(order):
            y_share = nodes[order, q] if share else 1.0
            weight = weights[order, q] if share else 1.0
            degree = min(free_degree, limit)
            for b in range(degree + 1):
                poly[b] = free[b]
            for e in range(n_present):
                d = present[e]
                if d == own or is_free[e]:
                    continue
                y = y_share if share or d > own else 0.0
                kept = rows[d, v]
                rows[d, v] = kept * y
                degree = _multiply(
                    poly, degree, rows[d], min(v if y > 0.0 else v - 1, limit), limit, temp
                )
                rows[d, v] = kept
            for k in range(max(k_low, v), min(k_high, v + degree) + 1):
                wins[k] += scale * weight * rows[own, v] * poly[k - v]


@njit(nogil=True, cache=True)
def _mass_up_to(present, n_present, most, rows, k_high, poly, temp):
    """P(at most k_high training items in the prefix): what can still change the vote."""
    poly[0] = 1.0
    degree = 0
    for e in range(n_present):
        d = present[e]
        degree = _multiply(poly, degree, rows[d], min(most[d], k_high), k_high, temp)
    total = 0.0
    for b in range(degree + 1):
        total += poly[b]
    return total


@njit(nogil=True, cache=True)
def score_counts(
    indptr,
    labels,
    tied,
    own,
    start,
    stop,
    kinds,
    table_of,
    own_table_of,
    starts,
    pools,
    drawn,
    tables,
    depth,
    every_class,
    average,
    share,
    ks,
    tol,
    time_starts,
    time_nodes,
    time_weights,
    nodes,
    weights,
    out,
):
    """P(right) of each row for each k, or with every_class P(each class) for the first k.

    Stops a row when no more than `tol` of its mass is left.
    """
    b_max = tables.shape[1] - 1
    n_classes = table_of.shape[1]
    k_low, k_high = ks.min(), ks.max()
    counts = np.zeros(n_classes, np.int64)
    group = np.zeros(n_classes, np.int64)
    most = np.zeros(n_classes, np.int64)
    present = np.empty(n_classes, np.int64)
    is_free = np.empty(n_classes, np.bool_)
    rows = np.zeros((n_classes, b_max + 1))
    next_row = np.empty(b_max + 1)
    free = np.empty(b_max + 1)
    poly = np.empty(b_max + 1)
    temp = np.empty(b_max + 1)
    wins = np.empty(b_max + 1)
    for i in range(start, stop):
        for c in range(n_classes):
            counts[c] = 0
            most[c] = 0
        n_present = 0
        position = indptr[i]
        s = 0
        while position < indptr[i + 1] and s < depth:
            end = group_end(tied, position, indptr[i + 1], average)
            g = end - position
            for e in range(position, end):
                c = labels[e]
                if most[c] == 0:
                    present[n_present] = c
                    n_present += 1
                    counts[c] = 0
                most[c] += 1
                group[c] += 1
            order = (g + 1) // 2
            for q in range(order):
                node = time_starts[order] + q
                time = time_nodes[node]
                for e in range(n_present):
                    d = present[e]
                    if group[d] > 0:
                        t = _table(kinds[i], d, own[i], table_of, own_table_of)
                        _row_before(tables[starts[t] :], counts[d], group[d], time, b_max, rows[d])
                for e in range(n_present):
                    d = present[e]
                    if group[d] == 0:
                        continue
                    t = _table(kinds[i], d, own[i], table_of, own_table_of)
                    _row_next(
                        tables[starts[t] :],
                        pools[t],
                        drawn[t],
                        counts[d],
                        group[d],
                        time,
                        b_max,
                        next_row,
                    )
                    for b in range(b_max + 1):
                        temp[b] = rows[d, b]
                        rows[d, b] = next_row[b]
                        next_row[b] = temp[b]
                    for f in range(n_present):
                        target = present[f]
                        if not every_class and target != own[i]:
                            continue
                        for k in range(k_low, k_high + 1):
                            wins[k] = 0.0
                        _add_wins(
                            target,
                            present,
                            n_present,
                            most,
                            rows,
                            k_low,
                            k_high,
                            nodes,
                            weights,
                            share,
                            time_weights[node],
                            free,
                            poly,
                            temp,
                            is_free,
                            wins,
                        )
                        if every_class:
                            out[i, target] += wins[ks[0]]
                        else:
                            for c in range(len(ks)):
                                out[i, c] += wins[ks[c]]
                    for b in range(b_max + 1):
                        rows[d, b] = next_row[b]
            for e in range(position, end):
                d = labels[e]
                if group[d] > 0:
                    counts[d] += group[d]
                    group[d] = 0
                    t = _table(kinds[i], d, own[i], table_of, own_table_of)
                    for b in range(b_max + 1):
                        rows[d, b] = tables[starts[t] + counts[d], b]
            s += g
            position = end
            if _mass_up_to(present, n_present, most, rows, k_high, poly, temp) <= tol:
                break


@njit(nogil=True, cache=True)
def hit_counts(
    indptr,
    labels,
    tied,
    own,
    start,
    stop,
    kinds,
    table_of,
    own_table_of,
    starts,
    pools,
    drawn,
    tables,
    depth,
    average,
    ks,
    time_starts,
    time_nodes,
    time_weights,
    out,
):
    """P(any of the R nearest training items has the right class), for every rank R in ks.

    The nearest training item of the right class stands somewhere, and before it there must be
    fewer than R training items of other classes.
    """
    b_max = tables.shape[1] - 1
    n_classes = table_of.shape[1]
    counts = np.zeros(n_classes, np.int64)
    group = np.zeros(n_classes, np.int64)
    seen = np.zeros(n_classes, np.bool_)
    present = np.empty(n_classes, np.int64)
    row = np.empty(b_max + 1)
    poly = np.empty(b_max + 1)
    temp = np.empty(b_max + 1)
    for i in range(start, stop):
        for c in range(n_classes):
            counts[c] = 0
            seen[c] = False
        y = own[i]
        n_present = 0
        position = indptr[i]
        s = 0
        mine = own_table_of[kinds[i], y]
        while position < indptr[i + 1] and s < depth:
            end = group_end(tied, position, indptr[i + 1], average)
            g = end - position
            for e in range(position, end):
                c = labels[e]
                if not seen[c]:
                    seen[c] = True
                    present[n_present] = c
                    n_present += 1
                group[c] += 1
            order = (g + 1) // 2 if group[y] > 0 else 0
            for q in range(order):
                node = time_starts[order] + q
                time = time_nodes[node]
                _row_next(
                    tables[starts[mine] :],
                    pools[mine],
                    drawn[mine],
                    counts[y],
                    group[y],
                    time,
                    0,
                    row,
                )
                first = row[0] * time_weights[node]
                poly[0] = 1.0
                degree = 0
                for e in range(n_present):
                    d = present[e]
                    if d != y:
                        t = table_of[kinds[i], d]
                        top = min(counts[d] + group[d], b_max)
                        _row_before(tables[starts[t] :], counts[d], group[d], time, top, row)
                        degree = _multiply(poly, degree, row, top, b_max, temp)
                for c in range(len(ks)):
                    fewer = 0.0
                    for b in range(min(ks[c] - 1, degree) + 1):
                        fewer += poly[b]
                    out[i, c] += first * fewer
            for e in range(position, end):
                counts[labels[e]] += 1
                group[labels[e]] = 0
            s += g
            position = end


@njit(nogil=True, cache=True)
def _survive_tied(pool, drawn, n, tied, time):
    """P(no training item among `tied` more items before the time | none so far)."""
    total = 0.0
    relative = 1.0
    share = (1.0 - time) ** tied
    odds = time / (1.0 - time)
    for d in range(tied + 1):
        total += share * relative
        share *= odds * (tied - d) / (d + 1.0)
        if d < tied:
            left = pool - n - d
            relative *= max(left - drawn, 0) / left
    return total


@njit(nogil=True, cache=True)
def _first_tied(pool, drawn, n, tied, time):
    """P(density) that the first training item of the class is tied and comes at this time."""
    total = 0.0
    relative = 1.0
    share = tied * (1.0 - time) ** (tied - 1)
    odds = time / (1.0 - time)
    for d in range(tied):
        left = pool - n - d
        total += share * relative * drawn / left
        share *= odds * (tied - 1 - d) / (d + 1.0)
        relative *= max(left - drawn, 0) / left
    return total


@njit(nogil=True, cache=True)
def _nearest_in_group(
    members, n_members, group, counts, table_ids, pools, drawn, survive, times, time_weights, gains
):
    """gains[d] = P(the nearest training item is tied and of class d); returns who survives."""
    for m in range(n_members):
        gains[members[m]] = 0.0
    for q in range(len(times)):
        nobody = survive * time_weights[q]
        for m in range(n_members):
            d = members[m]
            t = table_ids[d]
            nobody *= _survive_tied(pools[t], drawn[t], counts[d], group[d], times[q])
        for m in range(n_members):
            d = members[m]
            t = table_ids[d]
            silent = _survive_tied(pools[t], drawn[t], counts[d], group[d], times[q])
            first = _first_tied(pools[t], drawn[t], counts[d], group[d], times[q])
            gains[d] += nobody / silent * first
    for m in range(n_members):
        d = members[m]
        t = table_ids[d]
        for passed in range(group[d]):
            left = pools[t] - counts[d] - passed
            survive *= max(left - drawn[t], 0) / left
    return survive


@njit(nogil=True, cache=True)
def nearest_counts(
    indptr,
    labels,
    tied,
    own,
    start,
    stop,
    kinds,
    table_of,
    own_table_of,
    pools,
    drawn,
    depth,
    every_class,
    average,
    tol,
    time_starts,
    time_nodes,
    time_weights,
    column,
    out,
):
    """1-NN in O(N) per row: passing an item multiplies the chance that nobody was drawn yet.

    An item of class e with f candidates of its class left is the nearest with probability
    survive · α/f; otherwise survive is multiplied by (f - α)/f. Writes out[i, column], or
    out[i, class] with every_class.
    """
    n_classes = table_of.shape[1]
    counts = np.zeros(n_classes, np.int64)
    group = np.zeros(n_classes, np.int64)
    members = np.empty(n_classes, np.int64)
    table_ids = np.empty(n_classes, np.int64)
    gains = np.empty(n_classes)
    for i in range(start, stop):
        for d in range(n_classes):
            counts[d] = 0
            table_ids[d] = _table(kinds[i], d, own[i], table_of, own_table_of)
        survive = 1.0
        position = indptr[i]
        s = 0
        while position < indptr[i + 1] and s < depth and survive > tol:
            end = group_end(tied, position, indptr[i + 1], average)
            n_members = 0
            for e in range(position, end):
                d = labels[e]
                if group[d] == 0:
                    members[n_members] = d
                    n_members += 1
                group[d] += 1
            if end - position == 1:
                d = members[0]
                t = table_ids[d]
                left = pools[t] - counts[d]
                gains[d] = survive * drawn[t] / left
                survive *= max(left - drawn[t], 0) / left
            else:
                order = (end - position + 1) // 2
                low = time_starts[order]
                survive = _nearest_in_group(
                    members,
                    n_members,
                    group,
                    counts,
                    table_ids,
                    pools,
                    drawn,
                    survive,
                    time_nodes[low : low + order],
                    time_weights[low : low + order],
                    gains,
                )
            for m in range(n_members):
                d = members[m]
                if every_class:
                    out[i, d] += gains[d]
                elif d == own[i]:
                    out[i, column] += gains[d]
                counts[d] += group[d]
                group[d] = 0
            s += end - position
            position = end
