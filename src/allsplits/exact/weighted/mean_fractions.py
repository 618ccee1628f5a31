"""Weighted means in Fractions: every state of the vote, merged where states agree.

A state is how many have voted and the two sums of their mean. Slow and simple; `max_states` keeps
it from running away.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations
from math import comb
from typing import Any

from allsplits.exact.answer import Solver, in_fractions
from allsplits.exact.laws.fixed_size.fractions import groups_of
from allsplits.exact.masses import deepest_prefix, size_shares
from allsplits.exact.question import Question
from allsplits.exact.weighted.equal import check_states, weights_of
from allsplits.orders import NeighborOrder

#: (Σ w·target, Σ w).
Sums = tuple[Fraction, ...]
States = dict[tuple[int, Sums], Fraction]


def solve_mean_fractions(question: Question) -> Solver:
    """exact=True for weighted means."""
    n = question.n_questions
    return in_fractions(
        question,
        partial(exact_weighted_errors, question),
        deepest_prefix(question.columns),
        [Fraction(1, n)] * n,
    )


def exact_weighted_errors(question: Question, order: NeighborOrder, row: int) -> list[Fraction]:
    """Minus the expected squared error of a row for each column."""
    own = order.sample_of(row)
    weights = weights_of(question).unrounded_fractions(order.slice_rows(row, row + 1))
    groups = list(groups_of(order, row, question.options.average))
    line = []
    for column in question.columns:
        total = Fraction(0)
        for train, share in size_shares(column).items():
            for sums, mass in _outcomes(question, groups, weights, column.k, train):
                total += share * mass * _value(question, own, sums)
        line.append(total)
    return line


def _value(question: Question, own: int, sums: Sums) -> Fraction:
    return -((sums[0] / sums[1] - Fraction(question.targets[own].item())) ** 2)


def _outcomes(
    question: Question,
    groups: Sequence[Any],
    weights: Sequence[Fraction | None],
    k: int,
    train: int,
) -> Iterator[tuple[Sums, Fraction]]:
    """All (sums, probability) with which a vote of k can end."""
    states: States = {(0, (Fraction(0), Fraction(0))): Fraction(1)}
    n, s = question.n_candidates, 0
    for i, group in enumerate(groups):
        weight = weights[s]
        new: States = {}
        for (t, sums), mass in states.items():
            for y, votes, share in _group_votes(question, group, n, s, train, t, k):
                factor = Fraction(1) if weight is None else weight
                total = tuple(a + factor * b for a, b in zip(sums, votes, strict=True))
                key = (t + y, total)
                new[key] = new.get(key, Fraction(0)) + mass * share
        s += len(group)
        # Voters at distance 0 decide alone.
        nearest_done = weight is None and (i + 1 == len(groups) or weights[s] is not None)
        states = {}
        for (t, sums), mass in new.items():
            if t == k or (nearest_done and t > 0):
                yield sums, mass
            else:
                states[t, sums] = mass
        check_states(question, k, len(states))


def _group_votes(
    question: Question, group: Any, n: int, s: int, train: int, t: int, k: int
) -> Iterator[tuple[int, tuple[Any, ...], Fraction]]:
    """(voters, their plain votes, probability) that a tie group can add to a vote of t."""
    g = len(group)
    ways = comb(n - s, train - t)
    for y in range(min(g, k - t) + 1):
        members = range(y, g + 1) if y == k - t else (y,)
        chance = Fraction(
            sum(comb(g, x) * comb(n - s - g, train - t - x) for x in members if train - t >= x),
            ways,
        )
        if chance:
            for votes, share in _compositions(question, group, y):
                yield y, votes, chance * share


def _compositions(
    question: Question, group: Any, y: int
) -> Iterator[tuple[tuple[Any, ...], Fraction]]:
    """Votes of a uniform y-subset of the group."""
    ways = comb(len(group), y)
    targets = [Fraction(question.targets[j].item()) for j in group.tolist()]
    for chosen in combinations(targets, y):
        yield (sum(chosen, Fraction(0)), y), Fraction(1, ways)
