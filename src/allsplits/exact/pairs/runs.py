"""What one run is: a split of the law, or all folds of one shuffled k-fold.

Samples come from pools: all from one for laws of fixed size, each class is one under class counts.
A component draws a fixed number of each pool for training and tests a fixed number of the rest. The
score of a split is Σ u_i r_i over its test set, where u_i is what a tested sample counts and r_i
tells whether it is right. The score of a run of folds is the mean over its folds.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.question import Question


class Draw(NamedTuple):
    """One component: samples of each pool for training and for test, and its share of splits."""

    train: tuple[int, ...]
    test: tuple[int, ...]
    share: Fraction


class PairWeights(NamedTuple):
    """What a pair counts in E[S²], by the pools of both.

    Attributes
    ----------
    apart : list of Fraction
        Pools c and d, which differ: apart[c] · apart[d] · factor.
    together : list of Fraction
        Both of pool c.
    alone : list of Fraction
        A sample of pool c with itself.
    """

    apart: list[Fraction]
    together: list[Fraction]
    alone: list[Fraction]


@dataclass(frozen=True, eq=False)
class Runs:
    """The runs of a law.

    Attributes
    ----------
    pools : ndarray of shape (n_samples,)
        The pool of each sample.
    sizes : tuple of int
        Samples of each pool.
    draws : tuple of Draw
    n_folds : int
        Folds of a run; 0 if a run is one split.
    balanced : bool
        Whether classes count equally.
    """

    pools: NDArray[np.int32]
    sizes: tuple[int, ...]
    draws: tuple[Draw, ...]
    n_folds: int
    balanced: bool

    @classmethod
    def of(cls, question: Question) -> Runs:
        """The runs of the question's law: of fixed size, or class counts."""
        law: Any = question.columns[0].law
        if law.kind == "class counts":
            draws = tuple(Draw(c.train, c.test, c.weight) for c in law.components)
            pools, sizes = question.codes, law.class_sizes
        else:
            draws = tuple(Draw((c.train,), (c.test,), c.weight) for c in law.components)
            pools, sizes = np.zeros(law.n_samples, dtype=np.int32), (law.n_samples,)
        return cls(pools, sizes, draws, law.n_folds, question.balanced)

    def held_out(self, draw: Draw) -> list[int]:
        """Samples of each pool that are not in training."""
        return [size - train for size, train in zip(self.sizes, draw.train, strict=True)]

    def units(self, draw: Draw) -> list[Fraction]:
        """What a tested sample of each pool counts in the score of a split."""
        present = sum(1 for test in draw.test if test)
        if self.balanced:
            return [Fraction(1, present * test) if test else Fraction(0) for test in draw.test]
        return [Fraction(1, sum(draw.test))] * len(draw.test)

    def weights(self, draw: Draw) -> PairWeights:
        """What pairs of one split count, given that both are held out."""
        apart, together, alone = [], [], []
        parts = zip(self.units(draw), draw.test, self.held_out(draw), strict=True)
        for unit, test, held in parts:
            tested = Fraction(test, held) if held else Fraction(0)
            both = tested * Fraction(test - 1, held - 1) if held > 1 and test else Fraction(0)
            apart.append(unit * tested)
            together.append(unit * unit * both)
            alone.append(unit * unit * tested)
        return PairWeights(apart, together, alone)

    def times_in_split(self, draw: Draw) -> Fraction:
        """How much the second moment of one split counts in that of a run."""
        return draw.share / self.n_folds if self.n_folds else draw.share

    @cached_property
    def across(self) -> list[tuple[int, int, Fraction]]:
        """(draw of the first fold, of the second, how much such pairs of folds count)."""
        if not self.n_folds:
            return []
        number = [int(draw.share * self.n_folds) for draw in self.draws]
        found = []
        for a, first in enumerate(number):
            for b, second in enumerate(number):
                times = first * (second - (a == b))
                if times:
                    found.append((a, b, Fraction(times, self.n_folds**2)))
        return found
