"""Fresh questions to samples that were valued before, as users pass them: X_test and y_test."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._validation import check_labels, check_same_kind, check_targets
from allsplits.exceptions import InvalidInputError
from allsplits.model_selection._estimator import VoteSettings
from allsplits.model_selection._task import Task
from allsplits.model_selection._test_set import check_both_given, new_classes, read_outside
from allsplits.orders import Metric


@dataclass(frozen=True, eq=False)
class Samples:
    """The samples that questions are put to.

    Attributes
    ----------
    points : array, SparsePoints or None
        None if their neighbours were searched elsewhere.
    settings : VoteSettings
    classes : array or None
        The sorted classes; None for targets.
    """

    points: Any
    settings: VoteSettings
    classes: NDArray[Any] | None

    @classmethod
    def of(cls, task: Task) -> "Samples":
        """Those of a task."""
        return cls(task.points, task.settings, task.classes)

    @property
    def metric(self) -> Metric:
        """How far points are apart."""
        return self.settings.metric

    def read(self, X_test: Any, y_test: Any) -> tuple[Any, NDArray[Any]]:
        """(points, their classes as codes, or their targets) of checked questions."""
        check_both_given(X_test, y_test)
        if self.metric.precomputed:
            raise InvalidInputError("X must be an array of points here; got distances")
        queries = read_outside(X_test, self.points, self.settings)
        if isinstance(queries, np.ndarray):
            queries = np.asarray(queries, dtype=np.float64)
        if self.classes is None:
            return queries, check_targets(y_test, len(queries), name="y_test")
        labels, codes = check_labels(y_test, len(queries), several=False, name="y_test")
        check_same_kind("y_test", labels, "y", self.classes)
        new = new_classes(labels, self.classes, codes)
        # No sample votes for a class that comes after those of the samples.
        known = np.concatenate([self.classes, new])
        number = {label: code for code, label in enumerate(known.tolist())}
        own = np.array([number[label] for label in labels.tolist()], dtype=np.int32)
        return queries, own[codes]
