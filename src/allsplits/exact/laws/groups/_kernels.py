"""Compiled loop for whole groups: walk outwards from a sample and decide group by group.

The vote of k depends only on which of the groups met so far are in the training set. Neighbours
are visited nearest first; whenever a new group is met the walk branches (training, or not), and a
branch ends as soon as k voters are found. Tied neighbours are taken as a bunch: if only i of the t
training items of a bunch can vote, they are a uniform i-subset.

Every split counts the same, so a split with a test set of m samples gives each of them 1/m. Where
m varies with the groups that are left out (unequal groups, more than one test group), a branch is
weighed by the sum of 1/m over its completions: F[r][a][m] is that over all ways to choose a more
test groups among those met later than the r-th, when m samples are in the test set already. A
group more is chosen or not: F[r][a][m] = F[r+1][a][m] + F[r+1][a-1][m + its size].
"""

import numpy as np
from numba import njit

from allsplits.exact._kernels import group_end
from allsplits.exact._kernels_votes import add_wins
from allsplits.exact.kernel_types import Quadrature, Reach, Voters, WinWork

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
def _fill_later(sizes, n_met, n_test, current, later):
    """later[r] = F[r] for r ≤ n_met; sizes lists the other groups, those met first."""
    n_groups, largest = len(sizes), current.shape[1] - 1
    for a in range(n_test + 1):
        for m in range(largest + 1):
            current[a, m] = 1.0 / m if a == 0 and m > 0 else 0.0
    for r in range(n_groups - 1, -2, -1):
        if r < n_met:
            for a in range(n_test + 1):
                for m in range(largest + 1):
                    later[r + 1, a, m] = current[a, m]
        if r >= 0:
            for a in range(min(n_test, n_groups - r), 0, -1):
                more, fewer = current[a], current[a - 1, sizes[r] :]
                for m in range(len(fewer)):
                    more[m] += fewer[m]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_certain(own, votes, every_class, ranked, share, weight, out, column):
    """Add the outcome of a vote whose voters are known."""
    if ranked:
        out[column] += weight if votes[own] > 0 else 0.0
        return
    most, n_winners, winner = np.int64(0), 0, np.int64(0)
    for d in range(len(votes)):
        if votes[d] > most:
            most, n_winners, winner = votes[d], 1, np.int64(d)
        elif votes[d] == most:
            n_winners += 1
    if share:
        for d in range(len(votes)):
            if votes[d] == most and (every_class or d == own):
                out[d if every_class else column] += weight / n_winners
    elif every_class or winner == own:
        out[winner if every_class else column] += weight


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _take_items(
    level, own, weight, state, votes, totals, next_item, n_items, item_slot, item_class,
    every_class, ranked, share, ks, k_max, out,
):  # fmt: skip
    """As `_take_bunches`, where no distances are tied: a bunch is one item."""
    total = totals[level]
    e = next_item[level]
    while e < n_items and item_slot[e] < level and total < k_max:
        if state[item_slot[e]] == 0:
            votes[level, item_class[e]] += 1
            total += 1
            for c in range(len(ks)):
                if ks[c] == total:
                    _add_certain(own, votes[level], every_class, ranked, share, weight, out, c)
        e += 1
    next_item[level] = e
    totals[level] = total
    return total == k_max


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
    voters = Voters(present[:n_present], most, rows)
    quadrature = Quadrature(nodes, weights)
    work = WinWork(free, poly, is_free, wins)
    for e in range(n_present):
        target = present[e]
        if every_class or target == own:
            wins[k, 0] = 0.0
            reach = Reach(np.int64(1), most[target], k, k)
            add_wins(target, voters, reach, share, quadrature, scale / all_ways, np.int64(1), work)
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
    later = np.empty((1 if constant else n_groups, n_test, 1 if constant else largest_test + 1))
    current = np.empty(later.shape[1:])
    state = np.empty(n_others, np.int64)
    votes = np.zeros((n_groups, n_classes), np.int64)
    totals = np.zeros(n_groups, np.int64)
    next_bunch = np.zeros(n_groups, np.int64)
    need_train = np.empty(n_groups, np.int64)
    need_test = np.empty(n_groups, np.int64)
    test_size = np.empty(n_groups, np.int64)
    chance = np.empty(n_groups)
    bunch = np.zeros(n_classes, np.int64)
    present = np.empty(n_classes, np.int64)
    most = np.zeros(n_classes, np.int64)
    is_free = np.empty(n_classes, np.bool_)
    rows = np.zeros((n_classes, k_max + 1, 1))
    work = np.empty((2, k_max + 1, 1))
    wins = np.empty((k_max + 1, 1))
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
        level = np.int64(0)
        votes[0, :] = 0
        totals[0] = 0
        next_bunch[0] = 0
        chance[0] = 1.0
        need_train[0], need_test[0], test_size[0] = n_train, 0, own_size
        whole = 1.0
        sample_weight[i] = 1.0 / (n_groups * own_size)
        if not constant:
            _fill_later(sizes, n_met, n_test - 1, current, later)
            need_test[0] = n_test - 1
            whole = later[0, n_test - 1, own_size]
            sample_weight[i] = n_test / n_groups * whole / _choose(n_others, n_test - 1)
        untied = bunch_start[n_bunches] == n_bunches
        fresh = True
        while level >= 0:
            if fresh:
                weight = chance[level]
                if not constant:
                    weight *= later[level, need_test[level], test_size[level]] / whole
                if untied:
                    done = _take_items(
                        level, own[i], weight, state, votes, totals, next_bunch, n_bunches,
                        item_slot, item_class, every_class, ranked, share, ks, k_max, out[i],
                    )  # fmt: skip
                else:
                    done = _take_bunches(
                        level, own[i], weight, state, votes, totals, next_bunch, n_bunches,
                        item_slot, item_class, bunch_start, bunch_needs, every_class, ranked,
                        share, ks, k_max, nodes, weights, bunch, present, most, is_free, rows,
                        work, wins, out[i],
                    )  # fmt: skip
                if not done and level == n_met and ranked and votes[level, own[i]] > 0:
                    for c in range(len(ks)):
                        if ks[c] > totals[level]:
                            out[i, c] += weight
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
            # Of the groups to come that are not in the test set, need_train are in training.
            free = n_others - level - need_test[level]
            in_test = state[level] == 1 and not constant
            ways = need_train[level] if state[level] == 0 else free - need_train[level]
            if (need_test[level] if in_test else ways) <= 0:
                fresh = False
                continue
            chance[level + 1] = chance[level] * (1.0 if in_test else ways / free)
            if untied and state[level] == 0 and totals[level] == k_max - 1:
                # The group's first item is the last voter: half of all branches end here.
                weight = chance[level + 1]
                if not constant:
                    weight *= later[level + 1, need_test[level], test_size[level]] / whole
                last = item_class[next_bunch[level]]
                votes[level, last] += 1
                for c in range(len(ks)):
                    if ks[c] == k_max:
                        _add_certain(
                            own[i], votes[level], every_class, ranked, share, weight, out[i], c
                        )
                votes[level, last] -= 1
                fresh = False
                continue
            for d in range(n_classes):
                votes[level + 1, d] = votes[level, d]
            totals[level + 1] = totals[level]
            next_bunch[level + 1] = next_bunch[level]
            need_train[level + 1] = need_train[level] - (1 if state[level] == 0 else 0)
            need_test[level + 1] = need_test[level] - (1 if in_test else 0)
            test_size[level + 1] = test_size[level] + (sizes[level] if in_test else 0)
            level += 1
            fresh = True
