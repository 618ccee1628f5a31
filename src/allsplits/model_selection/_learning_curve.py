"""`learning_curve`: the exact score for every size of the training set."""

from collections.abc import Iterable
from typing import Any, Literal

from sklearn.model_selection import LeaveOneOut

from allsplits._validation import check_flag
from allsplits.exceptions import InvalidInputError
from allsplits.model_selection._curve import Curve
from allsplits.model_selection._options import check_options
from allsplits.model_selection._task import Given, Task


def learning_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    train_sizes: float | Iterable[float] | None = None,
    stratify: bool = False,
    scoring: Any = None,
    strata: Any = None,
    X_test: Any = None,
    y_test: Any = None,
    distance_ties: Literal["average", "index"] = "average",
    label_ties: Literal["first", "share"] = "first",
    exact: bool = False,
    tol: float = 1e-15,
    vote_tol: float = 1e-4,
    max_states: int = 1 << 17,
    allow_sampling: bool = False,
    outlier_target: float | None = None,
    backend: str = "auto",
    n_jobs: int | None = None,
    progress: bool = False,
) -> Curve:
    """Exact score over all training sets of each size.

    For one neighbour all sizes come from one table; for more neighbours the sizes share the
    neighbour search and the votes.

    Parameters
    ----------
    train_sizes : int, float or iterable of them, default=None
        Numbers of training samples, or fractions of all samples (rounded down). None means every
        size from 1 to n - 1 for one neighbour, and a logarithmic grid from k to n - 1 otherwise.
        With `stratify` they are numbers of samples from each class, or fractions of the smallest
        class; None means every number up to one less than the smallest class. With a fixed test set
        (`X_test`) nobody is held out: sizes go up to n, and to all of the smallest class.
    stratify : bool, default=False
        Take the same number of training samples ("shots") from each class.
    estimator, X, y and all others :
        As in `evaluate`; of several scores the first is that of the curve, ``curve[name]`` is the
        curve of another.

    Returns
    -------
    Curve
        One score for each size, in ``curve.x`` and ``curve.scores``.

    Examples
    --------
    >>> from allsplits import learning_curve
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> learning_curve(KNeighborsClassifier(1), X, y)
    Curve(accuracy for train_size = 1 … 149: best 0.96... ± ... at ...)
    """
    options = check_options(
        distance_ties=distance_ties, label_ties=label_ties, exact=exact, tol=tol, vote_tol=vote_tol,
        max_states=max_states, allow_sampling=allow_sampling, backend=backend, n_jobs=n_jobs,
        progress=progress,
    )  # fmt: skip
    check_flag("stratify", stratify)
    if strata is not None and not stratify:
        raise InvalidInputError("strata must be None unless stratify=True, which draws from them")
    given = Given(
        X, y, LeaveOneOut(), scoring, X_test=X_test, y_test=y_test,
        outlier_target=outlier_target, strata=strata,
    )  # fmt: skip
    task = Task.read(estimator, given, options, every_score=True, within=True, many_laws=True)
    return task.over_sizes(train_sizes, stratify=stratify)
