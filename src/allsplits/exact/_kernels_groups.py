"""Compiled loop for whole groups: walk outwards from a sample and decide group by group.

The vote of k depends only on which of the groups met so far are in the training set. Neighbours
are visited nearest first; whenever a new group is met the walk branches (training, or not), and a
branch ends as soon as k voters are found. Tied neighbours are taken as a bunch: if only i of the t
training items of a bunch can vote, they are a uniform i-subset.

Every split counts the same, so a split with a test set of m samples gives each of them 1/m. Where
m varies with the groups that are left out (unequal groups, more than one test group), a branch is
weighed by the mean of 1/m over its completions: D[r][a][S] counts the ways to choose a test groups
of total size S among the groups met later than the r-th.
"""

import numpy as np
from numba import njit

from allsplits.exact._kernels import group_end
from allsplits.exact._kernels_votes import add_wins

__all__ = ["group_scores"]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _choose(n, k):
    if k < 0 or k > n:
        return 0.0
    value = 1.0
    for i in range(k):
        value = value * (n - i) / (i + 1.0)
    return value


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _fill_later_choices(sizes, n_met, n_test, later):
    """later[r, a, S] for r ≤ n_met; sizes lists the other groups, those met first."""
    n_groups = len(sizes)
    current = np.zeros(later.shape[1:])
    current[0, 0] = 1.0
    for r in range(n_groups - 1, -2, -1):
        if r < n_met:
            later[r + 1] = current
        if r >= 0:
            for a in range(min(n_test, n_groups - r), 0, -1):
                for S in range(current.shape[1] - 1, sizes[r] - 1, -1):
                    current[a, S] += current[a - 1, S - sizes[r]]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _branch_weight(
    level, n_others, n_train, n_test, used_train, used_test, size_so_far, constant, later
):
    """Sum of 1/m over all completions of a branch (their number if m is constant)."""
    need_test = n_test - used_test
    need_train = n_train - used_train
    unmet = n_others - level
    if constant:
        return _choose(unmet, need_train)
    if need_test < 0 or need_train < 0 or need_test + need_train > unmet:
        return 0.0
    total = 0.0
    for S in range(later.shape[2]):
        ways = later[level, need_test, S]
        if ways > 0.0:
            total += ways / (size_so_far + S)
    return total * _choose(unmet - need_test, need_train)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_bunch(
    k,
    own,
    votes,
    total,
    bunch,
    t,
    every_class,
    ranked,
    share,
    nodes,
    weights,
    scale,
    present,
    n_present,
    most,
    rows,
    free,
    poly,
    is_free,
    wins,
    out,
    column,
):
    """Add the outcome of a vote of k that ends in this bunch of t training items."""
    i = k - total
    if ranked:
        miss = 0.0
        if votes[own] == 0:
            miss = _choose(t - bunch[own], i) / _choose(t, i)
        out[column] += scale * (1.0 - miss)
        return
    for e in range(n_present):
        d = present[e]
        most[d] = min(votes[d] + bunch[d], k)
        for x in range(k + 1):
            rows[d, x, 0] = _choose(bunch[d], x - votes[d]) if x >= votes[d] else 0.0
    all_ways = _choose(t, i)
    for e in range(n_present):
        target = present[e]
        if every_class or target == own:
            wins[k, 0] = 0.0
            add_wins(
                target,
                present,
                n_present,
                most,
                rows,
                np.int64(1),
                np.int64(1),
                most[target],
                k,
                k,
                nodes,
                weights,
                share,
                scale / all_ways,
                free,
                poly,
                is_free,
                wins,
            )
            out[target if every_class else column] += wins[k, 0]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _meet_groups(
    position,
    row_end,
    labels,
    tied,
    neighbor_groups,
    own_group,
    group_sizes,
    depth,
    average,
    slot_of,
    sizes,
    item_slot,
    item_class,
    bunch_start,
    bunch_needs,
):
    """List a row's neighbours of other groups in bunches, groups numbered as they are met.

    bunch_needs[b] is how many groups are known after bunch b. Groups that are never met come last
    in `sizes`. Returns (groups met, bunches).
    """
    for g in range(len(slot_of)):
        slot_of[g] = -1
    n_met = np.int64(0)
    n_items = np.int64(0)
    n_bunches = np.int64(0)
    while position < row_end and n_items < depth:
        end = group_end(tied, position, row_end, average)
        bunch_start[n_bunches] = n_items
        for e in range(position, end):
            g = neighbor_groups[e]
            if g == own_group:
                continue
            if slot_of[g] < 0:
                slot_of[g] = n_met
                sizes[n_met] = group_sizes[g]
                n_met += 1
            item_slot[n_items] = slot_of[g]
            item_class[n_items] = labels[e]
            n_items += 1
        if n_items > bunch_start[n_bunches]:
            bunch_needs[n_bunches] = n_met
            n_bunches += 1
        position = end
    bunch_start[n_bunches] = n_items
    rank = n_met
    for g in range(len(slot_of)):
        if slot_of[g] < 0 and g != own_group:
            sizes[rank] = group_sizes[g]
            rank += 1
    return n_met, n_bunches


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _take_bunches(
    level,
    own,
    weight,
    state,
    votes,
    totals,
    next_bunch,
    n_bunches,
    item_slot,
    item_class,
    bunch_start,
    bunch_needs,
    every_class,
    ranked,
    share,
    ks,
    k_max,
    nodes,
    weights,
    bunch,
    present,
    most,
    is_free,
    rows,
    work,
    wins,
    out,
):
    """Visit the bunches whose groups are all decided; returns whether every vote is over."""
    n_classes = len(bunch)
    while next_bunch[level] < n_bunches:
        b = next_bunch[level]
        if bunch_needs[b] > level:
            return False
        t = np.int64(0)
        for e in range(bunch_start[b], bunch_start[b + 1]):
            if state[item_slot[e]] == 0:
                bunch[item_class[e]] += 1
                t += 1
        n_present = np.int64(0)
        for d in range(n_classes):
            if votes[level, d] + bunch[d] > 0:
                present[n_present] = d
                n_present += 1
        for c in range(len(ks)):
            if totals[level] < ks[c] <= totals[level] + t:
                _add_bunch(
                    ks[c],
                    own,
                    votes[level],
                    totals[level],
                    bunch,
                    t,
                    every_class,
                    ranked,
                    share,
                    nodes,
                    weights,
                    weight,
                    present,
                    n_present,
                    most,
                    rows,
                    work[0],
                    work[1],
                    is_free,
                    wins,
                    out,
                    c,
                )
        for d in range(n_classes):
            votes[level, d] += bunch[d]
            bunch[d] = 0
        totals[level] += t
        next_bunch[level] += 1
        if totals[level] >= k_max:
            return True
    return False


