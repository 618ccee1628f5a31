"""Regression on strata: means of nearest neighbours where a fixed number of each class is drawn.

The classes are strata that the user gives; targets play no part in what is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import comb, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import roots_legendre

from allsplits.exact._kernels_draws import hypergeometric_table
from allsplits.exact.answer import (
    Answer,
    FromRows,
    Solver,
    answer_from_rows,
    by_law,
    in_fractions,
)
from allsplits.exact.effort import map_timed_rows
from allsplits.exact.kernel_types import Rows
from allsplits.exact.laws.class_counts._kernels_mean import Strata, Times, stratified_errors
from allsplits.exact.laws.class_counts.draws import class_pools
from allsplits.exact.laws.class_counts.vote import needed_depth
from allsplits.exact.laws.class_counts.weights import component_weights
from allsplits.exact.laws.fixed_size.fractions import groups_of
from allsplits.exact.question import Question, neighbor_labels, own_rows
from allsplits.exceptions import UnsupportedError
from allsplits.orders import UNIT_ROUNDOFF, NeighborOrder
from allsplits.splits import CountsComponent, CountsLaw

Floats = NDArray[np.float64]
_CHEAPER = "fewer neighbours, fewer strata, distance_ties='index' where many distances are tied"
#: exact=True goes through all ways to share out the voters.
_MOST_WAYS = 100_000


class StratifiedErrors:
    """Expected squared errors of the rows of a block in one component, shape (rows, columns)."""

    def __init__(self, question: Question, component: CountsComponent) -> None:
        self.question = question
        self.ks = np.array([column.k for column in question.columns])
        self.train = np.array(component.train, dtype=np.int64)
        k, tol = int(self.ks.max()), question.options.tol
        self.depth = question.n_candidates
        if k < self.train.sum():
            deepest = needed_depth(question.class_sizes, component.train, k, tol)
            self.depth = min(self.depth, deepest)

    @property
    def rounding(self) -> float:
        """Sums over a prefix, products of classes, rules for times."""
        k, C = int(self.ks.max()), self.question.n_classes
        return (32 * self.depth + 8 * (k + 3) * (C + 2) + 64) * UNIT_ROUNDOFF

    def _strata(self, longest: int) -> Strata:
        pools, own = class_pools(self.question)
        k = int(self.ks.max())
        lines = np.zeros((len(self.train), 2, longest + 1, k + 1))
        for c, train in enumerate(self.train.tolist()):
            for kind, pool in enumerate((int(pools[0, c]), int(own[0, c]))):
                if pool >= 0:
                    top = min(longest, pool)
                    hypergeometric_table(pool, min(train, pool), top, k, lines[c, kind, : top + 1])
        return Strata(pools[0], self.train, int((pools - own).max()), lines)

    def __call__(self, order: NeighborOrder, n_threads: int) -> Floats:
        """The rows of a block."""
        question, average = self.question, self.question.options.average
        own = own_rows(order)
        y = question.targets
        targets = y[order.flat_indices] - np.repeat(y[own], np.diff(order.indptr))
        labels = neighbor_labels(order, question.codes)
        rows = Rows(order.indptr, labels, order.tied, question.codes[own])
        heads = np.append(np.flatnonzero(~order.tied), len(order.tied))
        groups = np.unique(np.diff(heads)) if average else np.ones(1, dtype=np.int64)
        strata = self._strata(int(np.diff(order.indptr).max()))
        votes = (strata, _times(groups), self.ks, self.depth)
        out = np.zeros((order.n_samples, len(self.ks)))

        def run(start: int, stop: int) -> None:
            stratified_errors(rows, targets, start, stop, average, votes, out)

        scale = question.n_questions / order.n_samples if question.is_first(order) else 0.0
        map_timed_rows(run, len(out), n_threads, scale=scale, cheaper=_CHEAPER, smallest=4)
        return out


def _times(sizes: NDArray[np.int64]) -> Times:
    """A rule for each size of a tie group: a polynomial of one degree less is integrated."""
    starts, counts = np.zeros((2, int(sizes.max()) + 1), dtype=np.int64)
    nodes: list[Any] = []
    weights: list[Any] = []
    for g in sizes.tolist():
        x, w = roots_legendre(-(-g // 2))
        starts[g], counts[g] = len(nodes), len(x)
        nodes.extend((x + 1) / 2)
        weights.extend(w / 2)
    return Times(starts, counts, np.array(nodes), np.array(weights))


def solve_stratified_mean(question: Question) -> Solver:
    """Negative mean squared error of the mean of k neighbours."""
    return by_law(question, _solve_one_law)


def _solve_one_law(question: Question) -> Solver:
    law: CountsLaw = question.columns[0].law
    codes = question.own_codes
    weights = [
        [component.weight * w for w in component_weights(question, component)]
        for component in law.components
    ]
    if question.options.exact:
        return _in_fractions(question, law, weights)
    parts = [StratifiedErrors(question, component) for component in law.components]
    counted = np.array(weights, dtype=np.float64)

    def part(order: NeighborOrder, n_threads: int) -> Floats:
        own = question.codes[own_rows(order)]
        total = np.zeros((order.n_samples, len(question.columns)))
        for errors, share in zip(parts, counted, strict=True):
            if np.any(share[own]):
                total -= share[own][:, None] * errors(order, n_threads)
        return total

    def finish(values: Floats) -> Answer:
        # No squared error exceeds the square of the range of the targets.
        worst = float(np.ptp(question.targets)) ** 2
        bound = (question.options.tol + max(each.rounding for each in parts)) * worst
        weight = counted.sum(axis=0)[codes]
        return answer_from_rows(question, values, weight, bound, weighted=True)

    depth = max(errors.depth for errors in parts)
    return Solver(depth, part, FromRows(question, finish), 0.0, _CHEAPER)


# ------------------------------------------------------------ exact=True


def _in_fractions(question: Question, law: CountsLaw, weights: list[list[Fraction]]) -> Solver:
    total = [sum(each, Fraction(0)) for each in zip(*weights, strict=True)]
    targets = [Fraction(y) for y in question.targets.tolist()]
    others, own_pools = class_pools(question)

    def line(order: NeighborOrder, row: int) -> list[Any]:
        number = order.sample_of(row)
        own = int(question.codes[number])
        if not total[own]:
            return [None] * len(question.columns)
        pools = others[0].tolist()
        pools[own] = int(own_pools[0, own])
        found = [Fraction(0)] * len(question.columns)
        for component, counted in zip(law.components, weights, strict=True):
            if counted[own]:
                for c, column in enumerate(question.columns):
                    error = _exact_error(
                        question, order, row, targets, pools, list(component.train), column.k
                    )
                    found[c] -= counted[own] / total[own] * error
        return found

    per_question = [total[code] for code in question.own_codes.tolist()]
    return in_fractions(question, line, question.n_candidates, per_question)


def _exact_error(
    question: Question, order: NeighborOrder, row: int, targets: list[Fraction],
    pools: list[int], train: list[int], k: int,
) -> Fraction:  # fmt: skip
    """The expected squared error, by the tie group in which the k-th voter stands."""
    own = targets[order.sample_of(row)]
    everything = prod(comb(pool, a) for pool, a in zip(pools, train, strict=True))
    before: list[list[Fraction]] = [[] for _ in pools]
    error = Fraction(0)
    for group in groups_of(order, row, question.options.average):
        tied: list[list[Fraction]] = [[] for _ in pools]
        for j in group.tolist():
            tied[int(question.codes[j])].append(targets[j] - own)
        for b, tau, ways in _drawings(before, tied, pools, train, k):
            error += ways * _second_moment(before, b, tied, tau, k - sum(b))
        for c, more in enumerate(tied):
            before[c] = before[c] + more
    return error / everything / k**2


def _drawings(
    before: list[list[Fraction]], tied: list[list[Fraction]], pools: list[int], train: list[int],
    k: int,
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], int]]:  # fmt: skip
    """(drawn before the group, drawn in it, ways) for which the k-th voter is in the group."""
    ranges = [
        [
            (b, t)
            for b in range(min(len(first), a) + 1)
            for t in range(min(len(more), a - b) + 1)
            if a - b - t <= pool - len(first) - len(more)
        ]
        for first, more, a, pool in zip(before, tied, train, pools, strict=True)
    ]
    if prod(len(each) for each in ranges) > _MOST_WAYS:
        raise UnsupportedError(
            "exact=True goes through all ways to draw from each stratum: more than "
            f"{_MOST_WAYS:,} for a sample here; use exact=False"
        )
    for drawn in product(*ranges):
        b, tau = tuple(x for x, _ in drawn), tuple(t for _, t in drawn)
        if sum(b) < k <= sum(b) + sum(tau):
            ways = 1
            for x, t, first, more, pool, a in zip(b, tau, before, tied, pools, train, strict=True):
                rest = pool - len(first) - len(more)
                ways *= comb(len(first), x) * comb(len(more), t) * comb(rest, a - x - t)
            yield b, tau, ways


def _second_moment(
    before: list[list[Fraction]], b: tuple[int, ...], tied: list[list[Fraction]],
    tau: tuple[int, ...], voters: int,
) -> Fraction:  # fmt: skip
    """E (sum of voters)²: b of each class before the group, and `voters` of those drawn in it."""
    t = sum(tau)
    # P(a member votes), of one of its class; the same of two.
    one = Fraction(voters, t)
    two = one * Fraction(voters - 1, t - 1) if t > 1 else Fraction(0)
    mean, second = Fraction(0), Fraction(0)
    group: list[tuple[Fraction, Fraction, Fraction]] = []
    for first, x, more, drawn in zip(before, b, tied, tau, strict=True):
        n, g = len(first), len(more)
        total, squares = sum(first, Fraction(0)), sum((r * r for r in first), Fraction(0))
        expected = Fraction(x, n) * total if n else Fraction(0)
        pairs = Fraction(x * (x - 1), n * (n - 1)) if n > 1 else Fraction(0)
        own_second = (Fraction(x, n) * squares if n else 0) + pairs * (total**2 - squares)
        second += own_second + 2 * mean * expected
        mean += expected
        in_group = sum(more, Fraction(0))
        group_squares = sum((r * r for r in more), Fraction(0))
        share = Fraction(drawn, g) if g else Fraction(0)
        both = Fraction(drawn * (drawn - 1), g * (g - 1)) if g > 1 else Fraction(0)
        group.append(
            (share * in_group, share * group_squares, both * (in_group**2 - group_squares))
        )
    expected_group = one * sum((each for each, _, _ in group), Fraction(0))
    squares = one * sum((each for _, each, _ in group), Fraction(0))
    within = sum((each for _, _, each in group), Fraction(0))
    sums = [each for each, _, _ in group]
    across = sum(sums, Fraction(0)) ** 2 - sum((s * s for s in sums), Fraction(0))
    return second + 2 * mean * expected_group + squares + two * (within + across)
