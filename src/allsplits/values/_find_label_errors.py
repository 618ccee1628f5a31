"""`find_label_errors`: labels that their neighbours doubt."""

from typing import Any, Literal

from sklearn.model_selection import LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier

from allsplits._validation import check_groups
from allsplits.exceptions import InvalidInputError
from allsplits.model_selection._options import check_options
from allsplits.model_selection._task import Given, Task
from allsplits.splits import resolve_cv
from allsplits.values._doubt import FEWEST, judge_labels
from allsplits.values._effects import Changes
from allsplits.values._suspects import Suspects


def find_label_errors(
    X: Any,
    y: Any,
    *,
    estimator: Any = None,
    cv: Any = None,
    scoring: str | None = None,
    groups: Any = None,
    distance_ties: Literal["average", "index"] = "average",
    label_ties: Literal["first", "share"] = "first",
    backend: str = "auto",
    n_jobs: int | None = None,
    progress: bool = False,
) -> Suspects:
    """Find labels that look wrong, by the labels of the samples around them.

    Every sample is asked what its nearest neighbours would call it, over all training sets that
    take each sample with probability 1/5, and those to whom it is the nearest are asked what they
    are. Where both agree on another class, the label is doubted. No model is trained and nothing is
    sampled. Planted errors were found best so, of all rules tried and of other packages' (study
    `suspects`).

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features), or NeighborOrder
        The samples; scale features that differ in their units.
    y : array-like of shape (n_samples,)
        The labels, of two classes or more.
    estimator : KNeighborsClassifier, default=None
        Its metric decides who is near (p, metric_params as well); None is the default one. Its
        n_neighbors and weights matter for `Suspects.effects` only.
    cv, scoring :
        For `Suspects.effects`: the splits and the score, as in `evaluate`.
    groups : array-like of shape (n_samples,), default=None
        Samples of one group (a patient, an annotator's batch) have no say about each other.
    distance_ties, label_ties, backend, n_jobs, progress :
        As in `evaluate`.

    Returns
    -------
    Suspects
        Ranked rows with the label that the neighbours give, how many labels are expected to be
        wrong, and what removing or relabelling would do.

    Examples
    --------
    >>> from allsplits import find_label_errors
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> y[[11, 22, 33, 44]] = 0                     # were 1, 2, 5 and 7
    >>> found = find_label_errors(X, y)
    >>> found
    Suspects(6 of 1,797 labels, about 6 expected to be wrong; first: row 11 (0, looks like 1),
    row 22 (0, looks like 2), row 44 (0, looks like 7))
    >>> found.suggested[found.rows[:3]], found.y[found.neighbors(22)]
    (array([1, 2, 7]), array([2, 2, 2, 2, 2]))
    >>> found.effects(1)[["sample", "removed", "relabelled"]].round(6)
       sample   removed  relabelled
    0      11  0.000548    0.000556
    """
    options = check_options(
        distance_ties=distance_ties, label_ties=label_ties, backend=backend, n_jobs=n_jobs,
        progress=progress,
    )  # fmt: skip
    model = KNeighborsClassifier() if estimator is None else estimator
    task = Task.read(model, Given(X, y, LeaveOneOut(), scoring, groups), options)
    samples = task.samples
    if samples.classes is None:
        raise InvalidInputError(
            "estimator must be a KNeighborsClassifier: targets have no label errors; got "
            f"{type(model).__name__}"
        )
    if samples.n_samples < FEWEST:
        raise InvalidInputError(
            f"X must have at least {FEWEST} samples for their labels to be judged; got "
            f"{samples.n_samples}"
        )
    if cv is not None:
        resolve_cv(cv, samples)  # refused now, not when effects are asked for
    members = None if groups is None else check_groups(groups, samples.n_samples)
    found = judge_labels(task, members)
    return Suspects.of(found, task.y, samples.classes, task.row_names, Changes(task, cv))
