"""Scores by name: what counts as right, and what each sample counts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from allsplits._validation import shown
from allsplits.exceptions import REPLAY_INSTEAD, InvalidInputError

#: Up to 18 digits, which fit into 64 bits.
_RECALL = re.compile(r"recall@([1-9][0-9]{0,17})")


@dataclass(frozen=True)
class Scoring:
    """A score, with R for recall@R."""

    name: str
    rank: int | None = None

    @classmethod
    def parse(cls, scoring: Any, *, regression: bool) -> Scoring:
        """Read the name of a score; None is the usual one."""
        name = scoring if isinstance(scoring, str) else ""
        if regression:
            if scoring is not None and name != "neg_mean_squared_error":
                raise InvalidInputError(
                    "scoring must be 'neg_mean_squared_error' for a regressor; got "
                    f"{shown(scoring)}. {REPLAY_INSTEAD}"
                )
            return cls("neg_mean_squared_error")
        if scoring is None:
            return cls("accuracy")
        if name in ("accuracy", "balanced_accuracy"):
            return cls(name)
        match = _RECALL.fullmatch(name)
        if match is None:
            raise InvalidInputError(
                "scoring must be 'accuracy', 'balanced_accuracy' or 'recall@R' with R = 1, 2, … "
                f"of at most 18 digits (for example 'recall@5'); got {shown(scoring)}. "
                f"{REPLAY_INSTEAD}"
            )
        return cls(name, int(match.group(1)))


def in_digits(score: float) -> str:
    """How a score is printed: six decimals, or six digits of a large squared error."""
    return f"{score:.6f}" if abs(score) < 1e6 else f"{score:.6g}"
