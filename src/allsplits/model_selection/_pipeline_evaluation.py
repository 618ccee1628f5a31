"""The result of `evaluate` for a Pipeline whose steps are fitted within each split."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from allsplits._frames import DataFrame, make_frame
from allsplits.model_selection._evaluation import Evaluation
from allsplits.model_selection._scoring import in_digits
from allsplits.replays.result import Sampled, with_error
from allsplits.splits import Law


@dataclass(frozen=True, eq=False, repr=False)
class PipelineEvaluation:
    """The average of a Pipeline over all splits: an exact part and a sampled difference.

    Attributes
    ----------
    fit_once : Evaluation
        The exact average with the steps fitted once, on all samples: what "transform first" gives.
    refit_scores : ndarray of shape (n_refits,)
        Scores of splits on which the steps were fitted to the training samples.
    fixed_scores : ndarray of shape (n_refits,)
        Scores of the same splits with the steps fitted once.
    least_error : float
        What the standard error is at least: one sample of one refit may have come out otherwise.
    """

    fit_once: Evaluation
    refit_scores: NDArray[np.float64]
    fixed_scores: NDArray[np.float64]
    least_error: float

    @property
    def differences(self) -> NDArray[np.float64]:
        """What refitting changed on each split."""
        return self.refit_scores - self.fixed_scores

    @property
    def n_refits(self) -> int:
        """Splits on which the steps were fitted."""
        return len(self.refit_scores)

    @property
    def score(self) -> float:
        """The average score of the Pipeline over all splits: unbiased, and sampled."""
        return self.fit_once.score + float(self.differences.mean())

    @property
    def standard_error(self) -> float:
        """Of `score`, from drawing the refits. It is no bound."""
        return max(float(self.differences.std(ddof=1)) / sqrt(self.n_refits), self.least_error)

    @property
    def flattery(self) -> Sampled:
        """How much better the steps fitted once look than they are, with its standard error."""
        return Sampled(-float(self.differences.mean()), self.standard_error)

    @property
    def plain(self) -> Sampled:
        """The mean of the refitted splits alone: what cross-validation on them would have said."""
        error = float(self.refit_scores.std(ddof=1)) / sqrt(self.n_refits)
        return Sampled(float(self.refit_scores.mean()), error)

    @property
    def scoring(self) -> str:
        """Name of the score."""
        return self.fit_once.scoring

    @property
    def n_neighbors(self) -> int:
        """Number of voters."""
        return self.fit_once.n_neighbors

    @property
    def law(self) -> Law:
        """The law of the training sets."""
        return self.fit_once.law

    def frame(self, backend: str | None = None) -> DataFrame:
        """One row for each refit: its score, that with the steps fitted once, the difference."""
        columns = {
            "refit": self.refit_scores,
            "fit_once": self.fixed_scores,
            "difference": self.differences,
        }
        return make_frame(columns, backend)

    def __repr__(self) -> str:
        flattery = self.flattery
        how = "flatters by" if flattery.value >= 0 else "is too low by"
        by = with_error(Sampled(abs(flattery.value), flattery.standard_error))
        return (
            f"PipelineEvaluation({self.scoring}="
            f"{with_error(Sampled(self.score, self.standard_error))} SAMPLED from {self.n_refits} "
            f"refits; steps fitted once on all samples {in_digits(self.fit_once.score)} exact, "
            f"which {how} {by}; n_neighbors={self.n_neighbors}, {self.law})"
        )
