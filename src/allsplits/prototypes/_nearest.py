"""Classification by the nearest prototype, with the same distances and ties as in condensing."""

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from allsplits._constructor import stores_parameters
from allsplits._threads import thread_count
from allsplits._validation import check_labels, check_size
from allsplits.orders import Metric, Reference


def nearest_positions(
    queries: NDArray[np.float64], prototypes: NDArray[np.float64], n_jobs: int | None = None
) -> NDArray[np.int64]:
    """Position of each query's nearest prototype, the lowest one at equal distance."""
    reference = Reference(prototypes, Metric("euclidean"), thread_count(n_jobs))
    return reference.nearest(queries, 1)[:, 0].astype(np.int64)


@stores_parameters
class PrototypeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts from `prototypes_`, `prototype_labels_` and `classes_`, which `fit` must set."""

    _: KW_ONLY
    n_jobs: int | None = None
    progress: bool = False

    def _read(self, X: Any, y: Any) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Return points and class numbers of labelled samples, and set `classes_`."""
        points, _ = validate_data(self, X, y, dtype=np.float64)
        check_size("X", points)
        self.classes_, codes = check_labels(y, len(points), several=False)
        return points, codes

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of the nearest prototype, the one of the lowest row at equal distance."""
        check_is_fitted(self)
        points = np.ascontiguousarray(validate_data(self, X, dtype=np.float64, reset=False))
        check_size("X", points)
        positions = nearest_positions(points, self.prototypes_, self.n_jobs)
        labels: NDArray[Any] = self.prototype_labels_[positions]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """One for the class of the nearest prototype, which alone votes, and zero for the others.

        The columns are the classes in the order of `classes_`.
        """
        given = self.predict(X)[:, None] == self.classes_
        return np.asarray(given, dtype=np.float64)
