"""Whole groups kept together: leave-group-out and shuffled groups, any k.

The walk branches once for every group that is met before k voters are found, so it costs about
2^(groups met) per sample: cheap for groups of several samples, and for few groups left out.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact.effort import group_seconds
from allsplits.exact.laws.fixed_size.fractions import groups_of
from allsplits.exact.laws.groups._kernels import group_scores
from allsplits.exact.masses import UNIT_ROUNDOFF
from allsplits.exact.question import Answer, Problem, RowValues, Solver, own_rows
from allsplits.exact.ties import legendre_rules
from allsplits.exceptions import UnsupportedError
from allsplits.orders import NeighborOrder
from allsplits.splits import GroupLaw

__all__ = ["solve_groups"]

#: exact=True goes through every split.
_MOST_SPLITS = 20_000
#: Entries of the table that weighs unequal test sets.
_LARGEST_TABLE = 1 << 24
#: What a long run is told.
_CHEAPER = "fewer neighbours, and fewer or larger groups left out"


class _GroupVote:
    """Values of the rows of a block, and in a last column the share of splits that test the row.

    That share is by the size of their test sets.
    """

    def __init__(self, problem: Problem, law: GroupLaw) -> None:
        self.problem, self.law = problem, law
        sizes = law.group_sizes
        n_groups = len(sizes)
        self.ks = np.array([column.k for column in problem.columns])
        self.k_max = int(self.ks.max())
        self.constant = law.n_test == 1 or len(set(sizes.tolist())) == 1
        self.three_ways = not self.constant and law.n_train + law.n_test < n_groups
        self.largest_test = int(np.sort(sizes)[-law.n_test :].sum())
        # Whoever is left out, k voters are found this far out.
        left_out = int(np.sort(sizes)[law.n_train - n_groups :].sum())
        self.depth = min(problem.n_samples - 1, self.k_max + left_out)
        if self.k_max > law.smallest_training_set:
            self.depth = problem.n_samples - 1
        self.rules = legendre_rules(self.k_max // 2 + 1 if problem.options.share else 0)
        self.classes = problem.want_samples and problem.vote == "majority"
        self.width = problem.n_classes if self.classes else len(self.ks)

    def check_size(self) -> None:
        """Raise if test sets of unequal size are too many to weigh."""
        law, n_groups = self.law, len(self.law.group_sizes)
        if self.constant or n_groups * law.n_test * self.largest_test <= _LARGEST_TABLE:
            return
        raise UnsupportedError(
            f"{law.n_test} test groups of unequal size out of {n_groups} groups ({len(law.groups)} "
            "samples) are too many to weigh the splits by the size of their test sets; leave fewer "
            "groups out (LeaveOneGroupOut, LeavePGroupsOut(2)) or use groups of equal size"
        )

    def seconds(self) -> float:
        """What the walks of all rows take on one core, at most."""
        n_others = len(self.law.group_sizes) - 1
        n_test = self.law.n_test - 1 if self.three_ways else 0
        return group_seconds(self.problem.n_samples, n_others, self.law.n_train, n_test, self.k_max)

    def __call__(self, order: NeighborOrder, n_threads: int) -> NDArray[np.float64]:
        codes, groups, options = self.problem.codes, self.law.groups, self.problem.options
        rows, neighbors = own_rows(order), order.flat_indices
        labels, neighbor_groups, own, own_groups = (
            codes[neighbors], groups[neighbors], codes[rows], groups[rows]
        )  # fmt: skip
        ranked = self.problem.vote == "ranked"
        out, out_weight = np.zeros((order.n_samples, self.width)), np.zeros(order.n_samples)
        map_row_ranges(
            lambda start, stop: group_scores(
                order.indptr, labels, order.tied, neighbor_groups, own, own_groups, start, stop,
                self.law.group_sizes, self.problem.n_classes, self.law.n_train, self.law.n_test,
                self.depth, self.classes, ranked, options.average, options.share, self.ks,
                self.k_max, self.three_ways, self.constant, self.largest_test, *self.rules, out,
                out_weight,
            ),
            order.n_samples,
            n_threads,
            smallest=8,
        )  # fmt: skip
        return np.column_stack([out, out_weight])


def solve_groups(problem: Problem) -> Solver:
    """Equal votes or recall@R; the columns' k are the voters or the ranks."""
    law: GroupLaw = problem.columns[0].law
    if problem.options.exact:
        return _rational(problem, law)
    vote = _GroupVote(problem, law)
    vote.check_size()
    found = RowValues(problem.n_samples, vote.width + 1)

    def finish() -> Answer:
        right = values = np.ascontiguousarray(found.values[:, : vote.width])
        if vote.classes:
            right = values[np.arange(problem.n_samples), problem.codes][:, None]
        weight = _class_balance(problem, found.values[:, vote.width].copy())
        votes = 8 * vote.k_max * (problem.n_classes + vote.k_max)
        rounding = (64 * len(law.group_sizes) + votes + 64) * UNIT_ROUNDOFF
        return Answer(
            scores=np.sum(right * weight[:, None], axis=0),
            error_bound=np.full(len(vote.ks), rounding),
            sample_weight=weight,
            sample_scores=right if problem.want_samples else None,
            prediction_proba=values if vote.classes else None,
        )

    return Solver(vote.depth, vote, found.add, finish, vote.seconds(), _CHEAPER)


