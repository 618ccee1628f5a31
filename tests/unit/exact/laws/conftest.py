"""One row of an order, small enough to go through all orders of its tied neighbours."""

from fractions import Fraction
from itertools import chain, permutations, product

import numpy as np
import pytest

from allsplits.exact.kernel_types import Rows

#: (own class, classes of the neighbours by tie group): no ties, ties of one class, mixed ties.
ROWS = {
    "untied": (0, [[1], [0], [2], [0], [1]]),
    "one class": (1, [[1, 1], [0], [2, 2]]),
    "mixed": (0, [[1], [0, 2, 1], [0]]),
    "all tied": (2, [[2, 0, 1, 2, 0]]),
}


class Neighbours:
    """A row for the kernels, and the average over the orders of its ties in Fractions."""

    def __init__(self, own, tie_groups):
        self.own, self.tie_groups = own, tie_groups
        labels = list(chain(*tie_groups))
        tied = [e > 0 for group in tie_groups for e in range(len(group))]
        self.n = len(labels)
        self.rows = Rows(
            np.array([0, self.n]), np.array(labels, dtype=np.int32), np.array(tied),
            np.array([own], dtype=np.int32),
        )  # fmt: skip

    def average(self, value):
        """Mean of value(classes, places) over all orders; places are those before mixing."""
        start, groups = 0, []
        for group in self.tie_groups:
            groups.append(range(start, start + len(group)))
            start += len(group)
        labels = self.rows.labels.tolist()
        orders = [list(chain(*o)) for o in product(*(permutations(g) for g in groups))]
        return sum(value([labels[p] for p in o], o) for o in orders) / Fraction(len(orders))


@pytest.fixture(params=ROWS.values(), ids=ROWS.keys())
def neighbours(request):
    return Neighbours(*request.param)


@pytest.fixture(params=[False, True], ids=["first", "share"])
def share(request):
    return request.param


@pytest.fixture
def win(share):
    """A function: what a class gets of a vote."""

    def part(voters, c):
        most = max(voters.count(d) for d in voters)
        winners = sorted(d for d in set(voters) if voters.count(d) == most)
        if share:
            return Fraction(int(c in winners), len(winners))
        return Fraction(int(c == winners[0]))

    return part
