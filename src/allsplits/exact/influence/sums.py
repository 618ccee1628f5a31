"""Values of samples: what they do for all questions together, as these count in the score."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.answer import Answer, Solver
from allsplits.exact.influence.asked import Asked
from allsplits.exact.influence.fractions import fraction_part
from allsplits.exact.influence.rows import InfluencePart
from allsplits.exact.influence.solve import influences
from allsplits.exact.question import own_rows
from allsplits.orders import NeighborOrder

Floats = NDArray[np.float64]


class _Found(NamedTuple):
    """What a block contributes.

    Attributes
    ----------
    hits : array of shape (samples,)
        What near candidates do more than far ones.
    sums : array of shape (scopes,)
        What far candidates do for all rows.
    own : array of shape (rows,)
        What is in the sums for the row's own sample, which does nothing for itself; empty if the
        rows are not samples.
    doubt : float
        How far what is done for these rows together may be off.
    """

    hits: Floats
    sums: Floats
    own: Floats
    doubt: float


@dataclass(frozen=True, eq=False)
class _ValuePart:
    part: InfluencePart
    weights: Floats
    scopes: NDArray[np.int32]
    constants: Floats
    within: bool

    def __call__(self, order: NeighborOrder, n_threads: int) -> _Found:
        entries, far, doubts = self.part(order, n_threads)
        rows = own_rows(order)
        weights = self.weights[rows]
        scopes = self.scopes[order.flat_indices]
        row_of = np.repeat(np.arange(order.n_samples), np.diff(order.indptr))
        more = weights[row_of] * (entries - far[row_of, scopes])
        hits = np.bincount(order.flat_indices, more, len(self.scopes)).astype(np.float64)
        counted = weights[:, None] * (far + self.constants[rows, None])
        own = np.empty(0)
        if self.within:
            own = counted[np.arange(len(weights)), self.scopes[rows]]
        return _Found(hits, counted.sum(axis=0), own, float((weights * doubts).sum()))


class _Values:
    """Values put together from blocks in the order of their rows. Columns are the samples."""

    def __init__(self, scopes: NDArray[np.int32], bound: float) -> None:
        self._scopes, self._bound = scopes, bound
        # A class that no sample has is a scope of nobody, and may be the last.
        self._hits, self._sums = np.zeros(len(scopes)), np.zeros(1)
        self._own: list[Floats] = []
        self._doubt = 0.0

    def add(self, found: _Found) -> None:
        """Add what a block found."""
        self._hits += found.hits
        self._sums = self._sums + found.sums
        self._own.append(found.own)
        self._doubt += found.doubt

    def finish(self) -> Answer:
        """Values of all samples."""
        own = np.concatenate(self._own)
        values = self._sums[self._scopes] + self._hits
        values[: len(own)] -= own
        return Answer(values, np.full(len(values), self._bound + self._doubt))


class _ExactValues:
    """The same in Fractions."""

    def __init__(self, n_samples: int) -> None:
        self._totals = [Fraction(0)] * n_samples

    def add(self, found: dict[int, Fraction]) -> None:
        """Add what a block found."""
        for sample, value in found.items():
            self._totals[sample] += value

    def finish(self) -> Answer:
        """Values of all samples."""
        values = np.array([float(value) for value in self._totals])
        return Answer(values, np.zeros(len(values)), fractions=tuple(self._totals))


def question_weights(asked: Asked) -> Floats:
    """What each question counts, at the place of its number."""
    of_class = np.array([[float(w) for w in line] for line in asked.class_weights]).sum(axis=0)
    weights: Floats = of_class[asked.codes]
    return weights


def solve_values(asked: Asked) -> Solver:
    """Values of all samples, in one pass over the questions."""
    n = asked.n_samples
    if asked.question.options.exact:
        return Solver(asked.n_candidates, fraction_part(asked), _ExactValues(n))
    found = influences(asked)
    scopes = asked.codes[:n] if asked.by_class else np.zeros(n, dtype=np.int32)
    part: Any = _ValuePart(
        found.part, question_weights(asked), scopes, found.constants, not asked.outside
    )
    return Solver(
        found.depth, part, _Values(scopes, found.bound), found.seconds,
        "fewer samples or neighbours",
    )  # fmt: skip
