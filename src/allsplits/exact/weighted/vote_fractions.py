"""Weighted votes of classes in Fractions: every state of the vote, merged where states agree.

A state is how many of each class have voted, what their votes amount to and which was the
lightest. Weights are the floats that the compiled votes see, so both follow one rule for ties.
Slow and simple; `max_states` keeps it from running away.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
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
from allsplits.exact.laws.fixed_size.fractions import groups_of
from allsplits.exact.question import Question, class_weights
from allsplits.exact.weighted.equal import check_states, weights_of
from allsplits.exact.weighted.weights import VOTE_TOLERANCE
from allsplits.orders import NeighborOrder

Counts = tuple[int, ...]
Weight = Fraction | None


class _State(NamedTuple):
    """Voters and sums of each class, and the lightest vote (None while it is not needed)."""

    voters: Counts
    sums: tuple[Fraction, ...]
    lightest: Weight


class _Group(NamedTuple):
    """A tie group: members of each class, and what one vote weighs (None at distance 0)."""

    members: Counts
    weight: Weight


def component_fractions(question: Question, law: Any) -> list[list[Fraction]]:
    """What a sample of each class counts in the score, for each component of the law."""
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
    """exact=True for weighted votes under one law, of fixed size or of class counts."""
    counted = component_fractions(question, question.columns[0].law)
    codes = question.codes.tolist()
    asked = codes[question.asked]
    weights = [sum((line[code] for line in counted), Fraction(0)) for code in asked]

    def line(order: NeighborOrder, row: int) -> list[list[Fraction]]:
        of_row = weights_of(question).fractions(order.slice_rows(row, row + 1))
        groups = list(_groups(question, order, row, of_row))
        code = codes[order.sample_of(row)]
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


def _groups(
    question: Question, order: NeighborOrder, row: int, weights: Sequence[Weight]
) -> Iterator[_Group]:
    seen = 0
    for group in groups_of(order, row, question.options.average):
        counts = np.bincount(question.codes[group], minlength=question.n_classes)
        yield _Group(tuple(counts.tolist()), weights[seen])
        seen += len(group)


def _shares(
    question: Question, groups: list[_Group], own: int, column: Any, counted: list[list[Fraction]]
) -> list[Fraction]:
    """What every class gets of one sample, each component of the law as it counts."""
    shares = [Fraction(0)] * question.n_classes
    for component, counts in zip(column.law.components, counted, strict=True):
        if counts[own]:
            draw = _drawing(question, column.law, component.train, own)
            for sums, lightest, mass in _outcomes(question, groups, column.k, draw):
                leaders = _leaders(sums, lightest)
                for c in leaders if question.options.share else leaders[:1]:
                    each = len(leaders) if question.options.share else 1
                    shares[c] += counts[own] * mass / each
    return shares


def _leaders(sums: Sequence[Fraction], lightest: Weight) -> list[int]:
    """Classes whose sums are the largest, or less than it by next to nothing."""
    least = max(sums) - Fraction(VOTE_TOLERANCE) * (lightest or 0)
    return [c for c, total in enumerate(sums) if total >= least]


def _drawing(question: Question, law: Any, train: Any, own: int) -> Any:
    """A function (seen, voters, members) -> all (drawn from each class, probability)."""
    if law.kind == "class counts":
        sizes = list(law.class_sizes)
        sizes[own] -= 0 if question.outside else 1

        def by_class(seen: Counts, voters: Counts, members: Counts) -> Iterator[Any]:
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

        return by_class

    def of_all(seen: Counts, voters: Counts, members: Counts) -> Iterator[Any]:
        left, want = question.n_candidates - sum(seen), train - sum(voters)
        for x in product(*(range(g + 1) for g in members)):
            if sum(x) <= want:
                chance = prod(comb(g, i) for g, i in zip(members, x, strict=True))
                chance *= comb(left - sum(members), want - sum(x))
                if chance:
                    yield x, Fraction(chance, comb(left, want))

    return of_all


def _outcomes(
    question: Question, groups: list[_Group], k: int, draw: Any
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
    state: _State, group: _Group, k: int, seen: Counts, draw: Any
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
