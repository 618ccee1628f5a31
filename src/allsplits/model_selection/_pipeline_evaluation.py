"""The result of `evaluate` for a Pipeline whose steps are fitted within each split."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allsplits._frames import DataFrame, make_frame
from allsplits.model_selection._differences import Differences
from allsplits.model_selection._evaluation import Evaluation
from allsplits.model_selection._scoring import in_digits
from allsplits.replays.result import Sampled, error_of_mean, with_error
from allsplits.splits import Law


@dataclass(frozen=True, eq=False, repr=False)
class PipelineEvaluation:
    """The average of a Pipeline over all splits: an exact part and a sampled difference.

    Attributes
    ----------
    fit_once : Evaluation
        The exact average with the steps fitted once, on all samples: what "transform first" gives.
    differences : Differences
        What refitting changed on each of a few splits.
    """

    fit_once: Evaluation
    differences: Differences

    @property
    def refit_scores(self) -> NDArray[np.float64]:
        """Scores of splits on which the steps were fitted to the training samples."""
        return self.differences.scores

    @property
    def fixed_scores(self) -> NDArray[np.float64]:
        """Scores of the same splits with the steps fitted once."""
        return self.differences.fixed_scores

    @property
    def n_refits(self) -> int:
        """Splits on which the steps were fitted."""
        return len(self.refit_scores)

    @property
    def score(self) -> float:
        """The average score of the Pipeline over all splits: sampled."""
        return self.fit_once.score + self.differences.mean.value

    @property
    def standard_error(self) -> float:
        """Of `score`, from drawing the refits and from smoothing them. It is no bound."""
        return self.differences.mean.standard_error

    @property
    def flattery(self) -> Sampled:
        """How much better the steps fitted once look than they are, with its standard error."""
        return Sampled(-self.differences.mean.value, self.standard_error)

    @property
    def plain(self) -> Sampled:
        """The mean of the refitted splits alone: what cross-validation on them would have said."""
        return Sampled(float(self.refit_scores.mean()), error_of_mean(self.refit_scores))

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
        """One row for each refit: its score, that with the steps fitted once, the differences."""
        columns = {
            "refit": self.refit_scores,
            "fit_once": self.fixed_scores,
            "difference": self.differences.plain,
            "smoothed": self.differences.smoothed,
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
