"""Scores by name: what counts as right, and what each sample counts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.exceptions import InvalidInputError

__all__ = ["Scoring"]

_RECALL = re.compile(r"recall@([1-9][0-9]*)")


@dataclass(frozen=True)
class Scoring:
    """A score for classifiers."""

    name: str
    rank: int | None = None

    @classmethod
    def parse(cls, scoring: Any) -> Scoring:
        """Read "accuracy" (also None), "balanced_accuracy" or "recall@R"."""
        name = "accuracy" if scoring is None else scoring
        if name in ("accuracy", "balanced_accuracy"):
            return cls(name)
        match = _RECALL.fullmatch(name) if isinstance(name, str) else None
        if match is None:
            raise InvalidInputError(
                "scoring must be 'accuracy', 'balanced_accuracy' or 'recall@R' with R = 1, 2, … "
                f"(for example 'recall@5'); got {scoring!r}"
            )
        return cls(name, int(match.group(1)))

    def class_weights(self, codes: NDArray[np.int32], n_classes: int) -> list[Fraction]:
        """What one sample of each class counts in the score."""
        if self.name != "balanced_accuracy":
            return [Fraction(1, len(codes))] * n_classes
        sizes = np.bincount(codes, minlength=n_classes)
        return [Fraction(1, n_classes * int(size)) for size in sizes]
