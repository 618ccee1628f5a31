"""Draws with replacement (the bootstrap): out-of-bag scores averaged over all n^n samples.

Cost per sample, neighbour and k: O(C·k³) with C classes met so far, vectorised. A row with ties
costs O(k⁴) for each tie group in the worst case.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb, factorial

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from allsplits._threads import map_row_ranges
from allsplits.exact.effort import class_votes_seconds
from allsplits.exact.laws.bootstrap._kernels import (
    bootstrap_hits,
    bootstrap_scores,
    bootstrap_untied,
)
from allsplits.exact.laws.fixed_size.fractions import groups_of
from allsplits.exact.laws.fixed_size.vote import class_weights, sample_weights
from allsplits.exact.masses import UNIT_ROUNDOFF
from allsplits.exact.question import (
    Answer,
    Problem,
    RowValues,
    Solver,
    neighbor_labels,
    own_rows,
    tie_runs,
)
from allsplits.exact.ties import legendre_rules
from allsplits.orders import NeighborOrder

__all__ = ["solve_bootstrap"]


def _depth(n_draws: int, n_candidates: int, k: int, tol: float) -> int:
    """Shortest prefix that holds k draws with probability above 1 - tol."""
    lengths = np.arange(1, n_candidates + 1)
    missing = bdtr(k - 1, n_draws, lengths / n_candidates)
    return int(lengths[np.argmax(missing <= tol)])


class _BootstrapVote:
    """Values of the rows of a block: for each column, or for each class with `classes`."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.n_draws, self.n_candidates = problem.n_samples, problem.n_samples - 1
        self.ks = np.array([min(column.k, self.n_draws) for column in problem.columns])
        self.k_max = int(self.ks.max())
        self.depth = _depth(self.n_draws, self.n_candidates, self.k_max, problem.options.tol)
        share = problem.options.share
        self.rules = legendre_rules(self.k_max // 2 + 1 if share else 0)
        self.classes = problem.want_samples and problem.vote == "majority"
        self.width = problem.n_classes if self.classes else len(self.ks)

    def seconds(self) -> float:
        """What the votes of all rows take on one core, without ties; each k has its own."""
        if self.problem.vote == "ranked":
            return 0.0
        n_rows, n_classes = self.problem.n_samples, self.problem.n_classes
        return sum(
            class_votes_seconds(n_rows, self.depth, n_classes, [k], k, every_class=True)
            for k in self.ks.tolist()
        )

    def __call__(self, order: NeighborOrder, n_threads: int) -> NDArray[np.float64]:
        codes, options = self.problem.codes, self.problem.options
        data = (order.indptr, neighbor_labels(order, codes), order.tied, codes[own_rows(order)])
        untied = (data[0], data[1], data[3])
        draws = (self.n_draws, self.n_candidates, self.depth)
        out = np.zeros((order.n_samples, self.width))

        def run(start: int, stop: int) -> None:
            if self.problem.vote == "ranked":
                bootstrap_hits(*data, start, stop, *draws, options.average, self.ks, out)
                return
            for first, last, has_ties in tie_runs(
                order.indptr, order.tied, options.average, start, stop
            ):
                if has_ties:
                    bootstrap_scores(*data, first, last, self.problem.n_classes, *draws,
                                     self.classes, options.average, options.share, self.ks,
                                     *self.rules, out)  # fmt: skip
                else:
                    bootstrap_untied(*untied, first, last, self.problem.n_classes, *draws,
                                     self.classes, options.share, self.ks, *self.rules,
                                     out)  # fmt: skip

        map_row_ranges(run, order.n_samples, n_threads)
        return out


def solve_bootstrap(problem: Problem) -> Solver:
    """Equal votes or recall@R; the columns' k are the voters or the ranks."""
    if problem.options.exact:
        return _rational(problem)
    vote = _BootstrapVote(problem)
    found = RowValues(problem.n_samples, vote.width)

    def finish() -> Answer:
        right = values = found.values
        if vote.classes:
            right = values[np.arange(problem.n_samples), problem.codes][:, None]
        weight = sample_weights(problem)
        # Powers (1-p)^n lose n roundings, the sums over votes k² and k for each class, the survival
        # a few units.
        votes = vote.k_max * (vote.k_max + min(problem.n_classes, vote.depth))
        steps = 8 * problem.n_samples + 8 * vote.depth + 8 * votes
        rounding = (steps + 64) * UNIT_ROUNDOFF
        return Answer(
            scores=np.sum(right * weight[:, None], axis=0),
            error_bound=np.full(len(vote.ks), problem.options.tol + rounding),
            sample_weight=weight,
            sample_scores=right if problem.want_samples else None,
            prediction_proba=values if vote.classes else None,
        )

    return Solver(vote.depth, vote, found.add, finish, vote.seconds(), "fewer neighbours")


def _rational(problem: Problem) -> Solver:
    """exact=True: Fractions; W(u) and the votes as in the kernels, in integers."""
    n, N = problem.n_samples, problem.n_samples - 1
    codes, options = problem.codes, problem.options
    values: list[list[Fraction]] = []

    def ends_here(s: int, g: int, k: int, u: int) -> Fraction:
        exactly = Fraction(comb(n, u) * s**u * (N - s) ** (n - u), N**n)
        left, rest = n - u, N - s
        fewer = sum(comb(left, x) * g**x * (rest - g) ** (left - x) for x in range(k - u))
        return exactly * (1 - Fraction(fewer, rest**left))

    def row_value(order: NeighborOrder, row: int, k: int) -> Fraction:
        own = int(codes[order.first_row + row])
        before: dict[int, int] = {}
        s, total = 0, Fraction(0)
        for members in groups_of(order, row, options.average):
            labels = codes[members].tolist()
            tied = {c: labels.count(c) for c in set(labels)}
            g = len(labels)
            for u in range(k):
                weight = ends_here(s, g, k, u)
                if weight and (s or u == 0):
                    total += weight * _right(own, before, tied, s, g, u, k - u, problem)
            before = {c: before.get(c, 0) + tied.get(c, 0) for c in before.keys() | tied.keys()}
            s += g
        return total

    def part(order: NeighborOrder, _: int) -> list[list[Fraction]]:
        return [
            [row_value(order, row, min(c.k, n)) for c in problem.columns]
            for row in range(order.n_samples)
        ]

    def finish() -> Answer:
        per_class = class_weights(problem)
        fractions = tuple(
            sum((per_class[y] * line[c] for y, line in zip(codes, values, strict=True)),
                Fraction(0))
            for c in range(len(problem.columns))
        )  # fmt: skip
        return Answer(
            scores=np.array([float(value) for value in fractions]),
            error_bound=np.zeros(len(fractions)),
            fractions=fractions,
            sample_weight=sample_weights(problem),
            sample_scores=np.array(values, dtype=np.float64),
            sample_fractions=tuple(map(tuple, values)),
        )

    return Solver(N, part, values.extend, finish)


def _right(
    own: int,
    before: dict[int, int],
    tied: dict[int, int],
    s: int,
    g: int,
    u: int,
    i: int,
    problem: Problem,
) -> Fraction:
    """P(right | u independent voters from the prefix, i from the group)."""
    share = problem.options.share
    if problem.vote == "ranked":
        outside = Fraction(s - before.get(own, 0), s) ** u if u else Fraction(1)
        return 1 - outside * Fraction(g - tied.get(own, 0), g) ** i
    classes = sorted(before.keys() | tied.keys())
    total = Fraction(0)
    for votes, ways in _vote_vectors(classes, before, tied, u, i).items():
        most = max(votes)
        winners = [c for c, count in zip(classes, votes, strict=True) if count == most]
        if share:
            total += ways * Fraction(int(own in winners), len(winners))
        else:
            total += ways * int(winners[0] == own)
    scale = factorial(u) * factorial(i)
    return total * scale / (Fraction(s) ** u * Fraction(g) ** i if u else Fraction(g) ** i)


def _vote_vectors(
    classes: list[int], before: dict[int, int], tied: dict[int, int], u: int, i: int
) -> dict[tuple[int, ...], Fraction]:
    """Σ Π n^b/b! γ^β/β! over (b, β) with the given totals, by votes b + β of each class."""
    states: dict[tuple[tuple[int, ...], int, int], Fraction] = {((), 0, 0): Fraction(1)}
    for c in classes:
        new: dict[tuple[tuple[int, ...], int, int], Fraction] = {}
        for (votes, used, used_tied), ways in states.items():
            for b in range((u - used if before.get(c, 0) else 0) + 1):
                for beta in range((i - used_tied if tied.get(c, 0) else 0) + 1):
                    key = ((*votes, b + beta), used + b, used_tied + beta)
                    factor = Fraction(before.get(c, 0) ** b, factorial(b))
                    factor *= Fraction(tied.get(c, 0) ** beta, factorial(beta))
                    new[key] = new.get(key, Fraction(0)) + ways * factor
        states = new
    result: dict[tuple[int, ...], Fraction] = {}
    for (votes, used, used_tied), ways in states.items():
        if used == u and used_tied == i:
            result[votes] = result.get(votes, Fraction(0)) + ways
    return result
