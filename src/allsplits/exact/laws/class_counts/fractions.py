"""exact=True for fixed class counts: integers only.

Here the k-th training neighbour decides: it stands in one tie group. With b training items of a
class in the prefix before the group (n items) and τ in the group (γ items), the class has
C(n, b) C(γ, τ) C(N-n-γ, α-b-τ) drawings; if the prefix gives u < k voters and the group holds
t ≥ k-u training items, the other voters are a uniform (k-u)-subset of those t.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import comb, prod
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.answer import Solver, in_fractions
from allsplits.exact.laws.class_counts.draws import class_pools, own_draws, query_kinds
from allsplits.exact.laws.class_counts.weights import law_weights
from allsplits.exact.laws.fixed_size.fractions import groups_of
from allsplits.exact.question import Question
from allsplits.orders import NeighborOrder

#: Voters from the prefix, voters from the group, training items in the group, tied rivals.
State = tuple[int, int, int, int]


def _class_states(
    n: int, tied: int, pool: int, drawn: int, k: int, allowed: Callable[[int], int]
) -> dict[State, int]:
    """Drawings of one class by (b, β, τ, level); allowed(votes) is the level, -1 forbids."""
    states: dict[State, int] = {}
    for b in range(min(n, drawn, k) + 1):
        for tau in range(min(tied, drawn - b) + 1):
            ways = comb(n, b) * comb(tied, tau) * comb(pool - n - tied, drawn - b - tau)
            if ways == 0:
                continue
            for beta in range(min(tau, k - b) + 1):
                level = allowed(b + beta)
                if level >= 0:
                    states[b, beta, tau, level] = ways * comb(tau, beta)
    return states


def _product(left: dict[State, int], right: dict[State, int], k: int) -> dict[State, int]:
    result: dict[State, int] = {}
    for (b, beta, tau, level), ways in left.items():
        for (b2, beta2, tau2, level2), ways2 in right.items():
            if b + b2 + beta + beta2 <= k:
                key = (b + b2, beta + beta2, tau + tau2, level + level2)
                result[key] = result.get(key, 0) + ways * ways2
    return result


class ExactRow(NamedTuple):
    """The class of a row, and its class counts before each tie group and in it."""

    own: int
    groups: list[tuple[dict[int, int], dict[int, int]]]


def exact_row(order: NeighborOrder, row: int, codes: NDArray[np.int32], average: bool) -> ExactRow:
    """A row of an order, counted."""
    groups, before = [], dict[int, int]()
    for group in groups_of(order, row, average):
        labels = codes[group].tolist()
        tied = {c: labels.count(c) for c in set(labels)}
        groups.append((before, tied))
        before = {c: before.get(c, 0) + tied.get(c, 0) for c in before.keys() | tied.keys()}
    return ExactRow(int(codes[order.sample_of(row)]), groups)


class ExactValue(Protocol):
    """The value of a row for one k, if train[c] of the pools[c] candidates of a class are drawn."""

    def __call__(
        self, row: ExactRow, pools: Sequence[int], train: Sequence[int], k: int, share: bool
    ) -> Fraction:
        """The value, in Fractions."""


def _vote_ends_here(states: dict[State, int], k: int, share: bool) -> Fraction:
    """Drawings in which the k-th voter is in this group, averaged over the group's orders."""
    total = Fraction(0)
    for (b, beta, tau, level), ways in states.items():
        if b < k and b + beta == k and beta <= tau:
            total += Fraction(ways, comb(tau, beta) * (level + 1 if share else 1))
    return total


def exact_class_right(
    row: ExactRow, pools: Sequence[int], train: Sequence[int], k: int, share: bool
) -> Fraction:
    """P(own class wins the vote of k)."""
    own, total = row.own, Fraction(0)
    for before, tied in row.groups:
        seen = before.keys() | tied.keys()
        if own not in seen:
            continue
        unseen = prod(comb(pools[c], train[c]) for c in range(len(pools)) if c not in seen)
        here = Fraction(0)
        for v in range(1, k + 1):
            states = _class_states(
                before.get(own, 0), tied.get(own, 0), pools[own], train[own], k,
                lambda votes, v=v: 0 if votes == v else -1,  # type: ignore[misc]
            )  # fmt: skip
            for c in seen:
                if c != own and states:

                    def level(votes: int, c: int = c, v: int = v) -> int:
                        if votes < v:
                            return 0
                        if votes > v or not (share or c > own):
                            return -1
                        return int(share)

                    rival = _class_states(
                        before.get(c, 0), tied.get(c, 0), pools[c], train[c], k, level
                    )
                    states = _product(states, rival, k)
            here += _vote_ends_here(states, k, share)
        total += here * unseen
    return total / prod(comb(pool, count) for pool, count in zip(pools, train, strict=True))


def exact_class_ranked(
    row: ExactRow, pools: Sequence[int], train: Sequence[int], k: int, share: bool
) -> Fraction:
    """P(any of the k nearest training items has the right class)."""
    own, total = row.own, Fraction(0)
    k = min(k, sum(train))
    for before, tied in row.groups:
        seen = before.keys() | tied.keys()
        unseen = prod(comb(pools[c], train[c]) for c in range(len(pools)) if c not in seen)
        states: dict[State, int] = {(0, 0, 0, 0): 1}
        for c in seen:
            own_votes = (lambda votes: 0 if votes == 0 else -1) if c == own else (lambda votes: 0)
            part = _class_states(before.get(c, 0), tied.get(c, 0), pools[c], train[c], k, own_votes)
            states = _product(states, part, k)
        total += _vote_ends_here(states, k, False) * unseen
    everything = prod(comb(pool, count) for pool, count in zip(pools, train, strict=True))
    return 1 - total / everything


def solve_in_fractions(exact: ExactValue, question: Question) -> Solver:
    """exact=True: Fractions for every sample, at full depth."""
    codes, options = question.codes, question.options
    pools, own_pools = class_pools(question)
    kinds = query_kinds(question)
    components = question.columns[0].law.components
    weights = law_weights(question)
    of_samples = [sum(parts, Fraction(0)) for parts in zip(*weights, strict=True)]

    def line(order: NeighborOrder, row: int) -> list[Fraction | None]:
        sample = order.sample_of(row)
        if not of_samples[sample]:
            return [None] * len(question.columns)
        pool, own = pools[kinds[sample]].tolist(), int(codes[sample])
        pool[own] = int(own_pools[kinds[sample], own])
        counted = exact_row(order, row, codes, options.average)
        totals = [Fraction(0)] * len(question.columns)
        for component, weight in zip(components, weights, strict=True):
            if not weight[sample]:
                continue
            drawn = [min(pair) for pair in zip(pool, component.train, strict=True)]
            draws = own_draws(question, own, pool[own], component.train[own])
            for drawn[own], chance in draws.items():
                for c, column in enumerate(question.columns):
                    value = exact(counted, pool, drawn, column.k, options.share)
                    totals[c] += weight[sample] * chance * value
        return [total / of_samples[sample] for total in totals]

    return in_fractions(question, line, question.n_candidates, of_samples[question.asked])
