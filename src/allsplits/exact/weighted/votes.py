"""Votes that weigh: 1/distance or any function of the distance, for sizes, draws or counts.

Which class is ahead depends on sums of weights: sets of voters have to be counted. Given who
stands before the last voter, classes are independent, so the sums of each class are listed on
their own and meet in the end: exactly where that takes little work (`_kernels_lists`), otherwise
rounded to a grid, which encloses the truth (`_kernels_grid`). All k share a pass; which way is
taken is decided for each sample before it is computed (`_kernels_rows`). With `allow_sampling`
intervals that stay wide are replaced by means of draws (`sampled`).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact.answer import (
    Answer,
    FromRows,
    Solver,
    answer_from_rows,
    by_law,
    side_by_side,
)
from allsplits.exact.effort import is_long, map_timed_rows, weighted_votes_seconds
from allsplits.exact.kernel_types import Rows
from allsplits.exact.laws.class_counts.vote import solve_class_majority
from allsplits.exact.laws.fixed_size.vote import solve_majority
from allsplits.exact.masses import Column
from allsplits.exact.question import Question, own_rows
from allsplits.exact.ties import distinct_rows, entries_of_rows, legendre_rules
from allsplits.exact.weighted._kernels_rows import bound_rows, count_rows
from allsplits.exact.weighted.equal import or_equal, weights_of
from allsplits.exact.weighted.kernel_types import Effort, FoundRows, WeightedRows, WeightedRule
from allsplits.exact.weighted.sampled import N_DRAWS, Candidates, can_be_sampled, sample_votes
from allsplits.exact.weighted.tables import TabledLaw, tabled_law
from allsplits.exact.weighted.vote_fractions import component_fractions, solve_vote_fractions
from allsplits.exact.weighted.weights import VOTE_TOLERANCE
from allsplits.orders import UNIT_ROUNDOFF, NeighborOrder
from allsplits.splits import BernoulliLaw

Floats = NDArray[np.float64]
#: Votes of so many neighbours share a pass; few voters are counted exactly where many are not.
_BATCHES = (1, 3, 6)
#: Steps that a row may take, for each state that it may hold.
_EXACT_STEPS, _GRID_STEPS = 32.0, 256.0
#: Tie groups that can come in more ways are left unknown.
_MOST_PREFIXES = 50_000.0
#: What a long run is told.
CHEAPER = "fewer neighbours, fewer samples, a smaller max_states or weights='uniform'"


def _batches(ks: Sequence[int]) -> list[list[int]]:
    """Positions of the numbers of neighbours that go together."""
    batch = np.searchsorted(_BATCHES, ks)
    return [np.flatnonzero(batch == b).tolist() for b in np.unique(batch)]


class WeightedVote:
    """For each row of a block: value and doubt of every column, and the share of each class."""

    def __init__(
        self, question: Question, law: TabledLaw | None = None, ks: list[int] | None = None
    ) -> None:
        self.question = question
        self.law = law or tabled_law(question, question.columns[0].law)
        self.ks = ks or [column.k for column in question.columns]
        self.depth = self.law.depth(max(self.ks), question.options.tol)
        # 1/(1 + tied rivals) is integrated; without shares there is one way to count ties.
        rules = legendre_rules((question.n_classes + 1) // 2 if question.options.share else 1)
        self.nodes, self.node_weights = (np.ascontiguousarray(rule[-1]) for rule in rules)

    @cached_property
    def component_weights(self) -> Floats:
        """What every sample counts in each component of the question's law, by its class."""
        counted = component_fractions(self.question, self.question.columns[0].law)
        return np.array([[float(w) for w in line] for line in counted]).T

    @property
    def seconds(self) -> float:
        """What all rows take on one core, roughly, without ties."""
        return weighted_votes_seconds(self.question.n_questions, max(self.ks))

    @property
    def width(self) -> int:
        """Values of a row: its columns (or classes), and for each column doubt and variance."""
        values = self.question.n_classes if self.question.want_samples else len(self.ks)
        return values + 2 * len(self.ks)

    def split(self, values: Floats) -> tuple[Floats, Floats, Floats]:
        """(values, doubts, variances) of rows; the columns are the last axis."""
        n = len(self.ks)
        return values[..., : -2 * n], values[..., -2 * n : -n], values[..., -n:]

    def rounding(self) -> float:
        """Bound on rounding errors: tables, lists and cumulated cells, products of classes."""
        factors = min(self.question.n_classes, self.depth)
        return (64 * self.depth + 8 * (max(self.ks) + 3) * (factors + 2) + 256) * UNIT_ROUNDOFF

    def bounds(self, order: NeighborOrder, n_threads: int) -> Floats:
        """Lower and upper bounds of P(right): (rows, bound, component, column)."""
        return self.enclosed(order, n_threads)[:, :, 0]

    def enclosed(self, order: NeighborOrder, n_threads: int) -> Floats:
        """The same of every class if values of samples are wanted; the class is the third axis."""
        rows, same = self._distinct_rows(order)
        n_classes = self.question.n_classes if self.question.want_samples else 1
        out = np.empty((order.n_samples, 2, n_classes, self.law.n_components, len(self.ks)))
        for batch in _batches(self.ks):
            found = self._bounds(rows, [self.ks[c] for c in batch], n_threads, 0.0)
            out[..., batch] = found[same]
        return out

    def _distinct_rows(self, order: NeighborOrder) -> tuple[WeightedRows, NDArray[np.intp]]:
        """Rows that differ, and which of them every row is."""
        question = self.question
        rows = WeightedRows(
            order.indptr, question.codes[order.flat_indices], order.tied,
            *weights_of(question).scaled(order), question.codes[own_rows(order)],
        )  # fmt: skip
        return _distinct(rows, question.options.average)

    def __call__(self, order: NeighborOrder, n_threads: int) -> Floats:
        """The rows of a block, mixed as the components of the law count."""
        question, every = self.question, self.question.want_samples
        own = question.codes[own_rows(order)]
        rows, same = self._distinct_rows(order)
        component_weights = self.component_weights[own]
        alike = np.bincount(same)[same]
        out = np.zeros((order.n_samples, self.width))
        values, doubts, variances = self.split(out)
        # The first block speaks for the others, unless the estimate did.
        foreseen = is_long(self.seconds, n_threads) or not question.is_first(order)
        scale = 0.0 if foreseen else question.n_questions / order.n_samples
        for batch in _batches(self.ks):
            ks = [self.ks[c] for c in batch]
            found = self._bounds(rows, ks, n_threads, scale)
            variance = np.zeros((len(rows.own), *found.shape[2:]))
            if question.options.allow_sampling:
                self._sample_wide(rows, ks, order.first_row, found, variance)
            # (row, bound, class, slot): the components of the law are mixed as they count.
            mixed = np.einsum("ibcps,ip->ibcs", found[same], component_weights)
            middle, doubt = mixed.mean(axis=1), (mixed[:, 1] - mixed[:, 0]) / 2
            # Rows that are alike share their draws.
            noise = np.einsum("icps,ip->ics", variance[same], component_weights**2 * alike[:, None])
            mine = (np.arange(len(own)), own if every else np.zeros_like(own))
            if every:
                values[:] = middle[:, :, 0]
            else:
                values[:, batch] = middle[:, 0]
            doubts[:, batch], variances[:, batch] = doubt[mine], noise[mine]
        return out

    def _sample_wide(
        self, rows: WeightedRows, ks: list[int], seed: int, found: Floats, variance: Floats
    ) -> None:
        """Put means of draws in the place of intervals wider than `vote_tol`."""
        options, law = self.question.options, self.law
        n_classes = self.question.n_classes
        weights = np.ldexp(rows.mantissa, rows.exponent)
        wide = (found[:, 1] - found[:, 0]).max(axis=(1, 2, 3)) > options.vote_tol
        for i in np.flatnonzero(wide):
            entries = slice(rows.indptr[i], rows.indptr[i + 1])
            if not can_be_sampled(weights[entries]):
                continue
            own = int(rows.own[i])
            # Without averages the order of the row is the order of the draws.
            tied = rows.tied[entries] & options.average
            for component in range(law.n_components):
                rng = np.random.default_rng([seed, int(i), component])
                row = Candidates(
                    rows.labels[entries], tied, weights[entries],
                    *law.draws(own, component, rng, N_DRAWS),
                )  # fmt: skip
                mean, noise = sample_votes(row, ks, n_classes, options.share, rng)
                keep = slice(None) if self.question.want_samples else slice(own, own + 1)
                found[i, :, :, component], variance[i, :, component] = mean[keep], noise[keep]

    def _bounds(self, rows: WeightedRows, ks: list[int], n_threads: int, scale: float) -> Floats:
        """Lower and upper bounds by row, class (all, or only the own one), component and k.

        Each row stands for `scale` rows of all blocks.
        """
        options, k, every = self.question.options, max(ks), self.question.want_samples
        slots = np.full(k + 1, -1)
        slots[ks] = np.arange(len(ks))
        rule = WeightedRule(
            slots, options.average, options.share, -1 if every else 0, self.nodes,
            self.node_weights, VOTE_TOLERANCE,
        )  # fmt: skip
        law = self.law.tables(k, int(np.diff(rows.indptr).max()), options.tol)
        n_rows, n_components = len(rows.own), self.law.n_components
        shape = (n_rows, 2, self.question.n_classes if every else 1, n_components, len(ks))
        found = FoundRows(
            np.zeros(shape), np.zeros((n_rows, n_components, len(ks))), np.zeros(n_rows, dtype=bool)
        )
        effort = self._effort(k)

        def run(start: int, stop: int, kernel: Any) -> None:
            kernel(rows, start, stop, law, rule, effort, found)

        map_row_ranges(partial(run, kernel=count_rows), n_rows, n_threads, smallest=4)
        if found.is_open.any():
            map_timed_rows(
                partial(run, kernel=bound_rows), n_rows, n_threads,
                scale=scale, cheaper=CHEAPER, smallest=4,
            )  # fmt: skip
        # Votes that were not seen may go to anybody.
        found.won[:, 1] += np.maximum(1 - found.visited, 0)[:, None]
        return found.won

    def _effort(self, k: int) -> Effort:
        """How hard to try votes of up to k."""
        options = self.question.options
        near = options.vote_tol / 16
        return Effort(
            tol=options.tol, near=max(options.tol, near), cap=max(options.max_states // 8, 64),
            exact_work=_EXACT_STEPS * options.max_states,
            grid_work=_GRID_STEPS * options.max_states, coarse=64,
            most_cells=8 * options.max_states, left_out=self.law.left_out(k, near),
            wanted_width=options.vote_tol, most_prefixes=_MOST_PREFIXES,
        )  # fmt: skip


def _distinct(rows: WeightedRows, average: bool) -> tuple[WeightedRows, NDArray[np.intp]]:
    """Rows that differ, and which of them every row is.

    Few binary features have large tie groups, which take long, and few different rows.
    """
    weights: dict[tuple[bytes, bytes], int] = {}
    kinds = np.empty(len(rows.own), dtype=np.int32)
    for i, (start, stop) in enumerate(pairwise(rows.indptr.tolist())):
        key = rows.mantissa[start:stop].tobytes(), rows.exponent[start:stop].tobytes()
        kinds[i] = weights.setdefault(key, len(weights))
    plain = Rows(rows.indptr, rows.labels.copy(), rows.tied & average, rows.own)
    few, first, same = distinct_rows(plain, kinds, least_tied=0.0)
    if len(first) == len(rows.own):
        return rows, np.arange(len(rows.own))
    _, entries = entries_of_rows(rows.indptr, first)
    distinct = WeightedRows(
        few.indptr, few.labels, rows.tied[entries], rows.mantissa[entries], rows.exponent[entries],
        few.own,
    )  # fmt: skip
    return distinct, same


def solve_weighted(question: Question) -> Solver:
    """Weighted votes for classes: fixed sizes, independent draws, class counts."""
    if question.options.exact:
        return by_law(question, solve_vote_fractions)
    # The vote of one neighbour has no weights.
    alone = [c for c, column in enumerate(question.columns) if column.k == 1]
    if alone and not callable(weights_of(question).function):
        return _with_one_neighbor(question, alone)
    return _solve_weighted(question)


def _with_one_neighbor(question: Question, alone: list[int]) -> Solver:
    """Equal votes answer the columns of one neighbour, weighted votes the others."""

    def only(columns: list[int]) -> Question:
        return question.with_columns([question.columns[c] for c in columns])

    nearest = _equal_votes(question)(replace(only(alone), vote="majority", weights=None))
    others = [c for c in range(len(question.columns)) if c not in alone]
    if not others:
        return nearest
    return side_by_side([nearest, _solve_weighted(only(others))], [alone, others])


def _equal_votes(question: Question) -> Callable[[Question], Solver]:
    counts = question.columns[0].law.kind == "class counts"
    return solve_class_majority if counts else solve_majority


def _solve_weighted(question: Question) -> Solver:
    columns = question.columns
    if isinstance(columns[0].law, BernoulliLaw):
        # Training sets with fewer than k samples are left out: each k has a law of its own.
        question = question.with_columns([Column(c.k, c.law.given(c.k)) for c in columns])
    solver = by_law(question, _of_one_law)
    return or_equal(question, solver, _equal_votes(question), "majority")


def _of_one_law(question: Question) -> Solver:
    vote = WeightedVote(question)

    def finish(values: Floats) -> Answer:
        weight = vote.component_weights.sum(axis=1)[question.own_codes]
        shares, doubts, noises = vote.split(values)
        if question.want_samples or question.want_rows:
            bound = doubts.sum(axis=0) + vote.rounding()
            answer = answer_from_rows(question, shares, weight, bound, weighted=True)
            return replace(answer, standard_error=np.sqrt(noises.sum(axis=0)))
        scores, doubt, noise = vote.split(values.sum(axis=0))
        return Answer(scores, doubt + vote.rounding(), standard_error=np.sqrt(noise))

    total = FromRows(question, finish, width=vote.width)
    return Solver(vote.depth, vote, total, vote.seconds, CHEAPER)
