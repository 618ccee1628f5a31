"""`sample_values`: what each sample is worth as a neighbour of all others."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from sklearn.model_selection import LeaveOneOut

from allsplits._tensors import to_array
from allsplits._threads import thread_count
from allsplits._validation import check_choice, shown
from allsplits.exact.influence.asked import Asked
from allsplits.exact.influence.solve import check_asked, influences
from allsplits.exact.struck_votes import or_majority
from allsplits.exceptions import AllSplitsError, InvalidInputError
from allsplits.model_selection._options import check_options
from allsplits.model_selection._task import Given, Task
from allsplits.orders import NeighborOrder
from allsplits.splits import BernoulliLaw, GroupLaw, resolve_cv
from allsplits.values._questions import Samples
from allsplits.values._result import SampleValues
from allsplits.values._source import Source

METHODS = ("influence", "shapley", "banzhaf", "soft_shapley")
#: What cv=None means: with all samples in training nobody's influence would show.
_DEFAULT_FOLDS = 5
#: Seconds that values beside something else may take.
_IN_PASSING = 20.0
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
    """Value every sample by what it does, as a neighbour, for all the others.

    No validation set is needed: each sample is a question that the others answer. A sample is worth
    the sum, over the questions, of what it does for the chance of a right answer; each question
    counts what it counts in the score, and nobody teaches itself. All values are exact averages
    over every training set.

    Parameters
    ----------
    estimator : KNeighborsClassifier or KNeighborsRegressor
        scikit-learn's own estimator. It is not fitted. With other weights than "uniform" every list
        of neighbours is valued, within bounds (`error_bound`); Shapley's method for few samples.
    X, y :
        As in `evaluate`.
    cv : law, scikit-learn splitter, int or None, default=None
        For "influence": the training sets that are averaged over, as in `evaluate`; it must leave
        out others beside the sample that is tested. With LeavePGroupsOut and GroupShuffleSplit
        whole groups are valued. None for the other methods.
    method : {"influence", "shapley", "banzhaf", "soft_shapley"}, default="influence"
        "influence": P(right | the sample is in training) - P(right | it is not), under `cv`.
        "banzhaf": what adding the sample to a set of others changes, all sets alike. "shapley": the
        same, all sizes of sets alike; values add up to the leave-one-out score (minus that of
        nobody: 0, or that of the mean for targets). It needs all neighbours of all samples.
        "soft_shapley": Shapley's value of the share of right votes instead of the vote (Jia et al.
        2019, known as KNN-Shapley).
    scoring : str, default=None
        "accuracy", "balanced_accuracy", "recall@R" or "neg_mean_squared_error", as in `evaluate`.
    groups : array-like of shape (n_samples,), default=None
        For the splitters that need groups.
    X_test, y_test : array-like, default=None
        Other questions than the samples: points and their labels or targets. Nobody is held out
        then, and `cv` draws from all samples.
    distance_ties, label_ties, exact, tol, backend, n_jobs, progress :
        As in `evaluate`.

    Returns
    -------
    SampleValues
        Values, the worst and best samples, and who does what for whom.

    Examples
    --------
    >>> from allsplits import sample_values
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> values = sample_values(KNeighborsClassifier(5), X, y, method="shapley")
    >>> values.worst(3)
    array([83, 72, 70])
    >>> round(float(values.values.sum()), 6)  # the leave-one-out accuracy
    0.966667
    """
    check_choice("method", method, METHODS)
    options = check_options(
        distance_ties=distance_ties, label_ties=label_ties, exact=exact, tol=tol, backend=backend,
        n_jobs=n_jobs, progress=progress,
    )  # fmt: skip
    if method != "influence" and cv is not None:
        raise InvalidInputError(
            f"cv must be None with method={method!r}, which averages over {_SETS[method]}; got "
            f"{shown(cv)}"
        )
    law = LeaveOneOut() if method != "influence" else cv
    if law is None and X_test is not None:
        law = _DEFAULT_FOLDS
    given = Given(X, y, law, scoring, groups, X_test, y_test)
    task = Task.read(estimator, given, options)
    asked = Asked(or_majority(task.question()), method)
    check_asked(asked)
    return _result(task, Source(task.neighbors, asked, Samples.of(task)), groups)


def value_in_passing(task: Task) -> SampleValues | None:
    """Banzhaf's values of a task's samples; None where they cannot be had, or take long."""
    found = _in_passing(task)
    if found is None:
        return None
    alone, asked = found
    needed, X = influences(asked), task.neighbors.X
    seconds = needed.seconds + task.neighbors.seconds(needed.depth)
    known = X.depth if isinstance(X, NeighborOrder) else asked.n_candidates
    if seconds > _IN_PASSING * thread_count(task.options.n_jobs) or known < needed.depth:
        return None
    return _result(alone, Source(task.neighbors, asked, Samples.of(alone)), None)


def depth_in_passing(task: Task) -> int:
    """How deep `value_in_passing` looks."""
    found = _in_passing(task)
    return 0 if found is None else influences(found[1]).depth


def _in_passing(task: Task) -> tuple[Task, Asked] | None:
    # Weighted votes are counted one by one: nobody waits for that in passing.
    plain = task.settings.weights is None and task.settings.radius is None
    if task.test_set is not None or not plain:
        return None
    samples = task.samples
    if task.settings.regression:
        # Strata are for laws that draw from them.
        samples = replace(samples, classes=None, codes=None)
    alone = replace(
        task,
        samples=samples,
        law=resolve_cv(LeaveOneOut(), samples),
        options=replace(task.options, exact=False, progress=False),
    )
    try:
        asked = Asked(or_majority(alone.question()), "banzhaf")
        check_asked(asked)
    except AllSplitsError:
        return None
    return alone, asked


def _result(task: Task, source: Source, groups: Any) -> SampleValues:
    answer, method, k = source.values(), source.asked.method, task.n_neighbors
    law = task.law.given(k) if isinstance(task.law, BernoulliLaw) else task.law
    of_groups = isinstance(law, GroupLaw)
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
        groups=np.unique(np.asarray(to_array(groups, "groups"))) if of_groups else None,
        source=source,
    )