@njit(nogil=True, cache=True, error_model="numpy")
def group_scores(
    indptr,
    labels,
    tied,
    neighbor_groups,
    own,
    own_groups,
    start,
    stop,
    group_sizes,
    n_classes,
    n_train,
    n_test,
    depth,
    every_class,
    ranked,
    average,
    share,
    ks,
    k_max,
    three_ways,
    constant,
    largest_test,
    nodes,
    weights,
    out,
    sample_weight,
):
    """Fill out[i] (P(right) for each k, or P(each class)) and the sample's weight in the score.

    Depth-first over decisions: state[level] is 0 (training), 1 (test) or 2 (neither) for the
    group met as number `level`; where the size of the test set does not matter 1 means "not in
    training".
    """
    n_groups = len(group_sizes)
    n_others = n_groups - 1
    longest = np.int64(0)
    for i in range(start, stop):
        longest = max(longest, indptr[i + 1] - indptr[i])
    slot_of = np.empty(n_groups, np.int64)
    sizes = np.empty(n_others, np.int64)
    item_slot = np.empty(longest, np.int64)
    item_class = np.empty(longest, np.int64)
    bunch_start = np.empty(longest + 1, np.int64)
    bunch_needs = np.empty(longest, np.int64)
    later = np.zeros((1 if constant else n_groups, n_test, 1 if constant else largest_test + 1))
    state = np.empty(n_others, np.int64)
    votes = np.zeros((n_groups, n_classes), np.int64)
    totals = np.zeros(n_groups, np.int64)
    next_bunch = np.zeros(n_groups, np.int64)
    used_train = np.zeros(n_groups, np.int64)
    used_test = np.zeros(n_groups, np.int64)
    test_size = np.zeros(n_groups, np.int64)
    bunch = np.zeros(n_classes, np.int64)
    present = np.empty(n_classes, np.int64)
    most = np.zeros(n_classes, np.int64)
    is_free = np.empty(n_classes, np.bool_)
    rows = np.zeros((n_classes, k_max + 1, 1))
    work = np.empty((2, k_max + 1, 1))
    wins = np.empty((k_max + 1, 1))
    if constant:
        everything = _choose(n_others, n_train)
    else:
        everything = _choose(n_others, n_test - 1) * _choose(n_others - n_test + 1, n_train)
    for i in range(start, stop):
        n_met, n_bunches = _meet_groups(
            indptr[i],
            indptr[i + 1],
            labels,
            tied,
            neighbor_groups,
            own_groups[i],
            group_sizes,
            depth,
            average,
            slot_of,
            sizes,
            item_slot,
            item_class,
            bunch_start,
            bunch_needs,
        )
        own_size = group_sizes[own_groups[i]]
        if not constant:
            _fill_later_choices(sizes, n_met, n_test - 1, later)
        level = np.int64(0)
        votes[0, :] = 0
        totals[0] = 0
        next_bunch[0] = 0
        test_size[0] = own_size
        whole = _branch_weight(
            level,
            n_others,
            n_train,
            n_test - 1,
            used_train[0],
            used_test[0],
            own_size,
            constant,
            later,
        )
        per_split = 1.0 / (own_size * n_test) if constant else 1.0
        sample_weight[i] = n_test / float(n_groups) * per_split * whole / everything
        fresh = True
        while level >= 0:
            if fresh:
                weight = _branch_weight(
                    level,
                    n_others,
                    n_train,
                    n_test - 1,
                    used_train[level],
                    used_test[level],
                    test_size[level],
                    constant,
                    later,
                )
                done = weight == 0.0 or _take_bunches(
                    level,
                    own[i],
                    weight / whole,
                    state,
                    votes,
                    totals,
                    next_bunch,
                    n_bunches,
                    item_slot,
                    item_class,
                    bunch_start,
                    bunch_needs,
                    every_class,
                    ranked,
                    share,
                    ks,
                    k_max,
                    nodes,
                    weights,
                    bunch,
                    present,
                    most,
                    is_free,
                    rows,
                    work,
                    wins,
                    out[i],
                )
                if not done and level == n_met and ranked and votes[level, own[i]] > 0:
                    for c in range(len(ks)):
                        if ks[c] > totals[level]:
                            out[i, c] += weight / whole
                if done or level == n_met:
                    level -= 1
                    fresh = False
                    continue
                state[level] = 0
            else:
                state[level] += 1
                if state[level] == (3 if three_ways else 2):
                    level -= 1
                    continue
            for d in range(n_classes):
                votes[level + 1, d] = votes[level, d]
            totals[level + 1] = totals[level]
            next_bunch[level + 1] = next_bunch[level]
            in_test = state[level] == 1 and not constant
            used_train[level + 1] = used_train[level] + (1 if state[level] == 0 else 0)
            used_test[level + 1] = used_test[level] + (1 if in_test else 0)
            test_size[level + 1] = test_size[level] + (sizes[level] if in_test else 0)
            level += 1
            fresh = True
