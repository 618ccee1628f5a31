"""What is asked of runs, and what comes back: a split, and how much runs differ."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits._frames import DataFrame, make_frame

#: What is less is rounding.
_ROUNDING = 1e-9
#: What one run of a law is, where it is not a random split.
_RUNS = {
    "episodes": "A single episode",
    "draws with replacement": "A single bootstrap sample",
}


class GivenSplit(NamedTuple):
    """Row numbers of the training samples and of the tested ones."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]


@dataclass(frozen=True, repr=False)
class SplitSpread:
    """The standard deviation, over all runs of a law, of the score that one run shows.

    Attributes
    ----------
    std : float
        The standard deviation.
    n_folds : int
        A run is the mean over so many folds; 0: a run is one split.
    variance : Fraction or None
        Its square as a fraction, with ``exact=True`` where pairs are counted and the rows of all
        samples, once for each order of their tied neighbours, have at most 3,162 entries in all
        (one neighbour) or 1,414 (several): 56 or 38 samples without ties. None elsewhere.
    error_bound : float
        `std` is off by no more than this (mass left out and rounding); 0 if it is sampled.
    n_runs : int
        Runs that were drawn; 0 if all of them were counted.
    standard_error : float
        Of a sampled `std`.
    reason : str
        Why it is sampled.
    """

    std: float
    n_folds: int
    variance: Fraction | None = None
    error_bound: float = 0.0
    n_runs: int = 0
    standard_error: float = 0.0
    reason: str = ""

    @property
    def sampled(self) -> bool:
        """Whether runs were drawn, instead of all of them counted."""
        return self.n_runs > 0

    def in_words(self, scoring: str, kind: str) -> str:
        """What a single run would have shown, in one sentence.

        `scoring` is the name of the score, `kind` that of the law.
        """
        run = _RUNS.get(kind, "A single random split")
        if self.n_folds:
            run = f"A single shuffled {self.n_folds}-fold cross-validation"
        if self.std <= max(self.error_bound, _ROUNDING):
            return f"{run} would have shown the same score: nothing is left to chance."
        size = f"{self.std:.3g}" if scoring.startswith("neg_") else f"{100 * self.std:.2g} points"
        how = f"sampled from {self.n_runs:,} of them" if self.sampled else "over all of them"
        return f"{run} varies by ± {size} around it (standard deviation between runs, {how})."

    def frame(self, backend: str | None = None) -> DataFrame:
        """One row with all numbers, as a pandas or polars data frame."""
        columns = {
            "std": [self.std],
            "n_folds": [self.n_folds],
            "sampled": [self.sampled],
            "error_bound": [self.error_bound],
            "n_runs": [self.n_runs],
            "standard_error": [self.standard_error],
            "reason": [self.reason],
        }
        return make_frame(columns, backend)

    def __repr__(self) -> str:
        what = f"the mean of {self.n_folds} folds" if self.n_folds else "one split"
        if not self.sampled:
            return f"SplitSpread(std={self.std:.6f} ± {self.error_bound:.0e}, exact, of {what})"
        why = f": {self.reason}" if self.reason else ""
        return (
            f"SplitSpread(std={self.std:.6f}, SAMPLED from {self.n_runs:,} runs with standard "
            f"error {self.standard_error:.1g}, of {what}{why})"
        )
