"""Choosing k for the labels there are, by exact leave-p-out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import LeavePOut
from sklearn.neighbors import KNeighborsClassifier

from allsplits._validation import check_count, check_counts
from allsplits.exact import Options
from allsplits.model_selection import validation_curve
from allsplits.orders import Metric

__all__ = ["choose_neighbors", "read_neighbors"]


def read_neighbors(n_neighbors: Any) -> list[int]:
    """One number of neighbours, or several to choose from, smallest first."""
    if isinstance(n_neighbors, Iterable) and not isinstance(n_neighbors, str):
        return sorted(check_counts("n_neighbors", n_neighbors))
    return [check_count("n_neighbors", n_neighbors, at_least=1)]


def _classifier_for(metric: Metric) -> KNeighborsClassifier:
    """scikit-learn's classifier with a metric that is resolved already."""
    params = dict(metric.params)
    power = params.pop("p", 2)
    return KNeighborsClassifier(metric=metric.name, p=power, metric_params=params or None)


def choose_neighbors(
    reference: NDArray[np.float64],
    labels: NDArray[Any],
    candidates: list[int],
    metric: Metric,
    leave_out: int,
    largest: int,
    options: Options,
) -> tuple[int, float]:
    """The best of the candidates that fit, and its exact leave-p-out accuracy.

    With one candidate, one class or too few labels there is nothing to choose: the smallest
    candidate is taken and the accuracy is NaN. `reference` holds the labelled points, or the
    distances between them; `largest` is the most voters that can be used.
    """
    fitting = [k for k in candidates if k <= min(largest, len(labels) - leave_out)]
    if len(candidates) == 1 or not fitting or len(np.unique(labels)) < 2:
        return candidates[0], float("nan")
    curve = validation_curve(
        _classifier_for(metric), reference, labels, n_neighbors=fitting, cv=LeavePOut(leave_out),
        distance_ties=options.distance_ties, label_ties=options.label_ties, n_jobs=options.n_jobs,
    )  # fmt: skip
    return curve.best, curve.best_score
