"""1-NN, any number of classes: E[S²] from the prefixes that two rows share.

Let ρ_r tell whether the r-th neighbour of a sample is of its class, and P_r be the sample itself
and its first r neighbours. The sample is held out and right with

    Σ_r (ρ_(r+1) - ρ_r) · [all of P_r are held out],        ρ_0 = 0,

where only ranks count at which ρ changes. Two samples i and j are both held out and both right with
the product of two such sums,

    Σ_(r, s) (ρ_(r+1) - ρ_r) (σ_(s+1) - σ_s) · P(all of P_r ∪ Q_s are held out),

and that chance depends on the numbers of samples of each pool in P_r ∪ Q_s alone. In two folds
f and g of a run, i is right in f and j in g with P(P_r in f, Q_s in g): 0 if the prefixes share a
sample. A pair costs the product of its numbers of changes.

With one pool (laws of fixed size) the chance depends on the number of samples alone: a table of the
steps of all rows serves all prefixes that share nobody, and only what the others add beyond it is
summed pair by pair. With several pools (class counts) all n²/2 pairs are summed.

Rows are cut where the chance that nobody nearer is in training falls below the tolerance.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from allsplits._threads import map_row_ranges
from allsplits.exact.pairs._kernels_nearest import (
    count_changes,
    fill_changes,
    held_out_and_right,
    sum_excess_one_pool,
    sum_pairs,
)
from allsplits.exact.pairs.kernel_types import (
    Changes,
    Floats,
    FoldMoments,
    Lists,
    OnePool,
    SplitMoments,
)
from allsplits.exact.pairs.runs import Runs

#: Nanoseconds for a pair; for a pair of changes with one pool and with several; for each chance.
_PAIR, _STEP, _STEP_OF_POOLS, _CHANCE = 300.0, 3.0, 15.0, 1.0


def find_changes(lists: Lists, n_pools: int) -> Changes:
    """Where the rows change between right and wrong."""
    numbers = np.zeros(len(lists.indptr), dtype=np.int64)
    count_changes(lists, numbers)
    indptr, total = np.cumsum(numbers), int(numbers.sum())
    counts = np.empty((total, n_pools), dtype=np.int64)
    changes = Changes(indptr, np.empty(total, dtype=np.int64), np.empty(total), counts)
    fill_changes(lists, changes)
    return changes


def nearest_seconds(changes: Changes, runs: Runs) -> float:
    """What the pairs take on one core, roughly."""
    n = len(changes.indptr) - 1
    each = len(changes.lengths) / n
    step = _STEP
    if len(runs.sizes) > 1:
        # Rows meet few of the pools.
        kinds = len(runs.draws) + len(runs.across)
        step = _STEP_OF_POOLS + _CHANCE * kinds * min(4, len(runs.sizes))
    return 1e-9 * n * n / 2 * (_PAIR + step * each * each)


def nearest_moments(
    lists: Lists, changes: Changes, runs: Runs, n_threads: int
) -> tuple[float, float]:
    """(E[S], E[S²]) of a run."""
    split, folds = _split_moments(changes, runs), _fold_moments(changes, runs)
    n = len(lists.owners)
    right = np.empty((len(runs.draws), n))
    held_out_and_right(changes, split, right)
    pools = runs.pools[lists.owners]
    mean = second = 0.0
    for number, draw in enumerate(runs.draws):
        once = lists.shares * right[number]
        mean += float(draw.share) * float(split.apart[number, pools] @ once)
        # A row with itself; with the other rows of its sample it is a pair.
        twice = split.alone[number, pools] @ (lists.shares * once)
        second += split.times[number] * float(twice)
    if not len(changes.lengths):
        return 0.0, 0.0
    pairs = np.zeros(n)
    if len(runs.sizes) == 1:
        return mean, _with_one_pool(lists, changes, _one_pool(split, folds), n_threads)

    def some(start: int, stop: int) -> None:
        sum_pairs(lists, changes, split, folds, start, stop, pairs)

    map_row_ranges(some, n, n_threads, smallest=8)
    return mean, second + float(pairs.sum())


def _with_one_pool(lists: Lists, changes: Changes, tables: OnePool, n_threads: int) -> float:
    """E[S²]: all pairs as if they shared nobody, from one table, and what sharing adds."""
    excess = np.zeros(len(lists.owners))

    def some(start: int, stop: int) -> None:
        sum_excess_one_pool(lists, changes, tables, start, stop, excess)

    map_row_ranges(some, len(excess), n_threads, smallest=8)
    rows = np.repeat(np.arange(len(excess)), np.diff(changes.indptr))
    steps = np.bincount(changes.counts[:, 0], changes.steps * lists.shares[rows])
    m = np.arange(len(steps))
    chances = tables.together[m[:, None] + m] + tables.folds[: len(m), : len(m)]
    return float(steps @ chances @ steps) + float(excess.sum())


def _one_pool(split: SplitMoments, folds: FoldMoments) -> OnePool:
    """The tables of all draws and pairs of folds, added up."""
    held_out = split.held_out[0]
    across = folds.first[:, 0] * folds.second[:, 0]
    return OnePool(
        held_out @ (split.times * split.together[:, 0]),
        held_out @ (split.times * split.alone[:, 0]),
        folds.apart[0] @ across,
    )


def _floats(values: list[Fraction]) -> Floats:
    return np.array([float(value) for value in values])


def _split_moments(changes: Changes, runs: Runs) -> SplitMoments:
    most = 2 * int(changes.counts.max(initial=0)) + 1
    held_out = np.zeros((len(runs.sizes), most, len(runs.draws)))
    for number, draw in enumerate(runs.draws):
        parts = zip(held_out, runs.sizes, runs.held_out(draw), strict=True)
        for table, size, held in parts:
            table[:, number] = _all_chosen(size, held, most)
    weights = [runs.weights(draw) for draw in runs.draws]
    return SplitMoments(
        held_out,
        np.array([_floats(one.apart) for one in weights]),
        np.array([_floats(one.together) for one in weights]),
        np.array([_floats(one.alone) for one in weights]),
        _floats([runs.times_in_split(draw) for draw in runs.draws]),
    )


def _fold_moments(changes: Changes, runs: Runs) -> FoldMoments:
    most = int(changes.counts.max(initial=0)) + 1
    n_pairs, n_pools = len(runs.across), len(runs.sizes)
    apart = np.zeros((n_pools, most, most, n_pairs))
    first, second = np.zeros((2, n_pairs, n_pools))
    for pair, (a, b, times) in enumerate(runs.across):
        one, other = runs.draws[a], runs.draws[b]
        first[pair] = float(times) * _floats(runs.units(one))
        second[pair] = _floats(runs.units(other))
        for c, size in enumerate(runs.sizes):
            inside = _all_chosen(size, one.test[c], most)
            for m in range(min(most, size + 1)):
                # Given that m samples are in the first fold, the second one is drawn from the rest.
                apart[c, m, :, pair] = inside[m] * _all_chosen(size - m, other.test[c], most)
    return FoldMoments(apart, first, second)


def _all_chosen(size: int, chosen: int, most: int) -> Floats:
    """Chance that m given ones are among `chosen` of `size`, for m < most."""
    m = np.arange(most - 1)
    ratios = np.where(m < min(chosen, size), (chosen - m) / np.maximum(size - m, 1), 0.0)
    return np.concatenate([[1.0], np.cumprod(ratios)])
