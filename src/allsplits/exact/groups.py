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

from allsplits._threads import map_row_ranges
from allsplits.exact._kernels_groups import group_scores
from allsplits.exact.masses import UNIT_ROUNDOFF
from allsplits.exact.problem import Answer, Problem, Solver, own_rows
from allsplits.exact.rational import groups_of
from allsplits.exact.uniform import legendre_rules
from allsplits.exceptions import UnsupportedError
from allsplits.orders import NeighborOrder
from allsplits.splits import GroupLaw

__all__ = ["solve_groups"]

#: exact=True goes through every split.
_MOST_SPLITS = 20_000
#: Entries of the table that weighs unequal test sets.
_LARGEST_TABLE = 1 << 24


def solve_groups(problem: Problem) -> Solver:
    """Equal votes or recall@R; the columns' k are the voters or the ranks."""
    law: GroupLaw = problem.columns[0].law
    if problem.options.exact:
        return _rational(problem, law)
    options = problem.options
    sizes = law.group_sizes
    n_groups = len(sizes)
    ks = np.array([column.k for column in problem.columns])
    k_max = int(ks.max())
    constant = law.n_test == 1 or len(set(sizes.tolist())) == 1
    three_ways = not constant and law.n_train + law.n_test < n_groups
    largest_test = int(np.sort(sizes)[-law.n_test :].sum())
    if not constant and n_groups * law.n_test * largest_test > _LARGEST_TABLE:
        raise UnsupportedError(
            f"{law.n_test} test groups of unequal size out of {n_groups} groups ({len(law.groups)} "
            "samples) are too many to weigh the splits by the size of their test sets; leave fewer "
            "groups out (LeaveOneGroupOut, LeavePGroupsOut(2)) or use groups of equal size"
        )
    # Whoever is left out, k voters are found this far out.
    left_out = int(np.sort(sizes)[law.n_train - n_groups :].sum())
    depth = min(problem.n_samples - 1, k_max + left_out)
    if k_max > law.smallest_training_set:
        depth = problem.n_samples - 1
    nodes, weights = legendre_rules(k_max // 2 + 1 if options.share else 0)
    classes = problem.want_samples and problem.vote == "majority"
    values = np.zeros((problem.n_samples, problem.n_classes if classes else len(ks)))
    split_weight = np.zeros(problem.n_samples)

    def add(order: NeighborOrder, n_threads: int) -> None:
        rows = own_rows(order)
        labels, neighbor_groups = problem.codes[order.flat_indices], law.groups[order.flat_indices]
        out, out_weight = values[rows], split_weight[rows]
        map_row_ranges(
            lambda start, stop: group_scores(
                order.indptr, labels, order.tied, neighbor_groups, problem.codes[rows],
                law.groups[rows], start, stop, sizes, problem.n_classes, law.n_train, law.n_test,
                depth, classes, problem.vote == "ranked", options.average, options.share, ks, k_max,
                three_ways, constant, largest_test, nodes, weights, out, out_weight,
            ),
            order.n_samples,
            n_threads,
            smallest=8,
        )  # fmt: skip

    def finish() -> Answer:
        right = values
        if classes:
            right = values[np.arange(problem.n_samples), problem.codes][:, None]
        weight = _class_balance(problem, split_weight)
        rounding = (64 * n_groups + 8 * k_max * (problem.n_classes + k_max) + 64) * UNIT_ROUNDOFF
        return Answer(
            scores=np.sum(right * weight[:, None], axis=0),
            error_bound=np.full(len(ks), rounding),
            sample_weight=weight,
            sample_scores=right if problem.want_samples else None,
            prediction_proba=values if classes else None,
        )

    return Solver(depth, add, finish)


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
    blocks: list[NeighborOrder] = []

    def finish() -> Answer:
        n, n_columns = problem.n_samples, len(problem.columns)
        weight = [Fraction(0)] * n
        totals = [[Fraction(0)] * n_columns for _ in range(n)]
        groups = law.groups.tolist()
        for trains, tests in _splits(len(law.group_sizes), law.n_train, law.n_test):
            tested = [i for i in range(n) if groups[i] in tests]
            share = Fraction(1, law.n_splits * len(tested))
            for order in blocks:
                for row in range(order.n_samples):
                    sample = order.first_row + row
                    if groups[sample] not in tests:
                        continue
                    weight[sample] += share
                    for c, column in enumerate(problem.columns):
                        value = _right(problem, order, row, groups, trains, column.k)
                        totals[sample][c] += share * value
        return _collect(problem, weight, totals)

    return Solver(problem.n_samples - 1, lambda order, _: blocks.append(order), finish)


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
