"""Compiled loop of few-shot episodes with the nearest support item.

The nearest support item of a query is an item of class d if d is in the episode and nobody of the
episode's other classes is drawn before it. A class with n of its N items passed is silent so far
with probability s = C(N-n, α)/C(N, α); over random sets of other classes the silent product
averages to an elementary symmetric polynomial of the s, divided by the number of sets.
"""

import numpy as np
from numba import njit

from allsplits.exact._kernels import group_end
from allsplits.exact._kernels_ties import choose_rule, first_tied, node_of, survive_tied

__all__ = ["episode_scores"]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _mean_of_products(silent, present, n_present, skip_a, skip_b, m, n_others, choose, poly):
    """Mean over all m-subsets of the other classes of the product of their silent chances.

    Classes not met yet are silent for certain; choose[a, b] are binomial coefficients.
    """
    poly[0] = 1.0
    for r in range(1, m + 1):
        poly[r] = 0.0
    met = np.int64(0)
    for e in range(n_present):
        d = present[e]
        if d == skip_a or d == skip_b:
            continue
        met += 1
        for r in range(min(met, m), 0, -1):
            poly[r] += silent[d] * poly[r - 1]
    total = 0.0
    for r in range(min(met, m) + 1):
        total += poly[r] * choose[n_others - met, m - r]
    return total / choose[n_others, m]


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
    choose,
    out,
):
    """P(right) in out[i, 0], or with every_class P(each class) in out[i, class]."""
    n_classes = len(sizes)
    counts = np.zeros(n_classes, np.int64)
    group = np.zeros(n_classes, np.int64)
    seen = np.zeros(n_classes, np.bool_)
    present = np.empty(n_classes, np.int64)
    members = np.empty(n_classes, np.int64)
    silent_before = np.ones(n_classes)
    silent = np.ones(n_classes)
    poly = np.empty(n_way + 1)
    classes = np.arange(n_classes)
    pools = np.empty(n_classes, np.int64)
    drawn = np.full((n_classes, 1), k_shot)
    for i in range(start, stop):
        y = own[i]
        for d in range(n_classes):
            pools[d] = sizes[d] - (1 if d == y else 0)
        counts[:] = 0
        seen[:] = False
        silent_before[:] = 1.0
        silent[:] = 1.0
        n_present = np.int64(0)
        position = indptr[i]
        while position < indptr[i + 1]:
            end = group_end(tied, position, indptr[i + 1], average)
            n_members = 0
            for e in range(position, end):
                d = labels[e]
                if not seen[d]:
                    seen[d] = True
                    present[n_present] = d
                    n_present += 1
                if group[d] == 0:
                    members[n_members] = d
                    n_members += 1
                group[d] += 1
            rule, panels, window = choose_rule(
                rules, members, n_members, group, classes, pools, drawn
            )
            matters = every_class or group[y] > 0
            for q in range(panels * rules.sizes[rule] if matters else 0):
                time, time_weight = node_of(rules, rule, panels, window, q)
                for m in range(n_members):
                    d = members[m]
                    silent[d] = silent_before[d] * survive_tied(
                        pools[d], k_shot, counts[d], group[d], time
                    )
                for m in range(n_members):
                    d = members[m]
                    if not (every_class or d == y):
                        continue
                    first = silent_before[d] * first_tied(
                        pools[d], k_shot, counts[d], group[d], time
                    )
                    if d == y:
                        others = _mean_of_products(
                            silent,
                            present,
                            n_present,
                            y,
                            y,
                            n_way - 1,
                            n_classes - 1,
                            choose,
                            poly,
                        )
                    else:
                        others = silent[y] * _mean_of_products(
                            silent,
                            present,
                            n_present,
                            y,
                            d,
                            n_way - 2,
                            n_classes - 2,
                            choose,
                            poly,
                        )
                        others *= (n_way - 1.0) / (n_classes - 1.0)
                    out[i, d if every_class else 0] += time_weight * first * others
            for m in range(n_members):
                d = members[m]
                for passed in range(group[d]):
                    left = pools[d] - counts[d] - passed
                    silent_before[d] *= max(left - k_shot, 0) / left
                silent[d] = silent_before[d]
                counts[d] += group[d]
                group[d] = 0
            position = end
