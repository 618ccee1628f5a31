"""The random share: an honest measure beside questions that are anything but random.

A learner asks for hard samples, so that its labels say little about how often it is right. Some of
the questions are therefore drawn at random, by a rule that keeps the drawn ones a simple random
sample *of all samples*: one random order of them is fixed by the seed, and after a answers the
first ⌊share · a⌋ of the order are the checks. Those that have a label already are checks without
being asked; the others are asked next. How many there are depends on the number of answers alone,
not on what was answered or asked, and so no sample is more likely to be a check than another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allsplits.labelling._answer import Answer


@dataclass(frozen=True)
class Checks:
    """Which samples are checks, of n samples in a random order."""

    order: NDArray[np.intp]
    share: float

    @classmethod
    def of(cls, n_samples: int, share: float, seed: int) -> Checks:
        """The order that a seed fixes."""
        return cls(np.random.RandomState(seed).permutation(n_samples), share)

    def drawn(self, n_asked: int) -> NDArray[np.intp]:
        """The checks after so many answers."""
        # A whole number of answers for each check must not be missed by rounding.
        return self.order[: min(int(self.share * n_asked + 1e-9), len(self.order))]

    def due(self, answers: Mapping[int, Answer], n_asked: int) -> list[int]:
        """Checks that are yet to be asked about."""
        rows = self.drawn(n_asked).tolist()
        return [i for i in rows if i not in answers or not answers[i].decided]

    def measured(self, answers: Mapping[int, Answer], n_asked: int) -> list[int]:
        """Checks with a label, up to the first that is not answered; skipped ones are left out."""
        found = []
        for i in self.drawn(n_asked).tolist():
            answer = answers.get(i)
            if answer is None or not answer.decided:
                break
            if answer.status == "labelled":
                found.append(i)
        return found
