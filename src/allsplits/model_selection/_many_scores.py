"""What an evaluation says beside its first score: other scores, and what they are made of."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from allsplits._frames import DataFrame, make_frame
from allsplits._validation import shown
from allsplits.exact import ONLY_WINNERS, Ballots, BallotWants
from allsplits.exceptions import InvalidInputError, UnsupportedError
from allsplits.model_selection._calibration import Calibration, calibrate
from allsplits.model_selection._error_parts import ErrorParts

if TYPE_CHECKING:
    from allsplits.model_selection._interval import Interval
    from allsplits.model_selection._task import Task


class ManyScores:
    """The part of `Evaluation` that is about all of its scores, and about its votes."""

    score: float
    scoring: str
    error_bound: float
    classes: NDArray[Any] | None
    task: Task | None
    ballots: Ballots | None
    others: tuple[Any, ...]
    names: tuple[str, ...]

    if TYPE_CHECKING:

        def interval(self, confidence: float = 0.95, *, method: str = "combined") -> Interval: ...

    @property
    def scores(self) -> dict[str, float]:
        """All scores by name, the first of which is `score`."""
        return {name: self[name].score for name in self.names or (self.scoring,)}

    def __getitem__(self, name: str) -> Self:
        """The evaluation of one of several scores: its bound, sample scores, interval and so on."""
        names = self.names or (self.scoring,)
        if name not in names:
            raise InvalidInputError(
                f"the scores here are {', '.join(map(repr, names))}; got {shown(name)}"
            )
        place = names.index(name)
        found: Self = self.others[place - 1] if place else replace(self, others=(), names=())  # type: ignore[type-var]
        return found

    def score_frame(
        self, backend: str | None = None, *, confidence: float | None = None
    ) -> DataFrame:
        """One row per score, with its bound; with a `confidence` also its `interval`.

        Intervals of accuracy, balanced accuracy and recall@R know what each sample does as a
        neighbour; those of the other scores come from the sample scores alone, too narrow for few
        neighbours (`Interval.method`, here "method").
        """
        names = self.names or (self.scoring,)
        each = [self[name] for name in names]
        columns: dict[str, Any] = {
            "scoring": list(names),
            "score": [one.score for one in each],
            "error_bound": [one.error_bound for one in each],
        }
        if confidence is not None:
            found = [one.interval(confidence) for one in each]
            for end in ("low", "high", "method"):
                columns[end] = [getattr(one, end) for one in found]
        return make_frame(columns, backend)

    @property
    def recall_per_class(self) -> dict[Any, float]:
        """How often samples of each class are right: the mean over the splits that test the class.

        NaN for a class that is never tested. Each is `scoring="recall_of:CLASS"`.
        """
        if self.classes is None:
            raise UnsupportedError(f"{self.scoring} has no classes to recall")
        ballots = self._ballots_with(ONLY_WINNERS)
        right, weight = ballots.recall
        found = {}
        for code, label in enumerate(self.classes.tolist()):
            mine = (ballots.codes == code) & (weight != 0)
            found[label] = float(np.sum((right * weight)[mine])) if mine.any() else float("nan")
        return found

    def calibration(self, *, n_bins: int | None = None, of_class: Any = None) -> Calibration:
        """The reliability curve of the vote: how often a winner with v of k votes is right.

        Expected shares and hits of every v are linear, so they are exact over all splits; their
        `Calibration.ece` is the error of these averages, not the average error of single splits.

        Parameters
        ----------
        n_bins : int, default=None
            Equal bins of the share v/k; None keeps every number of votes apart.
        of_class : object, default=None
            One of two classes, whose share of the votes is looked at, as scikit-learn's
            ``calibration_curve`` does; None is the winner's share, with any number of classes.

        Returns
        -------
        Calibration

        Examples
        --------
        >>> from allsplits import evaluate
        >>> from sklearn.datasets import load_wine
        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> X, y = load_wine(return_X_y=True)
        >>> evaluate(KNeighborsClassifier(5), X, y).calibration()
        Calibration(ECE=0.0... of the averages over all splits, 4 bins of the votes for the winner,
        n_neighbors=5)
        """
        if self.classes is None:
            raise UnsupportedError(f"{self.scoring} has no votes of classes to calibrate")
        wants = BallotWants(own=True) if of_class is not None else BallotWants(confidence=True)
        ballots = self._ballots_with(wants)
        return calibrate(ballots, self.classes, n_bins=n_bins, of_class=of_class)

    def squared_error_parts(self) -> ErrorParts:
        """Of a regressor: the squared error as squared bias and variance, over all training sets.

        The noise of the targets cannot be told from the bias, and is a part of that. Counted under
        laws of fixed sizes (folds, LeavePOut, ShuffleSplit, FixedSize) and Bernoulli, for equal
        weights.

        Returns
        -------
        ErrorParts

        Examples
        --------
        >>> from allsplits import evaluate
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.neighbors import KNeighborsRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> evaluate(KNeighborsRegressor(5), X, y).squared_error_parts()
        ErrorParts(mean_squared_error=3681... = squared_bias 3... + variance ..., over all training
        sets)
        """
        if self.task is None:
            raise UnsupportedError(
                "squared_error_parts needs what was evaluated: use the result of evaluate as it "
                "came"
            )
        return self.task.error_parts()

    def _ballots_with(self, wants: BallotWants) -> Ballots:
        """How the votes fall, those that are known or counted now."""
        if self.ballots is not None and self.ballots.knows(wants):
            return self.ballots
        if self.task is None:
            raise UnsupportedError(
                "how votes fall needs what was evaluated: use the result of evaluate as it came"
            )
        return self.task.ballots(wants)
