"""Two classes, any k: E[S²] from the ranks at which two votes are decided.

A vote of k = 2h - 1 is a race: a sample is right if h voters of its class come before h of the
other. It is decided at rank r if the r-th neighbour is of its class and in training, h - 1 more of
its class among the first r - 1 are, and fewer than h of the other. Even votes are races for h and
h + 1; where an even vote is shared, the mean of the two races is.

Two samples decided at ranks r and s: with t samples in both prefixes together, d of them in
training, the chance is C(N - t, a - d) / C(N, a), N = n - 2 (for class counts a product over
classes), and the ways to draw them come from the numbers of samples of each class that are in one
prefix, in the other, in both. Prefixes that share nobody depend on r and s alone: a table of the
ways of all rows serves all such pairs, Σ_(t, d, t', d') H[t, d] H[t', d'] C(N - t - t', …). What is
left are the pairs of prefixes that share somebody: what they add beyond the table, O(M² k²) for two
rows of M neighbours.

Rows are cut where the chance that the k-th voter is farther falls below the tolerance.
"""

from __future__ import annotations

from math import comb

import numpy as np

from allsplits._threads import map_row_ranges
from allsplits.exact.pairs._kernels_race import sum_excess, tally_rows
from allsplits.exact.pairs.kernel_types import Floats, Ints, Lists, Race
from allsplits.exact.pairs.runs import Draw, Runs

#: Nanoseconds for a pair of rows, and for a way to draw.
_PAIR, _WAY = 100.0, 0.8


def race_targets(k: int, label: int, *, share: bool) -> list[tuple[int, int]]:
    """(voters of its class that a sample wants, voters of the other that it loses to)."""
    half = k // 2
    if k % 2:
        return [(half + 1, half + 1)]
    first, second = (half, half + 1), (half + 1, half)
    if share:
        return [first, second]
    return [first if label == 0 else second]


def with_targets(lists: Lists, k: int, *, share: bool) -> tuple[Lists, Ints, Ints]:
    """(rows, wanted, lost): a row for each race of a sample."""
    targets = [race_targets(k, int(label), share=share) for label in lists.labels[lists.owners]]
    times = len(targets[0])
    wanted, lost = np.array([pair for some in targets for pair in some]).T
    if times > 1:
        lengths = np.repeat(np.diff(lists.indptr), times)
        starts = np.repeat(lists.indptr[:-1], times)
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        entries = np.repeat(starts - indptr[:-1], lengths) + np.arange(indptr[-1])
        lists = Lists(
            indptr,
            lists.neighbors[entries],
            np.repeat(lists.owners, times),
            np.repeat(lists.shares / times, times),
            lists.pools,
            lists.labels,
        )
    return lists, np.ascontiguousarray(wanted), np.ascontiguousarray(lost)