def _class_balance(problem: Problem, weight: Any) -> Any:
    """Let classes count equally, if that is asked for."""
    if not problem.balanced:
        return weight
    per_class = np.bincount(problem.codes, weights=weight, minlength=problem.n_classes)
    return weight / (per_class[problem.codes] * problem.n_classes)


def _rational(problem: Problem, law: GroupLaw) -> Solver:
    """exact=True: go through every split, in Fractions."""
    if law.n_splits > _MOST_SPLITS:
        raise UnsupportedError(
            f"exact=True goes through every split of groups: {law.n_splits} here, at most "
            f"{_MOST_SPLITS} are supported; use exact=False"
        )
    groups = law.groups.tolist()
    #: For each sample its weight, and its weighted value in each column.
    lines: list[list[Fraction]] = []

    def part(order: NeighborOrder, _: int) -> list[list[Fraction]]:
        found = [[Fraction(0)] * (1 + len(problem.columns)) for _ in range(order.n_samples)]
        for trains, tests in _splits(len(law.group_sizes), law.n_train, law.n_test):
            tested = sum(int(law.group_sizes[group]) for group in tests)
            share = Fraction(1, law.n_splits * tested)
            for row, line in enumerate(found):
                if groups[order.first_row + row] in tests:
                    line[0] += share
                    for c, column in enumerate(problem.columns, start=1):
                        line[c] += share * _right(problem, order, row, groups, trains, column.k)
        return found

    def finish() -> Answer:
        return _collect(problem, [line[0] for line in lines], [line[1:] for line in lines])

    return Solver(problem.n_samples - 1, part, lines.extend, finish)


def _splits(n_groups: int, n_train: int, n_test: int) -> Any:
    for trains in combinations(range(n_groups), n_train):
        rest = [g for g in range(n_groups) if g not in trains]
        for tests in combinations(rest, n_test):
            yield set(trains), set(tests)


def _collect(problem: Problem, weight: list[Fraction], totals: list[list[Fraction]]) -> Answer:
    samples = tuple(
        tuple(value / w for value in line) for w, line in zip(weight, totals, strict=True)
    )
    if problem.balanced:
        per_class = [Fraction(0)] * problem.n_classes
        for y, w in zip(problem.codes, weight, strict=True):
            per_class[y] += w
        weight = [
            w / (per_class[y] * problem.n_classes)
            for y, w in zip(problem.codes, weight, strict=True)
        ]
    fractions = tuple(
        sum((w * line[c] for w, line in zip(weight, samples, strict=True)), Fraction(0))
        for c in range(len(problem.columns))
    )
    return Answer(
        scores=np.array([float(value) for value in fractions]),
        error_bound=np.zeros(len(fractions)),
        fractions=fractions,
        sample_weight=np.array([float(w) for w in weight]),
        sample_scores=np.array(samples, dtype=np.float64),
        sample_fractions=samples,
    )


def _right(
    problem: Problem, order: NeighborOrder, row: int, groups: list[int], trains: Any, k: int
) -> Fraction:
    """P(right) for one training set, averaged over the orders of tied neighbours."""
    codes = problem.codes
    own = int(codes[order.first_row + row])
    votes: dict[int, int] = {}
    found = 0
    for bunch in groups_of(order, row, problem.options.average):
        labels = [int(codes[j]) for j in bunch.tolist() if groups[j] in trains]
        if found + len(labels) >= k:
            return _last_bunch(problem, own, votes, labels, k - found)
        for c in labels:
            votes[c] = votes.get(c, 0) + 1
        found += len(labels)
    # Fewer than R training samples: all of them are looked at.
    return Fraction(int(own in votes))


def _last_bunch(
    problem: Problem, own: int, votes: dict[int, int], labels: list[int], i: int
) -> Fraction:
    """The last i voters are a uniform subset of the bunch."""
    tied = {c: labels.count(c) for c in set(labels)}
    if problem.vote == "ranked":
        if own in votes:
            return Fraction(1)
        return 1 - Fraction(comb(len(labels) - tied.get(own, 0), i), comb(len(labels), i))
    states: dict[tuple[tuple[int, int], ...], int] = {(): 1}
    for c in sorted(votes.keys() | tied.keys()):
        states = {
            (*chosen, (c, extra)): ways * comb(tied.get(c, 0), extra)
            for chosen, ways in states.items()
            for extra in range(min(tied.get(c, 0), i - sum(x for _, x in chosen)) + 1)
        }
    total = Fraction(0)
    for chosen, ways in states.items():
        if sum(extra for _, extra in chosen) != i:
            continue
        counts = {c: votes.get(c, 0) + extra for c, extra in chosen}
        winners = sorted(c for c, count in counts.items() if count == max(counts.values()))
        if problem.options.share:
            total += Fraction(ways * int(own in winners), len(winners))
        else:
            total += ways * int(winners[0] == own)
    return total / comb(len(labels), i)
