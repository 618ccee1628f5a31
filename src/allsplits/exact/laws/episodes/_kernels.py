"""Compiled loop of few-shot episodes with the nearest support item.

The nearest support item of a query is an item of class d if d is in the episode and nobody of the
episode's other classes is drawn before it. A class with n of its N items passed is silent so far
with probability s = C(N-n, α)/C(N, α); over random sets of other classes the silent product
averages to an elementary symmetric polynomial of the s, divided by the number of sets. Cases (an
item that may be the nearest; in a tie group, a class at a time node) are put side by side.
"""

import numpy as np
from numba import njit

from allsplits.exact._kernels import group_end
from allsplits.exact._kernels_ties import choose_rule, first_tied, node_of, survive_tied
from allsplits.exact.laws.class_counts._kernels_nearest import has_ties

__all__ = ["episode_scores"]


#: Cases side by side.
LANES = 32


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _mean_products(cases, y, m, means):
    """means[r, x] = mean over all r-subsets of the classes but y of the products of cases[:, x].

    For r = m - 1 and m; fewer are on the way.
    """
    for r in range(m + 1):
        for x in range(LANES):
            means[r, x] = 1.0 if r == 0 else 0.0
    n_others, met = len(cases) - 1, 0
    for d in range(len(cases)):
        if d == y:
            continue
        met += 1
        # Fewer than m - 1 less the classes to come lead nowhere.
        for r in range(min(met, m), max(0, m - n_others + met - 2), -1):
            # C(n, r-1)/C(n, r): sums of products over all r-subsets, divided by their number.
            ratio = r / (n_others - r + 1.0)
            for x in range(LANES):
                means[r, x] += ratio * cases[d, x] * means[r - 1, x]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_cases(n_cases, cases, y, n_way, classes, factors, means, every_class, out):
    """Add up the cases: the other classes of the episode are silent so far."""
    m, n_others = n_way - 1, len(cases) - 1
    _mean_products(cases, y, m, means)
    # d is in the episode of y with probability m/n, and products that hold d are zero: the mean
    # over all (m-1)-subsets of n classes is that of the subsets without d times (n-m+1)/n.
    of_others = m / (n_others - m + 1.0)
    for x in range(n_cases):
        mean = means[m, x] if classes[x] == y else of_others * means[m - 1, x]
        out[classes[x] if every_class else 0] += factors[x] * mean


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _put_case(x, d, y, first, silent, cases, classes, factors):
    """Case x: an item of class d is the first of its class with the probability `first`."""
    for c in range(len(silent)):
        cases[c, x] = silent[c]
    cases[d, x] = 0.0
    classes[x] = d
    factors[x] = first if d == y else first * silent[y]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _own_untied(
    labels, first, last, y, n_way, places, silent, firsts, cases, classes, factors, means, out
):
    """P(right) of a row without ties: one case for each item of the query's own class."""
    n_cases = np.int64(0)
    for e in range(first, last):
        d = labels[e]
        if d == y:
            for c in range(len(places)):
                cases[c, n_cases] = silent[places[c]]
            classes[n_cases] = d
            factors[n_cases] = firsts[places[d]]
            n_cases += 1
        places[d] += 1
        if n_cases == LANES or e == last - 1:
            _add_cases(n_cases, cases, y, n_way, classes, factors, means, False, out)
            n_cases = np.int64(0)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _every_untied(
    labels, first, last, y, n_way, places, silent, firsts, cases, factors, means, out
):
    """P(each class) of a row without ties: one case for each item."""
    for start in range(first, last, LANES):
        classes = labels[start : min(start + LANES, last)]
        for c in range(len(places)):
            place = places[c]
            for x in range(len(classes)):
                cases[c, x] = silent[place]
                place += classes[x] == c
        for x in range(len(classes)):
            d = classes[x]
            factors[x] = firsts[places[d]] * (1.0 if d == y else cases[y, x])
            places[d] += 1
            cases[d, x] = 0.0
        _add_cases(len(classes), cases, y, n_way, classes, factors, means, True, out)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _pass_group(members, n_members, counts, group, pools, k_shot, silent_before, silent):
    """Chances to be silent after a whole tie group."""
    for m in range(n_members):
        d = members[m]
        for passed in range(group[d]):
            left = pools[d] - counts[d] - passed
            silent_before[d] *= max(left - k_shot, 0) / left
        silent[d] = silent_before[d]
        counts[d] += group[d]
        group[d] = 0


