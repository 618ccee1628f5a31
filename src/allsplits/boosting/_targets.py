"""Reading X and y: which examples belong to which class, as the signs that boosting works on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import column_or_1d

from allsplits._validation import check_labels, validate_samples
from allsplits.exceptions import InvalidInputError
from allsplits.orders import Metric, read_new, read_samples


def read_training(estimator: Any, X: Any, y: Any) -> tuple[Any, Targets]:
    """Check the training data of an estimator with the parameters of a metric."""
    metric = Metric.resolve(estimator.metric, estimator.p, estimator.metric_params)
    X, labels = validate_samples(
        estimator, X, y, ensure_min_samples=2, multi_output=True,
        ensure_all_finite="allow-nan" if metric.allows_nan else True,
    )  # fmt: skip
    points = read_samples(X, metric, symmetric=False)
    return points, Targets.read(labels, len(points))


def read_new_samples(estimator: Any, X: Any) -> Any:
    """Check new samples for a fitted estimator: an array, or sparse points."""
    metric = Metric.resolve(estimator.metric, estimator.p, estimator.metric_params)
    finite = "allow-nan" if metric.allows_nan else True
    X = validate_samples(estimator, X, reset=False, ensure_all_finite=finite)
    return read_new(X, metric) if issparse(X) else X


@dataclass(frozen=True)
class Targets:
    """Memberships of the examples.

    Two classes are one problem: membership of the second. (The first has the same agreements, so
    the same leverages.) More classes, and labels of an indicator matrix, are one problem each.
    """

    kind: Literal["binary", "multiclass", "multilabel"]
    classes: NDArray[Any]
    #: The given labels: one column, or the indicator matrix.
    y: NDArray[Any]
    #: +1 for members, -1 for others, shape (n_problems, n_samples).
    signs: NDArray[np.int8]

    @classmethod
    def read(cls, y: Any, n_samples: int) -> Targets:
        """Check y: one column of labels, or a matrix of zeros and ones."""
        if issparse(y):
            y = y.toarray()
        shape = np.shape(y)
        if len(shape) == 2 and shape[1] > 1:
            return cls._read_matrix(np.asarray(y), n_samples)
        if len(shape) == 2:
            y = column_or_1d(y, warn=True)
        classes, codes = check_labels(y, n_samples)
        binary = len(classes) == 2
        columns = np.arange(1, 2) if binary else np.arange(len(classes))
        signs = np.where(codes == columns[:, None], 1, -1).astype(np.int8)
        return cls("binary" if binary else "multiclass", classes, classes[codes], signs)

    @classmethod
    def _read_matrix(cls, y: NDArray[Any], n_samples: int) -> Targets:
        if len(y) != n_samples:
            raise InvalidInputError(
                f"y must have one row for each of the {n_samples} samples of X; got {len(y)}"
            )
        if y.dtype.kind not in "biuf" or not np.isin(y, (0, 1)).all():
            raise InvalidInputError(
                "y with several columns must be an indicator matrix of zeros and ones, one column "
                f"for each label; got other values (dtype {y.dtype})"
            )
        signs = np.where(y.T == 1, 1, -1).astype(np.int8)
        return cls("multilabel", np.arange(y.shape[1]), y.astype(np.int64), signs)

    def own(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """One value per example from (n_samples, n_problems): its class's, or the labels' mean."""
        if self.kind == "multilabel":
            return np.asarray(values.mean(axis=1))
        if self.kind == "binary":
            return np.asarray(values[:, 0])
        return np.asarray(values[np.arange(len(values)), np.argmax(self.signs, axis=0)])

    def texts(self) -> NDArray[Any]:
        """The labels as one column; those of an indicator matrix written one after the other."""
        if self.kind != "multilabel":
            return self.y
        return np.array([" ".join(map(str, np.flatnonzero(row))) for row in self.y])
