"""`validation_curve`: every number of neighbours in one pass over the data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from allsplits._validation import check_counts, shown
from allsplits.exact import Column, solve
from allsplits.exceptions import InvalidInputError
from allsplits.model_selection._curve import Curve
from allsplits.model_selection._setup import Setup, check_options

__all__ = ["curve_over_neighbors", "validation_curve"]

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
    scoring: str | None = None,
    groups: Any = None,
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
        As in `evaluate`; recall@R does not depend on n_neighbors and is refused.

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
    setup = Setup.read(estimator, X, y, scoring, options, groups)
    law = setup.resolve(cv)
    ks = _read_values(n_neighbors, param_name, param_range)
    setup.check_neighbors(max(ks), law)
    return curve_over_neighbors(setup, law, ks)


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


def curve_over_neighbors(setup: Setup, law: Any, ks: list[int]) -> Curve:
    """The curve once everything is checked."""
    if setup.scoring.rank is not None:
        raise InvalidInputError(
            "scoring must be 'accuracy' or 'balanced_accuracy' here: recall@R does not depend on "
            f"n_neighbors; got {setup.scoring.name!r}"
        )
    answer = solve(setup.question([Column(k, law) for k in ks], want_samples=False))
    return Curve(
        parameter="n_neighbors",
        x=np.array(ks),
        scores=answer.scores,
        scoring=setup.scoring.name,
        error_bounds=answer.error_bound,
        fractions=answer.fractions,
        search=answer.search,
        standard_errors=answer.standard_error,
    )
