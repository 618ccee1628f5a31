"""Compiled loop of 1-NN under fixed class counts: when the first training item of a class comes.

Passing an item of a class with f candidates left, of which α are drawn, multiplies the chance that
nobody was drawn yet by (f - α)/f; so a row costs O(N), however many classes there are. Tie groups
are integrated over a uniform time as in `_kernels_tied`.
"""

import numpy as np
from numba import njit

from allsplits.exact._kernels import group_end
from allsplits.exact._kernels_draws import table_of_class
from allsplits.exact._kernels_ties import choose_rule, first_tied, node_of, survive_tied

__all__ = ["has_ties", "nearest_counts"]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _nearest_in_group(
    members,
    n_members,
    group,
    counts,
    table_ids,
    pools,
    drawn_of_parts,
    part,
    survive,
    rules,
    silent,
    others,
    gains,
):
    """gains[d] = P(the nearest training item is tied and of class d); returns who survives."""
    drawn = drawn_of_parts[:, part]
    for m in range(n_members):
        gains[members[m]] = 0.0
    rule, panels, window = choose_rule(
        rules, members, n_members, group, table_ids, pools, drawn_of_parts[:, part : part + 1]
    )
    for q in range(panels * rules.sizes[rule]):
        time, time_weight = node_of(rules, rule, panels, window, q)
        # Products of all but one: a class that is certainly drawn by then is silent with chance 0.
        before = survive * time_weight
        for m in range(n_members):
            d = members[m]
            t = table_ids[d]
            others[m] = before
            silent[m] = survive_tied(pools[t], drawn[t], counts[d], group[d], time)
            before *= silent[m]
        after = 1.0
        for m in range(n_members - 1, -1, -1):
            d = members[m]
            t = table_ids[d]
            first = first_tied(pools[t], drawn[t], counts[d], group[d], time)
            gains[d] += others[m] * after * first
            after *= silent[m]
    for m in range(n_members):
        d = members[m]
        t = table_ids[d]
        for passed in range(group[d]):
            left = pools[t] - counts[d] - passed
            survive *= max(left - drawn[t], 0) / left
    return survive


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def has_ties(tied, first, last):
    """Whether any of these entries is tied with the one before it."""
    for e in range(first, last):
        if tied[e]:
            return True
    return False


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _nearest_untied(labels, first, last, unseen, shares, tol, sums):
    """sums[d] += P(the nearest training item is of class d), one item after the other.

    unseen[d] are the candidates of a class that are not passed yet, shares[d] how many are drawn.
    """
    survive = 1.0
    for e in range(first, last):
        d = labels[e]
        sums[d] += survive * (shares[d] / unseen[d])
        survive *= max(unseen[d] - shares[d], 0.0) / unseen[d]
        unseen[d] -= 1.0
        if survive <= tol:
            break


@njit(nogil=True, cache=True, error_model="numpy")
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
    drawn_of_parts,
    depth,
    every_class,
    average,
    tol,
    rules,
    out,
):
    """1-NN in O(N) per row: passing an item multiplies the chance that nobody was drawn yet.

    An item of class e with f candidates of its class left is the nearest with probability
    survive · α/f; otherwise survive is multiplied by (f - α)/f. Writes out[i, part, 0], or
    out[i, part, class] with every_class.
    """
    n_classes = table_of.shape[1]
    counts = np.zeros(n_classes, np.int64)
    group = np.zeros(n_classes, np.int64)
    members = np.empty(n_classes, np.int64)
    table_ids = np.empty(n_classes, np.int64)
    silent = np.empty(n_classes)
    others = np.empty(n_classes)
    gains = np.empty(n_classes)
    unseen = np.empty(n_classes)
    shares = np.empty(n_classes)
    n_parts = out.shape[1]
    for item in range(start * n_parts, stop * n_parts):
        i, part = item // n_parts, item % n_parts
        drawn = drawn_of_parts[:, part]
        for d in range(n_classes):
            counts[d] = 0
            table_ids[d] = table_of_class(kinds[i], d, own[i], table_of, own_table_of)
        survive = 1.0
        position = indptr[i]
        if not (average and has_ties(tied, position, indptr[i + 1])):
            for d in range(n_classes):
                gains[d] = 0.0
                unseen[d], shares[d] = pools[table_ids[d]], drawn[table_ids[d]]
            last = min(position + depth, indptr[i + 1])
            _nearest_untied(labels, position, last, unseen, shares, tol, gains)
            for d in range(n_classes if every_class else 1):
                out[i, part, d] = gains[d if every_class else own[i]]
            continue
        s = np.int64(0)
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
                survive = _nearest_in_group(
                    members, n_members, group, counts, table_ids, pools, drawn_of_parts, part,
                    survive, rules, silent, others, gains,
                )  # fmt: skip
            for m in range(n_members):
                d = members[m]
                if every_class or d == own[i]:
                    out[i, part, d if every_class else 0] += gains[d]
                counts[d] += group[d]
                group[d] = 0
            s += end - position
            position = end
