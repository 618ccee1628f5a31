"""exact=True for episodes: class counts of every set of classes, in integers."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations
from math import comb

from allsplits.exact.laws.class_counts.fractions import (
    exact_class_ranked,
    exact_class_right,
    exact_row,
)
from allsplits.exact.question import Question
from allsplits.exceptions import UnsupportedError
from allsplits.orders import NeighborOrder
from allsplits.splits import EpisodeLaw

#: exact=True goes through every set of classes.
_MOST_CLASS_SETS = 20_000


def check_class_sets(law: EpisodeLaw) -> int:
    """How many sets of classes a query meets; raise if there are too many to go through."""
    n_sets = comb(len(law.class_sizes) - 1, law.n_way - 1)
    if n_sets > _MOST_CLASS_SETS:
        raise UnsupportedError(
            f"exact=True goes through every set of classes: {n_sets} of them "
            f"here, at most {_MOST_CLASS_SETS} are supported; use exact=False"
        )
    return n_sets


def support_sets(law: EpisodeLaw, own: int) -> Iterator[list[int]]:
    """Support items of each class, for all sets of classes that a query of class `own` meets."""
    check_class_sets(law)
    rest = [c for c in range(len(law.class_sizes)) if c != own]
    for chosen in combinations(rest, law.n_way - 1):
        yield [law.k_shot if c == own or c in chosen else 0 for c in range(len(law.class_sizes))]


def every_class_set(
    question: Question, law: EpisodeLaw
) -> Callable[[NeighborOrder, int], list[Fraction]]:
    """P(right) of a row for each column, by its order and number."""
    value = exact_class_ranked if question.vote == "ranked" else exact_class_right
    codes, n_sets = question.codes, check_class_sets(law)

    def line(order: NeighborOrder, row: int) -> list[Fraction]:
        counted = exact_row(order, row, codes, question.options.average)
        y = counted.own
        held_out = 0 if law.outside else 1
        pools = [size - held_out * (c == y) for c, size in enumerate(law.class_sizes)]
        totals = [Fraction(0)] * len(question.columns)
        for train in support_sets(law, y):
            for c, column in enumerate(question.columns):
                totals[c] += value(counted, pools, train, column.k, question.options.share)
        return [total / n_sets for total in totals]

    return line
