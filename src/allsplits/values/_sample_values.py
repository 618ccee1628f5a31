"""`sample_values`: what each sample is worth as a neighbour of all others."""

from typing import Any, Literal

import numpy as np
from sklearn.model_selection import LeaveOneOut

from allsplits._validation import check_choice, check_points, check_targets
from allsplits.exact import Neighbors
from allsplits.exact.influence.asked import Asked
from allsplits.exact.influence.outside import OutsideNeighbors
from allsplits.exact.influence.solve import check_asked
from allsplits.exceptions import InvalidInputError
from allsplits.model_selection._options import check_options
from allsplits.model_selection._task import Task
from allsplits.splits import BernoulliLaw
from allsplits.values._result import SampleValues
from allsplits.values._source import Source

METHODS = ("influence", "shapley", "banzhaf", "soft_shapley")
#: What the methods that need no cv average over.
_SETS = {
    "shapley": "sets of all sizes alike",
    "banzhaf": "all sets of samples alike",
    "soft_shapley": "soft votes of sets of all sizes alike",
}


def sample_values(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    method: Literal["influence", "shapley", "banzhaf", "soft_shapley"] = "influence",
    scoring: str | None = None,
    groups: Any = None,
    X_test: Any = None,
    y_test: Any = None,
    distance_ties: Literal["average", "index"] = "average",
    label_ties: Literal["first", "share"] = "first",
    exact: bool = False,
    tol: float = 1e-15,
    backend: str = "auto",
    n_jobs: int | None = None,
    progress: bool = False,
) -> SampleValues:
    """Doc."""
    check_choice("method", method, METHODS)
    options = check_options(
        distance_ties=distance_ties, label_ties=label_ties, exact=exact, tol=tol, backend=backend,
        n_jobs=n_jobs, progress=progress,
    )  # fmt: skip
    if method != "influence" and cv is not None:
        raise InvalidInputError(
            f"cv must be None with method={method!r}, which averages over {_SETS[method]}; got {cv}"
        )
    law = LeaveOneOut() if method != "influence" else cv
    task = Task.read(estimator, X, y, options, cv=law, scoring=scoring, groups=groups)
    neighbors, tests = _read_tests(task, X_test, y_test)
    asked = Asked(task.question(), method, tests)
    check_asked(asked)
    source = Source(neighbors, asked)
    answer = source.values()
    k = task.n_neighbors
    law = task.law.given(k) if isinstance(task.law, BernoulliLaw) else task.law
    return SampleValues(
        values=answer.scores,
        method=method,
        scoring=task.scoring.name,
        n_neighbors=k,
        error_bound=float(answer.error_bound.max()),
        y=task.y,
        law=_SETS[method] if method != "influence" else str(law),
        fractions=answer.fractions,
        search=answer.search,
        row_names=task.row_names,
        source=source,
    )


def _read_tests(task: Task, X_test: Any, y_test: Any) -> tuple[Neighbors, Any]:
    """Whose neighbours are asked for, and the classes or targets of questions from outside."""
    if X_test is None and y_test is None:
        return task.neighbors, None
    if X_test is None or y_test is None:
        given, missing = ("y_test", "X_test") if X_test is None else ("X_test", "y_test")
        raise InvalidInputError(f"{missing} must be given with {given}; got None")
    points, metric = task.points, task.neighbors.metric
    if points is None:
        raise InvalidInputError(
            "X must be an array for questions from outside (X_test); got neighbours that were "
            "searched already"
        )
    if metric.precomputed:
        raise InvalidInputError("X_test must be None with metric='precomputed'; got points")
    queries = check_points(X_test, name="X_test", at_least=1, allow_nan=metric.allows_nan)
    if queries.shape[1] != points.shape[1]:
        raise InvalidInputError(
            f"X_test must have {points.shape[1]} features as X has; got {queries.shape[1]}"
        )
    outside = OutsideNeighbors(points, queries, metric, task.options)
    if task.samples.classes is None:
        return outside, check_targets(y_test, len(queries))
    labels = np.asarray(y_test)
    codes = np.searchsorted(task.samples.classes, labels).clip(max=len(task.samples.classes) - 1)
    unknown = task.samples.classes[codes] != labels
    if len(labels) != len(queries) or unknown.any():
        raise InvalidInputError("y_test must hold a class of y for each row of X_test")
    return outside, codes.astype(np.int32)
