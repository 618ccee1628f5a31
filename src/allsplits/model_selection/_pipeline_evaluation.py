"""The result of `evaluate` for a Pipeline whose steps are fitted within each split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from allsplits._frames import DataFrame, make_frame
from allsplits.exceptions import InvalidInputError, InvalidTypeError, UnsupportedError
from allsplits.model_selection._differences import Differences
from allsplits.model_selection._evaluation import Evaluation
from allsplits.model_selection._same_samples import check_pair
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
    random_state : int
        Seed of these splits.
    """

    fit_once: Evaluation
    differences: Differences
    random_state: int = 0

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

    def minus(self, other: PipelineEvaluation) -> Sampled:
        """The score less that of another Pipeline, paired: both were refitted on the same splits.

        The standard error is that of drawing the refits, not of drawing the samples. It is mostly
        smaller than that of either score.
        """
        if not isinstance(other, PipelineEvaluation):
            raise InvalidTypeError(
                f"other must be a PipelineEvaluation, too; got {type(other).__name__}"
            )
        check_pair("this", self.fit_once, "other", other.fit_once)
        drawn = [(one.n_refits, one.random_state) for one in (self, other)]
        if drawn[0] != drawn[1]:
            raise InvalidInputError(
                "other must be refitted on the same splits: pass the same n_refits and "
                f"random_state to evaluate; got {drawn[0]} and {drawn[1]}"
            )
        value, error = self.differences.minus(other.differences).mean
        return Sampled(self.fit_once.score - other.fit_once.score + value, error)

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

    def interval(self, confidence: float = 0.95, *, method: str = "combined") -> NoReturn:
        """Raise an error that says what is known instead: there is no interval of refitted steps.

        What a sample moves is known under all training sets, not under all refits of the steps.
        """
        raise self._not_known("interval", "interval(), the noise of sampling with the steps fixed")

    def split_spread(self, **options: Any) -> NoReturn:
        """Raise an error that says what is known instead: a few refits are no spread."""
        raise self._not_known("split_spread", "split_spread(), the noise of splitting with these")

    @property
    def split_std(self) -> float:
        """An error that says what is known instead, as `split_spread`."""
        raise self._not_known("split_std", "split_std, the noise of splitting with these")

    def _not_known(self, what: str, instead: str) -> UnsupportedError:
        return UnsupportedError(
            f"{what} is not known of a Pipeline whose steps are refitted: only {self.n_refits} "
            "refits are. .standard_error is the noise of drawing these, .refit_scores has their "
            f"scores. With the steps fitted once .fit_once has {instead}; its score "
            f"{in_words(self.flattery)}"
        )

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
        return (
            f"PipelineEvaluation({self.scoring}="
            f"{with_error(Sampled(self.score, self.standard_error))} SAMPLED from {self.n_refits} "
            f"refits{self.differences.note}; steps fitted once on all samples "
            f"{in_digits(self.fit_once.score)} exact, which {in_words(self.flattery)}; "
            f"n_neighbors={self.n_neighbors}, {self.law})"
        )


def in_words(flattery: Sampled) -> str:
    """How far fitting once is off."""
    how = "flatters by" if flattery.value >= 0 else "is too low by"
    return f"{how} {with_error(Sampled(abs(flattery.value), flattery.standard_error))}"


def refuse_refitted(name: str, one: Any) -> None:
    """Raise where an Evaluation is wanted and a Pipeline's is given."""
    if not isinstance(one, PipelineEvaluation):
        return
    raise InvalidTypeError(
        f"{name} must be an Evaluation; got a PipelineEvaluation, of which a few refits are known "
        "and not what every sample does under all of them. Two of these are compared on the same "
        "splits by first.minus(second). With the steps fitted once, .fit_once is an Evaluation, "
        f"which {in_words(one.flattery)}"
    )
