"""Two classes under class counts: votes as races, and what striking a sample changes in them."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact._kernels_draws import hypergeometric_table
from allsplits.exact.kernel_types import Rows
from allsplits.exact.laws.class_counts._kernels_race import (
    Mixes,
    Races,
    race_bases,
    race_strikes,
    race_work,
)
from allsplits.exact.laws.class_counts.draws import Pools
from allsplits.exact.strikes import Candidates, Changes, Struck

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RaceVote:
    """Votes of two classes, in rows whose tie groups are of one class each.

    Attributes
    ----------
    pools : Pools
        Of three kinds: a sample of the first class gone, of the second, none.
    ks : list of int
    share : bool
        Whether tied classes share the vote.
    """

    pools: Pools
    ks: list[int]
    share: bool

    def strikes(self, given: Candidates, n_threads: int) -> Struck:
        """Columns are shared between threads."""
        n_columns = len(self.ks)
        step = max(1, -(-n_columns // n_threads))
        sums, own = np.zeros((2, n_columns)), np.zeros((len(given.rows.own), n_columns))
        found = Changes(given, n_columns)

        def run(start: int, stop: int) -> None:
            for first in range(start, stop, step):
                here = slice(first, min(first + step, stop))
                some = replace(self, ks=self.ks[here])
                for batch in given.batches(len(some.ks)):
                    bases, changes = some.by_row(batch.rows, given.weights)
                    sums[:, here] += bases.sum(axis=0)
                    own[batch.lines, here] = bases[np.arange(len(bases)), batch.rows.own]
                    found.add(batch, here, changes)

        map_row_ranges(run, n_columns, n_threads, smallest=step)
        return Struck(sums, own, found)

    def by_row(self, rows: Rows, weights: Floats) -> tuple[Floats, Floats]:
        """(what rows add if a far sample of each class is gone, what striking entries changes).

        Shapes are (rows, 2, columns) and (entries, columns).
        """
        longest = int(np.diff(rows.indptr).max(initial=0))
        races, mix = self._races()
        bases = np.zeros((len(rows.own), 2, len(self.ks)))
        changes = np.zeros((len(rows.labels), len(self.ks)))
        numbers = np.arange(len(rows.labels), dtype=np.int32)
        work = race_work(longest, len(races))
        for component in range(self.pools.trains.shape[1]):
            tables = tuple(self._tables(own, component, longest, races) for own in (0, 1))
            of_races = np.zeros((len(rows.own), 3, len(races)))
            race_bases(rows, tables, of_races)
            counted = _counted(weights[:, component])
            counts = mix[:, None] * counted[:, :, None, None]
            race_strikes(
                rows, numbers, tables, Mixes(self._pairs(races), counts), of_races, changes, work
            )
            pairs = self._pairs(races)
            for gone in (0, 1):
                other = (rows.own != gone).astype(np.intp)
                each = of_races[np.arange(len(rows.own)), 1 + other][:, pairs] * mix[rows.own]
                bases[:, gone] += each.sum(axis=2) * counted[rows.own, other][:, None]
        return bases, changes

    def _races(self) -> tuple[list[tuple[int, int]], Floats]:
        """The races (h, g) that decide the votes, and what the two of a vote count, by own class.

        2h - 1 voters: h before h. 2h voters: h + 1 before h wins alone, h before h + 1 is at least
        a tie.
        """
        races = sorted({race for k in self.ks for race in _races_of(k)})
        mix = np.zeros((2, len(self.ks), 2))
        for own in (0, 1):
            tie = 0.5 if self.share else 1.0 - own
            for c, k in enumerate(self.ks):
                mix[own, c] = (1.0, 0.0) if k % 2 else (1.0 - tie, tie)
        return races, mix

    def _pairs(self, races: list[tuple[int, int]]) -> NDArray[np.int64]:
        place = {race: i for i, race in enumerate(races)}
        return np.array([[place[race] for race in _races_of(k)] for k in self.ks])

    def _tables(
        self, own: int, component: int, longest: int, races: list[tuple[int, int]]
    ) -> Races:
        """What rows of a class need, for all three kinds of data."""
        other = 1 - own
        most = max(max(race) for race in races)
        mine, theirs = np.array(races).T
        nth = np.empty((3, longest + 1, len(races)))
        fewer = np.empty_like(nth)
        for v, kind in enumerate((2, own, other)):
            trains = self.pools.trains[kind, component]
            drawn = _drawn(int(self.pools.own[kind, own]), int(trains[own]), longest, most)
            nth[v] = drawn.nth[:, mine]
            drawn = _drawn(int(self.pools.others[kind, other]), int(trains[other]), longest, most)
            fewer[v] = drawn.fewer[:, theirs]
        return Races(nth, fewer)


def _races_of(k: int) -> tuple[tuple[int, int], tuple[int, int]]:
    h = (k + 1) // 2
    return ((h, h), (h, h)) if k % 2 else ((h + 1, h), (h, h + 1))


def _counted(weights: Floats) -> Floats:
    """counted[own, whether the other class has lost a sample] from weights[gone, own]."""
    return np.array([[weights[own, own], weights[1 - own, own]] for own in (0, 1)])


class _Drawn(NamedTuple):
    """nth[n, h]: the next item is the h-th drawn; fewer[n, h]: fewer than h of n are drawn."""

    nth: Floats
    fewer: Floats


def _drawn(pool: int, train: int, longest: int, most: int) -> _Drawn:
    """For the first items of a class with `pool` candidates, of which `train` are drawn.

    Rows have no more items than that; what is asked beyond counts nothing.
    """
    train = min(train, pool)
    height = min(pool, longest) + 1
    chances = np.zeros((height, most + 1))
    hypergeometric_table(pool, train, height - 1, most, chances)
    left = np.maximum(pool - np.arange(height), 1)[:, None]
    to_draw = np.maximum(train - np.arange(most), 0)
    nth, fewer = np.zeros((longest + 1, most + 1)), np.zeros((longest + 1, most + 1))
    nth[:height, 1:] = chances[:, :-1] * to_draw / left
    nth[pool:] = 0.0
    fewer[:height, 1:] = np.cumsum(chances[:, :-1], axis=1)
    fewer[height:] = fewer[height - 1]
    return _Drawn(nth, fewer)
