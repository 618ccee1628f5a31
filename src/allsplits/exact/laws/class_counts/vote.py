"""A fixed number of training items from each class: stratified splits, few shots, galleries.

Mullin & Sukthankar 2000, algorithms 3 and 4, for any k, all k at once, and tied distances. 1-NN is
O(N) per sample (the paper: O(CN)), because passing an item changes one factor of the product.

How deep the neighbour search must be follows from a Chernoff bound: drawing without replacement
is more concentrated than drawing independently, so for t > 0

    P(at most k training items among the first M) ≤ e^{tk} Π_c (1 - r_c + r_c e^{-t})^{m_c},

with r_c the share of class c that is drawn; the worst neighbourhood holds the classes that are
drawn least.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact._kernels_draws import hypergeometric_table
from allsplits.exact.answer import (
    Answer,
    FromRows,
    Solver,
    answer_from_rows,
    by_law,
    in_fractions,
)
from allsplits.exact.effort import class_votes_seconds, is_long, map_timed_rows
from allsplits.exact.kernel_types import Rows
from allsplits.exact.laws.class_counts._kernels_nearest import nearest_counts
from allsplits.exact.laws.class_counts._kernels_ranked import hit_counts
from allsplits.exact.laws.class_counts._kernels_tied import score_counts
from allsplits.exact.laws.class_counts._kernels_untied import score_shots
from allsplits.exact.laws.class_counts.fractions import exact_class_hits, exact_class_right
from allsplits.exact.masses import UNIT_ROUNDOFF
from allsplits.exact.question import Question, neighbor_labels, own_rows, tie_runs
from allsplits.exact.ties import distinct_rows, legendre_rules, tie_rules
from allsplits.orders import NeighborOrder
from allsplits.splits import CountsComponent, CountsLaw

__all__ = ["solve_class_hits", "solve_class_majority"]

Floats = NDArray[np.float64]

#: What a long run is told.
_CHEAPER = (
    "fewer neighbours, more training samples of each class (they need a shallower search), fewer "
    "samples, and distance_ties='index' where many distances are tied"
)


def needed_depth(class_sizes: Any, train: Sequence[int], k: int, tol: float) -> int:
    """Neighbours after which at most `tol` of the mass is left, whatever the data."""
    n = int(sum(class_sizes)) - 1
    if tol <= 0:
        return n
    # Classes that are drawn alike count as one; those that are drawn least come first.
    shares, kind = np.unique(np.array(train) / np.array(class_sizes), return_inverse=True)
    sizes = np.bincount(kind, weights=class_sizes)
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


class Drawing:
    """Vectors of class counts as the kernels see them: hypergeometric tables for all at once.

    `pools` and `own_pools` hold the candidates of each class for a query of another class and of
    the class itself (which is one less, the query), one line for each kind of query. `table_of`
    tells which table a class has; a table holds all vectors side by side.
    """

    def __init__(
        self,
        pools: NDArray[np.int64],
        own_pools: NDArray[np.int64],
        trains: NDArray[np.int64],
        b_max: int,
    ) -> None:
        both = np.stack([pools, own_pools])[..., None]
        drawn = np.minimum(trains.T, both)
        kinds = np.concatenate([both, drawn], axis=-1).reshape(-1, 1 + len(trains))
        distinct, ids = np.unique(kinds, axis=0, return_inverse=True)
        self.pools = np.ascontiguousarray(distinct[:, 0])
        self.drawn = np.ascontiguousarray(distinct[:, 1:])
        self.table_of, self.own_table_of = ids.reshape(both.shape[:-1])
        # remaining[table, (votes, vector)]: items still to be drawn after those votes.
        left = self.drawn[:, None, :] - np.arange(b_max + 1)[:, None]
        self.remaining = np.maximum(left, 0).reshape(len(distinct), -1).astype(np.float64)
        self.b_max = b_max
        # One tuple, replaced as a whole: several threads may look while one makes longer tables.
        self._made: tuple[int, NDArray[np.int64], Floats] | None = None

    def tables_up_to(self, longest: int) -> tuple[NDArray[np.int64], Floats]:
        """Where each table starts, and the tables for prefixes of up to `longest` items."""
        made = self._made
        if made is None or longest > made[0]:
            made = self._made = (longest, *self._tables(longest))
        return made[1], made[2]

    def _tables(self, longest: int) -> tuple[NDArray[np.int64], Floats]:
        heights = np.minimum(self.pools, longest) + 1
        starts = np.concatenate([[0], np.cumsum(heights)])
        n_vectors = self.drawn.shape[1]
        tables = np.empty((starts[-1], (self.b_max + 1) * n_vectors))
        for t, pool in enumerate(self.pools):
            part = tables[starts[t] : starts[t + 1]]
            cube = part.reshape(len(part), self.b_max + 1, n_vectors)
            for vector, drawn in enumerate(self.drawn[t]):
                hypergeometric_table(pool, drawn, len(part) - 1, self.b_max, cube[:, :, vector])
        return starts, tables


class ClasswiseVote:
    """P(right) or P(every class) under several vectors of class counts."""

    def __init__(self, question: Question, trains: Sequence[tuple[int, ...]]) -> None:
        self.question = question
        self.trains = np.array(trains)
        self.ks = np.array([column.k for column in question.columns])
        k_max = int(self.ks.max())
        self.rules = tie_rules(k_max)
        self.drawing = Drawing(*class_pools(question), self.trains, k_max)
        sizes = np.bincount(question.codes, minlength=question.n_classes)
        self.depth = question.n_samples - 1
        if question.exclusion is None:
            tol = question.options.tol
            self.depth = max(needed_depth(sizes, train, k_max, tol) for train in trains)
        share = question.options.share
        self.nodes, self.weights = legendre_rules(k_max // 2 + 1 if share else 0)

    def values(self, order: NeighborOrder, n_threads: int, every_class: bool) -> Floats:
        """Shape (rows, count vectors, columns), or (…, classes) with every_class."""
        question, drawing, options = self.question, self.drawing, self.question.options
        kinds = np.zeros(order.n_samples, dtype=np.int32)
        if question.exclusion is not None:
            kinds = question.exclusion.groups[own_rows(order)]
        labels = neighbor_labels(order, question.codes)
        rows = Rows(order.indptr, labels, order.tied, question.codes[own_rows(order)])
        place: Any = slice(None)
        if options.average:
            rows, chosen, place = distinct_rows(rows, kinds)
            kinds = kinds[chosen]
        starts, tables = drawing.tables_up_to(int(np.diff(rows.indptr).max()))
        width = question.n_classes if every_class else len(self.ks)
        out = np.zeros((len(rows.own), len(self.trains), width))
        untied = (rows.indptr, rows.labels, rows.own)
        pools = (kinds, drawing.table_of, drawing.own_table_of)
        tabled = (starts, drawing.pools, drawing.drawn, drawing.remaining, tables, self.depth)
        shots = (starts, drawing.pools, drawing.remaining, tables, self.depth)

        def run(start: int, stop: int) -> None:
            if question.vote == "ranked":
                hit_counts(*rows, start, stop, *pools, *tabled, options.average, self.ks,
                           self.rules, out)  # fmt: skip
            elif np.all(self.ks == 1):
                nearest_counts(*rows, start, stop, *pools, drawing.pools, drawing.drawn,
                               self.depth, every_class, options.average, options.tol / 8,
                               self.rules, out)  # fmt: skip
            else:
                for first, last, has_ties in tie_runs(
                    rows.indptr, rows.tied, options.average, start, stop
                ):
                    votes(first, last, has_ties)

        def votes(start: int, stop: int, has_ties: bool) -> None:
            if has_ties:
                score_counts(*rows, start, stop, *pools, *tabled, every_class, options.average,
                             options.share, self.ks, options.tol / 8, self.rules, self.nodes,
                             self.weights, out)  # fmt: skip
            else:
                score_shots(*untied, start, stop, *pools, *shots, drawing.drawn, every_class,
                            options.share, self.ks, options.tol / 8, self.nodes, self.weights,
                            out)  # fmt: skip

        if rows.tied.any():
            # The first block speaks for the others, unless the estimate did.
            foreseen = is_long(self.seconds(every_class), n_threads) or order.first_row > 0
            scale = 0.0 if foreseen else question.n_samples / order.n_samples
            map_timed_rows(run, len(rows.own), n_threads, scale=scale, cheaper=_CHEAPER)
        else:
            map_row_ranges(run, len(rows.own), n_threads)
        if question.vote == "majority":
            for part, train in enumerate(self.trains):
                self._whole_training_set(out[:, part], train, rows.own, every_class)
        found: Floats = out[place]
        return found

    def _whole_training_set(
        self, out: Floats, train: NDArray[np.int64], own: NDArray[np.int32], every_class: bool
    ) -> None:
        """If k is the size of the training set, everybody votes: the winner is known."""
        winners = np.flatnonzero(train == train.max())
        shares = np.zeros(len(train))
        shares[winners if self.question.options.share else winners[:1]] = 1
        shares /= shares.sum()
        for c in np.flatnonzero(self.ks == train.sum()):
            if every_class:
                out[:] = shares
            else:
                out[:, c] = shares[own]

    def seconds(self, every_class: bool) -> float:
        """What the votes of all rows take on one core, without ties."""
        if self.question.vote == "ranked":
            return 0.0
        each = class_votes_seconds(
            self.question.n_samples, self.depth, self.question.n_classes, self.ks.tolist(),
            int(self.trains.max()), every_class,
        )  # fmt: skip
        return len(self.trains) * each

    @property
    def rounding(self) -> float:
        """Bound on rounding errors: tables, rows at the nodes, products of the classes."""
        k = int(self.ks.max())
        factors = min(self.question.n_classes, self.depth)
        return (16 * self.depth + (k + 3) * (factors + 2) + 64) * UNIT_ROUNDOFF


def class_pools(question: Question) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Candidates of each class for a query of another class, and of the class itself."""
    if question.exclusion is not None:
        pools, own_pools = question.exclusion.pools(question.codes, question.n_classes)
        return pools, own_pools
    sizes = np.bincount(question.codes, minlength=question.n_classes)[None, :]
    return sizes, sizes - 1


