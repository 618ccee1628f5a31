"""exact=True for whole groups: go through every split, in Fractions."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

from allsplits.exact.answer import Solver, in_fractions
from allsplits.exact.laws.fixed_size.fractions import groups_of
from allsplits.exact.question import Question, class_weights
from allsplits.exceptions import REPLAY_INSTEAD, UnsupportedError
from allsplits.orders import NeighborOrder
from allsplits.splits import GroupLaw

#: exact=True goes through every split.
_MOST_SPLITS = 20_000
_EXACT = "exact=True"


def solve_in_fractions(question: Question, law: GroupLaw) -> Solver:
    """Equal votes or recall@R."""
    groups = law.groups.tolist()
    if question.outside:
        return _of_outsiders(question, law, groups)
    tested_in, of_groups = splits_of_groups(law)

    def line(order: NeighborOrder, row: int) -> list[Fraction]:
        own = groups[order.sample_of(row)]
        totals = [Fraction(0)] * len(question.columns)
        for trains, share in tested_in[own]:
            for c, column in enumerate(question.columns):
                totals[c] += share * _right(question, order, row, groups, trains, column.k)
        return [total / of_groups[own] for total in totals]

    weights = balanced_weights(question, [of_groups[group] for group in groups])
    return in_fractions(question, line, question.n_candidates, weights)


def _of_outsiders(question: Question, law: GroupLaw, groups: list[int]) -> Solver:
    """Questions that belong to no group meet every choice of training groups."""
    every = all_training_groups(law)

    def line(order: NeighborOrder, row: int) -> list[Fraction]:
        return [
            sum((_right(question, order, row, groups, one, column.k) for one in every), Fraction(0))
            / len(every)
            for column in question.columns
        ]

    weights = [Fraction(1, question.n_questions)] * question.n_questions
    if question.n_classes:
        per_class = class_weights(question)
        weights = [per_class[code] for code in question.own_codes]
    return in_fractions(question, line, question.n_candidates, weights)


def _check_splits(law: GroupLaw, what: str) -> None:
    if law.n_splits > _MOST_SPLITS:
        few = f"leave fewer groups out. {REPLAY_INSTEAD}"
        raise UnsupportedError(
            f"{what} goes through every split of cv: {law.n_splits:,} of groups here, at most "
            f"{_MOST_SPLITS:,} are supported; {'use exact=False' if what == _EXACT else few}"
        )


def all_training_groups(law: GroupLaw, what: str = _EXACT) -> list[set[int]]:
    """Every choice of training groups, unless there are too many for `what` goes through them."""
    _check_splits(law, what)
    return [set(trains) for trains in combinations(range(len(law.group_sizes)), law.n_train)]


def splits_of_groups(
    law: GroupLaw, what: str = _EXACT
) -> tuple[list[list[tuple[set[int], Fraction]]], list[Fraction]]:
    """The training groups of all splits that test a group, what a sample counts there, in all."""
    _check_splits(law, what)
    tested_in: list[list[tuple[set[int], Fraction]]] = [[] for _ in law.group_sizes]
    for trains, tests in _splits(len(law.group_sizes), law.n_train, law.n_test):
        share = Fraction(1, law.n_splits * sum(int(law.group_sizes[group]) for group in tests))
        for group in tests:
            tested_in[group].append((trains, share))
    return tested_in, [sum((share for _, share in splits), Fraction(0)) for splits in tested_in]


def _splits(n_groups: int, n_train: int, n_test: int) -> Iterator[tuple[set[int], set[int]]]:
    for trains in combinations(range(n_groups), n_train):
        rest = [g for g in range(n_groups) if g not in trains]
        for tests in combinations(rest, n_test):
            yield set(trains), set(tests)


def balanced_weights(question: Question, weights: list[Fraction]) -> list[Fraction]:
    """Let classes count equally, if that is asked for."""
    if not question.balanced:
        return weights
    per_class = [Fraction(0)] * question.n_classes
    for y, w in zip(question.codes, weights, strict=True):
        per_class[y] += w
    return [
        w / (per_class[y] * question.n_classes)
        for y, w in zip(question.codes, weights, strict=True)
    ]


def _right(
    question: Question, order: NeighborOrder, row: int, groups: list[int], trains: Any, k: int
) -> Fraction:
    """P(right) for one training set, averaged over the orders of tied neighbours.

    For means it is minus the squared error.
    """
    if question.vote == "mean":
        return -_error(question, order, row, groups, trains, k)
    codes = question.codes
    own = int(codes[order.sample_of(row)])
    votes: dict[int, int] = {}
    found = 0
    for tie_group in groups_of(order, row, question.options.average):
        labels = [int(codes[j]) for j in tie_group.tolist() if groups[j] in trains]
        if found + len(labels) >= k:
            return _last_tie_group(question, own, votes, labels, k - found)
        for c in labels:
            votes[c] = votes.get(c, 0) + 1
        found += len(labels)
    # Fewer than R training samples: all of them are looked at.
    return Fraction(int(own in votes))


def _error(
    question: Question, order: NeighborOrder, row: int, groups: list[int], trains: Any, k: int
) -> Fraction:
    """The squared error for one training set, averaged over the orders of tied neighbours."""
    own, found = Fraction(question.targets[order.sample_of(row)].item()), 0
    voted = Fraction(0)
    for tie_group in groups_of(order, row, question.options.average):
        tied = [
            Fraction(question.targets[j].item()) - own
            for j in tie_group.tolist()
            if groups[j] in trains
        ]
        i, t, total = k - found, len(tied), sum(tied, Fraction(0))
        if t >= i:
            squares = sum((r * r for r in tied), Fraction(0))
            pairs = Fraction(i * (i - 1), t * (t - 1)) if t > 1 else Fraction(0)
            error = voted**2 + Fraction(i, t) * (2 * voted * total + squares)
            return (error + pairs * (total**2 - squares)) / k**2
        found, voted = found + t, voted + total
    raise AssertionError("every training set has k voters")


def _last_tie_group(
    question: Question, own: int, votes: dict[int, int], labels: list[int], i: int
) -> Fraction:
    """The last i voters are a uniform subset of the tie group."""
    tied = {c: labels.count(c) for c in set(labels)}
    if question.vote == "ranked":
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
        if question.options.share:
            total += Fraction(ways * int(own in winners), len(winners))
        else:
            total += ways * int(winners[0] == own)
    return total / comb(len(labels), i)
