"""Compiled loop of few-shot episodes with the nearest support item.

The nearest support item of a query is an item of class d if d is in the episode and nobody of the
episode's other classes is drawn before it. A class with n of its N items passed is silent so far
with probability s = C(N-n, α)/C(N, α); over random sets of other classes the silent product
averages to an elementary symmetric polynomial of the s, divided by the number of sets. Cases (an
item that may be the nearest; in a tie group, a class at a time node) are put side by side.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from allsplits.exact._kernels import group_end
from allsplits.exact._kernels_ties import (
    choose_rule,
    first_tied,
    has_ties,
    meet_group,
    new_walk,
    node_of,
    pass_group,
    start_walk,
    survive_tied,
)
from allsplits.exact.kernel_types import Walk

#: Cases side by side.
LANES = 32


class EpisodeTables(NamedTuple):
    """Episodes of n_way classes with k_shot support items each, from these pools.

    pools[is own, class] are the candidates of a class, for queries of other classes and its own (a
    candidate less, unless queries come from outside). starts, likewise, tells where the tables of a
    class begin: how likely it is silent after 0, 1, … of its items, and how likely the next is its
    first.
    """

    n_way: int
    k_shot: int
    pools: np.ndarray
    starts: np.ndarray
    silent: np.ndarray
    first: np.ndarray


class _Cases(NamedTuple):
    """Items that may be the nearest, side by side.

    silent[class, lane] is the chance that a class has no support item before, 0 for the item's
    own class; classes[lane] and factors[lane] are the item's class and chance; means: scratch.
    """

    silent: np.ndarray
    classes: np.ndarray
    factors: np.ndarray
    means: np.ndarray


class _Work(NamedTuple):
    """Scratch, one entry per class: chances to be silent before a tie group and at a time in it."""

    walk: Walk
    numbers: np.ndarray
    pools: np.ndarray
    drawn: np.ndarray
    silent_before: np.ndarray
    silent: np.ndarray
    places: np.ndarray
    cases: _Cases


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _work(n_classes, n_way, k_shot):
    return _Work(
        new_walk(n_classes),
        np.arange(n_classes),
        np.empty(n_classes, np.int64),
        np.full((n_classes, 1), k_shot),
        np.empty(n_classes),
        np.empty(n_classes),
        np.empty(n_classes, np.int64),
        _Cases(
            np.zeros((n_classes, LANES)),
            np.empty(LANES, np.int64),
            np.empty(LANES),
            np.empty((n_way, LANES)),
        ),
    )


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _mean_products(silent, y, m, means):
    """means[r, x] = mean over all r-subsets of the classes but y of the products of silent[:, x].

    For r = m - 1 and m; fewer are on the way.
    """
    for r in range(m + 1):
        for x in range(LANES):
            means[r, x] = 1.0 if r == 0 else 0.0
    n_others, met = len(silent) - 1, 0
    for d in range(len(silent)):
        if d == y:
            continue
        met += 1
        # Fewer than m - 1 less the classes to come lead nowhere.
        for r in range(min(met, m), max(0, m - n_others + met - 2), -1):
            # C(n, r-1)/C(n, r): sums of products over all r-subsets, divided by their number.
            ratio = r / (n_others - r + 1.0)
            for x in range(LANES):
                means[r, x] += ratio * silent[d, x] * means[r - 1, x]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_cases(n_cases, y, n_way, every_class, cases, out):
    """Add up the cases: the other classes of the episode are silent so far."""
    silent, classes, factors, means = cases
    m, n_others = n_way - 1, len(silent) - 1
    _mean_products(silent, y, m, means)
    # d is in the episode of y with probability m/n, and products that hold d are zero: the mean
    # over all (m-1)-subsets of n classes is that of the subsets without d times (n-m+1)/n.
    of_others = m / (n_others - m + 1.0)
    for x in range(n_cases):
        d = classes[x]
        mean = means[m, x] if d == y else of_others * means[m - 1, x]
        out[d if every_class else 0] += factors[x] * mean


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _put_case(x, d, y, first, silent, cases):
    """Case x: an item of class d is the first of its class with the probability `first`."""
    case_silent, classes, factors, _ = cases
    for c in range(len(silent)):
        case_silent[c, x] = silent[c]
    case_silent[d, x] = 0.0
    classes[x] = d
    factors[x] = first if d == y else first * silent[y]


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _own_untied(labels, y, tables, places, cases, out):
    """P(right) of a row without ties: one case for each item of the query's own class."""
    case_silent, case_classes, factors, _ = cases
    silent, first = tables.silent, tables.first
    n_cases = np.int64(0)
    for e in range(len(labels)):
        d = labels[e]
        if d == y:
            for c in range(len(places)):
                case_silent[c, n_cases] = silent[places[c]]
            case_classes[n_cases] = d
            factors[n_cases] = first[places[d]]
            n_cases += 1
        places[d] += 1
        if n_cases == LANES or e == len(labels) - 1:
            _add_cases(n_cases, y, tables.n_way, np.bool_(False), cases, out)
            n_cases = np.int64(0)


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _every_untied(labels, y, tables, places, cases, out):
    """P(each class) of a row without ties: one case for each item."""
    case_silent, case_classes, factors, _ = cases
    silent, first = tables.silent, tables.first
    for start in range(0, len(labels), LANES):
        classes = labels[start : min(start + LANES, len(labels))]
        for c in range(len(places)):
            place = places[c]
            for x in range(len(classes)):
                case_silent[c, x] = silent[place]
                place += classes[x] == c
        for x in range(len(classes)):
            d = classes[x]
            factors[x] = first[places[d]] * (1.0 if d == y else case_silent[y, x])
            places[d] += 1
            case_silent[d, x] = 0.0
            case_classes[x] = d
        _add_cases(len(classes), y, tables.n_way, np.bool_(True), cases, out)


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _add_group(n_cases, y, members, tables, every_class, tie_rules, work, out):
    """Cases of a tie group: its classes at each time node. Returns how many are not added up."""
    counts, group, pools, k_shot = work.walk.counts, work.walk.group, work.pools, tables.k_shot
    silent_before, silent = work.silent_before, work.silent
    several = len(members) > 1 or group[members[0]] > 1
    chosen = choose_rule(tie_rules, members, group, work.numbers, pools, work.drawn)
    for q in range(chosen.n_nodes):
        time, time_weight = node_of(tie_rules, chosen, q)
        if several:
            for d in members:
                at_time = survive_tied(pools[d], k_shot, counts[d], group[d], time)
                silent[d] = silent_before[d] * at_time
        for d in members:
            if not (every_class or d == y):
                continue
            first = silent_before[d] * time_weight
            if several:
                first *= first_tied(pools[d], k_shot, counts[d], group[d], time)
            else:
                first *= k_shot / (pools[d] - counts[d])
            _put_case(n_cases, d, y, first, silent, work.cases)
            n_cases += 1
            if n_cases == LANES:
                _add_cases(n_cases, y, tables.n_way, every_class, work.cases, out)
                n_cases = np.int64(0)
    return n_cases


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _pass_group(members, k_shot, work):
    """Chances to be silent after a whole tie group."""
    counts, group, pools = work.walk.counts, work.walk.group, work.pools
    silent_before, silent = work.silent_before, work.silent
    for d in members:
        for passed in range(group[d]):
            left = pools[d] - counts[d] - passed
            silent_before[d] *= max(left - k_shot, 0) / left
        silent[d] = silent_before[d]
    pass_group(work.walk, members)


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _score_tied(i, rows, tables, every_class, tie_rules, work, out):
    """P(right) or P(each class) of a row with tied distances, one tie group after the other."""
    walk, y = work.walk, np.int64(rows.own[i])
    start_walk(walk)
    for d in range(tables.pools.shape[1]):
        work.silent_before[d], work.silent[d] = 1.0, 1.0
        work.pools[d] = tables.pools[1 if d == y else 0, d]
    n_cases = np.int64(0)
    position, row_end = rows.indptr[i], rows.indptr[i + 1]
    while position < row_end:
        end = group_end(rows.tied, position, row_end, True)
        _, n_members = meet_group(rows.labels[position:end], walk, np.int64(0))
        members = walk.members[:n_members]
        if every_class or walk.group[y] > 0:
            n_cases = _add_group(n_cases, y, members, tables, every_class, tie_rules, work, out)
        _pass_group(members, tables.k_shot, work)
        position = end
    _add_cases(n_cases, y, tables.n_way, every_class, work.cases, out)


@njit(nogil=True, cache=True, error_model="numpy")
def score_episodes(rows, start, stop, tables, rule, tie_rules, out):
    """P(right) in out[i, 0], or with every_class P(each class) in out[i, class].

    Where no distances are tied, tie_rules is None, and what only tie groups need is not compiled.
    """
    n_classes = tables.pools.shape[1]
    work = _work(n_classes, tables.n_way, tables.k_shot)
    for i in range(start, stop):
        first, last, y = rows.indptr[i], rows.indptr[i + 1], np.int64(rows.own[i])
        if tie_rules is not None and has_ties(rows.tied[first:last]):
            _score_tied(i, rows, tables, rule.every_class, tie_rules, work, out[i])
            continue
        for d in range(n_classes):
            work.places[d] = tables.starts[1 if d == y else 0, d]
        labels = rows.labels[first:last]
        if rule.every_class:
            _every_untied(labels, y, tables, work.places, work.cases, out[i])
        else:
            _own_untied(labels, y, tables, work.places, work.cases, out[i])
