"""Compiled loop for whole groups: walk outwards from a sample and decide group by group.

The vote of k depends only on which of the groups met so far are in the training set. Neighbours
are visited nearest first; whenever a new group is met the walk branches (training, or not), and a
branch ends as soon as k voters are found. Tied neighbours are taken together, when all their groups
are decided.

Every split counts the same, so a split with a test set of m samples gives each of them 1/m. Where
m varies with the groups that are left out (unequal groups, more than one test group), a branch is
weighed by the sum of 1/m over its completions: F[r][a][m] is that over all ways to choose a more
test groups among those met later than the r-th, when m samples are in the test set already. A
group more is chosen or not: F[r][a][m] = F[r+1][a][m] + F[r+1][a-1][m + its size].
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels import group_end
from allsplits.exact.laws.groups._kernels_outcomes import (
    add_certain,
    add_tie_group,
    choose,
)

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class Groups(NamedTuple):
    """The group of each neighbour, and of each row; for means what the neighbours' targets are.

    Targets are less that of the row, and are empty where there are classes.
    """

    of_neighbors: NDArray[np.int32]
    of_rows: NDArray[np.int32]
    targets: Floats


class GroupDraws(NamedTuple):
    """How groups are drawn.

    Attributes
    ----------
    sizes : array
        Samples of each group.
    n_train, n_test : int
        Groups in training and test set.
    depth : int
        Neighbours of other groups that matter.
    average : bool
        Whether orders of tied neighbours are averaged.
    constant : bool
        Whether all test sets are of one size. Then groups are in training or not; otherwise in
        training, in the test set, or, with `three_ways`, neither.
    largest_test : int
        Samples of the largest test set.
    """

    sizes: Integers
    n_train: int
    n_test: int
    depth: int
    average: bool
    constant: bool
    three_ways: bool
    largest_test: int


class _Items(NamedTuple):
    """Of each neighbour: its group, by number as met, its class, and its target (0 for classes)."""

    slots: Integers
    classes: Integers
    targets: Floats


class _TieGroups(NamedTuple):
    """Tie groups of the items: where they start, how many groups must be decided for each."""

    starts: Integers
    needs: Integers


class _Neighbors(NamedTuple):
    """A row's neighbours of other groups."""

    items: _Items
    ties: _TieGroups


class _Branch(NamedTuple):
    """The branch the walk is in, by level: how many groups were decided.

    state[level] is 0 (training), 1 (test, or not in training) or 2 (neither) for the group met as
    number `level`; votes of each class and in all, the tie group to be taken next, and the sum of
    the voters' targets.
    """

    state: Integers
    votes: Integers
    totals: Integers
    next_tie: Integers
    sums: Floats


class _Left(NamedTuple):
    """By level: groups to be put in training and test set, samples in the latter, P(branch)."""

    train: Integers
    test: Integers
    test_size: Integers
    chance: Floats


class _Later(NamedTuple):
    """F[r][a][m] of a row, and the sizes of the other groups, those met first."""

    table: Floats
    sizes: Integers


