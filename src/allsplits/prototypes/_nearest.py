"""Classification by the nearest prototype, with the same distances as in condensing."""

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from allsplits._constructor import stores_parameters
from allsplits._threads import thread_count
from allsplits._validation import check_labels, check_size, validate_data
from allsplits.exact.voters import Voters
from allsplits.orders import Metric, Reference


def class_shares(
    queries: NDArray[np.float64],
    prototypes: NDArray[np.float64],
    codes: NDArray[np.int32],
    n_classes: int,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Share of each class among the nearest prototypes of each query: 1, unless several tie."""
    reference = Reference(prototypes, Metric("euclidean"), thread_count(n_jobs))
    return Voters(reference, 1).class_shares(queries, codes, n_classes)


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
        """Class of the nearest prototype.

        Of several at equal distance, the class of most of them, and then the first in `classes_`.
        """
        shares = self.predict_proba(X)
        labels: NDArray[Any] = self.classes_[np.argmax(shares, axis=1)]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """One for the class of the nearest prototype, which alone votes, and zero for the others.

        Prototypes at equal distance share the vote. The columns are the classes in the order of
        `classes_`.
        """
        check_is_fitted(self)
        points = np.ascontiguousarray(validate_data(self, X, dtype=np.float64, reset=False))
        check_size("X", points)
        codes = np.searchsorted(self.classes_, np.asarray(self.prototype_labels_))
        return class_shares(
            points, self.prototypes_, codes.astype(np.int32), len(self.classes_), self.n_jobs
        )
