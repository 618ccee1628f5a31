"""Questions from outside, as users pass them: X_test and y_test."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._validation import check_column, check_points, check_targets, shown
from allsplits.exceptions import InvalidInputError
from allsplits.model_selection._task import Task
from allsplits.orders import Metric


@dataclass(frozen=True, eq=False)
class Samples:
    """The samples that questions are put to.

    Attributes
    ----------
    points : array or None
        None if their neighbours were searched elsewhere.
    metric : Metric
    classes : array or None
        The sorted classes; None for targets.
    """

    points: NDArray[Any] | None
    metric: Metric
    classes: NDArray[Any] | None

    @classmethod
    def of(cls, task: Task) -> "Samples":
        """Those of a task."""
        return cls(task.points, task.neighbors.metric, task.samples.classes)

    def read(self, X_test: Any, y_test: Any) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """(points, their classes as codes, or their targets) of checked questions."""
        if X_test is None or y_test is None:
            given, missing = ("y_test", "X_test") if X_test is None else ("X_test", "y_test")
            raise InvalidInputError(f"{missing} must be given with {given}; got None")
        if self.points is None or self.metric.precomputed:
            raise InvalidInputError(
                "X must be an array of points for questions from outside (X_test); got distances "
                "or neighbours"
            )
        queries = check_points(X_test, name="X_test", at_least=1, allow_nan=self.metric.allows_nan)
        if queries.shape[1] != self.points.shape[1]:
            raise InvalidInputError(
                f"X_test must have {self.points.shape[1]} features as X has; got {queries.shape[1]}"
            )
        if self.classes is None:
            return queries, check_targets(y_test, len(queries))
        return queries, self._codes(check_column("y_test", y_test, len(queries)), self.classes)

    def _codes(self, labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int32]:
        number = {label: code for code, label in enumerate(classes.tolist())}
        unknown = [label for label in labels.tolist() if label not in number]
        if unknown:
            raise InvalidInputError(
                f"y_test must hold classes of y, {shown(classes.tolist())}; got {shown(unknown[0])}"
            )
        return np.array([number[label] for label in labels.tolist()], dtype=np.int32)
