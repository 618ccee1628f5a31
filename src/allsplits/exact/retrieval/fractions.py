"""exact=True for retrieval: integers only.

In a tie group with relevant items, u relevant and o other gallery items stand before it, a and b
are in it; each class has C(n, before) C(γ, tied) C(N-n-γ, rest) drawings for that.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import comb, prod

from allsplits.exact.laws.class_counts.draws import class_pools, query_kinds
from allsplits.exact.laws.class_counts.fractions import ExactRow, exact_row
from allsplits.exact.question import Question
from allsplits.exact.retrieval.scores import RetrievalScore, group_weights
from allsplits.orders import NeighborOrder

#: Gallery items before the tie group, and in it.
_Pair = tuple[int, int]


def _drawings(n: int, tied: int, pool: int, drawn: int) -> dict[_Pair, int]:
    """Drawings of a class by its gallery items before the tie group and in it."""
    ways = {
        (b, t): comb(n, b) * comb(tied, t) * comb(pool - n - tied, drawn - b - t)
        for b in range(min(n, drawn) + 1)
        for t in range(min(tied, drawn - b) + 1)
    }
    return {pair: number for pair, number in ways.items() if number}


def _product(left: dict[_Pair, int], right: dict[_Pair, int]) -> dict[_Pair, int]:
    result: dict[_Pair, int] = {}
    for (b, t), ways in left.items():
        for (b2, t2), ways2 in right.items():
            result[b + b2, t + t2] = result.get((b + b2, t + t2), 0) + ways * ways2
    return result


def exact_counted(
    score: RetrievalScore, row: ExactRow, pools: Sequence[int], train: Sequence[int], k: int
) -> Fraction:
    """The score of a row if train[c] of the pools[c] candidates of a class are in the gallery."""
    own, total = row.own, Fraction(0)
    for before, tied in row.groups:
        if not tied.get(own):
            continue
        others = {(0, 0): 1}
        for c in range(len(pools)):
            if c != own:
                of_class = _drawings(before.get(c, 0), tied.get(c, 0), pools[c], train[c])
                others = _product(others, of_class)
        mine = _drawings(before.get(own, 0), tied[own], pools[own], train[own])
        for (u, a), ways in mine.items():
            if a:
                for (o, b), other_ways in others.items():
                    value = group_weights(score, (u, o), (a, b), train[own], k)
                    total += ways * other_ways * value
    return total / prod(comb(pool, count) for pool, count in zip(pools, train, strict=True))


def exact_sized(
    score: RetrievalScore, question: Question, order: NeighborOrder, row: int
) -> list[Fraction]:
    """The score of a row for each column under a law of sizes: a mixture over relevant items."""
    sample = order.sample_of(row)
    own = question.codes[sample]
    is_own = (question.codes == own).astype(question.codes.dtype)
    counted = exact_row(order, row, is_own, question.options.average)
    N = question.n_candidates
    relevant = int(class_pools(question)[1][query_kinds(question)[sample], own])
    pools = [N - relevant, relevant]
    values = [Fraction(0)] * len(question.columns)
    for c, column in enumerate(question.columns):
        for component in column.law.components:
            for m in range(1, min(relevant, component.train) + 1):
                train = [component.train - m, m]
                ways = comb(pools[0], train[0]) * comb(pools[1], m)
                if ways:
                    value = exact_counted(score, counted, pools, train, column.k)
                    values[c] += component.weight * ways * value / comb(N, component.train)
    return values
