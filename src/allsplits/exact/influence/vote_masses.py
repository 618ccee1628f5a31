"""Influences under laws of sizes: fixed, independent draws, Shapley's and Banzhaf's.

All of them differ in nothing but the masses of prefixes (`sizes`). Majorities have loops of their
own, so have means in rows without ties; recall@R, and means in rows with ties, go list by list.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact.influence._kernels_majority import (
    StrikeVotes,
    majority_influences,
    new_strike_work,
)
from allsplits.exact.influence._kernels_mean import ErrorWeights, struck_errors
from allsplits.exact.influence.asked import Asked
from allsplits.exact.influence.rows import (
    ListByList,
    ListVotes,
    RowInfluences,
    RowValues,
    redo_rows,
)
from allsplits.exact.influence.sizes import MassPair, banzhaf_masses, law_masses, shapley_masses
from allsplits.exact.kernel_types import Rows, Rule
from allsplits.exact.laws.fixed_size._kernels_mean import TargetRows
from allsplits.exact.laws.fixed_size._kernels_rivals import Ways
from allsplits.exact.laws.fixed_size.majority import VoteTable
from allsplits.exact.laws.fixed_size.mean import MeanErrors
from allsplits.exact.laws.fixed_size.ranked import RankedVote
from allsplits.exact.masses import Prefixes
from allsplits.exact.question import Options, own_rows
from allsplits.exact.ties import legendre_rules
from allsplits.orders import NeighborOrder

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]


def masses_of(asked: Asked) -> MassPair:
    """The masses that method and law stand for."""
    N, k, tol = asked.n_candidates, asked.k, asked.question.options.tol
    if asked.method == "shapley":
        return shapley_masses(N, k)
    if asked.method == "banzhaf":
        return banzhaf_masses(N, k, tol)
    return law_masses(asked.law, N, k, tol)


@dataclass(frozen=True, eq=False)
class MajorityInfluences:
    """Equal votes of any number of classes."""

    masses: MassPair
    codes: Codes
    n_classes: int
    options: Options

    def __call__(self, order: NeighborOrder, n_threads: int) -> RowInfluences:
        """What the candidates of these rows do."""
        own = self.codes[own_rows(order)]
        rows = Rows(order.indptr, self.codes[order.flat_indices], order.tied, own)
        entries, far = np.empty(len(rows.labels)), np.empty(len(own))
        votes = self._votes()

        def run(start: int, stop: int) -> None:
            work = new_strike_work(self.n_classes, len(votes.whole) - 1)
            majority_influences(rows, start, stop, votes, work, entries, far)

        map_row_ranges(run, len(own), n_threads)
        return RowInfluences(entries, far[:, None])

    def _votes(self) -> StrikeVotes:
        whole, less, depth = self.masses.whole, self.masses.less, self.masses.depth
        most = max(int(whole.ks.max()), int(less.ks.max()))
        masses = np.zeros((2, most + 1, depth + 1))
        for line, prefixes in zip(masses, (whole, less), strict=True):
            line[prefixes.ks, : prefixes.depth + 1] = prefixes.masses
        # A prefix also tells what the one before it is worth without one of its items.
        needed = np.logical_or(masses[0] > 0, masses[1] > 0)
        needed[:, 1:] |= masses[1, :, :-1] > 0
        table = VoteTable(Prefixes(np.array([most]), masses[0, :1], whole.missing, depth))
        rule = Rule(False, self.options.average, self.options.share)
        return StrikeVotes(
            rule,
            Ways(table.values, legendre_rules(most // 2 + 1 if self.options.share else 0)),
            table.theta,
            masses[0],
            masses[1],
            np.where(needed.any(axis=0), needed.argmax(axis=0), 1),
            np.where(needed.any(axis=0), most - needed[::-1].argmax(axis=0), 0),
        )


def ranked_influences(asked: Asked, masses: MassPair) -> ListByList:
    """recall@R: whether neighbours have the own class is all that matters."""
    options, codes = asked.question.options, asked.codes
    whole, less = (RankedVote(prefixes, options) for prefixes in (masses.whole, masses.less))
    return ListByList(
        plain_votes(
            lambda order, n_threads: RowValues(whole.right(order, codes, n_threads).sum(axis=1)),
            lambda order, n_threads: RowValues(less.right(order, codes, n_threads).sum(axis=1)),
            asked.n_classes,
        ),
        codes,
        options.average,
    )


@dataclass(frozen=True, eq=False)
class MeanInfluences:
    """Squared errors of means: one pass in rows without ties, `by_lists` in the others."""

    masses: MassPair
    targets: Floats
    average: bool
    by_lists: ListByList

    def __call__(self, order: NeighborOrder, n_threads: int) -> RowInfluences:
        """What the candidates of these rows do."""
        own = self.targets[own_rows(order)]
        rows = TargetRows(order.indptr, self.targets[order.flat_indices], order.tied, own)
        entries, far = np.empty(len(rows.targets)), np.empty(len(own))
        weights = self._weights()
        map_row_ranges(
            lambda start, stop: struck_errors(rows, start, stop, weights, entries, far),
            len(own),
            n_threads,
        )
        row_of = np.repeat(np.arange(len(own)), np.diff(order.indptr))
        tied = np.bincount(row_of[order.tied & self.average], minlength=len(own)) > 0
        found = RowInfluences(entries, far[:, None])
        return redo_rows(found, order, tied, self.by_lists, n_threads)

    def _weights(self) -> ErrorWeights:
        """A and B of all numbers of voters together, for complete lists and for the others."""
        lines = np.zeros((4, self.masses.depth + 1))
        for place, prefixes in ((0, self.masses.whole), (2, self.masses.less)):
            j = np.arange(prefixes.depth + 1)
            k = prefixes.ks[:, None]
            both = (k - 1) / np.maximum(j - 1, 1)
            each = prefixes.masses / (k * np.maximum(j, 1))
            lines[place, : len(j)] = (each * (1 - both)).sum(axis=0)
            lines[place + 1, : len(j)] = (each * both).sum(axis=0)
        return ErrorWeights(*lines)


def mean_influences(asked: Asked, masses: MassPair) -> MeanInfluences:
    """Squared errors of means."""
    average, targets = asked.question.options.average, asked.targets
    whole, less = (MeanErrors(targets, each, average) for each in (masses.whole, masses.less))
    votes = plain_votes(
        lambda order, n_threads: RowValues(-whole(order, n_threads).sum(axis=1)),
        lambda order, n_threads: RowValues(-less(order, n_threads).sum(axis=1)),
        1,
    )
    by_lists = ListByList(votes, asked.codes, average, runs=False)
    return MeanInfluences(masses, targets, average, by_lists)


def plain_votes(
    whole: Callable[[NeighborOrder, int], RowValues],
    less: Callable[[NeighborOrder, int], RowValues],
    n_classes: int,
) -> ListVotes:
    """Votes for which it does not matter who is gone beyond a row."""

    def without(order: NeighborOrder, gone: Codes, n_threads: int) -> RowValues:
        return less(order, n_threads)

    return ListVotes(whole, without, np.ones((n_classes, n_classes)))
