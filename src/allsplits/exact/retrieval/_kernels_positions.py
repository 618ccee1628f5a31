"""Compiled positions of relevant items in galleries with fixed class counts.

A relevant item is in the gallery with probability m/P. Its position is one more than the number of
gallery items before it, a sum over classes that are independent: the product of their
distributions. Tied items come at random times λ in [0, 1] (see `ties`): before λ a class with γ
tied members has Binomial(γ, λ) of them, so the product is integrated over the time of the item.

Cases are computed side by side, in LANES: relevant items without ties, or times of tied ones. The
nodes of a small tie group have lanes of their own, and powers of their times in tables.
"""

import numpy as np
from numba import njit

from allsplits.exact._kernels import group_end
from allsplits.exact._kernels_eight import (
    LANES,
    eight_times,
    largest,
    load,
    multiply_eight,
    plus,
    store,
    times,
)
from allsplits.exact._kernels_ties import (
    binomial_window,
    choose_rule,
    meet_group,
    new_walk,
    node_of,
    pass_group,
    start_walk,
)
from allsplits.exact.kernel_types import TimeRule
from allsplits.exact.laws.class_counts._kernels_rows import choose_tables
from allsplits.exact.retrieval.kernel_types import Lanes, WalkWork


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _work(n_classes, size):
    return WalkWork(
        new_walk(n_classes),
        np.empty(n_classes, np.int64),
        Lanes(
            np.empty((n_classes, LANES), np.int64),
            np.empty((n_classes, LANES), np.int64),
            np.empty(LANES),
            np.empty(LANES),
            np.empty((size + 1, LANES)),
            np.empty((size + 1, LANES)),
        ),
    )


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _reach(tables, first_line, lanes, d):
    """The smallest and the largest number of class d that matter in any lane."""
    low, high = np.int64(1) << 62, np.int64(-1)
    for x in range(LANES):
        line = first_line + lanes.counts[d, x]
        low = min(low, tables.lows[line])
        line += lanes.groups[d, x]
        high = max(high, tables.lows[line] + tables.offsets[line + 1] - tables.offsets[line] - 1)
    return low, high


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_line(tables, line, low, top, weight, x, row):
    """row[b - low, x] += weight · (the line's value of b), for b up to low + top."""
    start = tables.offsets[line]
    shift = tables.lows[line] - low - start
    for e in range(start, min(tables.offsets[line + 1], top + 1 - shift)):
        row[e + shift, x] += weight * tables.values[e]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _fill_row(tables, first_line, lanes, d, low, top):
    """lanes.row[b - low]: numbers of class d before each case, for b up to low + top."""
    row = lanes.row
    for b in range(top + 1):
        for x in range(LANES):
            row[b, x] = 0.0
    for x in range(LANES):
        line, tied = first_line + lanes.counts[d, x], lanes.groups[d, x]
        if tied == 0:
            _add_line(tables, line, low, top, 1.0, x, row)
            continue
        time = lanes.times[x]
        odds = time / (1.0 - time)
        first, last, weight = binomial_window(tied, time)
        scaled, total = weight, 0.0
        for c in range(first, last + 1):
            total += scaled
            scaled *= odds * (tied - c) / (c + 1.0)
        weight /= total
        for c in range(first, last + 1):
            _add_line(tables, line + c, low, top, weight, x, row)
            weight *= odds * (tied - c) / (c + 1.0)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _trim(poly, degree, faint):
    """Leave out the faint ends of a product; returns how many at the start, and the new degree."""
    while degree > 0 and largest(load(poly, degree)) < faint:
        degree -= 1
    first = np.int64(0)
    while first < degree and largest(load(poly, first)) < faint:
        first += 1
    if first > 0:
        for e in range(first, degree + 1):
            store(poly, e - first, load(poly, e))
    return first, degree - first


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _count(base, degree, weights, scale, lanes, over, out):
    """out[s] += what the cases count at position s + 1; returns whether later ones may count."""
    most = 0.0
    for e in range(degree + 1):
        total = 0.0
        for x in range(LANES):
            total += weights[x] * lanes.poly[e, x]
            most = max(most, lanes.poly[e, x])
        out[base + e] += scale * total
    return most >= over


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_lanes(present, reading, tables, work, out):
    """Add the cases of all lanes to `out`; returns whether later ones may count."""
    lanes, size, faint = work.lanes, reading.size, reading.faint
    poly = lanes.poly
    for x in range(LANES):
        poly[0, x] = 1.0
    base, degree = np.int64(0), np.int64(0)
    for d in present:
        first_line = tables.starts[work.table_ids[d]]
        low, high = _reach(tables, first_line, lanes, d)
        base += low
        if base >= size or high < low:
            return False
        limit = size - 1 - base
        top = min(high - low, limit)
        _fill_row(tables, first_line, lanes, d, low, top)
        degree = multiply_eight(poly, min(degree, limit), lanes.row, top, limit)
        first, degree = _trim(poly, degree, faint)
        base += first
    return _count(base, degree, lanes.weights, 1.0, lanes, reading.over, out)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _fill_small(tables, line, tied, small, first, low, top, row):
    """row[b - low]: numbers of a class before the nodes, for b up to low + top.

    `first` is where the powers of these nodes begin.
    """
    for b in range(top + 1):
        store(row, b, eight_times(0.0))
    for c in range(tied + 1):
        start = tables.offsets[line + c]
        shift = tables.lows[line + c] - low - start
        chosen = times(load(small.before, first + c), load(small.after, first + tied - c))
        share = times(eight_times(small.ways[tied, c]), chosen)
        for e in range(start, min(tables.offsets[line + c + 1], top + 1 - shift)):
            part = times(eight_times(tables.values[e]), share)
            store(row, e + shift, plus(load(row, e + shift), part))


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_small_group(own, rule, present, reading, tables, work, out):
    """Add a small tie group to `out`, with one of the small rules; returns as `_add_lanes`."""
    walk, lanes, small = work.walk, work.lanes, reading.small_groups
    size, row, poly = reading.size, lanes.row, lanes.poly
    goes_on = False
    for chunk in range(-(-reading.tie_rules.sizes[rule] // LANES)):
        powers = (rule * small.before.shape[1] + chunk) * small.before.shape[2]
        base, degree = np.int64(0), np.int64(0)
        store(poly, 0, eight_times(1.0))
        for d in present:
            tied = walk.group[d] - (1 if d == own else 0)
            line = tables.starts[work.table_ids[d]] + walk.counts[d]
            low, last = tables.lows[line], line + tied
            high = tables.lows[last] + tables.offsets[last + 1] - tables.offsets[last] - 1
            base += low
            if base >= size or high < low:
                break
            limit = size - 1 - base
            top = min(high - low, limit)
            _fill_small(tables, line, tied, small, powers, low, top, row)
            degree = multiply_eight(poly, min(degree, limit), row, top, limit)
            first, degree = _trim(poly, degree, reading.faint)
            base += first
        else:
            weights, n_relevant = small.weights[rule, chunk], float(walk.group[own])
            goes_on |= _count(base, degree, weights, n_relevant, lanes, reading.over, out)
    return goes_on


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _choose(own, members, reading, tables, work):
    """(how to integrate over the times of a tie group, whether it is small)."""
    group, rules, small = work.walk.group, reading.tie_rules, reading.small_groups
    expected, most, most_tied = 0.0, np.int64(0), np.int64(0)
    for d in members:
        t = work.table_ids[d]
        expected += group[d] * tables.shares[t]
        most += min(group[d], tables.drawn[t, 0])
        most_tied = max(most_tied, group[d])
    for rule in range(len(small.limits)):
        # All of it is a polynomial of degree most - 1, or more are too unlikely to matter.
        if 2 * rules.sizes[rule] >= most or small.limits[rule] >= expected:
            fits = most_tied < len(small.ways)
            return TimeRule(rule, np.int64(1), 1.0, rules.sizes[rule]), fits
    return choose_rule(rules, members, group, work.table_ids, tables.pools, tables.drawn), False


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _set_lane(x, present, own, walk, time, weight, lanes):
    """Case x: the walk as it stands, one item of class `own` apart."""
    for d in present:
        lanes.counts[d, x] = walk.counts[d]
        lanes.groups[d, x] = walk.group[d]
    lanes.groups[own, x] -= 1
    lanes.times[x], lanes.weights[x] = time, weight


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _fill_up(filled, present, lanes):
    """Lanes that are left over repeat the last case and count nothing."""
    for x in range(filled, LANES):
        for d in present:
            lanes.counts[d, x] = lanes.counts[d, filled - 1]
            lanes.groups[d, x] = lanes.groups[d, filled - 1]
        lanes.times[x], lanes.weights[x] = lanes.times[filled - 1], 0.0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _walk_row(labels, tied, own, reading, tables, work, out):
    """Add what the relevant items of one row count."""
    walk, lanes, rules = work.walk, work.lanes, reading.tie_rules
    start_walk(walk)
    n_present, n_in_lanes, filled, position = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    while position < len(labels):
        end = group_end(tied, position, len(labels), reading.average)
        n_present, n_members = meet_group(labels[position:end], walk, n_present)
        members = walk.members[:n_members]
        n_relevant = walk.group[own]
        if n_relevant > 0:
            # Classes that are met since are not in lanes that were filled before.
            for d in walk.present[n_in_lanes:n_present]:
                for x in range(filled):
                    lanes.counts[d, x] = 0
                    lanes.groups[d, x] = 0
            n_in_lanes = n_present
            present = walk.present[:n_present]
            chosen, is_small = _choose(own, members, reading, tables, work)
            if is_small and end > position + 1:
                goes_on = _add_small_group(own, chosen.number, present, reading, tables, work, out)
                chosen = TimeRule(chosen.number, chosen.panels, chosen.window, np.int64(0))
                if not goes_on:
                    break
            for q in range(chosen.n_nodes):
                time, weight = node_of(rules, chosen, q)
                _set_lane(filled, present, own, walk, time, weight * n_relevant, lanes)
                filled += 1
                if filled == LANES:
                    filled = 0
                    if not _add_lanes(present, reading, tables, work, out):
                        return
        pass_group(walk, members)
        position = end
    if filled > 0:
        present = walk.present[:n_in_lanes]
        _fill_up(filled, present, lanes)
        _add_lanes(present, reading, tables, work, out)


@njit(nogil=True, cache=True, error_model="numpy")
def add_positions(rows, start, stop, queries, reading, tables, out):
    """out[i, s] += the number of relevant items expected at position s + 1 of the gallery.

    What an item counts is in the tables of the own classes.
    """
    work = _work(queries.table_of.shape[1], reading.size)
    for i in range(start, stop):
        if queries.shares[i] > 0.0:
            own, kind = np.int64(rows.own[i]), queries.kinds[i]
            choose_tables(queries.table_of[kind], queries.own_table_of[kind], own, work.table_ids)
            begin, end = rows.indptr[i], rows.indptr[i + 1]
            line = out[i]
            _walk_row(
                rows.labels[begin:end], rows.tied[begin:end], own, reading, tables, work, line
            )
            for s in range(reading.size):
                line[s] *= queries.shares[i]
