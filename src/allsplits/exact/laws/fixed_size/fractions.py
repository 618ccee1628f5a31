"""exact=True: the same values in integers, returned as Fractions.

No floating point anywhere. For a prefix of length j the number of k-subsets in which a class wins
is an integer; inside a tie group of size g, of which t members stand before the next training
neighbour, a subset with i members of the group counts C(t, i) / C(g, i). Costs seconds where the
float path takes milliseconds; equal prefixes are computed once.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.masses import column_value
from allsplits.exact.question import Question
from allsplits.orders import NeighborOrder

#: A rival class: its items in the prefix and in the tie group, and what a tie with it is worth.
Rival = tuple[int, int, int]
Number = int | Fraction


@lru_cache(maxsize=1 << 15)
def winning_subsets(
    k: int, own: int, own_tied: int, rivals: tuple[Rival, ...], share: bool
) -> tuple[Number, ...]:
    """Element i: number of k-subsets with i items of the tie group in which `own` wins."""
    totals: list[Number] = [0] * (k + 1)
    for v in range(1, min(own + own_tied, k) + 1):
        for (_, tied, level), ways in _rival_votes(v, k - v, rivals, share).items():
            value = Fraction(ways, level + 1) if share and level else ways
            for beta in range(max(0, v - own), min(own_tied, v) + 1):
                totals[tied + beta] += comb(own, v - beta) * comb(own_tied, beta) * value
    return tuple(totals)


def _rival_votes(
    v: int, votes: int, rivals: tuple[Rival, ...], share: bool
) -> dict[tuple[int, int, int], int]:
    """Ways to give `votes` votes to the rivals, none above v: {(plain, tied, level): ways}.

    `level` counts the rivals that reach v votes themselves (kept only when ties are shared).
    """
    poly = {(0, 0, 0): 1}
    for n, g, wins_ties in rivals:
        product: dict[tuple[int, int, int], int] = {}
        cap = v if share or wins_ties else v - 1
        for b in range(min(n, cap) + 1):
            for beta in range(min(g, cap - b) + 1):
                ways = comb(n, b) * comb(g, beta)
                step = 1 if share and b + beta == v else 0
                for (plain, tied, level), before in poly.items():
                    if plain + tied + b + beta <= votes:
                        key = (plain + b, tied + beta, level + step)
                        product[key] = product.get(key, 0) + before * ways
        poly = product
    return {key: ways for key, ways in poly.items() if key[0] + key[1] == votes}


def groups_of(order: NeighborOrder, row: int, average: bool) -> Iterator[NDArray[np.intp]]:
    """Tie groups of a row; single items if ties are not averaged."""
    for group in order.tie_groups(row):
        if average:
            yield group
        else:
            yield from np.split(group, len(group))


def weigh_subsets(subsets: Sequence[Number], g: int, t: int) -> Number:
    """Subsets by group members, averaged over the orders of a group with t members before."""
    if t == g:
        return sum(subsets)
    total: Number = 0
    for i, ways in enumerate(subsets):
        if ways and i <= t:
            total += Fraction(ways * comb(t, i), comb(g, i))
    return total


def exact_right(question: Question, order: NeighborOrder, row: int) -> list[Fraction]:
    """P(right) of a row for each column, as Fractions."""
    codes, share = question.codes, question.options.share
    own = int(codes[order.sample_of(row)])
    by_prefix: dict[int, dict[int, Number]] = {column.k: {} for column in question.columns}
    counts: dict[int, int] = {}
    s = 0
    for group in groups_of(order, row, question.options.average):
        labels = codes[group].tolist()
        tied = {c: labels.count(c) for c in set(labels)}
        rivals = tuple(
            sorted(
                (counts.get(c, 0), tied.get(c, 0), int(c > own))
                for c in counts.keys() | tied.keys()
                if c != own
            )
        )
        for k, values in by_prefix.items():
            if k <= s + len(group):
                won = winning_subsets(k, counts.get(own, 0), tied.get(own, 0), rivals, share)
                for t in range(max(1, k - s), len(group) + 1):
                    values[s + t] = weigh_subsets(won, len(group), t)
        for c, number in tied.items():
            counts[c] = counts.get(c, 0) + number
        s += len(group)
    return [column_value(column, by_prefix[column.k]) for column in question.columns]


def exact_ranked(question: Question, order: NeighborOrder, row: int) -> list[Fraction]:
    """P(any of the R nearest is right) of a row for each column, as Fractions."""
    codes = question.codes
    own = codes[order.sample_of(row)]
    by_prefix: dict[int, dict[int, Number]] = {column.k: {} for column in question.columns}
    s = others = 0
    for group in groups_of(order, row, question.options.average):
        g = len(group)
        g_others = int(np.sum(codes[group] != own))
        for k, values in by_prefix.items():
            missed = [comb(others, k - i) * comb(g_others, i) for i in range(k + 1)]
            for t in range(max(1, k - s), g + 1):
                values[s + t] = comb(s + t, k) - weigh_subsets(missed, g, t)
        others += g_others
        s += g
    return [column_value(column, by_prefix[column.k]) for column in question.columns]
