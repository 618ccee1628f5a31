"""Scores by name: what counts as right, and what each sample counts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from allsplits.exceptions import InvalidInputError

__all__ = ["Scoring"]

_RECALL = re.compile(r"recall@([1-9][0-9]*)")


@dataclass(frozen=True)
class Scoring:
    """A score, with R for recall@R."""

    name: str
    rank: int | None = None

    @classmethod
    def parse(cls, scoring: Any, *, regression: bool) -> Scoring:
        """Read the name of a score; None is the usual one."""
        if regression:
            if scoring not in (None, "neg_mean_squared_error"):
                raise InvalidInputError(
                    f"scoring must be 'neg_mean_squared_error' for a regressor; got {scoring!r}"
                )
            return cls("neg_mean_squared_error")
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