@njit(nogil=True, cache=True, error_model="numpy")
def episode_scores(
    indptr,
    labels,
    tied,
    own,
    start,
    stop,
    sizes,
    n_way,
    k_shot,
    every_class,
    average,
    rules,
    starts,
    silent_of,
    first_of,
    out,
):
    """P(right) in out[i, 0], or with every_class P(each class) in out[i, class].

    Tables, for candidates with and without the query: from starts[is own, class] on, the chances
    that a class is silent after 0, 1, … of its items, and that the next is its first.
    """
    n_classes = len(sizes)
    counts = np.zeros(n_classes, np.int64)
    group = np.zeros(n_classes, np.int64)
    members = np.empty(n_classes, np.int64)
    silent_before = np.empty(n_classes)
    silent = np.empty(n_classes)
    cases = np.zeros((n_classes, LANES))
    places = np.empty(n_classes, np.int64)
    classes = np.empty(LANES, np.int64)
    factors = np.empty(LANES)
    means = np.empty((n_way, LANES))
    numbers = np.arange(n_classes)
    pools = np.empty(n_classes, np.int64)
    drawn = np.full((n_classes, 1), k_shot)
    for i in range(start, stop):
        y = own[i]
        if not (average and has_ties(tied, indptr[i], indptr[i + 1])):
            for d in range(n_classes):
                places[d] = starts[1 if d == y else 0, d]
            if every_class:
                _every_untied(
                    labels, indptr[i], indptr[i + 1], y, n_way, places, silent_of, first_of,
                    cases, factors, means, out[i],
                )  # fmt: skip
            else:
                _own_untied(
                    labels, indptr[i], indptr[i + 1], y, n_way, places, silent_of, first_of,
                    cases, classes, factors, means, out[i],
                )  # fmt: skip
            continue
        for d in range(n_classes):
            counts[d], silent_before[d], silent[d] = 0, 1.0, 1.0
            pools[d] = sizes[d] - (1 if d == y else 0)
        n_cases = np.int64(0)
        position = indptr[i]
        while position < indptr[i + 1]:
            end = group_end(tied, position, indptr[i + 1], average)
            n_members = 0
            for e in range(position, end):
                d = labels[e]
                if group[d] == 0:
                    members[n_members] = d
                    n_members += 1
                group[d] += 1
            rule, panels, window = choose_rule(
                rules, members, n_members, group, numbers, pools, drawn
            )
            matters = every_class or group[y] > 0
            for q in range(panels * rules.sizes[rule] if matters else 0):
                time, time_weight = node_of(rules, rule, panels, window, q)
                for m in range(n_members if end - position > 1 else 0):
                    d = members[m]
                    silent[d] = silent_before[d] * survive_tied(
                        pools[d], k_shot, counts[d], group[d], time
                    )
                for m in range(n_members):
                    d = members[m]
                    if not (every_class or d == y):
                        continue
                    first = silent_before[d] * time_weight
                    if end - position > 1:
                        first *= first_tied(pools[d], k_shot, counts[d], group[d], time)
                    else:
                        first *= k_shot / (pools[d] - counts[d])
                    _put_case(n_cases, d, y, first, silent, cases, classes, factors)
                    n_cases += 1
                    if n_cases == LANES:
                        _add_cases(n_cases, cases, y, n_way, classes, factors, means,
                                   every_class, out[i])  # fmt: skip
                        n_cases = np.int64(0)
            _pass_group(members, n_members, counts, group, pools, k_shot, silent_before, silent)
            position = end
        _add_cases(n_cases, cases, y, n_way, classes, factors, means, every_class, out[i])
