"""Majority votes of k equal neighbours, for any number of classes and many k at once.

Cost per sample and prefix: O(k²) when one rival class can catch up, O(k²) more for each further
one. Conditioning as in Celisse & Mary-Huard 2011, any number of classes and ties beyond the paper.
"""

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.effort import map_timed_rows
from allsplits.exact.kernel_types import Quadrature, Rows, Rule
from allsplits.exact.laws.fixed_size._kernels_listed import MOST_ITEMS
from allsplits.exact.laws.fixed_size._kernels_losses import (
    Losing,
    new_beaten,
    padded_lines,
    right_tied,
    right_untied,
)
from allsplits.exact.laws.fixed_size._kernels_majority import (
    score_tied,
    score_untied,
    work_space,
)
from allsplits.exact.laws.fixed_size._kernels_rivals import DOUBT, RARE, Votes, Ways
from allsplits.exact.laws.fixed_size._kernels_tied_losses import LossWork, new_loss_work
from allsplits.exact.masses import Prefixes, binomial_table
from allsplits.exact.question import Options, own_rows
from allsplits.exact.ties import chosen_rows, distinct_rows, legendre_rules
from allsplits.orders import UNIT_ROUNDOFF, NeighborOrder

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]

#: Chances to be right that what is left of one is not precise enough for.
_FAINT = 1e-12
#: What a long run is told.
CHEAPER = "fewer neighbours or fewer samples"


class VoteTable:
    """Binomial weights T[n, b] for a set of prefixes, and what rounding they may bring."""

    def __init__(self, prefixes: Prefixes) -> None:
        k_max = int(prefixes.ks.max())
        # θ follows the line j ≈ k · N/a along which the masses lie, so nothing underflows.
        self.theta = k_max / (prefixes.depth + 1.0)
        self.values = binomial_table(prefixes.depth, k_max, self.theta)

    @staticmethod
    def rounding(prefixes: Prefixes, n_classes: int) -> float:
        """Bound on the rounding error of a value, relative to wins and losses: sums of positives.

        Tables: 3 roundings a row, numerator and denominator, once more where what is lost are all
        votes less those that are held; masses: 4 a step and their sum; each class's factor: k
        products and sums; items of a small tie group, taken class by class; then the sums over
        votes and prefixes. Numbers of votes that are less probable than `RARE` are left out, for
        each prefix at most k of them.
        """
        depth, k = prefixes.depth, int(prefixes.ks.max())
        factors = min(n_classes, depth)
        roundings = 15 * depth + (k + 3) * (factors + 2) + 4 * MOST_ITEMS + 64
        return roundings * UNIT_ROUNDOFF + k * depth * RARE


def log_doubts(depth: int, k_most: int, share: float) -> Floats:
    """doubts[n, v]: at most v of n given items are drawn with a chance of e^-doubts[n, v] or less.

    Hoeffding 1963 (theorem 1 and section 6): n · KL(v/n, share), which holds without replacement as
    well. Numbers drawn of several classes are negatively associated (Joag-Dev & Proschan 1983), so
    doubts of classes add up.
    """
    n, v = np.arange(depth + 1)[:, None], np.arange(k_most + 1)
    part = np.minimum(v / np.maximum(n, 1), 1.0)
    few = part < share
    # n log(1 - share) for v = 0; a share of 1 leaves none out.
    least = max(1 - share, np.finfo(float).tiny)
    drawn = np.where(few & (part > 0), part, share or 1.0)
    entropy = part * np.log(drawn / (share or 1.0)) + (1 - part) * np.log((1 - part * few) / least)
    return np.where(few, n * entropy, 0.0)


