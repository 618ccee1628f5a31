"""Weighted votes of classes in Fractions: every state of the vote, merged where states agree.

A state is how many of each class have voted, what their votes amount to and which was the
lightest. Weights are the floats that the compiled votes see, so both follow one rule for ties.
Slow and simple; `max_states` keeps it from running away.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from math import comb, prod
from typing import Any, NamedTuple

import numpy as np

from allsplits.exact.answer import (
    Answer,
    FromFractions,
    RowFractions,
    Solver,
    answer_from_fractions,
)
from allsplits.exact.laws.class_counts.weights import component_weights
from allsplits.exact.laws.episodes.fractions import support_sets
from allsplits.exact.laws.fixed_size.fractions import groups_of
from allsplits.exact.masses import size_shares
from allsplits.exact.question import Question, class_weights
from allsplits.exact.weighted.equal import check_states, weights_of
from allsplits.exact.weighted.weights import VOTE_TOLERANCE
from allsplits.orders import NeighborOrder
from allsplits.splits import BernoulliLaw, EpisodeLaw

Counts = tuple[int, ...]
Weight = Fraction | None
#: (seen, voters, members) of each class -> all (drawn of the members, probability).
Drawing = Callable[[Counts, Counts, Counts], Iterator[tuple[Counts, Fraction]]]


class _State(NamedTuple):
    """Voters and sums of each class, and the lightest vote (None while it is not needed)."""

    voters: Counts
    sums: tuple[Fraction, ...]
    lightest: Weight


class Group(NamedTuple):
    """A tie group: members of each class, and what one vote weighs (None at distance 0)."""

    members: Counts
    weight: Weight


def component_fractions(question: Question, law: Any) -> list[list[Fraction]]:
    """What a sample of each class counts in the score, for each component of the law."""
    if isinstance(law, BernoulliLaw):
        return [class_weights(question)]
    if isinstance(law, EpisodeLaw):
        # The classes of an episode count equally, so does every class in the end.
        return [class_weights(replace(question, balanced=True))]
    return [
        [
            component.weight * weight
            for weight in (
                component_weights(question, component)
                if law.kind == "class counts"
                else class_weights(question)
            )
        ]
        for component in law.components
    ]


def solve_vote_fractions(question: Question) -> Solver:
    """exact=True for weighted votes under one law."""
    counted = component_fractions(question, question.columns[0].law)
    codes = question.codes.tolist()
    asked = codes[question.asked]
    weights = [sum((line[code] for line in counted), Fraction(0)) for code in asked]

    def line(order: NeighborOrder, row: int) -> list[list[Fraction]]:
        groups, code = groups_of_row(question, order, row), codes[order.sample_of(row)]
        return [_shares(question, groups, code, column, counted) for column in question.columns]

    def finish(rows: list[list[list[Fraction]]]) -> Answer:
        # What every class gets is in units of the score; a sample never held out has no score.
        values = [
            [shares[code] / weight if weight else None for shares in row]
            for code, weight, row in zip(asked, weights, rows, strict=True)
        ]
        shares = [
            [value / weight if weight else None for value in row[0]]
            for weight, row in zip(weights, rows, strict=True)
        ]
        return answer_from_fractions(
            values, weights, proba=shares if question.want_samples else None
        )

    return Solver(question.n_candidates, RowFractions(line, question), FromFractions(finish))


def groups_of_row(question: Question, order: NeighborOrder, row: int) -> list[Group]:
    """The tie groups of a row, nearest first."""
    weights = weights_of(question).fractions(order.slice_rows(row, row + 1))
    groups, seen = [], 0
    for group in groups_of(order, row, question.options.average):
        counts = np.bincount(question.codes[group], minlength=question.n_classes)
        groups.append(Group(tuple(counts.tolist()), weights[seen]))
        seen += len(group)
    return groups


def _shares(
    question: Question, groups: list[Group], own: int, column: Any, counted: list[list[Fraction]]
) -> list[Fraction]:
    """What every class gets of one sample, each component of the law as it counts."""
    law, weights = column.law, [line[own] for line in counted]
    if law.kind in ("class counts", "episodes"):
        sizes = list(law.class_sizes)
        sizes[own] -= 0 if question.outside else 1
    if law.kind == "class counts":
        draws = [draw_counts(sizes, component.train) for component in law.components]
    elif isinstance(law, EpisodeLaw):
        trains = list(support_sets(law, own))
        draws = [draw_counts(sizes, train) for train in trains]
        weights = [weights[0] / len(trains)] * len(trains)
    else:
        draws = [draw_sets(law.n_candidates, size_shares(column))]
        weights = [sum(weights, Fraction(0))]
    total = [Fraction(0)] * question.n_classes
    for weight, draw in zip(weights, draws, strict=True):
        if weight:
            found = exact_shares(question, groups, column.k, draw)
            total = [a + weight * b for a, b in zip(total, found, strict=True)]
    return total


def exact_shares(question: Question, groups: list[Group], k: int, draw: Drawing) -> list[Fraction]:
    """What every class gets of a vote of k."""
    shares = [Fraction(0)] * question.n_classes
    for sums, lightest, mass in _outcomes(question, groups, k, draw):
        leaders = _leaders(sums, lightest)
        for c in leaders if question.options.share else leaders[:1]:
            shares[c] += mass / (len(leaders) if question.options.share else 1)
    return shares


def exact_weighted_right(question: Question, order: NeighborOrder, row: int) -> list[Fraction]:
    """P(right) of a row for each column of sizes, which count what their shares add up to."""
    groups, own = groups_of_row(question, order, row), int(question.codes[order.sample_of(row)])
    line = []
    for column in question.columns:
        shares = size_shares(column)
        draw = draw_sets(column.law.n_candidates, shares)
        right = exact_shares(question, groups, column.k, draw)[own]
        line.append(right * sum(shares.values(), Fraction(0)))
    return line


def _leaders(sums: Sequence[Fraction], lightest: Weight) -> list[int]:
    """Classes whose sums are the largest, or less than it by next to nothing."""
    least = max(sums) - Fraction(VOTE_TOLERANCE) * (lightest or 0)
    return [c for c, total in enumerate(sums) if total >= least]


def draw_counts(sizes: Sequence[int], train: Sequence[int]) -> Drawing:
    """Fixed numbers of each class, of so many candidates."""

    def draw(seen: Counts, voters: Counts, members: Counts) -> Iterator[tuple[Counts, Fraction]]:
        left = [size - s for size, s in zip(sizes, seen, strict=True)]
        want = [a - b for a, b in zip(train, voters, strict=True)]
        ways = prod(comb(n, a) for n, a in zip(left, want, strict=True))
        for x in product(*(range(g + 1) for g in members)):
            chance = prod(
                comb(g, i) * comb(n - g, a - i) if i <= a else 0
                for g, i, n, a in zip(members, x, left, want, strict=True)
            )
            if chance:
                yield x, Fraction(chance, ways)

    return draw


def draw_sets(n_candidates: int, shares: Mapping[int, Fraction]) -> Drawing:
    """Sets of all candidates, their sizes with these shares (which need not add up to 1)."""

    @cache
    def weight(met: int, drawn: int) -> Fraction:
        """Of a certain `drawn` of the first `met`, and none of the others, being in training."""
        return sum(
            (
                share * Fraction(comb(n_candidates - met, size - drawn), comb(n_candidates, size))
                for size, share in shares.items()
                if size >= drawn
            ),
            Fraction(0),
        )

    def draw(seen: Counts, voters: Counts, members: Counts) -> Iterator[tuple[Counts, Fraction]]:
        met, drawn = sum(seen), sum(voters)
        for x in product(*(range(g + 1) for g in members)):
            ways = prod(comb(g, i) for g, i in zip(members, x, strict=True))
            chance = ways * weight(met + sum(members), drawn + sum(x))
            if chance:
                yield x, chance / weight(met, drawn)

    return draw


def _outcomes(
    question: Question, groups: list[Group], k: int, draw: Drawing
) -> Iterator[tuple[tuple[Fraction, ...], Weight, Fraction]]:
    """All (sums, lightest vote, probability) with which a vote of k can end."""
    nothing = (0,) * question.n_classes
    states = {_State(nothing, (Fraction(0),) * question.n_classes, None): Fraction(1)}
    seen = nothing
    finite = [group.weight for group in groups if group.weight is not None]
    falling = finite == sorted(finite, reverse=True) and 0 not in finite
    for i, group in enumerate(groups):
        new: dict[_State, Fraction] = {}
        for state, mass in states.items():
            for voters, chance in _group_votes(state, group, k, seen, draw):
                after = _vote(state, voters, group.weight)
                new[after] = new.get(after, Fraction(0)) + mass * chance
        seen = tuple(a + b for a, b in zip(seen, group.members, strict=True))
        # Voters at distance 0 decide alone.
        last = i + 1 == len(groups) or groups[i + 1].weight is not None
        nearest_done = group.weight is None and last
        states = {}
        for state, mass in new.items():
            t = sum(state.voters)
            if t == k or (nearest_done and t > 0):
                yield state.sums, state.lightest, mass
            else:
                # With falling weights the lightest vote is the last one, whoever voted before.
                kept = state._replace(lightest=None) if falling else state
                states[kept] = states.get(kept, Fraction(0)) + mass
        check_states(question, k, len(states))


def _group_votes(
    state: _State, group: Group, k: int, seen: Counts, draw: Drawing
) -> Iterator[tuple[Counts, Fraction]]:
    """(voters of each class, probability) that a tie group can add to a vote.

    If more are drawn than are still to vote, those who vote are a uniform subset.
    """
    room = k - sum(state.voters)
    for drawn, chance in draw(seen, state.voters, group.members):
        if sum(drawn) <= room:
            yield drawn, chance
            continue
        ways = comb(sum(drawn), room)
        for voters in product(*(range(x + 1) for x in drawn)):
            if sum(voters) == room:
                chosen = prod(comb(x, v) for x, v in zip(drawn, voters, strict=True))
                yield voters, chance * Fraction(chosen, ways)


def _vote(state: _State, voters: Counts, weight: Weight) -> _State:
    factor = Fraction(1) if weight is None else weight
    lightest = state.lightest
    if any(voters) and factor:
        lightest = factor if lightest is None else min(lightest, factor)
    return _State(
        tuple(a + b for a, b in zip(state.voters, voters, strict=True)),
        tuple(a + factor * b for a, b in zip(state.sums, voters, strict=True)),
        lightest,
    )
