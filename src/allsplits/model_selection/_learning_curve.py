"""`learning_curve`: the exact score for every size of the training set."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from allsplits._validation import check_counts, check_flag, check_fraction, shown
from allsplits.exact import Column, solve
from allsplits.exceptions import InvalidInputError, InvalidTypeError
from allsplits.model_selection._curve import Curve
from allsplits.model_selection._setup import Setup, check_options
from allsplits.splits import ClassCounts, Law, SizeLaw

__all__ = ["learning_curve"]

#: Points of the default grid of sizes when k > 1.
_GRID_POINTS = 24


def learning_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    train_sizes: float | Iterable[float] | None = None,
    stratify: bool = False,
    scoring: str | None = None,
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
    """Exact score over all training sets of each size.

    For one neighbour all sizes come from one table; for more neighbours the sizes share the
    neighbour search and the votes.

    Parameters
    ----------
    train_sizes : int, float or iterable of them, default=None
        Numbers of training samples, or fractions of all samples (rounded down). None means every
        size from 1 to n - 1 for one neighbour, and a logarithmic grid from k to n - 1 otherwise.
        With `stratify` they are numbers of samples from each class, or fractions of the smallest
        class; None means every number up to one less than the smallest class.
    stratify : bool, default=False
        Take the same number of training samples ("shots") from each class.
    estimator, X, y and all others :
        As in `evaluate`.

    Returns
    -------
    Curve

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
    setup = Setup.read(estimator, X, y, scoring, options)
    k = setup.scoring.rank or setup.settings.n_neighbors
    voters = k if setup.scoring.rank is None else 1
    if stratify:
        sizes = _read_shots(train_sizes, voters, np.bincount(setup.class_codes()))
        laws: list[Law] = [setup.resolve(ClassCounts(size)) for size in sizes]
    else:
        n = setup.samples.n_samples
        setup.check_neighbors(k, SizeLaw.of_size(n, n - 1))
        sizes = _read_sizes(train_sizes, voters, n)
        laws = [SizeLaw.of_size(n, size) for size in sizes]
    columns = [Column(k, law) for law in laws]
    answer = solve(setup.question(columns, want_samples=False))
    return Curve(
        parameter="shots" if stratify else "train_size",
        x=np.array(sizes),
        scores=answer.scores,
        scoring=setup.scoring.name,
        error_bounds=answer.error_bound,
        fractions=answer.fractions,
        search=answer.search,
        standard_errors=answer.standard_error,
    )


def _read_shots(train_sizes: Any, voters: int, class_sizes: Any) -> list[int]:
    smallest, largest = -(-voters // len(class_sizes)), int(class_sizes.min()) - 1
    if largest < smallest:
        raise InvalidInputError(
            f"stratify=True needs classes of at least {smallest + 1} samples ({voters} voters "
            f"from {len(class_sizes)} classes, one sample left to test); got a class of "
            f"{largest + 1}: drop it or use stratify=False"
        )
    if train_sizes is None:
        return list(range(smallest, largest + 1))
    why = " samples of each class (one of the smallest class must be left to test)"
    counts = _as_counts(train_sizes, largest + 1)
    return check_counts("train_sizes", counts, at_least=smallest, at_most=largest, why=why)


def _read_sizes(train_sizes: Any, smallest: int, n: int) -> list[int]:
    if train_sizes is None:
        if smallest == 1:
            return list(range(1, n))
        grid = np.geomspace(smallest, n - 1, _GRID_POINTS)
        return sorted({round(size) for size in grid})
    counts = _as_counts(train_sizes, n)
    return check_counts(
        "train_sizes", counts, at_least=smallest, at_most=n - 1, why=f" of {n} samples"
    )


def _as_counts(train_sizes: Any, whole: int) -> list[Any]:
    """One size or several; fractions of the whole become numbers, rounded down."""
    if isinstance(train_sizes, Real):
        train_sizes = [train_sizes]
    if isinstance(train_sizes, (str, bytes)) or not isinstance(train_sizes, Iterable):
        raise InvalidTypeError(
            f"train_sizes must be a size, a list of sizes or None; got {shown(train_sizes)}"
        )
    return [
        size if isinstance(size, Integral) else int(check_fraction("train_sizes", size) * whole)
        for size in train_sizes
    ]
