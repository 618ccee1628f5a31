"""The model that a command asks for, and its exact evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from allsplits.exceptions import InvalidInputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from allsplits.cli._load import Labelled
    from allsplits.cli._parse import Cv
    from allsplits.cli._screen import Screen
    from allsplits.model_selection import Curve, Evaluation

__all__ = ["Model", "check_metric", "count_in_words", "largest_k"]


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

    def evaluate(self, screen: Screen, labelled: Labelled, cv: Cv | None, k: int) -> Evaluation:
        """One number of neighbours, with what every sample contributes."""
        from allsplits import evaluate

        with screen.noting(labelled.data.notes):
            return evaluate(
                self.estimator(k, labelled.regression), labelled.data.X, labelled.y,
                cv=None if cv is None else cv.build(), scoring=self.scoring,
                groups=labelled.data.groups, progress=screen.progress,
            )  # fmt: skip

    def validation_curve(
        self, screen: Screen, labelled: Labelled, cv: Cv | None, ks: list[int]
    ) -> Curve:
        """Several numbers of neighbours in one pass."""
        from allsplits import validation_curve

        with screen.noting(labelled.data.notes):
            return validation_curve(
                self.estimator(1, labelled.regression), labelled.data.X, labelled.y,
                n_neighbors=ks, cv=None if cv is None else cv.build(), scoring=self.scoring,
                groups=labelled.data.groups, progress=screen.progress,
            )  # fmt: skip


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


def largest_k(labelled: Labelled, cv: Cv | None) -> int:
    """How many neighbours the smallest training set has."""
    from allsplits._validation import check_groups, check_labels
    from allsplits.splits import Samples, resolve_cv

    n, groups = len(labelled.y), labelled.data.groups
    numbers = None if groups is None else check_groups(groups, n)
    classes, codes = (None, None) if labelled.regression else check_labels(labelled.y, n)
    law = resolve_cv(None if cv is None else cv.build(), Samples(n, classes, codes, numbers))
    return int(law.smallest_training_set)


def count_in_words(number: int) -> str:
    """A number of splits that one can read."""
    from allsplits.model_selection._evaluation import count_in_words as in_words

    return in_words(number)