class _Walk(NamedTuple):
    """All that a walk keeps."""

    branch: _Branch
    left: _Left
    later: _Later


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
def _meet_groups(rows, groups, i, draws, slot_of, sizes, items, ties):
    """List row i's neighbours of other groups in tie groups, groups numbered as they are met.

    Groups that are never met come last in `sizes`. Returns (groups met, tie groups).
    """
    own_group, position, row_end = groups.of_rows[i], rows.indptr[i], rows.indptr[i + 1]
    for g in range(len(slot_of)):
        slot_of[g] = -1
    n_met = np.int64(0)
    n_items = np.int64(0)
    n_ties = np.int64(0)
    while position < row_end and n_items < draws.depth:
        end = group_end(rows.tied, position, row_end, draws.average)
        ties.starts[n_ties] = n_items
        for e in range(position, end):
            g = groups.of_neighbors[e]
            if g == own_group:
                continue
            if slot_of[g] < 0:
                slot_of[g] = n_met
                sizes[n_met] = draws.sizes[g]
                n_met += 1
            items.slots[n_items] = slot_of[g]
            items.classes[n_items] = rows.labels[e]
            items.targets[n_items] = groups.targets[e] if len(groups.targets) else 0.0
            n_items += 1
        if n_items > ties.starts[n_ties]:
            ties.needs[n_ties] = n_met
            n_ties += 1
        position = end
    ties.starts[n_ties] = n_items
    rank = n_met
    for g in range(len(slot_of)):
        if slot_of[g] < 0 and g != own_group:
            sizes[rank] = draws.sizes[g]
            rank += 1
    return n_met, n_ties


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _take_items(level, own, weight, branch, items, ballot, out):
    """As `_take_tie_groups`, where no distances are tied: a tie group is one item."""
    total = branch.totals[level]
    e = branch.next_tie[level]
    while e < len(items.slots) and items.slots[e] < level and total < ballot.k_max:
        if branch.state[items.slots[e]] == 0:
            branch.votes[level, items.classes[e]] += 1
            branch.sums[level] += items.targets[e]
            total += 1
            for c in range(len(ballot.ks)):
                if ballot.ks[c] == total:
                    add_certain(
                        own, branch.votes[level], branch.sums[level], total, ballot.rule, weight,
                        out, c,
                    )  # fmt: skip
        e += 1
    branch.next_tie[level] = e
    branch.totals[level] = total
    return total == ballot.k_max


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _take_tie_groups(level, own, weight, branch, neighbors, ballot, work, out):
    """Visit the tie groups whose groups are all decided; returns whether every vote is over."""
    state, votes, totals, next_tie, sums = branch
    items, ties = neighbors
    tied, tied_sums = work.tied, work.sums
    while next_tie[level] < len(ties.needs):
        b = next_tie[level]
        if ties.needs[b] > level:
            return False
        t = np.int64(0)
        tied_sums[:] = 0.0
        for e in range(ties.starts[b], ties.starts[b + 1]):
            if state[items.slots[e]] == 0:
                tied[items.classes[e]] += 1
                tied_sums[0] += items.targets[e]
                tied_sums[1] += items.targets[e] ** 2
                t += 1
        before = votes[level], totals[level], sums[level]
        for c in range(len(ballot.ks)):
            k = ballot.ks[c]
            if totals[level] < k <= totals[level] + t:
                add_tie_group(c, k, own, before, ballot.rule, weight, work, out)
        for d in range(len(tied)):
            votes[level, d] += tied[d]
            tied[d] = 0
        sums[level] += tied_sums[0]
        totals[level] += t
        next_tie[level] += 1
        if totals[level] >= ballot.k_max:
            return True
    return False


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _descend(level, in_test, size, branch, left):
    """Go on to the next level with the group of this one decided."""
    for d in range(branch.votes.shape[1]):
        branch.votes[level + 1, d] = branch.votes[level, d]
    branch.totals[level + 1] = branch.totals[level]
    branch.sums[level + 1] = branch.sums[level]
    branch.next_tie[level + 1] = branch.next_tie[level]
    left.train[level + 1] = left.train[level] - (1 if branch.state[level] == 0 else 0)
    left.test[level + 1] = left.test[level] - (1 if in_test else 0)
    left.test_size[level + 1] = left.test_size[level] + (size if in_test else 0)


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _add_last(own, last, target, votes, voted, ballot, weight, out):
    """Add the votes of k_max whose last voter is of the class `last`, and has this target."""
    votes[last] += 1
    for c in range(len(ballot.ks)):
        if ballot.ks[c] == ballot.k_max:
            add_certain(own, votes, voted + target, ballot.k_max, ballot.rule, weight, out, c)
    votes[last] -= 1


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _walk_row(own, neighbors, n_met, draws, ballot, walk, tie_work, out):
    """Depth-first over decisions, from level 0, which is prepared."""
    branch, left = walk.branch, walk.left
    items, ties = neighbors
    state, votes, totals, next_tie, sums = branch
    need_train, need_test, test_size, chance = left
    later, sizes = walk.later
    constant, n_others = draws.constant, len(sizes)
    n_states = 3 if draws.three_ways else 2
    untied = len(items.slots) == len(ties.needs)
    whole = 1.0 if constant else later[0, need_test[0], test_size[0]]
    level = np.int64(0)
    fresh = True
    while level >= 0:
        if fresh:
            weight = chance[level]
            if not constant:
                weight *= later[level, need_test[level], test_size[level]] / whole
            if tie_work is not None and not untied:
                done = _take_tie_groups(
                    level, own, weight, branch, neighbors, ballot, tie_work, out
                )
            else:
                done = _take_items(level, own, weight, branch, items, ballot, out)
            if not done and level == n_met and ballot.rule.ranked and votes[level, own] > 0:
                for c in range(len(ballot.ks)):
                    if ballot.ks[c] > totals[level]:
                        out[c] += weight
            if done or level == n_met:
                level -= 1
                fresh = False
                continue
            state[level] = 0
        else:
            state[level] += 1
            if state[level] == n_states:
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
        if untied and state[level] == 0 and totals[level] == ballot.k_max - 1:
            # The group's first item is the last voter: half of all branches end here.
            weight = chance[level + 1]
            if not constant:
                weight *= later[level + 1, need_test[level], test_size[level]] / whole
            last = next_tie[level]
            _add_last(
                own, items.classes[last], items.targets[last], votes[level], sums[level], ballot,
                weight, out,
            )  # fmt: skip
            fresh = False
            continue
        _descend(level, in_test, sizes[level], branch, left)
        level += 1
        fresh = True


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _make_walk(draws, ballot):
    n_groups, constant = len(draws.sizes), draws.constant
    levels = np.empty((7, n_groups), np.int64)
    votes = np.empty((n_groups, ballot.n_classes), np.int64)
    branch = _Branch(levels[0], votes, levels[1], levels[2], np.empty(n_groups))
    left = _Left(levels[3], levels[4], levels[5], np.empty(n_groups))
    shape = (1 if constant else n_groups, draws.n_test, 1 if constant else draws.largest_test + 1)
    later = _Later(np.empty(shape), levels[6, : n_groups - 1])
    return _Walk(branch, left, later)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _start(own_size, n_met, draws, walk, current):
    """Prepare level 0 of a row's walk; returns what the row counts in the score."""
    branch, left, later = walk.branch, walk.left, walk.later
    n_groups, n_test = len(draws.sizes), draws.n_test
    branch.votes[0, :] = 0
    branch.totals[0], branch.next_tie[0], branch.sums[0] = 0, 0, 0.0
    left.train[0], left.test[0], left.test_size[0] = draws.n_train, 0, own_size
    left.chance[0] = 1.0
    if draws.constant:
        return 1.0 / (n_groups * own_size)
    _fill_later(later.sizes, n_met, n_test - 1, current, later.table)
    left.test[0] = n_test - 1
    whole = later.table[0, n_test - 1, own_size]
    return n_test / n_groups * whole / choose(n_groups - 1, n_test - 1)


