"""`validation_curve`: every number of neighbours in one pass over the data."""

from collections.abc import Iterable
from typing import Any, Literal

from sklearn.neighbors import RadiusNeighborsClassifier, RadiusNeighborsRegressor

from allsplits._validation import check_counts, check_radii, shown
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
    radius: Iterable[float] | None = None,
    param_name: str | None = None,
    param_range: Iterable[float] | None = None,
    cv: Any = None,
    scoring: Any = None,
    groups: Any = None,
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
    """Exact score over all splits for every number of neighbours, from one neighbour search.

    Parameters
    ----------
    n_neighbors : iterable of int, default=range(1, 51)
        The numbers of neighbours; they replace the estimator's own.
    radius : iterable of float, default=None
        The same for a RadiusNeighborsClassifier or RadiusNeighborsRegressor: the radii.
    param_name, param_range :
        scikit-learn's way to say the same: ``param_name="n_neighbors"`` or ``"radius"``, whichever
        the estimator has, the only parameter that varies here, and its values.
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
    given = Given(X, y, cv, scoring, groups, X_test, y_test, outlier_target, strata)
    values = _read_values(estimator, n_neighbors, radius, param_name, param_range)
    task = Task.read(estimator, given, options, every_score=True, within=True)
    return (
        task.over_radii(values) if task.settings.radius is not None else task.over_neighbors(values)
    )


def _read_values(
    estimator: Any, n_neighbors: Any, radius: Any, param_name: Any, param_range: Any
) -> list[Any]:
    """Numbers of neighbours, or radii, whichever the estimator has."""
    of_radius = isinstance(estimator, (RadiusNeighborsClassifier, RadiusNeighborsRegressor))
    name = "radius" if of_radius else "n_neighbors"
    if param_name is not None and (not isinstance(param_name, str) or param_name != name):
        raise InvalidInputError(
            f"param_name must be {name!r}, of which all values come from one search; got "
            f"{shown(param_name)}: for another parameter call evaluate for each of its values"
        )
    given = {"n_neighbors": None if n_neighbors is _DEFAULT else n_neighbors, "radius": radius}
    other = "n_neighbors" if of_radius else "radius"
    if given[other] is not None:
        raise InvalidInputError(
            f"{other} must not be given for a {type(estimator).__name__}, which has {name}"
        )
    if given[name] is not None and param_range is not None:
        raise InvalidInputError(f"{name} and param_range say the same: pass one of them")
    source = name if param_range is None else "param_range"
    values = given[name] if param_range is None else param_range
    if of_radius:
        if values is None:
            raise InvalidInputError("radius must be given: the radii to try; got None")
        return check_radii(source, values)
    return check_counts(source, _DEFAULT if values is None else values)
