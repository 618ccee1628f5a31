"""Nearest-neighbour estimators that choose their own parameters, as RidgeCV does for ridge."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY
from itertools import product
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from allsplits._constructor import stores_parameters
from allsplits._tensors import is_tensor
from allsplits._threads import thread_count
from allsplits._validation import (
    check_count,
    check_counts,
    check_flag,
    check_numbers,
    check_same_columns,
    check_same_rows,
    check_unmasked,
    shown,
    validate_samples,
)
from allsplits.exact import Options, Voters
from allsplits.exceptions import InvalidInputError, InvalidTypeError
from allsplits.model_selection._choice import choose_best, ranks
from allsplits.model_selection._curve import Curve
from allsplits.model_selection._estimator import read_estimator
from allsplits.model_selection._nested import NestedScore, Outer, nested_score
from allsplits.model_selection._options import check_options
from allsplits.model_selection._task import Given, Task
from allsplits.orders import Reference, as_given, read_new, read_samples


@stores_parameters
class _NeighborsCV(BaseEstimator):  # type: ignore[misc]
    """What both estimators share: candidates, the choice, and the chosen estimator."""

    _Estimator: ClassVar[type]

    n_neighbors: int | Iterable[int] = tuple(range(1, 51))
    _: KW_ONLY
    weights: Any = ("uniform",)
    metric: str | Callable[..., float] | Sequence[Any] = ("minkowski",)
    p: float = 2
    metric_params: Mapping[str, Any] | None = None
    cv: Any = None
    scoring: Any = None
    distance_ties: Literal["average", "index"] = "average"
    vote_tol: float = 1e-4
    max_states: int = 1 << 17
    n_jobs: int | None = None

    def fit(
        self, X: Any, y: Any, groups: Any = None, *, X_test: Any = None, y_test: Any = None,
        strata: Any = None,
    ) -> Self:  # fmt: skip
        """Choose the parameters by exact scores over all splits and keep the training data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,)
            Labels or targets.
        groups : array-like of shape (n_samples,), default=None
            Groups, for laws that keep groups together.
        X_test, y_test : array-like, default=None
            A fixed test set (a validation set) to choose by: `cv` says which of the training
            samples answer it, all of them if it is None. They belong to the data, as `groups` do,
            so they are given to `fit`.
        strata : array-like of shape (n_samples,), default=None
            Regressors only: what stratified folds and ClassCounts draw from, as in `evaluate`.
        """
        self._check_given(X, y, groups)
        check_same_columns(X=X, X_test=X_test)
        numeric = issubclass(self._Estimator, KNeighborsRegressor)
        given = Given(X, y, self.cv, self.scoring, groups, X_test, y_test, strata=strata)
        try:
            X, y = validate_samples(self, X, y, ensure_min_samples=2, y_numeric=numeric)
        except OverflowError as error:
            raise InvalidInputError(
                f"X and y must hold numbers of float64; got: {error}"
            ) from error
        options = self._options()
        weights, metrics = _several("weights", self.weights), _several("metric", self.metric)
        # What scikit-learn makes of y no longer shows what was wrong with it; a tensor is searched
        # where it lies.
        given = given if is_tensor(given.X) else given._replace(X=X)
        tasks = {
            metric: Task.read(
                self._estimator(1, weights[0], metric), given, options, every_score=True
            )
            for metric in metrics
        }
        ks = tasks[metrics[0]].fitting(check_counts("n_neighbors", self.n_neighbors))
        curves: dict[tuple[Any, Any], Curve] = {}
        for metric in list(tasks):
            # Orders that were kept go with their task.
            of_metric = tasks.pop(metric).choices(ks, weights)
            curves.update(zip(product(weights, [metric]), of_metric, strict=True))
        pairs = list(product(weights, metrics))
        self.curves_ = {pair: curves[pair] for pair in pairs}
        self._choose(ks, pairs)
        chosen = self._estimator(**self.best_params_)
        settings = read_estimator(chosen)
        points = read_samples(X, settings.metric) if issparse(X) else X
        self.best_estimator_ = chosen.fit(as_given(points), y)
        metric = settings.metric.fixed_by_sample(points)
        reference = Reference(points, metric, thread_count(self.n_jobs))
        self._voters = Voters(reference, settings.n_neighbors, settings.weights)
        self._read_targets(y)
        return self

    def nested_score(
        self, X: Any, y: Any, *, cv: Any = None, groups: Any = None, strata: Any = None,
        n_splits: int = 20, random_state: int = 0, progress: bool = False,
    ) -> NestedScore:  # fmt: skip
        """What choosing like this scores on samples that took no part in the choice.

        Outer splits are drawn; on the training samples of each the candidates are judged by their
        exact averages, and the chosen one is tested on the others. `best_score_` is the best of
        many and a little too good: `optimism` says by how much. Sampled, with its standard error.

        Parameters
        ----------
        X, y :
            As in `fit`.
        cv : law, splitter, int or None, default=None
            The law of the outer splits, as in `evaluate`; None is the estimator's own. Of folds,
            whole runs are drawn, as far as `n_splits` goes.
        groups, strata : array-like of shape (n_samples,), default=None
            As in `fit`.
        n_splits : int, default=20
            Outer splits to draw; each costs a `fit`.
        random_state : int, default=0
            Seed of these.
        progress : bool, default=False
            Show a progress bar.

        Returns
        -------
        NestedScore
            `mean`, `standard_error`, `optimism`, and `frame()`: how often what was chosen.

        Examples
        --------
        >>> from allsplits import KNeighborsClassifierCV
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> KNeighborsClassifierCV(range(1, 16)).nested_score(X, y)
        NestedScore(accuracy=0.9... ± ... SAMPLED from 20 outer splits; the best score 0.9... is too
        good by ... ± ...; n_neighbors chosen most often: ...; every training set with 40 samples
        of each of 3 classes)
        """
        check_count("n_splits", n_splits, at_least=2)
        check_count("random_state", random_state, at_least=0)
        check_flag("progress", progress)
        self._check_given(X, y, groups)
        options, law = self._options(), self.cv if cv is None else cv

        def task_of(params: dict[str, Any]) -> Task:
            given = Given(X, y, law, self.scoring, groups, strata=strata)
            return Task.read(self._estimator(**params), given, options)

        # Not every sparse format has rows to choose.
        outer = Outer(X.tocsr() if issparse(X) else X, y, groups, strata, task_of)
        return nested_score(self, outer, n_splits=n_splits, seed=random_state, progress=progress)

    def _options(self) -> Options:
        return check_options(
            distance_ties=self.distance_ties,
            label_ties=getattr(self, "label_ties", "first"),
            vote_tol=self.vote_tol,
            max_states=self.max_states,
            allow_sampling=getattr(self, "allow_sampling", False),
            n_jobs=self.n_jobs,
        )

    def _check_given(self, X: Any, y: Any, groups: Any) -> None:
        """What scikit-learn's own checks let pass."""
        if isinstance(self.p, Iterable):
            raise InvalidTypeError(
                f"p must be one number; got {shown(self.p)}. Several powers are candidates for the "
                "metric: metric=('manhattan', 'euclidean', 'chebyshev') is p = 1, 2 and infinity"
            )
        check_same_rows(X=X, y=y, groups=groups)
        check_numbers("X", X)
        check_unmasked("y", y)

    def _choose(self, ks: list[int], pairs: list[tuple[Any, Any]]) -> None:
        """Compare all candidates, ordered by k, then weights, then metric, each as given."""
        curves = [self.curves_[pair] for pair in pairs]
        scores = np.column_stack([curve.scores for curve in curves]).ravel()
        bounds = np.column_stack([curve.error_bounds for curve in curves]).ravel()
        noise = np.column_stack([curve.standard_errors for curve in curves]).ravel()
        params = [
            {"n_neighbors": k, "weights": weights, "metric": metric}
            for k, (weights, metric) in product(ks, pairs)
        ]
        self.best_index_, could_be_best = choose_best(scores, bounds + 2 * noise)
        self.best_params_ = params[self.best_index_]
        self.best_score_ = float(scores[self.best_index_])
        self.curve_: Curve = curves[self.best_index_ % len(pairs)]
        self.cv_results_ = {
            "params": params,
            **{f"param_{name}": [each[name] for each in params] for name in self.best_params_},
            "mean_test_score": scores,
            "rank_test_score": ranks(scores, bounds + 2 * noise),
            "error_bound": bounds,
            "standard_error": noise,
            "could_be_best": could_be_best,
        }
        for name in curves[0].names if curves[0].others else ():
            values = np.column_stack([curve[name].scores for curve in curves]).ravel()
            self.cv_results_[f"mean_test_{name}"] = values

    def _estimator(self, n_neighbors: int, weights: Any, metric: Any) -> Any:
        return self._Estimator(
            n_neighbors, weights=weights, metric=metric, p=self.p, metric_params=self.metric_params,
            n_jobs=self.n_jobs,
        )  # fmt: skip

    def kneighbors(
        self, X: Any, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Neighbours of new samples among the training samples, those of a tie in row order."""
        queries = self._new(X)
        k = self._voters.k
        if n_neighbors is not None:
            most = self.best_estimator_.n_samples_fit_
            k = check_count("n_neighbors", n_neighbors, at_least=1, at_most=most)
        distances, indices = self._voters.nearest(queries, k)
        return (distances, indices) if return_distance else indices

    def _new(self, X: Any) -> Any:
        check_is_fitted(self)
        check_numbers("X", X)
        X = validate_samples(self, X, reset=False)
        return read_new(X, self._voters.reference.metric) if issparse(X) else X

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@stores_parameters
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
        need a law of fixed size or of class counts, as the default is.
    metric : str, callable or sequence, default=("minkowski",)
        Candidates for the metric.
    p : float, default=2
        Power of the Minkowski metric.
    metric_params : dict, default=None
        Further parameters of the metrics.
    cv, scoring, distance_ties, label_ties, vote_tol, max_states, allow_sampling, n_jobs :
        As in `evaluate`.

    Attributes
    ----------
    best_params_ : dict
        The chosen n_neighbors, weights and metric. Candidates that are equal within their error
        bounds are tied, so that rounding does not decide: the first one wins, by the order of
        `n_neighbors`, then `weights`, then `metric`. A score that is known only within a wide
        interval (weighted votes) counts by its lower end.
    best_score_ : float
        Their exact score over all splits; `score` is the accuracy on the samples it is given.
    best_index_ : int
        Their position in `cv_results_`.
    cv_results_ : dict
        One entry for each candidate, as in scikit-learn's searches, ready for a data frame: params,
        param_n_neighbors, param_weights, param_metric; mean_test_score, the mean over all splits;
        error_bound, by which it may be off; rank_test_score, one more than the number of candidates
        that are certainly better; could_be_best, whether its interval reaches the best guaranteed
        score. With several scores mean_test_NAME for each; the first one chooses.
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

    _: KW_ONLY
    label_ties: Literal["first", "share"] = "first"
    allow_sampling: bool = False

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels."""
        classes: NDArray[Any] = self.best_estimator_.classes_
        return classes

    def _read_targets(self, y: NDArray[Any]) -> None:
        self._codes = np.searchsorted(self.classes_, y).astype(np.int32)

    def predict(self, X: Any) -> NDArray[Any]:
        """Classes of new samples: the largest share of the votes, the first class of equal ones."""
        shares = self.predict_proba(X)
        labels: NDArray[Any] = self.classes_[shares.argmax(axis=1)]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Shares of the votes of new samples.

        Training samples that are tied at the k-th place share the votes that are left, the average
        over all orders of the tied: scores and predictions have one rule for equal distances.
        """
        queries = self._new(X)
        return self._voters.class_shares(queries, self._codes, len(self.classes_))


class KNeighborsRegressorCV(RegressorMixin, _NeighborsCV):  # type: ignore[misc]
    """k-nearest-neighbour regressor that chooses k, weights and metric over all splits.

    The exact counterpart of a grid search over k: the expected squared error over every split, all
    numbers of neighbours from one neighbour search.

    Parameters
    ----------
    weights : str, callable or sequence, default=("uniform",)
        Candidates for the weights: "uniform", "distance" or functions of the distance. The last two
        need a law of fixed size, as the default is.
    n_neighbors, metric, p, metric_params and all others :
        As in `KNeighborsClassifierCV`; means have no label ties and are never sampled.

    Attributes
    ----------
    best_score_ : float
        The exact score of `best_params_`, a negative mean squared error, as in `cv_results_` and
        `curve_`. The method `score` returns R², as scikit-learn's regressors do.
    best_estimator_ : KNeighborsRegressor
        The chosen regressor, fitted on all samples.
    best_params_, best_index_, cv_results_, curve_, curves_, n_features_in_ :
        As in `KNeighborsClassifierCV`.

    Examples
    --------
    >>> from allsplits import KNeighborsRegressorCV
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> KNeighborsRegressorCV().fit(X, y).best_params_
    {'n_neighbors': ..., 'weights': 'uniform', 'metric': 'minkowski'}
    """

    _Estimator = KNeighborsRegressor

    def _read_targets(self, y: NDArray[Any]) -> None:
        self._targets = np.asarray(y, dtype=np.float64)

    def predict(self, X: Any) -> NDArray[Any]:
        """Mean target of the k nearest training samples.

        Those that are tied at the k-th place share the votes that are left, the average over all
        orders of the tied: scores and predictions have one rule for equal distances.
        """
        queries = self._new(X)
        return self._voters.means(queries, self._targets)


def _several(name: str, candidates: Any) -> list[Any]:
    """One candidate or several."""
    if isinstance(candidates, str) or callable(candidates) or not isinstance(candidates, Iterable):
        return [candidates]
    several = list(candidates)
    if not several:
        raise InvalidInputError(f"{name} must hold at least one candidate; got none")
    return several
