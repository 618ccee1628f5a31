"""E[S] and E[S²] of a run in Fractions: the pairs of `nearest` and `race`, in integers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from math import comb, perm
from typing import NamedTuple

from allsplits.exact.pairs.kernel_types import Lists
from allsplits.exact.pairs.race import race_targets
from allsplits.exact.pairs.runs import Draw, PairWeights, Runs

Moments = tuple[Fraction, Fraction]


class Row(NamedTuple):
    """One order of the neighbours of a sample, and what it counts."""

    owner: int
    neighbors: tuple[int, ...]
    share: Fraction


class Counting:
    """The rows, pools and classes that the pairs are counted in."""

    def __init__(self, lists: Lists, runs: Runs) -> None:
        times = Counter(lists.owners.tolist())
        bounds = zip(lists.indptr[:-1].tolist(), lists.indptr[1:].tolist(), strict=True)
        self.rows = [
            Row(owner, tuple(lists.neighbors[start:stop].tolist()), Fraction(1, times[owner]))
            for owner, (start, stop) in zip(lists.owners.tolist(), bounds, strict=True)
        ]
        self.runs = runs
        self.pools: list[int] = runs.pools.tolist()
        self.labels: list[int] = lists.labels.tolist()

    def by_pool(self, samples: set[int] | frozenset[int]) -> list[int]:
        """How many of these samples each pool has."""
        counts = [0] * len(self.runs.sizes)
        for sample in samples:
            counts[self.pools[sample]] += 1
        return counts

    def weigh(self, weights: PairWeights, i: int, j: int) -> Fraction:
        """What samples i and j count in a split that holds both out."""
        a, b = self.pools[i], self.pools[j]
        if i == j:
            return weights.alone[a]
        return weights.together[a] if a == b else weights.apart[a] * weights.apart[b]

    def held_out(self, draw: Draw, samples: frozenset[int]) -> Fraction:
        """P(all these samples are held out)."""
        return self.drawn(draw, samples, [0] * len(self.runs.sizes))

    def drawn(self, draw: Draw, samples: frozenset[int], drawn: list[int]) -> Fraction:
        """P(of these samples, so many given ones of each pool and no others are in training)."""
        chance = Fraction(1)
        parts = zip(self.runs.sizes, draw.train, self.by_pool(samples), drawn, strict=True)
        for size, train, given, inside in parts:
            if not 0 <= train - inside <= size - given:
                return Fraction(0)
            chance *= Fraction(comb(size - given, train - inside), comb(size, train))
        return chance


def nearest_in_fractions(lists: Lists, runs: Runs) -> Moments:
    """1-NN; formulas in `nearest`. Rows must be complete."""
    count = Counting(lists, runs)
    steps = [_steps(count, row) for row in count.rows]
    held_out = [cache(lambda some, draw=draw: count.held_out(draw, some)) for draw in runs.draws]
    weights = [runs.weights(draw) for draw in runs.draws]
    mean = second = Fraction(0)
    for row, some in zip(count.rows, steps, strict=True):
        for number, draw in enumerate(runs.draws):
            right = sum((step * held_out[number](prefix) for prefix, step in some), Fraction(0))
            mean += draw.share * row.share * weights[number].apart[count.pools[row.owner]] * right
    for row, some in zip(count.rows, steps, strict=True):
        for other, more in zip(count.rows, steps, strict=True):
            total = Fraction(0)
            for number, draw in enumerate(runs.draws):
                both = sum(
                    (x * y * held_out[number](p | q) for p, x in some for q, y in more),
                    Fraction(0),
                )
                weight = count.weigh(weights[number], row.owner, other.owner)
                total += runs.times_in_split(draw) * weight * both
            for p, x in some:
                for q, y in more:
                    if not p & q:
                        total += x * y * _in_two_folds(count, p, q, row.owner, other.owner)
            second += row.share * other.share * total
    return mean, second


def _steps(count: Counting, row: Row) -> list[tuple[frozenset[int], int]]:
    """(prefix with the sample itself, +1 or -1) where the row changes between right and wrong."""
    found, before = [], False
    for r, item in enumerate(row.neighbors):
        right = count.labels[item] == count.labels[row.owner]
        if right != before:
            found.append((frozenset((row.owner, *row.neighbors[:r])), 1 if right else -1))
        before = right
    return found


def _in_two_folds(
    count: Counting, one: frozenset[int], other: frozenset[int], i: int, j: int
) -> Fraction:
    """What i in a fold that holds `one`, and j in another that holds `other`, count."""
    runs, total = count.runs, Fraction(0)
    for a, b, times in runs.across:
        first, second = runs.draws[a], runs.draws[b]
        chance = times * runs.units(first)[count.pools[i]] * runs.units(second)[count.pools[j]]
        pools = zip(count.by_pool(one), count.by_pool(other), strict=True)
        for c, (m, other_m) in enumerate(pools):
            ways = perm(first.test[c], m) * perm(second.test[c], other_m)
            chance *= Fraction(ways, perm(runs.sizes[c], m + other_m))
        total += chance
    return total


class Decision(NamedTuple):
    """A vote that is decided by `item` after `prefix`, in a race for these numbers of voters."""

    item: int
    prefix: frozenset[int]
    wanted: int
    lost: int


def race_in_fractions(lists: Lists, runs: Runs, k: int, *, share: bool) -> Moments:
    """Two classes, any k; formulas in `race`. Rows must be complete."""
    count = Counting(lists, runs)
    races = [
        (row, decisions, row.share / len(targets))
        for row in count.rows
        for targets in [race_targets(k, count.labels[row.owner], share=share)]
        for wanted, lost in targets
        for decisions in [list(_decisions(count, row, wanted, lost))]
    ]
    mean = second = Fraction(0)
    for draw in runs.draws:
        weights = runs.weights(draw)
        for row, decisions, part in races:
            for other, others, other_part in races:
                weight = count.weigh(weights, row.owner, other.owner)
                both = sum(
                    (
                        _both_decided(count, draw, (row, one), (other, two))
                        for one in decisions
                        for two in others
                    ),
                    Fraction(0),
                )
                second += draw.share * part * other_part * weight * both
            unit = weights.apart[count.pools[row.owner]]
            right = (_both_decided(count, draw, (row, one), (row, one)) for one in decisions)
            mean += draw.share * part * unit * sum(right, Fraction(0))
    return mean, second


def _decisions(count: Counting, row: Row, wanted: int, lost: int) -> Iterator[Decision]:
    for r, item in enumerate(row.neighbors):
        if count.labels[item] == count.labels[row.owner]:
            yield Decision(item, frozenset(row.neighbors[:r]), wanted, lost)


def _both_decided(
    count: Counting, draw: Draw, one: tuple[Row, Decision], other: tuple[Row, Decision]
) -> Fraction:
    """P(both samples are held out, and both votes decided as told)."""
    (row, u), (other_row, v) = one, other
    owners, deciding = {row.owner, other_row.owner}, {u.item, v.item}
    if owners & deciding:
        return Fraction(0)
    prefix, other_prefix = u.prefix - owners, v.prefix - owners
    everybody = frozenset(prefix | other_prefix | deciding | owners)
    total = Fraction(0)
    by_class = [_class_ways(count, c, one, other) for c in range(2)]
    for d0, ways_0 in by_class[0].items():
        for d1, ways_1 in by_class[1].items():
            drawn = [d0, d1] if len(count.runs.sizes) > 1 else [d0 + d1]
            total += ways_0 * ways_1 * count.drawn(draw, everybody, drawn)
    return total


def _class_ways(
    count: Counting, c: int, one: tuple[Row, Decision], other: tuple[Row, Decision]
) -> Counter[int]:
    """{d: ways to draw d samples of class c, so that both rows have the voters they need}."""
    (row, u), (other_row, v) = one, other
    owners, deciding = {row.owner, other_row.owner}, {u.item, v.item}
    of_class = {i for i, label in enumerate(count.labels) if label == c}
    prefix, other_prefix = (u.prefix - owners) & of_class, (v.prefix - owners) & of_class
    alone = len(prefix - other_prefix - deciding)
    other_alone = len(other_prefix - prefix - deciding)
    both = len((prefix & other_prefix) - deciding)
    fixed, other_fixed = len(prefix & deciding), len(other_prefix & deciding)
    ways: Counter[int] = Counter()
    for e in range(both + 1):
        for p in range(alone + 1):
            if not _enough(count, c, row, u, fixed + e + p):
                continue
            for q in range(other_alone + 1):
                if _enough(count, c, other_row, v, other_fixed + e + q):
                    d = len(deciding & of_class) + e + p + q
                    ways[d] += comb(both, e) * comb(alone, p) * comb(other_alone, q)
    return ways


def _enough(count: Counting, c: int, row: Row, decision: Decision, voters: int) -> bool:
    """Whether a row may have so many voters of class c before it is decided."""
    if c == count.labels[row.owner]:
        return voters == decision.wanted - 1
    return voters < decision.lost
