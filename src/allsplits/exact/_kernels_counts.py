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

__all__ = ["add_wins", "hit_counts", "hypergeometric_table", "score_counts", "table_of_class"]

# How many vectors of votes go side by side; more than one register's worth, less than a cache's.
LANES = 64


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
def _row_before(table, n, tied, time, width, out):
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
def _row_next(table, remaining, pool, n, tied, time, width, out):
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


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _multiply(poly, degree, row, top, limit, n_lanes):
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
    """wins[k] += scale · P(exactly k votes, `own` wins with 1 to v_high of them).

    most[d] is the largest number of votes of class d. Classes that cannot reach v votes are
    multiplied into `free` once and stay there for larger v.
    """
    for e in range(n_present):
        is_free[e] = False
    for x in range(n_lanes):
        free[0, x] = 1.0
    free_degree = np.int64(0)
    n_capped = n_present - 1
    for v in range(1, min(v_high, k_high) + 1):
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
                top = min(most[d], k_high)
                free_degree = _multiply(free, free_degree, rows[d], top, k_high, n_lanes)
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
                degree = _multiply(poly, degree, rows[d], top, limit, n_lanes)
                for x in range(n_lanes):
                    rows[d, v, x] = wins[0, x]
            for k in range(low, min(high, v + degree) + 1):
                for x in range(n_lanes):
                    wins[k, x] += weight * rows[own, v, x] * poly[k - v, x]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _last_open_vote(own, present, n_present, most):
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
def _add_any(own, present, n_present, most, rows, n_lanes, v_high, k_low, k_high, poly, out):
    """out[k] += P(exactly k votes, at most v_high of them of `own`)."""
    for x in range(n_lanes):
        poly[0, x] = 1.0
    degree = np.int64(0)
    for e in range(n_present):
        d = present[e]
        if d != own:
            degree = _multiply(poly, degree, rows[d], min(most[d], k_high), k_high, n_lanes)
    for v in range(v_high + 1):
        for k in range(max(k_low, v), min(k_high, v + degree) + 1):
            for x in range(n_lanes):
                out[k, x] += rows[own, v, x] * poly[k - v, x]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _finished_votes(present, n_present, most, rows, n_parts, k_low, k_high, tol, poly):
    """The smallest k whose vote may still change: P(at most k training items so far) > tol."""
    for p in range(n_parts):
        poly[0, p] = 1.0
    degree = np.int64(0)
    for e in range(n_present):
        d = present[e]
        degree = _multiply(poly, degree, rows[d], min(most[d], k_high), k_high, n_parts)
    smallest = k_high + 1
    for p in range(n_parts):
        total = 0.0
        for k in range(degree + 1):
            total += poly[k, p]
            if total > tol:
                smallest = min(smallest, k)
                break
    return max(smallest, k_low)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _copy_to_lanes(row, width, n_parts, first, out):
    """out[votes, first + part] = row[votes · parts + part]."""
    for x in range(width):
        out[x // n_parts, first + x % n_parts] = row[x]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _fill_lanes(
    d,
    table,
    remaining,
    pool,
    n,
    tied,
    members,
    n_members,
    times,
    time_weights,
    first_node,
    n_nodes,
    width,
    n_parts,
    row,
    out,
):
    """Vote rows of class d, one lane for each (time node, class of the next item, part).

    The weight of the node goes with the class that is drawn next.
    """
    if tied == 0:
        for r in range(n_nodes * n_members):
            _copy_to_lanes(table[n], width, n_parts, r * n_parts, out)
        return
    for q in range(n_nodes):
        time = times[first_node + q]
        if n_members > 1:
            _row_before(table, n, tied, time, width, row)
            for e in range(n_members):
                _copy_to_lanes(row, width, n_parts, (q * n_members + e) * n_parts, out)
        _row_next(table, remaining, pool, n, tied, time, width, row)
        for x in range(width):
            row[x] *= time_weights[first_node + q]
        for e in range(n_members):
            if members[e] == d:
                _copy_to_lanes(row, width, n_parts, (q * n_members + e) * n_parts, out)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _score_lanes(
    own,
    present,
    n_present,
    most,
    rows,
    n_lanes,
    k_low,
    k_high,
    every_class,
    share,
    ks,
    nodes,
    weights,
    is_free,
    work,
    out,
):
    """Add up the lanes: P(class wins) with every_class, otherwise P(`own` loses) for each k."""
    n_parts = out.shape[0]
    free, poly, wins = work[0], work[1], work[2]
    v_own, k_open = _last_open_vote(own, present, n_present, most)
    k_open = k_high if every_class else min(k_open, k_high)
    for f in range(n_present if every_class else 1):
        target = present[f] if every_class else own
        for k in range(k_low, k_open + 1):
            for x in range(n_lanes):
                wins[k, x] = 0.0
        v_high, sign = most[target], 1.0
        if not every_class:
            v_high, sign = v_own, -1.0
            _add_any(own, present, n_present, most, rows, n_lanes, v_own, k_low, k_open, poly, wins)
        add_wins(
            target,
            present,
            n_present,
            most,
            rows,
            n_lanes,
            v_high,
            k_low,
            k_open,
            nodes,
            weights,
            share,
            sign,
            free,
            poly,
            is_free,
            wins,
        )
        for c in range(len(ks)):
            if k_low <= ks[c] <= k_open:
                for x in range(n_lanes):
                    out[x % n_parts, target if every_class else c] += wins[ks[c], x]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _score_row(
    position,
    row_end,
    labels,
    tied,
    own,
    table_ids,
    starts,
    pools,
    remaining,
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
    counts,
    group,
    most,
    present,
    members,
    is_free,
    rows,
    row,
    work,
    out,
):
    """Walk the tie groups of one row and add up the votes; returns how many classes were met.

    With every_class out gets P(class wins), otherwise P(`own` loses) for each k: most
    prefixes leave `own` no way to lose, or only for small k. All time nodes and next classes of a
    group go through the votes side by side.
    """
    n_parts, width = out.shape[0], tables.shape[1]
    k_low, k_high = ks[0], ks[0]
    for k in ks:
        k_low, k_high = min(k, k_low), max(k, k_high)
    for b in range(rows.shape[1]):
        for x in range(rows.shape[2]):
            rows[own, b, x] = 1.0 if b == 0 else 0.0
    n_present = np.int64(0)
    s = np.int64(0)
    n_groups = 0
    while position < row_end and s < depth and k_low <= k_high:
        end = group_end(tied, position, row_end, average)
        n_members = np.int64(0)
        for e in range(position, end):
            c = labels[e]
            if most[c] == 0:
                present[n_present] = c
                n_present += 1
            if group[c] == 0:
                members[n_members] = c
                n_members += 1
            most[c] += 1
            group[c] += 1
        _, k_open = _last_open_vote(own, present, n_present, most)
        if every_class or k_low <= k_open:
            order = (end - position + 1) // 2
            at_once = max(1, rows.shape[2] // (n_members * n_parts))
            for first in range(0, order, at_once):
                n_nodes = min(at_once, order - first)
                for e in range(n_present):
                    d = present[e]
                    t = table_ids[d]
                    _fill_lanes(
                        d,
                        tables[starts[t] :],
                        remaining[t],
                        pools[t],
                        counts[d],
                        group[d],
                        members,
                        n_members,
                        time_nodes,
                        time_weights,
                        time_starts[order] + first,
                        n_nodes,
                        # No class has more votes than items: the rest is never read.
                        min((most[d] + 1) * n_parts, width),
                        n_parts,
                        row,
                        rows[d],
                    )
                _score_lanes(
                    own,
                    present,
                    n_present,
                    most,
                    rows,
                    n_nodes * n_members * n_parts,
                    k_low,
                    k_high,
                    every_class,
                    share,
                    ks,
                    nodes,
                    weights,
                    is_free,
                    work,
                    out,
                )
        for e in range(n_members):
            counts[members[e]] += group[members[e]]
            group[members[e]] = 0
        s += end - position
        position = end
        n_groups += 1
        if n_groups % 4 == 0:
            for e in range(n_present):
                d = present[e]
                used = min((most[d] + 1) * n_parts, width)
                table_row = tables[starts[table_ids[d]] + counts[d]]
                _copy_to_lanes(table_row, used, n_parts, 0, rows[d])
            k_low = _finished_votes(
                present, n_present, most, rows, n_parts, k_low, k_high, tol, work[1]
            )
    return n_present


@njit(nogil=True, cache=True, error_model="numpy")
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
    remaining,
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
    """out[i, part]: P(right) for each k, or with every_class P(each class) for the only k.

    The parts are count vectors; they share the walk through the row. A row stops when at most
    `tol` is left.
    """
    n_parts, n_classes = out.shape[1], table_of.shape[1]
    size = tables.shape[1] // n_parts
    n_lanes = max(LANES, n_classes * n_parts)
    counts = np.zeros(n_classes, np.int64)
    group = np.zeros(n_classes, np.int64)
    most = np.zeros(n_classes, np.int64)
    present = np.empty(n_classes, np.int64)
    members = np.empty(n_classes, np.int64)
    table_ids = np.empty(n_classes, np.int64)
    is_free = np.empty(n_classes, np.bool_)
    rows = np.empty((n_classes, size, n_lanes))
    row = np.empty(size * n_parts)
    work = np.empty((3, size, n_lanes))
    for i in range(start, stop):
        pure = True
        for e in range(indptr[i], min(indptr[i] + depth, indptr[i + 1])):
            if labels[e] != own[i]:
                pure = False
                break
        if pure:
            for p in range(n_parts):
                if every_class:
                    out[i, p, own[i]] = 1.0
                else:
                    for c in range(len(ks)):
                        out[i, p, c] = 1.0
            continue
        for d in range(n_classes):
            table_ids[d] = table_of_class(kinds[i], d, own[i], table_of, own_table_of)
        n_present = _score_row(
            indptr[i],
            indptr[i + 1],
            labels,
            tied,
            own[i],
            table_ids,
            starts,
            pools,
            remaining,
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
            counts,
            group,
            most,
            present,
            members,
            is_free,
            rows,
            row,
            work,
            out[i],
        )
        if not every_class:
            for p in range(n_parts):
                for c in range(len(ks)):
                    out[i, p, c] = 1.0 - out[i, p, c]
        for e in range(n_present):
            counts[present[e]] = 0
            most[present[e]] = 0


@njit(nogil=True, cache=True, error_model="numpy")
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
    remaining,
    tables,
    depth,
    average,
    ks,
    time_starts,
    time_nodes,
    time_weights,
    out,
):
    """out[i, part, c]: P(any of the R nearest training items has the right class), R = ks[c].

    The nearest training item of the right class stands somewhere, and before it there must be
    fewer than R training items of other classes.
    """
    n_parts, n_classes = out.shape[1], table_of.shape[1]
    size = tables.shape[1] // n_parts
    counts = np.zeros(n_classes, np.int64)
    group = np.zeros(n_classes, np.int64)
    seen = np.zeros(n_classes, np.bool_)
    present = np.empty(n_classes, np.int64)
    flat_row = np.empty(size * n_parts)
    row = flat_row.reshape(size, n_parts)
    first = np.empty(n_parts)
    poly = np.empty((size, n_parts))
    for i in range(start, stop):
        for c in range(n_classes):
            counts[c] = 0
            seen[c] = False
        y = own[i]
        n_present = np.int64(0)
        position = indptr[i]
        s = np.int64(0)
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
                table = tables[starts[mine] :]
                _row_next(
                    table, remaining[mine], pools[mine], counts[y], group[y], time, n_parts, first
                )
                for p in range(n_parts):
                    poly[0, p] = 1.0
                degree = np.int64(0)
                for e in range(n_present):
                    d = present[e]
                    if d != y:
                        table = tables[starts[table_of[kinds[i], d]] :]
                        top = min(counts[d] + group[d], size - 1)
                        width = (top + 1) * n_parts
                        _row_before(table, counts[d], group[d], time, width, flat_row)
                        degree = _multiply(poly, degree, row, top, size - 1, n_parts)
                for p in range(n_parts):
                    for c in range(len(ks)):
                        fewer = 0.0
                        for b in range(min(ks[c] - 1, degree) + 1):
                            fewer += poly[b, p]
                        out[i, p, c] += time_weights[node] * first[p] * fewer
            for e in range(position, end):
                counts[labels[e]] += 1
                group[labels[e]] = 0
            s += g
            position = end
