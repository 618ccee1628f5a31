"""Nearest-neighbour estimators that choose their own parameters, as RidgeCV does for ridge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.utils.validation import check_is_fitted, validate_data

from allsplits._validation import check_counts, keep_fitting
from allsplits.exceptions import InvalidInputError
from allsplits.model_selection._curve import Curve
from allsplits.model_selection._setup import Setup, check_options
from allsplits.model_selection._validation_curve import curve_over_neighbors

__all__ = ["KNeighborsClassifierCV", "KNeighborsRegressorCV"]


class _NeighborsCV(BaseEstimator):  # type: ignore[misc]
    """What both estimators share: candidates, the choice, and the chosen estimator."""

    _Estimator: ClassVar[type]

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Choose the parameters by exact scores over all splits and keep the training data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,)
            Labels or targets.
        groups : array-like of shape (n_samples,), default=None
            Groups, for laws that keep groups together.
        """
        numeric = issubclass(self._Estimator, KNeighborsRegressor)
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2, y_numeric=numeric)
        options = check_options(
            distance_ties=self.distance_ties,
            label_ties=getattr(self, "label_ties", "first"),
            vote_tol=self.vote_tol,
            max_states=self.max_states,
            n_jobs=self.n_jobs,
        )
        pairs = list(product(_several("weights", self.weights), _several("metric", self.metric)))
        setups = {
            pair: Setup.read(self._estimator(1, *pair), X, y, self.scoring, options, groups)
            for pair in pairs
        }
        law = setups[pairs[0]].resolve(self.cv)
        ks = self._fitting_candidates(law)
        self.curves_ = {
            pair: curve_over_neighbors(setup, law, ks) for pair, setup in setups.items()
        }
        chosen = max(pairs, key=lambda pair: self.curves_[pair].best_score)
        self.curve_: Curve = self.curves_[chosen]
        self.best_score_ = self.curve_.best_score
        self.best_params_ = {
            "n_neighbors": self.curve_.best, "weights": chosen[0], "metric": chosen[1]
        }  # fmt: skip
        self.best_estimator_ = self._estimator(self.curve_.best, *chosen).fit(X, y)
        return self

    def _estimator(self, k: int, weights: Any, metric: Any) -> Any:
        return self._Estimator(
            k, weights=weights, metric=metric, p=self.p, metric_params=self.metric_params,
            n_jobs=self.n_jobs,
        )  # fmt: skip

    def _fitting_candidates(self, law: Any) -> list[int]:
        ks = check_counts("n_neighbors", self.n_neighbors)
        what = f"the size of the smallest training set ({law})"
        return keep_fitting("n_neighbors", ks, law.smallest_training_set, what)

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels or targets of new samples."""
        values: NDArray[Any] = self._fitted().predict(self._new(X))
        return values

    def kneighbors(
        self, X: Any, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Neighbours of new samples among the training samples."""
        return self._fitted().kneighbors(self._new(X), n_neighbors, return_distance)

    def _fitted(self) -> Any:
        check_is_fitted(self)
        return self.best_estimator_

    def _new(self, X: Any) -> NDArray[np.float64]:
        points: NDArray[np.float64] = validate_data(self, X, dtype=np.float64, reset=False)
        return points