def component_weights(question: Question, component: CountsComponent) -> list[Fraction]:
    """What a sample of each class counts in a split with these counts."""
    sizes = np.bincount(question.codes, minlength=question.n_classes).tolist()
    tested = sum(component.test)
    present = sum(1 for count in component.test if count)
    return [
        Fraction(int(count > 0), present * size)
        if question.balanced
        else Fraction(count, size * tested)
        for count, size in zip(component.test, sizes, strict=True)
    ]


def sample_weights(question: Question, component: CountsComponent) -> list[Fraction]:
    """What each sample counts. With an exclusion every query that can be answered counts alike."""
    if question.exclusion is None:
        per_class = component_weights(question, component)
        return [per_class[code] for code in question.codes.tolist()]
    _, own_pools = class_pools(question)
    can_be_right = own_pools[question.exclusion.groups, question.codes] > 0
    each = Fraction(1, int(can_be_right.sum()))
    return [each if valid else Fraction(0) for valid in can_be_right]


def _float_weights(question: Question, component: CountsComponent) -> Floats:
    """The same as floats, times the share of splits that have these counts."""
    if question.exclusion is None:
        per_class = [float(component.weight * w) for w in component_weights(question, component)]
        return np.array(per_class)[question.codes]
    return np.array([float(component.weight * w) for w in sample_weights(question, component)])