@njit(nogil=True, cache=True, error_model="numpy")
def group_scores(rows, groups, start, stop, draws, ballot, tie_work, out):
    """Fill out[i]: P(right) for each k, or P(each class), and last the row's weight.

    Where no distances are tied, tie_work is None, and what only tie groups need is not compiled.
    """
    longest = np.int64(0)
    for i in range(start, stop):
        longest = max(longest, rows.indptr[i + 1] - rows.indptr[i])
    walk = _make_walk(draws, ballot)
    current = np.empty(walk.later.table.shape[1:])
    slot_of = np.empty(len(draws.sizes), np.int64)
    slots, classes = np.empty(longest, np.int64), np.empty(longest, np.int64)
    targets = np.empty(longest)
    starts, needs = np.empty(longest + 1, np.int64), np.empty(longest, np.int64)
    for i in range(start, stop):
        n_met, n_ties = _meet_groups(
            rows, groups, i, draws, slot_of, walk.later.sizes, _Items(slots, classes, targets),
            _TieGroups(starts, needs),
        )  # fmt: skip
        n_items = starts[n_ties]
        items = _Items(slots[:n_items], classes[:n_items], targets[:n_items])
        ties = _TieGroups(starts[: n_ties + 1], needs[:n_ties])
        own_size = draws.sizes[groups.of_rows[i]]
        out[i, -1] = _start(own_size, n_met, draws, walk, current)
        neighbors = _Neighbors(items, ties)
        _walk_row(rows.own[i], neighbors, n_met, draws, ballot, walk, tie_work, out[i])
