"""A fixed number of training items from each class: stratified splits, few shots, galleries.

Mullin & Sukthankar 2000, algorithms 3 and 4, for any k, all k at once, and tied distances. 1-NN is
O(N) per sample (the paper: O(CN)), because passing an item changes one factor of the product.

How deep the neighbour search must be follows from a Chernoff bound: drawing without replacement
is more concentrated than drawing independently, so for t > 0

    P(at most k training items among the first M) ≤ e^{tk} Π_c (1 - r_c + r_c e^{-t})^{m_c},

with r_c the share of class c that is drawn; the worst neighbourhood holds the classes that are
drawn least.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact.answer import (
    Answer,
    FromRows,
    Solver,
    answer_from_rows,
    by_law,
)
from allsplits.exact.effort import (
    class_votes_seconds,
    is_long,
    map_timed_rows,
    own_votes_seconds,
)
from allsplits.exact.kernel_types import Rows, Rule
from allsplits.exact.laws.class_counts._kernels_nearest import score_nearest
from allsplits.exact.laws.class_counts._kernels_own import own_work, score_own
from allsplits.exact.laws.class_counts._kernels_ranked import score_ranked
from allsplits.exact.laws.class_counts._kernels_tied import score_tied, tied_work
from allsplits.exact.laws.class_counts._kernels_untied import score_untied, work_space
from allsplits.exact.laws.class_counts.circle import circle_votes
from allsplits.exact.laws.class_counts.draws import DrawTables, Pools, pools_of, query_kinds
from allsplits.exact.laws.class_counts.fractions import (
    ExactValue,
    exact_class_ranked,
    exact_class_right,
    solve_in_fractions,
)
from allsplits.exact.laws.class_counts.kernel_types import ClassVote, Draws
from allsplits.exact.laws.class_counts.weights import float_weights
from allsplits.exact.on_device.votes import CircleVote, CircleVotes, RowVotes
from allsplits.exact.question import Question, neighbor_labels, own_rows, tie_runs
from allsplits.exact.ties import chosen_rows, distinct_rows, legendre_rules, tie_rules
from allsplits.orders import UNIT_ROUNDOFF, NeighborOrder
from allsplits.splits import CountsLaw

Floats = NDArray[np.float64]

#: What a long run is told.
CHEAPER = (
    "fewer neighbours, more training samples of each class (they need a shallower search), fewer "
    "samples, and distance_ties='index' where many distances are tied"
)


#: Chances to be right that one less the chance to be wrong is not precise enough for.
_FAINT = 1e-12


def needed_depth(class_sizes: ArrayLike, train: Sequence[int], k: int, tol: float) -> int:
    """Neighbours after which at most `tol` of the mass is left, whatever the data."""
    n = int(np.sum(class_sizes))
    if tol <= 0:
        return n
    # Classes that are drawn alike count as one; those that are drawn least come first.
    present = np.flatnonzero(class_sizes)
    sizes = np.asarray(class_sizes)[present]
    shares, kind = np.unique(np.asarray(train)[present] / sizes, return_inverse=True)
    sizes = np.bincount(kind, weights=sizes)
    before = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    # Any t > 0 gives a valid bound; the best of a grid is close to the best of all.
    t = np.geomspace(0.01, 30, 100)
    per_item = np.log1p(shares * np.expm1(-t[:, None]))

    def log_bound(depth: int) -> float:
        members = np.clip(depth - before, 0, sizes)
        return float(np.min(t * k + per_item @ members))

    low, high = int(k), n
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if log_bound(middle) <= np.log(tol) else (middle + 1, high)
    return low


class ClassCountsVote:
    """P(right) or P(every class) under the components of a law of class counts."""

    def __init__(
        self, question: Question, trains: Sequence[tuple[int, ...]], pools: Pools | None = None
    ) -> None:
        self.question = question
        self.trains = np.array(trains)
        self.pools = pools or pools_of(question, trains)
        self.ks = np.array([column.k for column in question.columns])
        self.k_most = int(self.ks.max())
        self.tie_rules = tie_rules(self.k_most)
        self.tables = DrawTables(self.pools, self.k_most)
        sizes = question.class_sizes
        self.depth = question.n_candidates
        if question.exclusion is None:
            tol = question.options.tol
            deepest = max(needed_depth(sizes, train, self.k_most, tol) for train in trains)
            self.depth = min(self.depth, deepest)
        self.quadrature = legendre_rules(self.k_most // 2 + 1 if question.options.share else 0)

    def values(
        self,
        order: NeighborOrder,
        n_threads: int,
        kinds: NDArray[np.int32] | None = None,
        numbers: NDArray[np.intp] | None = None,
    ) -> Floats:
        """Shape (rows, components, columns), or (…, classes) where every class is asked for.

        `kinds` are those of the rows, where the question does not tell; `numbers` are theirs, where
        the order does not.
        """
        question, options = self.question, self.question.options
        # Of two classes, the other wins where the own does not.
        every_class = question.wants_classes and question.n_classes > 2
        own = own_rows(order) if numbers is None else numbers
        if kinds is None:
            kinds = query_kinds(question)[own]
        labels = neighbor_labels(order, question.codes)
        rows = Rows(order.indptr, labels, order.tied, question.codes[own])
        place: slice | NDArray[np.intp] = slice(None)
        if options.average:
            rows, chosen, place = distinct_rows(rows, kinds)
            kinds = kinds[chosen]
        width = question.n_classes if every_class else len(self.ks)
        out = np.zeros((len(rows.own), len(self.trains), width))
        run = self._run(rows, kinds, every_class, out)
        if rows.tied.any():
            # The first block speaks for the others, unless the estimate did.
            foreseen = is_long(self.seconds(), n_threads) or not question.is_first(order)
            scale = 0.0 if foreseen else question.n_questions / order.n_samples
            map_timed_rows(run, len(rows.own), n_threads, scale=scale, cheaper=CHEAPER, smallest=4)
        else:
            map_row_ranges(run, len(rows.own), n_threads)
        if not every_class:
            # One less what is lost: roundings may pass the ends.
            np.clip(out, 0, 1, out=out)
            if question.vote == "majority" and (question.want_samples or question.want_rows):
                self._sharpen(rows, kinds, out, n_threads)
        if question.wants_classes and not every_class:
            out = np.where(rows.own[:, None, None] == np.arange(2), out, 1 - out)
        if question.vote == "majority" and self.pools.trains.sum(axis=2).min() <= self.k_most:
            for kind in np.unique(kinds):
                at = np.flatnonzero(kinds == kind)
                for component, train in enumerate(self.pools.trains[kind]):
                    self._whole_training_set(out, (at, component), train, rows.own[at])
        found: Floats = out[place]
        return found

    def _run(
        self, rows: Rows, kinds: NDArray[np.int32], every_class: bool, out: Floats
    ) -> Callable[[int, int], None]:
        """Fills out[start:stop]."""
        vote, draws = self._vote(every_class), self._draws(rows, kinds)
        return partial(_score_rows, rows, draws, vote, self.question.vote == "ranked", out)

    def _vote(self, every_class: bool) -> ClassVote:
        options = self.question.options
        return ClassVote(
            Rule(every_class, options.average, options.share), self.ks, int(self.ks.min()),
            self.k_most, self.depth, options.tol / 8, self.tie_rules, self.quadrature,
        )  # fmt: skip

    def _draws(self, rows: Rows, kinds: NDArray[np.int32]) -> Draws:
        return self.tables.for_rows(kinds, int(np.diff(rows.indptr).max()))

    def _sharpen(self, rows: Rows, kinds: NDArray[np.int32], out: Floats, n_threads: int) -> None:
        """Small chances again, added up from wins: the hardest samples can be told apart."""
        faint = np.flatnonzero(out.max(axis=(1, 2)) < _FAINT)
        if len(self.ks) > 1 or len(faint) == 0:
            return
        few = chosen_rows(rows, faint)
        won = np.zeros((len(faint), *out.shape[1:]))
        run = partial(_win_rows, few, self._draws(few, kinds[faint]), self._vote(True), won)
        map_row_ranges(run, len(faint), n_threads, smallest=4)
        out[faint] = won

    def _whole_training_set(
        self, out: Floats, at: Any, train: NDArray[np.int64], own: NDArray[np.int32]
    ) -> None:
        """If k is the size of the training set, everybody votes: the winner is known."""
        winners = np.flatnonzero(train == train.max())
        shares = np.zeros(len(train))
        shares[winners if self.question.options.share else winners[:1]] = 1
        shares /= shares.sum()
        for c in np.flatnonzero(self.ks == train.sum()):
            if self.question.wants_classes:
                out[at] = shares
            else:
                out[(*at, c)] = shares[own]

    def on_circle(self) -> list[CircleVote] | None:
        """The votes of each component as the device sees them; None where it cannot."""
        question = self.question
        smallest = int(self.pools.trains.sum(axis=2).min())
        if question.vote != "majority" or question.exclusion or smallest <= self.k_most:
            return None
        tol, sizes = question.options.tol, question.class_sizes
        depths = [
            np.minimum([needed_depth(sizes, train, int(k), tol) for k in self.ks], self.depth)
            for train in self.trains.tolist()
        ]
        return circle_votes(self.tables, self.ks, depths, self.quadrature, tol)

    def seconds(self) -> float:
        """What the votes of all rows take on one core, without ties."""
        if self.question.vote == "ranked":
            return 0.0
        n_rows, n_classes = self.question.n_questions, self.question.n_classes
        each = own_votes_seconds(n_rows, self.depth, n_classes, self.k_most)
        if self.question.wants_classes and n_classes > 2:
            most = int(self.trains.max())
            each = class_votes_seconds(
                n_rows, self.depth, n_classes, self.ks.tolist(), most, every_class=True
            )
        return len(self.trains) * each

    @property
    def rounding(self) -> float:
        """Bound on rounding errors: tables, rows at the nodes, products of the classes."""
        factors = min(self.question.n_classes, self.depth)
        return (16 * self.depth + (self.k_most + 3) * (factors + 2) + 64) * UNIT_ROUNDOFF


def _score_rows(
    rows: Rows, draws: Draws, vote: ClassVote, ranked: bool, out: Floats, start: int, stop: int
) -> None:
    """Values of the rows from start to stop, by the kernel that serves them."""
    if ranked:
        score_ranked(rows, start, stop, draws, vote, out)
        return
    if vote.k_most == 1:
        score_nearest(rows, start, stop, draws, vote, out)
        return
    n_classes, size, own = draws.table_of.shape[1], vote.k_most + 1, None
    for first, last, has_ties in tie_runs(rows.indptr, rows.tied, vote.rule.average, start, stop):
        if has_ties:
            work = tied_work(n_classes, size, out.shape[1])
            score_tied(rows, first, last, draws, vote, work, out)
        elif vote.rule.every_class:
            score_untied(rows, first, last, draws, vote, work_space(n_classes, size), out)
        else:
            own = own or own_work(n_classes, vote.k_most, vote.rule.share, by_wins=False)
            score_own(rows, first, last, draws, draws.lines.ravel(), vote, own, out)


def _win_rows(
    rows: Rows, draws: Draws, vote: ClassVote, out: Floats, start: int, stop: int
) -> None:
    """P(right) for the only k, added up from wins; the vote asks for every class."""
    n_classes = draws.table_of.shape[1]
    for first, last, has_ties in tie_runs(rows.indptr, rows.tied, vote.rule.average, start, stop):
        if has_ties or vote.k_most == 1:
            every = np.zeros((len(rows.own), out.shape[1], n_classes))
            _score_rows(rows, draws, vote, False, every, first, last)
            here = np.arange(first, last)
            out[here, :, 0] = every[here, :, rows.own[here]]
        else:
            own = own_work(n_classes, vote.k_most, vote.rule.share, by_wins=True)
            score_own(rows, first, last, draws, draws.lines.ravel(), vote, own, out)


def solve_class_majority(question: Question) -> Solver:
    """Equal votes under fixed class counts."""
    return _solve(question, exact_class_right)


def solve_class_ranked(question: Question) -> Solver:
    """recall@R under fixed class counts: the columns' k are the ranks R."""
    return _solve(question, exact_class_ranked)


