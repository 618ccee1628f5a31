"""Influences of weighted votes and means under fixed sizes, within bounds.

It matters which of the neighbours vote, so every candidate leaves a list of its own, and each list
is valued anew: as many evaluations as rows are deep. With P the value of a complete row and D that
of the row without the candidate, given that the law leaves it out, the influence is (P - D)/q, q
being the chance to be in training (`sizes`). Votes come as intervals; the middles are taken, and
half of the widest interval is the doubt.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.influence.asked import Asked
from allsplits.exact.influence.rows import RowInfluences
from allsplits.exact.influence.sizes import law_weights
from allsplits.exact.masses import Column
from allsplits.exact.question import Question
from allsplits.exact.strikes import Strikes, batches, struck_rows
from allsplits.exact.struck_votes import StruckVotes, fixed_size_votes
from allsplits.orders import NeighborOrder
from allsplits.splits import SizeLaw

Floats = NDArray[np.float64]


class _Votes(NamedTuple):
    """Votes of rows, and what the sizes of training sets count."""

    votes: StruckVotes
    shares: Floats

    def values(self, order: NeighborOrder, n_threads: int) -> tuple[Floats, float]:
        """Values of rows, and how far any may be off."""
        nobody = np.zeros(order.n_samples, dtype=np.int32)
        found = self.votes.values(order, nobody, n_threads)
        mixed: Floats = found.values[:, :, 0] @ self.shares
        return mixed, found.doubt


@dataclass(frozen=True, eq=False)
class WeightedInfluences:
    """Values of all lists, one by one.

    Attributes
    ----------
    whole, less : _Votes
        Of complete rows, and of rows without a candidate that is out.
    inside : float
        The chance to be in training.
    average : bool
        Whether tied neighbours are averaged over.
    """

    whole: _Votes
    less: _Votes
    inside: float
    average: bool

    @property
    def depth(self) -> int:
        """How deep rows must be before a strike."""
        return max(self.whole.votes.depth, self.less.votes.depth + 1)

    @property
    def bound(self) -> float:
        """What is left out and rounded, besides the doubts."""
        return (self.whole.votes.bound + self.less.votes.bound) / self.inside

    @property
    def seconds(self) -> float:
        """What all rows take on one core, roughly."""
        return self.whole.votes.seconds * (2 + self.depth)

    def __call__(self, order: NeighborOrder, n_threads: int) -> RowInfluences:
        """What the candidates of these rows do."""
        whole, doubt = self.whole.values(order, n_threads)
        strikes = Strikes.of(order, None, self.average)
        change = whole[strikes.rows]
        doubts = [0.0]
        for batch in batches(order, strikes.rows):
            struck = struck_rows(order, strikes.rows[batch], strikes.entries[batch])
            values, off = self.less.values(struck, n_threads)
            change[batch] -= values
            doubts.append(off)
        rows = np.arange(order.n_samples)
        every = struck_rows(order, rows, np.full(len(rows), -1))
        beyond, off = self.less.values(every, n_threads)
        far = (whole - beyond) / self.inside
        doubt = (doubt + max(*doubts, off)) / self.inside
        return RowInfluences(change[strikes.of_entry] / self.inside, far[:, None], doubt)


def weighted_influences(asked: Asked) -> WeightedInfluences:
    """Weighted votes or means under a law of fixed sizes; it has been checked."""
    law, N, k = asked.law, asked.n_candidates, asked.k
    weights = law_weights(law, N, k)
    if weights is None:
        raise AssertionError("a law that leaves nobody out is refused before")
    inside = 1 / sum(weights.whole.values(), Fraction(0))
    components = tuple(
        law.components[0]._replace(train=size, test=N - size, weight=share * inside)
        for size, share in weights.less.items()
    )
    smaller = asked.question.with_columns([Column(k, SizeLaw(N, components))])
    return WeightedInfluences(
        _votes(asked.question), _votes(smaller), float(inside), asked.question.options.average
    )


def _votes(question: Question) -> _Votes:
    votes = fixed_size_votes(question)
    if votes is None:
        raise AssertionError("there is one law")
    components = question.columns[0].law.components
    shares = [float(component.weight) for component in components]
    # Errors of means come mixed already.
    return _Votes(votes, np.array(shares if question.vote == "weighted" else [1.0]))
