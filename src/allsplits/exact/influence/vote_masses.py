"""Influences under laws of sizes: fixed, independent draws, Shapley's and Banzhaf's.

All of them differ in nothing but the masses of prefixes (`sizes`). Majorities have loops of their
own, so have means in rows without ties; recall@R, and means in rows with ties, go list by list.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact.influence._kernels_majority import StrikeWork, VotePair, majority_influences
from allsplits.exact.influence.asked import Asked
from allsplits.exact.influence.rows import ListByList, ListVotes, RowInfluences
from allsplits.exact.influence.sizes import MassPair, banzhaf_masses, law_masses, shapley_masses
from allsplits.exact.kernel_types import Rows, Rule
from allsplits.exact.laws.fixed_size._kernels_majority import work_space
from allsplits.exact.laws.fixed_size._kernels_rivals import Votes, Ways
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
        pair, n_classes = self._votes(), self.n_classes

        def run(start: int, stop: int) -> None:
            met, votes, tied = work_space(n_classes, pair.whole, True)
            n_columns = max(len(each.columns.ks) for each in pair)
            space = (np.empty(n_classes), np.empty(n_classes), np.empty(n_classes))
            work = StrikeWork(met, votes, tied, *space, np.empty(n_columns))
            majority_influences(rows, start, stop, pair, work, entries, far)

        map_row_ranges(run, len(own), n_threads)
        return RowInfluences(entries, far[:, None])

    def _votes(self) -> VotePair:
        whole, less = self.masses.whole, self.masses.less
        deeper = max(whole, less, key=lambda prefixes: prefixes.depth)
        most = max(int(whole.ks.max()), int(less.ks.max()))
        table = VoteTable(Prefixes(np.array([most]), deeper.masses, deeper.missing, deeper.depth))
        rule = Rule(False, self.options.average, self.options.share)
        ways = Ways(table.values, legendre_rules(most // 2 + 1 if self.options.share else 0))
        return VotePair(Votes(rule, whole.columns, ways), Votes(rule, less.columns, ways))


def ranked_influences(asked: Asked, masses: MassPair) -> ListByList:
    """recall@R: whether neighbours have the own class is all that matters."""
    options, codes = asked.question.options, asked.codes
    whole, less = (RankedVote(prefixes, options) for prefixes in (masses.whole, masses.less))
    return ListByList(
        _plain_votes(
            lambda order, n_threads: whole.right(order, codes, n_threads).sum(axis=1),
            lambda order, n_threads: less.right(order, codes, n_threads).sum(axis=1),
            asked.n_classes,
        ),
        codes,
        options.average,
    )


def mean_influences(asked: Asked, masses: MassPair) -> ListByList:
    """Squared errors of means."""
    average, targets = asked.question.options.average, asked.targets
    whole, less = (MeanErrors(targets, each, average) for each in (masses.whole, masses.less))
    votes = _plain_votes(
        lambda order, n_threads: -whole(order, n_threads).sum(axis=1),
        lambda order, n_threads: -less(order, n_threads).sum(axis=1),
        1,
    )
    return ListByList(votes, asked.codes, average, runs=False)


def _plain_votes(
    whole: Callable[[NeighborOrder, int], Floats],
    less: Callable[[NeighborOrder, int], Floats],
    n_classes: int,
) -> ListVotes:
    """Votes for which it does not matter who is gone beyond a row."""

    def without(order: NeighborOrder, gone: Codes, n_threads: int) -> Floats:
        return less(order, n_threads)

    return ListVotes(whole, without, np.ones((n_classes, n_classes)))