class KNeighborsClassifierCV(ClassifierMixin, _NeighborsCV):  # type: ignore[misc]
    """k-nearest-neighbour classifier that chooses k, weights and metric over all splits.

    Every candidate is judged by its exact average over all splits, all numbers of neighbours from
    one neighbour search, so the choice does not depend on a random state.

    Parameters
    ----------
    n_neighbors : int or iterable of int, default=(1, 2, …, 50)
        Candidates for the number of neighbours. Those larger than the smallest training set are
        left out with a warning.
    weights : str, callable or sequence, default=("uniform",)
        Candidates for the weights: "uniform", "distance" or functions of the distance. The last two
        need a law of fixed size, for example ``cv=KFold(5)``.
    metric : str, callable or sequence, default=("minkowski",)
        Candidates for the metric.
    p : float, default=2
        Power of the Minkowski metric.
    metric_params : dict, default=None
        Further parameters of the metrics.
    cv, scoring, distance_ties, label_ties, vote_tol, max_states, n_jobs :
        As in `evaluate`.

    Attributes
    ----------
    best_params_ : dict
        The chosen n_neighbors, weights and metric.
    best_score_ : float
        Their exact score.
    curve_ : Curve
        Exact scores of all numbers of neighbours, for the chosen weights and metric.
    curves_ : dict
        All curves, by (weights, metric).
    best_estimator_ : KNeighborsClassifier
        The chosen classifier, fitted on all samples.
    classes_ : ndarray
        The class labels.
    n_features_in_ : int
        Number of features seen in `fit`.

    Examples
    --------
    >>> from allsplits import KNeighborsClassifierCV
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KNeighborsClassifierCV(range(1, 31), metric=("euclidean", "manhattan")).fit(X, y)
    >>> model.best_params_
    {'n_neighbors': ..., 'weights': 'uniform', 'metric': ...}
    """

    _Estimator = KNeighborsClassifier

    def __init__(
        self,
        n_neighbors: int | Iterable[int] = tuple(range(1, 51)),
        *,
        weights: Any = ("uniform",),
        metric: str | Callable[..., float] | Sequence[Any] = ("minkowski",),
        p: float = 2,
        metric_params: Mapping[str, Any] | None = None,
        cv: Any = None,
        scoring: str | None = None,
        distance_ties: Literal["average", "index"] = "average",
        label_ties: Literal["first", "share"] = "first",
        vote_tol: float = 1e-4,
        max_states: int = 1 << 17,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.cv = cv
        self.scoring = scoring
        self.distance_ties = distance_ties
        self.label_ties = label_ties
        self.vote_tol = vote_tol
        self.max_states = max_states
        self.n_jobs = n_jobs

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels."""
        classes: NDArray[Any] = self.best_estimator_.classes_
        return classes

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Shares of the votes of new samples."""
        shares: NDArray[np.float64] = self._fitted().predict_proba(self._new(X))
        return shares


class KNeighborsRegressorCV(RegressorMixin, _NeighborsCV):  # type: ignore[misc]
    """k-nearest-neighbour regressor that chooses k, weights and metric over all splits.

    The exact counterpart of a grid search over k: the expected squared error over every split, all
    numbers of neighbours from one neighbour search.

    Parameters
    ----------
    n_neighbors : int or iterable of int, default=(1, 2, …, 50)
        Candidates for the number of neighbours. Those larger than the smallest training set are
        left out with a warning.
    weights : str, callable or sequence, default=("uniform",)
        Candidates for the weights: "uniform", "distance" or functions of the distance. The last two
        need a law of fixed size, for example ``cv=KFold(5)``.
    metric : str, callable or sequence, default=("minkowski",)
        Candidates for the metric.
    p : float, default=2
        Power of the Minkowski metric.
    metric_params : dict, default=None
        Further parameters of the metrics.
    cv, scoring, distance_ties, vote_tol, max_states, n_jobs :
        As in `evaluate`.

    Attributes
    ----------
    best_params_ : dict
        The chosen n_neighbors, weights and metric.
    best_score_ : float
        Their exact score.
    curve_ : Curve
        Exact scores of all numbers of neighbours, for the chosen weights and metric.
    curves_ : dict
        All curves, by (weights, metric).
    best_estimator_ : KNeighborsRegressor
        The chosen regressor, fitted on all samples.
    n_features_in_ : int
        Number of features seen in `fit`.

    Examples
    --------
    >>> from allsplits import KNeighborsRegressorCV
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> KNeighborsRegressorCV().fit(X, y).best_params_
    {'n_neighbors': ..., 'weights': 'uniform', 'metric': 'minkowski'}
    """

    _Estimator = KNeighborsRegressor

    def __init__(
        self,
        n_neighbors: int | Iterable[int] = tuple(range(1, 51)),
        *,
        weights: Any = ("uniform",),
        metric: str | Callable[..., float] | Sequence[Any] = ("minkowski",),
        p: float = 2,
        metric_params: Mapping[str, Any] | None = None,
        cv: Any = None,
        scoring: str | None = None,
        distance_ties: Literal["average", "index"] = "average",
        vote_tol: float = 1e-4,
        max_states: int = 1 << 17,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.cv = cv
        self.scoring = scoring
        self.distance_ties = distance_ties
        self.vote_tol = vote_tol
        self.max_states = max_states
        self.n_jobs = n_jobs


def _several(name: str, candidates: Any) -> list[Any]:
    """One candidate or several."""
    if isinstance(candidates, str) or callable(candidates) or not isinstance(candidates, Iterable):
        return [candidates]
    several = list(candidates)
    if not several:
        raise InvalidInputError(f"{name} must hold at least one candidate; got none")
    return several
