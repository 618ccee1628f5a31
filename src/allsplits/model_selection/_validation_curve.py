"""`validation_curve`: every number of neighbours in one pass over the data."""

from collections.abc import Iterable
from typing import Any, Literal

from allsplits._validation import check_counts, shown
from allsplits.exceptions import InvalidInputError
from allsplits.model_selection._curve import Curve
from allsplits.model_selection._options import check_options
from allsplits.model_selection._task import Given, Task

_DEFAULT = range(1, 51)


def validation_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_neighbors: Iterable[int] = _DEFAULT,
    param_name: str = "n_neighbors",
    param_range: Iterable[int] | None = None,
    cv: Any = None,
    scoring: Any = None,
    groups: Any = None,
    X_test: Any = None,
    y_test: Any = None,
    distance_ties: Literal["average", "index"] = "average",
    label_ties: Literal["first", "share"] = "first",
    exact: bool = False,
    tol: float = 1e-15,
    vote_tol: float = 1e-4,
    max_states: int = 1 << 17,
    allow_sampling: bool = False,
    backend: str = "auto",
    n_jobs: int | None = None,
    progress: bool = False,
) -> Curve:
    """Exact score over all splits for every number of neighbours, from one neighbour search.

    Parameters
    ----------
    n_neighbors : iterable of int, default=range(1, 51)
        The numbers of neighbours; they replace the estimator's own.
    param_name, param_range :
        scikit-learn's way to say the same: ``param_name="n_neighbors"``, the only parameter that
        varies here, and its values in place of `n_neighbors`.
    estimator, X, y, cv and all others :
        As in `evaluate`; recall@R does not depend on n_neighbors and is refused. Of several
        scores the first is that of the curve, ``curve[name]`` is the curve of another.

    Returns
    -------
    Curve
        ``curve.best`` is the best number of neighbours.

    Examples
    --------
    >>> from allsplits import validation_curve
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import KFold
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> validation_curve(KNeighborsClassifier(), X, y, n_neighbors=range(1, 31), cv=KFold(5))
    Curve(accuracy for n_neighbors = 1 … 30: best 0.96... ± ... at ...)
    """
    options = check_options(
        distance_ties=distance_ties, label_ties=label_ties, exact=exact, tol=tol, vote_tol=vote_tol,
        max_states=max_states, allow_sampling=allow_sampling, backend=backend, n_jobs=n_jobs,
        progress=progress,
    )  # fmt: skip
    given = Given(X, y, cv, scoring, groups, X_test, y_test)
    task = Task.read(estimator, given, options, every_score=True)
    return task.over_neighbors(_read_values(n_neighbors, param_name, param_range))


def _read_values(n_neighbors: Any, param_name: Any, param_range: Any) -> list[int]:
    if not isinstance(param_name, str) or param_name != "n_neighbors":
        raise InvalidInputError(
            "param_name must be 'n_neighbors', of which all values come from one search; got "
            f"{shown(param_name)}: for another parameter call evaluate for each of its values"
        )
    if param_range is None:
        return check_counts("n_neighbors", n_neighbors)
    if n_neighbors is not _DEFAULT:
        raise InvalidInputError("n_neighbors and param_range say the same: pass one of them")
    return check_counts("param_range", param_range)