def solve_class_majority(question: Question) -> Solver:
    """Equal votes under fixed class counts."""
    return _solve(question, exact_class_right)


def solve_class_hits(question: Question) -> Solver:
    """recall@R under fixed class counts: the columns' k are the ranks R."""
    return _solve(question, exact_class_hits)


def _solve(question: Question, exact: Callable[..., Fraction]) -> Solver:
    return by_law(
        question, partial(_in_fractions, exact) if question.options.exact else _of_one_law
    )


def _of_one_law(question: Question) -> Solver:
    law: CountsLaw = question.columns[0].law
    vote = ClasswiseVote(question, [component.train for component in law.components])
    weights = np.array([_float_weights(question, component) for component in law.components])

    def part(order: NeighborOrder, n_threads: int) -> Floats:
        rows = own_rows(order)
        values = vote.values(order, n_threads, question.wants_classes)
        total = np.zeros((order.n_samples, question.width))
        for vector, weight in enumerate(weights):
            total += values[:, vector] * weight[rows, None]
        return total

    def finish(values: Floats) -> Answer:
        bound = 1.25 * question.options.tol + vote.rounding
        return answer_from_rows(question, values, weights.sum(axis=0), bound, weighted=True)

    seconds = vote.seconds(question.wants_classes)
    return Solver(vote.depth, part, FromRows(question, finish), seconds, _CHEAPER)


def _in_fractions(exact: Callable[..., Fraction], question: Question) -> Solver:
    """exact=True: Fractions for every sample, at full depth."""
    codes, options = question.codes, question.options
    pools, own_pools = class_pools(question)
    kinds = question.exclusion.groups if question.exclusion else np.zeros_like(codes)
    components = question.columns[0].law.components
    weights = [
        [component.weight * w for w in sample_weights(question, component)]
        for component in components
    ]
    of_samples = [sum(parts, Fraction(0)) for parts in zip(*weights, strict=True)]

    def line(order: NeighborOrder, row: int) -> list[Any]:
        sample = order.first_row + row
        if not of_samples[sample]:
            return [None] * len(question.columns)
        pool = pools[kinds[sample]].tolist()
        pool[codes[sample]] = int(own_pools[kinds[sample], codes[sample]])
        totals = [Fraction(0)] * len(question.columns)
        for component, weight in zip(components, weights, strict=True):
            drawn = [min(pair) for pair in zip(pool, component.train, strict=True)]
            for c, column in enumerate(question.columns):
                if weight[sample]:
                    totals[c] += weight[sample] * exact(
                        order, row, codes, pool, drawn, column.k,
                        average=options.average, share=options.share,
                    )  # fmt: skip
        return [total / of_samples[sample] for total in totals]

    return in_fractions(line, question.n_samples - 1, of_samples)
