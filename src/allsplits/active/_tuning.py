"""Choosing k for the labels there are, by exact leave-p-out."""

from collections.abc import Iterable
from typing import Any

from sklearn.model_selection import LeavePOut

from allsplits._validation import check_count, check_counts
from allsplits.active._labels import PartialLabels
from allsplits.exact import Neighbors, Options
from allsplits.model_selection._estimator import VoteSettings
from allsplits.model_selection._scoring import Scoring
from allsplits.model_selection._task import Task
from allsplits.orders import Metric
from allsplits.splits import Samples, resolve_cv


def read_neighbors(n_neighbors: Any) -> list[int]:
    """One number of neighbours, or several to choose from, smallest first."""
    if isinstance(n_neighbors, Iterable) and not isinstance(n_neighbors, str):
        return sorted(check_counts("n_neighbors", n_neighbors))
    return [check_count("n_neighbors", n_neighbors, at_least=1)]


def choose_neighbors(
    reference: Any,
    labels: PartialLabels,
    candidates: list[int],
    metric: Metric,
    leave_out: int,
    largest: int,
    options: Options,
) -> tuple[int, float]:
    """The best of the candidates that fit, and its exact leave-p-out accuracy.

    With one candidate, one class or too few labels there is nothing to choose: the smallest
    candidate is taken and the accuracy is NaN. `reference` holds the labelled points, or the
    distances between them; `largest` is the most voters that can be used. All of it was checked
    when it was read.
    """
    n, classes = len(labels.rows), labels.classes
    fitting = [k for k in candidates if k <= min(largest, n - leave_out)]
    if len(candidates) == 1 or not fitting or len(classes) < 2:
        return candidates[0], float("nan")
    task = labelled_task(reference, labels, metric, LeavePOut(leave_out), options)
    curve = task.over_neighbors(fitting)
    return curve.best, curve.best_score


def labelled_task(
    reference: Any, labels: PartialLabels, metric: Metric, cv: Any, options: Options
) -> Task:
    """What can be asked about the labelled samples alone; all of it was checked before."""
    samples = Samples(len(labels.rows), labels.classes, labels.codes)
    return Task(
        Neighbors(reference, metric, options),
        labels.classes[labels.codes],
        samples,
        resolve_cv(cv, samples),
        VoteSettings(1, metric, regression=False, weights=None),
        Scoring("accuracy"),
        options,
    )