def _solve(question: Question, exact: ExactValue) -> Solver:
    in_fractions = partial(solve_in_fractions, exact)
    return by_law(question, in_fractions if question.options.exact else _of_one_law)


def _of_one_law(question: Question) -> Solver:
    law: CountsLaw = question.columns[0].law
    vote = ClassCountsVote(question, [component.train for component in law.components])
    weights = np.array([float_weights(question, component) for component in law.components])

    def of_rows(order: NeighborOrder, numbers: NDArray[np.intp] | None, n_threads: int) -> Floats:
        rows = own_rows(order) if numbers is None else numbers
        values = vote.values(order, n_threads, numbers=numbers)
        total = np.zeros((order.n_samples, question.width))
        for component, weight in enumerate(weights):
            total += values[:, component] * weight[rows, None]
        return total

    def on_circle() -> CircleVotes | None:
        votes = vote.on_circle()
        return None if votes is None else CircleVotes(votes, weights, question.wants_classes)

    bound = 1.25 * question.options.tol + vote.rounding
    part = RowVotes(of_rows, question.codes, bound, question.options.average, on_circle)

    def finish(values: Floats) -> Answer:
        counted = weights.sum(axis=0)[question.asked]
        return answer_from_rows(question, values, counted, part.error_bound, weighted=True)

    seconds = vote.seconds()
    return Solver(vote.depth, part, FromRows(question, finish), seconds, CHEAPER)
