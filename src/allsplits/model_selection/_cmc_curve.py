"""`cmc_curve`: recall at every rank, the curve of retrieval and re-identification."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from sklearn.neighbors import KNeighborsClassifier

from allsplits.model_selection._curve import Curve
from allsplits.model_selection._galleries import Cameras, Excluded, read_ranks, without_cameras
from allsplits.model_selection._options import check_options
from allsplits.model_selection._task import Given, Task
from allsplits.splits import ClassCounts


def cmc_curve(
    X: Any,
    y: Any,
    *,
    ranks: int | Iterable[int] | None = None,
    cv: Any = ClassCounts(1),  # noqa: B008 - immutable
    groups: Any = None,
    exclude: Excluded | None = None,
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
        Cameras (or sessions) of the samples, for the exclusion below. Every sample that has a
        candidate of its class left is a query, and all queries count alike. ClassCounts draws from
        what is left; other laws draw from all, and what is excluded is passed over.
    exclude : {"identity", "group"} or None, default=None
        What a query must not meet: items of its own class from its own group (None; as in
        Market-1501 and CUHK03), or all items from its own group (queries from one camera, gallery
        from the others, as in VIPeR).
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
    estimator = KNeighborsClassifier(metric=metric, p=p, metric_params=metric_params)
    given = Given(X, y, cv, "recall@1", groups, X_test, y_test)
    task = Task.read(estimator, given, options)
    task = without_cameras(task, cv, Cameras(groups, groups_test, exclude))
    return task.over_ranks(read_ranks(ranks, task.law.smallest_training_set))
