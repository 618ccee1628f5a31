"""`cmc_curve`: recall at every rank, the curve of retrieval and re-identification."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from allsplits._validation import check_choice, check_counts, shown
from allsplits.exact import Exclusion
from allsplits.exceptions import InvalidInputError, UnsupportedError
from allsplits.model_selection._curve import Curve
from allsplits.model_selection._options import check_options
from allsplits.model_selection._task import Task
from allsplits.model_selection._test_set import with_test_groups
from allsplits.splits import ClassCounts, CountsLaw


def cmc_curve(
    X: Any,
    y: Any,
    *,
    ranks: int | Iterable[int] | None = None,
    cv: Any = ClassCounts(1),  # noqa: B008 - immutable
    groups: Any = None,
    exclude: Literal["identity", "group"] = "identity",
    X_test: Any = None,
    y_test: Any = None,
    groups_test: Any = None,
    metric: str | Callable[..., float] = "minkowski",
    p: float = 2,
    metric_params: Mapping[str, Any] | None = None,
    distance_ties: Literal["average", "index"] = "average",
    exact: bool = False,
    tol: float = 1e-15,
    backend: str = "auto",
    n_jobs: int | None = None,
    progress: bool = False,
) -> Curve:
    """Exact cumulative match curve: recall@R over all galleries, for all ranks R at once.

    A query is right at rank R if one of its R nearest gallery items has its class. The default
    gallery holds one random item of each class ("single gallery shot"); where benchmarks average
    ten random galleries, this is the average over all of them.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
        The samples (a distance matrix with ``metric="precomputed"``, or a NeighborOrder).
    y : array-like of shape (n_samples,)
        Identities.
    ranks : int or iterable of int, default=None
        The ranks R; None means 1 to 50, or to the size of the gallery if that is smaller.
    cv : law or splitter, default=ClassCounts(1)
        What the galleries are: the training sets of `evaluate`.
    groups : array-like of shape (n_samples,), default=None
        Cameras (or sessions) of the samples, for the exclusion below; needs ClassCounts. Every
        sample that has a candidate of its class left is a query, and all queries count alike.
    exclude : {"identity", "group"}, default="identity"
        What a query must not meet: items of its own class from its own group (as in Market-1501
        and CUHK03), or all items from its own group (queries from one camera, gallery from the
        others, as in VIPeR).
    X_test, y_test : array-like, default=None
        Queries that are not in the gallery, and their identities: X and y are then what galleries
        are drawn from, and nobody is held out. Queries of an identity that X does not have are
        counted as wrong, with a warning.
    groups_test : array-like of shape (n_test,), default=None
        Cameras of these queries, with `groups`. A query that has no candidate of its class left is
        not counted then.
    metric, p, metric_params :
        As in scikit-learn's KNeighborsClassifier.
    distance_ties, exact, tol, backend, n_jobs, progress :
        As in `evaluate`.

    Returns
    -------
    Curve
        The recall at each rank.

    Examples
    --------
    >>> from allsplits import cmc_curve
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> cmc_curve(X[:300], y[:300], ranks=range(1, 6)).scores.round(3)
    array([0.766, 0.859, 0.902, 0.931, 0.951])
    """
    options = check_options(
        distance_ties=distance_ties, exact=exact, tol=tol, backend=backend, n_jobs=n_jobs,
        progress=progress,
    )  # fmt: skip
    check_choice("exclude", exclude, ("identity", "group"))
    estimator = KNeighborsClassifier(metric=metric, p=p, metric_params=metric_params)
    task = Task.read(
        estimator, X, y, options, cv=cv, scoring="recall@1", groups=groups, X_test=X_test,
        y_test=y_test,
    )  # fmt: skip
    rank_list = _read_ranks(ranks, task.law.smallest_training_set)
    if groups is None and groups_test is None:
        return task.over_ranks(rank_list)
    if not isinstance(task.law, CountsLaw):
        raise UnsupportedError(
            f"groups need a gallery with fixed class counts, cv=ClassCounts(...); got {shown(cv)}"
        )
    return task.over_ranks(rank_list, _exclusion(task, groups, groups_test, exclude))


def _read_ranks(ranks: Any, gallery: int) -> list[int]:
    if ranks is None:
        return list(range(1, min(50, gallery) + 1))
    return check_counts("ranks", ranks, at_least=1, at_most=np.iinfo(np.int64).max)


def _exclusion(task: Task, groups: Any, groups_test: Any, exclude: str) -> Exclusion:
    """What queries must not meet; some query must have a candidate of its class left."""
    question = task.question()
    numbers, codes = task.samples.groups, question.codes
    if task.test_set is not None:
        n_test = len(task.test_set.y)
        numbers = with_test_groups(groups, groups_test, task.samples.n_samples, n_test)
    elif groups_test is not None or numbers is None:
        raise InvalidInputError("groups_test must be None without X_test, and groups be given")
    exclusion = Exclusion(numbers, exclude == "identity")
    _, own = exclusion.pools(codes[: question.n_samples], question.n_classes)
    if not np.any(own[numbers, codes][question.asked]):
        raise InvalidInputError(
            f"groups leave no query a candidate of its own class (exclude={exclude!r}): every "
            "class must be seen in at least two groups"
        )
    return exclusion
