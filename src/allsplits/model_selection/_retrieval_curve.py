"""`retrieval_curve`: scores of retrieval at every cut-off, over all galleries."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from sklearn.model_selection import LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier

from allsplits._validation import check_choice
from allsplits.exceptions import InvalidInputError
from allsplits.model_selection._curve import Curve
from allsplits.model_selection._galleries import Cameras, Excluded, read_ranks, without_cameras
from allsplits.model_selection._options import check_options
from allsplits.model_selection._task import Given, Task
from allsplits.splits import FixedSize

#: The scores that have a cut-off.
_WITH_CUT = ("precision@k", "item_recall@k", "ndcg@k", "mrr@k")
#: Those that have none.
_WITHOUT_CUT = ("map", "map@r", "r_precision", "mrr", "ndcg")


def retrieval_curve(
    X: Any,
    y: Any,
    *,
    scoring: str = "precision@k",
    ranks: int | Iterable[int] | None = None,
    cv: Any = None,
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
    """Exact scores of retrieval over all galleries, for all cut-offs at once.

    Gallery items are ranked by their distance from a query; those of its class are relevant. A
    query that has no relevant item in a gallery scores 0 there. Scores without a cut-off ("map",
    "map@r", "r_precision", "mrr", "ndcg") are those of `evaluate`.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
        The samples (a distance matrix with ``metric="precomputed"``, or a NeighborOrder).
    y : array-like of shape (n_samples,)
        Their classes.
    scoring : {"precision@k", "item_recall@k", "ndcg@k", "mrr@k"}, default="precision@k"
        The share of the first k that are relevant; the share of the relevant items that are among
        the first k (recall@R of `cmc_curve` asks whether any is); discounted gains, relevant or
        not; one over the position of the first relevant one, if that is within k.
    ranks : int or iterable of int, default=None
        The cut-offs k; None means 1 to 50, or to the size of the gallery if that is smaller.
    cv : law or splitter, default=None
        What the galleries are: ClassCounts, FixedSize and the splitters that stand for them. None
        is the full gallery, of all other samples (of all of X with `X_test`).
    groups : array-like of shape (n_samples,), default=None
        Cameras (or sessions) of the samples, for the exclusion below. Every sample that has a
        candidate of its class left is a query, and all queries count alike. ClassCounts draws from
        what is left; other laws draw from all, and what is excluded is passed over.
    exclude : {"identity", "group"} or None, default=None
        What a query must not meet, as in `cmc_curve`: items of its own class from its own group
        (None), or all items from its own group.
    X_test, y_test : array-like, default=None
        Queries that are not in the gallery, and their classes: galleries are then drawn from X.
    groups_test : array-like of shape (n_test,), default=None
        Cameras of these queries, with `groups`.
    metric, p, metric_params :
        As in scikit-learn's KNeighborsClassifier.
    distance_ties, exact, tol, backend, n_jobs, progress :
        As in `evaluate`.

    Returns
    -------
    Curve
        The score at each cut-off.

    Examples
    --------
    >>> from allsplits import ClassCounts, retrieval_curve
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> retrieval_curve(X[:300], y[:300], ranks=[1, 5, 10], cv=ClassCounts(10)).scores.round(3)
    array([0.969, 0.885, 0.727])
    """
    options = check_options(
        distance_ties=distance_ties, exact=exact, tol=tol, backend=backend, n_jobs=n_jobs,
        progress=progress,
    )  # fmt: skip
    if scoring in _WITHOUT_CUT:
        raise InvalidInputError(
            f"scoring must be one of {list(_WITH_CUT)}, which have cut-offs (ranks); got "
            f"{scoring!r}: evaluate has it, with groups and exclude as well"
        )
    check_choice("scoring", scoring, _WITH_CUT)
    if cv is None:
        cv = LeaveOneOut() if X_test is None else FixedSize(len(y))
    estimator = KNeighborsClassifier(metric=metric, p=p, metric_params=metric_params)
    given = Given(X, y, cv, scoring.replace("@k", "@1"), groups, X_test, y_test)
    task = Task.read(estimator, given, options, every_score=True)
    task = without_cameras(task, cv, Cameras(groups, groups_test, exclude))
    return task.over_ranks(read_ranks(ranks, task.law.smallest_training_set))
