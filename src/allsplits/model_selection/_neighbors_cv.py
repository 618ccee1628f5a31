"""Nearest-neighbour estimators that choose their own parameters, as RidgeCV does for ridge."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.validation import check_is_fitted, validate_data

from allsplits._validation import check_counts, check_labels
from allsplits.exceptions import InvalidInputError
from allsplits.model_selection._curve import Curve
from allsplits.model_selection._setup import Setup, check_options
from allsplits.model_selection._validation_curve import curve_over_neighbors
from allsplits.splits import Samples, resolve_cv

__all__ = ["KNeighborsClassifierCV"]


class KNeighborsClassifierCV(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """k-nearest-neighbour classifier that chooses k, weights and metric over all splits.

    Every candidate is judged by its exact average over all splits, all numbers of neighbours from
    one neighbour search, so the choice does not depend on a random state.

    Parameters
    ----------
    n_neighbors : int or iterable of int, default=(1, 2, …, 50)
        Candidates for the number of neighbours. Those larger than the smallest training set are
        left out with a warning.
    weights : str or sequence, default=("uniform",)
        Candidates for the weights.
    metric : str, callable or sequence, default=("minkowski",)
        Candidates for the metric.
    p : float, default=2
        Power of the Minkowski metric.
    metric_params : dict, default=None
        Further parameters of the metrics.
    cv, scoring, distance_ties, label_ties, n_jobs :
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
    >>> from sklearn.model_selection import KFold
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KNeighborsClassifierCV(metric=("euclidean", "manhattan"), cv=KFold(5)).fit(X, y)
    >>> model.best_params_
    {'n_neighbors': ..., 'weights': 'uniform', 'metric': ...}
    """

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
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> KNeighborsClassifierCV:
        """Choose the parameters and keep the training data."""
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        self.classes_, codes = check_labels(y, len(X))
        options = check_options(
            distance_ties=self.distance_ties, label_ties=self.label_ties, n_jobs=self.n_jobs
        )
        law = resolve_cv(self.cv, Samples(len(X), self.classes_, codes))
        ks = self._fitting_candidates(law)
        self.curves_: dict[tuple[Any, Any], Curve] = {}
        for weights, metric in product(_several(self.weights), _several(self.metric)):
            estimator = self._estimator(ks[0], weights, metric)
            setup = Setup.read(estimator, X, y, self.scoring, options)
            self.curves_[weights, metric] = curve_over_neighbors(setup, law, ks)
        weights, metric = max(self.curves_, key=lambda pair: self.curves_[pair].best_score)
        self.curve_ = self.curves_[weights, metric]
        self.best_score_ = self.curve_.best_score
        self.best_params_ = {"n_neighbors": self.curve_.best, "weights": weights, "metric": metric}
        self.best_estimator_ = self._estimator(self.curve_.best, weights, metric).fit(X, y)
        return self

    def _estimator(self, k: int, weights: Any, metric: Any) -> KNeighborsClassifier:
        return KNeighborsClassifier(
            k, weights=weights, metric=metric, p=self.p, metric_params=self.metric_params,
            n_jobs=self.n_jobs,
        )  # fmt: skip

    def _fitting_candidates(self, law: Any) -> list[int]:
        ks = check_counts("n_neighbors", self.n_neighbors)
        most = law.smallest_training_set
        fitting = [k for k in ks if k <= most]
        if not fitting:
            raise InvalidInputError(
                f"n_neighbors must hold a value of at most {most}, the size of the smallest "
                f"training set ({law}); got {ks}"
            )
        if len(fitting) < len(ks):
            warnings.warn(
                f"n_neighbors above {most}, the size of the smallest training set ({law}), are "
                f"left out: {len(fitting)} of {len(ks)} candidates remain",
                UserWarning,
                stacklevel=3,
            )
        return fitting

    def predict(self, X: Any) -> NDArray[Any]:
        """Class labels of new samples."""
        labels: NDArray[Any] = self._fitted().predict(self._new(X))
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Shares of the votes of new samples."""
        shares: NDArray[np.float64] = self._fitted().predict_proba(self._new(X))
        return shares

    def kneighbors(
        self, X: Any, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Neighbours of new samples among the training samples."""
        return self._fitted().kneighbors(self._new(X), n_neighbors, return_distance)

    def _fitted(self) -> KNeighborsClassifier:
        check_is_fitted(self)
        return self.best_estimator_

    def _new(self, X: Any) -> NDArray[np.float64]:
        points: NDArray[np.float64] = validate_data(self, X, dtype=np.float64, reset=False)
        return points


def _several(candidates: Any) -> list[Any]:
    """One candidate or several."""
    if isinstance(candidates, str) or callable(candidates) or not isinstance(candidates, Iterable):
        return [candidates]
    several = list(candidates)
    if not several:
        raise InvalidInputError("weights and metric must hold at least one candidate; got none")
    return several
