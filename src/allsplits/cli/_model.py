"""The model that a command asks for, and the task it makes of a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from allsplits.cli._screen import LOADING
from allsplits.exceptions import InvalidInputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from allsplits.cli._load import Labelled
    from allsplits.cli._parse import Cv
    from allsplits.cli._screen import Screen
    from allsplits.model_selection._task import Task


@dataclass(frozen=True)
class Model:
    """Nearest neighbours without their number."""

    metric: str
    weights: str
    p: float
    scoring: str | None

    def estimator(self, k: int, regression: bool) -> Any:
        """scikit-learn's estimator."""
        from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

        kind = KNeighborsRegressor if regression else KNeighborsClassifier
        return kind(k, metric=self.metric, weights=self.weights, p=self.p)

    @property
    def scores(self) -> str | list[str] | None:
        """One score, or several with commas between them."""
        if self.scoring is None or "," not in self.scoring:
            return self.scoring
        return [name.strip() for name in self.scoring.split(",")]

    def task(
        self, screen: Screen, labelled: Labelled, cv: Cv | None = None, k: int = 1, *,
        every_score: bool = False,
    ) -> Task:  # fmt: skip
        """The library's task: everything checked, nothing computed."""
        with screen.waiting(LOADING), screen.noting(labelled.data.notes):
            from allsplits.model_selection._options import check_options
            from allsplits.model_selection._task import Given, Task

            test = labelled.test
            given = Given(
                labelled.data.X,
                labelled.y,
                None if cv is None else cv.build(),
                self.scores,
                labelled.data.groups,
                None if test is None else test.data.X,
                None if test is None else test.y,
            )
            model, options = (
                self.estimator(k, labelled.regression),
                check_options(progress=screen.progress),
            )
            return Task.read(model, given, options, every_score=every_score)


def check_metric(metric: str, X: NDArray[np.float64]) -> None:
    """Refuse features that a distance has no meaning for."""
    import numpy as np

    if metric == "haversine" and X.shape[1] != 2:
        raise InvalidInputError(
            "--metric haversine needs two features, latitude and longitude in radians; got "
            f"{X.shape[1]}"
        )
    if metric == "mahalanobis" and np.linalg.matrix_rank(np.cov(X.T)) < X.shape[1]:
        raise InvalidInputError(
            "--metric mahalanobis needs features that vary, none of which follows from the others, "
            "and more rows than features: leave some out with --drop, or use another metric"
        )


def count_in_words(number: int) -> str:
    """A number of splits that one can read."""
    from allsplits.model_selection._evaluation import count_in_words as in_words

    return in_words(number)