def race_seconds(lists: Lists, k: int, runs: Runs) -> float:
    """What the pairs take on one core, if half of the pairs of prefixes share somebody."""
    n, depth = len(lists.owners), int(np.diff(lists.indptr).max())
    times = 2 if k % 2 == 0 else 1
    near = min(n * times, depth * depth)
    ways = 20 + (k // 2 + 1) ** 3
    pairs = _PAIR * n + _WAY * near * (depth * depth / 2) * ways
    return 1e-9 * n * times * pairs / 2 * len(runs.draws)


def race_moments(
    lists: Lists, k: int, runs: Runs, n_threads: int, *, share: bool
) -> tuple[float, float]:
    """(E[S], E[S²]) of one split."""
    lists, wanted, lost = with_targets(lists, k, share=share)
    depth = int(np.diff(lists.indptr).max())
    most = int(max(wanted.max(), lost.max()))
    choose = np.array([[float(comb(t, d)) for d in range(most + 1)] for t in range(depth + 1)])
    mean = second = 0.0
    for draw in runs.draws:
        chances, weights = _chances(runs, draw, 2 * depth, 2 * most * 2)
        race = Race(wanted, lost, choose, len(runs.sizes) > 1, chances, weights)
        tally = np.zeros((2, depth + 1, most + 1, depth + 1, most + 1))
        tally_rows(lists, race, tally)
        excess = np.zeros(len(lists.owners))

        def some(start: int, stop: int, race: Race = race, out: Floats = excess) -> None:
            sum_excess(lists, race, start, stop, out)

        map_row_ranges(some, len(excess), n_threads, smallest=8)
        right, apart = _from_tally(tally, race)
        units = [float(unit) for unit in runs.weights(draw).apart]
        held = [h / size for h, size in zip(runs.held_out(draw), runs.sizes, strict=True)]
        by_class = [units[c % len(units)] * held[c % len(held)] for c in range(2)]
        mean += float(draw.share) * float(np.dot(by_class, right))
        second += float(draw.share) * (apart + float(excess.sum()))
    return mean, second


def _chances(runs: Runs, draw: Draw, items: int, drawn: int) -> tuple[Floats, Floats]:
    """The tables of all kinds of pairs, and what such pairs count."""
    n_tables = len(runs.sizes)
    chances = np.zeros((6, n_tables, items + 1, drawn + 1))
    weights = np.zeros(6)
    apart, together, alone = runs.weights(draw)
    held = runs.held_out(draw)
    for kind in range(6):
        classes = [kind // 2, kind % 2] if kind < 4 else [kind - 4]
        pools = [c if n_tables > 1 else 0 for c in classes]
        for pool, size in enumerate(runs.sizes):
            out = pools.count(pool)
            if size >= out and held[pool] >= out:
                _fill(size - out, draw.train[pool], chances[kind, pool])
        a, b = pools[0], pools[-1]
        if kind >= 4:
            weights[kind] = float(alone[a]) * held[a] / runs.sizes[a]
        elif a != b:
            both = held[a] / runs.sizes[a] * held[b] / runs.sizes[b]
            weights[kind] = float(apart[a] * apart[b]) * both
        elif runs.sizes[a] > 1:
            both = held[a] * (held[a] - 1) / (runs.sizes[a] * (runs.sizes[a] - 1))
            weights[kind] = float(together[a]) * both
    return chances, weights


def _fill(size: int, train: int, out: Floats) -> None:
    """out[t, d] = chance that of t given samples d given ones, and no others, are in training."""
    out[:] = 0.0
    out[0, 0] = 1.0
    for t in range(min(size, len(out) - 1)):
        left = size - t
        for d in range(min(t, out.shape[1] - 1) + 1):
            # One more that is not in training; and the last of d that is.
            out[t + 1, d] += out[t, d] * max(left - train + d, 0) / left
        if t + 1 < out.shape[1]:
            out[t + 1, t + 1] = out[t, t] * max(train - t, 0) / left


def _from_tally(tally: Floats, race: Race) -> tuple[Floats, float]:
    """(P(right) of the rows of each class, summed; what all pairs add if they share nobody)."""
    n_t, n_d = tally.shape[1:3]
    places = np.arange(n_t)[:, None], np.arange(n_d)[None, :]
    t, d = (np.broadcast_to(place, (n_t, n_d)).ravel() for place in places)
    right, apart = np.zeros(2), 0.0
    tables = tally.reshape(2, n_t * n_d, n_t * n_d)
    if not race.by_class:
        size = (2 * n_t - 1) * (2 * n_d - 1)
        places_of = (t[:, None] + t) * (2 * n_d - 1) + d[:, None] + d
        totals = [np.bincount(places_of.ravel(), one.ravel(), size) for one in tables]
        t, d = np.divmod(np.arange(size), 2 * n_d - 1)
        used = np.flatnonzero((totals[0] != 0) | (totals[1] != 0))
        t, d = t[used], d[used]
        sums = t[:, None] + t, d[:, None] + d
        for a in range(2):
            right[a] = totals[a][used] @ race.chances[4 + a, 0, t, d]
            for b in range(2):
                chance = race.chances[2 * a + b, 0][sums]
                pair = totals[a][used] @ chance @ totals[b][used]
                apart += race.weights[2 * a + b] * float(pair)
        return right, apart
    sums = t[:, None] + t, d[:, None] + d
    for a in range(2):
        zero, one = (race.chances[4 + a, c, t, d] for c in range(2))
        right[a] = zero @ tables[a] @ one
        for b in range(2):
            zeros, ones = (race.chances[2 * a + b, c][sums] for c in range(2))
            pair = np.sum((zeros @ tables[a] @ ones) * tables[b])
            apart += race.weights[2 * a + b] * float(pair)
    return right, apart