class MajorityVote:
    """P(every class wins the vote) for samples, columns of (k, law), and two rules for ties."""

    def __init__(self, prefixes: Prefixes, n_classes: int, options: Options) -> None:
        self.prefixes = prefixes
        self.n_classes = n_classes
        self.options = options
        self.table = VoteTable(prefixes)
        #: Rows of all blocks, if a long run is to be announced.
        self.rows_in_all = 0
        #: The number of the first row, which speaks for the others.
        self.first_row = 0
        self.quadrature = legendre_rules(int(prefixes.ks.max()) // 2 + 1 if options.share else 0)

    @property
    def rounding(self) -> float:
        """Bound on rounding errors of a probability."""
        return VoteTable.rounding(self.prefixes, self.n_classes)

    def right(
        self,
        order: NeighborOrder,
        codes: Codes,
        n_threads: int,
        numbers: NDArray[np.intp] | None = None,
    ) -> Floats:
        """P(right) of each row of `order`, shape (rows, columns).

        `numbers` are those of the rows, where the order does not tell.
        """
        losing = self._losing

        def score(rows: Rows, tied: bool, out: Floats, start: int, stop: int) -> None:
            beaten = new_beaten(self.n_classes, losing)
            if tied:
                right_tied(rows, start, stop, losing, beaten, self._loss_work(), out)
            else:
                right_untied(rows, start, stop, losing, beaten, out)

        rows = class_rows(order, codes, numbers)
        one = len(self.prefixes.ks) == 1
        if one and self.options.share:
            # Losses pay where many k share them, or a single node is enough.
            return self._own_wins(order, rows, n_threads)
        found = self._run(order, rows, n_threads, len(self.prefixes.ks), score)
        faint = np.flatnonzero(found[:, 0] < _FAINT)
        if one and len(faint):
            # Small chances again, added up from wins: the hardest samples can be told apart.
            found[faint] = self._own_wins(order, chosen_rows(rows, faint), n_threads)
        return found

    def _own_wins(self, order: NeighborOrder, rows: Rows, n_threads: int) -> Floats:
        """P(right) of rows for the only column, added up from wins."""
        score = partial(self._score_wins, False)
        every = self._run(order, rows, n_threads, self.n_classes, score)
        return every[np.arange(len(rows.own)), rows.own][:, None]

    def every_class(self, order: NeighborOrder, codes: Codes, n_threads: int) -> Floats:
        """P(each class is predicted) for the only column, shape (rows, classes).

        The rows' own classes play no part, so they may be samples that are not in `codes`.
        """
        rows = query_rows(order, codes)
        score = partial(self._score_wins, True)
        return self._run(order, rows, n_threads, self.n_classes, score)

    def _score_wins(
        self, every_class: bool, rows: Rows, tied: bool, out: Floats, start: int, stop: int
    ) -> None:
        rule = Rule(every_class, self.options.average, self.options.share)
        votes = Votes(rule, self.prefixes.columns, Ways(self.table.values, self.quadrature))
        weights = self._weights if tied else None
        met, work, tied_work = work_space(self.n_classes, votes, weights)
        if tied:
            score_tied(rows, start, stop, votes, met, work, tied_work, out)
        else:
            score_untied(rows, start, stop, votes, met, work, out)

    @cached_property
    def _weights(self) -> Floats:
        """m_j / T[j, k] of each prefix and column."""
        masses, below = self.prefixes.masses.T, self.table.values[:, self.prefixes.ks]
        return np.divide(masses, below, out=np.zeros(masses.shape), where=masses > 0)

    def _loss_work(self) -> LossWork:
        """Space for the tie groups of one thread."""
        losing = self._losing
        return new_loss_work(self.n_classes, losing.weights, losing.table, losing.columns.ks)

    @cached_property
    def _losing(self) -> Losing:
        """What the kernels of the own class need to know."""
        prefixes, share, table = self.prefixes, self.options.share, self.table.values
        k_most = int(prefixes.ks.max())
        kept = np.zeros((prefixes.depth + 2, len(prefixes.ks)))
        kept[:-1] = np.cumsum(prefixes.masses.T[::-1], axis=0)[::-1]
        doubts = log_doubts(prefixes.depth, k_most, prefixes.least_share)
        starts, nodes = self._nodes(k_most)
        return Losing(
            prefixes.columns, share, self.quadrature, table, padded_lines(table), self.table.theta,
            doubts, np.count_nonzero(doubts >= DOUBT, axis=1), starts, nodes, self._weights, kept,
        )  # fmt: skip

    def _nodes(self, k_most: int) -> tuple[NDArray[np.int64], Quadrature]:
        """starts[r, v] of the nodes for v votes against r rivals, and all of them.

        A single one where ties are not shared.
        """
        votes = np.arange(1, k_most // 2 + 1)
        if not self.options.share or k_most == 1:
            starts = np.concatenate([[0, 0], votes])[None]
            return starts, Quadrature(np.ones(len(votes)), np.ones(len(votes)))
        rivals = np.arange(min(self.n_classes, k_most))[:, None]
        # No more than k/v - 1 rivals can be tied with v of k votes.
        sizes = np.minimum(rivals, k_most // votes - 1) // 2 + 1
        ends = np.cumsum(sizes.ravel()).reshape(sizes.shape)
        firsts = ends[:, -1:] - sizes.sum(axis=1, keepdims=True)
        starts = np.concatenate([firsts, firsts, ends], axis=1)
        nodes, weights = (
            np.concatenate([rule[n, :n] for n in sizes.ravel()]) for rule in self.quadrature
        )
        return starts, Quadrature(nodes, weights)

    def _run(
        self,
        order: NeighborOrder,
        rows: Rows,
        n_threads: int,
        width: int,
        score: Callable[[Rows, bool, Floats, int, int], None],
    ) -> Floats:
        place: Any = slice(None)
        if self.options.average:
            rows, _, place = distinct_rows(rows, np.zeros_like(rows.own))
        out = np.zeros((len(rows.own), width))
        has_ties = bool(rows.tied.any())
        tied = self.options.average and has_ties
        # What ties cost is seen from the first rows; the first block speaks for the others.
        says_so = has_ties and order.first_row == self.first_row
        map_timed_rows(
            partial(score, rows, tied, out),
            len(rows.own),
            n_threads,
            scale=self.rows_in_all / order.n_samples if says_so else 0.0,
            cheaper=CHEAPER,
        )
        found: Floats = out[place]
        return found


def class_rows(order: NeighborOrder, codes: Codes, numbers: NDArray[np.intp] | None = None) -> Rows:
    """The rows of a block of samples, or of samples with these numbers, and their own classes."""
    own = codes[own_rows(order) if numbers is None else numbers]
    return Rows(order.indptr, codes[order.flat_indices], order.tied, own)


def query_rows(order: NeighborOrder, codes: Codes) -> Rows:
    """Rows of points whose own class plays no part."""
    own = np.zeros(order.n_samples, dtype=codes.dtype)
    return Rows(order.indptr, codes[order.flat_indices], order.tied, own)
